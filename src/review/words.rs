//! The texts around a stop: what the agent did and received just before, and what it did next.

use serde::Serialize;

use crate::transcript::{Moment, Point, Role, Run, messages, named};

/// Maximum characters of a text.
const WIDTH: usize = 160;

/// Maximum lines before the stop, and after it.
const BEFORE: usize = 3;
const AFTER: usize = 3;

/// What was done and received around a stop, in the recording's own words, each cut to a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StopContext {
    /// Number of model calls in the whole recording.
    pub steps: u64,
    /// The lines in order, including the stop itself.
    pub lines: Vec<TranscriptLine>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TranscriptLine {
    /// The step, from 0.
    pub step: u64,
    /// What kind of line it is.
    pub kind: TranscriptKind,
    /// The text, on one line.
    pub text: String,
}

named! {
    /// The speaker of a line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TranscriptKind {
        /// Text of the agent.
        Said = "said",
        /// A tool call, with the arguments.
        Called = "called",
        /// A result.
        Got = "got",
        /// A result flagged as an error.
        Failed = "failed",
        /// A stack stopped the run here.
        Stop = "stop",
    }
}

impl StopContext {
    /// The texts around `at`; `None` for a run that went on to its end.
    pub fn around(run: &Run, at: Option<Point>) -> Self {
        let at = at.or(run.last_point());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let stop = at.map_or(0, |point| point.step as usize);
        for index in stop.saturating_sub(1)..run.steps().len().min(stop + 2) {
            for (moment, said) in told(run, index) {
                // A point has seen its step's reply from `after_response` on, and the results from `after_tools` on.
                let seen = matches!(at, Some(at) if index < stop || (index == stop && at.moment >= moment));
                if seen { before.push(said) } else { after.push(said) }
            }
        }
        let mut lines = before.split_off(before.len().saturating_sub(BEFORE));
        let is_early = at != run.last_point();
        if let Some(at) = at.filter(|_| is_early) {
            let text = format!("stopped {}", at.moment);
            lines.push(TranscriptLine { step: u64::from(at.step), kind: TranscriptKind::Stop, text });
        }
        after.truncate(AFTER);
        lines.extend(after);
        Self { steps: run.steps().len() as u64, lines }
    }
}

/// A step as lines, each with the moment at which it becomes known.
fn told(run: &Run, index: usize) -> Vec<(Moment, TranscriptLine)> {
    let line = |kind, text: &str| TranscriptLine { step: index as u64, kind, text: cut(text) };
    let mut lines = Vec::new();
    if let Some(reply) = run.reply(index) {
        let text = reply.text();
        if !text.trim().is_empty() {
            lines.push((Moment::AfterResponse, line(TranscriptKind::Said, &text)));
        }
        for call in &reply.tool_calls {
            let text = format!("{} {}", call.name, call.arguments.as_str());
            lines.push((Moment::AfterResponse, line(TranscriptKind::Called, &text)));
        }
    }
    let step = run.steps()[index];
    for result in messages(&run.events()[step.reply..step.end])
        .filter(|message| message.role == Role::Tool && message.is_result())
    {
        let kind = if result.is_error == Some(true) { TranscriptKind::Failed } else { TranscriptKind::Got };
        lines.push((Moment::AfterTools, line(kind, &result.text())));
    }
    lines
}

/// The text on one line, cut to a maximum number of characters. Reads no more of a long text than that.
fn cut(text: &str) -> String {
    let mut line = String::new();
    let mut left = WIDTH;
    for word in text.split_whitespace() {
        let blank = usize::from(!line.is_empty());
        if left <= blank {
            line.push('…');
            return line;
        }
        if blank == 1 {
            line.push(' ');
            left -= 1;
        }
        let kept: String = word.chars().take(left).collect();
        left -= kept.chars().count();
        line += &kept;
        if kept.len() < word.len() {
            line.push('…');
            return line;
        }
    }
    line
}
