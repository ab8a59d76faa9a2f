//! The engine against the fold: random stacks over random runs, and over the real corpora.

use std::sync::Arc;

use whenstop::aggregate::{Label, Rows, RunRows, Unit};
use whenstop::decision::{Action, RuleName};
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::replay::replay;
use whenstop::rule::{Comparator, Condition, Rule};
use whenstop::signal::REGISTRY;
use whenstop::stack::{Cap, Clause, OnHit, Scope, Stack, parse_rule};
use whenstop::sweep::engine::{Choice, Extract, Formula, Join, Plan, Product, Runs, Tally, Walk};
use whenstop::transcript::sketch::draft;
use whenstop::transcript::{Checkpoint, EndCause, Event, Instant, Moment, Outcome, Run, Usd};
use whenstop::verdict::{Assumptions, Verdict};

use crate::shared;

/// Random numbers by splitmix64: the same on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}

/// A rule over any signal, with options where it takes some.
pub(crate) fn rule(dice: &mut Dice) -> Rule {
    let info = dice.of(REGISTRY);
    let needed = match info.id {
        "tool.named" => "tool = \"a\"",
        "metric" => "metric = \"loss\"",
        "text.match" => *dice.of(&["phrases = [\"done\"]", "phrases = [\"error\", \"sorry\"]", "regex = \"[0-9]+\""]),
        _ if info.options.contains(&"window") && dice.one_in(3) => "window = 4",
        _ if info.options.contains(&"identity") && dice.one_in(3) => "identity = \"name\"",
        _ => "",
    };
    let limits: &[f64] = match info.unit {
        "tokens" => &[0.0, 40.0, 150.0, 400.0, 5_000.0, 60_000.0],
        "share" => &[0.0, 0.1, 0.25, 0.5, 0.75, 1.0],
        "usd" => &[0.0, 0.01, 0.1, 0.5],
        "s" => &[0.0, 3.0, 20.0, 90.0, 600.0],
        _ => &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 16.0],
    };
    let comparator = match dice.below(8) {
        0 => Comparator::AtMost,
        1 => Comparator::LessThan,
        2 => Comparator::Equals,
        3 => Comparator::MoreThan,
        _ => Comparator::AtLeast,
    };
    parse_rule("random", info.id, comparator, *dice.of(limits), needed).unwrap()
}

/// A condition of any kind, nested at most three deep.
pub(crate) fn condition(dice: &mut Dice, depth: usize) -> Condition {
    let kind = if depth == 0 { 0 } else { dice.below(10) };
    let parts = |dice: &mut Dice| (0..=dice.below(3)).map(|_| condition(dice, depth - 1)).collect::<Vec<_>>();
    match kind {
        1 => Condition::Any(parts(dice)),
        2 => Condition::All { parts: parts(dice), latched: false },
        3 => Condition::All { parts: parts(dice), latched: true },
        4 => Condition::Not(Box::new(condition(dice, depth - 1))),
        5 => {
            let parts = parts(dice);
            Condition::Some { least: 1 + dice.below(parts.len()), parts }
        }
        6 => Condition::Lately {
            within: 1 + u32::try_from(dice.below(4)).unwrap(),
            part: Box::new(condition(dice, depth - 1)),
        },
        _ => Condition::Rule(Box::new(rule(dice))),
    }
}

/// A stack of clauses that stop, sometimes with a cap.
pub(crate) fn stack(dice: &mut Dice, nth: usize) -> Stack {
    let clauses: Vec<Clause> = (0..dice.below(5))
        .map(|at| {
            let condition = condition(dice, 3);
            // Now and then two clauses share a name.
            let name = if dice.one_in(10) { "same".to_owned() } else { format!("{at}: {condition}") };
            Clause {
                name: RuleName::new(name),
                at: if dice.one_in(3) { *dice.of(&Moment::ALL) } else { Moment::AfterTools },
                strikes: if dice.one_in(5) { 2 } else { 1 },
                cooldown: u32::from(dice.one_in(8)),
                then: if dice.one_in(9) { Action::Fail } else { Action::Stop },
                scope: Scope::Run,
                condition,
            }
        })
        .collect();
    let steps = u32::try_from(1 + dice.below(20)).unwrap();
    let cap = (clauses.is_empty() || dice.one_in(3)).then_some(Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run });
    Stack { name: format!("stack {nth}"), clauses, cap }
}

/// A run of up to two hundred steps, with whatever a recording may have or lack.
pub(crate) fn random_run(dice: &mut Dice, nth: usize) -> Run {
    let usage = dice.below(3);
    let n = if dice.one_in(12) { 60 + dice.below(140) } else { dice.below(24) };
    let steps: Vec<String> = (0..n)
        .map(|_| {
            let call = *dice.of(&[
                "a(1)=x",
                "a(1)=x",
                "a(2)=y",
                "b=x",
                "b=error!",
                "c!",
                "c?",
                "a(1)=x+b!",
                "-done",
                "-sorry,_12",
                "d~",
            ]);
            let tokens = if usage == 2 || (usage == 1 && dice.one_in(2)) {
                format!(" @{}", 1 + dice.below(90))
            } else {
                String::new()
            };
            let asks = if dice.one_in(9) { "#more " } else { "" };
            format!("{asks}{call}{tokens}")
        })
        .collect();
    let mut draft = draft(&steps.join(" "));
    draft.header.run_id = format!("run-{nth}");
    draft.header.task_id = (!dice.one_in(6)).then(|| format!("task-{}", nth / 3));
    draft.header.redacted = dice.one_in(8);
    draft.grade.end = *dice.of(&EndCause::ALL);
    draft.grade.outcome = *dice.of(&[Outcome::Success, Outcome::Success, Outcome::Failure, Outcome::Unknown]);
    draft.grade.secured_step = (n > 0 && dice.one_in(5)).then(|| dice.below(n));
    let (costs, times, checkpoints) = (dice.below(3), dice.one_in(2), dice.one_in(4));
    let mut events = Vec::new();
    for (at, mut event) in draft.events.drain(..).enumerate() {
        if let Event::Message(message) = &mut event {
            if costs == 2 || (costs == 1 && dice.one_in(2)) {
                message.cost = message.is_step().then(|| Usd(dice.below(90) as f64 / 1000.0));
            }
            message.ts = times.then(|| Instant(i64::try_from(at * 4_000 + dice.below(5_000)).unwrap()));
        }
        events.push(event);
        if checkpoints && dice.one_in(5) {
            events.push(Event::Checkpoint(Checkpoint { success: dice.one_in(2), score: None }));
        }
    }
    draft.events = events;
    Run::new(draft)
}

/// How many stacks are tried: few in CI, `WHENSTOP_TEST_STACKS=10000` for all.
fn n_stacks(few: usize) -> usize {
    std::env::var("WHENSTOP_TEST_STACKS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

/// Holds the engine against the fold, run by run: everything a replay says, and every field of the row.
fn check(stacks: &[Arc<Stack>], run: &Run, plan: &Plan, formulas: &[Formula]) -> usize {
    let extract = Extract::of(run, plan, Assumptions::default());
    let shared = RunRows::of(run, Assumptions::default());
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
    let formulas = stacks.iter().map(|stack| Formula::of(stack, &mut plan).unwrap()).collect();
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
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn on_the_real_corpora_the_engine_says_what_the_fold_says() {
    let mut dice = Dice::new(11);
    let all = n_stacks(60);
    for folder in shared::corpora() {
        let one_of = if all > 60 { shared::one_of(&folder) } else { shared::one_of(&folder) * 2 };
        let corpus = Corpus::open(std::slice::from_ref(&folder), ReadOptions::default()).unwrap();
        let stacks: Vec<Arc<Stack>> = (0..all.min(1_000)).map(|nth| Arc::new(stack(&mut dice, nth))).collect();
        let (plan, formulas) = formulas(&stacks);
        let (mut stops, mut runs) = (0, 0_u64);
        let work = |run: Run| {
            let taken = one_of == 1 || xxhash(&run.header.run_id).is_multiple_of(one_of);
            taken.then(|| check(&stacks, &run, &plan, &formulas))
        };
        corpus
            .process(work, |taken| {
                runs += u64::from(taken.is_some());
                stops += taken.unwrap_or(0);
            })
            .unwrap();
        eprintln!("{}: {runs} runs, {} stacks, {stops} early stops", folder.display(), stacks.len());
    }
}

/// A hash of a name, to take some runs of many.
fn xxhash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn a_stack_that_does_more_than_stop_has_no_formula() {
    let mut dice = Dice::new(3);
    let stopping = || Clause::stop_on(Condition::Rule(Box::new(Rule::new(&REGISTRY[0], Comparator::AtLeast, 3.0))));
    let of = |clause: Clause, cap: Option<Cap>| Stack { name: "s".into(), clauses: vec![clause], cap };
    let mut plan = Plan::default();
    assert!(Formula::of(&of(stopping(), None), &mut plan).is_some());
    for then in [Action::Warn, Action::Inject, Action::Deny, Action::Ask, Action::ForceFinal] {
        assert!(Formula::of(&of(Clause { then, ..stopping() }, None), &mut plan).is_none());
    }
    assert!(Formula::of(&of(Clause { scope: Scope::Round, ..stopping() }, None), &mut plan).is_none());
    let table = Cap { steps: 3, on_hit: OnHit::Table(Vec::new()), scope: Scope::Run };
    assert!(Formula::of(&of(stopping(), Some(table)), &mut plan).is_none());
    assert!(Formula::of(&stack(&mut dice, 0), &mut plan).is_some());
}

/// What a grid's walk says of each stack, against the sums over the rows of the fold.
fn check_walk(dice: &mut Dice, runs: &[Run], join: Join) -> usize {
    let limits = |dice: &mut Dice, parts: usize| {
        let template = loop {
            let template = condition(dice, parts);
            if join == Join::Any || !template.rules().is_empty() {
                break template;
            }
        };
        let mut axis: Vec<Option<Choice>> = vec![Some(Choice::Clause(Clause::stop_on(template)))];
        axis.extend(
            (0..dice.below(4)).map(|_| Some(Choice::Clause(Clause::stop_on(Condition::Rule(Box::new(rule(dice))))))),
        );
        if dice.one_in(2) {
            axis.push(None);
        }
        axis
    };
    let mut axes: Vec<Vec<Option<Choice>>> = (0..=dice.below(4)).map(|nth| limits(dice, nth.min(2))).collect();
    if join == Join::Any && dice.one_in(2) {
        let cap = |steps| Some(Choice::Cap(Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run }));
        axes.push(vec![cap(3), cap(9), None]);
    }
    let product = Product::new(axes, join);
    let mut plan = Plan::default();
    let atoms = Walk::plan(&product, &mut plan).unwrap();
    let extracts: Vec<Extract> = runs.iter().map(|run| Extract::of(run, &plan, Assumptions::default())).collect();
    let all = product.len().unwrap();
    let stacks: Vec<Arc<Stack>> = (0..all).map(|index| Arc::new(product.stack(index, "s"))).collect();
    let shared: Vec<RunRows> = runs.iter().map(|run| RunRows::of(run, Assumptions::default())).collect();
    let (name, profile) = (Label::from("s"), Label::from(""));
    let rows: Vec<Rows> = stacks
        .iter()
        .map(|stack| runs.iter().zip(&shared).map(|(run, of)| of.row(&name, &profile, &replay(run, stack))).collect())
        .collect();
    for unit in Unit::ALL {
        let columns = Runs::of(&extracts, unit);
        let walk = Walk::new(&product, &atoms, &columns).unwrap();
        let mut tallies = walk.chunks(0, walk.n_chunks());
        tallies.sort_by_key(|(index, _)| *index);
        assert!(tallies.iter().map(|(index, _)| *index).eq(0..all), "each stack once");
        for (((index, tally), rows), stack) in tallies.iter().zip(&rows).zip(&stacks) {
            if product.n_rules(*index) > 0 {
                assert_eq!(*tally, expected(rows, unit, columns.scale()), "{stack:#?} {unit:?}");
            }
        }
    }
    stacks.len()
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
    let choices = |dice: &mut Dice, n: usize| -> Vec<Option<Choice>> {
        (0..n).map(|_| Some(Choice::Clause(Clause::stop_on(Condition::Rule(Box::new(rule(dice))))))).collect()
    };
    let product = Product::new(vec![choices(&mut dice, 30), choices(&mut dice, 20), choices(&mut dice, 40)], Join::Any);
    let mut plan = Plan::default();
    let atoms = Walk::plan(&product, &mut plan).unwrap();
    let extracts: Vec<Extract> = runs.iter().map(|run| Extract::of(run, &plan, Assumptions::default())).collect();
    let columns = Runs::of(&extracts, Unit::Steps);
    let walk = Walk::new(&product, &atoms, &columns).unwrap();
    assert!(walk.n_chunks() > 2);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| walk.chunks(0, walk.n_chunks()))
    };
    assert_eq!(with(1), with(3));
}
