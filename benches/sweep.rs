//! The engine against the fold, against the machine, and a corpus for its peers.
//!
//! `cargo bench --bench sweep [-- RUNS [ROUNDS [FOLDER]]]`: a grid of 16^5 stacks over RUNS synthetic runs (20,000), in ROUNDS
//! interleaved rounds (5). Prints nanoseconds a stack and run, of the processor where Linux tells them for each thread, and the
//! ratios of each round. With FOLDER it also writes what `benches/peer/sweep.py` reads: the readings of every step, the
//! limits, and what some of the stacks come to.
#![expect(clippy::print_stdout, reason = "a bench says what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use whenstop::aggregate::Unit;
use whenstop::replay::replay;
use whenstop::rule::{Comparator, Condition};
use whenstop::stack::{Clause, Stack, parse_rule};
use whenstop::sweep::engine::{AxisChoice, Extract, GridWalk, Join, Plan, Product, Runs};
use whenstop::transcript::{Event, Outcome, Run};
use whenstop::verdict::Assumptions;
use whenstop_dev::synth::{Suite, Synthesis};

/// Signals and their fifteen limits each; every axis is optional.
const AXES: [(&str, [f64; 15]); 5] = [
    ("steps", [4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 24.0, 28.0, 32.0, 40.0, 50.0, 60.0]),
    ("tokens.total", [1e4, 1.5e4, 2e4, 3e4, 4e4, 5e4, 6e4, 7e4, 8e4, 1e5, 1.2e5, 1.5e5, 2e5, 3e5, 5e5]),
    ("errors.streak", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]),
    ("call.streak", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]),
    ("call_result.count", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]),
];
/// Stacks that go through the fold, spread over the grid.
const FOLDED: u64 = 12;

fn product() -> Result<Product, Box<dyn Error>> {
    let mut axes = Vec::new();
    for (signal, limits) in AXES {
        let mut choices = vec![None];
        for limit in limits {
            let rule = parse_rule("bench", signal, Comparator::AtLeast, limit, "")?;
            choices.push(Some(AxisChoice::Clause(Clause::stop_on(Condition::Rule(Box::new(rule))))));
        }
        axes.push(choices);
    }
    Ok(Product::new(axes, Join::Any))
}

/// Nanoseconds this thread has been on a processor; of the clock where nobody tells.
fn now() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next()?.parse().ok());
    ns.unwrap_or_else(clock)
}

/// Nanoseconds of the clock.
fn clock() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn timed<T>(clock: fn() -> u64, work: impl FnOnce() -> T) -> (f64, T) {
    let before = clock();
    let made = work();
    ((clock() - before) as f64, made)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (n_runs, rounds) = (number(0, 20_000), number(1, 5));
    let product = product()?;
    let strictest = Arc::new(product.stack(product.len().unwrap_or_default() - 1, "s"));
    // Those that every stack can be judged on, so that its peers need not know of three values.
    let synthesis = Synthesis::new(Suite::Code, 1);
    let drawn = synthesis.runs(2 * n_runs).map(|run| without_checkpoints(&run));
    let is_judged =
        |run: &Run| run.grade.outcome != Outcome::Unknown && replay(run, &strictest).not_evaluable.is_empty();
    let runs: Vec<Run> = drawn.filter(is_judged).take(n_runs).collect();
    let (n_runs, steps) = (runs.len(), runs.iter().map(|run| run.steps().len()).sum::<usize>());
    let mut plan = Plan::default();
    let atoms = GridWalk::plan(&product, &mut plan).ok_or("rules that stop")?;
    let (reading, extracts) =
        timed(now, || runs.iter().map(|run| Extract::from_run(run, &plan, Assumptions::default())).collect::<Vec<_>>());
    let columns = Runs::from_extracts(&extracts, Unit::Tokens);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let (building, walk) = one.install(|| timed(now, || GridWalk::new(&product, &atoms, &columns)));
    let walk = walk.ok_or("recordings that lack too many things")?;
    let stacks = product.len().unwrap_or_default();
    println!("{n_runs} runs, {steps} steps, {stacks} stacks of five axes");
    println!(
        "reading every signal once: {:.1} ns a step and signal; columns: {:.1} ns a run and limit",
        reading / (steps * AXES.len()) as f64,
        building / (n_runs * 75) as f64
    );
    let pairs = stacks as f64 * n_runs as f64;
    let folded: Vec<(u64, Arc<Stack>)> = (1..=FOLDED)
        .map(|nth| nth * (stacks / (FOLDED + 1)))
        .map(|at| (at, Arc::new(product.stack(at, "s"))))
        .collect();
    let mut lines = Vec::new();
    for round in 1..=rounds {
        let (engine, tallies) = one.install(|| timed(now, || walk.chunks(0, walk.n_chunks())));
        let (fold, told) = timed(now, || {
            let of = |stack: &Arc<Stack>| runs.iter().filter(|run| replay(run, stack).stop.is_some()).count() as u64;
            folded.iter().map(|(at, stack)| (*at, of(stack))).collect::<Vec<_>>()
        });
        for (at, stopped) in &told {
            let tally = tallies.iter().find(|(index, _)| index == at).map(|(_, tally)| tally.stops);
            assert_eq!(tally, Some(*stopped), "stack {at}: engine and fold");
        }
        let (bound, _) = timed(now, || stream(n_runs, 75));
        let (wall_one, first) = timed(clock, || one.install(|| walk.chunks(0, walk.n_chunks())));
        let (wall_two, second) = timed(clock, || two.install(|| walk.chunks(0, walk.n_chunks())));
        assert_eq!(first, second, "one thread and two");
        let engine = engine / pairs;
        let fold = fold / (FOLDED as f64 * n_runs as f64);
        let bound = bound / (75.0 * STREAMED as f64 * n_runs as f64);
        println!(
            "round {round}: engine {engine:.4} ns a stack and run ({:.2} s in all), fold {fold:.1} ns, ratio {:.0}; reading \
            columns from the cache {bound:.4} ns, so at {:.0} % of the bound; clock: one thread {:.2} s, two {:.2} s, ratio {:.2}",
            engine * pairs / 1e9,
            fold / engine,
            100.0 * bound / engine,
            wall_one / 1e9,
            wall_two / 1e9,
            wall_one / wall_two
        );
        lines.push([engine, fold, fold / engine, bound / engine, wall_one / wall_two]);
    }
    let of = |at: usize| median(lines.iter().map(|line| line[at]).collect());
    println!(
        "medians of {rounds}: engine {:.4} ns, fold {:.1} ns, fold/engine {:.0}, bound/engine {:.2}, two threads {:.2}",
        of(0),
        of(1),
        of(2),
        of(3),
        of(4)
    );
    if let Some(folder) = arguments.get(2) {
        write_peer(Path::new(folder), &extracts, &plan, &product, &one.install(|| walk.chunks(0, walk.n_chunks())))?;
    }
    Ok(())
}

/// A run whose state nobody graded along the way: the fast path, and what most recordings are.
fn without_checkpoints(run: &Run) -> Run {
    let mut draft = run.to_draft();
    draft.events.retain(|event| !matches!(event, Event::Checkpoint(_)));
    draft.grade.secured_step = None;
    Run::new(draft)
}

/// So often every column is read.
const STREAMED: usize = 200;

/// Adds up columns block by block, as the walk meets them: the least that any way of looking at every run can take.
fn stream(n_runs: usize, columns: usize) -> u64 {
    let columns: Vec<Vec<u32>> = (0..columns).map(|at| vec![u32::try_from(at).unwrap_or(0); n_runs]).collect();
    let arch = pulp::Arch::new();
    let mut all = 0;
    for block in (0..n_runs).step_by(2048) {
        for _ in 0..STREAMED {
            for column in &columns {
                let block = &column[block..n_runs.min(block + 2048)];
                all += arch.dispatch(
                    #[inline(always)]
                    || {
                        let mut sums = [0_u32; 32];
                        let (chunks, _) = block.as_chunks::<32>();
                        for chunk in chunks {
                            for (sum, value) in sums.iter_mut().zip(chunk) {
                                *sum = sum.wrapping_add(*value);
                            }
                        }
                        sums.iter().map(|sum| u64::from(*sum)).sum::<u64>()
                    },
                );
            }
        }
    }
    black_box(all)
}

/// `readings.csv`, `limits.csv` and `stacks.csv`.
fn write_peer(
    folder: &Path,
    extracts: &[Extract],
    plan: &Plan,
    product: &Product,
    tallies: &[(u64, whenstop::sweep::engine::Tally)],
) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let names: Vec<&str> = plan.features().iter().map(|feature| feature.rule.signal.id).collect();
    let mut text = format!("run,success,is_last,{}\n", names.join(","));
    for (nth, on) in extracts.iter().enumerate() {
        let Some(success) = on.shared().facts().outcome().grade() else { continue };
        let series: Vec<Vec<Option<f64>>> = (0..names.len()).map(|at| on.readings(at).collect()).collect();
        let n = series.first().map_or(0, Vec::len);
        for at in 0..n {
            // A stop at the last point, or after it, is no early stop.
            write!(text, "{nth},{},{}", u8::from(success), u8::from(at + 1 == n))?;
            for readings in &series {
                write!(text, ",{}", readings[at].map_or(String::new(), |reading| reading.to_string()))?;
            }
            text.push('\n');
        }
    }
    std::fs::write(folder.join("readings.csv"), text)?;
    let limits = AXES.map(|(signal, limits)| format!("{signal},{}\n", limits.map(|limit| limit.to_string()).join(",")));
    std::fs::write(folder.join("limits.csv"), limits.concat())?;
    let mut text = String::from("stack,choices,stops,killed,spent\n");
    for (index, tally) in tallies.iter().step_by(tallies.len() / 500) {
        let choices: Vec<String> = product.choices(*index).iter().map(ToString::to_string).collect();
        writeln!(text, "{index},{},{},{},{}", choices.join(" "), tally.stops, tally.killed, tally.spent)?;
    }
    Ok(std::fs::write(folder.join("stacks.csv"), text)?)
}
