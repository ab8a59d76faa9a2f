//! Whether the runs with an outcome were picked: a rate over them is one of all runs only if nobody chose them for what
//! they did.

use std::collections::BTreeSet;

use super::{Group, MIN_KNOWN, RowView};
use crate::stats::distribution::normal_quantile;
use crate::transcript::Outcome;

/// The chance of a false alarm, over everything that is looked at.
const CHANCE: f64 = 0.001;
/// Fewer tasks than this tell no spread.
const TASKS: usize = 20;

/// How the runs with an outcome differ from the others, far beyond chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Picked {
    /// What they differ in.
    pub by: String,
    /// The mean of it among the runs with an outcome.
    pub graded: f64,
    /// The same among the others.
    pub ungraded: f64,
    /// Number of runs with an outcome.
    pub n_graded: usize,
    /// Number of runs.
    pub n: usize,
}

impl Picked {
    /// The first of `facts` in which graded runs differ from the others. `runs` has, for each run, its task and whether
    /// it has an outcome; each fact has a name and one number per run.
    ///
    /// The statistic of a fact is its covariance with "has an outcome"; the standard error adds up by task, so that
    /// grading whole tasks drawn at random is no alarm (a score test with clustered variance; Liang & Zeger 1986). The
    /// chance of a false alarm is shared by the facts. Nothing is looked at where almost all or no runs have an outcome.
    pub fn find(runs: &[(usize, bool)], facts: &[(String, Vec<f64>)]) -> Option<Self> {
        let n = runs.len();
        let n_graded = runs.iter().filter(|(_, is_graded)| *is_graded).count();
        let tasks = runs.iter().map(|(task, _)| task).collect::<BTreeSet<_>>().len();
        if n_graded == 0 || n_graded as f64 >= MIN_KNOWN * n as f64 || tasks < TASKS {
            return None;
        }
        let limit = normal_quantile(1.0 - 0.5 * CHANCE / facts.len().max(1) as f64);
        let share = n_graded as f64 / n as f64;
        let places = runs.iter().map(|(task, _)| task + 1).max().unwrap_or(0);
        let mut found = Vec::new();
        for (by, values) in facts {
            let mean = values.iter().sum::<f64>() / n as f64;
            let mut by_task = vec![0.0; places];
            for ((task, is_graded), value) in runs.iter().zip(values) {
                by_task[*task] += (f64::from(u8::from(*is_graded)) - share) * (value - mean);
            }
            let (sum, squares): (f64, f64) = (by_task.iter().sum(), by_task.iter().map(|part| part * part).sum());
            let z = sum.abs() / squares.sqrt();
            let mean_of = |wanted: bool| {
                let of: Vec<f64> =
                    runs.iter().zip(values).filter(|((_, is), _)| *is == wanted).map(|(_, value)| *value).collect();
                of.iter().sum::<f64>() / of.len() as f64
            };
            let told = Self { by: by.clone(), graded: mean_of(true), ungraded: mean_of(false), n_graded, n };
            if z > limit {
                found.push((z, told));
            }
        }
        found.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, told)| told)
    }

    /// The same for the stacks of a comparison, which stand for the same runs: facts are whether each stack stops a run,
    /// and how many steps it took.
    pub fn from_groups(groups: &[Group<'_>]) -> Option<Self> {
        let first = groups.first()?;
        let runs: Vec<(usize, bool)> =
            first.rows().map(|row| (row.task(), row.outcome() != Outcome::Unknown)).collect();
        let fact = |group: &Group<'_>, of: &dyn Fn(RowView<'_>) -> f64| group.rows().map(of).collect::<Vec<f64>>();
        let mut facts = vec![("steps".to_owned(), fact(first, &|row| (row.steps_recorded() as f64).ln_1p()))];
        for group in groups.iter().filter(|group| group.len() == runs.len()) {
            let stops = fact(group, &|row| f64::from(row.stopped_high()));
            if !facts.iter().any(|(_, known)| *known == stops) {
                facts.push((group.stack.to_string(), stops));
            }
        }
        Self::find(&runs, &facts).map(Self::in_words)
    }

    /// With what it differs in as words: `are longer than the others`.
    fn in_words(mut self) -> Self {
        self.by = if self.by == "steps" {
            self.length()
        } else {
            let share = |of: f64| format!("{:.0} %", 100.0 * of);
            format!("are stopped by `{}` in {}, the others in {}", self.by, share(self.graded), share(self.ungraded))
        };
        self
    }

    fn length(&self) -> String {
        format!("are {} than the others", if self.graded > self.ungraded { "longer" } else { "shorter" })
    }

    /// The same for facts that are the number of steps, called `steps`, and the highest or lowest readings of signals.
    pub fn from_readings(runs: &[(usize, bool)], facts: &[(String, Vec<f64>)]) -> Option<Self> {
        Self::find(runs, facts).map(|mut picked| {
            picked.by = match &*picked.by {
                "steps" => picked.length(),
                signal => {
                    let more = if picked.graded > picked.ungraded { "higher" } else { "lower" };
                    format!("read `{signal}` {more} than the others")
                }
            };
            picked
        })
    }

    /// What is wrong with them, in one sentence.
    pub fn sentence(&self) -> String {
        format!(
            "The {} of {} runs that have an outcome were picked: they {}, far beyond chance. What holds for them need not \
             hold for all runs; `whenstop labels PATH --template FILE` draws runs to grade at random.",
            self.n_graded, self.n, self.by
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::cluster_key;

    fn chance(seed: usize, run: usize) -> f64 {
        cluster_key(&format!("{seed}-{run}")) as f64 / u64::MAX as f64
    }

    /// 400 runs of 100 tasks; a tenth of the runs is stopped, those of some tasks more often.
    fn world(seed: usize) -> Vec<f64> {
        let often = |task: usize| chance(seed + 7000, task) * 0.2;
        (0..400).map(|run| f64::from(u8::from(chance(seed, run) < often(run / 4)))).collect()
    }

    fn is_found(seed: usize, is_graded: impl Fn(usize, f64) -> bool) -> bool {
        let stops = world(seed);
        let runs: Vec<(usize, bool)> =
            stops.iter().enumerate().map(|(run, stop)| (run / 4, is_graded(run, *stop))).collect();
        Picked::find(&runs, &[("s".to_owned(), stops)]).is_some()
    }

    #[test]
    fn picked_runs_are_noticed_and_runs_or_tasks_drawn_at_random_are_not() {
        let count = |is_found: &dyn Fn(usize) -> bool| (0..200).filter(|seed| is_found(*seed)).count();
        let stopped_first = count(&|seed| is_found(seed, |run, stop| stop > 0.0 || chance(seed + 900, run) < 0.1));
        assert!(stopped_first >= 198, "{stopped_first}");
        let by_run = count(&|seed| is_found(seed, |run, _| chance(seed + 900, run) < 0.3));
        assert!(by_run <= 2, "{by_run}");
        let by_task = count(&|seed| is_found(seed, |run, _| chance(seed + 900, run / 4) < 0.3));
        assert!(by_task <= 2, "{by_task}");
    }

    #[test]
    fn where_nearly_all_or_no_runs_are_graded_nothing_is_asked() {
        assert!(!is_found(1, |run, stop| stop > 0.0 || run != 0));
        assert!(!is_found(1, |_, _| false));
    }
}
