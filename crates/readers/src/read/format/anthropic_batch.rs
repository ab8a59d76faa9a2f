//! Results of Anthropic's message batches: a request a line, with `custom_id` and the reply, or why there is none.

use super::{Format, RecordLayout, reason_if};
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::dialect;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, Event, Grade, Header, PromptedBy, Role};

/// Results of Anthropic's message batches.
pub(super) static FORMAT: Format = Format {
    id: "anthropic-batch",
    summary: "results of Anthropic's message batches: `custom_id` and `result`, a line each",
    recognise,
    layout: |probe| if probe.shape == Shape::Document { RecordLayout::Whole } else { RecordLayout::Lines },
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_result = |value: &Sketch| {
        let kind = value.text_within("result", "type").unwrap_or_default();
        value.has(&["custom_id"]) && matches!(&*kind, "succeeded" | "errored" | "canceled" | "expired")
    };
    reason_if(probe.any(is_result), "lines with `custom_id` and the `type` of a `result`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(line) = Node::whole(record, out) else { return };
    if !line.expect_object("line", "an object", out) {
        return;
    }
    let Some(id) = line.word("custom_id", out) else {
        return out.error_at(record.text, "a result without a `custom_id`", "it is left out");
    };
    let result = line.under("result", out);
    match result.some_string("type").as_deref() {
        Some("succeeded") => {}
        Some(kind @ ("errored" | "canceled" | "expired")) => {
            return out.warn_at(record.text, format!("request `{id}` has no reply: {kind}"), "it is no run");
        }
        Some(kind) => return out.unknown(&format!("result {kind}"), &result),
        None => return out.error_at(record.text, "a result without a `type`", "it is left out"),
    }
    let message = result.under("message", out);
    let mut events = Vec::new();
    for mut reply in dialect::messages_of(&message, Role::Assistant, out) {
        if reply.role == Role::Assistant {
            reply.set_model(message.string("model", out).map(Into::into));
        }
        events.push(Event::Message(reply));
    }
    let header = Header { run_id: id, model: message.some_word("model"), ..Header::default() };
    out.run(Draft { header, events, grade: Grade::default(), warnings: Vec::new() });
}
