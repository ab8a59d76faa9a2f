//! Risk-controlled choice: the most aggressive setting whose rate of false early stops is at most alpha, with
//! confidence 1 - delta over new tasks of the same kind. If none qualifies, the result says what is missing; there is
//! no fallback.
//!
//! Angelopoulos, Bates, Candes, Jordan & Lei (2021), Learn then test, arXiv 2110.01052.

use super::gaffke::Surpluses;
use super::label_certificate::{LabelDoubt, LabelledTask};
use super::multiplicity::holm;

/// The calibration data: for every task its successful runs, and for every setting how many of them it stopped early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// Successful runs of each task. Tasks without any are left out.
    pub successes: Vec<u64>,
    /// Graded runs of each task, failures included, in the same order; for [`Rate::RunWeighted`].
    pub runs: Vec<u64>,
    /// For each setting, from conservative to aggressive (an order fixed before these data were seen): the false early
    /// stops of each task, in the order of `successes` and never more than them.
    pub early_stops: Vec<Vec<u64>>,
}

/// Which rate is certified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rate {
    /// The mean over tasks of the share of the task's successful runs that are stopped early.
    #[default]
    TaskAveraged,
    /// The probability that a run is stopped early given that it succeeds, for a random run of a random task. If every
    /// task has the same number of runs, it is the share of all successful runs.
    RunWeighted,
}

impl Rate {
    /// The name on the certificate.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskAveraged => "task-averaged",
            Self::RunWeighted => "run-weighted",
        }
    }
}

/// The test behind the p-values of a certificate. Chosen before the recordings are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// Gaffke's statistic over task losses in [0, 1]; with one successful run a task it is the exact binomial tail.
    #[default]
    Gaffke,
    /// A mixture of bets: less powerful, but may be checked after every task, and rests on Ville's inequality alone.
    Betting,
}

impl Bound {
    /// The name on the certificate.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaffke => "gaffke",
            Self::Betting => "betting",
        }
    }

    /// The theorem that the certificate rests on.
    pub fn theorem(self) -> &'static str {
        match self {
            Self::Gaffke => "Gaffke's statistic (2005), valid by Vlassis & Thomas, arXiv 2607.08415, theorem 1 (2026)",
            Self::Betting => "Ville's inequality (1939) for a mixture of bets (Waudby-Smith & Ramdas 2024)",
        }
    }

    /// The p-value of "the mean loss is too high" from the surplus of each task; 1 without tasks. With one run per task the losses are 0
    /// or 1, and Gaffke's statistic is the exact binomial tail.
    pub fn p_value(self, surpluses: &Surpluses) -> f64 {
        if surpluses.values.is_empty() {
            return 1.0;
        }
        match self {
            Self::Gaffke => surpluses.gaffke(),
            Self::Betting => surpluses.betting(),
        }
    }
}

/// What is to be certified, and by which bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Highest tolerated risk, in (0, 1).
    pub alpha: f64,
    /// Probability that the certificate is wrong, in (0, 1).
    pub delta: f64,
    /// Which rate the risk is.
    pub rate: Rate,
    /// Gaffke by default.
    pub bound: Bound,
}

impl Promise {
    /// A task-averaged rate of at most `alpha` with confidence `1 - delta`, by Gaffke's statistic.
    pub fn new(alpha: f64, delta: f64) -> Self {
        Self { alpha, delta, rate: Rate::default(), bound: Bound::default() }
    }
}

/// One tested setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The certified rate, as observed.
    pub risk: f64,
    /// The share of all successful runs that were stopped early, as observed.
    pub pooled: f64,
    /// P-value of the hypothesis "the risk exceeds alpha".
    pub p: f64,
    /// True if the walk reached this setting and it passed.
    pub passed: bool,
}

/// The result of a certification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certification {
    /// The setting with this index is certified.
    Certified(usize),
    /// No setting can be certified yet, but more tasks could help.
    NeedsMoreTasks {
        /// Minimum number of further tasks, if all of them were clean.
        at_least: u64,
        /// Approximate total number of tasks, if new ones are like these.
        about: Option<u64>,
    },
    /// Even the most conservative setting stops at least alpha of the successes early: a different setting is needed,
    /// not more tasks.
    TooHigh,
    /// No number of tasks was found that would suffice: there are no settings, no task has a success, or the label
    /// errors are too large to conclude anything.
    Impossible,
}

/// The certificate, or the reason for refusing one.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// What was asked for, with the bound that was used.
    pub promise: Promise,
    /// Tasks with at least one successful run.
    pub tasks: u64,
    /// All settings, in the order given.
    pub tested: Vec<Tested>,
    /// The setting chosen, or what is missing.
    pub verdict: Certification,
}

/// One setting with its evidence.
struct SettingEvidence {
    tested: Tested,
    surpluses: Surpluses,
}

/// Fixed-sequence testing: walks from the most conservative setting while each passes at `delta`, and chooses the last
/// that passes.
pub fn certify(calibration: &Calibration, promise: Promise) -> Certificate {
    walk(tasks_with_success(calibration), evidence(calibration, promise), promise)
}

/// For settings without an order: tests all of them with Holm's method, then chooses the passing one that comes last
/// in `preference` (indices from least to most wanted, for example by tokens saved on the development split).
pub fn certify_unordered(calibration: &Calibration, preference: &[usize], promise: Promise) -> Certificate {
    choose(tasks_with_success(calibration), evidence(calibration, promise), preference, promise)
}

/// As [`certify`], for labels with errors: `settings` holds the labelled tasks of each setting, from conservative to
/// aggressive. The rate is [`Rate::RunWeighted`], the only one identified under label errors. A `preference` is used as
/// in [`certify_unordered`]; with `None` this walks as [`certify`] does.
pub fn certify_labelled(
    settings: &[Vec<LabelledTask>],
    preference: Option<&[usize]>,
    doubt: LabelDoubt,
    promise: Promise,
) -> Certificate {
    let promise = Promise { rate: Rate::RunWeighted, bound: Bound::Gaffke, ..promise };
    let tasks = settings.first().map_or(0, |tasks| tasks.iter().filter(|task| task.successes() > 0).count() as u64);
    let evidence = settings
        .iter()
        .map(|tasks| {
            let (stopped, successes) =
                tasks.iter().fold((0, 0), |sum, task| (sum.0 + task.stopped_success, sum.1 + task.successes()));
            let pooled = stopped as f64 / successes as f64;
            let risk = doubt.corrected_rate(tasks).unwrap_or(f64::NAN);
            let (p, surpluses) =
                doubt.p_value(tasks, promise.alpha, promise.delta).unwrap_or((1.0, Surpluses::default()));
            SettingEvidence { tested: Tested { risk, pooled, p, passed: false }, surpluses }
        })
        .collect();
    match preference {
        None => walk(tasks, evidence, promise),
        Some(preference) => choose(tasks, evidence, preference, promise),
    }
}

fn walk(tasks: u64, mut evidence: Vec<SettingEvidence>, promise: Promise) -> Certificate {
    let mut chosen = None;
    for (at, setting) in evidence.iter_mut().enumerate() {
        if setting.tested.p > promise.delta || setting.tested.p.is_nan() {
            break;
        }
        setting.tested.passed = true;
        chosen = Some(at);
    }
    // The walk never passes its first setting unless that one is certified, so the first setting determines what is
    // missing.
    let verdict = chosen.map_or_else(|| refusal(evidence.first(), promise.delta, promise), Certification::Certified);
    let tested = evidence.into_iter().map(|setting| setting.tested).collect();
    Certificate { promise, tasks, tested, verdict }
}

fn choose(tasks: u64, mut evidence: Vec<SettingEvidence>, preference: &[usize], promise: Promise) -> Certificate {
    let adjusted = holm(&evidence.iter().map(|setting| setting.tested.p).collect::<Vec<_>>());
    for (setting, p) in evidence.iter_mut().zip(adjusted) {
        setting.tested.passed = p <= promise.delta;
    }
    let passed = |at: &&usize| evidence.get(**at).is_some_and(|setting| setting.tested.passed);
    let mean = |setting: &&SettingEvidence| setting.surpluses.mean().unwrap_or(f64::NEG_INFINITY);
    let best = evidence.iter().max_by(|a, b| mean(a).total_cmp(&mean(b)));
    let strictest = promise.delta / evidence.len().max(1) as f64;
    let verdict = preference
        .iter()
        .rev()
        .find(passed)
        .map_or_else(|| refusal(best, strictest, promise), |at| Certification::Certified(*at));
    let tested = evidence.into_iter().map(|setting| setting.tested).collect();
    Certificate { promise, tasks, tested, verdict }
}

fn tasks_with_success(calibration: &Calibration) -> u64 {
    calibration.successes.iter().filter(|successes| **successes > 0).count() as u64
}

fn evidence(calibration: &Calibration, promise: Promise) -> Vec<SettingEvidence> {
    let all: u64 = calibration.successes.iter().sum();
    let of = |early_stops: &Vec<u64>| {
        let (risk, surpluses) = surpluses(calibration, early_stops, promise);
        let pooled = early_stops.iter().sum::<u64>() as f64 / all as f64;
        let p = promise.bound.p_value(&surpluses);
        SettingEvidence { tested: Tested { risk, pooled, p, passed: false }, surpluses }
    };
    calibration.early_stops.iter().map(of).collect()
}

/// The observed rate, and the surplus of each task.
fn surpluses(calibration: &Calibration, early_stops: &[u64], promise: Promise) -> (f64, Surpluses) {
    let alpha = promise.alpha;
    let runs = calibration.runs.iter().copied().map(Some).chain(std::iter::repeat(None));
    let tasks = calibration.successes.iter().zip(early_stops).zip(runs).filter(|((successes, _), _)| **successes > 0);
    let tasks = tasks.map(|((successes, stopped), runs)| {
        let successes = *successes as f64;
        (successes, *stopped as f64, runs.map_or(successes, |runs| (runs as f64).max(successes)))
    });
    match promise.rate {
        Rate::TaskAveraged => {
            let losses: Vec<f64> = tasks.map(|(successes, stopped, _)| stopped / successes).collect();
            let risk = losses.iter().sum::<f64>() / losses.len() as f64;
            (risk, Surpluses::of_losses(losses, alpha))
        }
        Rate::RunWeighted => {
            let (mut stopped_share, mut success_share) = (0.0, 0.0);
            let mut values = Vec::new();
            for (successes, stopped, runs) in tasks {
                stopped_share += stopped / runs;
                success_share += successes / runs;
                values.push((alpha * successes - stopped) / (runs * (1.0 - alpha)));
            }
            let clean = alpha / (1.0 - alpha) * success_share / values.len() as f64;
            (stopped_share / success_share, Surpluses { values, slack: 1.0, clean })
        }
    }
}

/// What the setting lacks for a p-value of at most `threshold`.
fn refusal(setting: Option<&SettingEvidence>, threshold: f64, promise: Promise) -> Certification {
    let Some(surpluses) = setting.map(|setting| &setting.surpluses) else { return Certification::Impossible };
    match surpluses.mean() {
        None if promise.alpha > 0.0 && surpluses.clean > 0.0 => {}
        None => return Certification::Impossible,
        Some(mean) if mean <= 0.0 => return Certification::TooHigh,
        Some(_) => {}
    }
    let about = surpluses.tasks_at_this_rate(threshold);
    // Betting has no closed form for the number of clean tasks; Gaffke's number is a lower limit.
    surpluses
        .clean_tasks_needed(threshold)
        .map_or(Certification::Impossible, |needed| Certification::NeedsMoreTasks { at_least: needed.max(1), about })
}
