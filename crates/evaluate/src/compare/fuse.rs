//! A fuse: limits that would have cut short none of the rounds on record, or no more than a given share, and what is
//! known of how often each will.
//!
//! The unit is the closed session, in the order of closing; its loss is the share of its rounds that the limit would
//! have cut short. Whatever nobody can judge counts as cut: a round that lacks what the rule reads and in which there was
//! work to cut after the first step at which it could have fired, and a call whose effect is unknown. All limits of the table are watched at once, so each bound holds at a level divided by their
//! number.

use std::sync::Arc;

use crate::decision::Strategy;
use crate::effects::{EffectTable, Work};
use crate::replay::{not_evaluable, replay};
use crate::rule::{Comparator, Condition, Rule};
use crate::signal;
use crate::stack::{Clause, Stack};
use crate::stats::anytime::Watched;
use crate::transcript::{Instant, Moment, Point, Run};
use crate::verdict::Ledger;

/// One signal with its limits, the most cautious (the highest) first.
struct Ladder {
    signal: &'static str,
    limits: &'static [f64],
}

/// The limits that are tried. Their number divides the level of every bound: a new one makes all bounds wider.
const LADDERS: [Ladder; 4] = [
    Ladder { signal: "steps", limits: &[200.0, 100.0, 50.0, 30.0, 20.0] },
    Ladder { signal: "tokens.total", limits: &[20e6, 10e6, 5e6, 2e6, 1e6] },
    Ladder { signal: "call_result.streak", limits: &[10.0, 5.0, 4.0, 3.0] },
    Ladder { signal: "active", limits: &[7200.0, 3600.0, 1800.0, 1200.0, 600.0] },
];

/// What a limit would have done to one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundEffect {
    /// It would have ended the round.
    pub ends: bool,
    /// It would have cut work short, certainly.
    pub cuts: bool,
    /// It would have cut work short, or nobody can tell.
    pub may_cut: bool,
    /// Tokens spent after it, if known; 0 where it does not fire.
    pub spared: Option<u64>,
}

/// The limits under which a person's rounds are judged.
#[derive(Debug)]
pub struct Fuses {
    stack: Arc<Stack>,
    effects: EffectTable,
}

impl Default for Fuses {
    fn default() -> Self {
        let mut clauses = Vec::new();
        for ladder in &LADDERS {
            let Some(signal) = signal::find(ladder.signal) else { continue };
            for limit in ladder.limits {
                let rule = Rule::new(signal, Comparator::AtLeast, *limit);
                clauses.push(Clause::stop_on(Condition::Rule(Box::new(rule))));
            }
        }
        Self::from_stack(Stack { name: "fuse".to_owned(), clauses, cap: None })
    }
}

impl Fuses {
    /// The clauses of a stack, each on its own.
    pub fn from_stack(stack: Stack) -> Self {
        Self { stack: Arc::new(stack), effects: EffectTable::default() }
    }

    /// The clauses, in order.
    pub fn clauses(&self) -> &[Clause] {
        &self.stack.clauses
    }

    /// What each clause would have done to a round.
    pub fn judge(&self, round: &Run) -> Vec<RoundEffect> {
        let replayed = replay(round, &self.stack);
        let unread = not_evaluable(round, &self.stack.requirements());
        let ledger = Ledger::from_run(round);
        let work = Work::from_run(round, &self.effects, &ledger);
        let end = round.last_point();
        let firings = replayed.first_firings.unwrap_or_default();
        let of = |(nth, clause): (usize, &Clause)| {
            if unread.iter().any(|unread| unread.rule == clause.name) {
                let earliest = Point::new(earliest_step(clause), Moment::AfterTools);
                let may_cut = end.is_some_and(|end| earliest < end) && work.after(Some(earliest)).cut_short().1;
                return RoundEffect { ends: false, cuts: false, may_cut, spared: None };
            }
            let early = firings.get(nth).copied().flatten().filter(|(point, _)| end.is_some_and(|end| *point < end));
            let Some((point, _)) = early else { return RoundEffect { spared: Some(0), ..RoundEffect::default() } };
            let (cuts, may_cut) = work.after(Some(point)).cut_short();
            let whole = ledger.whole().tokens;
            let spared = whole.zip(ledger.until(point).tokens).map(|(whole, spent)| whole.0.saturating_sub(spent.0));
            RoundEffect { ends: true, cuts, may_cut, spared }
        };
        self.stack.clauses.iter().enumerate().map(of).collect()
    }
}

/// The first step after which a clause can fire, whatever happens: a streak of three takes three steps, and so does any
/// count of which the signal says so.
fn earliest_step(clause: &Clause) -> usize {
    let Condition::Rule(rule) = &clause.condition else { return 0 };
    let is_reached_from_below = matches!(rule.comparator, Comparator::AtLeast | Comparator::MoreThan);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a limit on steps, bounded here")]
    let steps = rule.limit.clamp(1.0, 1e6) as usize;
    if rule.signal.takes_steps && is_reached_from_below { steps - 1 } else { 0 }
}

/// A session: its rounds under all clauses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// When it was closed; `None` if no event has a time.
    pub closed: Option<Instant>,
    /// Its id, which orders sessions that were closed at the same time.
    pub id: String,
    /// For each round, what each clause would have done.
    pub rounds: Vec<Vec<RoundEffect>>,
}

/// What is known of one clause.
#[derive(Clone, Debug, PartialEq)]
pub struct ClauseRecord {
    /// Rounds it would have ended.
    pub ended: u64,
    /// Rounds it would have cut short: certainly, and possibly.
    pub cut: (u64, u64),
    /// Tokens spent after it, in all; `None` if some are not known.
    pub spared: Option<u64>,
    /// The losses, in the order of the sessions.
    pub watched: Watched,
}

/// What is known of each clause after all sessions, which are put in the order of closing.
pub fn known(n_clauses: usize, sessions: &mut [Session]) -> Vec<ClauseRecord> {
    sessions.sort_by(|a, b| (a.closed, &a.id).cmp(&(b.closed, &b.id)));
    let of = |nth: usize| {
        let mut known = ClauseRecord { ended: 0, cut: (0, 0), spared: Some(0), watched: Watched::new() };
        for session in sessions.iter().filter(|session| !session.rounds.is_empty()) {
            let effects = session.rounds.iter().filter_map(|round| round.get(nth));
            let mut cut = 0_u64;
            for effect in effects {
                known.ended += u64::from(effect.ends);
                known.cut.0 += u64::from(effect.cuts);
                cut += u64::from(effect.may_cut);
                known.spared = known.spared.zip(effect.spared).map(|(sum, more)| sum.saturating_add(more));
            }
            known.cut.1 += cut;
            known.watched.push(cut as f64 / session.rounds.len() as f64);
        }
        known
    };
    (0..n_clauses).map(of).collect()
}

/// The boldest limit of each signal that would have cut at most the share `accept` of the rounds, as an index; signals
/// of which none qualifies are left out.
pub fn boldest(fuses: &Fuses, known: &[ClauseRecord], n_rounds: u64, accept: f64) -> Vec<usize> {
    let qualifies = |nth: usize| known[nth].cut.1 as f64 <= accept * n_rounds as f64;
    let mut chosen = Vec::new();
    let mut nth = 0;
    for ladder in &LADDERS {
        let here = nth..(nth + ladder.limits.len()).min(fuses.clauses().len());
        nth = here.end;
        chosen.extend(here.take_while(|nth| qualifies(*nth)).last());
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Draft, Event, Message, Role, ToolCall, Usage};

    /// A round of `n` steps that each read, of which step `edit` (if any) edits.
    fn round(n: usize, edit: Option<usize>, usage: bool) -> Run {
        let mut events = vec![Event::Message(Message::saying(Role::User, "do it"))];
        for step in 0..n {
            let mut reply = Message::saying(Role::Assistant, "look");
            let (name, path) = if edit == Some(step) { ("Write", "a.rs") } else { ("Read", "b.rs") };
            let arguments = format!("{{\"file_path\":\"{path}\",\"offset\":{step}}}");
            reply.tool_calls.push(ToolCall::new(Some("1"), name, arguments));
            reply.set_usage(usage.then(|| Usage::new(10_000, 1)));
            events.push(Event::Message(reply));
            events.push(Event::Message(Message::saying(Role::Tool, format!("text {step}"))));
        }
        Run::new(Draft { events, ..Draft::default() })
    }

    fn effect(fuses: &Fuses, round: &Run, rule: &str) -> RoundEffect {
        let nth = fuses.clauses().iter().position(|clause| clause.name.as_str() == rule).unwrap();
        fuses.judge(round)[nth]
    }

    #[test]
    fn a_round_is_cut_where_work_followed_or_nobody_can_tell() {
        let fuses = Fuses::default();
        let free = RoundEffect { spared: Some(0), ..RoundEffect::default() };
        assert_eq!(effect(&fuses, &round(15, Some(14), true), "steps >= 20"), free, "it does not get there");
        assert_eq!(effect(&fuses, &round(20, Some(19), true), "steps >= 20"), free, "nothing is left to cut");
        let cut = effect(&fuses, &round(30, Some(25), true), "steps >= 20");
        assert_eq!(cut, RoundEffect { ends: true, cuts: true, may_cut: true, spared: Some(100_010) });
        let idle = effect(&fuses, &round(30, Some(3), true), "steps >= 20");
        assert_eq!(idle, RoundEffect { ends: true, cuts: false, may_cut: false, spared: Some(100_010) });
        let blind = |edit, rule: &str| {
            let effect = effect(&fuses, &round(5, edit, false), rule);
            assert_eq!((effect.ends, effect.cuts), (false, false));
            effect.may_cut
        };
        assert!(blind(Some(4), "tokens.total >= 1000000"), "no tokens: nobody can tell");
        assert!(!blind(Some(0), "tokens.total >= 1000000"), "but there was nothing to cut");
        assert!(!blind(None, "active >= 600"));
    }

    #[test]
    fn the_boldest_limit_is_the_lowest_before_the_first_that_cuts_too_much() {
        let fuses = Fuses::default();
        let session =
            |id: &str, round: &Run| Session { id: id.to_owned(), rounds: vec![fuses.judge(round)], closed: None };
        let mut sessions: Vec<Session> = (0..9).map(|nth| session(&nth.to_string(), &round(5, None, true))).collect();
        sessions.push(session("long", &round(40, Some(39), true)));
        let known = known(fuses.clauses().len(), &mut sessions);
        let names = |accept| -> Vec<&str> {
            let chosen = boldest(&fuses, &known, 10, accept);
            chosen.into_iter().map(|nth| fuses.clauses()[nth].name.as_str()).collect()
        };
        // No event has a time: nobody can judge it in the session that edits at its end.
        assert_eq!(names(0.0), ["steps >= 50", "tokens.total >= 1000000", "call_result.streak >= 3"]);
        assert_eq!(names(0.1), ["steps >= 20", "tokens.total >= 1000000", "call_result.streak >= 3", "active >= 600"]);
        assert_eq!(known[4].cut, (1, 1));
        assert_eq!(known[4].watched.mean(), Some(0.1));
    }
}
