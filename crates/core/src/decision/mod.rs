//! Decisions, and the two traits of every strategy: [`Strategy`], the recipe, and [`Watch`], the state machine it
//! starts for each run. Stacks, seed systems and presets all implement them.

mod action;
mod number;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::transcript::{Header, Moments, Name, Point, PointView, Truth};

pub use action::Action;
#[doc(hidden)]
pub use number::{Number, NumberOf, ask, last_number, number_now};

/// The name of the rule a decision is attributed to, as shown in tables: `tokens.total >= 200000`, or the name its
/// author gave it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleName(SmolStr);

impl RuleName {
    /// A name known at compile time.
    pub const fn fixed(name: &'static str) -> Self {
        Self(SmolStr::new_static(name))
    }

    /// A name made at run time.
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The numbers that led to a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The signal's reading; `None` if the rule does not compare a number.
    pub observed: Option<f64>,
    /// The limit it was compared with; `None` if the rule does not compare a number.
    pub limit: Option<f64>,
}

impl Evidence {
    /// A reading and the limit it was compared with.
    pub fn new(observed: f64, limit: f64) -> Self {
        Self { observed: Some(observed), limit: Some(limit) }
    }

    /// For a rule that does not compare a number.
    pub const NONE: Self = Self { observed: None, limit: None };
}

/// What a strategy did at a point, by which rule, and on what evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Where it acted.
    pub point: Point,
    /// Index of the event it refers to; by default, the last one known at the point.
    pub event: Option<usize>,
    /// What it does.
    pub action: Action,
    /// The rule that did it.
    pub rule: RuleName,
    /// Reading and limit.
    pub evidence: Evidence,
    /// The framework's own code for it, if it has one (`stopped:max_rounds`).
    pub code: Option<Cow<'static, str>>,
    /// The framework's own message.
    pub detail: Option<String>,
    /// The id of the tool call it refers to.
    pub call_id: Option<Name>,
    /// False if the framework as released never shows the text to the model, so that nothing diverges.
    pub delivered: bool,
    /// True if the framework discards the reply on which it stops, so that a final answer is lost.
    pub drops_reply: bool,
}

impl Decision {
    /// A decision of `rule` at the view's point, referring to the last event known there.
    pub fn at(view: &PointView<'_>, action: Action, rule: RuleName, evidence: Evidence) -> Self {
        Self {
            point: view.point(),
            event: view.events().len().checked_sub(1),
            action,
            rule,
            evidence,
            code: None,
            detail: None,
            call_id: None,
            delivered: true,
            drops_reply: false,
        }
    }

    /// Sets the framework's own code.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Sets the framework's own message.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Makes it refer to one tool call.
    #[must_use]
    pub fn about_call(mut self, id: Option<&str>) -> Self {
        self.call_id = id.map(Into::into);
        self
    }

    /// Makes it refer to one event instead of the last one known.
    #[must_use]
    pub fn about_event(mut self, event: usize) -> Self {
        self.event = Some(event);
        self
    }

    /// Marks that the framework discards the reply.
    #[must_use]
    pub fn dropping_reply(mut self) -> Self {
        self.drops_reply = true;
        self
    }

    /// Marks that the text never reaches the model.
    #[must_use]
    pub fn undelivered(mut self) -> Self {
        self.delivered = false;
        self
    }

    /// True when the run would continue differently from the recording.
    pub fn diverges(&self) -> bool {
        self.delivered && self.action.diverges()
    }
}

/// What a rule needs from a recording in order to be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Need {
    /// Token usage of the model calls.
    Usage,
    /// Cost of the model calls.
    Cost,
    /// Timestamps.
    Times,
    /// The tool calls that replies asked for, told from the host's own; by any run of the same source: a run without
    /// calls among runs with calls made none.
    Calls,
    /// What happened step by step, and not only how many steps there were and what they took in all.
    Replies,
    /// Results of the tool calls.
    Results,
    /// Tool results flagged as failed or successful.
    ErrorFlags,
    /// Metrics reports or a task plan.
    Metrics,
    /// Recorded judge replies (or a simulated judge).
    Judge,
    /// A task plan snapshot.
    Plan,
    /// Why each model call ended, in the provider's terms.
    FinishReasons,
    /// The full text of messages and arguments, which a redacted recording lacks.
    Texts,
    /// The arguments of calls, and not only their fingerprints.
    Arguments,
    /// What was passed to the calls, or its fingerprint: calls whose arguments were not recorded equal no other.
    CallArguments,
    /// The texts of the calls' results, or their fingerprints.
    ResultTexts,
    /// The texts of replies, or their fingerprints.
    ReplyTexts,
    /// Arguments that are not JSON, exactly as the model wrote them. If a redacted recording has any, it is unknown
    /// which of them could have been repaired and parsed.
    PlainArguments,
    /// The names of all tools. A redacted recording drops names that were the first word of a text.
    ToolNames,
    /// A graded outcome, which a simulated judge errs around.
    Outcome,
    /// Replies in the format of an experimenting agent: an experiment or a conclusion in tags. If no reply has either,
    /// a missing experiment means nothing: the agent was never asked for one.
    ExperimentTags,
    /// Which of several agents each reply comes from.
    AgentNames,
    /// The rows of agentica's own log, which give its goal after each turn.
    GoalRows,
    /// What a tool returned to its framework besides the result's text.
    ResultDetails,
    /// The whole session: a rule that counts over a session cannot be evaluated on one of its rounds.
    WholeSession,
    /// Answers of another program: a guard that failed on this run.
    Answers,
    /// The number of a guard, by the signal's name: a guard that failed on this run gave none.
    Number(&'static str),
    /// A message field that only one framework records, by name.
    Field(&'static str),
    /// Something no recording contains, described in words.
    Unrecorded(&'static str),
}

impl Need {
    /// True for contents, of which the fingerprints are enough.
    pub(crate) fn is_of_contents(self) -> bool {
        matches!(self, Self::CallArguments | Self::ResultTexts | Self::ReplyTexts)
    }

    /// The missing data, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Cost => "cost",
            Self::Times => "times",
            Self::ExperimentTags => "experiment or conclusion tags",
            Self::Calls => "requested calls",
            Self::Replies => "single steps",
            Self::Results => "tool results",
            Self::ErrorFlags => "error flags",
            Self::Metrics => "metrics",
            Self::Judge => "judge replies",
            Self::Plan => "task plan",
            Self::FinishReasons => "finish reasons",
            Self::Texts => "texts",
            Self::Arguments => "arguments",
            Self::CallArguments => "arguments of calls",
            Self::ResultTexts => "texts of results",
            Self::ReplyTexts => "texts of replies",
            Self::PlainArguments => "arguments as written",
            Self::ToolNames => "names of tools",
            Self::Outcome => "graded outcome",
            Self::AgentNames => "agent names",
            Self::GoalRows => "agentica.goal",
            Self::ResultDetails => "result details",
            Self::WholeSession => "whole session",
            Self::Answers | Self::Number(_) => "answers from the guard",
            Self::Field(name) | Self::Unrecorded(name) => name,
        }
    }
}

/// What one rule needs from a recording.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The rule.
    pub rule: RuleName,
    /// What it needs.
    pub need: Need,
}

/// Another program that makes a strategy's decisions, as a comparison's manifest names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments, or the name of a function.
    pub command: Vec<String>,
    /// The version it states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The files that the command names, with the SHA-256 of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
}

/// What went wrong with another program that makes a strategy's decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, on how many runs, and where first.
    pub what: String,
    /// How to mend it.
    pub help: String,
    /// It went wrong so often that the program was not asked to the end: nothing may be said about the strategy.
    pub gave_up: bool,
}

/// A strategy: an immutable recipe, shared by all runs and threads.
pub trait Strategy: Send + Sync {
    /// The stack's or system's name, as shown in the `stack` column of tables.
    fn name(&self) -> &str;

    /// The profile (`documented`, `published-0.6` …); empty if there is only one.
    fn profile(&self) -> &'static str {
        ""
    }

    /// Its rules, in the order they are consulted.
    fn rules(&self) -> Vec<RuleName>;

    /// What each rule needs from a recording. An unmet need is reported for that run; it is never treated as "the rule
    /// did not fire".
    fn requirements(&self) -> Vec<Requirement>;

    /// Whether the strategy can warn, inject, refuse or ask, so that the run would continue differently from the
    /// recording. If so, one rule that cannot be evaluated puts the rest of the path in doubt.
    fn may_leave_path(&self) -> bool {
        true
    }

    /// The most model calls that a run can make under the strategy, whatever the agent does after a warning; `None` if
    /// nothing limits them.
    fn step_limit(&self) -> Option<u32> {
        None
    }

    /// The number that it answers with, if it decides nothing: rules read it as a signal.
    #[doc(hidden)]
    fn number(&self) -> Option<Number<'_>> {
        None
    }

    /// The numbers of other programs that its rules read.
    #[doc(hidden)]
    fn numbers(&self) -> Vec<NumberOf> {
        Vec::new()
    }

    /// The program that makes its decisions, if it is not this one.
    fn program(&self) -> Option<&Program> {
        None
    }

    /// What went wrong with that program so far. The strategy is unknown on those runs.
    fn troubles(&self) -> Vec<Trouble> {
        Vec::new()
    }

    /// Starts a state machine for one run, of which only the header is known yet. The result is `'static` and [`Send`]:
    /// it can be kept for the whole run and moved to another thread.
    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch>;
}

/// Where a rule first acted, and on what evidence; `None` if it never did.
pub type FirstFiring = Option<(Point, Evidence)>;

/// The state of a strategy for one run, recorded or live. It sees the points one by one, in order, and never the
/// future.
pub trait Watch: Send {
    /// Appends what the strategy decides at this point, if anything, to `trail`. After a terminal decision the run is
    /// over; later decisions are discarded.
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>);

    /// The moments at which it must be shown the run. It may be shown others, too, and what is new at a point came since
    /// the point that it was shown last.
    fn moments(&self) -> Moments {
        Moments::ALL
    }

    /// The readings of its rules at the latest point, for display, in the order of [`Strategy::rules`]. Rules with
    /// nothing to show are left out.
    fn readings(&self) -> Vec<RuleReading> {
        Vec::new()
    }

    /// For a strategy whose rules are independent (a plain `any` stack): where each rule alone would first have acted
    /// at the points seen so far, in the order of [`Strategy::rules`]. `None` if the rules interact. A strategy that
    /// returns `Some` is shown points after its stop too, until every rule has acted.
    fn first_firings(&self) -> Option<&[FirstFiring]> {
        None
    }

    /// Receives the truth about the run before its first point. Only a strategy with a simulated judge keeps it, to
    /// pass it on to the judge; the strategy itself cannot read it.
    fn seat_judge(&mut self, _truth: Truth) {}

    /// Ends the run: no point follows. Returns the rules that could not decide, for a reason that is not in the
    /// recording: their program failed. What the strategy would have done is then unknown.
    fn conclude(&mut self) -> Vec<RuleName> {
        Vec::new()
    }

    /// Model calls made by the strategy so far that the recording does not contain: those of a simulated judge. They
    /// count as cost.
    fn extra_calls(&self) -> u64 {
        0
    }
}

/// The reading of one rule at a point, for display.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleReading {
    /// The rule it belongs to.
    pub rule: RuleName,
    /// What is read: the signal's name, or the framework's own term.
    pub what: Cow<'static, str>,
    /// The number; `None` if there is nothing to read yet, or if it is not a number.
    pub observed: Option<f64>,
    /// The limit it is compared with, if there is one.
    pub limit: Option<f64>,
    /// Whether the reading passes the limit.
    pub passes: bool,
    /// The framework's own message.
    pub words: Option<String>,
}

impl RuleReading {
    /// A reading without a limit.
    pub fn new(rule: RuleName, what: impl Into<Cow<'static, str>>, observed: Option<f64>) -> Self {
        Self { rule, what: what.into(), observed, limit: None, passes: false, words: None }
    }

    /// Adds the limit, and whether the reading passes it.
    #[must_use]
    pub fn against(mut self, limit: f64, passes: bool) -> Self {
        (self.limit, self.passes) = (Some(limit), passes);
        self
    }

    /// Adds the framework's own message.
    #[must_use]
    pub fn saying(mut self, words: impl Into<String>) -> Self {
        self.words = Some(words.into());
        self
    }
}
