//! Golden tables of the frameworks' own decisions, replayed through the presets.
//!
//! Each case is a line with settings, events, and what the framework's own code did. The machine that replays
//! recordings also replays the case, and each key that the case expects is compared with what the machine did. What a
//! case has beside settings and events (scripted answers, sizes of chunks, which part of the framework is run) is read
//! by the framework's [`PresetDriver`]; the rules know nothing of it.

mod case;
mod played;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::{CaseError, Nested, Oracle, known_table};
use crate::catalog;
use crate::framework::machine::MachineWatch;
use crate::framework::{Build, ErrorSubject, Framework, Recipe, Settings, SettingsError};
use crate::preset::frame::caps::CapMachine;
use crate::preset::frame::rounds::{AgentLoop, AgentLoopMachine};
use crate::python::Dict;
use crate::reader::{ReadText, trace};
use crate::transcript::Run;

use case::{COMBINED, PresetCase};
use played::{Doing, Played};

/// Builds the rules of a case from checked settings.
type BuildCase = fn(&PresetCase<'_>, &Settings) -> Result<Recipe, SettingsError>;

/// How the golden cases of one framework are run.
struct PresetDriver {
    /// The framework.
    id: &'static str,
    /// The rules that a case can name, if it matters which one it names.
    rules: &'static [&'static str],
    /// Reads what is not a parameter of the framework, and changes the settings accordingly.
    read: fn(&mut PresetCase<'_>),
    /// Builds the rules; `None` if they are built as for a recording.
    build: Option<BuildCase>,
    /// Whether the framework checks once more after the last event, as if another request followed.
    checks_after_end: fn(&PresetCase<'_>) -> bool,
    /// Whether only requests are made for which the case has a reply.
    recorded_requests_only: fn(&PresetCase<'_>) -> bool,
    /// Whether a session of several runs ends with its last stop, not the first.
    ends_with_last_stop: bool,
    /// Whether a run is in progress, so that the next reply counts as a model call.
    is_running: fn(&MachineWatch) -> bool,
    /// What the framework reports at the end: an object.
    report: fn(&Played<'_>) -> Option<Value>,
    /// What the framework reports with an action: an object.
    action: fn(&Doing<'_>) -> Option<Value>,
}

impl PresetDriver {
    /// A framework whose cases have settings and events only, and report nothing but actions and model calls.
    const PLAIN: Self = Self {
        id: "",
        rules: &[],
        read: |_| {},
        build: None,
        checks_after_end: |_| false,
        recorded_requests_only: |_| false,
        ends_with_last_stop: false,
        is_running: |watch| !watch.is_over(),
        report: |_| None,
        action: |_| None,
    };
}

/// Whether an agent loop has a run that is not over.
fn loop_is_running<L: AgentLoop>(watch: &MachineWatch) -> bool {
    watch.machine::<AgentLoopMachine<L>>().is_some_and(|agent| !agent.is_over())
}

/// Whether caps watch a run that is not over.
fn caps_are_running(watch: &MachineWatch) -> bool {
    !watch.is_over() && watch.machine::<CapMachine>().is_some_and(|caps| !caps.over)
}

macro_rules! drivers {
    ($($module:ident,)*) => {
        $(mod $module;)*
        /// The frameworks whose cases need more than [`PresetDriver::PLAIN`].
        const DRIVERS: &[PresetDriver] = &[$($module::DRIVER,)*];
    };
}

drivers! {
    ag2,
    agent_framework,
    agno,
    autogen,
    browser_use,
    camel_ai,
    crewai,
    deerflow,
    gemini_cli,
    google_adk,
    goose,
    haystack,
    hermes_agent,
    inspect_ai,
    kilo_code,
    langchain,
    letta,
    litellm,
    llama_index,
    mastra,
    mini_swe_agent,
    openai_agents,
    openclaw,
    opencode,
    openhands,
    pydantic_ai,
    qwen_code,
    roo_code,
    semantic_kernel,
    smolagents,
    strands_agents,
    tau2_bench,
}

/// The driver of a framework.
fn driver(framework: &str) -> &'static PresetDriver {
    const PLAIN: &PresetDriver = &PresetDriver::PLAIN;
    DRIVERS.iter().find(|driver| driver.id == framework).unwrap_or(PLAIN)
}

/// The oracle for the preset, or variant of a preset, with the folder's name.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    let (framework, profile) = catalog::find_with_profile(folder)?;
    if !matches!(framework.build, Build::Machine(_)) {
        return None;
    }
    Some(Box::new(MachineOracle { framework, profile, driver: driver(framework.id) }))
}

struct MachineOracle {
    framework: &'static Framework,
    profile: Option<&'static str>,
    driver: &'static PresetDriver,
}

impl MachineOracle {
    /// The rule that a case drives: the one it names, or the one that its table is named after, or all at once.
    fn rule(&self, table: &str, row: &Value) -> &'static str {
        let known = match row["rule"].as_str() {
            Some(named) => self.driver.rules.iter().copied().find(|rule| *rule == named),
            None => known_table(table, self.driver.rules),
        };
        known.unwrap_or(COMBINED)
    }
}

impl Oracle for MachineOracle {
    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError> {
        let input = row["input"].as_object();
        let input = input.ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        if !input.contains_key("events") && !asked.iter().any(|field| field == "actions") {
            return Err(CaseError::UnknownTable);
        }
        let mut case = PresetCase::new(self.rule(table, row), input);
        let run = recording(input)?;
        match prepared(self.framework, self.driver, &mut case, self.profile)? {
            Ok(recipe) => Ok(played::play(self.driver, &recipe, &run, &case)),
            Err(SettingsError { about: ErrorSubject::Refused(refused), .. }) => Ok(refusal(&refused)),
            Err(error) => Err(CaseError::BadCase(error.to_string())),
        }
    }

    fn nested(&self) -> Nested {
        Nested::Subset
    }
}

/// The rules of a case, or why the framework refuses its settings.
fn prepared(
    framework: &Framework,
    driver: &PresetDriver,
    case: &mut PresetCase<'_>,
    profile: Option<&str>,
) -> Result<Result<Recipe, SettingsError>, CaseError> {
    (driver.read)(case);
    if let Some(why) = case.not_applicable.take() {
        return Err(CaseError::NotApplicable(why));
    }
    if let Some(profile) = profile {
        case.settings.profile = Some(profile.to_owned());
    }
    let Build::Machine(as_recorded) = framework.build else { return Err(CaseError::UnknownTable) };
    let settings = match framework.checked(&case.settings) {
        Ok(settings) => settings,
        Err(refused) => return Ok(Err(refused)),
    };
    Ok(match driver.build {
        Some(build) => build(case, &settings),
        None => as_recorded(&settings),
    })
}

/// What is expected of a case whose settings the framework refuses.
fn refusal([code, detail]: &[String; 2]) -> Value {
    serde_json::json!({
        "actions": [{ "at": null, "kind": "error", "code": code, "detail": detail }],
        "halted_at": null,
        "model_calls": 0,
        "tools_executed": 0,
        "nodes_run": 0,
    })
}

/// The case's events, read as a run.
pub(super) fn recording(input: &Map<String, Value>) -> Result<Run, CaseError> {
    let events = input.items("events");
    let header = serde_json::json!({ "type": "run", "run_id": "case" });
    let lines: Vec<String> = [&header].into_iter().chain(events).map(Value::to_string).collect();
    let ReadText { mut runs, findings } = trace::read_text(&lines.join("\n"));
    match (runs.pop(), findings.first()) {
        (Some(run), None) => Ok(run),
        (_, finding) => {
            let why = if let Some(finding) = finding { finding.diagnostic.what.clone() } else { "no run".to_owned() };
            Err(CaseError::BadCase(why))
        }
    }
}
