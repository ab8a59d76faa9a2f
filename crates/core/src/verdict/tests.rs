//! The table of verdicts, cell by cell, and the amounts at the stop.

use super::*;
use crate::decision::{Action, Evidence, Need, RuleName};
use crate::replay::{Exactness, Stop, Unread};
use crate::transcript::{EndCause, Event, sketch};

/// A run of four steps with tools. `secured` gives the label; `grades` has one checkpoint per step, `.` for none.
fn run(outcome: Outcome, secured: Option<usize>, grades: &str) -> Run {
    let mut draft = sketch::draft("a @10 b @10 c @10 d @10");
    draft.grade.outcome = outcome;
    draft.grade.secured_step = secured;
    if !grades.is_empty() {
        let mut events = Vec::new();
        for (pair, grade) in draft.events.chunks(2).zip(grades.chars()) {
            events.extend_from_slice(pair);
            if grade != '.' {
                events.push(Event::Checkpoint(Checkpoint { success: grade == '1', score: None }));
            }
        }
        draft.events = events;
    }
    Run::new(draft)
}

fn verdict(run: &Run, stop: Option<(usize, Moment)>) -> Verdict {
    Course::from_run(run).verdict(stop.map(|(step, moment)| Point::new(step, moment)))
}

#[test]
fn every_cell_of_the_verdict_table() {
    use Moment::AfterTools as After;
    use Outcome::{Failure, Success, Unknown};
    let cases = [
        (Success, Some(2), "", Some((1, After)), Verdict::FalseEarlyStop),
        (Success, Some(2), "", Some((2, After)), Verdict::GoodTrim),
        (Success, Some(2), "", None, Verdict::CleanPass),
        (Success, None, "", Some((1, After)), Verdict::UnverifiedFalseEarlyStop),
        (Success, None, "", None, Verdict::CleanPass),
        (Success, None, "0011", Some((1, After)), Verdict::FalseEarlyStop),
        (Success, None, "0011", Some((2, After)), Verdict::GoodTrim),
        // Lost and won again: when stopped between, the state at the stop was a failure.
        (Success, None, "1001", Some((2, After)), Verdict::FalseEarlyStop),
        // Nothing was graded at the stop: between two graded successes the success is kept, else it counts as lost.
        (Success, None, "1..1", Some((2, After)), Verdict::GoodTrim),
        (Success, None, "1...", Some((2, After)), Verdict::GoodTrim),
        (Success, None, "1.01", Some((1, After)), Verdict::UnverifiedFalseEarlyStop),
        (Success, None, "0..1", Some((1, After)), Verdict::UnverifiedFalseEarlyStop),
        (Success, None, "...1", Some((1, After)), Verdict::UnverifiedFalseEarlyStop),
        // Only tools change the state: a grade holds up to the next reply.
        (Success, None, "01..", Some((2, Moment::BeforeRequest)), Verdict::GoodTrim),
        (Success, None, "0.01", Some((1, Moment::AfterResponse)), Verdict::FalseEarlyStop),
        (Failure, None, "1...", Some((2, After)), Verdict::TrueStop),
        (Failure, None, "", Some((1, After)), Verdict::TrueStop),
        (Failure, None, "", None, Verdict::MissedStop),
        (Failure, None, "0100", Some((1, After)), Verdict::Rescued),
        (Failure, None, "0100", Some((2, After)), Verdict::TrueStop),
        (Failure, None, "0100", Some((0, After)), Verdict::TrueStop),
        (Failure, None, "0100", None, Verdict::LostSuccess),
        (Unknown, None, "", Some((1, After)), Verdict::Unlabelled),
        (Unknown, None, "", None, Verdict::Unlabelled),
    ];
    for (outcome, secured, grades, stop, expected) in cases {
        let run = run(outcome, secured, grades);
        assert_eq!(verdict(&run, stop), expected, "{outcome} secured {secured:?} grades {grades} stop {stop:?}");
    }
}

#[test]
fn at_the_secured_step_the_moment_decides() {
    let run = run(Outcome::Success, Some(2), "");
    let at = |moment| verdict(&run, Some((2, moment)));
    assert_eq!(at(Moment::BeforeRequest), Verdict::FalseEarlyStop, "the success has not been produced yet");
    assert_eq!(at(Moment::AfterResponse), Verdict::FalseEarlyStop, "its tools have not run yet");
    assert_eq!(at(Moment::AfterTools), Verdict::GoodTrim);
    // A success that needs no tool is secured with the reply.
    let mut draft = sketch::draft("a -answer b b");
    draft.grade.outcome = Outcome::Success;
    draft.grade.secured_step = Some(1);
    assert_eq!(verdict(&Run::new(draft), Some((1, Moment::AfterResponse))), Verdict::GoodTrim);
}

#[test]
fn before_a_request_its_step_is_not_paid_for() {
    let run = run(Outcome::Failure, None, "");
    let ledger = Ledger::from_run(&run);
    let until = |step, moment| ledger.until(Point::new(step, moment));
    assert_eq!(until(2, Moment::BeforeRequest).tokens, Some(crate::transcript::Tokens(20)));
    assert_eq!(until(2, Moment::BeforeRequest).steps, 2);
    assert_eq!(until(2, Moment::AfterResponse).tokens, Some(crate::transcript::Tokens(30)));
    assert_eq!(ledger.whole().steps, 4);
    assert_eq!(ledger.whole().less(until(2, Moment::AfterTools)).tokens, Some(crate::transcript::Tokens(10)));
    assert_eq!(until(0, Moment::BeforeRequest).cost, None, "no cost recorded is not a cost of 0");
}

fn replay(stop: Option<(usize, Action)>, exactness: Exactness) -> Replay {
    let stop = stop.map(|(step, action)| Stop {
        point: Point::new(step, Moment::AfterTools),
        action,
        rule: RuleName::fixed("r"),
        evidence: Evidence::NONE,
        drops_reply: false,
    });
    Replay {
        trail: Vec::new(),
        stop,
        exactness,
        first_firings: None,
        not_evaluable: Vec::new(),
        path_in_doubt: false,
        extra_calls: 0,
        step_limit: None,
    }
}

fn unread(stop: Option<(usize, Action)>) -> Replay {
    let missing = Unread { rule: RuleName::fixed("tokens"), need: Need::Usage, partly: false };
    Replay { not_evaluable: vec![missing], ..replay(stop, Exactness::Exact) }
}

fn bound(run: &Run, stop: Option<(usize, Action)>, exactness: Exactness, assumptions: Assumptions) -> (u8, u8) {
    let bounds = bounds(&Course::from_run(run), &replay(stop, exactness), assumptions);
    (u8::from(bounds.low), u8::from(bounds.high))
}

/// Lower and upper bounds for stopped, killed, true stop and the steps spent.
fn known_of(run: &Run, replay: &Replay) -> String {
    let known = known(&Course::from_run(run), &Ledger::from_run(run), replay);
    let show = |bounds: Bounds| format!("{}{}", u8::from(bounds.low), u8::from(bounds.high));
    let high = known.spent.high.map_or_else(|| "any".to_owned(), |high| high.steps.to_string());
    let Known { stopped, killed, true_stop, spent, .. } = known;
    format!("{} {} {} {}..{high}", show(stopped), show(killed), show(true_stop), spent.low.steps)
}

#[test]
fn what_is_not_known_is_an_interval() {
    let (success, failure) = (run(Outcome::Success, None, ""), run(Outcome::Failure, None, ""));
    let (secured, ungraded) = (run(Outcome::Success, Some(1), ""), run(Outcome::Unknown, None, ""));
    let lost = run(Outcome::Failure, None, "1...");
    let stop = Some((2, Action::Stop));
    let diverged = Exactness::Diverged { at: Point::new(1, Moment::AfterTools) };
    let forced = Exactness::Diverged { at: Point::new(2, Moment::AfterTools) };
    // stopped, killed, true stop, steps spent
    let cases = [
        (&success, replay(stop, Exactness::Exact), "11 11 00 3..3"),
        (&success, replay(None, Exactness::Exact), "00 00 00 4..4"),
        (&failure, replay(stop, Exactness::Exact), "11 00 11 3..3"),
        (&secured, replay(stop, Exactness::Exact), "11 00 00 3..3"),
        (&ungraded, replay(stop, Exactness::Exact), "11 01 01 3..3"),
        (&ungraded, replay(None, Exactness::Exact), "00 00 00 4..4"),
        // A rule that cannot be evaluated may have stopped it earlier; what is killed stays killed.
        (&success, unread(stop), "11 11 00 0..3"),
        (&success, unread(None), "01 01 00 0..4"),
        (&secured, unread(stop), "11 01 00 0..3"),
        (&failure, unread(stop), "11 00 11 0..3"),
        (&failure, unread(None), "01 00 01 0..4"),
        (&lost, unread(stop), "11 00 01 0..3"),
        // Or it may have warned earlier.
        (&success, Replay { path_in_doubt: true, ..unread(stop) }, "01 01 00 0..any"),
        (&failure, Replay { path_in_doubt: true, ..unread(stop) }, "01 00 01 0..any"),
        // After a warning anything may follow, for any number of steps.
        (&success, replay(None, diverged), "01 01 00 2..any"),
        (&success, replay(stop, diverged), "01 01 00 2..any"),
        (&failure, replay(None, diverged), "01 00 01 2..any"),
        // Unless the strategy limits them: three steps of 10 tokens each, of which two had been made.
        (&success, Replay { step_limit: Some(3), ..replay(stop, diverged) }, "01 01 00 2..3"),
        (&failure, Replay { step_limit: Some(6), ..replay(None, diverged) }, "01 00 01 2..6"),
        (&failure, Replay { step_limit: Some(1), ..replay(None, diverged) }, "01 00 01 2..2"),
        // A simulated judge was asked twice.
        (&failure, Replay { extra_calls: 2, ..replay(stop, Exactness::Exact) }, "11 00 11 5..5"),
        (&failure, Replay { extra_calls: 2, ..replay(None, Exactness::Exact) }, "00 00 00 6..6"),
        // A forced answer costs one more call.
        (&failure, replay(Some((2, Action::ForceFinal)), forced), "11 00 11 4..4"),
        (&success, replay(Some((2, Action::ForceFinal)), forced), "11 01 00 4..4"),
    ];
    for (run, replay, expected) in cases {
        assert_eq!(known_of(run, &replay), expected, "{} {:?} {:?}", run.grade.outcome, replay.stop, replay.exactness);
    }
}

#[test]
fn bounds_follow_the_identification_table() {
    let none = Assumptions::default();
    let m1 = Assumptions { final_failure_had_no_success: true, ..none };
    let m2 = Assumptions { continuing_keeps_success: true, ..none };
    let discards = Assumptions { stop_discards_work: true, ..none };
    let (success, failure) = (run(Outcome::Success, None, ""), run(Outcome::Failure, None, ""));
    let graded = run(Outcome::Success, None, "0011");
    let at = Point::new(3, Moment::AfterTools);
    let (exact, diverged, censored) = (Exactness::Exact, Exactness::Diverged { at }, Exactness::Censored { at });
    let stop = Some((1, Action::Stop));
    assert_eq!(bound(&success, None, exact, none), (1, 1));
    assert_eq!(bound(&failure, None, exact, none), (0, 0));
    assert_eq!(bound(&graded, stop, exact, none), (0, 0));
    assert_eq!(bound(&graded, Some((2, Action::Stop)), exact, none), (1, 1));
    assert_eq!(bound(&success, stop, exact, none), (0, 1));
    assert_eq!(bound(&success, stop, exact, discards), (0, 0));
    assert_eq!(bound(&failure, stop, exact, none), (0, 1));
    assert_eq!(bound(&failure, stop, exact, m1), (0, 0));
    assert_eq!(bound(&graded, Some((2, Action::ForceFinal)), diverged, none), (0, 1));
    assert_eq!(bound(&failure, None, diverged, none), (0, 1));
    assert_eq!(bound(&failure, None, censored, none), (0, 1));
    assert_eq!(bound(&success, None, censored, none), (0, 1));
    assert_eq!(bound(&success, None, censored, m2), (1, 1));
    assert_eq!(bound(&run(Outcome::Unknown, None, ""), None, exact, none), (0, 1));
    // Between two grades anything may have happened, unless continuing keeps a success.
    let sparse = run(Outcome::Success, None, "0..1");
    assert_eq!(bound(&sparse, stop, exact, none), (0, 1));
    assert_eq!(bound(&sparse, stop, exact, m2), (0, 1));
    assert_eq!(bound(&run(Outcome::Success, None, "1..1"), stop, exact, m2), (1, 1));
    assert_eq!(bound(&run(Outcome::Failure, None, "0..."), stop, exact, m2), (0, 0));
    let lost = run(Outcome::Failure, None, "1...");
    assert_eq!(bound(&lost, stop, exact, m1), (0, 1), "it did hold a success");
}

/// `named!` says what stands in tables; traces and rows are written by serde.
#[test]
fn names_in_files_are_those_in_tables() {
    fn same<T: serde::Serialize + Copy>(all: &[T], name: impl Fn(T) -> &'static str) {
        for one in all {
            assert_eq!(serde_json::to_value(one).unwrap(), name(*one));
        }
    }
    same(&Verdict::ALL, Verdict::name);
    same(&Outcome::ALL, Outcome::name);
    same(&EndCause::ALL, EndCause::name);
}

#[test]
fn doubts_are_read_from_the_names_they_are_written_as() {
    for bits in 0..8_u8 {
        let doubts = Doubts { unread: bits & 1 > 0, diverged: bits & 2 > 0, unlabelled: bits & 4 > 0 };
        assert_eq!(serde_json::from_value::<Doubts>(doubts.names().into()).unwrap(), doubts);
    }
    let read = |names: &str| serde_json::from_value::<Doubts>(names.into()).map(Doubts::names);
    assert_eq!(read("unlabelled+unread").unwrap(), "unread+unlabelled");
    assert_eq!(read("unread+else").unwrap_err().to_string(), "`else` is no cause of doubt");
}
