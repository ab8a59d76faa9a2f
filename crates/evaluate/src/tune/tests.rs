//! A hand-made corpus with results computed by hand, and properties that must hold on any runs.
#![expect(clippy::float_cmp, reason = "sums of whole numbers are exact")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count up to it")]

use std::sync::Arc;

use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::aggregate::{RunRows, Unit};
use crate::replay::replay;
use crate::stack::{Stack, StackFile};
use crate::stats::Bound;
use crate::stats::distribution::binomial_cdf;
use crate::transcript::sketch::draft;
use crate::transcript::{Outcome, Run};
use crate::verdict::Assumptions;
use whenstop_dev::synth::{Suite, Synthesis};

const FIVE: Appetite = Appetite { alpha: 0.05, delta: 0.1, bound: Bound::Gaffke, lost_success_costs: None };

fn run(name: &str, task: &str, steps: &str, outcome: Outcome) -> Run {
    let mut draft = draft(steps);
    draft.header.run_id = name.to_owned();
    draft.header.task_id = Some(task.to_owned());
    draft.grade.outcome = outcome;
    Run::new(draft)
}

/// `n` successes of 3 to 7 steps without repetition, each of a task of its own, except for `loops` of them, which make
/// the same call twice with the same result; and 40 failures that do so 20 times.
fn corpus(n: usize, loops: usize) -> Vec<Run> {
    let success = |at: usize| {
        let mut steps: Vec<String> = (0..2 + at % 5).map(|step| format!("look({at}{step})=seen{at}{step}")).collect();
        if at < loops {
            steps.truncate(1);
            steps.push(steps[0].clone());
        }
        steps.push("-done".to_owned());
        run(&format!("s{at}"), &format!("task-s{at}"), &steps.join(" "), Outcome::Success)
    };
    let failure = |at: usize| {
        let steps = vec![format!("poll({at})=nothing{at}"); 20].join(" ");
        run(&format!("f{at}"), &format!("task-f{at}"), &steps, Outcome::Failure)
    };
    (0..n).map(success).chain((0..40).map(failure)).collect()
}

fn name(study: &Study, run: usize) -> &str {
    study.runs()[run].facts().run_id()
}

fn study(runs: &[Run], families: Vec<Family>) -> Study {
    let plan = Study::plan(&families);
    let runs = runs.iter().map(|run| StudyRun::from_run(run, &families, &plan, KeptReadings::All)).collect();
    Study::new(runs, families).in_unit(Unit::Steps)
}

/// What is shipped, by its rule, or the reason why nothing is.
fn shipped(runs: &[Run], appetite: Appetite) -> Result<String, Refusal> {
    let study = study(runs, catalogue("steps"));
    let tuned = study.tune(&study.all_tasks(), appetite);
    tuned.chosen.map(|choice| study.rule(choice.at).to_string())
}

#[test]
fn fifty_eight_tasks_are_too_few_and_fifty_nine_carry_the_budget_alone() {
    assert_eq!(shipped(&corpus(58, 0), FIVE), Err(Refusal::TooFewTasks { there: 58, needed: 59 }));
    // The longest success takes 7 steps, and after the seventh there is nothing left to stop.
    assert_eq!(shipped(&corpus(59, 0), FIVE), Ok("steps >= 7".to_owned()));
    assert_eq!(shipped(&corpus(89, 0), FIVE), Ok("steps >= 7".to_owned()));
}

#[test]
fn from_ninety_tasks_on_a_loop_is_caught_where_it_repeats() {
    // No family kills any of these successes; the second equal call stops the failures at step 2, as early as any.
    let study = study(&corpus(90, 0), catalogue("steps"));
    let tuned = study.tune(&study.all_tasks(), FIVE);
    let choice = tuned.chosen.unwrap();
    assert_eq!(study.rule(choice.at).to_string(), "call_result.count >= 2");
    assert!((choice.p - 0.95_f64.powi(90)).abs() < 1e-12);
    // 40 failures of 20 steps stopped at step 2, of their 800 steps and the 18 rounds of 3 to 7 steps of the
    // successes.
    let recorded = 800.0 + 18.0 * (3.0 + 4.0 + 5.0 + 6.0 + 7.0);
    let saved = tuned.candidate(&choice).unwrap().saved;
    assert!((saved.value.unwrap() - 720.0 / recorded).abs() < 1e-12, "{saved:?}");
    assert!(saved.high().unwrap() <= 1.0 && saved.low().unwrap() > 0.01);
    // None of the successes is killed, whichever part is held out.
    let held_out = Tuner::new(&study).held_out(&study.all_tasks(), FIVE);
    assert_eq!(held_out.totals.all().killed.high.hits, 0);
}

#[test]
fn one_success_too_many_that_repeats_itself_moves_the_limit_on() {
    // At 90 tasks one killed task is too many for a tenth of delta; three equal calls kill none.
    assert!(binomial_cdf(1, 90, 0.05) > 0.01);
    assert_eq!(shipped(&corpus(90, 1), FIVE), Ok("call_result.count >= 3".to_owned()));
    let one_more = (91..1000).find(|n| binomial_cdf(1, *n, 0.05) <= 0.01).unwrap();
    assert_eq!(one_more, 130);
    assert_eq!(shipped(&corpus(130, 1), FIVE), Ok("call_result.count >= 2".to_owned()));
}

#[test]
fn nothing_is_shipped_without_outcomes_savings_or_costs() {
    let ungraded: Vec<Run> = corpus(90, 0)
        .into_iter()
        .map(|mut run| {
            run.grade.outcome = Outcome::Unknown;
            run
        })
        .collect();
    assert_eq!(shipped(&ungraded, FIVE), Err(Refusal::Ungraded));
    let only_successes: Vec<Run> = corpus(90, 0).into_iter().take(90).collect();
    assert!(matches!(shipped(&only_successes, FIVE), Err(Refusal::StopsNothing | Refusal::NotWorthIt(..))));
    let priced = Appetite { lost_success_costs: Some(4.0), ..FIVE };
    assert_eq!(shipped(&corpus(90, 0), priced), Err(Refusal::NoCosts));
}

#[test]
fn a_family_that_too_few_runs_record_is_left_out_and_the_runs_stay_in_the_others() {
    let mut runs = corpus(100, 0);
    runs.push(run("dark", "task-dark", "ls~ ls~ -done", Outcome::Failure));
    let few = study(&runs, catalogue("steps"));
    assert_eq!((few.unread().len(), few.families().len()), (0, 6));
    let unread: Vec<usize> = (0..6).map(|family| few.unread_by(family).count()).collect();
    assert_eq!(unread, [0, 1, 0, 1, 0, 0]);
    let dark = (0..20).map(|at| run(&format!("dark{at}"), "task-dark", "ls~ ls~ -done", Outcome::Failure));
    runs.extend(dark);
    let many = study(&runs, catalogue("steps"));
    assert_eq!(many.unread(), [("call_result.count".to_owned(), 21), ("errors.count".to_owned(), 21)]);
    assert_eq!(many.families().len(), 4);
}

#[test]
fn a_success_that_a_signal_cannot_read_counts_as_killed_by_all_of_its_limits() {
    // Three of 103 tasks record no results. What reads results cannot be certified: too many of them may be killed.
    let mut runs = corpus(100, 0);
    runs.extend(
        (0..3).map(|at| run(&format!("n{at}"), &format!("n{at}"), "look(1)~ look(2)~ -done", Outcome::Success)),
    );
    assert_eq!(shipped(&runs, FIVE), Ok("call.count >= 2".to_owned()));
    let study = study(&runs, catalogue("steps"));
    let walks = study.tune(&study.all_tasks(), FIVE).walks;
    let of_results = walks.iter().find(|walk| study.families()[walk.family].name() == "call_result.count >=").unwrap();
    assert_eq!(of_results.passed, 0);
    assert!((of_results.p_next.unwrap() - binomial_cdf(3, 103, 0.05)).abs() < 1e-9);
    // What was seen counts such a run in the same way.
    let seen =
        study.totals(&study.all_tasks(), |run| study.fate(LimitIx { family: of_results.family, limit: 0 }, run)).all();
    assert_eq!((seen.killed.high.hits, seen.killed.high.of), (3, 103));
}

#[test]
fn without_names_of_tasks_nothing_is_certified() {
    let mut runs = corpus(100, 0);
    for run in runs.iter_mut().take(8) {
        run.header.task_id = None;
    }
    assert_eq!(shipped(&runs, FIVE), Err(Refusal::Unnamed { without: 8, runs: 140 }));
    runs[0].header.task_id = Some("named".to_owned());
    assert_eq!(shipped(&runs, FIVE), Ok("call_result.count >= 2".to_owned()));
}

#[test]
fn a_list_is_learned_where_no_single_rule_catches_both_kinds_of_failure() {
    // Successes look around for 6 steps and fail once on the way; failures repeat a call, or fail at every step.
    let mut runs = Vec::new();
    for at in 0..400 {
        let steps: Vec<String> = (0..5)
            .map(|step| format!("look({at}x{step})=seen{at}x{step}{}", if step == at % 5 { "!" } else { "" }))
            .collect();
        runs.push(run(&format!("s{at}"), &format!("s{at}"), &format!("{} -done", steps.join(" ")), Outcome::Success));
    }
    for at in 0..150 {
        let looping = vec![format!("poll({at})=same{at}"); 20].join(" ");
        runs.push(run(&format!("l{at}"), &format!("l{at}"), &looping, Outcome::Failure));
        let failing: Vec<String> = (0..20).map(|step| format!("try({at}y{step})=bad{at}y{step}!")).collect();
        runs.push(run(&format!("e{at}"), &format!("e{at}"), &failing.join(" "), Outcome::Failure));
    }
    let study = study(&runs, pool("steps"));
    let options = ListOptions { appetite: Appetite { alpha: 0.1, ..FIVE }, cross_fit: false };
    let learned = study.learn(&study.all_tasks(), options).unwrap();
    assert!(learned.list.rules.len() >= 2 && !learned.is_single, "{learned:?}");
    assert_eq!((learned.list.from_step, learned.is_estimate), (0, false));
    // Half of the tasks, of which the number of successes varies a little.
    assert!(learned.p <= 0.1 && (170..230).contains(&learned.judged_on), "{learned:?}");
    let all = study.totals(&study.all_tasks(), |run| learned.list.fate(&study, run)).all();
    assert_eq!((all.killed.high.hits, all.stopped_failures), (0, 300));
    // The result does not depend on the order of the runs.
    runs.reverse();
    let again = self::study(&runs, pool("steps"));
    assert_eq!(again.learn(&again.all_tasks(), options), Some(learned));
    let estimated = again.learn(&again.all_tasks(), ListOptions { cross_fit: true, ..options }).unwrap();
    assert!(estimated.is_estimate && estimated.judged_on == 400);
}

/// Where a stack stops a run, as an index among the ends of its track; with whether that kills, and what it saves.
fn replayed(run: &Run, stack: &Arc<Stack>) -> (Option<u64>, bool, f64) {
    let rows = RunRows::from_run(run, Assumptions::default());
    let row = rows.row(&"s".into(), &"".into(), &replay(run, stack));
    (row.stop_point.map(|_| row.steps_at_stop), row.killed_high == 1 && run.grade.outcome == Outcome::Success, {
        (row.steps_recorded - row.steps_at_stop) as f64
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_limit_stops_where_its_stack_does_and_never_later_than_the_limit_before(
        suite in 0..3_usize, seed in any::<u64>(), which in prop::collection::vec(0.0..1.0_f64, 12),
    ) {
        let runs: Vec<Run> = (0..6).map(|at| Synthesis::new(Suite::ALL[suite], seed).run(at)).collect();
        let study = study(&runs, pool("steps"));
        for at in 0..study.runs().len() {
            let run = runs.iter().find(|run| run.header.run_id == name(&study, at)).unwrap();
            for (family, share) in (0..study.families().len()).zip(&which) {
                let of = &study.families()[family];
                let mut last = (true, None);
                for limit in 0..of.limits().len() {
                    let stop = study.end_at(LimitIx { family, limit }, at);
                    prop_assert!((stop.is_none(), stop) <= last, "{} {}", of.name(), of.limits()[limit]);
                    last = (stop.is_none(), stop);
                }
                let limit = ((of.limits().len() - 1) as f64 * share.sqrt()) as usize;
                let stop = study.end_at(LimitIx { family, limit }, at);
                let on = &study.runs()[at];
                let (paid, kills, saved) = replayed(run, &of.stack("s", limit));
                prop_assert_eq!(stop.map(|stop| on.steps_paid(stop)), paid, "{}", of.rule(limit));
                prop_assert_eq!(stop.is_some_and(|stop| on.kills(stop)), kills);
                prop_assert_eq!(stop.map_or(0.0, |stop| on.saved(stop, study.unit())), saved);
            }
        }
    }

    #[test]
    fn a_shipped_list_stops_where_its_stack_file_says(
        suite in 0..3_usize, seed in any::<u64>(), from_step in 0..12_u64,
        rules in prop::collection::vec((0..6_usize, 0.8..1.0_f64), 1..4),
    ) {
        let runs: Vec<Run> = (0..6).map(|at| Synthesis::new(Suite::ALL[suite], seed).run(at)).collect();
        let study = study(&runs, catalogue("steps"));
        let limit_of = |family: usize, share: f64| ((study.families()[family].limits().len() - 1) as f64 * share) as usize;
        let rules = rules.into_iter().map(|(family, share)| {
            let family = family % study.families().len();
            LimitIx { family, limit: limit_of(family, share) }
        });
        let list = RuleList { rules: rules.collect(), from_step };
        let learned = Learned { list: list.clone(), p: 0.0, judged_on: 0, is_estimate: false, is_single: false };
        let text = Shipped::List(learned).stack(&study, "tuned");
        let file = StackFile::parse("tuned.toml", &text).unwrap();
        prop_assert_eq!(file.entries.len(), 1);
        let stack = file.stack("tuned").unwrap();
        for at in 0..study.runs().len() {
            let run = runs.iter().find(|run| run.header.run_id == name(&study, at)).unwrap();
            let paid = match list.fate(&study, at) {
                Fate::Stopped(end) => Some(study.runs()[at].steps_paid(end)),
                _ => None,
            };
            prop_assert_eq!(paid, replayed(run, &stack).0, "{}", &text);
        }
    }
}
