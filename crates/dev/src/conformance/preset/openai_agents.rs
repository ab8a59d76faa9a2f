//! The OpenAI Agents SDK returns a handler's text or a tool's result when it stops.

use serde_json::Value;

use super::PresetDriver;
use super::played::{Doing, Fields};
use crate::decision::Action;
use crate::preset::frame::caps::CapMachine;

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "openai-agents",
    read: |case| case.set_aside(&["seconds_per_model_call"]),
    is_running: |watch| !watch.is_over() && watch.machine::<CapMachine>().is_some_and(|caps| !caps.over),
    action,
    ..PresetDriver::PLAIN
};

fn action(doing: &Doing<'_>, fields: &mut Fields) {
    let settings = &doing.case.settings;
    let output = match doing.act.decision.action {
        Action::ForceFinal => settings.get("error_handlers.max_turns").and_then(Value::as_str).map(str::to_owned),
        Action::Stop => {
            let named = settings.get("tool_use_behavior.stop_at_tool_names").and_then(Value::as_array);
            let is_named = |tool: &str| named.is_none_or(|names| names.iter().any(|name| name == tool));
            let calls = doing.view.reply().map_or(&[][..], |reply| &reply.tool_calls);
            let stopping = calls.iter().find(|call| is_named(&call.name)).and_then(|call| call.id.as_ref());
            let result = doing.view.results().find(|result| result.tool_call_id.as_ref() == stopping);
            result.map(|result| result.text().into_owned())
        }
        _ => None,
    };
    if let Some(output) = output {
        fields.insert("final_output".to_owned(), output.into());
    }
}
