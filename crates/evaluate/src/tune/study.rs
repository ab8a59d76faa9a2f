//! The recordings to tune on, by task, with where each limit of each family would stop each run.

use std::collections::BTreeMap;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::{Family, Track};
use crate::aggregate::{LEVEL, Unit};
use crate::rule::Comparator;
use crate::stats::{ClusterSums, Estimate, ratio_estimate};
use crate::transcript::Outcome;

/// A family is left out if its signal cannot be read on this share of runs or more. Below it, those runs are left out.
const UNREADABLE: f64 = 0.05;

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

/// The runs to tune on.
#[derive(Clone, Debug)]
pub struct Study {
    tracks: Vec<Track>,
    tasks: Vec<TaskRuns>,
    families: Vec<Family>,
    /// For each family, the index of its signal among the readings of a track.
    places: Vec<usize>,
    /// For each family and run, the readings that exceed all earlier ones, each with its end.
    marks: Vec<Vec<Vec<(f64, u32)>>>,
    /// Families left out because their signal cannot be read on too many runs, with the number of those runs.
    unread: Vec<(String, usize)>,
    /// Number of runs left out because some family's signal cannot be read on them.
    left_out: usize,
    unit: Unit,
}

/// What a strategy does to one task's runs: successes killed, and what was saved on failures and after success.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effect {
    /// Killed over successes.
    pub killed: ClusterSums,
    /// Usefully saved over recorded.
    pub saved: ClusterSums,
    /// Not spent over all stops, including those that killed a success.
    pub unspent: f64,
    /// Runs ended early.
    pub stops: u64,
    /// Failed runs ended early.
    pub true_stops: u64,
}

impl Effect {
    /// The effect of a stop on one run: whether it kills, and what is not spent because of it. An ungraded run counts
    /// for nothing.
    pub(super) fn of_run(outcome: Outcome, recorded: Option<f64>, stop: Option<(bool, f64)>) -> Self {
        let mut effect = Self::default();
        if outcome == Outcome::Unknown {
            return effect;
        }
        let kills = stop.is_some_and(|(kills, _)| kills);
        effect.stops = u64::from(stop.is_some());
        if outcome == Outcome::Success {
            effect.killed.add(f64::from(u8::from(kills)), 1.0);
        } else {
            effect.true_stops = u64::from(stop.is_some());
        }
        if let Some(recorded) = recorded {
            let saved = stop.map_or(0.0, |(_, saved)| saved);
            effect.saved.add(if kills { 0.0 } else { saved }, recorded);
            effect.unspent = saved;
        }
        effect
    }

    /// Adds the effect on another run.
    fn plus(&mut self, run: &Self) {
        self.killed.merge(&run.killed);
        self.saved.merge(&run.saved);
        self.unspent += run.unspent;
        self.stops += run.stops;
        self.true_stops += run.true_stops;
    }

    /// Share of the task's successes that are killed; `None` without a success.
    pub fn loss(&self) -> Option<f64> {
        (self.killed.denominator > 0.0).then(|| self.killed.numerator / self.killed.denominator)
    }
}

/// What a strategy does to several tasks, in task order.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Effects by task index.
    pub tasks: Vec<(usize, Effect)>,
}

impl Effects {
    /// The share of all successful runs that are killed, with its interval.
    pub fn killed(&self) -> Estimate {
        ratio_estimate(&self.tasks.iter().map(|(_, effect)| effect.killed).collect::<Vec<_>>(), LEVEL)
    }

    /// The mean over tasks of the share of their successful runs that is killed: the rate that is certified.
    pub fn task_rate(&self) -> Estimate {
        let losses = self.tasks.iter().filter_map(|(_, effect)| effect.loss());
        ratio_estimate(&losses.map(|loss| ClusterSums::of_runs([(loss, 1.0)])).collect::<Vec<_>>(), LEVEL)
    }

    /// Useful saving over the recorded amount, with its interval.
    pub fn saved(&self) -> Estimate {
        ratio_estimate(&self.tasks.iter().map(|(_, effect)| effect.saved).collect::<Vec<_>>(), LEVEL)
    }

    /// Relative change in the spending per remaining success, against the same runs without stopping: -0.1 is a tenth
    /// less. `None` if no success is left or no amount is recorded.
    pub fn cost_of_success(&self) -> Option<f64> {
        let recorded = self.sum(|effect| effect.saved.denominator);
        let successes = self.sum(|effect| effect.killed.denominator);
        let spent = (recorded - self.sum(|effect| effect.unspent)) / recorded;
        let kept = (successes - self.sum(|effect| effect.killed.numerator)) / successes;
        Some(spent / kept - 1.0).filter(|change| change.is_finite())
    }

    /// The sum of one count over the tasks.
    pub fn sum(&self, of: impl Fn(&Effect) -> f64) -> f64 {
        self.tasks.iter().map(|(_, effect)| of(effect)).sum()
    }
}

/// What a strategy does to the runs of one suite and model.
#[derive(Clone, Debug)]
pub struct Stratum {
    /// The suite; empty if there is none.
    pub suite: String,
    /// The model; `None` if it is not recorded.
    pub model: Option<String>,
    /// The effects.
    pub effects: Effects,
}

impl Study {
    /// Sorts the runs. `tracks` must watch the signals of `families`, in the same order. Families that cannot be read
    /// on too many runs are left out, then the runs on which one of the remaining families cannot be read. Neither
    /// step looks at an outcome.
    pub fn new(mut tracks: Vec<Track>, families: Vec<Family>) -> Self {
        let mut kept = Vec::new();
        let mut unread = Vec::new();
        for (at, family) in families.into_iter().enumerate() {
            let dark = tracks.iter().filter(|track| !track.is_readable(at)).count();
            if dark as f64 > UNREADABLE * tracks.len() as f64 {
                unread.push((family.first_rule().signal.id.to_owned(), dark));
            } else {
                kept.push((at, family));
            }
        }
        let all = tracks.len();
        tracks.retain(|track| kept.iter().all(|(at, _)| track.is_readable(*at)));
        let left_out = all - tracks.len();
        tracks.sort_by(|a, b| (&a.suite, &a.task, &a.run_id).cmp(&(&b.suite, &b.task, &b.run_id)));
        let known = |unit| tracks.iter().filter(|track| track.recorded(unit).is_some()).count();
        let share = |unit| known(unit) as f64 / tracks.len() as f64;
        let unit = Unit::best(share(Unit::CostUsd), share(Unit::Tokens));
        let marks = kept
            .iter()
            .map(|(at, family)| tracks.iter().map(|track| marks(track.readings(*at), family)).collect())
            .collect();
        let tasks = tasks(&tracks);
        let (places, families) = kept.into_iter().unzip();
        Self { tracks, tasks, families, places, marks, unread, left_out, unit }
    }

    /// The same study, with savings in `unit`.
    #[must_use]
    pub fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// The runs, ordered by suite, task and name.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
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

    /// Number of runs left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The unit of the savings.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Where the family's rule at `limit` first fires on a run.
    pub fn first(&self, family: usize, limit: f64, run: usize) -> Option<usize> {
        let marks = self.marks.get(family)?.get(run)?;
        let comparator = self.families.get(family)?.first_rule().comparator;
        let at = marks.partition_point(|(reading, _)| !comparator.passes(*reading, limit));
        marks.get(at).map(|(_, end)| *end as usize)
    }

    /// Whether the limit would fire at some reading from `low` to `high`.
    pub(super) fn fires_within(&self, family: usize, limit: f64, low: f64, high: f64) -> bool {
        let comparator = self.families.get(family).map(|family| family.first_rule().comparator);
        comparator.is_some_and(|comparator| comparator.passes(low, limit) || comparator.passes(high, limit))
    }

    /// The readings of a family's signal at the ends of a run.
    pub fn readings(&self, family: usize, run: usize) -> &[f64] {
        self.places.get(family).zip(self.tracks.get(run)).map_or(&[], |(place, track)| track.readings(*place))
    }

    /// The lowest and the highest reading of a family's signal at any end of any run; `None` if there is no reading.
    pub fn range(&self, family: usize) -> Option<(f64, f64)> {
        let at = *self.places.get(family)?;
        let readings = self.tracks.iter().flat_map(|track| track.readings(at)).filter(|reading| !reading.is_nan());
        readings.fold(None, |range, reading| match range {
            None => Some((*reading, *reading)),
            Some((low, high)) => Some((reading.min(low), reading.max(high))),
        })
    }

    /// The effect of ending each run of a task where `stop` says.
    pub fn effect(&self, task: usize, stop: &impl Fn(usize) -> Option<usize>) -> Effect {
        let mut effect = Effect::default();
        let Some(task) = self.tasks.get(task) else { return effect };
        for run in task.runs.clone() {
            effect.plus(&self.run_effect(run, stop(run)));
        }
        effect
    }

    /// The effect of ending one run there, or of not ending it.
    pub fn run_effect(&self, run: usize, stop: Option<usize>) -> Effect {
        let Some(track) = self.tracks.get(run) else { return Effect::default() };
        let stopped = stop.and_then(|at| {
            let end = track.ends().get(at)?;
            Some((end.kills, track.saved(at, self.unit).unwrap_or(0.0)))
        });
        Effect::of_run(track.outcome, track.recorded(self.unit), stopped)
    }

    /// The effects of ending the runs of several tasks where `stop` says.
    pub fn effects(&self, tasks: &[usize], stop: impl Fn(usize) -> Option<usize>) -> Effects {
        Effects { tasks: tasks.iter().map(|task| (*task, self.effect(*task, &stop))).collect() }
    }

    /// Combines the effects on single runs by task.
    pub(super) fn effects_of(&self, tasks: &[usize], effect: impl Fn(usize) -> Effect) -> Effects {
        let of_task = |task: &usize| {
            let mut all = Effect::default();
            let runs = self.tasks.get(*task).map_or(0..0, |task| task.runs.clone());
            runs.for_each(|run| all.plus(&effect(run)));
            (*task, all)
        };
        Effects { tasks: tasks.iter().map(of_task).collect() }
    }

    /// The effects by suite and model, in name order.
    pub fn strata(&self, effect: impl Fn(usize) -> Effect) -> Vec<Stratum> {
        let mut strata: BTreeMap<(&str, Option<&str>), BTreeMap<usize, Effect>> = BTreeMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            for run in task.runs.clone() {
                let Some(track) = self.tracks.get(run) else { continue };
                let effects = strata.entry((&track.suite, track.model.as_deref())).or_default();
                effects.entry(at).or_default().plus(&effect(run));
            }
        }
        let stratum = |((suite, model), effects): ((&str, Option<&str>), BTreeMap<usize, Effect>)| Stratum {
            suite: suite.to_owned(),
            model: model.map(str::to_owned),
            effects: Effects { tasks: effects.into_iter().collect() },
        };
        strata.into_iter().map(stratum).collect()
    }

    /// What an oracle saves, over what was recorded: it stops every failure before its first step, and every success
    /// when it was secured.
    pub fn oracle(&self) -> Option<f64> {
        let (mut possible, mut recorded) = (0.0, 0.0);
        for track in self.tracks.iter().filter(|track| track.outcome != Outcome::Unknown) {
            if let (Some(part), Some(whole)) = (track.possible(self.unit), track.recorded(self.unit)) {
                possible += part;
                recorded += whole;
            }
        }
        (recorded > 0.0).then(|| possible / recorded)
    }

    /// Indices of all tasks.
    pub fn all_tasks(&self) -> Vec<usize> {
        (0..self.tasks.len()).collect()
    }

    /// How many of the tasks have a success.
    pub fn with_success(&self, tasks: &[usize]) -> u64 {
        tasks.iter().filter(|task| self.tasks.get(**task).is_some_and(|task| task.picked.is_some())).count() as u64
    }
}

/// Readings that exceed all earlier ones: strictly rising, or strictly falling if the limit is an upper one.
fn marks(readings: &[f64], family: &Family) -> Vec<(f64, u32)> {
    let falls = matches!(family.first_rule().comparator, Comparator::AtMost | Comparator::LessThan);
    let mut marks: Vec<(f64, u32)> = Vec::new();
    for (at, reading) in readings.iter().enumerate().filter(|(_, reading)| !reading.is_nan()) {
        let beats = |last: &(f64, u32)| if falls { *reading < last.0 } else { *reading > last.0 };
        if let (true, Ok(at)) = (marks.last().is_none_or(beats), u32::try_from(at)) {
            marks.push((*reading, at));
        }
    }
    marks
}

/// Groups sorted runs into tasks.
fn tasks(tracks: &[Track]) -> Vec<TaskRuns> {
    let mut tasks: Vec<TaskRuns> = Vec::new();
    for (at, track) in tracks.iter().enumerate() {
        match tasks.last_mut().filter(|task| task.suite == track.suite && task.task == track.task) {
            Some(task) => task.runs.end = at + 1,
            None => tasks.push(TaskRuns {
                suite: track.suite.clone(),
                task: track.task.clone(),
                runs: at..at + 1,
                picked: None,
                rank: 0,
            }),
        }
    }
    let hash = |task: &TaskRuns| xxh3_64(format!("{}\u{1f}{}", task.suite, task.task).as_bytes());
    for task in &mut tasks {
        let is_success = |run: &usize| tracks.get(*run).is_some_and(|track| track.outcome == Outcome::Success);
        let successes: Vec<usize> = task.runs.clone().filter(is_success).collect();
        let nth = hash(task).checked_rem(successes.len() as u64).and_then(|nth| usize::try_from(nth).ok());
        task.picked = nth.and_then(|nth| successes.get(nth)).copied();
    }
    let mut order: Vec<(u64, usize)> = tasks.iter().map(|task| xxh3_64(&hash(task).to_le_bytes())).zip(0..).collect();
    order.sort_unstable();
    for (rank, (_, at)) in order.into_iter().enumerate() {
        if let Some(task) = tasks.get_mut(at) {
            task.rank = rank;
        }
    }
    tasks
}
