//! Finds stacks that another stack beats on both counts (successes killed, cost saved) beyond chance.

use super::group::rows_of_all;
use super::tasks::Tasks;
use super::{Ends, Group, LEVEL, RowView, RunEffect, Unit};
use crate::parallel;
use crate::stats::frontier::surely_beaten;
use crate::stats::{PairedSums, RatioDifference};

/// For each group, the index of the first group that beats it, or `None` if none does (which does not make stacks
/// equal).
/// All groups must hold the same runs in the same order.
///
/// One stack beats another if, on the runs both could be judged on, it kills no more successes, saves no less, and is
/// better on one of the two beyond chance. The test is paired by run, clustered by task, and corrected for all ordered
/// pairs of stacks that acted ([`surely_beaten`]). Values known only within bounds are taken at their worst for the
/// winner and at their best for the loser.
pub fn beaten(groups: &[Group<'_>], unit: Unit) -> Vec<Option<usize>> {
    let Some(rows) = rows_of_all(groups) else { return Vec::new() };
    let tasks = Tasks::from_group(&groups[0]);
    // A row's ending determines what is known about it, and many rows share an ending: compute it once per ending.
    let endings: Vec<RunEffect> = rows.endings().map(|row| RunEffect::from_row(row, unit)).collect();
    let acted: Vec<usize> = (0..groups.len()).filter(|at| groups[*at].rows().any(has_acted)).collect();
    let pairs = acted.len() * acted.len().saturating_sub(1);
    let known = |group: usize| groups[group].rows().map(|row| &endings[row.ending()]);
    let killed_of = |group: usize| known(group).map(killed_success).collect();
    let killed: Vec<Vec<Option<Ends<bool>>>> = parallel::map_range(0..groups.len(), killed_of);
    let by = |worse: usize| {
        let mut others = acted.iter().copied().filter(|other| *other != worse);
        others.find(|better| {
            if !kills_no_more(&killed[*better], &killed[worse]) {
                return false;
            }
            let differences = differences(known(*better), known(worse), &tasks);
            differences.is_some_and(|(killed, saved)| surely_beaten(&killed, &saved, pairs, 1.0 - LEVEL))
        })
    };
    parallel::map_range(0..groups.len(), |at| if acted.contains(&at) { by(at) } else { None })
}

/// Whether a judged success was killed; `None` for any other run.
fn killed_success(effect: &RunEffect) -> Option<Ends<bool>> {
    if effect.is_judged() && effect.is_success() { Some(effect.killed) } else { None }
}

/// Whether the difference of successes killed, which [`differences`] returns first, is at least 0. Without that nothing
/// is beaten, and most pairs need no look at their savings.
fn kills_no_more(better: &[Option<Ends<bool>>], worse: &[Option<Ends<bool>>]) -> bool {
    let mut difference = 0_i64;
    for (better, worse) in better.iter().zip(worse) {
        if let (Some(better), Some(worse)) = (better, worse) {
            difference += i64::from(worse.low) - i64::from(better.high);
        }
    }
    difference >= 0
}

fn has_acted(row: RowView<'_>) -> bool {
    row.is_judged() && (row.stopped_high() == 1 || row.unknown().diverged)
}

/// Paired differences with every unknown at its worst for `better`: how much more `worse` kills and how much more
/// `better` saves. `None` if no success was judged under both, or if nothing limits what `better` may cost.
fn differences<'k>(
    better: impl Iterator<Item = &'k RunEffect>,
    worse: impl Iterator<Item = &'k RunEffect>,
    tasks: &Tasks,
) -> Option<(RatioDifference, RatioDifference)> {
    let mut killed = vec![PairedSums::default(); tasks.len()];
    let mut saved = vec![PairedSums::default(); tasks.len()];
    for ((better, worse), place) in better.zip(worse).zip(tasks.places()) {
        if let (Some(better), Some(worse)) = (killed_success(better), killed_success(worse)) {
            let task = killed.get_mut(place)?;
            task.a.add(f64::from(u8::from(worse.low)), 1.0);
            task.b.add(f64::from(u8::from(better.high)), 1.0);
        }
        if let (Some(least), Some(most), Some(spending)) = (better.useful(), worse.useful(), better.spending) {
            let task = saved.get_mut(place)?;
            // `None`: what follows a warning may cost any amount.
            task.a.add(least.least?, spending.recorded);
            task.b.add(most.most, spending.recorded);
        }
    }
    killed.retain(|task| task.a.n > 0);
    saved.retain(|task| task.a.n > 0);
    RatioDifference::new(&killed).zip(RatioDifference::new(&saved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{ExactnessName, Row, Rows, by_stack};
    use crate::stats::cluster_key;
    use crate::transcript::{EndCause, Moment, Outcome, Point};
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

    fn beaten_of(rows: &[Row]) -> Vec<Option<usize>> {
        beaten(&by_stack(&rows.iter().cloned().collect::<Rows>()), Unit::Steps)
    }

    /// A hashed number in 0..100.
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
                beaten_of(&rows).iter().any(Option::is_some)
            })
            .count();
        // 5 % are tolerated: 2 of 40 expected, up to 5 with bad luck (probability 1 in 20).
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
        let beaten = beaten_of(&rows);
        assert_eq!(beaten[..2], [None, None]);
        assert!(beaten[2].is_some_and(|by| by < 2));
        // A stack that did nothing is not compared.
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
        assert_eq!(beaten_of(&rows), [None, None]);
        for row in rows.iter_mut().filter(|row| row.unknown.diverged) {
            (row.killed_high, row.steps_low, row.steps_high) = (0, 20, Some(20));
        }
        assert_eq!(beaten_of(&rows), [Some(1), None]);
    }

    #[test]
    fn what_is_ruled_out_first_is_what_the_difference_rules_out() {
        let mut ruled_out = 0;
        for world in 0..5 {
            let rows: Rows = equals(world, 4).into_iter().collect();
            let groups = by_stack(&rows);
            let known =
                |at: usize| groups[at].rows().map(|row| RunEffect::from_row(row, Unit::Steps)).collect::<Vec<_>>();
            for (better, worse) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let (better, worse, tasks) = (known(better), known(worse), Tasks::from_group(&groups[0]));
                let killed = |known: &[RunEffect]| known.iter().map(killed_success).collect::<Vec<_>>();
                let (difference, _) = differences(better.iter(), worse.iter(), &tasks).unwrap();
                assert_eq!(kills_no_more(&killed(&better), &killed(&worse)), difference.value >= 0.0);
                ruled_out += usize::from(difference.value < 0.0);
            }
        }
        assert!((20..40).contains(&ruled_out), "{ruled_out}");
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(beaten(&[], Unit::Steps), []);
        let rows = vec![row("alone", 1, true, Some(3))];
        assert_eq!(beaten_of(&rows), [None]);
    }
}
