//! The engine against the fold: random stacks over random runs, and over the real corpora; grids against sums over rows.
//! Both read a condition by the core's `ConditionState`, whose own tests say what it and its evidence are.

mod corpora;
mod random;
mod walks;

use std::sync::Arc;

use whenstop::aggregate::{Label, RunRows};
use whenstop::decision::Action;
use whenstop::replay::replay;
use whenstop::rule::{Comparator, Condition, Rule};
use whenstop::signal::REGISTRY;
use whenstop::stack::{Cap, Clause, OnHit, Scope, Stack, parse_rule};
use whenstop::sweep::engine::{Extract, Formula, Plan};
use whenstop::transcript::Run;
use whenstop::verdict::Assumptions;

use random::{Dice, random_run, stack};

/// How many stacks are tried: few in CI, `WHENSTOP_TEST_STACKS=10000` for all.
fn n_stacks(few: usize) -> usize {
    std::env::var("WHENSTOP_TEST_STACKS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// Holds the engine against the fold, run by run: everything a replay says, and every field of the row.
fn check(stacks: &[Arc<Stack>], run: &Run, plan: &Plan, formulas: &[Formula]) -> usize {
    let extract = Extract::from_run(run, plan, Assumptions::default());
    let shared = RunRows::from_run(run, Assumptions::default());
    let mut stops = 0;
    for (stack, formula) in stacks.iter().zip(formulas) {
        let (engine, fold) = (formula.replay(&extract), replay(run, stack));
        let told = || format!("{:#?}\non {}", stack, run.header.run_id);
        assert_eq!(engine, fold, "{}", told());
        let (name, profile) = (Label::from(stack.name.as_str()), Label::from(""));
        let (row, expected) = (extract.row(&name, &engine), shared.row(&name, &profile, &fold));
        assert_eq!(row, expected, "{}", told());
        stops += usize::from(row.stop_point.is_some());
    }
    stops
}

fn formulas(stacks: &[Arc<Stack>]) -> (Plan, Vec<Formula>) {
    let mut plan = Plan::default();
    let formulas = stacks.iter().map(|stack| Formula::from_stack(stack, &mut plan).unwrap()).collect();
    (plan, formulas)
}

#[test]
fn on_random_runs_the_engine_says_what_the_fold_says() {
    let mut dice = Dice::new(7);
    let (mut stops, mut replays) = (0, 0);
    for batch in 0..n_stacks(600).div_ceil(50) {
        let stacks: Vec<Arc<Stack>> = (0..50).map(|nth| Arc::new(stack(&mut dice, nth))).collect();
        let (plan, formulas) = formulas(&stacks);
        for nth in 0..12 {
            stops += check(&stacks, &random_run(&mut dice, batch * 12 + nth), &plan, &formulas);
            replays += stacks.len();
        }
    }
    eprintln!("{replays} replays, {stops} of them stop early");
    assert!(stops > replays / 5, "{stops} of {replays}: too few to tell anything");
}

/// Every registered signal, with the options it cannot do without, in both directions.
#[test]
fn every_limit_of_every_signal_fires_where_the_fold_does() {
    let limits = [-1.0, 0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 7.0, 50.0, 150.0, 400.0];
    let mut stacks = Vec::new();
    for info in REGISTRY {
        let needed = match info.id {
            "tool.named" => "tool = \"a\"",
            "metric" => "metric = \"loss\"",
            "text.match" => "phrases = [\"done\"]",
            _ if info.options.contains(&"window") => "window = 3",
            _ => "",
        };
        for comparator in Comparator::ALL {
            for limit in limits {
                let rule = parse_rule("t", info.id, comparator, limit, needed).unwrap();
                let clauses = vec![Clause::stop_on(Condition::Rule(Box::new(rule)))];
                stacks.push(Arc::new(Stack {
                    name: format!("{} {comparator:?} {limit}", info.id),
                    clauses,
                    cap: None,
                }));
            }
        }
    }
    let (plan, formulas) = formulas(&stacks);
    let mut dice = Dice::new(5);
    for nth in 0..20 {
        check(&stacks, &random_run(&mut dice, nth), &plan, &formulas);
    }
}

#[test]
fn a_stack_that_does_more_than_stop_has_no_formula() {
    let mut dice = Dice::new(3);
    let stopping = || Clause::stop_on(Condition::Rule(Box::new(Rule::new(&REGISTRY[0], Comparator::AtLeast, 3.0))));
    let of = |clause: Clause, cap: Option<Cap>| Stack { name: "s".into(), clauses: vec![clause], cap };
    let mut plan = Plan::default();
    assert!(Formula::from_stack(&of(stopping(), None), &mut plan).is_some());
    for then in [Action::Warn, Action::Inject, Action::Deny, Action::Ask, Action::ForceFinal] {
        assert!(Formula::from_stack(&of(Clause { then, ..stopping() }, None), &mut plan).is_none());
    }
    assert!(Formula::from_stack(&of(Clause { scope: Scope::Round, ..stopping() }, None), &mut plan).is_none());
    let table = Cap { steps: 3, on_hit: OnHit::Table(Vec::new()), scope: Scope::Run };
    assert!(Formula::from_stack(&of(stopping(), Some(table)), &mut plan).is_none());
    assert!(Formula::from_stack(&stack(&mut dice, 0), &mut plan).is_some());
}
