//! Evidence for a change of a framework's limits, as a block for a pull request or an issue: the default against the
//! proposal on recorded runs, written for a reader who has a minute and has never heard of this program.

use std::fmt::Write as _;

use super::Manifest;
use super::markdown::{cell, code, page};

use crate::aggregate::{Count, Difference, Ends, Label, RowView, Rows, Share, Summary, Unit, by_stack, pairs};
use crate::answers::words::{bounded_percent, first_of};
use crate::diagnostic::count;
use crate::stats::RangeEstimate;
use crate::words::{counts, digits, some_of};

/// Maximum rules to name; a framework may have dozens.
const RULES: usize = 12;

/// Maximum models and suites to name.
const NAMED: usize = 6;

/// The Markdown block comparing `default` with `proposed` from the rows of a comparison.
pub(super) fn evidence(
    rows: &Rows,
    manifest: &Manifest,
    (default, proposed): (&Summary, &Summary),
    unit: Unit,
    headline: &str,
) -> String {
    let names = [code(&default.stack), code(&proposed.stack)];
    let [was, is] = &names;
    let mut text = format!("### {is} against {was}, on {} recorded runs\n\n", default.runs);
    let _ = writeln!(text, "{}\n", sentence(rows, default, proposed, unit));
    let _ = writeln!(text, "| | {was} (default) | {is} (proposed) |\n| --- | ---: | ---: |");
    let (before, after) = (line_cells(default, unit), line_cells(proposed, unit));
    for ((name, before), after) in line_names(unit).iter().zip(&before).zip(&after) {
        let _ = writeln!(text, "| {name} | {} | {} |", cell(before), cell(after));
    }
    text.push('\n');
    for (summary, word) in [(default, "default"), (proposed, "proposed")] {
        if let Some(stack) = manifest.stacks.iter().find(|stack| stack.name == summary.stack) {
            let rules: Vec<String> = stack.rules.iter().map(|rule| code(rule)).collect();
            let _ = writeln!(text, "- Rules of the {word}: {}.", some_of(&rules, RULES));
        }
    }
    let _ = writeln!(text, "- Runs: {headline}{}.", made_of(rows));
    text += "- Neither strategy ran on them: the recordings were replayed, and each strategy asked at every step whether it would \
             stop. A stop is exact, since all before it is what happened. What follows a warning or a refused call is not \
             recorded: such runs are within the bounds given, not guessed.\n\
             - *Killed*: a success stopped before it was secured, of the successes that could be judged. In brackets the 95 % \
             interval for new tasks of this kind; runs of one task are alike, so tasks are counted. `2–8` is a range: the \
             recordings allow any value in it.\n";
    let _ = writeln!(
        text,
        "- By whenstop {}; `whenstop compare RUNS --stacks FILE` repeats it on other recordings. Other models and tasks may differ.",
        manifest.whenstop
    );
    page(&text)
}

/// The names of the table's lines.
fn line_names(unit: Unit) -> [String; 6] {
    [
        "runs stopped early".to_owned(),
        "**successes killed**, and the mean over tasks".to_owned(),
        "failures stopped, and the mean over tasks".to_owned(),
        format!("{} saved", unit.noun()),
        "cost of a success, against no stopping".to_owned(),
        "runs of which something is unknown".to_owned(),
    ]
}

/// What the table's lines say of a stack.
fn line_cells(summary: &Summary, unit: Unit) -> [String; 6] {
    let estimates = &summary.estimates;
    let more = summary.counted(Count::NotEvaluableRuns) > 0 || !estimates.stop_rate.is_point();
    let of_all = |share: Ends<Share>| format!("{} of {}", counts((share.low.hits, share.high.hits)), share.high.of);
    [
        format!("{}{}", if more { "≥" } else { "" }, summary.counted(Count::Stopped)),
        format!("{}: {}", of_all(estimates.killed), told(&summary.fes_rate())),
        format!("{}: {}", of_all(estimates.failures_stopped), told(&estimates.stop_recall)),
        told(&summary.ratios_in(unit).useful),
        match summary.ratios_in(unit).cost_of_success.ratio.value {
            Some(ratio) => format!("{:+.0} %", (ratio - 1.0) * 100.0),
            None => "unknown".to_owned(),
        },
        format!("{} of {}", summary.counted(Count::Unknown), summary.runs),
    ]
}

/// Formats a range: `1.1 % (0.3–4.4)`, `0.3–1.1 % (0.1–4.4)`, `≤12 %`, `unknown`.
fn told(range: &RangeEstimate) -> String {
    let Some(value) = bounded_percent(range) else { return "unknown".to_owned() };
    match range.interval() {
        Some(interval) => format!("{value} ({}–{})", digits(interval.low), digits(interval.high)),
        None => format!("{value} (too few tasks for an interval)"),
    }
}

/// What the proposal changes, with the paired differences.
fn sentence(rows: &Rows, default: &Summary, proposed: &Summary, unit: Unit) -> String {
    let mut groups = by_stack(rows);
    groups.retain(|group| group.stack == default.stack || group.stack == proposed.stack);
    let pair = pairs(&groups, &default.stack, unit).into_iter().next();
    let Some(pair) = pair else { return "There is nothing to compare.".to_owned() };
    let mut parts = Vec::new();
    let told = |difference: &Difference| {
        let comparison = &difference.comparison;
        let (value, interval) = (comparison.value?, comparison.interval?);
        let points = |value: f64| format!("{:+.1}", value * 100.0);
        Some(format!("{} points (95 %: {} to {})", points(value), points(interval.low), points(interval.high)))
    };
    let (here, there) = (pair.killed_here, pair.killed_there);
    let successes = |n: u64| count(n, "success");
    parts.push(match (here, there) {
        _ if proposed.counted(Count::JudgedSuccesses) == 0 => "no success could be judged".to_owned(),
        _ if pair.successes == 0 => "which of them kills fewer successes is not known".to_owned(),
        (0, 0) => "both kill the same successes".to_owned(),
        (here, 0) => format!("the proposal kills {} more, and spares none", successes(here)),
        (0, there) => format!("the proposal spares {} that the default kills, and kills no others", successes(there)),
        (here, there) => {
            format!("the proposal spares {} that the default kills, and kills {here} others", successes(there))
        }
    });
    if let Some(told) = told(&pair.fes_rate).filter(|_| here + there > 0) {
        parts.push(format!("killed successes {told}"));
    }
    if let Some(told) = told(&pair.saved_ratio) {
        parts.push(format!("{} saved {told}", unit.noun()));
    }
    let beyond_chance =
        |difference: &Difference| matches!(difference.p_adjusted.or(difference.comparison.p), Some(p) if p < 0.05);
    let close = match (beyond_chance(&pair.fes_rate), beyond_chance(&pair.saved_ratio)) {
        _ if pair.successes == 0 => "One of them speaks to the agent, and what an agent does then is not recorded.",
        (true, true) => "Both differences are beyond chance.",
        (true, false) => "The difference in killed successes is beyond chance, that in savings is not shown to be.",
        (false, true) => "The difference in savings is beyond chance, that in killed successes is not shown to be.",
        (false, false) => "Neither difference is shown to be beyond chance on so few runs.",
    };
    let text = parts.join("; ");
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("**{first}{}.** {close}", letters.as_str())
}

/// The models and suites of the runs.
fn made_of(rows: &Rows) -> String {
    let named = |of: for<'r> fn(RowView<'r>) -> Option<&'r Label>| -> Option<String> {
        let names: std::collections::BTreeSet<&str> = rows.iter().filter_map(of).map(|name| &**name).collect();
        let names: Vec<String> = names.into_iter().map(code).collect();
        if names.is_empty() { None } else { Some(first_of(&names, NAMED)) }
    };
    let mut text = String::new();
    if let Some(models) = named(|row| row.model()) {
        let _ = write!(text, "; models {models}");
    }
    if let Some(suites) = named(|row| row.suite()) {
        let _ = write!(text, "; suites {suites}");
    }
    text
}
