//! The certificate of a corpus: the most aggressive setting that kills at most a share alpha of the successes, with
//! confidence 1 - delta; or what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::results::by_saving;
use crate::aggregate::{Group, LEVEL, RowView, Rows, RunEffect, Unit, by_stack, fingerprint, unit_of, useful_parts};
use crate::stats::certificate::{
    Calibration, Certificate, Certification, Promise, Rate, certify, certify_labelled, certify_unordered,
};
use crate::stats::label_certificate::{LabelDoubt, LabelledTask};
use crate::stats::multiplicity::holm;
use crate::stats::{self, ClusterSums, Estimate, ratio_estimate};
use crate::transcript::Outcome;
use crate::words::{self, chosen_percent, digits};

/// The order in which settings are tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// A walk from conservative to aggressive, fixed before the data were seen: indices of settings.
    Fixed(Vec<usize>),
    /// No order: Holm over all settings.
    Unordered {
        /// Indices of settings from least to most wanted, if they were ranked on other tasks; if `None`, they are
        /// ranked by the useful saving on the calibration runs, which Holm's method allows.
        preference: Option<Vec<usize>>,
    },
}

impl Ordering {
    /// The name on the certificate.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fixed(_) => "fixed-sequence",
            Self::Unordered { .. } => "unordered-holm",
        }
    }
}

/// One setting on the certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedSetting {
    /// Its name.
    pub name: String,
    /// Number of successful runs it stopped early.
    pub killed: u64,
    /// The mean over tasks of the share of successful runs it stopped early.
    pub task_rate: Estimate,
    /// The certified rate as observed, corrected if the labels have errors. NaN if undefined.
    pub risk: f64,
    /// The share of all successful runs it stopped early.
    pub pooled: f64,
    /// P-value of the hypothesis "the risk exceeds alpha".
    pub p: f64,
    /// The p-value adjusted by Holm over all settings; only without an order.
    pub p_adjusted: Option<f64>,
    /// True if the walk reached this setting and it passed.
    pub passed: bool,
    /// False if the walk ended before it.
    pub reached: bool,
    /// Useful saving (on failures and after success), over what was recorded.
    pub useful: Estimate,
}

/// A certificate, with the recordings it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusCertificate {
    /// The statistical result.
    pub certificate: Certificate,
    /// How the settings were ordered.
    pub ordering: &'static str,
    /// The settings in the order tested.
    pub settings: Vec<CertifiedSetting>,
    /// Fingerprint of the calibration runs (see [`fingerprint()`]).
    pub fingerprint: String,
    /// Models of the calibration runs, by name.
    pub models: Vec<String>,
    /// Number of calibration runs.
    pub runs: u64,
    /// Number of successful ones.
    pub successes: u64,
    /// The successful runs, by name, that count as stopped early under some setting because it cannot be evaluated on them
    /// and might have stopped them.
    pub counted_as_killed: Vec<String>,
    /// The label errors, if they are part of the certificate.
    pub doubt: Option<LabelDoubt>,
    /// The unit of the savings.
    pub unit: Unit,
}

impl CorpusCertificate {
    /// Certifies from the rows of a sweep.
    ///
    /// An unverified false early stop counts as false, and so does a success whose recorded path was left before the
    /// end. So does a success on which the setting cannot be evaluated: that a rule without data did not fire says nothing
    /// about it, and to leave it out would certify the setting for other runs than were recorded.
    pub fn of(rows: &Rows, ordering: &Ordering, promise: Promise, doubt: Option<LabelDoubt>) -> Self {
        let groups = by_stack(rows);
        let order: Vec<usize> = match ordering {
            Ordering::Fixed(order) => order.clone(),
            Ordering::Unordered { .. } => (0..groups.len()).collect(),
        };
        let ordered: Vec<&Group<'_>> = order.iter().filter_map(|at| groups.get(*at)).collect();
        let unit = unit_of(rows);
        let calibration = calibration(&ordered);
        let usefuls: Vec<Estimate> = ordered
            .iter()
            .map(|group| ratio_estimate(&by_task(group, |row| useful_parts(&RunEffect::from_row(row, unit))), LEVEL))
            .collect();
        let preference = match ordering {
            Ordering::Fixed(_) => None,
            Ordering::Unordered { preference } => {
                Some(preference.clone().unwrap_or_else(|| by_saving(usefuls.iter().map(|useful| useful.value))))
            }
        };
        let certificate = match (doubt, &preference) {
            (Some(doubt), preference) => certify_labelled(&labelled(&ordered), preference.as_deref(), doubt, promise),
            (None, None) => certify(&calibration, promise),
            (None, Some(preference)) => certify_unordered(&calibration, preference, promise),
        };
        let one: Vec<RowView<'_>> = ordered.first().iter().flat_map(|group| group.rows()).collect();
        Self {
            settings: settings(&ordered, usefuls, &calibration, &certificate, ordering),
            ordering: ordering.name(),
            fingerprint: fingerprint(one.iter().copied()),
            models: one
                .iter()
                .filter_map(|row| row.model())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(ToString::to_string)
                .collect(),
            runs: one.len() as u64,
            successes: calibration.successes.iter().sum(),
            counted_as_killed: counted_as_killed(&ordered),
            doubt,
            certificate,
            unit,
        }
    }

    /// The certified setting.
    pub fn chosen(&self) -> Option<&CertifiedSetting> {
        match self.certificate.verdict {
            Certification::Certified(at) => self.settings.get(at),
            _ => None,
        }
    }

    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let Certificate { promise, tasks, verdict, .. } = &self.certificate;
        let claim =
            format!("{} with confidence {}", chosen_percent(promise.alpha), chosen_percent(1.0 - promise.delta));
        match (verdict, self.chosen()) {
            (Certification::Certified(_), Some(chosen)) => {
                let seen = format!(
                    "{} averaged over tasks, {} of all successful runs",
                    chosen.task_rate.value.map_or_else(|| "an unknown share".to_owned(), words::percent),
                    words::percent(chosen.pooled)
                );
                let whose = match promise.rate {
                    Rate::TaskAveraged => "successes, averaged over tasks,",
                    Rate::RunWeighted => "all successful runs",
                };
                let (alpha, confidence) = (chosen_percent(promise.alpha), chosen_percent(1.0 - promise.delta));
                format!(
                    "certified: `{}` kills at most {alpha} of {whose} with confidence {confidence} (seen: {seen})",
                    chosen.name
                )
            }
            (Certification::NeedsMoreTasks { at_least, about }, _) => {
                let about = about
                    .map_or_else(String::new, |about| format!("; about {about} in all if the next are like these"));
                format!(
                    "no setting can be certified at {claim}; needs at least {at_least} more tasks with a success, none \
                     of them killed, beside the {tasks} there are{about}"
                )
            }
            (Certification::TooHigh, _) => {
                let first = self.most_conservative();
                let of = first.map_or_else(String::new, |(name, risk)| {
                    format!(": the most conservative, `{name}`, already kills {} % of the successes", digits(risk))
                });
                format!("no setting can be certified at {claim}{of}; try a looser limit, more tasks will not do")
            }
            _ => format!("no setting can be certified at {claim}, whatever the number of tasks"),
        }
    }

    /// The setting with the smallest observed risk, and that risk.
    fn most_conservative(&self) -> Option<(&str, f64)> {
        let risks = self.settings.iter().map(|setting| (setting.name.as_str(), setting.risk));
        risks.filter(|(_, risk)| risk.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

fn settings(
    ordered: &[&Group<'_>],
    usefuls: Vec<Estimate>,
    calibration: &Calibration,
    certificate: &Certificate,
    ordering: &Ordering,
) -> Vec<CertifiedSetting> {
    let fixed = matches!(ordering, Ordering::Fixed(_));
    let adjusted = holm(&certificate.tested.iter().map(|tested| tested.p).collect::<Vec<_>>());
    let mut walking = true;
    let task_rate = |stops: &Vec<u64>| {
        let tasks = stops.iter().zip(&calibration.successes);
        stats::task_rate(&tasks.map(|(stops, n)| ClusterSums::of_counts(*stops, *n)).collect::<Vec<_>>(), LEVEL)
    };
    let rates = calibration.early_stops.iter().map(task_rate);
    let lines = ordered.iter().zip(usefuls).zip(rates).zip(&certificate.tested).zip(adjusted);
    lines
        .map(|((((group, useful), task_rate), tested), adjusted)| {
            let reached = walking;
            walking &= tested.passed || !fixed;
            CertifiedSetting {
                name: group.stack.to_string(),
                killed: group.rows().filter(|row| is_lost(*row)).count() as u64,
                task_rate,
                risk: tested.risk,
                pooled: tested.pooled,
                p: tested.p,
                p_adjusted: (!fixed).then_some(adjusted),
                passed: tested.passed,
                reached,
                useful,
            }
        })
        .collect()
}

/// True for a success that the setting ends early, or may end early.
fn is_lost(row: RowView<'_>) -> bool {
    row.killed_high() == 1 && row.outcome() == Outcome::Success
}

/// The successes that a setting may end early, for all that can be read of them.
fn counted_as_killed(groups: &[&Group<'_>]) -> Vec<String> {
    let rows = groups.iter().flat_map(|group| group.rows());
    let doubted = rows.filter(|row| row.unknown().unread && is_lost(*row) && row.killed_low() == 0);
    doubted.map(|row| row.run_id().to_string()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn calibration(groups: &[&Group<'_>]) -> Calibration {
    let mut tasks: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for row in groups.first().iter().flat_map(|group| group.rows()).filter(|row| row.outcome() != Outcome::Unknown) {
        let (successes, runs) = tasks.entry(row.task()).or_default();
        *successes += u64::from(row.outcome() == Outcome::Success);
        *runs += 1;
    }
    tasks.retain(|_, (successes, _)| *successes > 0);
    let early_stops = groups.iter().map(|group| {
        let mut lost: BTreeMap<usize, u64> = tasks.keys().map(|task| (*task, 0)).collect();
        for row in group.rows().filter(|row| is_lost(*row)) {
            *lost.entry(row.task()).or_default() += 1;
        }
        lost.into_values().collect()
    });
    Calibration {
        early_stops: early_stops.collect(),
        successes: tasks.values().map(|task| task.0).collect(),
        runs: tasks.values().map(|task| task.1).collect(),
    }
}

/// For each setting, the graded runs of every task: stopped early or not, labelled a success or not. A stop counts
/// unless the label shows that the success was secured before it.
fn labelled(groups: &[&Group<'_>]) -> Vec<Vec<LabelledTask>> {
    let of = |group: &&Group<'_>| {
        let mut tasks: BTreeMap<usize, LabelledTask> = BTreeMap::new();
        for row in group.rows().filter(|row| row.outcome() != Outcome::Unknown) {
            let task = tasks.entry(row.task()).or_default();
            match (row.outcome() == Outcome::Success, is_lost(row), row.is_stop()) {
                (true, true, _) => task.stopped_success += 1,
                (true, false, _) => task.kept_success += 1,
                (false, _, true) => task.stopped_failure += 1,
                (false, _, false) => task.kept_failure += 1,
            }
        }
        tasks.into_values().collect()
    };
    groups.iter().map(of).collect()
}

fn by_task(group: &Group<'_>, parts: impl Fn(RowView<'_>) -> Option<(f64, f64)>) -> Vec<ClusterSums> {
    let mut tasks: BTreeMap<usize, ClusterSums> = BTreeMap::new();
    for row in group.rows() {
        if let Some((numerator, denominator)) = parts(row) {
            tasks.entry(row.task()).or_default().add(numerator, denominator);
        }
    }
    tasks.into_values().collect()
}
