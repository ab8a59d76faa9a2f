//! What is shipped is safe and worth it in any world, and nobody gains by hiding something.

mod gaps;

use std::collections::BTreeSet;

use super::*;
use crate::aggregate::{ExactnessName, Label, MIN_KNOWN, Row, Rows, Standing};
use crate::stats::cluster_key;
use crate::transcript::{EndCause, Moment, Outcome, Point};
use crate::verdict::{Doubts, Verdict};

/// One recorded run.
#[derive(Clone, Copy)]
struct Recorded {
    task: u64,
    success: bool,
    steps: u64,
}

/// A number from 0 to 999 that depends on everything given.
fn chance(seeds: [u64; 4]) -> u64 {
    cluster_key(&format!("{seeds:?}")) % 1000
}

fn row(stack: u64, run: usize, of: Recorded, stop: Option<u64>) -> Row {
    let killed = of.success && stop.is_some();
    let true_stop = !of.success && stop.is_some();
    let at_stop = stop.unwrap_or(of.steps);
    Row {
        run_id: format!("run-{run:04}").as_str().into(),
        task_id: Some(format!("task-{:03}", of.task).as_str().into()),
        suite: None,
        model: None,
        stack: format!("stack-{stack}").as_str().into(),
        verdict: match (of.success, stop) {
            (true, Some(_)) => Verdict::FalseEarlyStop,
            (true, None) => Verdict::CleanPass,
            (false, Some(_)) => Verdict::TrueStop,
            (false, None) => Verdict::MissedStop,
        },
        exactness: ExactnessName::Exact,
        outcome: if of.success { Outcome::Success } else { Outcome::Failure },
        end: EndCause::default(),
        secured_step: None,
        steps_recorded: of.steps,
        steps_at_stop: at_stop,
        stop_point: stop.map(|at| Point::new(usize::try_from(at).unwrap() - 1, Moment::AfterTools)),
        rule: None,
        observed: None,
        limit: None,
        tokens_recorded: Some(of.steps * 100),
        tokens_at_stop: Some(at_stop * 100),
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
        steps_low: at_stop,
        steps_high: Some(at_stop),
        tokens_low: Some(at_stop * 100),
        tokens_high: Some(at_stop * 100),
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

/// Stacks of every kind, from useless to reckless, over the same runs of one world.
fn world(world: u64) -> Vec<Row> {
    sized(world, 40 + chance([world, 0, 0, 0]) % 120)
}

/// The same of so many tasks.
fn sized(world: u64, tasks: u64) -> Vec<Row> {
    let (trials, stacks) = (1 + chance([world, 0, 0, 1]) % 3, 1 + world % 6);
    let runs: Vec<Recorded> = (0..tasks * trials)
        .map(|run| Recorded {
            task: run / trials,
            success: chance([world, 1, run, 0]) < 300 + chance([world, 1, run / trials, 1]) % 400,
            steps: 4 + chance([world, 1, run, 2]) % 40,
        })
        .collect();
    let mut rows = Vec::new();
    for nth in 0..stacks {
        // In every third world the last stack is nearly the first, and easier to hold.
        let is_twin = nth > 0 && nth + 1 == stacks && world.is_multiple_of(3);
        let stack = if is_twin { 0 } else { nth };
        let kills = [0, 0, 2, 10, 60, 200][usize::try_from(chance([world, 2, stack, 0]) % 6).unwrap()];
        let stops = [5, 40, 200, 500, 800][usize::try_from(chance([world, 2, stack, 1]) % 5).unwrap()];
        let after = 1 + chance([world, 2, stack, 2]) % 9;
        for (at, run) in runs.iter().enumerate() {
            let misses = is_twin && chance([world, 20, at as u64, 0]) < 30;
            let hit = !misses && chance([world, 3 + stack, at as u64, 0]) < if run.success { kills } else { stops };
            rows.push(row(nth, at, *run, (hit && run.steps > 4).then(|| (run.steps * after / 10).max(1))));
        }
    }
    rows
}

/// What can be hidden of a run.
#[derive(Clone, Copy)]
enum Hidden {
    /// Its outcome.
    Outcome,
    /// What the rules of one stack read.
    Flags,
    /// What it cost.
    Cost,
}

/// The row without what is hidden.
fn without(mut row: Row, hidden: Hidden) -> Row {
    match hidden {
        Hidden::Outcome => {
            row.outcome = Outcome::Unknown;
            row.verdict = Verdict::Unlabelled;
            row.unknown.unlabelled = true;
            (row.killed_low, row.true_stop_low) = (0, 0);
            (row.killed_high, row.true_stop_high) = (row.stopped_high, row.stopped_high);
        }
        Hidden::Cost => {
            (row.tokens_recorded, row.tokens_at_stop, row.tokens_low, row.tokens_high) = (None, None, None, None);
        }
        Hidden::Flags => {
            row.unknown.unread = true;
            row.verdict = if row.outcome == Outcome::Success { Verdict::CleanPass } else { Verdict::MissedStop };
            row.stop_point = None;
            (row.stopped_low, row.killed_low, row.true_stop_low) = (0, 0, 0);
            row.stopped_high = 1;
            row.killed_high = u8::from(row.outcome == Outcome::Success);
            row.true_stop_high = u8::from(row.outcome == Outcome::Failure);
            (row.steps_low, row.steps_high) = (1, Some(row.steps_recorded));
            (row.tokens_low, row.tokens_high) = (Some(100), row.tokens_recorded);
        }
    }
    row
}

const TERMS: ShipTerms = ShipTerms { max_killed: 0.08, min_known: MIN_KNOWN };

fn decided(rows: &[Row]) -> (ShipDecision, Vec<Candidate>, u64) {
    decided_at(rows, TERMS, None)
}

/// The same under other terms, and if a lost success has a price, in tokens.
fn decided_at(rows: &[Row], terms: ShipTerms, costs: Option<f64>) -> (ShipDecision, Vec<Candidate>, u64) {
    let price = costs.map(|costs| LostSuccess { unit: Unit::Tokens, costs });
    let rows: Rows = rows.iter().cloned().collect();
    let groups = crate::aggregate::by_stack(&rows);
    let entrants: Vec<Entrant> = (0..groups.len()).map(|at| Entrant { hosts: at, rules: 1, place: None }).collect();
    let contest = Contest::new(groups, Premises { price, ..Premises::new(Unit::Tokens) }, &entrants, None);
    (contest.decide(terms), contest.candidates().to_vec(), contest.tried())
}

#[test]
fn what_is_shipped_is_safe_and_worth_it_and_nothing_allowed_dominates_it() {
    let (mut shipped, mut not_worth, mut ties) = (0, 0, 0);
    for seed in 0..200 {
        let rows = world(seed);
        let (decision, candidates, tried) = decided(&rows);
        assert!(tried <= candidates.len() as u64);
        let Some(at) = decision.ship else {
            not_worth += usize::from(decision.standings.iter().any(|standing| standing.is_not_worth_it()));
            assert!(!decision.standings.contains(&Standing::Allowed), "world {seed}");
            continue;
        };
        shipped += 1;
        ties += usize::from(decision.tie.is_some());
        // Counted again from the rows, by other means than the code under test.
        let own = || rows.iter().filter(|row| *row.stack == *format!("stack-{at}"));
        let successes = own().filter(|row| row.outcome == Outcome::Success);
        let (n, killed) = (successes.clone().count(), successes.filter(|row| row.stop_point.is_some()).count());
        assert!(killed as f64 <= TERMS.max_killed * n as f64, "world {seed}");
        let saved: u64 = own()
            .filter(|row| row.outcome == Outcome::Failure)
            .map(|row| row.tokens_recorded.unwrap() - row.tokens_at_stop.unwrap())
            .sum();
        let whole: u64 = own().map(|row| row.tokens_recorded.unwrap()).sum();
        let ship = candidates[at];
        assert!((ship.saved.value.unwrap() - saved as f64 / whole as f64).abs() < 1e-9, "world {seed}");
        assert!(ship.saved.interval.unwrap().low > 0.01 && saved as f64 > 0.01 * whole as f64, "world {seed}");
        assert!(ship.killed_at_most.unwrap() <= TERMS.max_killed, "world {seed}");
        assert!(ship.killed_at_most.unwrap() >= ship.killed.unwrap(), "world {seed}");
        assert!(ship.cost.interval.unwrap().low <= 1.0, "world {seed}");
        let rows: Rows = rows.iter().cloned().collect();
        let groups = crate::aggregate::by_stack(&rows);
        for (other, candidate) in candidates.iter().enumerate().filter(|(other, _)| *other != at) {
            let no_worse = candidate.killed <= ship.killed && candidate.saved.value >= ship.saved.value;
            let cheaper =
                candidate.cost.value < ship.cost.value && !is_equal(&groups[other], &groups[at], Unit::Tokens, None);
            let allowed = decision.standings[other] == Standing::Allowed;
            assert!(!(allowed && no_worse && cheaper), "world {seed}: {other} dominates {at}");
        }
    }
    // Every kind of answer occurs often enough to be tested.
    assert!(shipped > 30 && not_worth > 5 && ties > 2, "{shipped} shipped, {not_worth} not worth it, {ties} ties");
}

#[test]
fn hiding_outcomes_or_flags_never_turns_not_worth_it_into_ship() {
    let mut changed = 0;
    for seed in 0..100 {
        let rows = world(seed);
        let (before, candidates, _) = decided(&rows);
        let is_refused =
            |at: usize| before.standings[at].is_not_worth_it() || candidates[at].killed > Some(TERMS.max_killed);
        let says_not_worth = before.nearest.is_some_and(|at| before.standings[at].is_not_worth_it());
        let runs: BTreeSet<Label> = rows.iter().map(|row| row.run_id.clone()).collect();
        for (turn, share) in [10, 30, 45, 200].into_iter().enumerate() {
            let turn = turn as u64;
            // From the runs that speak against a stack, or from any.
            let spiteful = chance([seed, 9, turn, 0]).is_multiple_of(2);
            let n_hidden = |row: &Row| {
                let run: u64 = row.run_id[4..].parse().unwrap();
                let against = row.killed_high == 1 || !spiteful;
                against && chance([seed, 10, turn, run]) < if spiteful { 10 * share } else { share }
            };
            let named: BTreeSet<&Label> = rows.iter().filter(|row| n_hidden(row)).map(|row| &row.run_id).collect();
            let budget = runs.len() * usize::try_from(share).unwrap() / 1000;
            let named: BTreeSet<&Label> = named.into_iter().take(budget.max(1)).collect();
            let hidden = if chance([seed, 11, turn, 0]).is_multiple_of(2) { Hidden::Outcome } else { Hidden::Flags };
            let less: Vec<Row> = rows
                .iter()
                .map(|row| if named.contains(&row.run_id) { without(row.clone(), hidden) } else { row.clone() })
                .collect();
            let (after, _, _) = decided(&less);
            assert!(after.ship.is_none_or(|at| !is_refused(at)), "world {seed}, turn {turn}: {candidates:?}");
            assert!(!says_not_worth || after.ship.is_none(), "world {seed}, turn {turn}: {candidates:?}");
            changed += usize::from(after.standings != before.standings);
        }
    }
    assert!(changed > 10, "hiding has to matter somewhere: {changed}");
}

#[test]
fn what_nobody_recorded_ships_nothing() {
    let rows = (0..300).map(world).find(|rows| decided(rows).0.ship.is_some()).unwrap();
    let free: Vec<Row> = rows
        .iter()
        .map(|row| Row {
            tokens_recorded: None,
            tokens_at_stop: None,
            tokens_low: None,
            tokens_high: None,
            ..row.clone()
        })
        .collect();
    assert_eq!(decided(&free).0.ship, None);
    let of_ten = |row: &Row| row.run_id.ends_with('7');
    let some: Vec<Row> =
        rows.iter().zip(&free).map(|(row, free)| if of_ten(row) { free.clone() } else { row.clone() }).collect();
    assert_eq!(decided(&some).0.ship, None, "a tenth without costs is too much");
}
