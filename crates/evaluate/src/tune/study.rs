//! The recordings to tune on, by task, with what each limit of each family would do to each run.

use std::collections::BTreeMap;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::Family;
use crate::aggregate::{Contribution, LEVEL, Picked, PrintedRun, Totals, Unit, fingerprint};
use crate::replay::Holding;
use crate::rule::Comparator;
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::{Moment, Outcome, Point};
use crate::verdict::Verdict;

/// A family is left out if its signal cannot be read on this share of runs or more. Below it, the successes among them
/// count as killed by the family's rules.
pub const UNREADABLE: f64 = 0.05;

/// The runs of one task.
#[derive(Clone, Debug)]
pub struct TaskRuns {
    /// Its suite; empty if it has none.
    pub suite: String,
    /// Its name.
    pub task: String,
    /// Indices of its runs.
    pub runs: Range<usize>,
    /// The successful run that represents it, picked by a hash of its name. `None` if none succeeded.
    pub picked: Option<usize>,
    /// Its rank in hash order, for halves and folds.
    pub rank: usize,
}

/// One run to tune on: what the engine reads of it, and the result of a stop after each step.
pub struct StudyRun {
    on: Extract,
    /// One entry for each step after which a stop would be early, that is, before everything recorded has happened.
    ends: Vec<End>,
    recorded: Option<f64>,
    /// What an oracle would save.
    possible: Option<f64>,
}

/// A stop after the tools of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    point: Point,
    /// Model calls paid for by then.
    steps: u64,
    /// Spent by then. 0 if the run does not record it, and never read.
    spent: f64,
    verdict: Verdict,
}

/// What becomes of a run under a rule or a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is not stopped early.
    Untouched,
    /// It is stopped early at this point.
    Stopped(Point),
    /// Some rule cannot be evaluated on it.
    Unread,
}

impl StudyRun {
    fn new(on: Extract, unit: Unit) -> Self {
        let unstopped = Contribution::of_stop(on.shared(), None, unit).and_then(|run| run.amounts);
        let ledger = on.shared().ledger();
        let end = |point: Point| {
            let by = ledger.until(point);
            End {
                point,
                steps: by.steps,
                spent: unit.of_amounts(by).unwrap_or_default(),
                verdict: on.shared().course().verdict(Some(point)),
            }
        };
        let ends = on.early_points(Moment::AfterTools).map(end).collect();
        Self {
            ends,
            recorded: unstopped.map(|amounts| amounts.recorded).or_else(|| on.amount(None, unit)),
            possible: unstopped.and_then(|amounts| amounts.possible),
            on,
        }
    }

    /// What the engine reads of it.
    pub fn extract(&self) -> &Extract {
        &self.on
    }

    /// The recorded outcome.
    pub fn outcome(&self) -> Outcome {
        self.on.shared().outcome()
    }

    /// Total spent, in the study's unit; `None` if the recording does not tell.
    pub fn recorded(&self) -> Option<f64> {
        self.recorded
    }

    /// Whether a stop at an end loses a recorded success.
    pub(super) fn kills(&self, end: usize) -> bool {
        self.ends[end].verdict.is_fes()
    }

    /// Not spent because of a stop at an end.
    pub(super) fn saved(&self, end: usize) -> f64 {
        self.recorded.map_or(0.0, |recorded| (recorded - self.ends[end].spent).max(0.0))
    }

    /// Model calls paid for at an end.
    pub(super) fn steps_paid(&self, end: usize) -> u64 {
        self.ends[end].steps
    }

    /// Number of ends.
    pub(super) fn n_ends(&self) -> usize {
        self.ends.len()
    }

    /// The same as [`Contribution::of_stop`], looked up where the stop is after the tools.
    fn contribution(&self, stop: Option<Point>, unit: Unit) -> Option<Contribution> {
        let known = stop.and_then(|stop| self.ends.binary_search_by_key(&stop, |end| end.point).ok());
        let Some(End { spent, verdict, .. }) = known.map(|end| self.ends[end]) else {
            return Contribution::of_stop(self.on.shared(), stop, unit);
        };
        Contribution::new(self.outcome(), verdict, true, self.recorded.map(|of| (of, Some(spent), self.possible)))
    }
}

/// The runs to tune on.
pub struct Study {
    runs: Vec<StudyRun>,
    tasks: Vec<TaskRuns>,
    families: Vec<Family>,
    /// For each family and run, the readings that exceed all earlier ones, each with its end.
    marks: Vec<Vec<Vec<(f64, u32)>>>,
    /// For each family, its feature in an extract.
    features: Vec<usize>,
    /// For each family and run, whether its rules cannot be evaluated.
    is_unread: Vec<Vec<bool>>,
    /// Families left out because their signal cannot be read on too many runs, with the number of those runs.
    unread: Vec<(String, usize)>,
    unit: Unit,
}

/// The totals of a strategy by task.
#[derive(Clone, Debug, Default)]
pub struct TaskTotals {
    /// Totals by task index, in task order.
    pub tasks: Vec<(usize, Totals)>,
    /// How much the rates depend on what was chosen, if tasks are rated under different choices.
    pub spread: Spread,
}

/// Standard errors from the choice of a strategy, which depends on the tasks it was chosen on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    killed: f64,
    task_rate: f64,
    saved: f64,
}

impl Spread {
    /// The delete-a-group jackknife, from the killed share, the killed share by task and the saved share on all tasks of
    /// what was chosen without each group.
    pub(super) fn of(rates: &[[Option<f64>; 3]]) -> Self {
        let of = |nth: usize| {
            let rates: Vec<f64> = rates.iter().filter_map(|rates| rates[nth]).collect();
            let n = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / n;
            let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
            if rates.is_empty() { 0.0 } else { ((n - 1.0) / n * squares).sqrt() }
        };
        Self { killed: of(0), task_rate: of(1), saved: of(2) }
    }
}

impl FromIterator<(usize, Totals)> for TaskTotals {
    fn from_iter<I: IntoIterator<Item = (usize, Totals)>>(tasks: I) -> Self {
        Self { tasks: tasks.into_iter().collect(), spread: Spread::default() }
    }
}

impl TaskTotals {
    /// The killed share, the killed share by task, and the saved share.
    pub(super) fn rates(&self) -> [Option<f64>; 3] {
        let losses: Vec<f64> = self.tasks.iter().filter_map(|(_, totals)| totals.killed_rate()).collect();
        let all = self.all();
        let task_rate = (!losses.is_empty()).then(|| losses.iter().sum::<f64>() / losses.len() as f64);
        [all.killed_rate(), task_rate, all.saved_ratio()]
    }

    /// The share of all successful runs that are killed, with its interval.
    pub fn killed(&self) -> Estimate {
        self.estimate(|totals| Some(totals.killed)).widened(self.spread.killed).within(0.0, 1.0)
    }

    fn estimate(&self, of: impl Fn(&Totals) -> Option<ClusterSums>) -> Estimate {
        ratio_estimate(&self.tasks.iter().filter_map(|(_, totals)| of(totals)).collect::<Vec<_>>(), LEVEL)
    }

    /// The mean over tasks of the share of their successful runs that is killed: the rate that is certified.
    pub fn task_rate(&self) -> Estimate {
        let loss = |totals: &Totals| Some(ClusterSums::of_runs([(totals.killed_rate()?, 1.0)]));
        self.estimate(loss).widened(self.spread.task_rate).within(0.0, 1.0)
    }

    /// Useful saving over the recorded amount, with its interval.
    pub fn saved(&self) -> Estimate {
        if self.tasks.iter().any(|(_, totals)| totals.unlimited > 0) {
            return Estimate::UNDEFINED;
        }
        let saved = self.estimate(|totals| Some(totals.saved)).widened(self.spread.saved);
        // Nothing saves more than an oracle.
        let most = self.all().oracle_ratio().filter(|most| saved.value.is_some_and(|value| value <= *most));
        saved.within(f64::NEG_INFINITY, most.unwrap_or(1.0))
    }

    /// Relative change in the spending per success, against the same runs without stopping: -0.1 is a tenth less.
    /// `None` if it is not known.
    pub fn cost_of_success(&self) -> Option<f64> {
        self.all().cost_of_success().map(|ratio| ratio - 1.0)
    }

    /// The totals of all tasks together.
    pub fn all(&self) -> Totals {
        let mut all = Totals::default();
        self.tasks.iter().for_each(|(_, totals)| all.merge(totals));
        all
    }
}

/// What a strategy does to the runs of one suite and model.
#[derive(Clone, Debug)]
pub struct Stratum {
    /// The suite; empty if there is none.
    pub suite: String,
    /// The model; `None` if it is not recorded.
    pub model: Option<String>,
    /// The totals.
    pub totals: TaskTotals,
}

impl Study {
    /// A plan for what the rules of these families read after the tools.
    pub fn plan(families: &[Family]) -> Plan {
        let mut plan = Plan::default();
        for rule in families.iter().map(Family::first_rule) {
            plan.feature(rule, Moment::AfterTools);
            rule.needs().for_each(|need| {
                plan.need(need);
            });
        }
        plan
    }

    /// Sorts the runs. `extracts` must be made with `plan`, which contains [`Study::plan`]. Families that cannot be read
    /// on too many runs are left out, whatever the outcome of those runs.
    pub fn new(extracts: Vec<Extract>, families: Vec<Family>, plan: &Plan) -> Self {
        let share =
            |unit| extracts.iter().filter(|on| on.amount(None, unit).is_some()).count() as f64 / extracts.len() as f64;
        let unit = Unit::best(share(Unit::CostUsd), share(Unit::Tokens));
        let mut runs: Vec<StudyRun> = extracts.into_iter().map(|on| StudyRun::new(on, unit)).collect();
        runs.sort_by(|a, b| {
            let (a, b) = (a.on.shared(), b.on.shared());
            (a.cluster(), a.run_id()).cmp(&(b.cluster(), b.run_id()))
        });
        let mut study = Self {
            tasks: tasks(&runs),
            runs,
            families: Vec::new(),
            marks: Vec::new(),
            features: Vec::new(),
            is_unread: Vec::new(),
            unread: Vec::new(),
            unit,
        };
        for family in families {
            study.add(family, plan);
        }
        study
    }

    fn add(&mut self, family: Family, plan: &Plan) {
        let rule = family.first_rule();
        let feature = plan.place(rule, Moment::AfterTools).expect("the plan reads the signals of the families");
        let lacks = |run: &StudyRun| rule.needs().any(|need| run.on.holding(need) != Holding::Throughout);
        let is_unread: Vec<bool> = self.runs.iter().map(lacks).collect();
        let n_unread = is_unread.iter().filter(|is_unread| **is_unread).count();
        if n_unread as f64 > UNREADABLE * self.runs.len() as f64 {
            self.unread.push((rule.signal.id.to_owned(), n_unread));
            return;
        }
        let marks = |(run, is_unread): (&StudyRun, &bool)| {
            if *is_unread { Vec::new() } else { marks(run.on.early_readings(feature), &family) }
        };
        self.marks.push(self.runs.iter().zip(&is_unread).map(marks).collect());
        self.features.push(feature);
        self.is_unread.push(is_unread);
        self.families.push(family);
    }

    /// The same study, with savings in `unit`.
    #[must_use]
    pub fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self.runs = self.runs.into_iter().map(|run| StudyRun::new(run.on, unit)).collect();
        self
    }

    /// The runs, ordered by suite, task and name.
    pub fn runs(&self) -> &[StudyRun] {
        &self.runs
    }

    /// The tasks, ordered by suite and name.
    pub fn tasks(&self) -> &[TaskRuns] {
        &self.tasks
    }

    /// The families that are used.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Families that were left out, with the number of runs on which they cannot be read.
    pub fn unread(&self) -> &[(String, usize)] {
        &self.unread
    }

    /// The runs on which a family cannot be read, by index. Their successes count as killed by all of its limits.
    pub fn unread_by(&self, family: usize) -> impl Iterator<Item = usize> {
        self.is_unread[family].iter().enumerate().filter(|(_, is_unread)| **is_unread).map(|(run, _)| run)
    }

    /// How many runs name no task and count as tasks of their own.
    pub fn without_task(&self) -> usize {
        self.runs.iter().filter(|run| !run.on.shared().has_task()).count()
    }

    /// Whether the runs with an outcome were picked by length, or by what the families read.
    pub fn picked(&self) -> Option<Picked> {
        let mut runs = vec![(0, false); self.runs.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            for run in task.runs.clone() {
                runs[run] = (at, self.runs[run].outcome().grade().is_some());
            }
        }
        let steps = self.runs.iter().map(|run| (run.on.shared().ledger().whole().steps as f64).ln_1p()).collect();
        let mut facts: Vec<(String, Vec<f64>)> = vec![("steps".to_owned(), steps)];
        for (family, marks) in self.families.iter().zip(&self.marks) {
            let last = marks.iter().map(|marks| marks.last().map_or(0.0, |(reading, _)| reading.max(0.0).ln_1p()));
            facts.push((family.first_rule().signal.id.to_owned(), last.collect()));
        }
        Picked::of_readings(&runs, &facts)
    }

    /// The unit of the savings.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// A fingerprint of the runs: the same as that of every other certificate of these recordings.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.runs.iter().map(|run| {
            let shared = run.on.shared();
            PrintedRun {
                cluster: shared.cluster(),
                run_id: shared.run_id(),
                steps: shared.ledger().whole().steps,
                outcome: run.outcome(),
            }
        }))
    }

    /// The end at which the family's rule at `limit` first fires on a run that it can read.
    pub(super) fn first(&self, family: usize, limit: f64, run: usize) -> Option<usize> {
        let marks = &self.marks[family][run];
        let comparator = self.families[family].first_rule().comparator;
        let at = marks.partition_point(|(reading, _)| !comparator.passes(*reading, limit));
        marks.get(at).map(|(_, end)| *end as usize)
    }

    /// Whether the family's rules cannot be evaluated on a run.
    pub(super) fn is_unread(&self, family: usize, run: usize) -> bool {
        self.is_unread[family][run]
    }

    /// What becomes of a run that is stopped at this end, if at any.
    pub(super) fn fate_at(&self, run: usize, end: Option<usize>) -> Fate {
        end.map_or(Fate::Untouched, |end| Fate::Stopped(self.runs[run].ends[end].point))
    }

    /// Whether the limit would fire at some reading from `low` to `high`.
    pub(super) fn fires_within(&self, family: usize, limit: f64, low: f64, high: f64) -> bool {
        let comparator = self.families[family].first_rule().comparator;
        comparator.passes(low, limit) || comparator.passes(high, limit)
    }

    /// The readings of a family's signal at the ends of a run; NaN where it has none.
    pub(super) fn readings(&self, family: usize, run: usize) -> impl Iterator<Item = f64> {
        self.runs[run].on.early_readings(self.features[family])
    }

    /// The lowest and the highest reading of a family's signal at any end of any run that it can read; `None` if there
    /// is no reading.
    pub fn range(&self, family: usize) -> Option<(f64, f64)> {
        let runs = (0..self.runs.len()).filter(|run| !self.is_unread(family, *run));
        let readings = runs.flat_map(|run| self.readings(family, run)).filter(|reading| !reading.is_nan());
        readings.fold(None, |range, reading| match range {
            None => Some((reading, reading)),
            Some((low, high)) => Some((reading.min(low), reading.max(high))),
        })
    }

    /// What one run adds to the totals of a strategy; nothing if it is ungraded or a rule cannot be evaluated.
    pub fn run_totals(&self, run: usize, fate: Fate) -> Totals {
        let stop = match fate {
            Fate::Unread => return Totals::default(),
            Fate::Untouched => None,
            Fate::Stopped(point) => Some(point),
        };
        let mut totals = Totals::default();
        self.runs[run].contribution(stop, self.unit).iter().for_each(|run| totals.add(run));
        totals
    }

    /// Whether a strategy loses the success of a run, or may: a rule that cannot be evaluated on it might have fired.
    pub(super) fn loses(&self, run: usize, fate: Fate) -> bool {
        let of = &self.runs[run];
        of.outcome() == Outcome::Success
            && match fate {
                Fate::Untouched => false,
                Fate::Stopped(point) => of.on.shared().course().verdict(Some(point)).is_fes(),
                Fate::Unread => !of.ends.is_empty(),
            }
    }

    /// The totals of several tasks, where `fate` says what becomes of each run.
    pub fn totals(&self, tasks: &[usize], fate: impl Fn(usize) -> Fate) -> TaskTotals {
        self.totals_of(tasks, |run| self.run_totals(run, fate(run)))
    }

    /// Combines the totals of single runs by task.
    pub(super) fn totals_of(&self, tasks: &[usize], totals: impl Fn(usize) -> Totals) -> TaskTotals {
        let of_task = |task: &usize| {
            let mut all = Totals::default();
            self.tasks[*task].runs.clone().for_each(|run| all.merge(&totals(run)));
            (*task, all)
        };
        tasks.iter().map(of_task).collect()
    }

    /// The totals by suite and model, in name order.
    pub fn strata(&self, totals: impl Fn(usize) -> Totals) -> Vec<Stratum> {
        let mut strata: BTreeMap<(&str, Option<&str>), BTreeMap<usize, Totals>> = BTreeMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            for run in task.runs.clone() {
                let stratum = strata.entry((&task.suite, self.runs[run].on.shared().model())).or_default();
                stratum.entry(at).or_default().merge(&totals(run));
            }
        }
        let stratum = |((suite, model), tasks): ((&str, Option<&str>), BTreeMap<usize, Totals>)| Stratum {
            suite: suite.to_owned(),
            model: model.map(str::to_owned),
            totals: tasks.into_iter().collect(),
        };
        strata.into_iter().map(stratum).collect()
    }

    /// What an oracle saves, over what was recorded: it stops every failure before its first step, and every success
    /// when it was secured.
    pub fn oracle(&self) -> Option<f64> {
        self.totals(&self.all_tasks(), |_| Fate::Untouched).all().oracle_ratio()
    }

    /// Indices of all tasks.
    pub fn all_tasks(&self) -> Vec<usize> {
        (0..self.tasks.len()).collect()
    }

    /// How many of the tasks have a success.
    pub fn with_success(&self, tasks: &[usize]) -> u64 {
        tasks.iter().filter(|task| self.tasks[**task].picked.is_some()).count() as u64
    }
}

/// Readings that exceed all earlier ones: strictly rising, or strictly falling if the limit is an upper one.
fn marks(readings: impl Iterator<Item = f64>, family: &Family) -> Vec<(f64, u32)> {
    let falls = matches!(family.first_rule().comparator, Comparator::AtMost | Comparator::LessThan);
    let mut marks: Vec<(f64, u32)> = Vec::new();
    for (reading, at) in readings.zip(0_u32..).filter(|(reading, _)| !reading.is_nan()) {
        if marks.last().is_none_or(|(last, _)| if falls { reading < *last } else { reading > *last }) {
            marks.push((reading, at));
        }
    }
    marks
}

/// Groups sorted runs into tasks.
fn tasks(runs: &[StudyRun]) -> Vec<TaskRuns> {
    let mut tasks: Vec<TaskRuns> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let (suite, name) = run.on.shared().cluster();
        match tasks.last_mut().filter(|task| task.suite == suite && task.task == name) {
            Some(task) => task.runs.end = at + 1,
            None => tasks.push(TaskRuns {
                suite: suite.to_owned(),
                task: name.to_owned(),
                runs: at..at + 1,
                picked: None,
                rank: 0,
            }),
        }
    }
    let hash = |task: &TaskRuns| xxh3_64(format!("{}\u{1f}{}", task.suite, task.task).as_bytes());
    for task in &mut tasks {
        let successes: Vec<usize> = task.runs.clone().filter(|run| runs[*run].outcome() == Outcome::Success).collect();
        let nth = hash(task).checked_rem(successes.len() as u64).and_then(|nth| usize::try_from(nth).ok());
        task.picked = nth.map(|nth| successes[nth]);
    }
    let mut order: Vec<(u64, usize)> = tasks.iter().map(|task| xxh3_64(&hash(task).to_le_bytes())).zip(0..).collect();
    order.sort_unstable();
    for (rank, (_, at)) in order.into_iter().enumerate() {
        tasks[at].rank = rank;
    }
    tasks
}
