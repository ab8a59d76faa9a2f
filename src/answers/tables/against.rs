//! `against.csv` and `against-steps.csv`: what a limit was predicted to do, and what it did.

use super::{DataTable, FileColumns, TableCell};
use crate::against::{CheckEstimates, CheckVerdict, PredictionCheck, ShareOfSuccesses, SolvedByStep};
use crate::answers::{AgainstAnswer, AgainstLine, words};
use crate::words::digits;

/// The columns of `against.csv`.
pub fn against_columns() -> FileColumns<'static, AgainstLine> {
    let columns = FileColumns::new()
        .text("stack", "The stack.", |line: &AgainstLine| line.stack.to_string())
        .some_label("class", "The class of `--by`; empty for all runs.", |line| line.class.as_ref())
        .text("verdict", "What the comparison amounts to.", |line| verdict_name(line).to_owned())
        .some_text("refused", "Why the two sets of recordings were not compared.", |line| {
            line.result.as_ref().err().map(words::why_not_compared)
        })
        .count("told", "1 if the agent is told of the limit.", |line| u64::from(line.told.is_some()))
        .some_count("notice_step", "The step, from 1, before which the agent is told that the end is near.", |line| {
            line.told?.notice.map(u64::from)
        })
        .number("margin", "The largest error that counts as none.", |line| Some(line.margin));
    estimates(counts(columns))
}

fn counts(columns: FileColumns<'static, AgainstLine>) -> FileColumns<'static, AgainstLine> {
    columns
        .some_count("tasks", "Tasks in both sets.", |line| check(line).map(|check| check.tasks as u64))
        .some_count("cells", "Cells in both: a task as one model of one suite works on it.", |line| {
            check(line).map(|check| check.cells as u64)
        })
        .some_count("runs_before", "Runs in these cells without the limit.", |line| {
            check(line).map(|check| check.runs[0] as u64)
        })
        .some_count("runs_after", "Runs with the limit.", |line| check(line).map(|check| check.runs[1] as u64))
        .some_count("successes_before", "Successes among the runs before.", |line| {
            check(line).map(|check| check.successes[0] as u64)
        })
        .some_count("successes_after", "Successes among the runs after.", |line| {
            check(line).map(|check| check.successes[1] as u64)
        })
}

/// Shares are of the successes before; each cell counts once.
fn estimates(columns: FileColumns<'static, AgainstLine>) -> FileColumns<'static, AgainstLine> {
    let columns = share(columns, "killed_rate", "Predicted: successes that the limit cuts", |found| found.killed);
    let columns = share(columns, "at_risk_rate", "Successes that had got as far as the notice", |found| found.at_risk);
    let columns = share(columns, "lost_rate", "Successes really lost, before less after", |found| found.lost);
    let columns =
        share(columns, "control", "Successes gained before the notice, where the limit can change nothing", |found| {
            found.control
        });
    let columns = share(columns, "error", "Lost beyond the prediction from the notice on", |found| found.error);
    columns
        .number("reached_before", "The share of the runs before that got as far as the notice.", |line| {
            found(line).map(|found| found.reached[0])
        })
        .number("reached_after", "The share of the runs after that did.", |line| {
            found(line).map(|found| found.reached[1])
        })
        .number("in_force_share", "The share of the runs after that end where the limit ends them.", |line| {
            check(line).map(|check| check.in_force)
        })
        .text("cost_unit", "What the cost of a success is counted in.", |line| line.unit.name().to_owned())
        .number("cost_of_success_before", "What a success costs without the limit.", |line| found(line)?.cost.recorded)
        .number("cost_of_success_predicted", "What it was predicted to cost with the limit.", |line| {
            found(line)?.cost.predicted
        })
        .number("cost_of_success_after", "What it costs with the limit.", |line| found(line)?.cost.real)
        .number("noise", "The part of the error's variance that repeated trials show.", |line| found(line)?.noise)
        .number("detectable", "The error that would be found four times out of five.", |line| found(line)?.detectable)
}

fn share(
    columns: FileColumns<'static, AgainstLine>,
    name: &'static str,
    meaning: &str,
    share: fn(&CheckEstimates) -> ShareOfSuccesses,
) -> FileColumns<'static, AgainstLine> {
    columns
        .number(name, &format!("{meaning}, as a share of the successes before."), move |line| {
            found(line).map(|found| share(found).value)
        })
        .ends(name, &format!("the 95 % interval of `{name}`"), move |line| share(found(line)?).interval)
}

fn check(line: &AgainstLine) -> Option<&PredictionCheck> {
    line.result.as_ref().ok()
}

fn found(line: &AgainstLine) -> Option<&CheckEstimates> {
    check(line).map(|check| &check.estimates)
}

/// The name of a line's verdict in tables.
fn verdict_name(line: &AgainstLine) -> &'static str {
    match check(line).map(|check| check.verdict) {
        None => "refused",
        Some(CheckVerdict::CameTrue) => "came_true",
        Some(CheckVerdict::TooPessimistic) => "too_pessimistic",
        Some(CheckVerdict::TooOptimistic) => "too_optimistic",
        Some(CheckVerdict::CannotBeTold { .. }) => "cannot_be_told",
        Some(CheckVerdict::SomethingElseChanged) => "something_else_changed",
        Some(CheckVerdict::NotInForce) => "not_in_force",
    }
}

/// The table for a terminal: the intervals are in the sentences and in `against.csv`.
pub fn against_overview(answer: &AgainstAnswer) -> DataTable {
    let has_classes = answer.lines.iter().any(|line| line.class.is_some());
    let mut columns = vec!["stack".to_owned()];
    if has_classes {
        columns.push("class".to_owned());
    }
    columns.extend(
        ["tasks", "predicted, %", "at risk, %", "lost, %", "before the notice", "error, points", "verdict"]
            .map(str::to_owned),
    );
    let mut rows = Vec::new();
    for line in &answer.lines {
        let mut row = vec![TableCell::Text(line.stack.to_string())];
        if has_classes {
            let class = line.class.as_deref().unwrap_or("all runs");
            row.push(TableCell::Text(class.to_owned()));
        }
        row.extend(against_line_cells(line));
        rows.push(row);
    }
    DataTable { columns, rows }
}

/// The cells of a line for a terminal, from the tasks on.
fn against_line_cells(line: &AgainstLine) -> Vec<TableCell> {
    let verdict = TableCell::Text(verdict_name(line).replace('_', " "));
    let Some(check) = check(line) else {
        return std::iter::repeat_n(TableCell::Missing, 6).chain([verdict]).collect();
    };
    let found = &check.estimates;
    let share = |share: ShareOfSuccesses| TableCell::Text(digits(share.value));
    vec![
        TableCell::Count(check.tasks as u64),
        share(found.killed),
        share(found.at_risk),
        share(found.lost),
        share(found.control),
        share(found.error),
        verdict,
    ]
}

/// A line of `against-steps.csv`.
#[derive(Clone, Debug)]
pub struct AgainstStep {
    /// The class; `None` for all runs.
    pub class: Option<String>,
    /// What was solved by the step.
    pub solved: SolvedByStep,
}

/// The lines of `against-steps.csv`: what was solved by each step does not depend on the stack.
pub fn against_steps(lines: &[AgainstLine]) -> DataTable {
    let mut steps = Vec::new();
    let first = lines.first().map(|line| &line.stack);
    for line in lines.iter().filter(|line| Some(&line.stack) == first) {
        let class = line.class.as_ref().map(ToString::to_string);
        for solved in check(line).map(|check| check.by_step.as_slice()).unwrap_or_default() {
            steps.push(AgainstStep { class: class.clone(), solved: *solved });
        }
    }
    if steps.is_empty() {
        let columns = against_step_columns().specs().into_iter().map(|column| column.name);
        return DataTable { columns: columns.collect(), rows: Vec::new() };
    }
    against_step_columns().table(steps)
}

/// The columns of `against-steps.csv`.
pub fn against_step_columns() -> FileColumns<'static, AgainstStep> {
    FileColumns::new()
        .some_text("class", "The class of `--by`; empty for all runs.", |line: &AgainstStep| line.class.clone())
        .count("step", "The step, from 1; only steps at which a run ends are listed.", |line| line.solved.step)
        .number("solved_before", "The share of the runs before that had ended with a success by this step.", |line| {
            Some(line.solved.solved[0])
        })
        .number("solved_after", "The share of the runs after that had.", |line| Some(line.solved.solved[1]))
        .number("running_before", "The share of the runs before that took this step.", |line| {
            Some(line.solved.running[0])
        })
        .number("running_after", "The share of the runs after that did.", |line| Some(line.solved.running[1]))
}
