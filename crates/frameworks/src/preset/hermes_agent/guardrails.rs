//! The tool-loop guardrails: failing calls, failing tools, and reads without new results.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::frame::{Action, ActionSink, CallIdIndex, Settings};
use super::param;
use crate::framework::Parameter;
use crate::python;
use crate::transcript::fingerprint::canonical_json;
use crate::transcript::{Message, ToolCall, json_value};

pub(super) const EXACT: &str = "tool_guardrails.exact_failure";
pub(super) const SAME_TOOL: &str = "tool_guardrails.same_tool_failure";
pub(super) const NO_PROGRESS: &str = "tool_guardrails.idempotent_no_progress";
const HALT: &str = "tool_guardrails.halt";
pub(super) const RULES: &[&str] = &[EXACT, SAME_TOOL, NO_PROGRESS, HALT];

/// Read-only tools: for them, equal results mean no progress.
const READ_ONLY: &[&str] = &[
    "read_file",
    "search_files",
    "web_search",
    "web_extract",
    "session_search",
    "browser_snapshot",
    "browser_console",
    "browser_get_images",
    "mcp_filesystem_read_file",
    "mcp_filesystem_read_text_file",
    "mcp_filesystem_read_multiple_files",
    "mcp_filesystem_list_directory",
    "mcp_filesystem_list_directory_with_sizes",
    "mcp_filesystem_directory_tree",
    "mcp_filesystem_get_file_info",
    "mcp_filesystem_search_files",
];

/// Tools that may run in parallel with others.
const PARALLEL_SAFE: &[&str] = &[
    "ha_get_state",
    "ha_list_entities",
    "ha_list_services",
    "read_file",
    "search_files",
    "session_search",
    "skill_view",
    "skills_list",
    "vision_analyze",
    "web_extract",
    "web_search",
];

/// Tools that may run in parallel with others unless their `path`s overlap.
const PATH_SCOPED: &[&str] = &["read_file", "write_file", "patch"];

#[derive(Clone, Debug, Default)]
struct GuardrailLimits {
    warnings: bool,
    hard_stop: bool,
    exact_warn: i64,
    exact_block: i64,
    same_tool_warn: i64,
    same_tool_halt: i64,
    no_progress_warn: i64,
    no_progress_block: i64,
}

/// What identifies a call for the guardrails: tool and arguments.
type Signature = (String, String);

#[derive(Clone, Debug)]
struct PendingCall {
    id: Option<String>,
    signature: Signature,
    /// Calls of the same unit are checked together, before any of them runs.
    unit: usize,
    refused: bool,
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Guardrails {
    limits: GuardrailLimits,
    exact: BTreeMap<Signature, i64>,
    same_tool: BTreeMap<String, i64>,
    no_progress: BTreeMap<Signature, (String, i64)>,
    reply: Option<usize>,
    pending: Vec<PendingCall>,
    places: CallIdIndex,
    checked_units: usize,
    n_results: usize,
    last_result: Option<usize>,
    /// Whether the turn ends once all calls of the message have been handled.
    halts: bool,
    /// The number of calls whose tool actually ran.
    pub executed: u64,
}

impl Guardrails {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { limits: GuardrailLimits::new(settings), ..Self::default() }
    }

    pub(super) fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.exact.clear();
            self.same_tool.clear();
            self.no_progress.clear();
        } else if message.is_step() {
            self.reply = acts.event();
            self.pending = plan(&message.tool_calls);
            self.places = CallIdIndex::from_ids(self.pending.iter().map(|call| call.id.as_deref()));
            self.checked_units = 0;
            self.n_results = 0;
        } else if message.is_result() {
            self.result(message, acts);
        }
    }

    /// Checks the first unit before anything runs.
    pub(super) fn before_tools(&mut self, acts: &mut ActionSink<'_, '_>) {
        self.check_next_unit(acts);
    }

    /// A refusal or halt ends the turn once all calls of the message have been handled.
    pub(super) fn after_tools(&mut self, acts: &mut ActionSink<'_, '_>) {
        if std::mem::take(&mut self.halts) {
            acts.act(Action::Stop, HALT).code("guardrail_halt").about_event(self.last_result);
        }
    }

    fn check_next_unit(&mut self, acts: &mut ActionSink<'_, '_>) {
        let unit = self.checked_units;
        self.checked_units += 1;
        if !self.limits.hard_stop {
            return;
        }
        // Calls are ordered by unit.
        for place in self.pending.partition_point(|call| call.unit < unit)..self.pending.len() {
            let Some(call) = self.pending.get(place).filter(|call| call.unit == unit) else { break };
            let Some((rule, code, count)) = self.refusal(&call.signature) else { continue };
            let limit = if rule == EXACT { self.limits.exact_block } else { self.limits.no_progress_block };
            let act = acts.act(Action::Deny, rule).code(code).call(call.id.as_deref());
            act.evidence(count as f64, limit as f64).about_event(self.reply);
            self.halts = true;
            if let Some(call) = self.pending.get_mut(place) {
                call.refused = true;
            }
        }
    }

    /// Why the next call with this signature would be refused: rule, code and count.
    fn refusal(&self, signature: &Signature) -> Option<(&'static str, &'static str, i64)> {
        let failures = self.exact.get(signature).copied().unwrap_or(0);
        if failures >= self.limits.exact_block {
            return Some((EXACT, "repeated_exact_failure_block", failures));
        }
        let (_, repeats) = self.no_progress.get(signature)?;
        if *repeats < self.limits.no_progress_block {
            return None;
        }
        Some((NO_PROGRESS, "idempotent_no_progress_block", *repeats))
    }

    fn result(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        self.last_result = acts.event();
        let place = self.places.answered_call(message).unwrap_or(self.n_results);
        self.n_results += 1;
        let Some(call) = self.pending.get(place).cloned() else { return };
        while self.checked_units <= call.unit {
            self.check_next_unit(acts);
        }
        if !self.pending[place].refused {
            self.executed += 1;
            if message.is_error == Some(true) {
                self.failed(call.signature, acts);
            } else {
                self.succeeded(call.signature, &message.text(), acts);
            }
        }
        let unit_is_done = self.pending.get(place + 1).is_none_or(|next| next.unit > call.unit);
        if unit_is_done && self.checked_units == call.unit + 1 {
            self.check_next_unit(acts);
        }
    }

    fn failed(&mut self, signature: Signature, acts: &mut ActionSink<'_, '_>) {
        let limits = &self.limits;
        self.no_progress.remove(&signature);
        let same_tool = count_up(&mut self.same_tool, signature.0.clone());
        let exact = count_up(&mut self.exact, signature);
        if limits.hard_stop && same_tool >= limits.same_tool_halt {
            let code = "same_tool_failure_halt";
            let act = acts.act(Action::Stop, SAME_TOOL).code(code).goes_on();
            act.evidence(same_tool as f64, limits.same_tool_halt as f64);
            self.halts = true;
        } else if limits.warnings && exact >= limits.exact_warn {
            let act = acts.act(Action::Warn, EXACT).code("repeated_exact_failure_warning");
            act.evidence(exact as f64, limits.exact_warn as f64);
        } else if limits.warnings && same_tool >= limits.same_tool_warn {
            let act = acts.act(Action::Warn, SAME_TOOL).code("same_tool_failure_warning");
            act.evidence(same_tool as f64, limits.same_tool_warn as f64);
        }
    }

    fn succeeded(&mut self, signature: Signature, result: &str, acts: &mut ActionSink<'_, '_>) {
        self.exact.remove(&signature);
        self.same_tool.remove(&signature.0);
        if !READ_ONLY.contains(&signature.0.as_str()) {
            return;
        }
        let result = comparable(result);
        let entry = self.no_progress.entry(signature).or_insert_with(|| (result.clone(), 0));
        if entry.0 != result {
            *entry = (result, 0);
        }
        entry.1 += 1;
        let repeats = entry.1;
        if self.limits.warnings && repeats >= self.limits.no_progress_warn {
            let act = acts.act(Action::Warn, NO_PROGRESS).code("idempotent_no_progress_warning");
            act.evidence(repeats as f64, self.limits.no_progress_warn as f64);
        }
    }
}

impl GuardrailLimits {
    fn new(settings: &Settings) -> Self {
        let limit = |parameter: &Parameter, older: &Parameter| {
            let given = settings.get(parameter.name).or_else(|| settings.get(older.name)).and_then(python::small_int);
            let default = || settings.default_of(parameter).as_i64().unwrap_or_default();
            given.filter(|value| *value >= 1).unwrap_or_else(default)
        };
        Self {
            warnings: switch(settings, &param::WARNINGS_ENABLED),
            hard_stop: switch(settings, &param::HARD_STOP_ENABLED),
            exact_warn: limit(&param::WARN_AFTER_EXACT_FAILURE, &param::EXACT_FAILURE_WARN_AFTER),
            same_tool_warn: limit(&param::WARN_AFTER_SAME_TOOL_FAILURE, &param::SAME_TOOL_FAILURE_WARN_AFTER),
            no_progress_warn: limit(&param::WARN_AFTER_IDEMPOTENT_NO_PROGRESS, &param::NO_PROGRESS_WARN_AFTER),
            exact_block: limit(&param::HARD_STOP_AFTER_EXACT_FAILURE, &param::EXACT_FAILURE_BLOCK_AFTER),
            same_tool_halt: limit(&param::HARD_STOP_AFTER_SAME_TOOL_FAILURE, &param::SAME_TOOL_FAILURE_HALT_AFTER),
            no_progress_block: limit(&param::HARD_STOP_AFTER_IDEMPOTENT_NO_PROGRESS, &param::NO_PROGRESS_BLOCK_AFTER),
        }
    }
}

/// A switch as the framework reads it, which also accepts numbers and words.
fn switch(settings: &Settings, parameter: &Parameter) -> bool {
    let default = settings.default_of(parameter) == true;
    match &*settings.value(parameter) {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(word) => match python::lower(python::strip(word)).as_str() {
            "1" | "true" | "yes" | "on" | "enabled" => true,
            "0" | "false" | "no" | "off" | "disabled" => false,
            _ => default,
        },
        _ => default,
    }
}

fn count_up<K: Ord>(counts: &mut BTreeMap<K, i64>, key: K) -> i64 {
    let count = counts.entry(key).or_insert(0);
    *count += 1;
    *count
}

/// The form in which results are compared: JSON with sorted keys, other text unchanged.
fn comparable(result: &str) -> String {
    match json_value(result) {
        Some(value) if !value.is_null() => canonical_json(&value),
        _ => result.to_owned(),
    }
}

/// The calls of a reply with the unit in which each is checked; adjacent calls that may run in parallel share a unit.
fn plan(calls: &[ToolCall]) -> Vec<PendingCall> {
    let mut pending: Vec<PendingCall> = Vec::with_capacity(calls.len());
    let mut reserved: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut open = false;
    let mut unit = 0;
    for call in calls {
        let arguments = call.json_arguments().filter(|value| value.is_object());
        let path = arguments.and_then(scoped_path);
        let scoped = PATH_SCOPED.contains(&&*call.name);
        let parallel =
            arguments.is_some() && if scoped { path.is_some() } else { PARALLEL_SAFE.contains(&&*call.name) };
        let overlaps = matches!(&path, Some(path) if scoped && overlaps(path, &reserved));
        let joins = open && parallel && !overlaps;
        if !(pending.is_empty() || joins) {
            unit += 1;
            reserved.clear();
        }
        if let Some(path) = path.filter(|_| scoped && parallel) {
            reserved.insert(path);
        }
        open = parallel;
        let written = arguments.map(canonical_json);
        let signature = (call.name.to_string(), written.unwrap_or_else(|| "{}".to_owned()));
        pending.push(PendingCall { id: call.id.as_deref().map(str::to_owned), signature, unit, refused: false });
    }
    pending
}

/// The parts of the path that a file tool's call names; `None` if it names none.
fn scoped_path(arguments: &Value) -> Option<Vec<String>> {
    let path = arguments.get("path")?.as_str().filter(|path| !python::strip(path).is_empty())?;
    let mut parts: Vec<String> = vec![if path.starts_with('/') { "/" } else { "." }.to_owned()];
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => _ = parts.pop(),
            part => parts.push(part.to_owned()),
        }
    }
    Some(parts)
}

/// Whether the path equals one of the others, or one of the two is below the other.
fn overlaps(path: &[String], others: &BTreeSet<Vec<String>>) -> bool {
    let above = (1..=path.len()).any(|parts| others.contains(&path[..parts]));
    let below = || others.range(path.to_vec()..).next().is_some_and(|next| next.starts_with(path));
    above || below()
}
