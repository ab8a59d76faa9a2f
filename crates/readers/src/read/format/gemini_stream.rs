//! Gemini CLI's stream (`--output-format stream-json`): one event per line; each `init` begins a run. Tokens are known
//! only for the whole run.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::transcript::{EndCause, Grade, Header, Instant, Message, PromptedBy, Role, Text, ToolCall, Totals, Usage};

/// Gemini CLI's stream.
pub(super) static FORMAT: Format = Format {
    id: "gemini-cli-stream",
    summary: "Gemini CLI's stream-json output: init, message, tool_use, tool_result, result",
    recognise,
    joins_lines: |_| true,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let kind = |value: &Sketch, wanted: &str| value.is("type", wanted);
    let is_use = |value: &Sketch| kind(value, "tool_use") && value.has(&["tool_name", "tool_id"]);
    let is_init = |value: &Sketch| kind(value, "init") && value.has(&["session_id", "model"]);
    if probe.any(is_use) {
        return Some("`tool_use` lines with `tool_name` and `tool_id`".to_owned());
    }
    reason_if(probe.any(is_init), "an `init` line with its session and model")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let mut streams = vec![GeminiStreamRun::default()];
    for line in record.lines() {
        let Some(event) = Node::value(line, record, out) else { continue };
        if event.is("type", "init")
            && let Some(stream) = streams.last()
            && stream.begun
        {
            streams.push(GeminiStreamRun::default());
        }
        if let Some(stream) = streams.last_mut() {
            stream.event(&event, out);
        }
    }
    let stem = &record.file.stem;
    for (n, stream) in streams.into_iter().enumerate() {
        let GeminiStreamRun { turns, header, end, .. } = stream;
        let own = if n == 0 { stem.clone() } else { format!("{stem}/{}", n + 1) };
        let run_id = if header.run_id.is_empty() { own } else { header.run_id };
        let header = Header { run_id, agent: Some("gemini-cli".to_owned()), ..header };
        out.run(turns.into_draft(header, Grade { end, ..Grade::default() }));
    }
}

#[derive(Default)]
struct GeminiStreamRun {
    turns: Turns,
    header: Header,
    begun: bool,
    end: EndCause,
}

impl GeminiStreamRun {
    fn event(&mut self, event: &Node<'_>, out: &mut Reading<'_>) {
        let ts = event.instant("timestamp", out);
        match event.string("type", out).as_deref() {
            Some("init") => {
                self.begun = true;
                self.header.run_id = event.word("session_id", out).unwrap_or_default();
                self.header.model = event.word("model", out);
                self.header.started_at = ts;
            }
            Some("message") => match event.role("role", openai::role, out) {
                Some(Role::Assistant) => {
                    let said = event.content("content", out).unwrap_or_default();
                    self.say(&said, ts);
                }
                Some(role) => {
                    let mut said = Message::new(role);
                    (said.content, said.ts) = (event.content("content", out), ts);
                    self.turns.push(said);
                }
                None => {}
            },
            Some("tool_use") => {
                let id = event.word("tool_id", out);
                match event.word("tool_name", out) {
                    Some(name) => {
                        self.turns_begin_reply_after_result();
                        self.turns.call(ToolCall::new(id.as_deref(), &name, event.arguments("parameters")), ts);
                        if let Some(reply) = self.turns.current() {
                            reply.ts = ts.or(reply.ts);
                        }
                    }
                    None => out.error_at(event.place(), "a tool call without a name", "the call is left out"),
                }
            }
            Some("tool_result") => {
                let mut result = Message::new(Role::Tool);
                result.tool_call_id = event.word("tool_id", out).map(Into::into);
                let failed = event.under("error", out).text("message", out);
                result.content = event.content("output", out).or(failed);
                result.is_error = match event.string("status", out).as_deref() {
                    Some("success") => Some(false),
                    Some("error") => Some(true),
                    _ => None,
                };
                result.ts = ts;
                self.turns.push(result);
            }
            Some("error") => self.turns.note("gemini-cli.error", event.kept()),
            Some("result") => {
                self.end = if event.is("status", "success") { EndCause::SelfFinish } else { EndCause::Error };
                self.header.ended_at = ts;
                self.header.totals = totals(event, out);
            }
            Some(other) => out.unknown(other, event),
            None => out.error_at(event.place(), "a line without a `type`", "the line is left out"),
        }
    }

    /// Begins a new reply if the last message is a result.
    fn turns_begin_reply_after_result(&mut self) {
        if let Some(last) = self.turns.last_message()
            && last.role == Role::Tool
        {
            self.turns.push(Message::new(Role::Assistant));
        }
    }

    /// Adds a streamed piece of a reply.
    fn say(&mut self, said: &Text, ts: Option<Instant>) {
        let goes_on = self.turns.last_message().is_some_and(|last| last.role == Role::Assistant);
        match self.turns.current().filter(|_| goes_on) {
            Some(reply) => {
                let before = reply.content.take().unwrap_or_default();
                reply.content = Some(Text::plain(format!("{}{}", before.as_str(), said.as_str())));
                reply.ts = ts.or(reply.ts);
            }
            None => {
                self.turns.say(Role::Assistant, said.clone(), ts);
            }
        }
    }
}

/// The run's tokens: thoughts are included only in the total.
fn totals(event: &Node<'_>, out: &mut Reading<'_>) -> Option<Totals> {
    let stats = event.counts("stats", out)?;
    let (total, input) = (stats.tokens("total_tokens", out), stats.tokens("input_tokens", out));
    let output = stats.tokens("output_tokens", out);
    let rest = total.zip(input).map(|(total, input)| total.saturating_sub(input)).filter(|rest| Some(*rest) >= output);
    let usage = Usage {
        input,
        cache_read: stats.tokens("cached", out),
        output: rest.or(output),
        reasoning: rest.zip(output).map(|(rest, output)| rest - output),
        ..Usage::default()
    };
    tokens::totals(usage)
}
