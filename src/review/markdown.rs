//! A check as Markdown, for a job summary or a comment on a pull request.

use std::fmt::Write as _;

use super::{ChangeReview, Changed, CheckResult, LineFinding, net_effect};
use crate::diagnostic::one_line;
use crate::report::{code, prose};

/// A GitHub comment holds 65,536 characters; longer text is cut, with a note.
const LONGEST: usize = 60_000;

/// Maximum groups that are listed.
const GROUPS: usize = 20;

/// The full report: the verdict, the net effect, the gates, what changed, and the runs that matter most.
pub fn markdown(checked: &CheckResult, judged: bool) -> String {
    let mut text = String::new();
    if judged {
        let mark = if checked.failed() { "❌" } else { "✅" };
        let _ = writeln!(text, "### {mark} whenstop: {}\n", prose(&checked.sentence()));
    } else if let Some(review) = &checked.review {
        let _ = writeln!(text, "### whenstop: {}\n", prose(&review.sentence()));
    }
    if let Some(review) = &checked.review {
        effect(review, &mut text);
    }
    if !checked.gates.is_empty() {
        text += "| gate | stack | | why |\n| --- | --- | --- | --- |\n";
        for gate in &checked.gates {
            let result = &gate.result;
            let word = if result.failed { "**failed**" } else { "passed" };
            // A bar would end the table cell.
            let cell = |text: &str| text.replace('|', "\\|");
            let (gate, stack) = (cell(&code(&result.gate)), cell(&code(&result.stack)));
            let _ = writeln!(text, "| {gate} | {stack} | {word} | {} |", cell(&prose(&result.why)));
        }
        text.push('\n');
    }
    for advice in &checked.advice {
        let _ = writeln!(text, "- {}", prose(&advice.advice()));
    }
    if !checked.advice.is_empty() {
        text.push('\n');
    }
    if let Some(review) = &checked.review {
        changes(review, &mut text);
        in_full(review, &mut text);
    }
    if judged && checked.is_unaccepted() {
        text += "If these changes are meant: run `whenstop ci review`, and commit the snapshot.\n";
    }
    cut(text)
}

/// The warnings of a lint as a list, each with its location.
pub fn lint_markdown(findings: &[LineFinding]) -> String {
    let mut text = match findings.len() {
        0 => "### ✅ whenstop rules lint: no warning\n".to_owned(),
        1 => "### ⚠️ whenstop rules lint: 1 warning\n\n".to_owned(),
        n => format!("### ⚠️ whenstop rules lint: {n} warnings\n\n"),
    };
    for finding in findings {
        let _ = writeln!(text, "- {}: {}", code(&finding.at.to_string()), prose(&finding.message));
    }
    cut(text)
}

fn effect(review: &ChangeReview, text: &mut String) {
    for notice in review.notices() {
        let _ = writeln!(text, "- {}", prose(&notice));
    }
    let table = net_effect(review);
    if !table.rows.is_empty() {
        let _ = writeln!(text, "\n{}", table.to_markdown());
    }
    let same = review.unchanged();
    if !same.is_empty() {
        let _ = writeln!(text, "As before: {}.\n", prose(&super::listed(&same)));
    }
}

fn changes(review: &ChangeReview, text: &mut String) {
    if review.changes.is_empty() {
        return;
    }
    let _ = writeln!(text, "**{}**\n", prose(&review.sentence()));
    for group in review.groups.iter().take(GROUPS) {
        let _ = writeln!(text, "- {}", prose(&group.sentence()));
    }
    if review.groups.len() > GROUPS {
        let _ = writeln!(text, "- and {} more kinds of change", review.groups.len() - GROUPS);
    }
    text.push('\n');
}

/// The most important changes, with the texts around each stop. Those are fenced, so that nothing in them is markup.
fn in_full(review: &ChangeReview, text: &mut String) {
    let told = review.in_full();
    if told.is_empty() {
        return;
    }
    let _ = writeln!(text, "#### {}\n", super::told_title(told.len(), review.changes.len()));
    for change in told {
        told_change(change, text);
    }
}

fn told_change(change: &Changed, text: &mut String) {
    let (run, stack) = (code(&change.run), code(&change.stack));
    let (before, now) = (prose(&change.before.told()), prose(&change.now.told()));
    let _ = writeln!(text, "**{run}** under {stack}: was {before}; now {now}\n");
    if let Some(words) = &change.words {
        *text += "```text\n";
        for said in &words.lines {
            let _ = writeln!(text, "{:>5} {:<6} {}", said.step, said.kind.name(), one_line(&said.text));
        }
        *text += "```\n\n";
    }
}

fn cut(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind("\n**").unwrap_or(end);
    format!("{}\n\n… and more: the rest is in the JSON report.\n", &text[..end])
}
