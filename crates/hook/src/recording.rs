//! A session's records as a recording: what the rules were shown, with fingerprints in the place of texts.

use std::path::Path;

use super::record::SessionRecord;
use super::round::{self, RuleInput};
use super::state::{self, SessionState};
use crate::transcript::{Draft, Event, Grade, Header, Message, PromptedBy, ToolCall};

/// The recording of a state file; `None` if it holds no events.
pub fn read(path: &Path) -> std::io::Result<Option<Draft>> {
    let records = SessionState::read(path)?;
    Ok(draft(&records))
}

/// The recording of a session's records; `None` if they hold no events.
pub fn draft(records: &[SessionRecord]) -> Option<Draft> {
    let known = state::header(records)?;
    let mut events: Vec<Event> = Vec::new();
    round::show(records, |shown| {
        if let RuleInput::Event(event) = shown {
            events.push(event);
        }
    });
    if !events.iter().any(|event| event.message().is_some_and(Message::is_step)) {
        return None;
    }
    let mut redacted = false;
    for event in &mut events {
        if let Event::Message(message) = event {
            redacted |= spell_out(message);
        }
    }
    let header = Header {
        run_id: known.session,
        agent: Some(known.host),
        prompted_by: PromptedBy::Person,
        redacted,
        ..Header::default()
    };
    Some(Draft { header, events, grade: Grade::default(), warnings: Vec::new() })
}

/// Puts fingerprints in the place of texts that are not known: what was equal stays equal. True if there were any.
fn spell_out(message: &mut Message) -> bool {
    let mut any = false;
    if message.is_print() {
        message.content = Some(format!("{:016x}", message.content_print().0).into());
        any = true;
    }
    for call in &mut message.tool_calls {
        if call.is_print() {
            let print = format!("{{\"print\":\"{:016x}\"}}", call.canonical_print().0);
            *call = ToolCall::new(call.id.as_deref(), &call.name, print);
            any = true;
        }
    }
    any
}
