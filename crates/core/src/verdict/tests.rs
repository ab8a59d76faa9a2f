//! The verdict table of STATISTICS 4.2, cell by cell, and the bill at the stop.

use super::*;
use crate::decision::{Action, Evidence, RuleName};
use crate::transcript::{Event, sketch};

/// A run of four steps with tools; `secured` gives the label, `grades` one checkpoint a step.
fn run(outcome: Outcome, secured: Option<usize>, grades: &str) -> Run {
    let mut draft = sketch::draft("a @10 b @10 c @10 d @10");
    draft.grade.outcome = outcome;
    draft.grade.secured_step = secured;
    if !grades.is_empty() {
        let mut events = Vec::new();
        for (pair, grade) in draft.events.chunks(2).zip(grades.chars()) {
            events.extend_from_slice(pair);
            events.push(Event::Checkpoint(Checkpoint { success: grade == '1', score: None }));
        }
        draft.events = events;
    }
    Run::new(draft)
}

fn verdict(run: &Run, stop: Option<(usize, Moment)>) -> Verdict {
    Course::of(run).verdict(stop.map(|(step, moment)| Point::new(step, moment)))
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
    let ledger = Ledger::of(&run);
    let until = |step, moment| ledger.until(Point::new(step, moment));
    assert_eq!(until(2, Moment::BeforeRequest).tokens, Some(crate::transcript::Tokens(20)));
    assert_eq!(until(2, Moment::BeforeRequest).steps, 2);
    assert_eq!(until(2, Moment::AfterResponse).tokens, Some(crate::transcript::Tokens(30)));
    assert_eq!(ledger.whole().steps, 4);
    assert_eq!(ledger.whole().less(until(2, Moment::AfterTools)).tokens, Some(crate::transcript::Tokens(10)));
    assert_eq!(until(0, Moment::BeforeRequest).cost, None, "no cost recorded is not a cost of 0");
}

fn bound(run: &Run, stop: Option<(usize, Action)>, exactness: Exactness, assumptions: Assumptions) -> (u8, u8) {
    let stop = stop.map(|(step, action)| Stop {
        point: Point::new(step, Moment::AfterTools),
        action,
        rule: RuleName::fixed("r"),
        evidence: Evidence::NONE,
        drops_reply: false,
    });
    let bounds = bounds(&Course::of(run), stop.as_ref(), exactness, assumptions);
    (u8::from(bounds.low), u8::from(bounds.high))
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
}
