//! What is known only within bounds: labels of a judge whose rates are stated wrong, caps that differ, work that stood
//! when a run was stopped.

use std::fmt::Write as _;
use std::sync::Arc;

use whenstop::aggregate::{RowsBuilder, by_stack, summarise};
use whenstop::compare::{EvaluationOptions, Evaluator, Keeps};
use whenstop::decision::Strategy;
use whenstop::stack::StackFile;
use whenstop::stats::Interval;
use whenstop::stats::incidence::{End, Ending, incidence_band};
use whenstop::stats::label_rate::{LabelSums, corrected_rate};
use whenstop::stats::labels::ErrorRates;
use whenstop::stats::labels::LabelErrors;
use whenstop::transcript::sketch::draft;
use whenstop::transcript::{Outcome, Run};

use super::{Corpus, Row, repeat};

const LEVEL: f64 = 0.95;

/// A tenth of the successes, which are a quarter or more of the runs, is killed; the judge's specificity is stated
/// 0.05 too high (`effect` 0.05) or too low (-0.05). What is printed beside the corrected rate holds the truth.
pub(crate) fn misstated(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let judge = LabelErrors { sensitivity: 0.9, specificity: 0.85 };
    repeat("labels-misstated", corpus, repetitions, |random, tally| {
        let tasks: Vec<LabelSums> = (0..corpus.tasks)
            .map(|_| {
                let (rate, stopped) = (random.task_rate(0.4, corpus.icc), random.task_rate(0.1, corpus.icc));
                let mut sums = LabelSums::default();
                for _ in 0..corpus.trials {
                    let success = random.chance(rate);
                    let stops = random.chance(if success { stopped } else { 0.4 });
                    let labelled = random.chance(if success { judge.sensitivity } else { 1.0 - judge.specificity });
                    sums.killed += f64::from(u8::from(stops && labelled));
                    sums.at_risk += f64::from(u8::from(stops));
                    sums.successes += f64::from(u8::from(labelled));
                    sums.runs += 1;
                }
                sums
            })
            .collect();
        let at = |errors: LabelErrors| corrected_rate(&tasks, ErrorRates::Stated(errors), LEVEL).0.interval;
        let stated = LabelErrors { specificity: judge.specificity + corpus.effect, ..judge };
        let alone = at(stated);
        tally.interval("stated-alone", "coverage", alone, Some(0.1));
        let is_wider = |beside: Interval| alone.is_some_and(|alone| beside.width() > alone.width());
        let beside = stated.misstated().chain([stated]).filter_map(at).reduce(Interval::hull);
        tally.note("printed", "says-more", beside.map(is_wider));
        tally.interval("printed", "truth-within", beside, Some(0.1));
    })
}

/// A stack that stops a few failures and no success, under a judge: whether the corrected rate says that a success may
/// be killed that was not seen: at least one more. `effect` is the true rate, among successes that are half of the runs.
pub(crate) fn unseen(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let judge = LabelErrors { sensitivity: 0.9, specificity: 0.85 };
    repeat("labels-unseen", corpus, repetitions, |random, tally| {
        let tasks: Vec<LabelSums> = (0..corpus.tasks)
            .map(|_| {
                let mut sums = LabelSums::default();
                for _ in 0..corpus.trials {
                    let success = random.chance(0.5);
                    let stops = random.chance(if success { corpus.effect } else { 0.03 });
                    let labelled = random.chance(if success { judge.sensitivity } else { 1.0 - judge.specificity });
                    sums.killed += f64::from(u8::from(stops && labelled));
                    sums.at_risk += f64::from(u8::from(stops));
                    sums.successes += f64::from(u8::from(labelled));
                    sums.runs += 1;
                }
                sums
            })
            .collect();
        let (estimate, _) = corrected_rate(&tasks, ErrorRates::Stated(judge), LEVEL);
        let one = 1.0 / tasks.iter().map(|task| task.successes).sum::<f64>();
        let leaves = estimate.high().zip(estimate.value).map(|(high, value)| high > value + one);
        tally.note("printed", "leaves-room", leaves);
        tally.interval("printed", "coverage", estimate.interval, Some(corpus.effect));
    })
}

/// Success by budget 1 where half of the tasks have a cap at budget 0.8 and are the harder ones, the others one at 1.5:
/// what would have been seen without caps.
pub(crate) fn two_caps(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("budget-two-caps", corpus, repetitions, |random, tally| {
        let (mut runs, mut task_of) = (Vec::new(), Vec::new());
        for task in 0..corpus.tasks {
            let (mean, cap) = if task % 2 == 0 { (0.5 - corpus.effect, 0.8) } else { (0.5 + corpus.effect, 1.5) };
            let rate = random.task_rate(mean, corpus.icc);
            for _ in 0..corpus.trials {
                let at = random.uniform() * 2.0;
                let end = if random.chance(rate) { End::Success } else { End::Failure };
                runs.push(if at > cap { Ending { at: cap, end: End::CutOff } } else { Ending { at, end } });
                task_of.push(task);
            }
        }
        let band = incidence_band(&runs, &task_of, &[1.0], LEVEL);
        tally.interval("printed", "truth-within", band.first().copied().flatten(), Some(0.25));
    })
}

/// The host keeps the work: a success that is stopped after its last edit is kept. The share killed by `steps >= 6` with
/// `--keeps work` where every edit shows, and with `--keeps unknown` where `effect` of the edits are made by a tool of which
/// nobody knows what it does.
pub(crate) fn kept_work(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let file = StackFile::parse("s", "[[stack]]\nname = \"six\"\nany = [{ signal = \"steps\", at_least = 6 }]");
    let stack = file.expect("the stack is well formed").stack("six").expect("it is there");
    let strategies: Vec<Arc<dyn Strategy>> = vec![stack];
    let keeps = if corpus.effect > 0.0 { Keeps::Unknown } else { Keeps::Work };
    let evaluator = Evaluator::new(&strategies, EvaluationOptions { keeps, ..EvaluationOptions::default() });
    // Lengths are uniform from 3 to 12, the last edit is uniform among the first steps: the share of successes that are
    // longer than 6 steps and whose last edit comes after the sixth.
    let lost: f64 =
        (3_u32..=12).map(|n| f64::from(n.saturating_sub(1).saturating_sub(6)) / f64::from(n - 1) / 10.0).sum();
    repeat("keeps", corpus, repetitions, |random, tally| {
        let mut rows = RowsBuilder::default();
        for task in 0..corpus.tasks {
            let lean = random.uniform();
            for trial in 0..corpus.trials {
                let length = 2 + if random.chance(corpus.icc) {
                    (0..10).filter(|n| f64::from(*n) <= lean * 10.0).count() as u64
                } else {
                    random.one_to(10)
                };
                let edited = random.one_to(length - 1);
                let mut text = String::new();
                for step in 1..length {
                    let edit = if random.chance(corpus.effect) { "frobnicate" } else { "apply_patch" };
                    let tool = if step == edited { edit } else { "read_file" };
                    let _ = write!(text, "{tool}(p{step})=ok{step} ");
                }
                let mut run = draft(&(text + "-done"));
                run.header.run_id = format!("{task}-{trial}");
                run.header.task_id = Some(format!("{task}"));
                run.grade.outcome = Outcome::Success;
                for row in &evaluator.evaluate(&Run::new(run)).rows {
                    rows.push(row);
                }
            }
        }
        let rows = rows.finish();
        let killed = summarise(&by_stack(&rows), None)[0].estimates.fes_rate;
        let interval = killed.lower().zip(killed.upper()).map(|(low, high)| Interval { low, high });
        tally.interval("printed", "truth-within", interval, Some(lost));
    })
}
