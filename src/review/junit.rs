//! JUnit XML: one test case for each stack's stop points, and one for each gate.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{ChangeReview, CheckResult, LineFinding, StackChange};
use crate::diagnostic::one_line;

/// Maximum changed runs listed in a test case.
const LISTED: usize = 100;

/// A check as JUnit XML. It contains no time, so the same check gives the same bytes. An error means a defect of
/// whenstop.
pub fn junit(checked: &CheckResult) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("whenstop ci check");
    if let Some(review) = &checked.review {
        report.add_test_suite(stop_points(review, checked.judged_by_gates() > 0));
    }
    if !checked.gates.is_empty() {
        let mut suite = TestSuite::new("gates");
        suite.add_test_cases(checked.gates.iter().map(|gate| {
            let result = &gate.result;
            let of_stack = format!("{}:", result.stack);
            let name = if result.gate.starts_with(&of_stack) {
                result.gate.clone()
            } else {
                format!("{of_stack} {}", result.gate)
            };
            let failure = if result.failed { Some((result.why.clone(), String::new())) } else { None };
            case(&name, "whenstop.gate", failure, "gate")
        }));
        report.add_test_suite(suite);
    }
    xml(&report)
}

/// Serialises the report. Jenkins' published schema does not allow `skipped` on the outermost element, and nothing
/// here is skipped.
fn xml(report: &Report) -> Result<String, quick_junit::SerializeError> {
    Ok(report.to_string()?.replacen(" skipped=\"0\"", "", 1))
}

impl LineFinding {
    /// Warnings of `lint` as JUnit XML: one test case each, and one that passes if there is none.
    pub fn junit(findings: &[Self]) -> Result<String, quick_junit::SerializeError> {
        let mut suite = TestSuite::new("lint");
        suite.add_test_cases(findings.iter().map(|finding| {
            case(&finding.at.to_string(), "whenstop.lint", Some((finding.message.clone(), String::new())), "warning")
        }));
        if findings.is_empty() {
            suite.add_test_case(case("no warning", "whenstop.lint", None, "warning"));
        }
        let mut report = Report::new("whenstop rules lint");
        report.add_test_suite(suite);
        xml(&report)
    }
}

/// `fresh`: the gates judge new runs, so it is no failure that there are some.
fn stop_points(review: &ChangeReview, fresh: bool) -> TestSuite {
    let mut suite = TestSuite::new("stop points");
    let runs = &review.corpus;
    let is_same = runs.same_runs() || fresh;
    let corpus = if is_same { None } else { Some((review.notices().swap_remove(0), String::new())) };
    suite.add_test_case(case("the runs are those of the snapshot", "whenstop.corpus", corpus, "corpus"));
    for stack in &review.stacks {
        let failure = match stack.state {
            StackChange::New => Some(("new: nobody has accepted its stop points yet".to_owned(), String::new())),
            StackChange::Gone => Some(("gone: no stack is called so now".to_owned(), String::new())),
            _ if stack.changed > 0 => {
                let word = if stack.changed == 1 { "stop point" } else { "stop points" };
                Some((format!("{} {word} changed", stack.changed), changes(review, &stack.stack)))
            }
            StackChange::Same | StackChange::Changed => None,
        };
        suite.add_test_case(case(&stack.stack, "whenstop.stop-points", failure, "stop-point"));
    }
    suite
}

/// The changed runs of a stack, one per line.
fn changes(review: &ChangeReview, stack: &str) -> String {
    let own = review.changes.iter().filter(|change| change.stack == stack);
    let lines: Vec<String> = own
        .map(|change| {
            let line = format!("{}: was {}; now {}", change.run, change.before.told(), change.now.told());
            one_line(&line).into_owned()
        })
        .collect();
    let more = lines.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!("\nand {more} more") } else { String::new() };
    lines[..lines.len().min(LISTED)].join("\n") + &rest
}

fn case(name: &str, class: &str, failure: Option<(String, String)>, kind: &str) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some((message, text)) = failure {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(one_line(&message).into_owned()).set_type(kind);
        if !text.is_empty() {
            status.set_description(text);
        }
    }
    let mut case = TestCase::new(one_line(name).into_owned(), status);
    case.set_classname(class);
    case
}
