//! What tells the replies of a session from all others, so that a copy in another file is known for one. A session that
//! is forked or resumed begins with a copy of an earlier one, often with new times: what was said and asked for, and the
//! tokens where that says too little, stay the same.

use std::fmt::Write as _;

use crate::record::reading::ReplyId;
use crate::transcript::{Event, Lane, Message, Role, Text};

/// A hash of each reply and everything before it. A reply without an id of a call and without tokens may be said again
/// in any session: it has one only after others that have. So may a single reply with tokens, where a task is tried twice:
/// without an id of a call, it takes two.
pub(crate) fn reply_ids(events: &[Event]) -> Vec<ReplyId> {
    let (mut prints, mut first) = (Vec::new(), None);
    let (mut before, mut is_told) = (0, false);
    for (at, event) in events.iter().enumerate() {
        let Some(reply) = event.message().filter(|message| spends(message)) else { continue };
        let has_id = reply.tool_calls.iter().any(|call| matches!(&call.id, Some(id) if is_recorded(id)));
        before = print(before, reply, has_id);
        if !is_told && !has_id && reply.has_usage() && first.is_none() {
            first = Some((at, before));
            continue;
        }
        is_told |= has_id || reply.has_usage();
        if is_told {
            prints.extend(first.take());
            prints.push((at, before));
        }
    }
    prints
}

/// Whether the message is a model's reply, of the agent or of what it started.
fn spends(message: &Message) -> bool {
    message.role == Role::Assistant && matches!(message.lane, Lane::Main | Lane::Side(_))
}

/// Whether the recorder wrote the id; readers number the calls that have none.
fn is_recorded(id: &str) -> bool {
    let number = id.strip_prefix("call-").or(id.strip_prefix('c')).unwrap_or(id);
    !number.bytes().all(|byte| byte.is_ascii_digit())
}

fn print(before: u64, reply: &Message, has_id: bool) -> u64 {
    let mut said = format!("{before}\n{}", reply.content.as_ref().map(Text::as_str).unwrap_or_default());
    for call in &reply.tool_calls {
        let id = call.id.as_deref().unwrap_or_default();
        let _ = write!(said, "\n{id} {} {}", call.name, call.arguments.as_str());
    }
    if let Some(usage) = reply.usage().filter(|_| !has_id) {
        let _ = write!(said, "\n{:?} {:?}", usage.input, usage.output);
    }
    xxhash_rust::xxh3::xxh3_64(said.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Instant, ToolCall, Usage};

    fn reply(text: &str, call: Option<&str>, tokens: u64, time: i64) -> Event {
        let mut reply = Message::saying(Role::Assistant, text);
        reply.tool_calls.extend(call.map(|id| ToolCall::new(Some(id), "ls", "{}")));
        reply.set_usage(Some(Usage::new(tokens, 1)).filter(|_| tokens > 0));
        reply.ts = Some(Instant(time));
        Event::Message(reply)
    }

    #[test]
    fn a_copy_with_new_times_is_equal_and_another_session_is_not() {
        let session = [reply("", Some("call_x"), 10, 1), reply("done", None, 20, 2)];
        let copy = [reply("", Some("call_x"), 10, 101), reply("done", None, 20, 102), reply("more", None, 5, 103)];
        let prints = reply_ids(&session);
        assert_eq!(prints.len(), 2);
        assert_eq!(reply_ids(&copy)[..2], prints);
        assert_ne!(reply_ids(&[reply("", Some("call_y"), 10, 1)])[0], prints[0]);
        assert_ne!(reply_ids(&[reply("", Some("call_x"), 10, 1), reply("done", None, 21, 2)])[1], prints[1]);
        assert!(reply_ids(&[reply("done", Some("call-1"), 0, 1)]).is_empty());
        assert!(reply_ids(&[reply("done", None, 10, 1)]).is_empty());
        assert_eq!(reply_ids(&[reply("so", None, 10, 1), reply("done", None, 20, 2)]).len(), 2);
    }
}
