//! smolagents memory dumps: the steps of an agent as an array, inside a run's object, or one run per line (FORMATS
//! 17). A planning step is paid for but takes no action, so it is not a step of the run.

use super::{Format, each_list, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::record::node::Node;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Draft, EndCause, Event, Header, Lane, Message, Role, Text};
use crate::value::json;

/// smolagents memory dumps.
pub(super) static FORMAT: Format = Format {
    id: "smolagents",
    summary: "smolagents memory dumps: steps as an array, in a run's object, or a run a line",
    recognise,
    ..Format::reading(read)
};

/// Keys under which an object has the steps.
const STEPS: [&str; 4] = ["steps", "intermediate_steps", "agent_memory", "memory"];

fn recognise(probe: &Probe) -> Option<String> {
    let is_step = |value: &Sketch| {
        value.has(&["step_number"])
            && ["observations", "model_output", "model_output_message", "action_output", "timing"]
                .iter()
                .any(|key| value.has(&[key]))
    };
    let is_plan = |value: &Sketch| value.has(&["plan", "model_output_message"]);
    let opens = |value: &Sketch| {
        let first = value.elements();
        first.iter().any(|step| step.has(&["system_prompt"])) && first.iter().any(|step| step.has(&["task"]))
    };
    let is_list = |value: &Sketch| value.elements().iter().any(|step| is_step(step) || is_plan(step)) || opens(value);
    let lists = |value: &Sketch| STEPS.iter().any(|key| matches!(value.get(key), Some(list) if is_list(list)));
    let holds = |value: &Sketch| is_list(value) || lists(value);
    let found = |value: &Sketch| holds(value) || value.elements().iter().any(holds);
    let loose = probe.values.iter().any(is_step);
    reason_if(loose || probe.values.iter().any(found), "steps with a `step_number` and observations")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    each_list(
        record,
        "step",
        |value, out| if value.has(STEPS) { Some(value.list(STEPS, out)) } else { None },
        out,
        |around, key, steps, out| push_run(record, around, key, steps, out),
    );
}

/// Delivers one run; `around` is the object that contains its steps.
fn push_run(record: &Record<'_>, around: &Node<'_>, key: String, steps: Vec<Node<'_>>, out: &mut Reading<'_>) {
    let mut draft = Draft::default();
    if let Some(system) = around.get("system_prompt")
        && let Some(prompt) = json::text(&system).or_else(|| said(&system, "system_prompt"))
    {
        draft.events.push(Event::Message(Message::saying(Role::System, prompt)));
    }
    let question = around.some_text(["augmented_question", "task", "question", "prompt"]);
    let has_task = steps.iter().any(|step| step.has("task"));
    if let Some(question) = question.filter(|_| !has_task) {
        draft.events.push(Event::Message(Message::saying(Role::User, question)));
    }
    draft.grade = around.named_grade(record.options.outcome_key.as_deref(), out);
    draft.header = Header {
        run_id: around.some_word(["run_id", "id"]).unwrap_or(key),
        task_id: around.some_word(["task_id", "original_question", "question"]),
        model: around.some_word(["model_id", "model", "agent_name"]),
        agent: Some("smolagents".to_owned()),
        started_at: around.instant("start_time", out),
        ended_at: around.instant("end_time", out),
        ..Header::default()
    };
    for step in steps {
        if let Some(step) = step.into_object("step", out) {
            push_step(&step, &mut draft, out);
        }
    }
    out.run(draft);
}

/// The text under that name: a string, parts, or else its JSON.
fn said(object: &Node<'_>, name: &str) -> Option<Text> {
    object.get(name).map(|said| said.as_content())
}

fn push_step(step: &Node<'_>, draft: &mut Draft, out: &mut Reading<'_>) {
    let mut push = |message: Message| draft.events.push(Event::Message(message));
    if let Some(prompt) = said(step, "system_prompt") {
        return push(Message::saying(Role::System, prompt));
    }
    if let Some(task) = said(step, "task").filter(|_| !step.has("step_number")) {
        return push(Message::saying(Role::User, task));
    }
    let is_plan = step.has("plan");
    if !step.has("step_number") && !is_plan {
        if step.has(["output", "final_answer"]) {
            draft.grade.end = EndCause::SelfFinish;
            return;
        }
        return out.error_at(step.place(), "a step without a `step_number`", "the step is left out");
    }
    let output = step.within("model_output_message");
    let mut reply = Message::new(Role::Assistant);
    reply.content = said(step, "model_output").or_else(|| said(&output, "content"));
    reply.tool_calls = openai::calls_of(step, out);
    reply.set_usage(if step.has("token_usage") { step } else { &output }.usage("token_usage", out));
    let timing = step.object("timing", out).unwrap_or_default();
    reply.ts = timing.instant("end_time", out).or_else(|| step.instant("end_time", out));
    if is_plan {
        reply.content = said(step, "plan");
        reply.lane = Lane::Side("planning".into());
        return push(reply);
    }
    let error = step.get("error");
    let failure = error.as_ref().map(|error| said(error, "message").unwrap_or_else(|| error.as_text()));
    let kind = step.within("error").some_word("type").unwrap_or_default();
    let observed = said(step, "observations");
    let mut result = Message::new(Role::Tool);
    let first = reply.tool_calls.first();
    result.tool_call_id = first.and_then(|call| call.id.clone());
    result.name = first.map(|call| call.name.clone());
    result.is_error = Some(failure.is_some());
    result.ts = reply.ts;
    let answered = observed.is_some() || failure.is_some() || !reply.tool_calls.is_empty();
    let output = said(step, "action_output");
    result.content = match (observed, failure) {
        (Some(seen), Some(error)) => Some(Text::plain(format!("{}\n{}", seen.as_str(), error.as_str()))),
        (seen, error) => seen.or(error).or(output),
    };
    push(reply);
    // A failed model call or an unparsable reply is also recorded as the step's error.
    if answered {
        push(result);
    }
    if kind == "AgentMaxStepsError" {
        draft.grade.end = EndCause::Cap;
    } else if step.is_true("is_final_answer") {
        draft.grade.end = EndCause::SelfFinish;
    }
}
