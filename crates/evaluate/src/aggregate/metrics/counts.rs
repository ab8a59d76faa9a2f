//! How many runs, by what became of them.

use super::list::MetricList;
use super::{Count, Measure, Measured, Needs};
use crate::verdict::Verdict;

/// How many runs.
pub(super) fn counts(list: &mut MetricList) {
    use Needs::{Nothing, Outcome, Stop};
    let runs = Measure::Runs;
    list.push("runs", |s| Measured::count(s.runs), runs, Nothing, "Runs.");
    list.push(
        "tasks",
        |s| Measured::count(s.tasks),
        Measure::Tasks,
        Nothing,
        "Distinct tasks; a run without a task is one of its own.",
    );
    list.push(
        "stops",
        |s| Measured::count(s.stops()),
        runs,
        Stop,
        "Runs that were stopped before their recording ends.",
    );
    for verdict in Verdict::ALL {
        let needs = if verdict == Verdict::Unlabelled { Nothing } else { Outcome };
        list.push(verdict.name(), move |s| Measured::count(s.count(verdict)), runs, needs, verdict_meaning(verdict));
    }
    for (count, needs, meaning) in [
        (Count::Stopped, Stop, "Runs that were certainly stopped early."),
        (
            Count::Diverged,
            Nothing,
            "Runs on which the stack left the recorded path: it warned, asked or refused a call.",
        ),
        (Count::Censored, Nothing, "Runs whose recording ends before the stack was done."),
        (Count::NotEvaluableRuns, Nothing, "Runs that lack what one of the stack's rules reads."),
        (Count::UnlabelledRuns, Nothing, "Runs without an outcome."),
        (Count::Judged, Nothing, "Graded runs on which all of the stack's rules could be evaluated."),
        (Count::JudgedSuccesses, Nothing, "Successes among the judged runs."),
        (Count::JudgedFailures, Nothing, "Failures among the judged runs."),
        (Count::Killed, Outcome, "Judged successes that were certainly lost."),
        (Count::KilledMax, Outcome, "Judged successes that were or may have been lost."),
        (Count::RunsWithTokens, Nothing, "Runs that record their tokens."),
    ] {
        list.push(count.name(), move |s| Measured::count(s.counted(count)), runs, needs, meaning);
    }
    let chains = "The number of chains of nested stacks that `killed_at_most` allows for.";
    list.push("chains_tried", |s| Measured::plain(s.chains_tried.map(|n| n as f64)), Measure::Number, Nothing, chains);
    list.push(
        "confidence",
        |s| Measured::plain(s.confidence),
        Measure::Number,
        Nothing,
        "The confidence of `killed_at_most`, inside (0, 1): `--confidence`.",
    );
    let unknown = "Share of the runs of which something that is counted is not known.";
    list.push("unknown_share", |s| Measured::plain(Some(s.unknown_share())), Measure::Share, Nothing, unknown);
}

/// What a verdict says of a run.
fn verdict_meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::FalseEarlyStop => "Successes stopped before they were secured: killed.",
        Verdict::UnverifiedFalseEarlyStop => {
            "Successes stopped early, of which nothing tells when they were secured: they count as killed."
        }
        Verdict::GoodTrim => "Successes stopped after they were secured.",
        Verdict::TrueStop => "Failures stopped early.",
        Verdict::Rescued => {
            "Failures that had succeeded where they were stopped, and were spoilt later in the recording."
        }
        Verdict::MissedStop => "Failures that were not stopped.",
        Verdict::LostSuccess => "Runs that had succeeded, were spoilt later, and were not stopped in between.",
        Verdict::CleanPass => "Successes that were not stopped early.",
        Verdict::Unlabelled => "Runs without an outcome.",
    }
}
