//! Agno: a refused call names the event of its result, and the calls that ran are counted.

use serde_json::{Value, json};

use super::played::{Doing, Played};
use super::{PresetDriver, caps_are_running};
use crate::decision::Action;
use crate::transcript::{Message, ToolCall};

pub(super) const DRIVER: PresetDriver = PresetDriver {
    id: "agno",
    is_running: caps_are_running,
    report: |played| Some(report(played)),
    action,
    ..PresetDriver::PLAIN
};

fn report(played: &Played<'_>) -> Value {
    let unregistered = played.case.texts("unregistered");
    let replies = played.replies.iter().filter_map(|reply| played.message(*reply));
    let calls =
        replies.flat_map(|reply| &reply.tool_calls).filter(|call| !unregistered.contains(&call.name.to_string()));
    let refused = played.acts.iter().filter(|act| act.decision.action == Action::Deny).count();
    json!({ "tools_executed": calls.count() - refused })
}

fn action(doing: &Doing<'_>) -> Option<Value> {
    let decision = &doing.act.decision;
    if decision.action != Action::Deny {
        return None;
    }
    let refused = doing.view.reply()?.tool_calls.iter().find(|call| call.id == decision.call_id)?;
    let after_reply = doing.view.events().iter().enumerate().skip(doing.view.reply_index()? + 1);
    for (at, event) in after_reply {
        if event.message().is_some_and(|message| answers(message, refused)) {
            return Some(json!({ "event": at }));
        }
    }
    None
}

/// Whether a result answers a call: by id, or by name if there are no ids.
fn answers(result: &Message, call: &ToolCall) -> bool {
    match (&result.tool_call_id, &call.id) {
        (Some(result), Some(call)) => result == call,
        _ => result.name.as_deref() == Some(&*call.name),
    }
}
