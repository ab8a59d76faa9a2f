//! The seed systems as oracles, with one driver each that runs a case through the system's own code.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::preset::recording;
use super::{CaseError, GoldenCase, Oracle, adaptive, agentao, agentica, awaken, known_table, mira};
use crate::catalog;
use crate::decision::{Decision, Strategy};
use crate::framework::{ConfigText, Settings};
use crate::python::{self, Strictness};
use crate::transcript::Run;

/// The table that every system has: where the replay of a session of several messages stops.
const SESSION: &str = "session";

/// Answers one case as the original code does.
type AnswerCase = fn(&GoldenCase<'_>) -> Result<Value, CaseError>;

/// Answers one case by its `input`.
pub(super) type AnswerInput = fn(&Value) -> Result<Value, CaseError>;

/// A golden table: its name; whether a case has its shape, for files that are not named after a table; and what answers
/// its cases.
pub(super) type GoldenTable<A> = (&'static str, fn(&GoldenCase<'_>) -> bool, A);

/// What answers a case: that of the table its file is named after, else of the first whose shape it has.
pub(super) fn table_of<A: Copy>(tables: &[GoldenTable<A>], case: &GoldenCase<'_>) -> Result<A, CaseError> {
    let names: Vec<&'static str> = tables.iter().map(|(name, ..)| *name).collect();
    let table = match known_table(case.table, &names) {
        Some(known) => tables.iter().find(|(name, ..)| *name == known),
        None => tables.iter().find(|(_, fits, _)| fits(case)),
    };
    table.map(|(.., answer)| *answer).ok_or(CaseError::UnknownTable)
}

static DRIVERS: [(&str, AnswerCase); 5] = [
    ("mira", mira::answer),
    ("adaptive", |case| table_of(adaptive::TABLES, case)?(case.input)),
    ("awaken", |case| table_of(awaken::TABLES, case)?(case.input)),
    ("agentao", |case| table_of(agentao::TABLES, case)?(case.input)),
    ("agentica", |case| table_of(agentica::TABLES, case)?(case.input)),
];

/// The oracle for the system with the folder's name.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    let (id, answer) = DRIVERS.iter().find(|(id, _)| *id == folder)?;
    Some(Box::new(SystemOracle { id, answer: *answer }))
}

struct SystemOracle {
    id: &'static str,
    answer: AnswerCase,
}

impl Oracle for SystemOracle {
    fn read(&self, line: &str) -> Result<Value, serde_json::Error> {
        // Tables of systems written in Python contain what Python's JSON accepts: integers of any size, NaN.
        let read = if self.id == "awaken" { None } else { python::loads(line, Strictness::Strict) };
        if let Some(row) = read { Ok(row) } else { serde_json::from_str(line) }
    }

    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError> {
        let input = row.get("input").ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        let version = row["original_version"].as_str();
        if table == SESSION {
            let (run, stop) = replayed_session(self.id, input["profile"].as_str(), input)?;
            // Records that follow a message are seen with it.
            let halted_at = stop
                .as_ref()
                .and_then(|stop| run.events()[..=stop.event?].iter().rposition(|event| event.message().is_some()));
            return Ok(json!({"halted_at": halted_at, "code": stop.and_then(|stop| stop.code)}));
        }
        (self.answer)(&GoldenCase { table, input, version, asked })
    }
}

/// The events of a case as a run, and a system with a configuration and settings.
pub(super) fn session(
    system: &str,
    profile: Option<&str>,
    input: &Value,
    config: Option<&Value>,
    set: Map<String, Value>,
) -> Result<(Run, Arc<dyn Strategy>), CaseError> {
    let bad = |what: String| CaseError::BadCase(what);
    let run = recording(input.as_object().ok_or_else(|| bad("no object".to_owned()))?)?;
    let config = config.map(|config| ConfigText { path: "config".to_owned(), text: config.to_string() });
    let settings = Settings { profile: profile.map(str::to_owned), config, set, ..Settings::named(system) };
    let framework = catalog::find(system).ok_or_else(|| bad(format!("{system} is not here")))?;
    let strategy = framework.strategy(&settings).map_err(|refused| bad(refused.to_string()))?;
    Ok((run, strategy))
}

/// Replays the session of a case through a system; returns the run and the first decision that ends it.
pub(super) fn replayed_session(
    system: &str,
    profile: Option<&str>,
    input: &Value,
) -> Result<(Run, Option<Decision>), CaseError> {
    let set = input["set"].as_object().cloned().unwrap_or_default();
    let (run, strategy) = session(system, profile, input, input.get("config"), set)?;
    let (mut watch, mut trail) = (strategy.start(&run.header), Vec::new());
    for view in run.views() {
        watch.at(&view, &mut trail);
    }
    let stop = trail.into_iter().find(|decision| decision.action.is_terminal());
    Ok((run, stop))
}
