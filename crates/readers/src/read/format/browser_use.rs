//! browser-use histories, each step with its actions and their results. The outcome is the agent's own claim unless a
//! judge has graded the run.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::texts;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{
    EndCause, Grade, Header, Message, Outcome, OutcomeSource, PromptedBy, Role, Text, ToolCall, Usage,
};

/// browser-use histories.
pub(super) static FORMAT: Format = Format {
    id: "browser-use",
    summary: "browser-use histories: `history` of `model_output`, `result` and `state`",
    recognise,
    prompted_by: PromptedBy::Program,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_step = |value: &Sketch| value.has(&["model_output", "result", "state"]);
    let history = probe.document()?.get("history")?.elements();
    reason_if(is_step(history.first()?), "`history` of `model_output` and `result`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let mut turns = Turns::default();
    let mut grade = Grade::default();
    for step in whole.list("history", out) {
        push_step(&step, &mut turns, &mut grade, out);
    }
    let header = Header {
        run_id: record.file.stem.clone(),
        task_id: whole.some_word(["task_id", "task"]),
        agent: Some("browser-use".to_owned()),
        ..Header::default()
    };
    out.run(turns.into_draft(header, grade));
}

fn push_step(step: &Node<'_>, turns: &mut Turns, grade: &mut Grade, out: &mut Reading<'_>) {
    let results = step.list("result", out);
    let mut reply = Message::new(Role::Assistant);
    if let Some(output) = step.object("model_output", out) {
        // Newer versions put the fields of `current_state` beside the actions.
        let state = output.object("current_state", out).unwrap_or_else(|| output.clone());
        let thoughts = ["thinking", "evaluation_previous_goal", "memory", "next_goal"];
        let thoughts: Vec<String> = thoughts.iter().filter_map(|name| state.some_word(*name)).collect();
        reply.set_reasoning(texts::lines(&thoughts));
        for action in output.list("action", out) {
            // An action is an object whose only non-null member is named after the action.
            let named = action.members().iter().find(|(_, value)| *value != "null");
            if let Some((name, arguments)) = named {
                reply.tool_calls.push(ToolCall::new(None, name, Text::plain(*arguments)));
            }
        }
    }
    if let Some(metadata) = step.object("metadata", out) {
        reply.ts = metadata.instant("step_end_time", out);
        let input = metadata.tokens("input_tokens", out).filter(|input| *input > 0);
        reply.set_usage(input.map(|_| Usage { input, ..Usage::default() }));
    }
    let ts = reply.ts;
    let n_calls = reply.tool_calls.len();
    // A call that left no content is still known by its tokens.
    if n_calls > 0 || reply.reasoning().is_some() || reply.usage().is_some() {
        turns.push(reply);
    }
    for (n, result) in results.iter().enumerate() {
        let error = result.text("error", out);
        let said = result.content(["extracted_content", "long_term_memory"], out);
        let mut message = Message::new(if n < n_calls { Role::Tool } else { Role::User });
        if n < n_calls {
            message.is_error = Some(error.is_some());
        }
        let text = error.or(said).unwrap_or_default();
        let is_told = n < n_calls || !text.is_empty();
        message.content = Some(text);
        message.ts = ts;
        if is_told {
            turns.push(message);
        }
        verdict(result, grade, out);
    }
}

/// Sets how the run ended and whether it did its task.
fn verdict(result: &Node<'_>, grade: &mut Grade, out: &mut Reading<'_>) {
    if result.flag("is_done", out) != Some(true) {
        return;
    }
    grade.end = EndCause::SelfFinish;
    let judged = result.under("judgement", out).flag("verdict", out);
    let own = result.flag("success", out);
    let (graded, source) = match judged {
        Some(judged) => (Some(judged), "judgement.verdict"),
        None => (own, "success (the agent's own word)"),
    };
    if let Some(graded) = graded {
        grade.outcome = Outcome::from_grade(Some(graded));
        grade.source = OutcomeSource::Native(source);
    }
}
