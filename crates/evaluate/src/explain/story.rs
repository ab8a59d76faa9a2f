//! One run as data for a page: its steps, the readings of signals at each, and as much of its texts as requested.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::effects_of;
use crate::decision::{RuleName, Strategy};
use crate::effects::{Effect, EffectTable};
use crate::replay::trail_seen;
use crate::transcript::{Message, Moment, Role, Run, messages};

/// Steps around each stop whose texts are kept.
const AROUND: usize = 4;
/// Maximum characters of one text.
const WIDTH: usize = 600;
/// Maximum signals per run whose readings are kept.
const MOST_SERIES: usize = 40;
/// Maximum steps of a run that are kept.
const MOST_STEPS: usize = 4000;

/// How much of a run's texts a story keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Texts {
    /// None: only names of tools, flags and numbers.
    None,
    /// Texts around each stop, and of the first and the last step.
    #[default]
    Evidence,
    /// All texts, each cut to a maximum length.
    All,
}

/// The story of one run for a page. Serialised field names are short, since a page holds many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// The run.
    pub run_id: String,
    /// Its steps.
    pub steps: Vec<StoryStep>,
    /// The readings of signals after each step.
    pub series: Vec<Series>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoryStep {
    /// Tokens of the model call.
    #[serde(rename = "t")]
    pub tokens: Option<u64>,
    /// The kind of step.
    #[serde(rename = "k")]
    pub kind: StepKind,
    /// What the model said.
    #[serde(rename = "s")]
    pub said: Option<String>,
    /// The calls it asked for: tool, and arguments where texts are kept.
    #[serde(rename = "a")]
    pub calls: Option<Vec<(String, String)>>,
    /// Results of tools: whether they failed, and the text.
    #[serde(rename = "r")]
    pub results: Option<Vec<(bool, String)>>,
}

/// The kind of a step, as far as the recording tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Tools were called that only read, or whose effect is unknown.
    Ok,
    /// Something was changed.
    Edit,
    /// The work was handed over.
    Handover,
    /// Tests, a build or a program were run.
    Check,
    /// A tool failed.
    Error,
    /// No tool was called.
    Reply,
}

/// The readings of one signal of one stack after each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The index of the stack.
    pub stack: usize,
    /// The signal.
    pub signal: String,
    /// The limit it is compared with.
    pub limit: Option<f64>,
    /// Readings by step; `None` if nothing could be read.
    pub values: Vec<Option<f64>>,
}

impl Story {
    /// Builds the story of `run` with texts around the steps `stops`, which count steps paid for.
    pub fn from_run(
        run: &Run,
        strategies: &[Arc<dyn Strategy>],
        stops: &[usize],
        texts: Texts,
        effects: &EffectTable,
    ) -> Self {
        let effects = effects_of(run, effects);
        let n_steps = run.steps().len().min(MOST_STEPS);
        let last = n_steps.saturating_sub(1);
        let is_near = |step: usize| {
            let near = |stop: &usize| step + AROUND >= *stop && step < stop + AROUND;
            step == 0 || step == last || stops.iter().any(near)
        };
        let with_texts = |step: usize| match texts {
            Texts::None => false,
            Texts::Evidence => is_near(step),
            Texts::All => true,
        };
        Self {
            run_id: run.header.run_id.clone(),
            steps: (0..n_steps).map(|step| story_step(run, step, &effects[step], with_texts(step))).collect(),
            series: strategies
                .iter()
                .enumerate()
                .flat_map(|(at, strategy)| series(strategy, at, run, n_steps))
                .take(MOST_SERIES)
                .collect(),
        }
    }

    /// Whether it holds any text of the recording other than names of tools.
    pub fn has_texts(&self) -> bool {
        self.steps.iter().any(|step| step.said.is_some() || step.calls.is_some() || step.results.is_some())
    }
}

/// The readings of a stack's rules after each step up to its stop: one series per reading.
fn series(strategy: &Arc<dyn Strategy>, stack: usize, run: &Run, steps: usize) -> Vec<Series> {
    let mut lines: Vec<((RuleName, Cow<'static, str>), Series)> = Vec::new();
    trail_seen(run, strategy, |view, watch| {
        let step = view.point().step as usize;
        if view.moment() != Moment::AfterTools || step >= steps {
            return;
        }
        for reading in watch.readings() {
            let Some(observed) = reading.observed.filter(|observed| observed.is_finite()) else { continue };
            let key = (reading.rule, reading.what);
            let at = lines.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                let line = Series { stack, signal: key.1.to_string(), limit: reading.limit, values: vec![None; steps] };
                lines.push((key, line));
                lines.len() - 1
            });
            lines[at].1.values[step] = Some(observed);
        }
    });
    lines.into_iter().map(|(_, line)| line).collect()
}

fn story_step(run: &Run, index: usize, effects: &[Effect], told: bool) -> StoryStep {
    let step = run.steps()[index];
    let reply = run.reply(index);
    let results: Vec<&Message> = messages(&run.events()[step.reply..step.end])
        .filter(|message| message.role == Role::Tool && message.is_result())
        .collect();
    let calls = run.calls(index);
    let kind = if results.iter().any(|result| result.is_error == Some(true)) {
        StepKind::Error
    } else if calls.is_empty() {
        StepKind::Reply
    } else {
        match effects.iter().max() {
            Some(Effect::Edit) => StepKind::Edit,
            Some(Effect::Handover) => StepKind::Handover,
            Some(Effect::Check) => StepKind::Check,
            _ => StepKind::Ok,
        }
    };
    let mut step = StoryStep {
        tokens: reply.and_then(Message::total_tokens).map(|tokens| tokens.0),
        kind,
        said: None,
        calls: None,
        results: None,
    };
    if told {
        step.said = reply.map(|reply| cut(&reply.text()));
        step.calls = Some(calls.iter().map(|call| (cut(&call.name), cut(&call.arguments.as_str()))).collect());
        let result = |result: &&Message| (result.is_error == Some(true), cut(&result.text()));
        step.results = Some(results.iter().map(result).collect());
    }
    step
}

/// The beginning of a text, with its line breaks.
fn cut(text: &str) -> String {
    if text.chars().nth(WIDTH).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(WIDTH).collect();
    format!("{kept}…")
}
