//! Golden tables of the frameworks' own decisions, replayed through the presets.
//!
//! Each case is a line with settings, events, and what the framework's own code did. The machine that replays
//! recordings also replays the case, and each key that the case expects is compared with what the machine did.

use serde_json::{Map, Value};

use super::{CaseError, Nested, Oracle, known_table};
use crate::catalog;
use crate::framework::machine::{Act, Facts};
use crate::framework::{About, Build, COMBINED, Framework, SettingsError};
use crate::reader::{ReadText, trace};
use crate::transcript::{Moment, Run};

/// The oracle for the preset, or variant of a preset, with the folder's name.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    let (framework, profile) = catalog::find_with_profile(folder)?;
    matches!(framework.build, Build::Machine(_))
        .then(|| Box::new(MachineOracle { framework, profile }) as Box<dyn Oracle>)
}

struct MachineOracle {
    framework: &'static Framework,
    profile: Option<&'static str>,
}

fn known_rule(rule: &str, tables: &[&'static str]) -> Option<&'static str> {
    tables.iter().copied().find(|known| *known == rule)
}

impl Oracle for MachineOracle {
    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError> {
        let input = row.get("input").and_then(Value::as_object);
        let input = input.ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        let is_of_presets = input.contains_key("events") || asked.iter().any(|field| field == "actions");
        let named = row.get("rule").and_then(Value::as_str);
        // A table whose name is not a rule's drives all rules at once.
        let rule = match named
            .map_or_else(|| known_table(table, self.framework.tables), |rule| known_rule(rule, self.framework.tables))
        {
            Some(rule) => rule,
            None if is_of_presets => COMBINED,
            None => return Err(CaseError::UnknownTable),
        };
        replay(self.framework, self.profile, rule, input)
    }

    fn nested(&self) -> Nested {
        Nested::Subset
    }
}

/// What a framework did in a case, in the tables' terms.
fn replay(
    framework: &Framework,
    profile: Option<&str>,
    rule: &str,
    input: &Map<String, Value>,
) -> Result<Value, CaseError> {
    let mut settings = (framework.case)(rule, input).map_err(CaseError::NotApplicable)?;
    if let Some(profile) = profile {
        settings.profile = Some(profile.to_owned());
    }
    let mut got = Map::new();
    match framework.machine(&settings).ok_or(CaseError::UnknownTable)? {
        Ok(strategy) => {
            let (acts, facts) = strategy.recipe().replay(&recording(input)?);
            report(&acts, strategy.recipe().halted_at(&acts), facts, &mut got);
        }
        Err(SettingsError { about: About::Refused(refused), .. }) => {
            let [code, detail] = &*refused;
            let refusal = serde_json::json!({ "at": null, "kind": "error", "code": code, "detail": detail });
            got.insert("actions".to_owned(), Value::Array(vec![refusal]));
            got.insert("halted_at".to_owned(), Value::Null);
            for nothing_runs in ["model_calls", "tools_executed", "nodes_run"] {
                got.insert(nothing_runs.to_owned(), Value::from(0));
            }
        }
        Err(error) => return Err(CaseError::BadCase(error.to_string())),
    }
    Ok(Value::Object(got))
}

fn report(acts: &[Act], halted_at: Option<usize>, facts: Facts, got: &mut Map<String, Value>) {
    got.insert("actions".to_owned(), Value::Array(acts.iter().map(action).collect()));
    got.insert("halted_at".to_owned(), halted_at.map_or(Value::Null, Value::from));
    for (name, value) in facts {
        got.insert(name.to_owned(), value);
    }
}

fn action(act: &Act) -> Value {
    let decision = &act.decision;
    let kind = match decision.action.name() {
        "stop" => "halt",
        "fail" => "error",
        other => other,
    };
    let mut map = Map::new();
    map.insert("at".to_owned(), decision.event.map_or(Value::Null, Value::from));
    map.insert("kind".to_owned(), Value::from(kind));
    let texts = [
        ("code", decision.code.as_deref()),
        ("detail", decision.detail.as_deref()),
        ("tool_call_id", decision.call_id.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            map.insert(name.to_owned(), Value::from(text));
        }
    }
    let before_request = matches!(decision.point.moment, Moment::BeforeRequest | Moment::EndOfRound);
    map.insert("before_request".to_owned(), Value::from(before_request));
    map.insert("before_tools".to_owned(), Value::from(decision.point.moment == Moment::AfterResponse));
    for (name, value) in &act.fields {
        map.insert((*name).to_owned(), value.clone());
    }
    Value::Object(map)
}

/// The case's events, read as a run.
fn recording(input: &Map<String, Value>) -> Result<Run, CaseError> {
    let events = input.get("events").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let header = serde_json::json!({ "type": "run", "run_id": "case" });
    let lines: Vec<String> = [&header].into_iter().chain(events).map(Value::to_string).collect();
    let ReadText { mut runs, findings } = trace::read_text(&lines.join("\n"));
    match (runs.pop(), findings.first()) {
        (Some(run), None) => Ok(run),
        (_, finding) => {
            let why = finding.map_or_else(|| "no run".to_owned(), |finding| finding.diagnostic.what.clone());
            Err(CaseError::BadCase(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::decision::Need;
    use crate::reader::unpacked_text;
    use crate::redact::redact;

    /// For each rule that reads no texts, checks that it acts the same on every case with the texts removed.
    fn check(folder: &Path) -> (usize, BTreeMap<String, usize>) {
        let (mut cases, mut differences) = (0, BTreeMap::new());
        let files =
            walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
        for file in files.filter(|file| file.is_file()) {
            let name = file.file_name().unwrap().to_string_lossy();
            let Some(stem) = super::super::table_name(&name) else { continue };
            let framework = file.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
            let Some(found) = catalog::find(&framework) else { continue };
            for line in unpacked_text(&file).unwrap().lines() {
                let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
                let rule = row.get("rule").and_then(Value::as_str).unwrap_or(stem);
                let Some(input) = row.get("input").and_then(Value::as_object) else { continue };
                let Ok(settings) = (found.case)(rule, input) else { continue };
                let (Some(Ok(strategy)), Ok(run)) = (found.machine(&settings), recording(input)) else {
                    continue;
                };
                cases += 1;
                let needs = strategy.recipe().requirements();
                let reads =
                    |rule: &str| needs.iter().any(|need| need.need == Need::Texts && need.rule.as_str() == rule);
                let told = |run: &Run| {
                    let (acts, _) = strategy.recipe().replay(run);
                    let kept =
                        acts.into_iter().map(|act| act.decision).filter(|decision| !reads(decision.rule.as_str()));
                    kept.map(|decision| (decision.rule.to_string(), decision.event, decision.action, decision.evidence))
                        .collect::<Vec<_>>()
                };
                if told(&run) != told(&redact(&run, "")) {
                    *differences.entry(format!("{framework} {rule}")).or_default() += 1;
                }
            }
        }
        (cases, differences)
    }

    #[test]
    fn rules_that_read_no_texts_do_the_same_without_them() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let (cases, differences) = check(&root.join("fixtures/presets"));
        assert!(cases > 100 && differences.is_empty(), "{cases} cases: {differences:#?}");
        let (cases, differences) = check(&root.join("fixtures/golden/presets"));
        assert!(cases > 1000 && differences.is_empty(), "{cases} cases: {differences:#?}");
    }
}
