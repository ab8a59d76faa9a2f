//! What became of a prediction, in words.

use crate::against::{CheckEstimates, CheckVerdict, NotComparable, PredictionCheck, ShareOfSuccesses, Side};
use crate::aggregate::Unit;
use crate::answers::{AgainstAnswer, AgainstLine, WhyNotCompared};
use crate::diagnostic::count;
use crate::words::{chosen, digits, grouped, signed_interval, some_of};

/// Names of a one-sided model or suite that are listed.
const NAMED: usize = 4;

/// What became of one stack's prediction, in a few sentences.
pub fn against_line(line: &AgainstLine) -> String {
    let name = match &line.class {
        Some(class) => format!("`{}` on `{class}`", line.stack),
        None => format!("`{}`", line.stack),
    };
    let check = match &line.result {
        Ok(check) => check,
        Err(why) => return format!("{name} was not compared: {}.", why_not_compared(why)),
    };
    let found = &check.estimates;
    match check.verdict {
        CheckVerdict::NotInForce => {
            return format!(
                "{name} was not in force: {} % of the {} with it go on where it ends them, and at most 2 % may. Compare \
                 the limit that those runs had.",
                digits(1.0 - check.in_force),
                count(check.runs[1], "run"),
            );
        }
        CheckVerdict::SomethingElseChanged => {
            return format!(
                "Something else changed: before {}, where {name} can change nothing, {}{}. What it did cannot be told \
                 from these recordings: compare runs with the same model, prompt and settings.",
                from(line),
                control(found),
                ends(found.control),
            );
        }
        _ => {}
    }
    let mut sentences = vec![format!(
        "{name} was to kill {} % of the successes{}; {}.",
        digits(found.killed.value),
        ends(found.killed),
        lost(found.lost),
    )];
    sentences.push(verdict(line, check));
    sentences.extend(cost(found, line.unit));
    if found.control.is_beyond_chance() {
        let before = format!("Before {} {}{}", from(line), control(found), ends(found.control));
        sentences.push(format!("{before}: a small part has another cause."));
    }
    sentences.join(" ")
}

/// Where the limit begins to matter.
fn from(line: &AgainstLine) -> &'static str {
    if line.told.is_some() { "the notice" } else { "the stop" }
}

fn ends(share: ShareOfSuccesses) -> String {
    signed_interval(share.interval.map(|interval| (interval.low, interval.high)))
}

fn lost(lost: ShareOfSuccesses) -> String {
    if lost.value < 0.0 {
        let interval = ends(lost).replace(" (", " (lost: ");
        format!("really {} % more succeed{interval}", digits(-lost.value))
    } else {
        format!("really {} % were lost{}", digits(lost.value), ends(lost))
    }
}

fn control(found: &CheckEstimates) -> String {
    let change = if found.control.value < 0.0 { "fewer" } else { "more" };
    format!("{} points {change} were solved", digits(found.control.value.abs()))
}

fn verdict(line: &AgainstLine, check: &PredictionCheck) -> String {
    let error = check.estimates.error;
    let from = from(line);
    let points = format!("{} points{}", digits(error.value.abs()), ends_of_size(error));
    let why = if line.told.is_some() { ": the agent was told its limit" } else { "" };
    let too = |what: &str| format!("From {from} on the replay was too {what} by {points}{why}.");
    match check.verdict {
        CheckVerdict::TooPessimistic => too("pessimistic"),
        CheckVerdict::TooOptimistic => too("optimistic"),
        CheckVerdict::CannotBeTold { half_width, needed } => {
            let mut enough = format!("{} tasks", grouped(needed.tasks));
            if let Some(trials) = needed.trials {
                enough = format!("{enough} or {} a side", count(trials, "trial"));
            }
            format!(
                "Whether that came true cannot be told: ±{} points from {from} on; {enough} would show {}.",
                digits(half_width),
                chosen(line.margin),
            )
        }
        _ => format!(
            "It came true: from {from} on the replay was off by {} points{}, within {}.",
            digits(error.value),
            ends(error),
            chosen(line.margin),
        ),
    }
}

/// The interval of an error's size: both ends without the sign, the smaller first.
fn ends_of_size(share: ShareOfSuccesses) -> String {
    let Some(interval) = share.interval else { return String::new() };
    let (low, high) = if share.value < 0.0 { (-interval.high, -interval.low) } else { (interval.low, interval.high) };
    signed_interval(Some((low, high)))
}

/// What a success costs, against what was predicted.
fn cost(found: &CheckEstimates, unit: Unit) -> Option<String> {
    let recorded = found.cost.recorded.filter(|recorded| *recorded > 0.0)?;
    let (predicted, real) = (found.cost.predicted? / recorded - 1.0, found.cost.real? / recorded - 1.0);
    let change = |share: f64| format!("{} % {}", digits(share.abs()), if share < 0.0 { "less" } else { "more" });
    let compared = if change(real) == change(predicted) {
        "as predicted".to_owned()
    } else if real.is_sign_negative() == predicted.is_sign_negative() {
        format!("not {} %", digits(predicted.abs()))
    } else {
        format!("not {}", change(predicted))
    };
    Some(format!("A success costs {}, {compared} (in {}).", change(real), unit.words()))
}

/// Why nothing was compared, and what is missing.
pub fn why_not_compared(why: &WhyNotCompared) -> String {
    let missing = match why {
        WhyNotCompared::NoticeUnknown => {
            return "the agent is told of its limit, and nothing says when: add `notice = 1`, the steps left then, or \
                    `notice = \"75 %\"`, to the stack"
                .to_owned();
        }
        WhyNotCompared::Recordings(missing) => missing,
    };
    match missing {
        NotComparable::NoSharedTask { before, after } => format!(
            "none of the {before} tasks before is among the {after} after; `--task` says where the tasks are named"
        ),
        NotComparable::FewShared { shared, before, after } => {
            format!("only {shared} of {before} tasks before and {after} after are in both, and it takes four fifths")
        }
        NotComparable::FewTasks { shared, least } => {
            format!("{} in both, and it takes {least}", count(*shared, "task"))
        }
        NotComparable::OneSided { what, side, names } => {
            let side = if *side == Side::Before { "before" } else { "after" };
            let names: Vec<String> = names
                .iter()
                .map(|name| if name.is_empty() { "none".to_owned() } else { format!("`{name}`") })
                .collect();
            format!("{what} {} is only in the recordings {side}; leave its runs out", some_of(&names, NAMED))
        }
        NotComparable::NoSuccessBefore => "no run before succeeded, so there was nothing to lose".to_owned(),
        NotComparable::FewEvents { events, least } => format!(
            "{} got as far as the notice or the stop, before and after together, and it takes {least}",
            count(*events, "success"),
        ),
    }
}

/// What is said below the table.
pub fn against_notes(answer: &AgainstAnswer) -> Vec<String> {
    let mut notes = vec![
        "points and percent are of the successes before; intervals are 95 %, by task, and those of all columns are in \
         `--format csv`. before the notice: successes gained where the limit can change nothing. error: lost beyond the \
         prediction from the notice on (the stop, if there is none)"
            .to_owned(),
    ];
    let [before, after] = answer.ungraded;
    if before + after > 0 {
        notes.push(format!("left out because nobody graded them: {} before, {after} after", count(before, "run")));
    }
    for line in answer.lines.iter().filter(|line| line.class.is_none()) {
        let [before, after] = line.unread;
        if before + after > 0 {
            let runs = count(before, "run");
            notes.push(format!(
                "left out because a rule of `{}` could not be read: {runs} before, {after} after",
                line.stack
            ));
        }
    }
    notes
}
