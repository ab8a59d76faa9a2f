//! Shows one run step by step: what the agent did, the readings of each stack's signals, and which stack stopped it.

mod story;
mod timeline;
mod trail;

use std::fmt;
use std::sync::Arc;

use crate::decision::{Decision, RuleReading, Strategy};
use crate::diagnostic;
use crate::effects::{Effect, EffectReader, EffectTable};
use crate::replay::{Replay, replay_seen};
use crate::transcript::{Lane, Message, Moment, Role, Run, messages};
use crate::verdict::Course;
use crate::words::cut;

pub use story::{Series, StepKind, Story, StoryStep, Texts};
pub use trail::{TrailLine, first_actions, trail_lines};

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Maximum characters of each text.
    pub text: usize,
    /// Maximum columns of a line; longer lines are wrapped.
    pub columns: usize,
    /// Show only this many steps before and after each stop; `None` for all steps.
    pub around: Option<usize>,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// About the run as a whole.
    Title,
    /// A stack's line of steps.
    Timeline,
    /// What was done, or the reading of a rule.
    Step,
    /// An action of a stack other than a stop.
    Decision,
    /// A stack stopped the run.
    Stop,
    /// How it ended for a stack.
    End,
}

/// The story of one run.
#[derive(Clone, Debug)]
pub struct Explanation(Vec<(LineKind, String)>);

impl Explanation {
    /// Explains `run` under `strategies`: a timeline, then step by step, then how the run ended for each.
    pub fn from_run(run: &Run, strategies: &[Arc<dyn Strategy>], extent: Extent, effects: &EffectTable) -> Self {
        let effects = effects_of(run, effects);
        let (replays, readings): (Vec<Replay>, Vec<_>) =
            strategies.iter().map(|strategy| replay_with_readings(run, strategy)).unzip();
        let course = Course::from_run(run);
        let named: Vec<(&str, &Replay)> = strategies.iter().map(|strategy| strategy.name()).zip(&replays).collect();
        let mut story = Self(title(run).into_iter().map(|line| (LineKind::Title, line)).collect());
        story.0.extend(timeline::timeline(run, &named, &course).into_iter().map(|line| (LineKind::Timeline, line)));
        let mut left_out = 0;
        for index in 0..run.steps().len() {
            if !is_told(index, &replays, extent.around) {
                left_out += 1;
                continue;
            }
            story.tell_gap(&mut left_out);
            let mut lines: Vec<(LineKind, String)> = told_step(run, index, &effects[index], extent.text)
                .into_iter()
                .map(|line| (LineKind::Step, line))
                .collect();
            for ((name, replay), readings) in named.iter().zip(&readings) {
                lines.extend(readings[index].iter().map(|line| (LineKind::Step, line.clone())));
                let here = replay.trail.iter().filter(|decision| decision.point.step as usize == index);
                lines.extend(here.map(|decision| {
                    let kind = if decision.action.is_terminal() { LineKind::Stop } else { LineKind::Decision };
                    (kind, told_decision(name, decision))
                }));
            }
            for (nth, (kind, line)) in lines.into_iter().enumerate() {
                let margin = if nth == 0 { format!("{index:>4}") } else { "    ".to_owned() };
                story.0.push((kind, format!("{margin}  {line}")));
            }
        }
        story.tell_gap(&mut left_out);
        story.0.extend(named.iter().map(|(name, replay)| (LineKind::End, told_end(name, replay, &course, run))));
        // Ids and texts come from the recording: none of them may begin a line.
        let broken = |(kind, line): (LineKind, String)| {
            let indent = if matches!(kind, LineKind::Title | LineKind::End) { 3 } else { 9 };
            let columns = if kind == LineKind::Timeline { usize::MAX } else { extent.columns };
            (kind, broken(&diagnostic::one_line(&line), columns, indent))
        };
        Self(story.0.into_iter().map(broken).collect())
    }

    /// The lines with their kinds; long lines are wrapped.
    pub fn lines(&self) -> &[(LineKind, String)] {
        &self.0
    }

    /// Adds a line saying how many steps were left out, if any.
    fn tell_gap(&mut self, left_out: &mut usize) {
        match std::mem::take(left_out) {
            0 => {}
            1 => self.0.push((LineKind::Step, "   …  1 step".to_owned())),
            n => self.0.push((LineKind::Step, format!("   …  {n} steps"))),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(_, line)| writeln!(f, "{line}"))
    }
}

/// Whether a step is shown: those around stops and around other actions of a stack are.
fn is_told(index: usize, replays: &[Replay], around: Option<usize>) -> bool {
    let Some(around) = around else { return true };
    let acted = replays.iter().flat_map(|replay| &replay.trail).map(|decision| decision.point.step as usize);
    let stops = replays.iter().filter_map(|replay| Some(replay.stop.as_ref()?.point.step as usize));
    acted.chain(stops).any(|at| at.abs_diff(index) <= around)
}

/// Wraps a line at `columns`, with continuation lines indented by `indent` more.
fn broken(line: &str, columns: usize, indent: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let (mut lines, mut current, mut length) = (String::new(), String::new(), 0);
    for word in line.split_inclusive(' ') {
        let n = word.trim_end().chars().count();
        if length > indent && length + n > columns {
            lines += current.trim_end();
            lines.push('\n');
            current = " ".repeat(indent);
            length = indent;
        }
        current += word;
        length += word.chars().count();
    }
    lines + current.trim_end()
}

fn title(run: &Run) -> Vec<String> {
    let header = &run.header;
    let known = [("task", &header.task_id), ("suite", &header.suite), ("model", &header.model)];
    let known: Vec<String> =
        known.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
    let secured = match crate::verdict::secured_step(run.secured()) {
        Some(step) => format!(", secured at step {step}"),
        None => String::new(),
    };
    vec![
        format!("run {} ({})", header.run_id, known.join(", ")),
        format!("{} steps, outcome {}, ended by {}{secured}", run.steps().len(), run.grade.outcome, run.grade.end),
    ]
}

/// The effects of the calls of each step, computed in order: a script that is written and run later is then known.
fn effects_of(run: &Run, table: &EffectTable) -> Vec<Vec<Effect>> {
    let mut reader = EffectReader::new(table);
    let steps = 0..run.steps().len();
    steps.map(|step| run.calls(step).iter().map(|call| reader.tell(call).effect).collect()).collect()
}

/// What the agent said, called and got in a step; each call with its effect.
fn told_step(run: &Run, index: usize, effects: &[Effect], width: usize) -> Vec<String> {
    let step = run.steps()[index];
    let mut lines = Vec::new();
    if let Some(reply) = run.reply(index) {
        let tokens = reply.total_tokens().map(|tokens| format!(" [{tokens} tokens]")).unwrap_or_default();
        let text = one_line(&reply.text(), width);
        lines.push(format!("{}{tokens}", if text.is_empty() { "(no text)" } else { &text }));
        for (call, effect) in reply.tool_calls.iter().zip(effects) {
            lines.push(format!("-> {} {} ({effect})", call.name, one_line(&call.arguments.as_str(), width)));
        }
    }
    let results =
        messages(&run.events()[step.reply..step.end]).filter(|m| m.role == Role::Tool && m.lane != Lane::Host);
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

/// The replay, and for each step up to the stop the readings of the strategy's rules at its last point, each against
/// its limit, and the framework's own messages at any of its points.
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
    let limit = reading.limit.map(|limit| format!("/{limit}")).unwrap_or_default();
    let mark = if reading.passes { " !" } else { "" };
    format!("{} {observed}{limit}{mark}", reading.what)
}

fn told_decision(name: &str, decision: &Decision) -> String {
    let evidence = match (decision.evidence.observed, decision.evidence.limit) {
        (Some(observed), Some(limit)) => format!(": observed {observed}, limit {limit}"),
        (Some(observed), None) => format!(": observed {observed}"),
        _ => String::new(),
    };
    let detail = decision.detail.as_ref().map(|detail| format!(" ({})", one_line(detail, 100))).unwrap_or_default();
    format!("## {name}: {} {} by {}{evidence}{detail}", decision.action, decision.point.moment, decision.rule)
}

fn told_end(name: &str, replay: &Replay, course: &Course, run: &Run) -> String {
    let verdict = course.verdict(replay.stop.as_ref().map(|stop| stop.point));
    let stop = match &replay.stop {
        Some(stop) => format!("stopped at {} of {} steps by {}", stop.point.steps_paid(), run.steps().len(), stop.rule),
        None => "ran to the end".to_owned(),
    };
    let missing: Vec<&str> = replay.not_evaluable.iter().map(|missing| missing.need.name()).collect();
    let missing = if missing.is_empty() { String::new() } else { format!("; not recorded: {}", missing.join(", ")) };
    format!("=> {name}: {stop}: {verdict} ({}){missing}", replay.exactness.name())
}

/// The text on one line, cut to `width` characters.
fn one_line(text: &str, width: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), width)
}
