//! The OpenAI Agents SDK returns a handler's text or a tool's result when it stops.

use serde_json::{Value, json};

use super::played::Doing;
use super::{PresetDriver, caps_are_running};
use crate::decision::Action;

pub(super) const DRIVER: PresetDriver =
    PresetDriver { id: "openai-agents", is_running: caps_are_running, action, ..PresetDriver::PLAIN };

fn action(doing: &Doing<'_>) -> Option<Value> {
    let settings = &doing.case.settings;
    let output = match doing.act.decision.action {
        Action::ForceFinal => settings.get("error_handlers.max_turns")?.as_str()?.to_owned(),
        Action::Stop => {
            let is_named = |tool: &str| match settings.get("tool_use_behavior.stop_at_tool_names") {
                Some(Value::Array(names)) => names.iter().any(|name| name == tool),
                _ => true,
            };
            let mut calls = doing.view.reply().into_iter().flat_map(|reply| &reply.tool_calls);
            let stopping = calls.find(|call| is_named(&call.name)).and_then(|call| call.id.as_ref());
            let result = doing.view.results().find(|result| result.tool_call_id.as_ref() == stopping);
            result?.text().into_owned()
        }
        _ => return None,
    };
    Some(json!({ "final_output": output }))
}
