//! One run told step by step: what the agent did, what each stack's signals read, and who stopped it.

mod trail;

use std::fmt;
use std::sync::Arc;

use crate::decision::{Decision, RuleReading, Strategy};
use crate::diagnostic;
use crate::replay::{Replay, replay_seen};
use crate::transcript::{Event, Message, Moment, Role, Run};
use crate::verdict::Course;

pub use trail::{TrailLine, first_actions, trail_lines};

/// The story of one run.
#[derive(Clone, Debug)]
pub struct Explanation {
    title: Vec<String>,
    steps: Vec<Vec<String>>,
    ends: Vec<String>,
}

impl Explanation {
    /// Tells `run` under `strategies`, with at most `width` characters of each text.
    pub fn of(run: &Run, strategies: &[Arc<dyn Strategy>], width: usize) -> Self {
        let (replays, readings): (Vec<Replay>, Vec<_>) =
            strategies.iter().map(|strategy| replay_with_readings(run, strategy)).unzip();
        let steps = (0..run.steps().len())
            .map(|index| {
                let mut lines = told_step(run, index, width);
                for ((strategy, replay), readings) in strategies.iter().zip(&replays).zip(&readings) {
                    lines.extend(readings[index].clone());
                    let here = replay.trail.iter().filter(|decision| decision.point.step as usize == index);
                    lines.extend(here.map(|decision| told_decision(strategy.name(), decision)));
                }
                lines
            })
            .collect();
        let course = Course::of(run);
        let ends =
            strategies.iter().zip(&replays).map(|(strategy, replay)| told_end(strategy.name(), replay, &course, run));
        Self { title: title(run), steps, ends: ends.collect() }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Ids and texts are the recording's own words: none of them begins a line.
        for line in self.title.iter().map(|line| diagnostic::one_line(line)) {
            writeln!(f, "{line}")?;
        }
        for (index, lines) in self.steps.iter().enumerate() {
            for (nth, line) in lines.iter().enumerate() {
                let margin = if nth == 0 { format!("{index:>4}") } else { "    ".to_owned() };
                writeln!(f, "{margin}  {}", diagnostic::one_line(line))?;
            }
        }
        for line in self.ends.iter().map(|line| diagnostic::one_line(line)) {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

fn title(run: &Run) -> Vec<String> {
    let header = &run.header;
    let known = [("task", &header.task_id), ("suite", &header.suite), ("model", &header.model)];
    let known: Vec<String> =
        known.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}"))).collect();
    let secured =
        crate::verdict::secured_step(run.secured()).map_or_else(String::new, |s| format!(", secured at step {s}"));
    vec![
        format!("run {} ({})", header.run_id, known.join(", ")),
        format!("{} steps, outcome {}, ended by {}{secured}", run.steps().len(), run.grade.outcome, run.grade.end),
    ]
}

/// What the agent said, asked for and got.
fn told_step(run: &Run, index: usize, width: usize) -> Vec<String> {
    let step = run.steps()[index];
    let mut lines = Vec::new();
    if let Some(reply) = run.reply(index) {
        let tokens = reply
            .usage
            .and_then(|usage| usage.total())
            .map_or_else(String::new, |tokens| format!(" [{tokens} tokens]"));
        let text = one_line(&reply.text(), width);
        lines.push(format!("{}{tokens}", if text.is_empty() { "(no text)" } else { &text }));
        for call in &reply.tool_calls {
            lines.push(format!("-> {} {}", call.name, one_line(&call.arguments.as_str(), width)));
        }
    }
    let results = run.events()[step.reply..step.end].iter().filter_map(Event::message).filter(|m| m.role == Role::Tool);
    lines.extend(results.filter(|result| result.is_result()).map(|result| told_result(result, width)));
    lines
}

fn told_result(result: &Message, width: usize) -> String {
    let flag = match result.is_error {
        Some(true) => "<- error: ",
        _ => "<- ",
    };
    format!("{flag}{}", one_line(&result.text(), width))
}

/// The replay, and for each step what the strategy's rules read at its last point, up to the stop: reading against
/// limit, and the framework's own words at any of its points.
fn replay_with_readings(run: &Run, strategy: &Arc<dyn Strategy>) -> (Replay, Vec<Vec<String>>) {
    let (mut numbers, mut words) = (vec![None; run.steps().len()], vec![Vec::new(); run.steps().len()]);
    let name = strategy.name();
    let replay = replay_seen(run, strategy, |view, watch| {
        let step = view.point().step as usize;
        let (Some(numbers), Some(words)) = (numbers.get_mut(step), words.get_mut(step)) else { return };
        let (said, read): (Vec<_>, Vec<_>) = watch.readings().into_iter().partition(|reading| reading.words.is_some());
        words.extend(said.iter().map(|reading| format!("   {name}: {}", told_reading(reading))));
        if view.moment() > Moment::BeforeRequest && !read.is_empty() {
            let read: Vec<String> = read.iter().map(told_reading).collect();
            *numbers = Some(format!("   {name}: {}", read.join("; ")));
        }
    });
    (
        replay,
        numbers.into_iter().zip(words).map(|(numbers, words)| numbers.into_iter().chain(words).collect()).collect(),
    )
}

fn told_reading(reading: &RuleReading) -> String {
    if let Some(words) = &reading.words {
        return format!("{}: {}", reading.what, one_line(words, 100));
    }
    let number = |number: f64| format!("{}", (number * 1000.0).round() / 1000.0);
    let observed = reading.observed.map_or_else(|| "-".to_owned(), number);
    let limit = reading.limit.map_or_else(String::new, |limit| format!("/{limit}"));
    let mark = if reading.passes { " !" } else { "" };
    format!("{} {observed}{limit}{mark}", reading.what)
}

fn told_decision(name: &str, decision: &Decision) -> String {
    let evidence = match (decision.evidence.observed, decision.evidence.limit) {
        (Some(observed), Some(limit)) => format!(": observed {observed}, limit {limit}"),
        (Some(observed), None) => format!(": observed {observed}"),
        _ => String::new(),
    };
    let detail = decision.detail.as_ref().map_or_else(String::new, |detail| format!(" ({})", one_line(detail, 100)));
    format!("## {name}: {} {} by {}{evidence}{detail}", decision.action, decision.point.moment, decision.rule)
}

fn told_end(name: &str, replay: &Replay, course: &Course, run: &Run) -> String {
    let verdict = course.verdict(replay.stop.as_ref().map(|stop| stop.point));
    let stop = replay.stop.as_ref().map_or_else(
        || "ran to the end".to_owned(),
        |stop| format!("stopped at {} of {} steps by {}", stop.point.steps_paid(), run.steps().len(), stop.rule),
    );
    let missing: Vec<&str> = replay.not_evaluable.iter().map(|missing| missing.need.name()).collect();
    let missing = if missing.is_empty() { String::new() } else { format!("; not recorded: {}", missing.join(", ")) };
    format!("=> {name}: {stop}: {verdict} ({}){missing}", replay.exactness.name())
}

/// The text on one line, cut to `width` characters.
fn one_line(text: &str, width: usize) -> String {
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= width {
        return flat;
    }
    let kept: String = flat.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}
