//! The run as a line of steps for each stack: its actions on the way, and where it stopped.

use crate::decision::Action;
use crate::replay::Replay;
use crate::transcript::Run;
use crate::verdict::Course;
use crate::words::shortened;

/// Maximum columns of the line of steps.
const BAR: usize = 36;

/// Maximum columns of a stack's name.
const NAME: usize = 18;

/// One line per stack below a scale of steps. `-` is a step that is run, `X` the stop, `.` a step it saves, `|` the
/// end of the recording; letters are those of `explain --first`.
pub(super) fn timeline(run: &Run, named: &[(&str, &Replay)], course: &Course) -> Vec<String> {
    let steps = run.steps().len();
    if steps == 0 || named.is_empty() {
        return Vec::new();
    }
    // In long runs a column stands for several steps.
    let per_column = steps.div_ceil(BAR);
    let columns = steps.div_ceil(per_column);
    let width = named.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).clamp(5, NAME);
    let mut lines = vec![format!("{:<width$}  {}", "step", scale(columns, per_column))];
    for (name, replay) in named {
        let mut bar: Vec<char> = vec!['-'; columns];
        let column = |step: u32| (step as usize / per_column).min(columns - 1);
        for decision in &replay.trail {
            bar[column(decision.point.step)] = decision.action.letter();
        }
        let stop = replay.stop.as_ref();
        if let Some(stop) = stop {
            let at = column(stop.point.step);
            bar[at] = if stop.action == Action::Fail { 'E' } else { 'X' };
            bar[at + 1..].fill('.');
        }
        let verdict = course.verdict(stop.map(|stop| stop.point));
        let words = match stop {
            Some(stop) => format!("{}, {verdict}", stop.point.step),
            None => format!("ends, {verdict}"),
        };
        let bar: String = bar.into_iter().collect();
        lines.push(format!("{:<width$}  {bar}|  {words}", shortened(name, width)));
    }
    lines
}

/// Step numbers, from 0, each at the column of its step.
fn scale(columns: usize, per_column: usize) -> String {
    let mut text = String::new();
    for column in (0..columns).step_by(10) {
        let number = (column * per_column).to_string();
        while text.chars().count() < column {
            text.push(' ');
        }
        if column + number.len() <= columns.max(1) + 1 {
            text += &number;
        }
    }
    text.trim_end().to_owned()
}
