//! One number, one definition: what `compare`, `sweep` and `tune` compute for the same stack on the same runs. Each
//! has its own way to the sums (rows of a replay, whole numbers of the engine, effects by task), and all of them must
//! arrive at the same share of successes killed, the same saving, the same cost of a success and the same oracle.

use std::path::Path;
use std::sync::Arc;

use whenstop::aggregate::{Count, Group, Rows, Summary, Unit, by_stack, oracle_share, summarise};
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::framework::ConfigText;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::stack::{Stack, StackFile};
use whenstop::sweep::engine::{AxisChoice, Extract, GridWalk, Join, Plan, Product, Runs};
use whenstop::transcript::Run;
use whenstop::tune::{Contenders, KeptReadings, LimitIx, Study, StudyRun, TaskTotals, catalogue};
use whenstop::verdict::Assumptions;

use crate::shared;

/// Every n-th limit of a family is tried.
const EVERY: usize = 37;

/// What one of the commands says of one stack in one unit; `None` if it is undefined.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    killed: Option<f64>,
    saved: Option<f64>,
    cost_of_success: Option<f64>,
    oracle: Option<f64>,
}

impl Numbers {
    /// The names of the numbers that differ, beyond the rounding of sums in another order.
    fn differing(self, other: Self) -> Vec<&'static str> {
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
            _ => false,
        };
        let pairs = [
            ("killed", self.killed, other.killed),
            ("saved", self.saved, other.saved),
            ("cost of a success", self.cost_of_success, other.cost_of_success),
            ("oracle", self.oracle, other.oracle),
        ];
        pairs.into_iter().filter(|(_, a, b)| !same(*a, *b)).map(|(name, ..)| name).collect()
    }
}

/// By the rows of the replay, as `compare` prints them.
fn compared(group: &Group<'_>, summary: &Summary, unit: Unit) -> Numbers {
    let ratios = summary.ratios_in(unit);
    Numbers {
        killed: summary.estimates.fes_rate.high.value,
        saved: ratios.useful.low.value,
        cost_of_success: ratios.cost_of_success.ratio.value,
        oracle: oracle_share(group, unit).oracle,
    }
}

/// The same with the share of all judged successes killed, which the engine counts.
fn pooled(numbers: Numbers, summary: &Summary) -> Numbers {
    let (killed, successes) = (summary.counted(Count::KilledMax), summary.counted(Count::JudgedSuccesses));
    Numbers { killed: (successes > 0).then(|| killed as f64 / successes as f64), ..numbers }
}

/// By the engine, as `sweep` prints them; `None` for a stack that does more than stop.
fn swept(stack: &Stack, runs: &[Run], unit: Unit) -> Option<Numbers> {
    let clauses = stack.clauses.iter().map(|clause| vec![Some(AxisChoice::Clause(clause.clone()))]);
    let caps = stack.cap.iter().map(|cap| vec![Some(AxisChoice::Cap(cap.clone()))]);
    let product = Product::new(clauses.chain(caps).collect(), Join::Any);
    let mut plan = Plan::default();
    let atoms = GridWalk::plan(&product, &mut plan)?;
    let extracts: Vec<Extract> = runs.iter().map(|run| Extract::from_run(run, &plan, Assumptions::default())).collect();
    let columns = Runs::from_extracts(&extracts, unit);
    let walk = GridWalk::new(&product, &atoms, &columns)?;
    let (_, tally) = walk.chunks(0, walk.n_chunks()).into_iter().next()?;
    Some(Numbers {
        killed: tally.killed_rate(),
        saved: tally.useful_ratio(),
        cost_of_success: tally.cost_of_success(),
        oracle: None,
    })
}

/// By the sums over tasks, as `tune` prints them.
fn tuned(totals: &TaskTotals) -> Numbers {
    Numbers {
        killed: totals.killed().value,
        saved: totals.saved().value,
        cost_of_success: totals.cost_of_success().map(|change| 1.0 + change),
        oracle: totals.all().oracle_ratio(),
    }
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The strategies of a stack file.
fn strategies(name: &str) -> (StackFile, Strategies) {
    let file = StackFile::parse(name, &std::fs::read_to_string(path(name)).unwrap()).unwrap();
    let read_config = |config: &str| {
        let text = std::fs::read_to_string(path(name).with_file_name(config)).unwrap();
        Ok(ConfigText { path: config.to_owned(), text })
    };
    let strategies = catalog::strategies(&file, &read_config).unwrap();
    (file, strategies)
}

fn rows(runs: &[Run], strategies: &Strategies) -> Rows {
    let comparison = Comparison::new(strategies, Assumptions::default());
    runs.iter().flat_map(|run| comparison.rows_of(run).0).collect()
}

/// Differences found on some runs, and how many pairs of numbers were held against each other.
#[derive(Default)]
struct Found {
    differences: Vec<String>,
    compared: usize,
}

impl Found {
    fn hold(&mut self, what: &str, unit: Unit, ours: Numbers, theirs: Numbers) {
        self.compared += 1;
        for name in ours.differing(theirs) {
            self.differences.push(format!("{what} in {}: {name}\n  {ours:?}\n  {theirs:?}", unit.name()));
        }
    }
}

fn study(runs: &[Run]) -> Study {
    let families = catalogue("steps");
    let plan = Study::plan(&families);
    let runs = runs.iter().map(|run| StudyRun::from_run(run, &families, &plan, KeptReadings::Records)).collect();
    Study::new(runs, families)
}

/// Every stack of a file, under all three.
fn hold_file(found: &mut Found, name: &str, runs: &[Run]) {
    let (file, strategies) = strategies(name);
    let rows = rows(runs, &strategies);
    let groups = by_stack(&rows);
    let summaries = summarise(&groups, None);
    let mut study = study(runs);
    for unit in Unit::ALL {
        study = study.in_unit(unit);
        let contenders = Contenders::new(&rows, &study);
        for (at, (group, summary)) in groups.iter().zip(&summaries).enumerate() {
            let ours = compared(group, summary, unit);
            let what = format!("{name}, {}: compare and tune", group.stack);
            found.hold(&what, unit, ours, tuned(&contenders.contender(at).totals(&study.all_tasks())));
            if let Some(numbers) = file.stack(&group.stack).and_then(|stack| swept(&stack, runs, unit)) {
                let what = format!("{name}, {}: compare and sweep", group.stack);
                found.hold(&what, unit, pooled(ours, summary), Numbers { oracle: ours.oracle, ..numbers });
            }
        }
    }
}

/// Some limits of every family of the catalogue, under all three.
fn hold_catalogue(found: &mut Found, runs: &[Run]) {
    let mut study = study(runs);
    for family in 0..study.families().len() {
        for limit in (0..study.families()[family].limits().len()).rev().step_by(EVERY).take(8) {
            let stack: Arc<Stack> = study.families()[family].stack("limit", limit);
            let rule = study.families()[family].rule(limit).to_string();
            let rows = rows(runs, &vec![stack.clone()]);
            let groups = by_stack(&rows);
            let summaries = summarise(&groups, None);
            for unit in Unit::ALL {
                study = study.in_unit(unit);
                let ours = compared(&groups[0], &summaries[0], unit);
                let totals = study.totals(&study.all_tasks(), |run| study.fate(LimitIx { family, limit }, run));
                found.hold(&format!("{rule}: compare and tune"), unit, ours, tuned(&totals));
                if family == 0 {
                    // Steps can be read everywhere: this is the oracle that `tune` prints.
                    let printed = Numbers { oracle: study.oracle(), ..ours };
                    found.hold(&format!("{rule}: compare and tune's line"), unit, ours, printed);
                }
                let numbers = swept(&stack, runs, unit).unwrap();
                found.hold(
                    &format!("{rule}: compare and sweep"),
                    unit,
                    pooled(ours, &summaries[0]),
                    Numbers { oracle: ours.oracle, ..numbers },
                );
            }
        }
    }
}

fn check(runs: &[Run]) {
    let mut found = Found::default();
    for name in [
        "fixtures/stacks/example.toml",
        "fixtures/stacks/five-systems.toml",
        "src/cli/local/stacks.toml",
        "src/cli/inputs/starter.toml",
    ] {
        hold_file(&mut found, name, runs);
    }
    hold_catalogue(&mut found, runs);
    eprintln!("{} runs, {} pairs of numbers, {} differences", runs.len(), found.compared, found.differences.len());
    assert!(found.compared > 100, "{}", found.compared);
    assert!(found.differences.is_empty(), "{}", found.differences.join("\n"));
}

fn read(folder: &Path) -> Vec<Run> {
    Corpus::open(&[folder.to_owned()], ReadOptions::default()).unwrap().runs().unwrap().0
}

#[test]
fn compare_sweep_and_tune_agree_on_the_bundled_recordings() {
    check(&read(&path("traces/synthetic")));
}

/// Checkpoints, rescued failures, lost successes, runs without a grade: all that the definitions are about.
#[test]
fn compare_sweep_and_tune_agree_on_every_verdict() {
    check(&read(&path("traces/verdicts")));
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn compare_sweep_and_tune_agree_on_real_recordings() {
    for corpus in ["tau2", "intercode", "mini-swe-agent"] {
        let folder = shared::folder("corpora").join(corpus);
        let one_of = usize::try_from(shared::one_of(&folder)).unwrap();
        let runs: Vec<Run> = read(&folder).into_iter().step_by(one_of).collect();
        eprint!("{corpus}: ");
        check(&runs);
    }
}
