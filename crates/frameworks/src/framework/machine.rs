//! The state machine of a framework, and the adapter that runs it over the points of a run.
//!
//! A machine sees each event once, in order, and each point after the events that precede it. It
//! cannot see the future.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::decision::{Decision, Evidence, Need, Requirement, RuleName, Strategy, Watch};

pub use crate::decision::RuleReading;
use crate::transcript::{Event, Header, Lane, Message, Moment, Point, PointView, Role, Run};

pub use crate::decision::Action;

/// One thing a framework did, with the figures a framework reports beside its decision.
#[derive(Clone, Debug)]
pub struct Act {
    /// The decision, as every strategy makes it.
    pub decision: Decision,
    /// Figures of the framework's own report (`count`, `window`), by name.
    pub fields: Vec<(&'static str, Value)>,
    /// Is the framework's run over with it? By default with a stop. A forced last answer can end it
    /// too, since that answer is not in the recording; and a stop may wait for the message's end.
    ends: Option<bool>,
}

impl Act {
    /// With the framework's own code.
    pub fn code(&mut self, code: impl Into<Cow<'static, str>>) -> &mut Self {
        self.decision.code = Some(code.into());
        self
    }

    /// With the framework's own words.
    pub fn detail(&mut self, detail: impl Into<String>) -> &mut Self {
        self.decision.detail = Some(detail.into());
        self
    }

    /// About one call.
    pub fn call(&mut self, id: Option<&str>) -> &mut Self {
        self.decision.call_id = id.map(Into::into);
        self
    }

    /// With the reading and the limit it was held against.
    pub fn evidence(&mut self, observed: f64, limit: f64) -> &mut Self {
        self.decision.evidence = Evidence::new(observed, limit);
        self
    }

    /// With a figure of the framework's own report.
    pub fn field(&mut self, name: &'static str, value: impl Into<Value>) -> &mut Self {
        self.fields.push((name, value.into()));
        self
    }

    /// About another event than the one being looked at.
    pub fn about_event(&mut self, event: usize) -> &mut Self {
        self.decision.event = Some(event);
        self
    }

    /// The framework's run is over with this.
    pub fn ends_run(&mut self) -> &mut Self {
        self.ends = Some(true);
        self
    }

    /// The framework's run is not over with this, though it is a stop.
    pub fn goes_on(&mut self) -> &mut Self {
        self.ends = Some(false);
        self
    }

    /// As shipped, the words never reach the model.
    pub fn undelivered(&mut self) -> &mut Self {
        self.decision.delivered = false;
        self
    }

    /// True when the framework's run is over with it.
    pub fn is_end(&self) -> bool {
        self.ends.unwrap_or(self.decision.action.is_terminal())
    }
}

/// Where a machine puts what it does. It stamps each act with the point and the event at hand.
#[derive(Debug)]
pub struct Acts<'a, 'r> {
    view: &'a PointView<'r>,
    event: Option<usize>,
    list: &'a mut Vec<Act>,
}

impl Acts<'_, '_> {
    /// Index of the event at hand: the one being shown, or the last one known at the point.
    pub fn event(&self) -> Option<usize> {
        self.event
    }

    /// The point at hand: for an event, the first point at which it is known.
    pub fn view(&self) -> &PointView<'_> {
        self.view
    }

    /// Does `action` by `rule`.
    #[expect(clippy::missing_panics_doc, reason = "the list was just pushed to")]
    pub fn act(&mut self, action: Action, rule: &'static str) -> &mut Act {
        let mut decision = Decision::at(self.view, action, RuleName::fixed(rule), Evidence::NONE);
        decision.event = self.event;
        self.list.push(Act { decision, fields: Vec::new(), ends: None });
        self.list.last_mut().expect("the list was just pushed to")
    }
}

/// Further figures of a framework's report at the end of a run (`model_calls`, `tools_executed`).
pub type Facts = Vec<(&'static str, Value)>;

/// A framework at work on one run.
pub trait Machine: Send + std::fmt::Debug {
    /// Takes in one event. Tool results come one by one, before the point after the tools.
    fn event(&mut self, _event: &Event, _acts: &mut Acts<'_, '_>) {}

    /// A point was reached; the events before it have been shown. `before_request` also comes at the
    /// end of a recording that ends with something to answer.
    fn point(&mut self, _view: &PointView<'_>, _acts: &mut Acts<'_, '_>) {}

    /// What its rules read at the point it was shown last, for people: a count, held against the limit at which its rule
    /// acts ([`reading`]).
    fn readings(&self) -> Vec<RuleReading> {
        Vec::new()
    }

    /// What the framework would report beside its decisions, when the replay is over.
    fn facts(&self) -> Facts {
        Facts::new()
    }
}

/// A count of `what`, for [`Machine::readings`], held against the limit of `rule`; at the limit the rule acts.
pub fn reading(rule: &'static str, what: &'static str, count: f64, limit: f64) -> RuleReading {
    RuleReading::new(RuleName::fixed(rule), what, Some(count)).against(limit, count >= limit)
}

/// Does a user's words start a run of the framework? A simulated user's do; its tool calls do not, nor does what a host
/// says in the user's name or what is typed while the agent works.
pub fn starts_run(message: &Message) -> bool {
    message.is_prompt() && message.tool_calls.is_empty() && !matches!(message.lane, Lane::Side(_))
}

/// The point of the next request at or after `point`: where a request that is due would be made, and
/// is refused, though the recording may not go on to it.
pub fn next_request(point: Point) -> Point {
    match point.moment {
        Moment::BeforeRequest => point,
        _ => Point { step: point.step.saturating_add(1), moment: Moment::BeforeRequest },
    }
}

/// What becomes of the machine when its run is over but the recording goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterStop {
    /// Nothing: the rest was never reached.
    #[default]
    Nothing,
    /// The next user message starts another run of the same session; the machine sees it.
    NextUser,
    /// The machine is shown everything and knows itself what it no longer looks at.
    OwnState,
}

/// Starts a fresh machine for one run.
type Start = Box<dyn Fn(&Header) -> Box<dyn Machine> + Send + Sync>;

/// A machine ready to be started for any number of runs.
pub struct Recipe {
    rules: Vec<&'static str>,
    needs: Vec<Requirement>,
    /// Rules that work without knowing what a text says.
    blind: Vec<&'static str>,
    after_stop: AfterStop,
    asks_after_end: bool,
    last_stop_counts: bool,
    no_last_request: bool,
    start: Start,
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recipe({:?})", self.rules)
    }
}

impl Recipe {
    /// A recipe that starts each run with a copy of `machine`; `rules` in the order they are consulted.
    pub fn new<M: Machine + Clone + Send + Sync + 'static>(machine: M, rules: &[&'static str]) -> Self {
        Self {
            rules: rules.to_vec(),
            needs: Vec::new(),
            blind: Vec::new(),
            after_stop: AfterStop::Nothing,
            asks_after_end: false,
            last_stop_counts: false,
            no_last_request: false,
            start: Box::new(move |_| Box::new(machine.clone())),
        }
    }

    /// `rule` needs something of a recording to be evaluable. Ignored when the rule is not on.
    #[must_use]
    pub fn needs(mut self, rule: &'static str, need: Need) -> Self {
        if self.rules.contains(&rule) {
            self.needs.push(Requirement { rule: RuleName::fixed(rule), need });
        }
        self
    }

    /// These rules count and compare, but never read what a text or an argument says: they can be replayed on a recording
    /// without its texts. Of any other rule it is taken that they do read.
    #[must_use]
    pub fn blind(mut self, rules: &[&'static str]) -> Self {
        self.blind.extend(rules);
        self
    }

    /// What the rules need of a recording.
    pub fn requirements(&self) -> Vec<Requirement> {
        let readers = self.rules.iter().filter(|rule| !self.blind.contains(rule));
        let texts = readers.map(|rule| Requirement { rule: RuleName::fixed(rule), need: Need::Texts });
        self.needs.iter().cloned().chain(texts).collect()
    }

    /// The next user message starts another run of the same session after a stop.
    #[must_use]
    pub fn resumes_at_user(mut self) -> Self {
        self.after_stop = AfterStop::NextUser;
        self
    }

    /// The machine is shown everything, also past its own stops.
    #[must_use]
    pub fn keeps_own_state(mut self) -> Self {
        self.after_stop = AfterStop::OwnState;
        self
    }

    /// Golden cases ask once more after the last event, as if another request followed.
    #[must_use]
    pub fn asks_after_end(mut self) -> Self {
        self.asks_after_end = true;
        self
    }

    /// A session of several runs is over with the last of its stops, not the first.
    #[must_use]
    pub fn over_with_last_stop(mut self) -> Self {
        self.last_stop_counts = true;
        self
    }

    /// The event at which the framework's run, or its session, was over.
    pub fn halted_at(&self, acts: &[Act]) -> Option<usize> {
        let mut ends = acts.iter().filter(|act| act.is_end());
        let end = if self.last_stop_counts { ends.next_back() } else { ends.next() };
        end.and_then(|act| act.decision.event)
    }

    /// In [`Self::replay`], the request that was about to be made when the recording ends is left out:
    /// the driver of these cases makes only requests it has a reply for.
    #[must_use]
    pub fn recorded_requests_only(mut self, only: bool) -> Self {
        self.no_last_request = only;
        self
    }

    /// Starts it for one run.
    pub fn start(&self, header: &Header) -> MachineWatch {
        MachineWatch { machine: (self.start)(header), after_stop: self.after_stop, over: false }
    }

    /// Runs it over a whole recording, past its own stops: what it did, and what it reports at the end.
    pub fn replay(&self, run: &Run) -> (Vec<Act>, Facts) {
        let mut watch = self.start(&run.header);
        let mut acts = Vec::new();
        let n_steps = run.steps().len();
        for view in run.views() {
            if self.no_last_request && view.point().step as usize >= n_steps {
                break;
            }
            watch.advance(&view, &mut acts);
        }
        if let Some(view) = run.one_more_request().filter(|_| self.asks_after_end) {
            watch.advance(&view, &mut acts);
        }
        (acts, watch.machine.facts())
    }
}

/// A machine as a strategy.
#[derive(Debug)]
pub struct MachineStrategy {
    pub(super) name: String,
    pub(super) profile: &'static str,
    pub(super) recipe: Recipe,
}

impl MachineStrategy {
    /// Its machine's recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }
}

impl Strategy for MachineStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn rules(&self) -> Vec<RuleName> {
        self.recipe.rules.iter().map(|&rule| RuleName::fixed(rule)).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        self.recipe.requirements()
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(self.recipe.start(header))
    }
}

/// A machine on its way through a run.
#[derive(Debug)]
pub struct MachineWatch {
    machine: Box<dyn Machine>,
    after_stop: AfterStop,
    over: bool,
}

impl MachineWatch {
    /// Shows the machine what is new at this point, then the point.
    fn advance(&mut self, view: &PointView<'_>, list: &mut Vec<Act>) {
        for (offset, event) in view.news().iter().enumerate() {
            let speaks = event.message().is_some_and(|message| message.role == Role::User);
            if self.over && speaks && self.after_stop == AfterStop::NextUser {
                self.over = false;
            }
            if !self.over {
                let from = list.len();
                self.machine.event(event, &mut Acts { view, event: Some(view.news_from() + offset), list });
                self.over = self.after_stop != AfterStop::OwnState && list[from..].iter().any(Act::is_end);
            }
        }
        if !self.over {
            let from = list.len();
            let event = view.events().len().checked_sub(1);
            self.machine.point(view, &mut Acts { view, event, list });
            self.over = self.after_stop != AfterStop::OwnState && list[from..].iter().any(Act::is_end);
        }
    }
}

impl Watch for MachineWatch {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        let mut acts = Vec::new();
        self.advance(view, &mut acts);
        trail.extend(acts.into_iter().map(|act| act.decision));
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.machine.readings()
    }
}
