//! Classes of runs, and groups of trials.
//!
//! A **class** is what an answer is given for: the runs of one suite, of one model, or of one value of a field the user
//! names. A **group of trials** is what can stand for one another: runs of one task, by one model, under the same
//! settings. Limits, forecasts and benchmarks are by class; restarts and training groups are by group of trials.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::{Label, Row};
use crate::transcript::{EndCause, Moment, Outcome, Point, Run, Tokens, Usd};
use crate::verdict::{Amounts, Ledger};

/// What divides runs into classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All runs are of one class.
    #[default]
    Nothing,
    /// The suite.
    Suite,
    /// The model under test.
    Model,
    /// The field that the user named, which a reader keeps in the run's header.
    Field,
}

impl By {
    /// The class of a run; `None` if the recording does not say.
    pub fn label(self, run: &Run) -> Option<Label> {
        let header = &run.header;
        let named = match self {
            Self::Nothing => return Some("all runs".into()),
            Self::Suite => &header.suite,
            Self::Model => &header.model,
            Self::Field => &header.class,
        };
        named.as_deref().map(Label::from)
    }
}

/// The settings of a run, as far as they are recorded: its agent and what the reader kept of the framework's
/// configuration, by name. What names the run or adds up what it did is no setting.
pub fn settings(run: &Run) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    all.extend(run.header.agent.clone().map(|agent| ("agent".to_owned(), agent)));
    let meta = run.header.meta.as_ref().and_then(|meta| serde_json::from_str::<serde_json::Value>(meta.get()).ok());
    if let Some(serde_json::Value::Object(meta)) = meta {
        let is_setting = |name: &str| !name.ends_with("_id") && !RESULTS.iter().any(|part| name.contains(part));
        let kept = meta
            .into_iter()
            .filter(|(name, value)| name == "injection_task_id" || is_setting(name) && !value.is_null());
        all.extend(kept.map(|(name, value)| (name, value.to_string())));
    }
    all
}

/// Parts of the names of fields that say what a run did, or which of several it was.
const RESULTS: [&str; 10] =
    ["token", "total", "usage", "stats", "metrics", "duration", "seed", "num_trials", "timestamp", "hash"];

/// How well it is known what a stack did to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// It is known.
    #[default]
    Certain,
    /// Whether it stopped the run, or killed it, is not known.
    Doubtful,
    /// A rule of it could not be read on the run.
    Unread,
}

/// What one stack did to one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopped {
    /// Whether it ended the run early, or may have.
    pub early: bool,
    /// Whether it lost a recorded success. What cannot be told counts as lost; a run that nobody graded has none to lose.
    pub killed: bool,
    /// Whether the two above are known.
    pub certainty: Certainty,
    /// Spent by the stop; everything if there was none.
    pub spent: Amounts,
}

impl Stopped {
    /// Reads it from the row of a stack.
    pub fn from_row(row: &Row) -> Self {
        Self {
            early: row.stopped_high == 1,
            killed: row.killed_high == 1 && row.outcome == Outcome::Success,
            certainty: if row.unknown.unread {
                Certainty::Unread
            } else if row.stopped_low != row.stopped_high || row.killed_low != row.killed_high {
                Certainty::Doubtful
            } else {
                Certainty::Certain
            },
            spent: Amounts {
                steps: row.steps_at_stop,
                tokens: row.tokens_at_stop.map(Tokens),
                cost: row.cost_usd_at_stop.map(Usd),
                ms: row.ms_at_stop,
            },
        }
    }
}

/// One recorded run as a trial of its task: what it is, what became of it, and what each stack did to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The run.
    pub run_id: Label,
    /// Suite and task; a run without a task is a task of its own.
    pub task: (Label, Label),
    /// Its class; `None` if the recording does not say.
    pub class: Option<Label>,
    /// The model under test; empty if it is not recorded.
    pub model: Label,
    /// Its settings, by name.
    pub settings: BTreeMap<String, String>,
    /// Which trial of its task it is, as recorded.
    pub label: Option<Label>,
    /// When it began, in milliseconds since 1970.
    pub began: Option<i64>,
    /// Whether it did its task.
    pub outcome: Outcome,
    /// Why it ended.
    pub end: EndCause,
    /// What the whole recording spent.
    pub whole: Amounts,
    /// What was spent after the first reply that was cut off at its length; 0 if none was, and `None` if no reply says
    /// why it ended.
    pub after_truncated: Option<Amounts>,
    /// What each stack did, in the order of the stacks.
    pub under: Vec<Stopped>,
}

impl Trial {
    /// Reads a run and its rows, one per stack.
    pub fn from_run(run: &Run, rows: &[Row], by: By) -> Self {
        let (suite, task) = run.cluster();
        Self {
            run_id: run.header.run_id.as_str().into(),
            task: (suite.as_str().into(), task.as_str().into()),
            class: by.label(run),
            model: run.header.model.as_deref().unwrap_or_default().into(),
            settings: settings(run),
            label: run.header.trial.as_deref().map(Label::from),
            began: run.started_at().map(|at| at.0),
            outcome: run.grade.outcome,
            end: run.grade.end,
            whole: rows.first().map_or_else(|| Ledger::from_run(run).whole(), recorded),
            after_truncated: after_truncated(run),
            under: rows.iter().map(Stopped::from_row).collect(),
        }
    }

    /// Whether it succeeded; `None` if nobody graded it.
    pub fn success(&self) -> Option<bool> {
        self.outcome.grade()
    }
}

fn recorded(row: &Row) -> Amounts {
    Amounts {
        steps: row.steps_recorded,
        tokens: row.tokens_recorded.map(Tokens),
        cost: row.cost_usd_recorded.map(Usd),
        ms: row.ms_recorded,
    }
}

/// What was spent after the first reply that was cut off at its length.
fn after_truncated(run: &Run) -> Option<Amounts> {
    let mut is_said = false;
    for (step, reply) in run.replies().enumerate() {
        let Some(reason) = reply.finish_reason() else { continue };
        is_said = true;
        if matches!(reason, "length" | "max_tokens" | "MAX_TOKENS") {
            let ledger = Ledger::from_run(run);
            return Some(ledger.whole().less(ledger.until(Point::new(step, Moment::AfterResponse))));
        }
    }
    is_said.then(Amounts::default)
}

/// Trials that can stand for one another: their indices, in corpus order.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialGroup {
    /// Suite and task.
    pub task: (Label, Label),
    /// The model; empty if it is not recorded.
    pub model: Label,
    /// The indices of its trials.
    pub trials: Vec<usize>,
}

/// Trials by their settings.
type BySettings<'t> = BTreeMap<&'t BTreeMap<String, String>, Vec<usize>>;

/// The groups of trials of one task, by one model, under the same settings, by name; and the names of the settings in
/// which trials of one task and model differ.
pub fn groups(trials: &[Trial]) -> (Vec<TrialGroup>, BTreeSet<String>) {
    let mut by_task: BTreeMap<(&(Label, Label), &Label), BySettings<'_>> = BTreeMap::new();
    for (at, trial) in trials.iter().enumerate() {
        by_task.entry((&trial.task, &trial.model)).or_default().entry(&trial.settings).or_default().push(at);
    }
    let (mut groups, mut differing) = (Vec::new(), BTreeSet::new());
    for ((task, model), by_settings) in by_task {
        let first = by_settings.keys().next().copied();
        for settings in by_settings.keys() {
            differing.extend(first.into_iter().flat_map(|first| difference(first, settings)));
        }
        let of = |trials: Vec<usize>| TrialGroup { task: task.clone(), model: model.clone(), trials };
        groups.extend(by_settings.into_values().map(of));
    }
    (groups, differing)
}

fn difference<'a>(
    a: &'a BTreeMap<String, String>,
    b: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = String> + 'a {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|name| a.get(*name) != b.get(*name)).cloned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A graded trial of `steps` steps, stopped by one stack as said.
    pub(crate) fn trial(task: &str, model: &str, nth: usize, success: bool, steps: u64, stop: Option<u64>) -> Trial {
        let amounts = |steps| Amounts { steps, ..Amounts::default() };
        let under = Stopped {
            early: stop.is_some(),
            killed: stop.is_some() && success,
            spent: amounts(stop.unwrap_or(steps)),
            ..Stopped::default()
        };
        Trial {
            run_id: format!("{task}-{model}-{nth}").as_str().into(),
            task: ("".into(), task.into()),
            class: Some("all runs".into()),
            model: model.into(),
            settings: BTreeMap::new(),
            label: Some(nth.to_string().as_str().into()),
            began: None,
            outcome: if success { Outcome::Success } else { Outcome::Failure },
            end: EndCause::Unknown,
            whole: amounts(steps),
            after_truncated: None,
            under: vec![under],
        }
    }

    #[test]
    fn trials_with_other_settings_are_of_another_group() {
        let mut trials: Vec<Trial> = (0..4).map(|nth| trial("a", "m", nth, true, 3, None)).collect();
        trials.push(trial("a", "n", 0, true, 3, None));
        assert_eq!(groups(&trials).0.iter().map(|group| group.trials.len()).collect::<Vec<_>>(), [4, 1]);
        trials[3].settings.insert("temperature".to_owned(), "0.7".to_owned());
        let (groups, differing) = groups(&trials);
        assert_eq!(groups.iter().map(|group| group.trials.len()).collect::<Vec<_>>(), [3, 1, 1]);
        assert_eq!(differing.into_iter().collect::<Vec<_>>(), ["temperature"]);
    }
}
