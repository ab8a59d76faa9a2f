//! Trajectories submitted to SWE-bench: one document per instance, with its model and tool calls in one list. The
//! outcomes are in `results/results.json` beside `trajs/`.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Lane, Message, PromptedBy, Role, Text, ToolCall};
use crate::value::json;

/// Trajectories handed in to SWE-bench.
pub(super) static FORMAT: Format = Format {
    id: "swe-bench-trajectory",
    summary: "trajectories handed in to SWE-bench: `instance_id` and `trajectory` of model and tool calls",
    recognise,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let document = probe.document().filter(|document| document.has(&["instance_id"]))?;
    let is_call = |value: &Sketch| {
        let kind = value.text_of("type").unwrap_or_default();
        matches!(&*kind, "llm_call" | "tool_call" | "model_call") && (value.has(&["output"]) || value.has(&["tool"]))
    };
    let entries = document.get("trajectory")?.elements();
    reason_if(entries.iter().any(is_call), "`instance_id` with a `trajectory` of `llm_call` and `tool_call`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let mut turns = Turns::with_runs_apart();
    for entry in whole.list("trajectory", out) {
        match entry.string("type", out).as_deref() {
            Some("llm_call" | "model_call") => push_reply(&entry, Lane::Main, &mut turns, out),
            // A call that judges the work is not a step.
            Some("judge_call") => push_reply(&entry, Lane::Counterpart, &mut turns, out),
            Some("tool_call") => push_run(&entry, &mut turns, out),
            Some(other) => out.unknown(other, &entry),
            None => out.error_at(entry.place(), "an entry without a `type`", "the entry is left out"),
        }
    }
    let instance = whole.word("instance_id", out);
    let header = Header {
        run_id: instance.clone().unwrap_or_else(|| record.file.stem.clone()),
        task_id: instance,
        suite: Some("swe-bench".to_owned()),
        model: whole.some_word("model"),
        ..Header::default()
    };
    out.run(turns.into_draft(header, Grade::default()));
}

fn push_reply(entry: &Node<'_>, lane: Lane, turns: &mut Turns, out: &mut Reading<'_>) {
    let ts = entry.instant("timestamp", out);
    for prompt in ["task_prompt", "input"].iter().find_map(|name| entry.get(*name)?.elements()).unwrap_or_default() {
        if let Some(mut message) = openai::message(&prompt, out) {
            // What the prompt holds of an earlier conversation is context.
            let is_copied = matches!(message.role, Role::Assistant | Role::Tool) && lane == Lane::Main;
            message.lane = if is_copied { Lane::Canned } else { lane.clone() };
            message.ts = ts;
            turns.push(message);
        }
    }
    let mut reply = Message::new(Role::Assistant);
    if let Some(output) = entry.get("output") {
        reply.content = match json::text(&output) {
            Some(text) => Some(text),
            None => output.content(["content", "text"], out),
        };
        for call in output.some_list("tool_calls") {
            reply.tool_calls.extend(openai::tool_call(&call, out));
        }
    }
    reply.set_model(entry.some_word("model").map(Into::into));
    reply.set_usage(entry.usage("usage", out));
    (reply.ts, reply.lane) = (ts, lane);
    turns.push(reply);
}

/// Adds a tool that ran, with its result. Which reply asked for it, if any, is not written beside it.
fn push_run(entry: &Node<'_>, turns: &mut Turns, out: &mut Reading<'_>) {
    let name = entry.word(["tool", "name", "tool_name"], out).unwrap_or_else(|| "tool".to_owned());
    let id = entry.some_word("tool_call_id");
    let ran = ToolCall::new(id.as_deref(), &name, entry.arguments(["arguments", "input", "args"]));
    let mut result = Message::new(Role::Tool);
    result.name = Some(name.into());
    if let Some(returned) = entry.get(["result", "output"]) {
        result.is_error = match returned.some_number(["exitCode", "exit_code"]) {
            Some(code) => Some(code != 0.0),
            None if entry.has("error") => Some(true),
            None => None,
        };
        let streams = [returned.some_word("stdout"), returned.some_word("stderr")];
        let streams: Vec<String> = streams.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        result.content = Some(match json::text(&returned) {
            Some(text) => text,
            None if returned.has("stdout") || returned.has("stderr") => Text::plain(streams.join("\n")),
            None => Text::plain(returned.written()),
        });
    }
    result.ts = entry.instant("timestamp", out);
    turns.ran(ran, result);
}
