//! Runs a strategy beside a live agent: takes events and returns decisions.

use std::fmt;
use std::sync::Arc;

use super::evaluable::{Recorded, Unread};
use super::following::Following;
use super::{Terms, unread};
use crate::decision::{Decision, Requirement, RuleReading, Strategy};
use crate::transcript::{Draft, Event, Header, PointView, Recorder};

/// A strategy applied to a live run. It decides exactly as in a [`replay`](super::replay) of the same events: at the
/// same points, by the same rules, on the same evidence.
///
/// Push events as they happen. Call [`Self::request`] before each model call and [`Self::end`] when the agent is done,
/// so that every decision comes as early as possible; a program that does both never needs [`Self::close_step`]. With [`Self::push`] alone, decisions after a step's tools come
/// only with the next reply, when that reply has already been paid for.
///
/// After a decision that ends the run ([`Action::is_terminal`](crate::decision::Action::is_terminal)), the strategy
/// makes no more decisions. Acting on any decision (stopping the agent, showing the model a warning, refusing a call)
/// is up to the caller.
pub struct Live {
    recorder: Recorder,
    following: Following,
    requirements: Vec<Requirement>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recorder, following, .. } = self;
        let run = &recorder.header().run_id;
        write!(f, "Live({run}, {} events, ended: {})", recorder.events().len(), following.has_ended())
    }
}

impl Live {
    /// Starts the strategy on a run of which only the header is known.
    pub fn start<S: Strategy + ?Sized>(strategy: &Arc<S>, header: Header) -> Self {
        Self::start_on(Terms::default(), strategy, header)
    }

    /// Starts it on the terms of a recording whose events will be pushed.
    pub fn start_on<S: Strategy + ?Sized>(terms: Terms, strategy: &Arc<S>, header: Header) -> Self {
        let requirements = strategy.requirements();
        let following = Following::new(terms.start(strategy, &header));
        Self { following, requirements, recorder: Recorder::new(header) }
    }

    /// Records an event and returns the strategy's decisions, in order. See [`Recorder::push`] for the points at which
    /// it can decide.
    pub fn push(&mut self, event: Event) -> Vec<Decision> {
        self.following.say(self.recorder.push(event))
    }

    /// Records that the tools of the current step have run; see [`Recorder::close_step`].
    pub fn close_step(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.close_step())
    }

    /// Announces a model call; see [`Recorder::request`]. A decision here that ends the run saves that call.
    pub fn request(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.request())
    }

    /// Ends the run; see [`Recorder::end`].
    pub fn end(&mut self) -> Vec<Decision> {
        self.following.say(self.recorder.end())
    }

    /// True once a decision has ended the run.
    pub fn has_ended(&self) -> bool {
        self.following.has_ended()
    }

    /// The decision that ended the run: by which rule, at which point, on what evidence. `None` while it goes on.
    pub fn stopped_by(&self) -> Option<&Decision> {
        self.following.ended_by.as_ref()
    }

    /// The rules that cannot be evaluated on what has come so far, because something they need should have come with
    /// it and has not: a rule on tokens when no reply reported its usage. Such a rule never acts, and nothing else says
    /// so. Before the first reply or result that could have had it, nothing is missing yet.
    pub fn unread(&self) -> Vec<Unread> {
        let recorded = Recorded::so_far(self.recorder.header(), self.recorder.events());
        unread(&self.requirements, |need| recorded.holding_so_far(need))
    }

    /// The readings of the strategy's rules at the latest point, for display.
    pub fn readings(&self) -> Vec<RuleReading> {
        self.following.watch.readings()
    }

    /// Everything pushed so far.
    pub fn events(&self) -> &[Event] {
        self.recorder.events()
    }

    /// The recording so far; see [`Recorder::into_draft`].
    pub fn into_draft(self) -> Draft {
        self.recorder.into_draft()
    }
}

impl Following {
    /// The strategy's decisions at these points. It sees no points after the one at which it ended the run.
    fn say<'r>(&mut self, views: impl Iterator<Item = PointView<'r>>) -> Vec<Decision> {
        let mut said = Vec::new();
        for view in views {
            if self.has_ended() {
                break;
            }
            self.show(&view, &mut said);
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Need;
    use crate::stack::{Stack, StackFile};
    use crate::transcript::{Fingerprint, Message, Role, ToolCall, Usage};

    fn stack(rules: &str) -> Arc<Stack> {
        let text = format!("[[stack]]\nname = \"s\"\nany = [{rules}]");
        StackFile::parse("stacks.toml", &text).unwrap().stack("s").unwrap()
    }

    fn reply(usage: Option<Usage>) -> Event {
        let mut reply = Message::saying(Role::Assistant, "look");
        reply.tool_calls.push(ToolCall::new(Some("1"), "read", r#"{"path": "a"}"#));
        reply.set_usage(usage);
        Event::Message(reply)
    }

    fn result(text: &str) -> Event {
        Event::Message(Message::saying(Role::Tool, text))
    }

    fn unread(live: &Live) -> Vec<(Need, bool)> {
        live.unread().into_iter().map(|unread| (unread.need, unread.partly)).collect()
    }

    #[test]
    fn what_a_rule_lacks_is_named_once_it_should_have_come() {
        let rules = r#"{ signal = "tokens.total", at_least = 10 }, { signal = "errors.streak", at_least = 1 },
                       { signal = "result.streak", at_least = 9 }, { signal = "active", at_least = 1 }"#;
        let mut live = Live::start(&stack(rules), Header::named("r"));
        assert_eq!(unread(&live), [], "nothing has come");
        live.push(reply(None));
        assert_eq!(unread(&live), [(Need::Times, false), (Need::Usage, false)], "the results are on their way");
        live.push(result("x"));
        let missing = [(Need::Times, false), (Need::ErrorFlags, false), (Need::Usage, false)];
        assert_eq!(unread(&live), missing);
        assert_eq!(live.stopped_by(), None);
        live.push(reply(Some(Usage::new(9, 3))));
        live.request();
        assert!(unread(&live).contains(&(Need::Usage, true)), "known at one step of two");
        let stop = live.stopped_by().unwrap();
        assert_eq!((stop.rule.as_str(), stop.evidence.observed), ("tokens.total >= 10", Some(12.0)));
    }

    /// Equality is all that is left of a text whose fingerprint was kept, and it suffices for the rules that compare.
    #[test]
    fn fingerprints_take_the_place_of_texts_where_rules_compare() {
        let rules = r#"{ signal = "call_result.streak", at_least = 3 }, { signal = "text.match", of = "results", regex = "x", at_least = 1 },
                       { signal = "call.streak", identity = "raw", at_least = 9 }"#;
        let of = |text: &str| Fingerprint::from_text(text).salted(7);
        let stack = stack(rules);
        let absent = |need| matches!(need, Need::Texts | Need::Arguments);
        let terms = Terms::lacking(&stack.requirements(), absent);
        let mut live = Live::start_on(terms, &stack, Header::named("r"));
        for text in ["x", "y", "x", "x", "x"] {
            let mut reply = Message::new(Role::Assistant);
            reply.tool_calls.push(ToolCall::with_print(Some("1"), "read", of("{}")));
            live.push(Event::Message(reply));
            assert!(!live.has_ended(), "{text}");
            live.push(Event::Message(Message::with_print(Role::Tool, of(text))));
            live.request();
        }
        let stop = live.stopped_by().unwrap();
        assert_eq!((stop.point.step, stop.rule.as_str()), (4, "call_result.streak >= 3"));
        let unread = live.unread();
        let rules: Vec<&str> = unread.iter().map(|unread| unread.rule.as_str()).collect();
        assert_eq!(rules.len(), 2, "{rules:?}");
        assert!(rules.iter().any(|rule| rule.starts_with("text.match")), "{rules:?}");
        assert!(rules.iter().any(|rule| rule.starts_with("call.streak")), "{rules:?}");
    }
}
