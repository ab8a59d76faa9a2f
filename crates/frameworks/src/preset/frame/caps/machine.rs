//! The machine that compares counters with caps.

use std::sync::Arc;

use foldhash::HashMap;

use super::counts::RunCounters;
use super::file::{EndEntry, When};
use super::plan::{ActiveCap, CapPlan};
use crate::decision::RuleName;
use crate::preset::frame::{Action, ActionSink, Machine, RuleReading, arguments, native, starts_run};
use crate::transcript::{Message, Moment, PointView, ToolCall, Usage};

/// The caps of a framework on one run.
#[derive(Clone, Debug)]
pub struct CapMachine {
    plan: Arc<CapPlan>,
    /// The counters of its present run.
    pub counts: RunCounters,
    /// The framework's run has ended on its own; a user message may start another.
    pub over: bool,
    /// Indices of the calls of the current reply that were refused.
    refused: Vec<usize>,
    /// The codes of the warnings so far: each is shown once.
    warned: Vec<&'static str>,
}

impl CapMachine {
    pub(super) fn new(plan: CapPlan) -> Self {
        Self {
            plan: Arc::new(plan),
            counts: RunCounters::default(),
            over: false,
            refused: Vec::new(),
            warned: Vec::new(),
        }
    }

    /// Checks the caps of `when` in order, up to the first that ends the run; true if one does.
    fn look(&mut self, when: When, counts: RunCounters, acts: &mut ActionSink<'_, '_>) -> bool {
        let plan = Arc::clone(&self.plan);
        let reply = acts.view().reply_index();
        for cap in plan.caps.iter().filter(|cap| cap.when == when) {
            let Some(reading) = counts.read(cap.counts).filter(|reading| cap.fires.holds(*reading, cap.limit)) else {
                continue;
            };
            if cap.action == Action::Warn && self.warned.contains(&cap.code) {
                continue;
            }
            let act = acts.act(cap.action, cap.rule).code(cap.code).evidence(reading, cap.limit);
            if let Some(template) = cap.detail {
                act.detail(fill(template, cap, &counts));
            }
            if cap.action == Action::Warn {
                act.undelivered();
                self.warned.push(cap.code);
            }
            if cap.ends_run {
                act.ends_run();
            }
            match when {
                // The request is due at this point, or after what is known so far.
                When::BeforeRequest => act.at_next_request(),
                When::CountedAhead => {
                    act.decision.point.moment = Moment::BeforeRequest;
                    act.about_event(reply.and_then(|reply| reply.checked_sub(1)))
                }
                When::EndOfRun => act.about_event(reply),
                When::AfterReply | When::BeforeTools | When::EachCall => act,
            };
            if cap.ends_run || cap.action.is_terminal() {
                return true;
            }
        }
        false
    }

    /// A request is due.
    fn request_due(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.plan.is_timed() {
            self.counts.elapsed_ms = view.now().zip(view.started_at()).map(|(now, start)| now.since(start).0);
        }
        self.look(When::BeforeRequest, self.counts, acts);
    }

    fn replied(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let mut ahead = self.counts;
        ahead.tokens(Usage { output: None, ..reply.usage().unwrap_or_default() });
        if self.look(When::CountedAhead, ahead, acts) {
            return;
        }
        self.counts.reply(reply);
        self.refused.clear();
        if self.look(When::AfterReply, self.counts, acts) {
            return;
        }
        let at_hand = reply.tool_calls.iter().filter(|call| !self.is_end_tool(&call.name)).count() as u64;
        self.counts.calls_at_hand = at_hand;
        if at_hand > 0 {
            self.look(When::BeforeTools, self.counts, acts);
        }
    }

    fn tools_ran(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        self.each_call(view, reply, acts);
        let results: Vec<&Message> = view.results().collect();
        if results.is_empty() {
            return;
        }
        let may_end = reply.tool_calls.iter().any(|call| self.is_end_tool(&call.name));
        let calls = if may_end { Some(CallLookup::from_reply(reply)) } else { None };
        let succeeded = results.iter().filter(|result| {
            let call = calls.as_ref().and_then(|calls| calls.answered_by(result));
            result.is_error != Some(true) && !call.is_some_and(|call| self.is_end_tool(&call.name))
        });
        self.counts.calls_succeeded += succeeded.count() as u64;
        if self.tool_stop(reply, acts) {
            return;
        }
        if self.plan.ends.iter().any(|end| ends_with_tools(end, reply, &results)) {
            self.end(acts);
        } else {
            self.request_due(view, acts);
        }
    }

    /// Handles each call in the order in which the framework reaches it before running it.
    fn each_call(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        for (nth, call) in reply.tool_calls.iter().enumerate() {
            if self.plan.uncounted_tools.iter().any(|tool| **tool == *call.name) {
                continue;
            }
            self.counts.calls += 1;
            let counts = self.counts;
            let plan = Arc::clone(&self.plan);
            let limit = plan.caps.iter().find(|cap| cap.when == When::EachCall && cap.is_reached(&counts));
            let Some(cap) = limit else { continue };
            self.refused.push(nth);
            let act = acts.act(cap.action, cap.rule).code(cap.code);
            act.evidence(counts.read(cap.counts).unwrap_or(f64::NAN), cap.limit).call(call.id.as_deref());
            act.at_reply(view);
            if let Some(template) = cap.detail {
                act.detail(fill(template, cap, &counts).replace("{tool}", &call.name));
            }
        }
    }

    fn tool_stop(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) -> bool {
        let plan = Arc::clone(&self.plan);
        for stop in &plan.tool_stops {
            let named = reply.tool_calls.iter().enumerate().find(|(nth, call)| {
                self.refused.binary_search(nth).is_err()
                    && !plan.uncounted_tools.iter().any(|tool| **tool == *call.name)
                    && stop.names(&call.name)
            });
            if named.is_none() {
                continue;
            }
            acts.act(Action::Stop, stop.rule).code(stop.code);
            return true;
        }
        false
    }

    /// Handles a reply without calls: the run ends, or the framework asks again.
    fn said(&mut self, view: &PointView<'_>, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        let blank = !reply.has_text();
        if self.plan.ends.iter().any(|end| matches!(end, EndEntry::Reply { reply } if !(reply == "said" && blank))) {
            self.end(acts);
        } else {
            self.request_due(view, acts);
        }
    }

    /// The run ends on its own with the current reply.
    fn end(&mut self, acts: &mut ActionSink<'_, '_>) {
        self.over = true;
        self.look(When::EndOfRun, self.counts, acts);
    }

    fn is_end_tool(&self, name: &str) -> bool {
        self.plan.ends.iter().any(|end| matches!(end, EndEntry::Tool { tool, .. } if *tool == name))
    }
}

impl Machine for CapMachine {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if self.plan.runs_by_user && starts_run(message) {
            self.over = false;
            if self.plan.starts_anew {
                self.counts = RunCounters::default();
            }
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if self.over {
            return;
        }
        match (view.moment(), view.reply()) {
            (Moment::BeforeRequest, _) => self.request_due(view, acts),
            (Moment::AfterResponse, Some(reply)) => self.replied(reply, acts),
            (Moment::AfterTools, Some(reply)) if !reply.tool_calls.is_empty() => self.tools_ran(view, reply, acts),
            (Moment::EndOfRound, Some(reply)) => self.said(view, reply, acts),
            _ => {}
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let reading = |cap: &ActiveCap| {
            let observed = self.counts.read(cap.counts);
            let reading = RuleReading::new(RuleName::fixed(cap.rule), cap.counts.words(), observed);
            reading.against(cap.limit, cap.is_reached(&self.counts))
        };
        self.plan.caps.iter().map(reading).collect()
    }
}

/// The framework's message with its figures filled in.
fn fill(template: &str, cap: &ActiveCap, counts: &RunCounters) -> String {
    let figures: [(&str, &dyn Fn() -> String); 4] = [
        ("{limit}", &|| cap.written.clone()),
        ("{value}", &|| counts.printed(cap.counts)),
        ("{requests}", &|| counts.requests.to_string()),
        ("{cost}", &|| format!("{:.4}", counts.cost_sum)),
    ];
    let mut words = template.to_owned();
    for (place, figure) in figures {
        if words.contains(place) {
            words = words.replace(place, &figure());
        }
    }
    words
}

/// The calls of a reply by what their results may name: a reply can hold a hundred thousand.
struct CallLookup<'m> {
    in_order: &'m [ToolCall],
    /// The first call with an id.
    by_id: HashMap<&'m str, usize>,
    /// The first call of a tool, and the first of those without an id.
    by_name: HashMap<&'m str, (usize, Option<usize>)>,
}

impl<'m> CallLookup<'m> {
    fn from_reply(reply: &'m Message) -> Self {
        let mut all = Self { in_order: &reply.tool_calls, by_id: HashMap::default(), by_name: HashMap::default() };
        for (nth, call) in reply.tool_calls.iter().enumerate() {
            let named = all.by_name.entry(&*call.name).or_insert((nth, None));
            match call.id.as_deref() {
                Some(id) => _ = all.by_id.entry(id).or_insert(nth),
                None => _ = named.1.get_or_insert(nth),
            }
        }
        all
    }

    /// The first call that a result answers.
    fn answered_by(&self, result: &Message) -> Option<&'m ToolCall> {
        let named = if let Some(name) = result.name.as_deref() { self.by_name.get(name) } else { None };
        let nth = match result.tool_call_id.as_deref() {
            Some(id) => {
                let without_id = named.and_then(|named| named.1);
                self.by_id.get(id).copied().into_iter().chain(without_id).min()
            }
            None => named.map(|named| named.0),
        };
        self.in_order.get(nth?)
    }
}

fn ends_with_tools(end: &EndEntry, reply: &Message, results: &[&Message]) -> bool {
    let asks_again =
        results.iter().any(|result| result.is_error == Some(true) && !native::flag(result, "invalid_call"));
    match end {
        EndEntry::Reply { .. } => false,
        EndEntry::Tool { tool, .. } => !asks_again && reply.tool_calls.iter().any(|call| *call.name == **tool),
        EndEntry::Command { command } => {
            let marker = command.rsplit(' ').next().unwrap_or(command);
            results.iter().any(|result| result.text().trim_start().starts_with(marker))
                || reply.tool_calls.iter().any(|call| {
                    let arguments = arguments(call);
                    arguments["command"].as_str().unwrap_or_default().trim_start().starts_with(command)
                })
        }
    }
}
