//! Prints a review at a terminal: the net effect first, then what changed, then the runs that matter most.

use crate::cli::failure::CommandFailure;
use crate::cli::output::{LineStyle, Output, TableFormat, filled, line_width};
use crate::diagnostic::one_line;
use crate::review::{ChangeReview, Changed, CheckResult, CheckedGate, listed, net_effect, told_title};
use crate::words::cut;

/// Maximum groups that are listed.
const GROUPS: usize = 12;

/// Prints a check: what changed, the gates, and the verdict.
pub(super) fn checked(checked: &CheckResult, all: bool, output: &Output) -> Result<(), CommandFailure> {
    if let Some(told) = &checked.review {
        changes(told, all, output)?;
    }
    if checked.is_unaccepted() {
        output.data("\n");
        output.paragraph("if that is meant: `whenstop ci review` takes it over, change by change or kind by kind; commit the snapshot");
    }
    if checked.judged_by_gates() > 0 {
        output.data("\n");
        output.paragraph("the gates judge the new runs; `whenstop ci accept` takes them into the snapshot");
    }
    for gate in &checked.gates {
        let result = &gate.result;
        let word = if result.failed { "FAILED" } else { "passed" };
        let style = if result.failed { LineStyle::Stop } else { LineStyle::Good };
        output.styled_paragraph(style, &format!("gate {} {word}{}: {}", result.gate, gate.for_stack(), result.why));
    }
    let (failing, holding): (Vec<&CheckedGate>, Vec<&CheckedGate>) =
        checked.advice.iter().partition(|held| held.result.failed);
    if !failing.is_empty() {
        let gates: Vec<&str> = failing.iter().map(|held| held.result.gate.as_str()).collect();
        output.paragraph(&format!("advice, not shown to hold yet: {}", gates.join(", ")));
    }
    for held in holding {
        output.paragraph(&held.advice());
    }
    let style = if checked.failed() { LineStyle::Stop } else { LineStyle::Good };
    output.styled_paragraph(style, &checked.sentence());
    Ok(())
}

/// Prints what changed, and how to see the rest of it.
pub(super) fn changes(told: &ChangeReview, all: bool, output: &Output) -> Result<(), CommandFailure> {
    let rest = review(told, all, output)?;
    if rest > 0 {
        output.data(&format!("\n{rest} more changes: `--all` tells them, `--format json` has them all\n"));
    }
    Ok(())
}

/// Prints what changed; gives the number of changes that are only counted. `all` lists every changed run.
pub(super) fn review(review: &ChangeReview, all: bool, output: &Output) -> Result<usize, CommandFailure> {
    let notices = review.notices();
    for notice in &notices {
        output.paragraph(notice);
    }
    let effect = net_effect(review);
    if !effect.rows.is_empty() {
        if !notices.is_empty() {
            output.data("\n");
        }
        output.table(&effect, TableFormat::Table)?;
        let same = review.unchanged();
        if !same.is_empty() {
            output.paragraph(&format!("as before: {}", listed(&same)));
        }
        output.data("\n");
    }
    output.paragraph(&review.sentence());
    for group in review.groups.iter().take(GROUPS) {
        output.data(&hanging("- ", &group.sentence()));
    }
    if review.groups.len() > GROUPS {
        let more = &review.groups[GROUPS..];
        let runs: usize = more.iter().map(|group| group.runs.len()).sum();
        output.data(&format!("- and {} more kinds of change, of {runs} stop points\n", more.len()));
    }
    let told = if all { &review.changes[..] } else { review.in_full() };
    if !told.is_empty() {
        output.data(&format!("\n{}:\n", told_title(told.len(), review.changes.len())));
    }
    for change in told {
        tell(change, output);
    }
    Ok(review.changes.len() - told.len())
}

/// Prints a changed run on a line: before and now.
pub(super) fn in_one_line(change: &Changed, output: &Output) {
    let (before, now) = (change.before.told(), change.now.told());
    let (run, stack) = (one_line(&change.run), one_line(&change.stack));
    output.data(&hanging("", &format!("{run} under {stack}: was {before}; now {now}")));
}

/// Prints a changed run in full: before, now, and the texts around the stop.
pub(super) fn tell(change: &Changed, output: &Output) {
    output.data("\n");
    in_one_line(change, output);
    let Some(words) = &change.words else { return };
    for said in &words.lines {
        let line = format!("{:>6} {:<6} {}", said.step, said.kind.name(), one_line(&said.text));
        output.data(&format!("{}\n", cut(&line, line_width())));
    }
}

/// Wraps text between words; the first line starts after `mark`, the others are indented. Unlike
/// [`broken`](crate::cli::output::broken) it may begin a line with a `%`.
fn hanging(mark: &str, text: &str) -> String {
    filled(one_line(text).split(' '), mark, 2, line_width()).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_line_begins_beside_its_mark_and_breaks_at_every_blank() {
        let wide = "w".repeat(line_width());
        assert_eq!(hanging("- ", &format!("{wide} then")), format!("- {wide}\n  then\n"));
        let full = "w".repeat(line_width() - 4);
        assert_eq!(hanging("- ", &format!("{full} 5 %")), format!("- {full} 5\n  %\n"));
        assert_eq!(hanging("", &format!("{wide} then")), format!("{wide}\n  then\n"));
    }
}
