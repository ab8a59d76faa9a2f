//! smolagents memory dumps: the steps of an agent, as an array, inside a run's object, or one run a
//! line (FORMATS 17). A planning step is paid for, but acts on nothing: it is no step here.

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::rows::{self, Object};
use crate::reader::{json, labels, openai};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Lane, Message, Outcome, OutcomeSource, Role, Text};

/// smolagents memory dumps.
pub(super) struct Smolagents;

/// Keys under which an object holds the steps.
const STEPS: &[&str] = &["steps", "intermediate_steps", "agent_memory", "memory"];

impl Format for Smolagents {
    fn id(&self) -> &'static str {
        "smolagents"
    }

    fn summary(&self) -> &'static str {
        "smolagents memory dumps: steps as an array, in a run's object, or a run a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
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
        let is_list =
            |value: &Sketch| value.elements().iter().any(|step| is_step(step) || is_plan(step)) || opens(value);
        let holds = |value: &Sketch| is_list(value) || STEPS.iter().any(|key| value.get(key).is_some_and(is_list));
        let found = |value: &Sketch| holds(value) || value.elements().iter().any(holds);
        let loose = probe.values.iter().any(is_step);
        (loose || probe.values.iter().any(found)).then(|| "steps with a `step_number` and observations".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        let values = rows::values(record, out);
        let many = values.len() > 1;
        let mut loose = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let key = if many { format!("{}/{index}", record.file.stem) } else { record.file.stem.clone() };
            if let Some(steps) = rows::elements(value) {
                push_run(record, &Object::default(), key, &steps, out);
                continue;
            }
            let Some(fields) = Object::of(value) else {
                out.wrong(value, "step", "an object");
                continue;
            };
            match fields.get(STEPS) {
                Some(steps) => {
                    let steps = out.list(Some(steps), "steps");
                    push_run(record, &fields, key, &steps, out);
                }
                None => loose.push(value),
            }
        }
        if !loose.is_empty() {
            push_run(record, &Object::default(), record.file.stem.clone(), &loose, out);
        }
    }
}

/// Hands over one run; `around` is the object that holds its steps.
fn push_run(record: &Record<'_>, around: &Object<'_>, key: String, steps: &[&RawValue], out: &mut Reading<'_>) {
    let mut draft = Draft::default();
    let system = around.get(&["system_prompt"]);
    if let Some(prompt) = system.and_then(|raw| json::text(raw).or_else(|| said(&Object::of(raw)?, &["system_prompt"])))
    {
        draft.events.push(Event::Message(Message::saying(Role::System, prompt)));
    }
    let question = around.get(&["augmented_question", "task", "question", "prompt"]).and_then(json::text);
    let has_task = steps.iter().any(|raw| Object::of(raw).is_some_and(|step| step.get(&["task"]).is_some()));
    if let Some(question) = question.filter(|_| !has_task) {
        draft.events.push(Event::Message(Message::saying(Role::User, question)));
    }
    draft.grade = grade(around, record.options.outcome_key.as_deref());
    draft.header = Header {
        run_id: around.word(&["run_id", "id"]).unwrap_or(key),
        task_id: around.word(&["task_id", "original_question", "question"]),
        model: around.word(&["model_id", "model", "agent_name"]),
        agent: Some("smolagents".to_owned()),
        started_at: out.instant(around.get(&["start_time"]), "start_time"),
        ended_at: out.instant(around.get(&["end_time"]), "end_time"),
        ..Header::default()
    };
    for raw in steps {
        match Object::of(raw) {
            Some(step) => push_step(raw, &step, &mut draft, out),
            None => out.wrong(raw, "step", "an object"),
        }
    }
    out.run(draft);
}

/// The outcome, if the object around the steps has the field the user names.
fn grade(around: &Object<'_>, wanted: Option<&str>) -> Grade {
    let Some(raw) = wanted.and_then(|key| around.get(&[key])) else { return Grade::default() };
    let score = json::number(raw);
    let word = || json::string(raw).and_then(|word| labels::grade_word(&word));
    let graded = json::flag(raw).or_else(|| score.map(|score| score >= 1.0)).or_else(word);
    let source = graded.map_or(OutcomeSource::None, |_| OutcomeSource::Native("the one named"));
    Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() }
}

/// The text under the first of `names`: a string, parts, or the JSON it is.
fn said(object: &Object<'_>, names: &[&str]) -> Option<Text> {
    let raw = object.get(names)?;
    Some(json::content(raw).unwrap_or_else(|| Text::plain(raw.get())))
}

fn push_step(raw: &RawValue, step: &Object<'_>, draft: &mut Draft, out: &mut Reading<'_>) {
    let mut push = |message: Message| draft.events.push(Event::Message(message));
    if let Some(prompt) = said(step, &["system_prompt"]) {
        return push(Message::saying(Role::System, prompt));
    }
    if let Some(task) = said(step, &["task"]).filter(|_| step.get(&["step_number"]).is_none()) {
        return push(Message::saying(Role::User, task));
    }
    let is_plan = step.get(&["plan"]).is_some();
    if step.get(&["step_number"]).is_none() && !is_plan {
        if step.get(&["output", "final_answer"]).is_some() {
            draft.grade.end = EndCause::SelfFinish;
            return;
        }
        return out.error_at(raw.get(), "a step without a `step_number`", "the step is left out");
    }
    let output = step.within(&["model_output_message"]);
    let mut reply = Message::new(Role::Assistant);
    reply.content = said(step, &["model_output"]).or_else(|| said(&output, &["content"]));
    for call in out.list(step.get(&["tool_calls"]), "tool_calls") {
        reply.tool_calls.extend(openai::tool_call(call, out));
    }
    reply.usage = openai::usage(step.get(&["token_usage"]).or_else(|| output.get(&["token_usage"])), out);
    let timing = Object::part(step.get(&["timing"]), "timing", out);
    reply.ts =
        out.instant(timing.get(&["end_time"]), "end_time").or_else(|| out.instant(step.get(&["end_time"]), "end_time"));
    if is_plan {
        reply.content = said(step, &["plan"]);
        reply.lane = Lane::Side("planning".into());
        return push(reply);
    }
    let error = step.get(&["error"]);
    let failure = error.map(|raw| {
        let told = Object::of(raw).and_then(|error| said(&error, &["message"]));
        told.or_else(|| json::text(raw)).unwrap_or_else(|| Text::plain(raw.get()))
    });
    let kind = error.and_then(Object::of).and_then(|error| error.word(&["type"])).unwrap_or_default();
    let observed = said(step, &["observations"]);
    let mut result = Message::new(Role::Tool);
    let first = reply.tool_calls.first();
    result.tool_call_id = first.and_then(|call| call.id.clone());
    result.name = first.map(|call| call.name.clone());
    result.is_error = Some(failure.is_some());
    result.ts = reply.ts;
    let answered = observed.is_some() || failure.is_some() || !reply.tool_calls.is_empty();
    let output = said(step, &["action_output"]);
    result.content = match (observed, failure) {
        (Some(seen), Some(error)) => Some(Text::plain(format!("{}\n{}", seen.as_str(), error.as_str()))),
        (seen, error) => seen.or(error).or(output),
    };
    push(reply);
    // A failed call of the model, or a reply that could not be read, is an error of the step too.
    if answered {
        push(result);
    }
    if kind == "AgentMaxStepsError" {
        draft.grade.end = EndCause::Cap;
    } else if step.get(&["is_final_answer"]).is_some_and(|raw| raw.get() == "true") {
        draft.grade.end = EndCause::SelfFinish;
    }
}
