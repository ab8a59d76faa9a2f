//! The recordings to tune on, by task, with what each limit of each family would do to each run.

mod readings;
mod run;
mod tasks;
mod totals;

use super::Family;
use crate::aggregate::{BestUnit, MeasuredRun, Picked, PrintedRun, Unit, fingerprint};
use crate::rule::Rule;
use crate::sweep::engine::Plan;
use crate::transcript::Moment;
pub use readings::{EndIx, KeptReadings};
pub use run::{Fate, StudyRun};
use tasks::tasks;
pub use tasks::{TaskRuns, names_too_few_tasks};
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
    /// For each family, its place among those that the runs were read for.
    places: Vec<usize>,
    /// For each family, the lowest and the highest reading of its signal at any end of any run that it can read.
    ranges: Vec<Option<(f64, f64)>>,
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
            rule.each_need(&mut |need| {
                plan.need(need);
            });
        }
        plan
    }

    /// Sorts the runs, which were read for `families`. Families that cannot be read on too many runs are left out,
    /// whatever the outcome of those runs.
    pub fn new(mut runs: Vec<StudyRun>, families: Vec<Family>) -> Self {
        let measured: Vec<MeasuredRun> =
            runs.iter().map(|run| MeasuredRun::from_facts(run.facts(), run.whole())).collect();
        let unit = BestUnit::from_runs(&measured).unit;
        runs.sort_by(|a, b| {
            let (a, b) = (a.facts(), b.facts());
            (a.cluster(), a.run_id()).cmp(&(b.cluster(), b.run_id()))
        });
        let mut study = Self {
            tasks: tasks(&runs),
            runs,
            families: Vec::new(),
            places: Vec::new(),
            ranges: Vec::new(),
            unread: Vec::new(),
            unit,
        };
        for (place, family) in families.into_iter().enumerate() {
            study.add(place, family);
        }
        study
    }

    fn add(&mut self, place: usize, family: Family) {
        let n_unread = self.runs.iter().filter(|run| run.readings().is_unread(place)).count();
        if n_unread as f64 > UNREADABLE * self.runs.len() as f64 {
            self.unread.push((family.first_rule().signal.id.to_owned(), n_unread));
            return;
        }
        let ranges = self.runs.iter().filter_map(|run| run.readings().range(place));
        self.ranges.push(ranges.reduce(|(low, high), run| (low.min(run.0), high.max(run.1))));
        self.places.push(place);
        self.families.push(family);
    }

    /// The same study, with savings in `unit`.
    #[must_use]
    pub fn in_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The runs, ordered by suite, task and name.
    pub fn into_runs(self) -> Vec<StudyRun> {
        self.runs
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
        (0..self.runs.len()).filter(move |run| self.is_unread(family, *run))
    }

    /// How many runs name no task and count as tasks of their own.
    pub fn without_task(&self) -> usize {
        self.runs.iter().filter(|run| !run.facts().has_task()).count()
    }

    /// Whether the runs with an outcome were picked by length, or by what the families read.
    pub fn picked(&self) -> Option<Picked> {
        let mut runs = vec![(0, false); self.runs.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            for run in task.runs.clone() {
                runs[run] = (at, self.runs[run].outcome().grade().is_some());
            }
        }
        let steps = self.runs.iter().map(|run| (run.whole().steps as f64).ln_1p()).collect();
        let mut facts: Vec<(String, Vec<f64>)> = vec![("steps".to_owned(), steps)];
        for (family, place) in self.families.iter().zip(&self.places) {
            let records = self.runs.iter().map(|run| run.readings().records(*place));
            let last = records.map(|records| records.last().map_or(0.0, |reading| reading.max(0.0).ln_1p()));
            facts.push((family.first_rule().signal.id.to_owned(), last.collect()));
        }
        Picked::from_readings(&runs, &facts)
    }

    /// The unit of the savings.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// A fingerprint of the runs: the same as that of every other certificate of these recordings.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.runs.iter().map(|run| {
            let facts = run.facts();
            PrintedRun {
                cluster: facts.cluster(),
                run_id: facts.run_id(),
                steps: run.whole().steps,
                outcome: facts.outcome(),
            }
        }))
    }

    /// The end at which the family's rule at `limit` first fires on a run that it can read.
    pub(in crate::tune) fn first(&self, family: usize, limit: f64, run: usize) -> Option<EndIx> {
        let comparator = self.families[family].first_rule().comparator;
        let fires = |reading| comparator.passes(reading, limit);
        self.runs[run].readings().first_end(self.places[family], fires)
    }

    /// Whether the family's rules cannot be evaluated on a run.
    pub(in crate::tune) fn is_unread(&self, family: usize, run: usize) -> bool {
        self.runs[run].readings().is_unread(self.places[family])
    }

    /// Whether the limit would fire at some reading from `low` to `high`.
    pub(in crate::tune) fn fires_within(&self, family: usize, limit: f64, low: f64, high: f64) -> bool {
        let comparator = self.families[family].first_rule().comparator;
        comparator.passes(low, limit) || comparator.passes(high, limit)
    }

    /// The readings of a family's signal at the ends of a run, NaN where it has none; none unless all were kept.
    pub(in crate::tune) fn readings(&self, family: usize, run: usize) -> &[f64] {
        self.runs[run].readings().all(self.places[family])
    }

    /// The lowest and the highest reading of a family's signal at any end of any run that it can read; `None` if there
    /// is no reading.
    pub fn range(&self, family: usize) -> Option<(f64, f64)> {
        self.ranges[family]
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
