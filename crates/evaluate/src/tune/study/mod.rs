//! The recordings to tune on, by task, with what each limit of each family would do to each run.

mod run;
mod tasks;
mod totals;

use super::Family;
use crate::aggregate::{BestUnit, MeasuredRun, Picked, PrintedRun, Unit, fingerprint};
use crate::replay::Holding;
use crate::rule::{Comparator, Rule};
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::Moment;
pub(super) use run::EndIx;
pub use run::{Fate, StudyRun};
pub use tasks::TaskRuns;
use tasks::tasks;
pub use totals::{Choosing, Stratum, TaskTotals};

/// A family is left out if its signal cannot be read on this share of runs or more. Below it, the successes among them
/// count as killed by the family's rules.
pub const UNREADABLE: f64 = 0.05;

/// A limit of the catalogue: its family, and its place among the limits of that family, from cautious to bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitIx {
    /// The family's index.
    pub family: usize,
    /// The limit's index within the family.
    pub limit: usize,
}

/// The runs to tune on.
pub struct Study {
    runs: Vec<StudyRun>,
    tasks: Vec<TaskRuns>,
    families: Vec<Family>,
    /// For each family and run, the readings that exceed all earlier ones, each with its end.
    marks: Vec<Vec<Vec<(f64, EndIx)>>>,
    /// For each family, its feature in an extract.
    features: Vec<usize>,
    /// For each family and run, whether its rules cannot be evaluated.
    is_unread: Vec<Vec<bool>>,
    /// Families left out because their signal cannot be read on too many runs, with the number of those runs.
    unread: Vec<(String, usize)>,
    unit: Unit,
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
        let measured: Vec<MeasuredRun> = extracts.iter().map(|on| MeasuredRun::of_run(on.shared())).collect();
        let unit = BestUnit::of_runs(&measured).unit;
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

    /// What was read of each run, ordered by suite, task and name.
    pub fn into_extracts(self) -> Vec<Extract> {
        self.runs.into_iter().map(|run| run.on).collect()
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

    /// The rule at a limit of the catalogue.
    pub fn rule(&self, at: LimitIx) -> Rule {
        self.families[at.family].rule(at.limit)
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
    pub(in crate::tune) fn first(&self, family: usize, limit: f64, run: usize) -> Option<EndIx> {
        let marks = &self.marks[family][run];
        let comparator = self.families[family].first_rule().comparator;
        let at = marks.partition_point(|(reading, _)| !comparator.passes(*reading, limit));
        marks.get(at).map(|(_, end)| *end)
    }

    /// Whether the family's rules cannot be evaluated on a run.
    pub(in crate::tune) fn is_unread(&self, family: usize, run: usize) -> bool {
        self.is_unread[family][run]
    }

    /// What becomes of a run that is stopped at this end, if at any.
    pub(in crate::tune) fn fate_at(&self, run: usize, end: Option<EndIx>) -> Fate {
        end.map_or(Fate::Untouched, |end| Fate::Stopped(self.runs[run].point_at(end)))
    }

    /// Whether the limit would fire at some reading from `low` to `high`.
    pub(in crate::tune) fn fires_within(&self, family: usize, limit: f64, low: f64, high: f64) -> bool {
        let comparator = self.families[family].first_rule().comparator;
        comparator.passes(low, limit) || comparator.passes(high, limit)
    }

    /// The readings of a family's signal at the ends of a run; NaN where it has none.
    pub(in crate::tune) fn readings(&self, family: usize, run: usize) -> impl Iterator<Item = f64> {
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

    /// Indices of all tasks.
    pub fn all_tasks(&self) -> Vec<usize> {
        (0..self.tasks.len()).collect()
    }

    /// How many of the tasks have a success.
    pub fn with_success(&self, tasks: &[usize]) -> u64 {
        tasks.iter().filter(|task| self.tasks[**task].has_success).count() as u64
    }
}

/// Readings that exceed all earlier ones: strictly rising, or strictly falling if the limit is an upper one.
fn marks(readings: impl Iterator<Item = f64>, family: &Family) -> Vec<(f64, EndIx)> {
    let falls = matches!(family.first_rule().comparator, Comparator::AtMost | Comparator::LessThan);
    let mut marks: Vec<(f64, EndIx)> = Vec::new();
    for (reading, at) in readings.zip((0..).map(EndIx::new)).filter(|(reading, _)| !reading.is_nan()) {
        if marks.last().is_none_or(|(last, _)| if falls { reading < *last } else { reading > *last }) {
            marks.push((reading, at));
        }
    }
    marks
}
