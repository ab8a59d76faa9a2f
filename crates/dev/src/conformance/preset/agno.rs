//! Agno: a refused call names the event of its result, and the calls that ran are counted.

use serde_json::Value;

use super::played::{Doing, Fields, Played};
use super::{PresetCase, PresetDriver, caps_are_running};
use crate::decision::Action;
use crate::transcript::{Message, ToolCall};

pub(super) const DRIVER: PresetDriver =
    PresetDriver { id: "agno", is_running: caps_are_running, report, action, ..PresetDriver::PLAIN };

fn report(played: &Played<'_>, fields: &mut Fields) {
    let unregistered = unregistered(played.case);
    let replies = played.replies.iter().filter_map(|reply| played.message(*reply));
    let calls =
        replies.flat_map(|reply| &reply.tool_calls).filter(|call| !unregistered.contains(&call.name.to_string()));
    let refused = played.acts.iter().filter(|act| act.decision.action == Action::Deny).count();
    fields.insert("tools_executed".to_owned(), (calls.count() - refused).into());
}

fn unregistered(case: &PresetCase<'_>) -> Vec<String> {
    match case.settings.get("unregistered") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn action(doing: &Doing<'_>, fields: &mut Fields) {
    let decision = &doing.act.decision;
    let (Action::Deny, Some(at_reply), Some(reply)) = (decision.action, doing.view.reply_index(), doing.view.reply())
    else {
        return;
    };
    let refused = reply.tool_calls.iter().find(|call| call.id == decision.call_id);
    for (at, event) in doing.view.events().iter().enumerate().skip(at_reply + 1) {
        if let (Some(call), Some(message)) = (refused, event.message())
            && answers(message, call)
        {
            fields.insert("event".to_owned(), at.into());
            return;
        }
    }
}

/// Whether a result answers a call: by id, or by name if there are no ids.
fn answers(result: &Message, call: &ToolCall) -> bool {
    match (&result.tool_call_id, &call.id) {
        (Some(result), Some(call)) => result == call,
        _ => result.name.as_deref() == Some(&*call.name),
    }
}
