//! OpenClaw: detection of tool loops, the guard after a compaction, and the guard against missing tools.

mod config;
mod history;
mod outcome;

use std::collections::VecDeque;

use serde_json::{Value, json};

use self::config::{LoopDetection, Release};
use self::history::{CallHistory, CallRecord, DetectorFinding, RequestedCall, WarningKey};
use self::outcome::{CallOutcome, ReturnedResult, is_poll, missing_tool, returned, thrown};
use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{Action, ActionSink, Machine, Recipe, Settings, SettingsError, native, starts_run};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Event, Fingerprint, Message, Name, Point, ToolCall};

const GUARD: &str = "unknown_tool_guard";
const COMPACTION: &str = "compaction_loop_persisted";
/// A warning is given once per this many counts.
const PER_WARNING: usize = 10;

const DETECTORS: [&str; 6] = [
    "unknown_tool_repeat",
    "global_circuit_breaker",
    "known_poll_no_progress",
    "ping_pong",
    "generic_repeat",
    "argument_churn",
];

params! {
    ENABLED: "tools.loopDetection.enabled" = null, off false,
        "switches the detection; false also the guard after a compaction";
    HISTORY_SIZE: "tools.loopDetection.historySize" = 30, "profile 2026.7: calls that are remembered",
        trap with |s| if s.amount(&HISTORY_SIZE) < s.amount(&CRITICAL_THRESHOLD) =>
            "`historySize` is shorter than `criticalThreshold`, which is then out of reach";
    WARNING_THRESHOLD: "tools.loopDetection.warningThreshold" = 10, "profile 2026.7: repeats that are logged",
        trap |n| if n < 10.0 => "`warningThreshold` below 10 says nothing before 10: warnings are said once per ten";
    CRITICAL_THRESHOLD: "tools.loopDetection.criticalThreshold" = 20,
        "profile 2026.7: equal results that refuse the call";
    UNKNOWN_TOOL_THRESHOLD: "tools.loopDetection.unknownToolThreshold" = 10,
        "profile 2026.7: errors, or replies, about one missing tool";
    GLOBAL_CIRCUIT_BREAKER_THRESHOLD: "tools.loopDetection.globalCircuitBreakerThreshold" = 30,
        "profile 2026.7: equal results of any tool that refuse the call";
    GENERIC_REPEAT: "tools.loopDetection.detectors.genericRepeat" = true, off false,
        "profile 2026.7: switches generic_repeat";
    KNOWN_POLL_NO_PROGRESS: "tools.loopDetection.detectors.knownPollNoProgress" = true, off false,
        "profile 2026.7: switches known_poll_no_progress";
    PING_PONG: "tools.loopDetection.detectors.pingPong" = true, off false, "profile 2026.7: switches ping_pong";
    WINDOW_SIZE: "tools.loopDetection.postCompactionGuard.windowSize" = 3,
        "profile 2026.7: equal outcomes after a compaction that abort the run";
    AGENTS: "agents" = {}, off {},
        "blocks of single agents, as in openclaw.json; that of `main` is laid over the others";
    RESULT_DETAILS: "result_details" = "recorded",
        "\"none\": the tools return texts only, so a recording without details lacks nothing";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    configured(settings, &config::assembled(settings), Tools::default())
}

/// What is known of the tools beside what a recording says.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Whether the missing ones are known from the start, and results are as the tool gave them.
    pub are_known: bool,
    /// Whether calls are handled one at a time, as for callers without the batch check.
    pub one_by_one: bool,
    /// Tools known to be missing.
    pub missing: Vec<String>,
    /// Tools whose schema requires a `path`.
    pub strict: Vec<String>,
}

/// The rules with this configuration, in the framework's own form, and these tools.
#[doc(hidden)]
pub fn configured(settings: &Settings, config: &Value, tools: Tools) -> Result<Recipe, SettingsError> {
    let release = if settings.is_profile("2026.7") { Release::Numbers } else { Release::Constants };
    let has_details = match settings.text(&param::RESULT_DETAILS)?.unwrap_or_default() {
        "recorded" => true,
        "none" => false,
        other => {
            return Err(super::frame::wrong_kind(
                param::RESULT_DETAILS.name,
                "\"recorded\" or \"none\"",
                &Value::from(other),
            ));
        }
    };
    let limits = LoopDetection::new(settings, config, release)?;
    let mut rules: Vec<&'static str> = vec![GUARD];
    if limits.enabled {
        rules.extend(DETECTORS);
    }
    if limits.guarded {
        rules.push(COMPACTION);
    }
    let machine = OpenClawMachine { limits, tools, ..OpenClawMachine::default() };
    let mut recipe = Recipe::new(machine, &rules).reads_calls(&[GUARD]);
    for rule in rules.iter().filter(|rule| **rule != GUARD) {
        recipe = recipe.needs(rule, Need::Results);
        if has_details && *rule != "unknown_tool_repeat" {
            recipe = recipe.needs(rule, Need::ResultDetails);
        }
    }
    Ok(recipe.resumes_at_user())
}

#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct OpenClawMachine {
    limits: LoopDetection,
    tools: Tools,
    history: CallHistory,
    said: Vec<(WarningKey, usize)>,
    /// Whether a critical loop was refused in this run; the next one ends it.
    has_refused: bool,
    /// The missing tool called by the last replies, and the number of those replies.
    missing_in_a_row: (Option<String>, usize),
    /// The outcomes seen since a compaction, until the window is full.
    watched: Option<Vec<(Name, Fingerprint, Option<Fingerprint>)>>,
    /// The calls of the current reply that run.
    running: Vec<RequestedCall>,
    /// If calls are handled one at a time: those to be judged after the previous one has run, with the reply's event
    /// and point.
    waiting: VecDeque<(ToolCall, usize, Point)>,
    /// Calls that ran.
    pub tools_executed: u64,
}

/// A tool's name as the framework normalises it.
fn tool_name(name: &str, release: Release) -> Name {
    let name = name.trim().to_lowercase();
    match name.as_str() {
        "" => "tool".into(),
        "bash" => "exec".into(),
        "apply-patch" => "apply_patch".into(),
        "cron" if release == Release::Constants => "automations".into(),
        _ => name.into(),
    }
}

impl OpenClawMachine {
    fn new_run(&mut self) {
        self.history.clear();
        self.said.clear();
        self.has_refused = false;
        self.missing_in_a_row = (None, 0);
        self.watched = None;
        self.running.clear();
    }

    fn asked(&self, call: &ToolCall) -> RequestedCall {
        let tool = tool_name(&call.name, self.limits.release);
        let arguments = arguments(call).into_owned();
        let print = Fingerprint::from_text(&format!("{tool}:{}", js_text(&arguments, KeyOrder::Sorted)));
        RequestedCall { is_poll: is_poll(&tool, &arguments), tool, call: print, id: call.id.clone(), arguments }
    }

    fn is_missing(&self, name: &str) -> bool {
        self.tools.missing.iter().any(|missing| missing == name)
    }

    /// Whether the call can run at all; others are neither judged nor counted.
    fn can_run(&self, call: &ToolCall) -> bool {
        let lacks_path = || !arguments(call)["path"].is_string();
        let is_refused = self.tools.strict.iter().any(|tool| *tool == *call.name) && lacks_path();
        !(is_refused || self.is_missing(&call.name))
    }

    fn reply(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.running.clear();
        self.waiting.clear();
        if self.is_rewritten(reply, acts) || reply.tool_calls.is_empty() {
            return;
        }
        if self.tools.one_by_one {
            let place = (acts.event().unwrap_or(0), acts.view().point());
            self.waiting = reply.tool_calls.iter().map(|call| (call.clone(), place.0, place.1)).collect();
            self.next_waiting(acts);
        } else if self.limits.enabled && self.limits.release == Release::Constants {
            self.batch(reply, acts);
        } else {
            for call in &reply.tool_calls {
                if self.can_run(call) {
                    self.single(call, None, acts);
                }
            }
        }
    }

    /// The guard against missing tools: true if this reply is replaced by a text.
    fn is_rewritten(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        let mut names = reply.tool_calls.iter().map(|call| tool_name(&call.name, self.limits.release));
        let only_missing = reply.tool_calls.iter().all(|call| self.is_missing(&call.name));
        let one = names.next().filter(|first| only_missing && names.all(|name| name == *first));
        let Some(name) = one else {
            self.missing_in_a_row = (None, 0);
            return false;
        };
        let same = self.missing_in_a_row.0.as_deref() == Some(name.as_str());
        let count = if same { self.missing_in_a_row.1 + 1 } else { 1 };
        self.missing_in_a_row = (Some(name.to_string()), count);
        if count <= self.limits.unknown {
            return false;
        }
        let words = format!(
            "I can't use the tool \"{name}\" here because it isn't available. \
             I need to stop retrying it and answer without that tool."
        );
        let act = acts.act(Action::Stop, GUARD).code("unknown_tool_rewrite").detail(words);
        act.evidence(count as f64, self.limits.unknown as f64);
        true
    }

    /// Judges all calls of a reply together; one critical loop refuses them all.
    fn batch(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let calls: Vec<RequestedCall> =
            reply.tool_calls.iter().filter(|call| self.can_run(call)).map(|call| self.asked(call)).collect();
        let mut foreseen = self.history.clone();
        let mut warnings = Vec::new();
        let mut critical = None;
        for call in &calls {
            match foreseen.judge(call, &self.limits) {
                Some(verdict) if verdict.critical => {
                    critical = Some((call, verdict));
                    break;
                }
                Some(verdict) if self.is_news(&verdict) => warnings.push((call.id.clone(), verdict)),
                _ => {}
            }
            foreseen.foresee(entry(call, CallOutcome { refused: true, ..CallOutcome::default() }));
        }
        for (id, verdict) in warnings {
            let act = report(Action::Warn, &verdict, id.as_deref(), acts);
            if critical.is_some() {
                act.undelivered();
            }
        }
        let Some((trigger, verdict)) = critical else {
            for call in &calls {
                self.history.push(entry(call, CallOutcome::default()), self.limits.history);
            }
            self.tools_executed += calls.len() as u64;
            self.running = calls;
            return;
        };
        for call in calls.iter().filter(|call| call.call == trigger.call) {
            self.history
                .push(entry(call, CallOutcome { refused: true, ..CallOutcome::default() }), self.limits.history);
        }
        if std::mem::replace(&mut self.has_refused, true) {
            report(Action::Stop, &verdict, trigger.id.as_deref(), acts);
            return;
        }
        let mut found = false;
        for call in &reply.tool_calls {
            let is_trigger = !found && call.id == trigger.id;
            found |= is_trigger;
            if is_trigger {
                report(Action::Deny, &verdict, call.id.as_deref(), acts);
            } else {
                let words = "This tool was not executed because another call in the batch triggered critical tool-loop \
                             recovery. Reassess the task before choosing the next action.";
                acts.act(Action::Deny, verdict.detector).code("batch").call(call.id.as_deref()).detail(words);
            }
        }
    }

    /// Judges one call on its own. It runs unless it is refused.
    fn single(&mut self, call: &ToolCall, place: Option<(usize, Point)>, acts: &mut ActionSink<'_, '_>) {
        // Outcomes are needed only by the detectors and by the guard after a compaction.
        if !self.limits.enabled && self.watched.is_none() {
            self.tools_executed += 1;
            return;
        }
        let call = self.asked(call);
        let verdict = self.history.judge(&call, &self.limits).filter(|_| self.limits.enabled);
        if let Some(verdict) = verdict.filter(|verdict| verdict.critical || self.is_news(verdict)) {
            let action = if verdict.critical { Action::Deny } else { Action::Warn };
            let act = report(action, &verdict, call.id.as_deref(), acts);
            if let Some((event, point)) = place {
                act.about_event(Some(event)).decision.point = point;
            }
            if !verdict.critical && self.limits.release == Release::Numbers {
                act.undelivered();
            }
            if verdict.critical {
                if self.limits.release == Release::Constants {
                    let refused = CallOutcome { refused: true, ..CallOutcome::default() };
                    self.history.push(entry(&call, refused), self.limits.history);
                }
                return;
            }
        }
        self.history.push(entry(&call, CallOutcome::default()), self.limits.history);
        self.tools_executed += 1;
        self.running.push(call);
    }

    /// If calls are handled one at a time: runs the next call that is not refused.
    fn next_waiting(&mut self, acts: &mut ActionSink<'_, '_>) {
        while let Some((call, event, point)) = self.waiting.pop_front() {
            self.single(&call, Some((event, point)), acts);
            if !self.running.is_empty() {
                return;
            }
        }
    }

    /// Whether a warning is to be given: false if one was already given for the current ten counts.
    fn is_news(&mut self, verdict: &DetectorFinding) -> bool {
        let ten = verdict.count / PER_WARNING;
        match self.said.iter_mut().find(|(key, _)| *key == verdict.key) {
            Some((_, said)) if ten <= *said => false,
            Some((_, said)) => {
                *said = ten;
                true
            }
            None if ten == 0 => false,
            None => {
                self.said.push((verdict.key.clone(), ten));
                true
            }
        }
    }

    fn result(&mut self, result: &Message, acts: &mut ActionSink<'_, '_>) {
        let details = native::own(result, "details");
        self.learn_missing(result);
        let is_it = |call: &RequestedCall| match (&call.id, &result.tool_call_id) {
            (Some(call), Some(result)) => call == result,
            _ => true,
        };
        let Some(nth) = self.running.iter().position(is_it) else { return };
        let call = self.running.remove(nth);
        let text = result.text();
        let has_status = matches!(&details, Some(details) if details["status"] != "error");
        let outcome = if result.is_error == Some(true) && (self.tools.are_known || !has_status) {
            let recorded = details.as_ref().and_then(|details| details["error"].as_str());
            thrown(recorded.filter(|_| !self.tools.are_known).unwrap_or(&text), self.limits.release)
        } else {
            let details = details.filter(Value::is_object).unwrap_or_else(|| json!({}));
            let tool = &call.tool;
            returned(
                &ReturnedResult { tool, arguments: &call.arguments, details: &details, text: &text },
                self.limits.release,
            )
        };
        let print = outcome.print;
        self.history.settle(entry(&call, outcome), self.limits.history);
        self.watch_outcome(&call, print, acts);
        if self.tools.one_by_one {
            self.next_waiting(acts);
        }
    }

    /// A recording shows that a tool is missing by the call's result.
    fn learn_missing(&mut self, result: &Message) {
        let Some(name) = result.name.as_deref().filter(|_| !self.tools.are_known) else { return };
        let says_so = result.is_error == Some(true)
            && missing_tool(&result.text()).as_deref() == Some(&*tool_name(name, self.limits.release));
        if (says_so || native::flag(result, "invalid_call")) && !self.is_missing(name) {
            // The first in a row: its reply called a tool that was not yet known to be missing.
            self.missing_in_a_row = (Some(tool_name(name, self.limits.release).to_string()), 1);
            self.tools.missing.push(name.to_owned());
        }
    }

    /// After a compaction: checks whether all outcomes in the window are equal.
    fn watch_outcome(&mut self, call: &RequestedCall, print: Option<Fingerprint>, acts: &mut ActionSink<'_, '_>) {
        let Some(seen) = &mut self.watched else { return };
        let outcome = (call.tool.clone(), call.call, print);
        seen.push(outcome.clone());
        let (window, count) = (self.limits.window, seen.iter().filter(|other| **other == outcome).count());
        if count >= window {
            let tool = &call.tool;
            let words = format!(
                "CRITICAL: tool {tool} repeated {count} times with identical arguments and identical results within \
                 {window} attempts after auto-compaction. The compaction did not break the loop. Aborting to prevent runaway \
                 resource use."
            );
            let act = acts.act(Action::Stop, COMPACTION).code(COMPACTION).detail(words).call(call.id.as_deref());
            act.evidence(count as f64, window as f64);
        }
        if seen.len() >= window {
            self.watched = None;
        }
    }
}

fn entry(call: &RequestedCall, outcome: CallOutcome) -> CallRecord {
    CallRecord { tool: call.tool.clone(), call: call.call, id: call.id.clone(), outcome }
}

fn report<'a>(
    action: Action,
    verdict: &DetectorFinding,
    id: Option<&str>,
    acts: &'a mut ActionSink<'_, '_>,
) -> &'a mut super::frame::MachineAction {
    let act = acts.act(action, verdict.detector).code(verdict.detector).detail(verdict.words.as_str()).call(id);
    act.evidence(verdict.count as f64, verdict.limit as f64)
}

impl Machine for OpenClawMachine {
    fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        match event {
            Event::Note(note) if note.is_compaction() && self.limits.guarded => {
                self.watched = Some(Vec::new());
            }
            Event::Message(message) if message.is_step() => self.reply(message, acts),
            Event::Message(message) if message.is_result() => self.result(message, acts),
            // A message added to the current run resets nothing.
            Event::Message(message)
                if starts_run(message) && native::word(message, "native").as_deref() != Some("steer") =>
            {
                self.new_run();
            }
            _ => {}
        }
    }
}
