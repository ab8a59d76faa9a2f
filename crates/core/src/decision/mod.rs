//! What a strategy says at a point, and the two traits every strategy has: a recipe, and the state
//! machine it starts for each run. Stacks, seed systems and presets all come through here.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::transcript::{Header, Name, Point, PointView, Truth};

/// What a decision does. Only [`Stop`](Action::Stop) and [`Fail`](Action::Fail) end a replay exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Noted by the framework; neither the model nor a person learns of it.
    Observe,
    /// A warning put before the model.
    Warn,
    /// A new instruction put before the model.
    Inject,
    /// This call is refused; the run goes on.
    Deny,
    /// A human is asked.
    Ask,
    /// The model must answer now, without tools: one more model call.
    ForceFinal,
    /// A cap is lifted: the run may go on.
    Extend,
    /// The run ends here, in order.
    Stop,
    /// The run ends here with an error.
    Fail,
}

impl Action {
    /// True for an action that ends the run.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Stop | Self::Fail)
    }

    /// True when what follows is no longer what the recording shows. An extension diverges only
    /// beyond the end of the recording, so it is not among them.
    pub fn diverges(self) -> bool {
        matches!(self, Self::Warn | Self::Inject | Self::Deny | Self::Ask | Self::ForceFinal)
    }

    /// The name used in tables and traces of decisions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Warn => "warn",
            Self::Inject => "inject",
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::ForceFinal => "force_final",
            Self::Extend => "extend",
            Self::Stop => "stop",
            Self::Fail => "fail",
        }
    }

    /// The letter it has where there is room for one only.
    pub fn letter(self) -> char {
        match self {
            Self::Observe => 'o',
            Self::Warn => 'w',
            Self::Inject => 'i',
            Self::Deny => 'd',
            Self::Ask => 'a',
            Self::ForceFinal => 'f',
            Self::Extend => 'x',
            Self::Stop => 'h',
            Self::Fail => 'e',
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The rule a decision is attributed to, as it reads in tables: `tokens.total >= 200000`, or the
/// name its author gave it.
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

/// The numbers behind a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// What the signal read; `None` where the rule is not about a number.
    pub observed: Option<f64>,
    /// The limit it was held against.
    pub limit: Option<f64>,
}

impl Evidence {
    /// A reading held against a limit.
    pub fn new(observed: f64, limit: f64) -> Self {
        Self { observed: Some(observed), limit: Some(limit) }
    }

    /// A rule that is not about a number.
    pub const NONE: Self = Self { observed: None, limit: None };
}

/// What a strategy did at a point, by which rule, and on what evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Where.
    pub point: Point,
    /// Index of the event it is about: by default the last one known at the point.
    pub event: Option<usize>,
    /// What it does.
    pub action: Action,
    /// The rule that did it.
    pub rule: RuleName,
    /// Reading and limit.
    pub evidence: Evidence,
    /// The framework's own code for it, where it has one (`stopped:max_rounds`).
    pub code: Option<Cow<'static, str>>,
    /// The framework's own words.
    pub detail: Option<String>,
    /// The call it is about.
    pub call_id: Option<Name>,
    /// False when, as shipped, the words never reach the model: then nothing diverges.
    pub delivered: bool,
    /// True when the framework throws away the reply on which it stops: a final answer is lost.
    pub drops_reply: bool,
}

impl Decision {
    /// A decision of `rule` at the view's point, about the last event known there.
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

    /// With the framework's own code.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// With the framework's own words.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// About one call.
    #[must_use]
    pub fn about_call(mut self, id: Option<&str>) -> Self {
        self.call_id = id.map(Into::into);
        self
    }

    /// About one event rather than the last one known.
    #[must_use]
    pub fn about_event(mut self, event: usize) -> Self {
        self.event = Some(event);
        self
    }

    /// Throws the reply away.
    #[must_use]
    pub fn dropping_reply(mut self) -> Self {
        self.drops_reply = true;
        self
    }

    /// Never reaches the model.
    #[must_use]
    pub fn undelivered(mut self) -> Self {
        self.delivered = false;
        self
    }

    /// True when what follows is no longer what the recording shows.
    pub fn diverges(&self) -> bool {
        self.delivered && self.action.diverges()
    }
}

/// What a rule needs of a recording to be evaluable at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Need {
    /// Tokens of the model calls.
    Usage,
    /// Cost of the model calls.
    Cost,
    /// Times.
    Times,
    /// Results of the tools that were called.
    Results,
    /// Tool results flagged as failed or fine.
    ErrorFlags,
    /// Metric reports or a task plan.
    Metrics,
    /// Recorded judge replies (or a simulated judge).
    Judge,
    /// A task plan snapshot.
    Plan,
    /// Why each model call ended, in the provider's words.
    FinishReasons,
    /// What messages and arguments say, in full: a redacted recording does not have it.
    Texts,
    /// Arguments that are no JSON, as the model wrote them: in a redacted recording that has any, nothing tells which of
    /// them could be mended and read.
    PlainArguments,
    /// The names of all tools: a redacted recording does not keep those that were the first word of a text.
    ToolNames,
    /// A graded outcome (a simulated judge errs around it).
    Outcome,
    /// Replies in the form of an experimenting agent: an experiment or a conclusion in tags. Where no reply has either, a
    /// reply without an experiment tells nothing: the agent was never asked for one.
    ExperimentTags,
    /// Replies that say which of several agents they are of.
    AgentNames,
    /// The rows of agentica's own log, with its goal after each turn.
    GoalRows,
    /// What a tool gave its framework beside the result's text.
    ResultDetails,
    /// The whole session: what counts by it cannot be told from one of its rounds.
    WholeSession,
    /// A field of a message that only one framework records, by name.
    Field(&'static str),
    /// Something that no recording has, in words.
    Unrecorded(&'static str),
}

impl Need {
    /// What is missing, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Cost => "cost",
            Self::Times => "times",
            Self::ExperimentTags => "experiment or conclusion tags",
            Self::Results => "tool results",
            Self::ErrorFlags => "error flags",
            Self::Metrics => "metrics",
            Self::Judge => "judge replies",
            Self::Plan => "task plan",
            Self::FinishReasons => "finish reasons",
            Self::Texts => "texts",
            Self::PlainArguments => "arguments as written",
            Self::ToolNames => "names of tools",
            Self::Outcome => "graded outcome",
            Self::AgentNames => "agent names",
            Self::GoalRows => "agentica.goal",
            Self::ResultDetails => "result details",
            Self::WholeSession => "whole session",
            Self::Field(name) | Self::Unrecorded(name) => name,
        }
    }
}

/// A rule and what it needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The rule.
    pub rule: RuleName,
    /// What it needs.
    pub need: Need,
}

/// A strategy: the recipe, shared by all runs and threads.
pub trait Strategy: Send + Sync {
    /// The stack's or system's name, as in the table's `stack` column.
    fn name(&self) -> &str;

    /// The profile (`documented`, `published-0.6` …); empty where there is only one.
    fn profile(&self) -> &'static str {
        ""
    }

    /// Its rules, in the order they are consulted.
    fn rules(&self) -> Vec<RuleName>;

    /// What each rule needs of a recording. A need that a run does not meet is reported for that
    /// run; it never reads as "the rule did not fire".
    fn requirements(&self) -> Vec<Requirement>;

    /// May it warn, inject, refuse or ask, after which the recording shows no longer what happens? Where one of its rules
    /// cannot be read, that decides whether the rest of the path is in doubt.
    fn may_leave_path(&self) -> bool {
        true
    }

    /// A fresh state machine for one run, of which nothing but its header is known yet. It keeps the recipe alive and
    /// borrows from nobody, so it can be kept as long as the run takes, and moved to another thread.
    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch>;
}

/// Where a rule first acted, and on what evidence; `None` when it never did.
pub type FirstFiring = Option<(Point, Evidence)>;

/// A strategy at work on one run, recorded or still going on. It is shown the points one by one, in order, and never the
/// future.
pub trait Watch: Send {
    /// Says what it does at this point, if anything. The run is over for it after a point at which a terminal decision
    /// was made: what it says later is discarded.
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>);

    /// What its rules read at the point it was shown last, for people: in the order of [`Strategy::rules`], and none for
    /// a rule that has nothing to show.
    fn readings(&self) -> Vec<RuleReading> {
        Vec::new()
    }

    /// For a strategy whose rules stand alone (a plain `any` stack): where each rule, by itself,
    /// first acted among the points that were shown, in the order of [`Strategy::rules`]. `None` when
    /// they are entangled. A strategy that has them is shown the points after its stop too, until each
    /// rule has acted.
    fn first_firings(&self) -> Option<&[FirstFiring]> {
        None
    }

    /// Hands over, before the first point, the truth about the run that a simulated judge errs around. Only a strategy
    /// with such a judge keeps it, to pass it on; it cannot look into it.
    fn seat_judge(&mut self, _truth: Truth) {}

    /// Model calls the strategy has made so far that no recording contains: those of a simulated judge. They are paid for.
    fn extra_calls(&self) -> u64 {
        0
    }
}

/// What one rule reads at a point, for people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RuleReading {
    /// The rule it belongs to.
    pub rule: RuleName,
    /// What is read: a signal's name, or the framework's own word for it.
    pub what: Cow<'static, str>,
    /// The number; `None` when there is nothing to read yet, or it is not about a number.
    pub observed: Option<f64>,
    /// The limit it is held against, where there is one.
    pub limit: Option<f64>,
    /// Does the reading pass the limit?
    pub passes: bool,
    /// The framework's own words.
    pub words: Option<String>,
}

impl RuleReading {
    /// A number, held against nothing yet.
    pub fn new(rule: RuleName, what: impl Into<Cow<'static, str>>, observed: Option<f64>) -> Self {
        Self { rule, what: what.into(), observed, limit: None, passes: false, words: None }
    }

    /// Held against a limit.
    #[must_use]
    pub fn against(mut self, limit: f64, passes: bool) -> Self {
        (self.limit, self.passes) = (Some(limit), passes);
        self
    }

    /// With the framework's own words.
    #[must_use]
    pub fn saying(mut self, words: impl Into<String>) -> Self {
        self.words = Some(words.into());
        self
    }
}
