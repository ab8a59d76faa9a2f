//! The first sentence of a comparison of many stacks that are all alike, each killing a little more than is tolerated.

use whenstop::aggregate::{Contest, ExactnessName, Premises, Row as Told, Rows, ShipTerms, Unit, by_stack};
use whenstop::transcript::{EndCause, Moment, Outcome, Point};
use whenstop::verdict::{Doubts, Verdict};

use super::{Corpus, Row, repeat};

/// Stacks that are compared.
const STACKS: usize = 20;
/// The tolerated share of killed successes.
const TOLERATED: f64 = 0.05;

/// A run of 20 steps under a stack that stops it after 10, or not.
fn told(stack: usize, task: usize, run: u64, success: bool, stops: bool) -> Told {
    let stop = if stops { 10 } else { 20 };
    Told {
        run_id: format!("run-{task}-{run}").as_str().into(),
        task_id: Some(format!("task-{task:03}").as_str().into()),
        suite: None,
        model: None,
        stack: format!("stack-{stack}").as_str().into(),
        verdict: match (success, stops) {
            (true, true) => Verdict::FalseEarlyStop,
            (true, false) => Verdict::CleanPass,
            (false, true) => Verdict::TrueStop,
            (false, false) => Verdict::MissedStop,
        },
        exactness: ExactnessName::Exact,
        outcome: if success { Outcome::Success } else { Outcome::Failure },
        end: EndCause::default(),
        secured_step: None,
        steps_recorded: 20,
        steps_at_stop: stop,
        stop_point: stops.then(|| Point::new(9, Moment::AfterTools)),
        rule: None,
        observed: None,
        limit: None,
        tokens_recorded: None,
        tokens_at_stop: None,
        cost_usd_recorded: None,
        cost_usd_at_stop: None,
        ms_recorded: None,
        ms_at_stop: None,
        outcome_low: u8::from(success && !stops),
        outcome_high: u8::from(success && !stops),
        unknown: Doubts::default(),
        stopped_low: u8::from(stops),
        stopped_high: u8::from(stops),
        killed_low: u8::from(success && stops),
        killed_high: u8::from(success && stops),
        true_stop_low: u8::from(!success && stops),
        true_stop_high: u8::from(!success && stops),
        steps_low: stop,
        steps_high: Some(stop),
        tokens_low: None,
        tokens_high: None,
        cost_usd_low: None,
        cost_usd_high: None,
        tokens_in_part: 0,
        not_evaluable: "".into(),
        profile: "".into(),
        action: None,
        diverged_at: None,
        interventions: 0,
        steps_after_secured: None,
        tokens_after_secured: None,
        cost_usd_after_secured: None,
    }
}

/// Twenty stacks that each kill `effect` of the successes, of which every task has its runs, and stop six in ten of the
/// failures, of which every task has one. Whether one is said to kill at most 5 %.
pub(crate) fn best_of_many(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("best-of-many", corpus, repetitions, |random, tally| {
        let mut rows = Vec::new();
        for task in 0..corpus.tasks {
            let rates: Vec<f64> = (0..STACKS).map(|_| random.task_rate(corpus.effect, corpus.icc)).collect();
            for run in 0..=corpus.trials {
                let success = run < corpus.trials;
                let stops = |rate: &f64| if success { *rate } else { 0.6 };
                let of_stacks = rates.iter().map(stops).zip(0..);
                rows.extend(of_stacks.map(|(stops, stack)| told(stack, task, run, success, random.chance(stops))));
            }
        }
        let rows: Rows = rows.into_iter().collect();
        let contest = Contest::new(by_stack(&rows), Premises::new(Unit::Steps), &[], None);
        // The bound of each of many is further out than if it were alone, but for the one that is certified after all others:
        // their shares have passed to it.
        let alone = |at: usize| {
            let one = by_stack(&rows).into_iter().skip(at).take(1).collect();
            Contest::new(one, Premises::new(Unit::Steps), &[], None).candidates()[0].killed_at_most
        };
        let bounds = [0, 1].map(|at| (contest.candidates()[at].killed_at_most, alone(at)));
        let allows = bounds.iter().all(|(one, alone)| one >= alone) && bounds.iter().any(|(one, alone)| one > alone);
        tally.note("printed", "allows-for-all", Some(allows));
        let terms = ShipTerms { max_killed: TOLERATED, min_known: 0.95 };
        let shipped = contest.decide(terms).ship.and_then(|at| contest.candidates()[at].killed_at_most);
        tally.note("printed", "false", Some(shipped.is_some_and(|most| most < corpus.effect)));
    })
}
