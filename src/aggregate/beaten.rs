//! Which stacks another stack beats on both counts beyond chance.

use super::ratios::{AmountRange, useful_range};
use super::tasks::Tasks;
use super::{Group, LEVEL, Row, Unit};
use crate::stats::multiplicity::holm;
use crate::stats::{PairedCounts, PairedSums, paired_test, ratio_difference};
use crate::transcript::Outcome;

/// For each group the position of one that beats it, `None` where none does. The groups hold the same runs in the same
/// order.
///
/// One stack beats another if, on the runs both could be judged on, it kills no more successes and saves no less, and
/// at least one of the two beyond chance: paired by run, clustered by task, Holm over both tests of every pair of stacks
/// that acted, at 5 %. What is known only within bounds is taken at its worst for the one and at its best for the other.
/// Of several, the one with the smallest p-value, then the first.
pub fn beaten(groups: &[Group<'_>], unit: Unit) -> Vec<Option<usize>> {
    let mut beaten: Vec<Option<(f64, usize)>> = vec![None; groups.len()];
    let Some(tasks) = groups.first().map(|group| Tasks::of(&group.rows)) else { return Vec::new() };
    let known: Vec<Vec<Known>> =
        groups.iter().map(|group| group.rows.iter().map(|row| known(row, unit)).collect()).collect();
    let acted: Vec<usize> = (0..groups.len()).filter(|at| groups[*at].rows.iter().any(|row| has_acted(row))).collect();
    let pairs = acted.iter().enumerate().flat_map(|(at, a)| acted[at + 1..].iter().map(move |b| (*a, *b)));
    // A pair in which neither is better on both counts is tested, too: it counts among the tests.
    let tested: Vec<Option<Better>> = pairs
        .map(|(a, b)| {
            let better = |a: usize, b: usize| {
                let p = p_values(&known[a], &known[b], tasks.places(), tasks.len())?;
                Some(Better { better: a, worse: b, p })
            };
            better(a, b).or_else(|| better(b, a))
        })
        .collect();
    let p_values: Vec<f64> = tested.iter().flat_map(|pair| pair.as_ref().map_or([1.0; 2], |pair| pair.p)).collect();
    for (pair, p) in tested.iter().zip(holm(&p_values).chunks(2)) {
        let (Some(Better { better, worse, .. }), Some(p)) = (pair, p.iter().copied().reduce(f64::min)) else {
            continue;
        };
        let found = (p, *better);
        if p <= 1.0 - LEVEL && beaten[*worse].is_none_or(|other| found < other) {
            beaten[*worse] = Some(found);
        }
    }
    beaten.into_iter().map(|by| by.map(|(_, at)| at)).collect()
}

/// A pair of which one is better on both counts, with the p-values of killed and saved.
struct Better {
    better: usize,
    worse: usize,
    p: [f64; 2],
}

/// What is known of one run under one stack; nothing of a run that is left out.
#[derive(Clone, Copy, Default)]
struct Known {
    /// A success: killed at least and at most.
    killed: Option<(f64, f64)>,
    /// The useful saving and what was recorded.
    saved: Option<(AmountRange, f64)>,
}

fn known(row: &Row, unit: Unit) -> Known {
    let judged_success = row.is_judged() && row.outcome == Outcome::Success;
    Known {
        killed: judged_success.then(|| (f64::from(row.killed_low), f64::from(row.killed_high))),
        saved: useful_range(row, unit).zip(unit.recorded(row)),
    }
}

fn has_acted(row: &Row) -> bool {
    row.is_judged() && (row.stopped_high == 1 || row.unknown.diverged)
}

/// The p-values of "`a` kills as many" and "`a` saves as much", where `a` is better on one count and no worse on the
/// other whatever the unknowns are; 1 for a count on which they are alike. `None` where it is not.
fn p_values(a: &[Known], b: &[Known], places: &[usize], tasks: usize) -> Option<[f64; 2]> {
    let mut counts = vec![PairedCounts::default(); tasks];
    let mut sums = vec![PairedSums::default(); tasks];
    let (mut successes, mut killed, mut saved) = (0_u64, 0.0, 0.0);
    for ((a, b), place) in a.iter().zip(b).zip(places) {
        if let (Some((_, worst)), Some((best, _))) = (a.killed, b.killed) {
            successes += 1;
            killed += worst - best;
            let task = counts.get_mut(*place)?;
            task.n += 1;
            task.only_a += u64::from(worst > best);
            task.only_b += u64::from(worst < best);
        }
        if let (Some(((worst, _), recorded)), Some(((_, best), _))) = (a.saved, b.saved) {
            // What follows a warning may cost any amount.
            let worst = worst?;
            saved += worst - best;
            let task = sums.get_mut(*place)?;
            task.a.add(worst, recorded);
            task.b.add(best, recorded);
        }
    }
    if successes == 0 || killed > 0.0 || saved < 0.0 || (killed == 0.0 && saved == 0.0) {
        return None;
    }
    sums.retain(|task| task.a.n > 0);
    let p_killed = if killed < 0.0 { paired_test(&counts).p } else { None };
    let p_saved = if saved > 0.0 { ratio_difference(&sums, LEVEL).p } else { None };
    Some([p_killed.unwrap_or(1.0), p_saved.unwrap_or(1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{ExactnessName, by_stack};
    use crate::stats::cluster_key;
    use crate::transcript::{EndCause, Moment, Point};
    use crate::verdict::{Doubts, Verdict};

    /// A run of 20 steps under a stack that stops it after `stop` steps, if at all.
    fn row(stack: &str, task: u64, success: bool, stop: Option<u64>) -> Row {
        let killed = success && stop.is_some();
        let true_stop = !success && stop.is_some();
        Row {
            run_id: format!("run-{task}").as_str().into(),
            task_id: Some(format!("task-{task:03}").as_str().into()),
            suite: None,
            model: None,
            stack: stack.into(),
            verdict: match (success, stop) {
                (true, Some(_)) => Verdict::FalseEarlyStop,
                (true, None) => Verdict::CleanPass,
                (false, Some(_)) => Verdict::TrueStop,
                (false, None) => Verdict::MissedStop,
            },
            exactness: ExactnessName::Exact,
            outcome: if success { Outcome::Success } else { Outcome::Failure },
            end: EndCause::default(),
            secured_step: None,
            steps_recorded: 20,
            steps_at_stop: stop.unwrap_or(20),
            stop_point: stop.map(|at| Point::new(usize::try_from(at).unwrap() - 1, Moment::AfterTools)),
            rule: None,
            observed: None,
            limit: None,
            tokens_recorded: None,
            tokens_at_stop: None,
            cost_usd_recorded: None,
            cost_usd_at_stop: None,
            ms_recorded: None,
            ms_at_stop: None,
            outcome_low: 0,
            outcome_high: 1,
            unknown: Doubts::default(),
            stopped_low: u8::from(stop.is_some()),
            stopped_high: u8::from(stop.is_some()),
            killed_low: u8::from(killed),
            killed_high: u8::from(killed),
            true_stop_low: u8::from(true_stop),
            true_stop_high: u8::from(true_stop),
            steps_low: stop.unwrap_or(20),
            steps_high: Some(stop.unwrap_or(20)),
            tokens_low: None,
            tokens_high: None,
            cost_usd_low: None,
            cost_usd_high: None,
            not_evaluable: String::new(),
            profile: "".into(),
            action: None,
            diverged_at: None,
            interventions: 0,
            steps_after_secured: None,
            tokens_after_secured: None,
        }
    }

    /// A number of 100, by chance.
    fn chance(world: u64, stack: u64, task: u64) -> u64 {
        cluster_key(&format!("{world} {stack} {task}")) % 100
    }

    /// `stacks` stacks that each stop a tenth of the successes and half of the failures, independently.
    fn equals(world: u64, stacks: u64) -> Vec<Row> {
        let names: Vec<String> = (0..stacks).map(|stack| format!("equal-{stack}")).collect();
        let rows = names.iter().zip(0..).flat_map(|(name, stack)| {
            (0..120).map(move |task| {
                let success = task % 2 == 0;
                let is_hit = chance(world, stack, task) < if success { 10 } else { 50 };
                row(name, task, success, is_hit.then_some(10))
            })
        });
        rows.collect()
    }

    #[test]
    fn eight_equal_stacks_beat_each_other_in_few_worlds() {
        let worlds = 40;
        let found = (0..worlds)
            .filter(|world| {
                let rows = equals(*world, 8);
                beaten(&by_stack(&rows), Unit::Steps).iter().any(Option::is_some)
            })
            .count();
        // 5 % are tolerated: 2 of 40, and 5 with luck as bad as one in twenty.
        assert!(found <= 5, "{found} of {worlds}");
    }

    #[test]
    fn a_stack_that_kills_more_and_saves_less_is_beaten() {
        let mut rows = equals(1, 2);
        for task in 0..120 {
            let success = task % 2 == 0;
            let is_hit = if success { task % 4 == 0 } else { task % 8 == 1 };
            rows.push(row("clumsy", task, success, is_hit.then_some(10)));
            rows.push(row("idle", task, success, None));
        }
        let beaten = beaten(&by_stack(&rows), Unit::Steps);
        assert_eq!(beaten[..2], [None, None]);
        assert!(beaten[2].is_some_and(|by| by < 2));
        // A stack that did nothing is not in the comparison.
        assert_eq!(beaten[3], None);
    }

    #[test]
    fn what_is_unknown_beats_nobody() {
        let mut rows = Vec::new();
        for task in 0..120 {
            let success = task % 2 == 0;
            rows.push(row("clumsy", task, success, success.then_some(10)));
            // It warned on every success: what then happened is not recorded.
            let mut open = row("warner", task, success, (!success).then_some(10));
            if success {
                open.unknown.diverged = true;
                (open.killed_high, open.stopped_high, open.steps_low, open.steps_high) = (1, 1, 5, None);
            }
            rows.push(open);
        }
        assert_eq!(beaten(&by_stack(&rows), Unit::Steps), [None, None]);
        for row in rows.iter_mut().filter(|row| row.unknown.diverged) {
            (row.killed_high, row.steps_low, row.steps_high) = (0, 20, Some(20));
        }
        assert_eq!(beaten(&by_stack(&rows), Unit::Steps), [Some(1), None]);
    }

    #[test]
    fn of_nothing_comes_nothing() {
        assert_eq!(beaten(&[], Unit::Steps), []);
        let rows = vec![row("alone", 1, true, Some(3))];
        assert_eq!(beaten(&by_stack(&rows), Unit::Steps), [None]);
    }
}
