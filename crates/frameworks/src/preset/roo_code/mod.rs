//! Roo Code: repeated calls, consecutive mistakes, and the limits of auto-approval.

mod native;

use super::frame::counters::StreakCounter;
use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{
    Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, cost_in_dollars, reading,
};
use crate::decision::Need;
use crate::framework::params;
use crate::transcript::{Message, Moment, PointView, ToolCall};

const REPETITION: &str = "tool_repetition";
const MISTAKES: &str = "consecutive_mistakes";
const APPROVAL: &str = "auto_approval_limits";

params! {
    CONSECUTIVE_MISTAKE_LIMIT: "consecutiveMistakeLimit" = 3, off 0,
        "limit of both the repetition check and the mistakes in a row";
    ALLOWED_MAX_REQUESTS: "allowedMaxRequests" = null, off 0, "requests a person lets pass before being asked again",
        trap |n| if n > 0.0 => "the present request is counted twice: limit n asks before request n, not after it";
    ALLOWED_MAX_COST: "allowedMaxCost" = null, off 0, "dollars a person lets pass before being asked again";
}

#[derive(Clone, Debug)]
struct Roo {
    repetition: Option<RepetitionDetector>,
    mistakes: Option<Mistakes>,
    approval: Option<Approval>,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    parts(settings, &[REPETITION, MISTAKES, APPROVAL], RooUser::default())
}

/// What a person does when asked; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RooUser {
    /// Whether they refuse, which ends the task.
    pub refuses: bool,
    /// Whether a request is announced before they are asked, and so counted twice.
    pub sees_request: bool,
}

impl Default for RooUser {
    fn default() -> Self {
        Self { refuses: false, sees_request: true }
    }
}

/// Some of the rules, with such a person.
#[doc(hidden)]
pub fn parts(settings: &Settings, rules: &[&'static str], person: RooUser) -> Result<Recipe, SettingsError> {
    let wants = |rule: &str| rules.contains(&rule);
    let limit = settings.int(&param::CONSECUTIVE_MISTAKE_LIMIT)?;
    let approval = Approval {
        max_requests: settings.opt_number(&param::ALLOWED_MAX_REQUESTS)?.filter(|max| *max > 0.0),
        max_cost: settings.opt_number(&param::ALLOWED_MAX_COST)?.filter(|max| *max > 0.0),
        refused: person.refuses,
        counts_present_request: person.sees_request,
        ..Approval::default()
    };
    let native = settings.is_profile("native");
    let repetition = RepetitionDetector { limit, native, streak: StreakCounter::default() };
    let mistakes = Mistakes { limit, count: 0, replies_without_calls: 0 };
    let machine = Roo {
        repetition: if wants(REPETITION) { Some(repetition) } else { None },
        mistakes: if wants(MISTAKES) { Some(mistakes) } else { None },
        approval: if wants(APPROVAL) { Some(approval) } else { None },
    };
    let mut recipe =
        Recipe::new(machine, rules).blind(rules).compares_calls(&[REPETITION]).needs(MISTAKES, Need::ErrorFlags);
    if matches!(settings.opt_number(&param::ALLOWED_MAX_COST)?, Some(max) if max > 0.0) {
        recipe = recipe.needs(APPROVAL, Need::Cost);
    }
    Ok(recipe)
}

/// Counts identical calls in a row.
#[derive(Clone, Debug)]
struct RepetitionDetector {
    limit: i64,
    native: bool,
    streak: StreakCounter<String>,
}

impl RepetitionDetector {
    fn call(&mut self, call: &ToolCall, acts: &mut ActionSink<'_, '_>) {
        let key = if self.native {
            native::identity(call)
        } else {
            Some(format!("{}\n{}", call.name, js_text(&arguments(call), KeyOrder::Sorted)))
        };
        let Some(key) = key.filter(|_| self.limit > 0) else { return };
        let repeats = i64::from(self.streak.push(key)) - 1;
        if repeats >= self.limit {
            let act = acts.act(Action::Ask, REPETITION).code("mistake_limit_reached").call(call.id.as_deref());
            act.evidence(repeats as f64, self.limit as f64);
            self.streak.clear();
        }
    }
}

/// Counts failing calls and replies without a call.
#[derive(Clone, Debug)]
struct Mistakes {
    limit: i64,
    count: i64,
    replies_without_calls: u32,
}

impl Mistakes {
    fn message(&mut self, message: &Message) {
        if message.is_step() && !message.tool_calls.is_empty() {
            self.replies_without_calls = 0;
        } else if message.is_step() && message.has_text() {
            self.replies_without_calls += 1;
            self.count += i64::from(self.replies_without_calls >= 2);
        } else if message.is_result() {
            match message.is_error {
                Some(true) => self.count += 1,
                Some(false) => self.count = 0,
                None => {}
            }
        }
    }

    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        if self.limit > 0 && self.count >= self.limit {
            let act = acts.act(Action::Ask, MISTAKES).code("mistake_limit_reached");
            act.evidence(self.count as f64, self.limit as f64);
            self.count = 0;
        }
    }
}

/// What is approved automatically before the user is asked again.
#[derive(Clone, Debug, Default)]
struct Approval {
    max_requests: Option<f64>,
    max_cost: Option<f64>,
    /// Whether the user refuses, which ends the task.
    refused: bool,
    /// Whether the request is announced before the check, and so counted twice.
    counts_present_request: bool,
    requests: u32,
    cost: f64,
    /// Whether the current request was announced before the user approved; after approval, neither it nor its cost is
    /// counted.
    present_is_announced: bool,
}

impl Approval {
    fn before_request(&mut self, acts: &mut ActionSink<'_, '_>) {
        let present = f64::from(u8::from(self.counts_present_request));
        let requests = f64::from(self.requests) + present + 1.0;
        let (what, observed, limit) = match (self.max_requests, self.max_cost) {
            (Some(max), _) if requests > max => ("requests", requests, max),
            (_, Some(max)) if self.cost > max + 0.0001 => ("cost", self.cost, max),
            _ => return,
        };
        let ask = acts.act(Action::Ask, APPROVAL).code(format!("auto_approval_max_req_reached:{what}"));
        ask.evidence(observed, limit);
        if self.refused {
            acts.act(Action::Stop, APPROVAL).code(format!("auto_approval_refused:{what}"));
        }
        self.requests = 0;
        self.cost = 0.0;
        self.present_is_announced = self.counts_present_request;
    }

    fn reply(&mut self, reply: &Message) {
        if !std::mem::take(&mut self.present_is_announced) {
            self.requests += 1;
            self.cost += cost_in_dollars(reply);
        }
    }
}

impl Machine for Roo {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if let Some(mistakes) = &mut self.mistakes {
            mistakes.message(message);
        }
        if !message.is_step() {
            return;
        }
        if let Some(approval) = &mut self.approval {
            approval.reply(message);
        }
        if let Some(repetition) = &mut self.repetition {
            for call in &message.tool_calls {
                repetition.call(call, acts);
            }
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if !matches!(view.moment(), Moment::BeforeRequest | Moment::EndOfRound) {
            return;
        }
        if let Some(mistakes) = &mut self.mistakes {
            mistakes.before_request(acts);
        }
        let at_request = view.moment() == Moment::BeforeRequest;
        if let Some(approval) = self.approval.as_mut().filter(|_| at_request) {
            approval.before_request(acts);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let repetition = self.repetition.iter().filter(|repetition| repetition.limit > 0).map(|repetition| {
            reading(REPETITION, "same call in a row", f64::from(repetition.streak.count()), repetition.limit as f64)
        });
        let mistakes = self.mistakes.iter().filter(|mistakes| mistakes.limit > 0);
        let mistakes = mistakes
            .map(|mistakes| reading(MISTAKES, "mistakes in a row", mistakes.count as f64, mistakes.limit as f64));
        let approval = self.approval.iter().flat_map(|approval| {
            let requests = approval.max_requests.map(|max| ("requests", f64::from(approval.requests), max));
            requests.into_iter().chain(approval.max_cost.map(|max| ("usd", approval.cost, max)))
        });
        let approval = approval.map(|(what, count, limit)| reading(APPROVAL, what, count, limit));
        repetition.chain(mistakes).chain(approval).collect()
    }
}
