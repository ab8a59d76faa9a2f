//! OpenCode: the doom-loop question and the agent's step limit, as documented and as shipped.

use serde_json::Value;

use super::frame::counters::StreakCounter;
use super::frame::identity::{KeyOrder, arguments, js_text};
use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, reading, wrong_kind};
use crate::framework::params;
use crate::transcript::{Message, Moment, Name, PointView, named};

const DOOM_LOOP: &str = "doom_loop";
const STEPS: &str = "steps";
/// How many identical calls in a row raise the question; a constant.
const THRESHOLD: u32 = 3;

params! {
    DOOM_LOOP: "permission.doom_loop" = "ask", off "allow", "what a doom loop does: ask, allow or deny",
        trap with |s| if !s.is_profile("documented") =>
            "as shipped, `doom_loop` looks at one message only: one call per message never fires";
    STEPS: "steps" = null, off null, "requests for one user message",
        trap with |s| if s.amount(&STEPS).is_finite() && !s.is_profile("documented") =>
            "as shipped, `steps` adds a text and enforces nothing";
}

named! {
    /// What becomes of a doom loop by the settings, which Kilo Code has from OpenCode.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(super) enum OpenCodePermission {
        #[default]
        Ask = "ask",
        Allow = "allow",
        Deny = "deny",
    }
}

/// What a person says when asked; a recording does not say it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenCodeAnswer {
    #[default]
    Once,
    Always,
    Reject,
}

#[derive(Clone, Debug)]
struct OpenCodeMachine {
    permission: OpenCodePermission,
    answer: OpenCodeAnswer,
    max_steps: Option<i64>,
    documented: bool,
    streak: StreakCounter<(Name, String)>,
    silenced: Vec<Name>,
    requests: i64,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    answered_by(settings, OpenCodeAnswer::default())
}

/// The rules with a person who always gives this answer.
#[doc(hidden)]
pub fn answered_by(settings: &Settings, answer: OpenCodeAnswer) -> Result<Recipe, SettingsError> {
    let word = settings.text(&param::DOOM_LOOP)?.unwrap_or_default();
    let Ok(permission) = word.parse::<OpenCodePermission>() else {
        return Err(wrong_kind(param::DOOM_LOOP.name, "ask, allow or deny", &Value::from(word)));
    };
    let max_steps = settings.opt_int(&param::STEPS)?;
    if max_steps.is_some_and(|steps| steps <= 0) {
        return Err(SettingsError::refused("ConfigInvalidError", "steps must be greater than 0"));
    }
    let machine = OpenCodeMachine {
        permission,
        answer,
        max_steps,
        documented: settings.is_profile("documented"),
        streak: StreakCounter::default(),
        silenced: Vec::new(),
        requests: 0,
    };
    let recipe = Recipe::new(machine, &[DOOM_LOOP, STEPS]).blind(&[DOOM_LOOP, STEPS]);
    Ok(recipe.compares_calls(&[DOOM_LOOP]).resumes_at_user().requests_before_prompts())
}

impl OpenCodeMachine {
    fn calls(&mut self, reply: &Message, acts: &mut ActionSink<'_, '_>) {
        if !self.documented {
            self.streak.clear();
        }
        if self.permission == OpenCodePermission::Allow {
            return;
        }
        for call in &reply.tool_calls {
            let count = self.streak.push((call.name.clone(), js_text(&arguments(call), KeyOrder::Given)));
            if count < THRESHOLD || self.silenced.contains(&call.name) {
                continue;
            }
            if self.permission == OpenCodePermission::Deny {
                acts.act(Action::Stop, DOOM_LOOP).code("permission denied");
                return;
            }
            let act = acts.act(Action::Ask, DOOM_LOOP).code("doom_loop").call(call.id.as_deref());
            act.evidence(f64::from(count), f64::from(THRESHOLD));
            match self.answer {
                OpenCodeAnswer::Once => {}
                OpenCodeAnswer::Always => self.silenced.push(call.name.clone()),
                OpenCodeAnswer::Reject => {
                    acts.act(Action::Stop, DOOM_LOOP).code("permission rejected");
                    return;
                }
            }
        }
    }
}

impl Machine for OpenCodeMachine {
    fn message(&mut self, message: &Message, acts: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.requests = 0;
            self.streak.clear();
        } else if message.is_step() {
            self.calls(message, acts);
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        if view.moment() != Moment::BeforeRequest {
            return;
        }
        self.requests += 1;
        if let Some(max) = self.max_steps.filter(|max| self.requests >= *max) {
            let action = if self.documented { Action::ForceFinal } else { Action::Inject };
            acts.act(action, STEPS).code("max_steps_prompt").evidence(self.requests as f64, max as f64);
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let streak = f64::from(self.streak.count());
        let same = reading(DOOM_LOOP, "same call in a row", streak, f64::from(THRESHOLD));
        let steps = self.max_steps.map(|max| reading(STEPS, "requests", self.requests as f64, max as f64));
        std::iter::once(same).chain(steps).collect()
    }
}
