//! `ui_messages.json`: what the editor showed of a task. A step is a request to the model, which has the tokens, and
//! the results of the previous calls.

use super::cline::{NAME, answer, header, result_in};
use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::texts;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{EndCause, Grade, Instant, Message, PromptedBy, Role, Text, ToolCall, Usage};
use crate::value::json;

/// The file with what the editor showed.
pub(super) static FORMAT: Format = Format {
    id: "cline-ui",
    summary: "Cline and Roo Code tasks as shown: ui_messages.json",
    recognise,
    prompted_by: PromptedBy::Person,
    // The file with the API's messages has more about the same task.
    superseded_by: Some(NAME),
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_shown = |value: &Sketch| {
        let kind = value.text_of("type");
        value.has(&["ts"])
            && matches!(kind.as_deref(), Some("say" | "ask"))
            && (value.has(&["say"]) || value.has(&["ask"]))
    };
    let messages = probe.document()?.elements();
    reason_if(is_shown(messages.first()?), "messages with `ts`, and `say` or `ask`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let messages = whole.elements().unwrap_or_default();
    let mut shown = ClineUiSession::default();
    for message in messages {
        shown.message(&message, out);
    }
    out.run(shown.turns.into_draft(header(record), Grade { end: shown.end, ..Grade::default() }));
}

/// Kinds that are shown but not part of the conversation; a command's output is repeated in the next request.
const SHOWN: &[&str] = word_list!(
    "api_req_deleted api_req_finished api_req_rate_limit_wait api_req_retried api_req_retry_delayed",
    "auto_approval_max_req_reached browser_action_result browser_session_status checkpoint_created checkpoint_saved",
    "clineignore_error codebase_search_result command_output condense condense_context condense_context_error",
    "conditional_rules_applied deleted_api_reqs diff_error error error_retry followup generate_explanation",
    "hook_output_stream hook_status image info interactive_app load_mcp_documentation mcp_notification",
    "mcp_server_request_started mcp_server_response new_task plan_mode_respond report_bug resume_completed_task",
    "resume_task rooignore_error shell_integration_warning shell_integration_warning_with_suggestion",
    "sliding_window_truncation subagent_status subtask_result summarize_task task_progress too_many_tools_warning",
    "use_mcp_tool use_subagents user_edit_todos user_feedback_diff",
);

#[derive(Default)]
struct ClineUiSession {
    turns: Turns,
    /// A request was sent and none of its reply has been shown yet.
    asked: bool,
    /// The editor has offered to resume the task.
    resumable: bool,
    end: EndCause,
}

impl ClineUiSession {
    fn message(&mut self, message: &Node<'_>, out: &mut Reading<'_>) {
        let ts = message.instant("ts", out);
        let kind = message.string(["say", "ask"], out).unwrap_or_default();
        // Feedback typed when the task could be resumed means that it was interrupted.
        if std::mem::replace(&mut self.resumable, &*kind == "resume_task") && &*kind == "user_feedback" {
            self.turns.interrupted();
        }
        let text = message.text("text", out);
        let said = text.as_ref().map(|text| text.as_str().into_owned()).unwrap_or_default();
        if self.asked && kind != "api_req_started" {
            self.end = EndCause::Unknown;
        }
        match &*kind {
            "api_req_started" => self.request(message, ts, out),
            "task" | "user_feedback" => {
                self.turns.say(Role::User, Text::plain(said), ts);
            }
            "text" => {
                let said = Some(Text::plain(said));
                self.reply(ts, |reply| reply.content = texts::followed(reply.content.take(), said));
            }
            "reasoning" => {
                let said = Some(Text::plain(said));
                self.reply(ts, |reply| reply.set_reasoning(texts::followed(reply.reasoning().cloned(), said)));
            }
            "tool" => {
                let value = json::value(&said).unwrap_or_default();
                let name = value["tool"].as_str().unwrap_or("tool").to_owned();
                self.turns.call(ToolCall::new(None, &name, Text::plain(said)), ts);
                self.written(ts);
            }
            "command" | "use_mcp_server" | "browser_action" | "browser_action_launch" => {
                let arguments = serde_json::json!({ "command": said }).to_string();
                self.turns.call(
                    ToolCall::new(None, if kind == "command" { "execute_command" } else { &kind }, arguments),
                    ts,
                );
                self.written(ts);
            }
            "completion_result" if !said.is_empty() => {
                let arguments = serde_json::json!({ "result": said }).to_string();
                self.turns.call(ToolCall::new(None, "attempt_completion", arguments), ts);
                self.written(ts);
                self.end = EndCause::SelfFinish;
            }
            "api_req_failed" | "mistake_limit_reached" => self.end = EndCause::Error,
            "completion_result" => self.written(ts),
            kind if SHOWN.contains(&kind) => {}
            other => out.unknown(other, message),
        }
    }

    /// A request: adds the results in it, then a reply with its tokens. The reply's content is shown later.
    fn request(&mut self, message: &Node<'_>, ts: Option<Instant>, out: &mut Reading<'_>) {
        let Some(text) = message.get("text") else { return };
        let Some(inner) = text.as_string() else { return };
        let Some(request) = Node::inside(&inner, text.place()) else {
            return out.error_at(text.place(), "a request that is no JSON", "its tokens and results are left out");
        };
        if let Some(sent) = request.some_string("request") {
            for part in sent
                .split("\n\n[")
                .enumerate()
                .map(|(n, part)| if n == 0 { part.to_owned() } else { format!("[{part}") })
            {
                if let Some((tool, result)) = result_in(&part).filter(|_| self.turns.awaits()) {
                    self.turns.push(answer(tool, result, ts));
                }
            }
        }
        let mut reply = Message::new(Role::Assistant);
        reply.ts = ts;
        let usage = Usage {
            cache_read: request.tokens("cacheReads", out),
            cache_write: request.tokens("cacheWrites", out),
            input: request.tokens("tokensIn", out),
            output: request.tokens("tokensOut", out),
            reasoning: None,
        };
        reply.set_usage(tokens::recorded(tokens::with_cached_beside(usage)));
        reply.set_cost(request.dollars("cost", out));
        reply.set_model(message.within("modelInfo").word("modelId", out).map(Into::into));
        self.turns.push(reply);
        self.asked = true;
    }

    /// Moves the end of the current reply to this time.
    fn written(&mut self, ts: Option<Instant>) {
        if let Some(reply) = self.turns.current() {
            reply.ts = ts.or(reply.ts);
        }
    }

    fn reply(&mut self, ts: Option<Instant>, change: impl FnOnce(&mut Message)) {
        if let Some(reply) = self.turns.current() {
            reply.ts = ts.or(reply.ts);
            return change(reply);
        }
        let mut reply = Message::new(Role::Assistant);
        reply.ts = ts;
        change(&mut reply);
        self.turns.push(reply);
    }
}
