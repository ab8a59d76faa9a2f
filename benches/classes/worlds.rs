//! The worlds, and what is found of each corpus drawn from them.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::random::Random;
use crate::{Finding, Written, whenstop};

/// Draws that a truth is taken from.
const TRUTH: usize = 40_000;
/// The cap under test.
const CAP: u64 = 12;
const STACK: &str = "[[stack]]\nname = \"cap\"\nany = [{ signal = \"steps\", at_least = 12 }]\n";

/// A task of one model: how often it succeeds, and how long its runs are.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// Mean rate of success.
    rate: f64,
    /// Median steps.
    length: f64,
    /// How much longer failures are.
    failing: f64,
}

/// One task drawn from a kind.
#[derive(Clone, Copy, Debug)]
struct Task {
    rate: f64,
    length: f64,
    failing: f64,
}

impl Kind {
    fn task(self, random: &mut Random) -> Task {
        let length = self.length * (0.35 * random.normal()).exp();
        Task { rate: random.task_rate(self.rate, 0.4), length, failing: self.failing }
    }
}

impl Task {
    /// A run: whether it succeeds, and its steps.
    fn run(self, random: &mut Random) -> (bool, u64) {
        let success = random.chance(self.rate);
        let length = self.length * if success { 1.0 } else { self.failing } * (0.3 * random.normal()).exp();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 80")]
        let steps = length.round().clamp(2.0, 80.0) as u64;
        (success, steps)
    }
}

/// Whether `steps at least 12` stops a run of so many early: at its last step there is nothing left to stop.
fn is_stopped(steps: u64, cap: u64) -> bool {
    steps > cap
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Four classes of tasks with lengths of their own, one of them with few tasks.
const CLASSES: [(&str, Kind, usize); 4] = [
    ("short", Kind { rate: 0.6, length: 5.0, failing: 1.5 }, 110),
    ("middle", Kind { rate: 0.6, length: 9.0, failing: 1.5 }, 110),
    ("long", Kind { rate: 0.6, length: 18.0, failing: 1.3 }, 110),
    ("few", Kind { rate: 0.6, length: 9.0, failing: 1.5 }, 12),
];

/// The rate of false early stops by task of a cap, in a class.
fn true_rate(class: usize, cap: u64) -> f64 {
    static RUNS: OnceLock<Vec<Vec<u64>>> = OnceLock::new();
    let runs = RUNS.get_or_init(|| {
        let of_class = |(nth, (_, kind, _)): (u64, &(&str, Kind, usize))| {
            let mut random = Random::new(900 + nth);
            // Each task with a success in three runs counts once, whatever the number of its successes.
            std::iter::repeat_with(|| {
                let task = kind.task(&mut random);
                let runs = [0; 3].map(|_| task.run(&mut random));
                let solved: Vec<u64> = runs.iter().filter(|run| run.0).map(|run| run.1).collect();
                solved.get(usize::try_from(random.one_to(3)).unwrap_or(1) % solved.len().max(1)).copied()
            })
            .flatten()
            .take(TRUTH)
            .collect()
        };
        (0..).zip(&CLASSES).map(of_class).collect()
    });
    let killed = runs[class].iter().filter(|steps| is_stopped(**steps, cap)).count();
    killed as f64 / runs[class].len() as f64
}

/// The same over all classes: each task with a success counts once, and the classes solve equally many of their tasks.
fn pooled_rate(cap: u64) -> f64 {
    let tasks: usize = CLASSES.iter().map(|(.., tasks)| tasks).sum();
    let killed = CLASSES.iter().enumerate().map(|(class, (.., of_class))| true_rate(class, cap) * *of_class as f64);
    killed.sum::<f64>() / tasks as f64
}

/// Certificates, of caps and of the best rules, that are broken in any of the classes or in all of them together: at most
/// delta.
pub(crate) fn certificates(folder: &Path, random: &mut Random) -> Vec<Finding> {
    const ALPHA: f64 = 0.1;
    let mut corpus = String::new();
    let salt = random.bits();
    for (class, kind, tasks) in CLASSES {
        for nth in 0..tasks {
            let task = kind.task(random);
            for trial in 0..3 {
                let (success, steps) = task.run(random);
                let name = format!("{salt:x}-{class}-{nth}");
                let id = format!("{name}-{trial}");
                let (suite, model, more) = (class.to_owned(), "m".to_owned(), String::new());
                Written { id, task: name, suite, model, more, success, steps }.write(&mut corpus);
            }
        }
    }
    let arguments = ["tune", "runs.jsonl", "--by", "suite", "--max-killed", "0.1", "--confidence", "0.9"];
    let document = whenstop(folder, &corpus, STACK, &arguments);
    let (mut broken, mut pooled_broken, mut with_cap, mut own, mut unjudged) = (false, false, 0, 0, 0);
    for of in list(&document["classes"]) {
        let class = CLASSES.iter().position(|(name, ..)| of["class"] == *name).expect("a class of this world");
        let is_own = of["certificate"] == "own";
        own += u64::from(is_own);
        with_cap += u64::from(!of["cap"].is_null());
        for limit in [&of["cap"], &of["best"]] {
            let rule = limit["rule"].as_str().unwrap_or_default();
            let Some(cap) = rule.strip_prefix("steps >= ").and_then(|cap| cap.parse().ok()) else {
                unjudged += u64::from(!limit.is_null());
                continue;
            };
            if is_own {
                broken |= true_rate(class, cap) > ALPHA;
            } else {
                pooled_broken |= pooled_rate(cap) > ALPHA;
            }
        }
    }
    vec![
        Finding::Share("some certificate is broken", u64::from(broken || pooled_broken), 1, 0.0, 0.1),
        Finding::Share("some certificate of a class's own is broken", u64::from(broken), 1, 0.0, 0.1),
        Finding::Share("the certificate of all classes is broken", u64::from(pooled_broken), 1, 0.0, 0.1),
        Finding::Mean("classes with a cap", with_cap as f64, 0.0, 4.0),
        Finding::Mean("classes with a certificate of their own", own as f64, 3.0, 3.0),
        // Rules whose truth is not known here.
        Finding::Mean("certificates of rules that are no cap", unjudged as f64, 0.0, 0.0),
    ]
}

/// What remains of runs of new tasks, against its forecast.
pub(crate) fn forecasts(folder: &Path, random: &mut Random) -> Vec<Finding> {
    const AFTER: [u64; 3] = [0, 5, 10];
    let classes = &CLASSES[1..3];
    let mut corpus = String::new();
    let runs_of = |kind: &Kind, random: &mut Random| {
        let task = kind.task(random);
        let trials = random.one_to(4);
        (0..trials).map(|_| task.run(random)).collect::<Vec<_>>()
    };
    for (class, kind, _) in classes {
        for nth in 0..80 {
            for (trial, (success, steps)) in runs_of(kind, random).into_iter().enumerate() {
                let (id, task) = (format!("{class}-{nth}-{trial}"), format!("{class}-{nth}"));
                let (suite, model, more) = ((*class).to_owned(), "m".to_owned(), String::new());
                Written { id, task, suite, model, more, success, steps }.write(&mut corpus);
            }
        }
    }
    let document =
        whenstop(folder, &corpus, STACK, &["corpus", "runs.jsonl", "--forecast", "--by", "suite", "--at", "0,5,10"]);
    let mut findings = Vec::new();
    for of in list(&document["forecasts"]) {
        let Some((_, kind, _)) = classes.iter().find(|(name, ..)| of["class"] == *name) else { continue };
        let after = of["after"].as_u64().unwrap_or_default();
        assert!(AFTER.contains(&after), "{of}");
        let (mut narrow, mut wide, mut tasks) = (0.0, 0.0, 0.0);
        while tasks < 150.0 {
            let left: Vec<f64> = runs_of(kind, random)
                .into_iter()
                .filter(|(_, steps)| *steps > after)
                .map(|(_, steps)| (steps - after) as f64)
                .collect();
            if left.is_empty() {
                continue;
            }
            let within = |low: &Value, high: &Value| {
                let high = high.as_f64().unwrap_or(f64::INFINITY);
                left.iter().filter(|left| number(low) <= **left && **left <= high).count() as f64 / left.len() as f64
            };
            tasks += 1.0;
            narrow += within(&of["p10"], &of["p90"]);
            wide += within(&of["low"], &of["high"]);
        }
        findings.push(Finding::Mean("19 of 20: covered on new tasks", wide / tasks, 0.93, 0.98));
        findings.push(Finding::Mean("P10 to P90: covered on new tasks", narrow / tasks, 0.78, 0.88));
        // A tenth of the tasks is left out, so what is measured is that of slightly wider intervals.
        if let Some(printed) = of["covered_95"].as_f64() {
            findings.push(Finding::Mean("19 of 20: printed less found", printed - wide / tasks, -0.01, 0.01));
        }
        if let Some(printed) = of["covered"].as_f64() {
            findings.push(Finding::Mean("P10 to P90: printed less found", printed - narrow / tasks, -0.01, 0.01));
        }
    }
    findings
}

/// Models of a benchmark, from good to bad, which need more and more steps.
const MODELS: [Kind; 5] = [
    Kind { rate: 0.75, length: 6.0, failing: 1.8 },
    Kind { rate: 0.65, length: 7.0, failing: 1.8 },
    Kind { rate: 0.6, length: 6.0, failing: 1.8 },
    Kind { rate: 0.5, length: 7.5, failing: 1.8 },
    Kind { rate: 0.3, length: 7.0, failing: 1.8 },
];

/// Two models of which the one that is a little ahead loses more than that to the cap, and a third.
const CLOSE: [Kind; 3] = [
    Kind { rate: 0.62, length: 8.0, failing: 1.5 },
    Kind { rate: 0.5, length: 3.0, failing: 1.5 },
    Kind { rate: 0.45, length: 3.0, failing: 1.5 },
];

/// Tries from which the true scores are computed.
const TRIES: u64 = 20_000_000;

/// The true score of each model without and with the cap.
fn true_scores(models: &[Kind]) -> Vec<(f64, f64)> {
    let of = |(nth, kind): (u64, &Kind)| {
        let mut random = Random::new(700 + nth);
        let (mut full, mut kept) = (0.0, 0.0);
        for _ in 0..TRIES {
            let (success, steps) = kind.task(&mut random).run(&mut random);
            full += f64::from(u8::from(success));
            kept += f64::from(u8::from(success && !is_stopped(steps, CAP)));
        }
        let n = TRIES as f64;
        (full / n, kept / n)
    };
    (0..).zip(models).map(of).collect()
}

pub(crate) fn benchmark(folder: &Path, random: &mut Random) -> Vec<Finding> {
    static SCORES: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    benchmark_world(folder, random, &MODELS, SCORES.get_or_init(|| true_scores(&MODELS)), 60)
}

pub(crate) fn close_models(folder: &Path, random: &mut Random) -> Vec<Finding> {
    static SCORES: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    benchmark_world(folder, random, &CLOSE, SCORES.get_or_init(|| true_scores(&CLOSE)), 200)
}

fn benchmark_world(
    folder: &Path,
    random: &mut Random,
    models: &[Kind],
    truth: &[(f64, f64)],
    tasks: usize,
) -> Vec<Finding> {
    let mut corpus = String::new();
    let salt = random.bits();
    for nth in 0..tasks {
        for (model, kind) in models.iter().enumerate() {
            let of_model = kind.task(random);
            for trial in 0..2 {
                let (success, steps) = of_model.run(random);
                let (id, task) = (format!("{salt:x}-{nth}-{model}-{trial}"), format!("{nth}"));
                let (suite, model, more) = ("s".to_owned(), format!("m{model}"), String::new());
                Written { id, task, suite, model, more, success, steps }.write(&mut corpus);
            }
        }
    }
    let document = whenstop(
        folder,
        &corpus,
        STACK,
        &["compare", "runs.jsonl", "--stacks", "stacks.toml", "--scores", "--audit", "0.25"],
    );
    let of = &document["lines"][0]["benchmarks"][0];
    let place = |name: &Value| name.as_str().and_then(|name| name[1..].parse::<usize>().ok()).expect("a model");
    let (mut findings, mut exceeded) = (Vec::new(), false);
    for model in list(&of["models"]) {
        let (full, kept) = truth[place(&model["model"])];
        exceeded |= full - kept > number(&model["at_most"]);
        let audit = &model["audit"];
        let covers = number(&audit["score"]["low"]) <= full && full <= number(&audit["score"]["high"]);
        let added = number(&audit["score"]["value"]) - number(&model["score"]);
        let stated = number(&audit["added_error"]);
        findings.push(Finding::Error("audited score less the true one", number(&audit["score"]["value"]) - full));
        findings.push(Finding::Error("audited score less the full one", added));
        findings.push(Finding::Share(
            "interval of the audited score covers the true one",
            u64::from(covers),
            1,
            0.93,
            0.98,
        ));
        findings.push(Finding::Error("squared audit error less the stated one", added * added - stated * stated));
        findings.push(Finding::Error(
            "stated audit variance, as seen, less the true one",
            number(&audit["added_error_seen"]).powi(2) - stated * stated,
        ));
    }
    let (mut beyond, mut certain, mut some_beyond, mut some_certain) = (false, false, 0, 0);
    for pair in list(&of["pairs"]) {
        let ((above, above_kept), (below, below_kept)) = (truth[place(&pair["above"])], truth[place(&pair["below"])]);
        let flips = (above - below) * (above_kept - below_kept) < 0.0;
        if pair["certain"] == true {
            some_certain += 1;
            certain |= flips || above_kept <= below_kept;
        }
        if pair["beyond"] == true {
            some_beyond += 1;
            beyond |= flips;
        }
    }
    findings.push(Finding::Share("some limit on what stops take is exceeded", u64::from(exceeded), 1, 0.0, 0.05));
    findings.push(Finding::Share("some certain pair changes places", u64::from(certain), 1, 0.0, 0.05));
    findings.push(Finding::Share(
        "some pair recorded further apart than the limit changes places",
        u64::from(beyond),
        1,
        0.0,
        0.05,
    ));
    findings.push(Finding::Mean("certain pairs", f64::from(some_certain), 0.0, 10.0));
    findings.push(Finding::Mean("pairs further apart than the limit", f64::from(some_beyond), 0.0, 10.0));
    findings
}
