//! Vercel AI SDK: stop conditions, checked after a step whose tools have run.

use serde_json::Value;

use super::frame::{Action, ActionSink, Machine, Recipe, RuleReading, Settings, SettingsError, wrong_kind};
use crate::decision::RuleName;
use crate::framework::params;
use crate::transcript::{Message, Moment, PointView};

const RULE: &str = "stopWhen";

params! {
    STOP_WHEN: "stopWhen" = { isStepCount = 1 }, when API = "ToolLoopAgent" => { isStepCount = 20 },
        off { isLoopFinished = true },
        "one condition or a list: isStepCount = n, hasToolCall = [names], isLoopFinished = true",
        trap of "stopWhen.isStepCount" |n| if n < 1.0 || n.fract() != 0.0 =>
            "`isStepCount` of 0, below 0 or with a fraction equals no step count and never fires",
        trap of "stopWhen.isStepCount" |n| if n >= 1.0 =>
            "`isStepCount` stops at equality only: a count that jumps over it goes on for ever";
    API: "api" = "generateText", in "ToolLoopAgent" = "ToolLoopAgent", "generateText, streamText or ToolLoopAgent: decides the default condition";
}

/// One stop condition.
#[derive(Clone, Debug)]
enum VercelCondition {
    StepCount(f64),
    ToolCall(Vec<String>),
    Never,
}

#[derive(Clone, Debug)]
struct StopWhen {
    any: Vec<VercelCondition>,
    code: &'static str,
    steps: u32,
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    settings.text(&param::API)?;
    let (any, code) = match settings.get(param::STOP_WHEN.name) {
        None | Some(Value::Null) => (vec![condition(&settings.default_of(&param::STOP_WHEN))?], "stopWhen default"),
        Some(Value::Array(list)) => (list.iter().map(condition).collect::<Result<_, _>>()?, "stopWhen list"),
        Some(one) => {
            let condition = condition(one)?;
            let code = match condition {
                VercelCondition::StepCount(_) => "isStepCount",
                VercelCondition::ToolCall(_) => "hasToolCall",
                VercelCondition::Never => "isLoopFinished",
            };
            (vec![condition], code)
        }
    };
    Ok(Recipe::new(StopWhen { any, code, steps: 0 }, &[RULE]).blind(&[RULE]))
}

fn condition(value: &Value) -> Result<VercelCondition, SettingsError> {
    let wrong =
        || wrong_kind(param::STOP_WHEN.name, "isStepCount = n, hasToolCall = [names] or isLoopFinished = true", value);
    let table = value.as_object().ok_or_else(wrong)?;
    let (key, argument) = table.iter().next().ok_or_else(wrong)?;
    match (key.as_str(), argument) {
        ("isStepCount" | "stepCountIs", Value::Number(n)) => {
            Ok(VercelCondition::StepCount(n.as_f64().ok_or_else(wrong)?))
        }
        ("hasToolCall", Value::String(name)) => Ok(VercelCondition::ToolCall(vec![name.clone()])),
        ("hasToolCall", Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .map(VercelCondition::ToolCall)
            .ok_or_else(wrong),
        ("isLoopFinished", _) => Ok(VercelCondition::Never),
        _ => Err(wrong()),
    }
}

impl Machine for StopWhen {
    fn message(&mut self, message: &Message, _: &mut ActionSink<'_, '_>) {
        if message.is_prompt() {
            self.steps = 0;
        } else if message.is_step() {
            self.steps += 1;
        }
    }

    fn point(&mut self, view: &PointView<'_>, acts: &mut ActionSink<'_, '_>) {
        let Some(reply) = view.reply().filter(|reply| !reply.tool_calls.is_empty()) else { return };
        if view.moment() != Moment::AfterTools || view.results().count() < reply.tool_calls.len() {
            return;
        }
        let steps = f64::from(self.steps);
        let met = self.any.iter().find(|condition| match condition {
            VercelCondition::StepCount(n) => (*n - steps).abs() < f64::EPSILON,
            VercelCondition::ToolCall(names) => {
                reply.tool_calls.iter().any(|call| names.iter().any(|n| **n == *call.name))
            }
            VercelCondition::Never => false,
        });
        if let Some(condition) = met {
            let act = acts.act(Action::Stop, RULE).code(self.code);
            if let VercelCondition::StepCount(limit) = condition {
                act.evidence(steps, *limit);
            }
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        let steps = f64::from(self.steps);
        let counted = self.any.iter().filter_map(|condition| match condition {
            VercelCondition::StepCount(limit) => {
                let passes = (*limit - steps).abs() < f64::EPSILON;
                Some(RuleReading::new(RuleName::fixed(RULE), "steps", Some(steps)).against(*limit, passes))
            }
            VercelCondition::ToolCall(_) | VercelCondition::Never => None,
        });
        counted.collect()
    }
}
