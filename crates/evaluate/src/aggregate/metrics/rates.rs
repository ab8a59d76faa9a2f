//! Shares of runs.

use super::list::MetricList;
use super::{Made, Measure, Measured, Needs, Shown, Summary};

/// Shares of runs.
pub(super) fn rates(list: &mut MetricList) {
    use Needs::{Nothing, Outcome, Stop};
    let no = Shown::No;
    let mut rate = |name: &str, read: fn(&Summary) -> Measured, needs, of: &str, shown, meaning: &str| {
        list.push(name, read, Measure::Share, needs, meaning).over(of, shown);
    };
    rate(
        "killed_rate",
        |s| (&s.estimates.fes_rate).into(),
        Outcome,
        "successes and ungraded runs",
        Shown::Interval,
        "The mean over tasks of the share of a task's successes that is killed: stopped before they were secured. A success of which nothing tells when it was secured counts as killed by any earlier stop. Over all runs: where a rule could not be evaluated or nobody graded the run, both possibilities are in the range. `_high` is the exact one-sided 95 % bound of that mean, `_low` the one at 97.5 %.",
    );
    list.push(
        "killed_at_most",
        |s| Measured::plain(s.killed_at_most),
        Measure::Share,
        Nothing,
        "The most that the stack kills, as a mean over tasks: the exact bound that allows for all stacks tried, every unknown at its worst. A stack is shipped only if this is at most `--max-killed`.",
    );
    let mut rate = |name: &str, read: fn(&Summary) -> Measured, needs, of: &str, shown, meaning: &str| {
        list.push(name, read, Measure::Share, needs, meaning).over(of, shown);
    };
    rate(
        "killed_per_stop",
        |s| (&s.estimates.fes_per_stop).into(),
        Outcome,
        "judged stops",
        no,
        "The mean over tasks of the share of a task's stops that kill a success.",
    );
    rate(
        "retention",
        |s| (&s.estimates.retention).into(),
        Outcome,
        "successes and ungraded runs",
        no,
        "1 less `killed_rate`: the mean over tasks of the share of a task's successes that is kept.",
    );
    rate(
        "missed_rate",
        |s| (&s.estimates.missed_rate).into(),
        Outcome,
        "judged failures",
        no,
        "The mean over tasks of the share of a task's failures that were not stopped early.",
    );
    rate(
        "missed_rate_capped",
        |s| (&s.estimates.missed_rate_capped).into(),
        Outcome,
        "judged failures cut off by a cap",
        no,
        "The same, of the failures that ended at their own cap, by time-out or by force.",
    );
    rate(
        "failures_stopped_rate",
        |s| (&s.estimates.stop_recall).into(),
        Outcome,
        "judged failures",
        Shown::Interval,
        "The mean over tasks of the share of a task's failures stopped early.",
    );
    rate(
        "stop_rate",
        |s| (&s.estimates.stop_rate).into(),
        Stop,
        "runs whose rules could be evaluated",
        no,
        "The mean over tasks of the share of a task's runs stopped early, graded or not.",
    );
    rate(
        "unsupported_share",
        |s| (&s.estimates.unsupported_share).into(),
        Stop,
        "runs",
        no,
        "The mean over tasks of the share of a task's runs that ended at their own cap before the stack stopped: nothing supports a claim about them.",
    );
    rate(
        "unidentified_share",
        |s| (&s.estimates.unidentified_share).into(),
        Nothing,
        "runs",
        no,
        "The mean over tasks of the share of a task's runs whose outcome under the stack cannot be told from the recording.",
    );
    further_rates(list);
}

/// Shares of runs that no column of the first table shows.
fn further_rates(list: &mut MetricList) {
    use Needs::{Nothing, Outcome};
    let no = Shown::No;
    let mut rate = |name: &str, read: fn(&Summary) -> Measured, needs, of: &str, shown, meaning: &str| {
        list.push(name, read, Measure::Share, needs, meaning).over(of, shown);
    };
    rate(
        "success_rate",
        |s| (&s.outcomes.success).into(),
        Nothing,
        "runs",
        no,
        "The mean over tasks of the share of a task's runs that succeed under the stack; an outcome that the recording does not tell may be either.",
    );
    rate(
        "retained_rate",
        |s| (&s.outcomes.retained).into(),
        Nothing,
        "successes",
        no,
        "The mean over tasks of the share of a task's recorded successes that remain successes, judged or not.",
    );
    rate(
        "killed_rate_corrected",
        corrected,
        Outcome,
        "true successes",
        no,
        "The share of all true successes that is killed, corrected for errors of the labels (`--label-sensitivity`, `--label-specificity`). Unlike `killed_rate` it is no mean over tasks: the errors tell nothing of the successes of one task.",
    );
    let tipping = list.push("tipping_point", |s| Measured::plain(s.outcomes.tipping_point), Measure::Number, Nothing,
        "Share of the runs of unknown outcome that would have to succeed for the stack to break even with the recordings.");
    tipping.shown = no;
}

fn corrected(summary: &Summary) -> Measured {
    let Some(corrected) = &summary.corrected else { return Measured::plain(None) };
    let measured = Measured::from(&corrected.estimate);
    Measured { made: measured.made.map(|made| Made { correction: Some(corrected.correction), ..made }), ..measured }
}
