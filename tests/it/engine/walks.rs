//! The walk over a grid against the sums over the rows of the fold.

use std::sync::Arc;

use whenstop::aggregate::{Label, Rows, RunRows, Unit};
use whenstop::replay::replay;
use whenstop::rule::Condition;
use whenstop::stack::{Cap, Clause, OnHit, Scope, Stack};
use whenstop::sweep::engine::{AxisChoice, Extract, GridWalk, Join, Plan, Product, Runs, Tally};
use whenstop::transcript::{Outcome, Run};
use whenstop::verdict::{Assumptions, Verdict};

use super::n_stacks;
use super::random::{Dice, condition, random_run, rule};

/// What a random grid's walk says of each stack, against the sums over the rows of the fold, with one thread and with two.
pub(super) fn check_walk(dice: &mut Dice, runs: &[Run], join: Join) -> usize {
    let limits = |dice: &mut Dice, parts: usize| {
        let template = loop {
            let template = condition(dice, parts);
            if join == Join::Any || !template.rules().is_empty() {
                break template;
            }
        };
        let mut axis: Vec<Option<AxisChoice>> = vec![Some(AxisChoice::Clause(Clause::stop_on(template)))];
        axis.extend(
            (0..dice.below(4))
                .map(|_| Some(AxisChoice::Clause(Clause::stop_on(Condition::Rule(Box::new(rule(dice))))))),
        );
        if dice.one_in(2) {
            axis.push(None);
        }
        axis
    };
    let mut axes: Vec<Vec<Option<AxisChoice>>> = (0..=dice.below(4)).map(|nth| limits(dice, nth.min(2))).collect();
    if join == Join::Any && dice.one_in(2) {
        let cap = |steps| Some(AxisChoice::Cap(Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run }));
        axes.push(vec![cap(3), cap(9), None]);
    }
    let product = Product::new(axes, join);
    let mut plan = Plan::default();
    let atoms = GridWalk::plan(&product, &mut plan).unwrap();
    let extracts: Vec<Extract> = runs.iter().map(|run| Extract::from_run(run, &plan, Assumptions::default())).collect();
    let all = product.len().unwrap();
    let stacks: Vec<Arc<Stack>> = (0..all).map(|index| Arc::new(product.stack(index, "s"))).collect();
    let shared: Vec<RunRows> = runs.iter().map(|run| RunRows::from_run(run, Assumptions::default())).collect();
    let (name, profile) = (Label::from("s"), Label::from(""));
    let rows: Vec<Rows> = stacks
        .iter()
        .map(|stack| runs.iter().zip(&shared).map(|(run, of)| of.row(&name, &profile, &replay(run, stack))).collect())
        .collect();
    for unit in Unit::ALL {
        let columns = Runs::from_extracts(&extracts, unit);
        let walk = GridWalk::new(&product, &atoms, &columns).unwrap();
        let mut tallies = on_threads(1, &walk);
        assert_eq!(tallies, on_threads(2, &walk), "one thread and two, {unit:?}");
        tallies.sort_by_key(|(index, _)| *index);
        assert!(tallies.iter().map(|(index, _)| *index).eq(0..all), "each stack once");
        for (((index, tally), rows), stack) in tallies.iter().zip(&rows).zip(&stacks) {
            let mut choices = product.axes().iter().zip(product.choices(*index));
            if choices.any(|(axis, choice)| axis[choice].is_some()) {
                assert_eq!(*tally, expected(rows, unit, columns.scale()), "{stack:#?} {unit:?}");
            }
        }
    }
    stacks.len()
}

/// The whole walk on so many threads.
fn on_threads(n: usize, walk: &GridWalk<'_, '_>) -> Vec<(u64, Tally)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    pool.install(|| walk.chunks(0, walk.n_chunks()))
}

/// A tally from rows, by the words of its fields.
fn expected(rows: &Rows, unit: Unit, scale: f64) -> Tally {
    let mut all = Tally::default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts of small runs")]
    let whole = |amount: Option<f64>| (amount.unwrap_or(0.0) * scale).round() as u64;
    for row in rows.iter().filter(|row| row.is_judged()) {
        let (recorded, spent) = (whole(unit.recorded(row)), whole(unit.at_stop(row)));
        let is_success = row.outcome() == Outcome::Success;
        all.judged += 1;
        all.successes += u64::from(is_success);
        all.failures += u64::from(!is_success);
        all.stops += u64::from(row.is_stop());
        all.killed += u64::from(row.killed_low());
        all.true_stops += u64::from(row.true_stop_low());
        all.rescued += u64::from(row.verdict() == Verdict::Rescued);
        if unit.recorded(row).is_some() {
            all.recorded_successes += u64::from(is_success);
            all.recorded_kept += u64::from(row.verdict().keeps_success());
        }
        all.recorded += recorded;
        all.recorded_on_successes += if is_success { recorded } else { 0 };
        all.spent += spent;
        all.useful += if row.killed_low() == 1 { 0 } else { recorded - spent };
    }
    all
}

#[test]
fn a_walk_adds_up_what_the_rows_of_the_fold_say() {
    let mut dice = Dice::new(19);
    let mut n = 0;
    for at in 0..n_stacks(600) / 60 {
        let runs: Vec<Run> = (0..40 + 60 * dice.below(3)).map(|nth| random_run(&mut dice, nth)).collect();
        n += check_walk(&mut dice, &runs, if at % 3 == 2 { Join::Latched } else { Join::Any });
    }
    eprintln!("{n} stacks walked");
}

/// The same walk with one thread and with several.
#[test]
fn threads_change_no_tally() {
    let mut dice = Dice::new(23);
    let runs: Vec<Run> = (0..150).map(|nth| random_run(&mut dice, nth)).collect();
    let choices = |dice: &mut Dice, n: usize| -> Vec<Option<AxisChoice>> {
        (0..n).map(|_| Some(AxisChoice::Clause(Clause::stop_on(Condition::Rule(Box::new(rule(dice))))))).collect()
    };
    let product = Product::new(vec![choices(&mut dice, 30), choices(&mut dice, 20), choices(&mut dice, 40)], Join::Any);
    let mut plan = Plan::default();
    let atoms = GridWalk::plan(&product, &mut plan).unwrap();
    let extracts: Vec<Extract> = runs.iter().map(|run| Extract::from_run(run, &plan, Assumptions::default())).collect();
    let columns = Runs::from_extracts(&extracts, Unit::Steps);
    let walk = GridWalk::new(&product, &atoms, &columns).unwrap();
    assert!(walk.n_chunks() > 2);
    assert_eq!(on_threads(1, &walk), on_threads(3, &walk));
}
