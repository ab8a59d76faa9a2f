//! The state machine of a framework, and the adapter that runs it over the points of a run.
//!
//! A machine sees each event once, in order, and each point after the events that precede it. It cannot see the future.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use crate::decision::{Decision, Evidence, Need, Requirement, RuleName, Strategy, Watch};

pub use crate::decision::RuleReading;
use crate::transcript::{Event, Header, Instant, Lane, Message, Moment, Point, PointView, Role};

pub use crate::decision::Action;

/// One action of a framework.
#[derive(Clone, Debug)]
pub struct MachineAction {
    /// The decision, in the form common to all strategies.
    pub decision: Decision,
    /// Whether this ends the framework's run; `None` means that a stop does. A forced last answer can end the run too,
    /// because that answer is not in the recording; and a stop may wait for the end of the message.
    ends: Option<bool>,
}

impl MachineAction {
    /// Sets the framework's own code.
    pub fn code(&mut self, code: impl Into<Cow<'static, str>>) -> &mut Self {
        self.decision.code = Some(code.into());
        self
    }

    /// Sets the framework's own message.
    pub fn detail(&mut self, detail: impl Into<String>) -> &mut Self {
        self.decision.detail = Some(detail.into());
        self
    }

    /// Sets the call it is about.
    pub fn call(&mut self, id: Option<&str>) -> &mut Self {
        self.decision.call_id = id.map(Into::into);
        self
    }

    /// Sets the observed value and the limit it was compared with.
    pub fn evidence(&mut self, observed: f64, limit: f64) -> &mut Self {
        self.decision.evidence = Evidence::new(observed, limit);
        self
    }

    /// Sets the event it is about; `None` leaves the current one.
    pub fn about_event(&mut self, event: Option<usize>) -> &mut Self {
        if event.is_some() {
            self.decision.event = event;
        }
        self
    }

    /// Dates it at the current reply, before its tools, although only their results may have shown that it was due.
    pub fn at_reply(&mut self, view: &PointView<'_>) -> &mut Self {
        self.decision.event = view.reply_index();
        self.decision.point.moment = Moment::AfterResponse;
        self
    }

    /// Dates it before the request of the current step, after this event.
    pub fn before_request(&mut self, event: Option<usize>) -> &mut Self {
        self.decision.event = event;
        self.decision.point.moment = Moment::BeforeRequest;
        self
    }

    /// Dates it at the next request at or after the current point: where a due request would be made and is refused,
    /// even if the recording ends before it.
    pub fn at_next_request(&mut self) -> &mut Self {
        let point = &mut self.decision.point;
        if point.moment != Moment::BeforeRequest {
            *point = Point { step: point.step.saturating_add(1), moment: Moment::BeforeRequest };
        }
        self
    }

    /// Marks this act as ending the framework's run.
    pub fn ends_run(&mut self) -> &mut Self {
        self.ends = Some(true);
        self
    }

    /// Marks this act as not ending the framework's run, although it is a stop.
    pub fn goes_on(&mut self) -> &mut Self {
        self.ends = Some(false);
        self
    }

    /// Marks the message as one that never reaches the model in the shipped code.
    pub fn undelivered(&mut self) -> &mut Self {
        self.decision.delivered = false;
        self
    }

    /// True if this act ends the framework's run.
    pub fn is_end(&self) -> bool {
        self.ends.unwrap_or(self.decision.action.is_terminal())
    }
}

/// Collects what a machine does, stamping each act with the current point and event.
#[derive(Debug)]
pub struct ActionSink<'a, 'r> {
    view: &'a PointView<'r>,
    event: Option<usize>,
    list: &'a mut Vec<MachineAction>,
}

impl ActionSink<'_, '_> {
    /// Index of the current event: the one being shown, or at a point the last one known there.
    pub fn event(&self) -> Option<usize> {
        self.event
    }

    /// Index of the event before the current one.
    pub fn event_before(&self) -> Option<usize> {
        self.event?.checked_sub(1)
    }

    /// The current point; for an event, the first point at which it is known.
    pub fn view(&self) -> &PointView<'_> {
        self.view
    }

    /// Records that `rule` takes `action`.
    #[expect(clippy::missing_panics_doc, reason = "the list was just pushed to")]
    pub fn act(&mut self, action: Action, rule: &'static str) -> &mut MachineAction {
        let mut decision = Decision::at(self.view, action, RuleName::fixed(rule), Evidence::NONE);
        decision.event = self.event;
        self.list.push(MachineAction { decision, ends: None });
        self.list.last_mut().expect("the list was just pushed to")
    }
}

/// A framework's rules running on one run.
pub trait Machine: Any + Send + std::fmt::Debug {
    /// Takes in one event, none of a sub-agent's: that has a loop of its own. Tool results come one at a time, before
    /// the point after the tools. By itself it hands over the messages; a machine that has a function of its own here gets
    /// no `message`.
    fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        if let Some(message) = event.message() {
            self.message(message, acts);
        }
    }

    /// Takes in an event that is a message: most machines look at no others.
    fn message(&mut self, _message: &Message, _acts: &mut ActionSink<'_, '_>) {}

    /// Called at each point, after the events that precede it. `before_request` also comes at the end of a recording
    /// whose last event still needs a reply, and with [`Recipe::requests_before_prompts`] before a prompt that came in
    /// place of the request that results called for.
    fn point(&mut self, _view: &PointView<'_>, _acts: &mut ActionSink<'_, '_>) {}

    /// What the rules read at the last point, for display: counts, each with the limit at which its rule acts
    /// ([`reading`]).
    fn readings(&self) -> Vec<RuleReading> {
        Vec::new()
    }
}

/// A count of `what` for [`Machine::readings`], compared with the limit of `rule`, which acts when the count reaches
/// it.
pub fn reading(rule: &'static str, what: &'static str, count: f64, limit: f64) -> RuleReading {
    RuleReading::new(RuleName::fixed(rule), what, Some(count)).against(limit, count >= limit)
}

/// Whether this user message starts a run of the framework. A simulated user's messages do, but not its tool calls;
/// neither do messages that a host writes in the user's name or that are typed while the agent works.
pub fn starts_run(message: &Message) -> bool {
    message.is_prompt() && message.tool_calls.is_empty() && !matches!(message.lane, Lane::Side(_) | Lane::Host)
}

/// What a message cost in dollars; 0 if that is not recorded.
pub fn cost_in_dollars(message: &Message) -> f64 {
    if let Some(cost) = message.cost() { cost.0 } else { 0.0 }
}

/// The seconds between two times; `None` unless both are known.
pub fn seconds_between(start: Option<Instant>, now: Option<Instant>) -> Option<f64> {
    Some(now?.since(start?).0 as f64 / 1000.0)
}

/// The rules that are on, in the given order.
pub fn rules_on(rules: &[(&'static str, bool)]) -> Vec<&'static str> {
    rules.iter().filter(|(_, is_on)| *is_on).map(|(rule, _)| *rule).collect()
}

/// What the machine sees after its run is over, when the recording continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterStop {
    /// Nothing: the rest would never have happened.
    #[default]
    Nothing,
    /// Everything from the next user message on, which starts another run of the same session.
    NextUser,
    /// Everything; the machine itself knows what to ignore.
    OwnState,
}

/// Creates a fresh machine for one run.
type Start = Box<dyn Fn(&Header) -> Box<dyn Machine> + Send + Sync>;

/// A factory that can start a machine for any number of runs.
pub struct Recipe {
    rules: Vec<&'static str>,
    needs: Vec<Requirement>,
    /// Rules that work without reading texts.
    blind: Vec<&'static str>,
    after_stop: AfterStop,
    requests_before_prompts: bool,
    start: Start,
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Recipe({:?})", self.rules)
    }
}

impl Recipe {
    /// A recipe that starts each run with a copy of `machine`; `rules` are in the order they are checked.
    pub fn new<M: Machine + Clone + Send + Sync + 'static>(machine: M, rules: &[&'static str]) -> Self {
        Self {
            rules: rules.to_vec(),
            needs: Vec::new(),
            blind: Vec::new(),
            after_stop: AfterStop::Nothing,
            requests_before_prompts: false,
            start: Box::new(move |_| Box::new(machine.clone())),
        }
    }

    /// Declares that `rule` can only be evaluated if the recording has `need`. Ignored if the rule is not on.
    #[must_use]
    pub fn needs(mut self, rule: &'static str, need: Need) -> Self {
        if self.rules.contains(&rule) {
            // Flags and results are those of calls.
            if matches!(need, Need::ErrorFlags | Need::Results) {
                self.needs.push(Requirement { rule: RuleName::fixed(rule), need: Need::Calls });
            }
            self.needs.push(Requirement { rule: RuleName::fixed(rule), need });
        }
        self
    }

    /// Declares that these rules compare or count calls, so that they see nothing in a recording without any.
    #[must_use]
    pub fn reads_calls(self, rules: &[&'static str]) -> Self {
        rules.iter().fold(self, |recipe, rule| recipe.needs(rule, Need::Calls))
    }

    /// Declares that these rules compare calls by their arguments, so that they see nothing where none are recorded.
    #[must_use]
    pub fn compares_calls(self, rules: &[&'static str]) -> Self {
        rules.iter().fold(self.reads_calls(rules), |recipe, rule| recipe.needs(rule, Need::CallArguments))
    }

    /// Declares that these rules compare the texts of results.
    #[must_use]
    pub fn compares_results(self, rules: &[&'static str]) -> Self {
        rules.iter().fold(self, |recipe, rule| recipe.needs(rule, Need::ResultTexts))
    }

    /// Declares that these rules count and compare but never read texts or arguments, so they can be replayed on a
    /// recording without texts. All other rules are assumed to read them.
    #[must_use]
    pub fn blind(mut self, rules: &[&'static str]) -> Self {
        self.blind.extend(rules);
        self
    }

    /// What the rules need from a recording.
    pub fn requirements(&self) -> Vec<Requirement> {
        let readers = self.rules.iter().filter(|rule| !self.blind.contains(rule));
        let contents = [Need::Texts, Need::CallArguments, Need::ResultTexts, Need::ReplyTexts];
        let texts = readers.flat_map(|rule| contents.map(|need| Requirement { rule: RuleName::fixed(rule), need }));
        let mut all = self.needs.clone();
        for requirement in texts {
            if !all.contains(&requirement) {
                all.push(requirement);
            }
        }
        all
    }

    /// After a stop, the next user message starts another run of the same session.
    #[must_use]
    pub fn resumes_at_user(mut self) -> Self {
        self.after_stop = AfterStop::NextUser;
        self
    }

    /// After a stop, the machine is shown nothing more.
    #[must_use]
    pub fn ends_with_stop(mut self) -> Self {
        self.after_stop = AfterStop::Nothing;
        self
    }

    /// The machine is shown everything, including what follows its own stops.
    #[must_use]
    pub fn keeps_own_state(mut self) -> Self {
        self.after_stop = AfterStop::OwnState;
        self
    }

    /// After results, the framework's loop goes on to the next request at once. If a prompt comes instead of the reply,
    /// the checks before that request have been made all the same, and the machine is shown that point before the
    /// prompt. Not for frameworks that check right after the results, nor for those that write messages in the user's
    /// name between two requests.
    #[must_use]
    pub fn requests_before_prompts(mut self) -> Self {
        self.requests_before_prompts = true;
        self
    }

    /// Starts the machine for one run.
    pub fn start(&self, header: &Header) -> MachineWatch {
        MachineWatch {
            machine: (self.start)(header),
            after_stop: self.after_stop,
            requests_before_prompts: self.requests_before_prompts,
            over: false,
        }
    }
}

/// A machine as a strategy.
#[derive(Debug)]
pub struct MachineStrategy {
    name: String,
    profile: &'static str,
    recipe: Recipe,
    requirements: Vec<Requirement>,
}

impl MachineStrategy {
    pub(super) fn new(name: String, profile: &'static str, recipe: Recipe) -> Self {
        let requirements = recipe.requirements();
        Self { name, profile, recipe, requirements }
    }

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
        self.requirements.clone()
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(self.recipe.start(header))
    }
}

/// A machine partway through a run.
#[derive(Debug)]
pub struct MachineWatch {
    machine: Box<dyn Machine>,
    after_stop: AfterStop,
    requests_before_prompts: bool,
    over: bool,
}

impl MachineWatch {
    /// Its machine, if it is an `M`: for tests that look at its state.
    #[doc(hidden)]
    pub fn machine<M: Machine>(&self) -> Option<&M> {
        let machine: &dyn Any = self.machine.as_ref();
        machine.downcast_ref()
    }

    /// Whether the framework's run is over, so that the machine is shown nothing until another one starts.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Shows the machine the new events at this point, then the point, and adds what it does to `list`.
    pub fn advance(&mut self, view: &PointView<'_>, list: &mut Vec<MachineAction>) {
        let unmade = if self.requests_before_prompts { view.unmade_request(starts_run) } else { None };
        for (offset, event) in view.news().iter().enumerate() {
            if let Some(request) = unmade.filter(|request| request.events().len() == view.news_from() + offset) {
                self.point(&request, list);
            }
            if event.message().is_some_and(|message| matches!(message.lane, Lane::Side(_) | Lane::Host)) {
                continue;
            }
            let speaks = event.message().is_some_and(|message| message.role == Role::User);
            if self.over && speaks && self.after_stop == AfterStop::NextUser {
                self.over = false;
            }
            if !self.over {
                let from = list.len();
                self.machine.event(event, &mut ActionSink { view, event: Some(view.news_from() + offset), list });
                self.over = self.after_stop != AfterStop::OwnState && list[from..].iter().any(MachineAction::is_end);
            }
        }
        self.point(view, list);
    }

    fn point(&mut self, view: &PointView<'_>, list: &mut Vec<MachineAction>) {
        if !self.over {
            let from = list.len();
            let event = view.events().len().checked_sub(1);
            self.machine.point(view, &mut ActionSink { view, event, list });
            self.over = self.after_stop != AfterStop::OwnState && list[from..].iter().any(MachineAction::is_end);
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
