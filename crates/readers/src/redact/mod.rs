//! Removes the texts from runs so that they can be shared, and keeps what a stop rule compares, counts or measures.
//!
//! Every text becomes a placeholder that shows only which texts of the run are equal, how long each is, and which
//! published phrases it contains; see `Pseudonyms` and [`crate::text::marks`]. Kept unchanged are order, roles, lanes,
//! flags, tokens, costs, times and outcomes; the names of tools, arguments, metrics, models and suites that look like
//! identifiers; and kinds, states and reasons that frameworks publish (`words.rs`). A redacted run is marked as such,
//! so that rules on texts are not evaluable on it. The mark in an input is not trusted: a recording that claims to be
//! redacted is redacted like any other.

mod json;
mod pseudonyms;
mod words;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::transcript::{
    Carries, Draft, Event, Grade, Header, JUDGE_TAKEN_OUT, Json, Lane, Message, Metrics, Note, OutcomeSource,
    PLAN_TAKEN_OUT, Role, Run, Text, ToolCall, is_json, is_public_name,
};
use pseudonyms::Pseudonyms;

/// Redacts `run`. Ids of runs and tasks become hashes keyed with `salt`; the same salt gives the same hashes. Without
/// the salt nobody can test a guess of an id; with an empty salt anybody can.
///
/// A run that claims to be redacted is treated like any other, so its ids are hashed again; its placeholders stay as
/// they are.
pub fn redact(run: &Run, salt: &str) -> Run {
    let mut names = Pseudonyms::from_run(run);
    let events = run.events().iter().map(|event| self::event(event, &mut names)).collect();
    let grade = Grade { source: OutcomeSource::None, ..run.grade.clone() };
    let header = Header { ended_at: run.ended_at, totals: run.totals, ..header(&run.header, salt) };
    Run::new(Draft { header, events, grade, warnings: Vec::new() })
}

fn header(header: &Header, salt: &str) -> Header {
    let hashed = |kind: &str, id: &str| pseudonyms::hashed(salt, kind, id);
    let public = |kind: &str, name: &Option<String>| {
        name.as_deref().map(|name| if is_catalogued(name) { name.to_owned() } else { hashed(kind, name) })
    };
    let is_number = |trial: &str| trial.len() < 5 && trial.bytes().all(|byte| byte.is_ascii_digit());
    Header {
        run_id: hashed("run", &header.run_id),
        parent: header.parent.as_deref().map(|id| hashed("run", id)),
        task_id: header.task_id.as_deref().map(|id| hashed("task", id)),
        trial: header.trial.as_deref().map(|id| if is_number(id) { id.to_owned() } else { hashed("trial", id) }),
        suite: public("suite", &header.suite),
        class: public("class", &header.class),
        model: public("model", &header.model),
        agent: public("agent", &header.agent),
        started_at: header.started_at,
        ended_at: None,
        totals: None,
        meta: None,
        prompted_by: header.prompted_by,
        delivered: None,
        file: None,
        of_session: header.of_session,
        requests: header.requests,
        redacted: true,
    }
}

/// True for the name of a model, a suite or an agent, with its owner: `openai/gpt-4o`. A name with blanks may be a
/// person's, or a sentence.
fn is_catalogued(name: &str) -> bool {
    const MOST_PARTS: usize = 3;
    let mut parts = name.split('/');
    parts.clone().count() <= MOST_PARTS && parts.all(|part| !part.is_empty() && is_public_name(part))
}

fn event(event: &Event, names: &mut Pseudonyms) -> Event {
    match event {
        Event::Message(message) => Event::Message(self::message(message, names)),
        Event::Metrics(metrics) => self::metrics(metrics, names),
        // A partial verdict would be misread. Without one, rules that ask the judge are not evaluable.
        Event::Judge(_) => taken_out(JUDGE_TAKEN_OUT),
        Event::Checkpoint(checkpoint) => Event::Checkpoint(*checkpoint),
        Event::Note(note) => Event::Note(self::note(note, names)),
    }
}

fn message(message: &Message, names: &mut Pseudonyms) -> Message {
    let mut redacted = Message::new(message.role);
    redacted.lane = match &message.lane {
        Lane::Side(id) => Lane::Side(names.plain("agent", id)),
        other => other.clone(),
    };
    redacted.origin = message.origin;
    redacted.content = message.content.as_ref().map(|text| names.text(text));
    redacted.set_reasoning(message.reasoning().map(|text| names.text(text)));
    redacted.tool_calls = message.tool_calls.iter().map(|call| self::call(call, names)).collect();
    redacted.tool_call_id = message.tool_call_id.as_deref().map(|id| names.plain("call", id));
    redacted.name = message.name.as_deref().map(|name| match message.role {
        // Agents and tools are named by a program; a user's name may be a person's.
        Role::Assistant => names.name("agent", name),
        Role::Tool => names.tool(name),
        Role::User | Role::System => names.plain("speaker", name),
    });
    redacted.is_error = message.is_error;
    redacted.set_usage(message.usage());
    redacted.set_cost(message.cost());
    redacted.ts = message.ts;
    redacted.set_model(
        message.model().map(|model| if is_catalogued(model) { model.into() } else { names.plain("model", model) }),
    );
    redacted.set_finish_reason(message.finish_reason().map(|reason| names.word("reason", reason, words::is_reason)));
    if let Some(extra) = message.extra() {
        redacted.set_extra(native(extra, names));
    }
    redacted
}

fn call(call: &ToolCall, names: &mut Pseudonyms) -> ToolCall {
    let id = call.id.as_deref().map(|id| names.plain("call", id));
    let arguments = call.arguments.as_str();
    // Parsed as a whole, as when calls are compared: what is not JSON there is a text here too.
    let arguments =
        if is_json(&arguments) { Text::plain(json::redacted(&arguments, names)) } else { names.text(&call.arguments) };
    ToolCall::new(id.as_deref(), &names.tool(&call.name), arguments)
}

/// Redacts fields that only some framework's rules read; what those rules compare is preserved.
fn native(raw: &RawValue, names: &mut Pseudonyms) -> Option<Json> {
    RawValue::from_string(json::redacted(raw.get(), names)).ok()
}

/// Redacts a metrics report. A task plan is prose and is removed.
fn metrics(metrics: &Metrics, names: &mut Pseudonyms) -> Event {
    if metrics.plan.is_some() {
        return taken_out(PLAN_TAKEN_OUT);
    }
    Event::Metrics(Metrics {
        experiment: metrics
            .experiment
            .as_deref()
            .map(|name| if is_numbered(name) { name.into() } else { names.plain("named", name) }),
        status: metrics.status.as_deref().map(|status| names.word("status", status, words::is_state)),
        values: metrics.values.iter().map(|(name, value)| (names.name("metric", name), *value)).collect(),
        plan: None,
    })
}

/// A note that something was removed here.
fn taken_out(kind: &str) -> Event {
    Event::Note(Note { kind: kind.into(), body: object(&serde_json::Map::new()) })
}

/// True if an experiment's name is only a number: `Exp001`.
fn is_numbered(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_']);
    matches!(word.to_ascii_lowercase().as_str(), "exp" | "experiment")
}

/// Redacts a note. Its kind is kept if a reader writes that kind; of a goal row, what rules count is kept too.
fn note(note: &Note, names: &mut Pseudonyms) -> Note {
    const COUNTED: [&str; 5] = ["status", "turns_used", "tokens_used", "wall_clock_used_sec", "last_verdict"];
    let mut kept = serde_json::Map::new();
    if note.carries() == Carries::GoalRow {
        let body: Value = serde_json::from_str(note.body.get()).unwrap_or_default();
        let goal = body.get("goal").filter(|goal| goal.is_object()).unwrap_or(&body);
        for field in COUNTED {
            match goal.get(field) {
                Some(Value::String(word)) => {
                    kept.insert(field.to_owned(), names.word("word", word, words::is_state).as_str().into())
                }
                Some(number @ Value::Number(_)) => kept.insert(field.to_owned(), number.clone()),
                _ => None,
            };
        }
    }
    let kind = if note.is_compaction() && !words::is_note(&note.kind) { words::COMPACTION } else { &note.kind };
    Note { kind: names.word("note", kind, words::is_note), body: object(&kept) }
}

fn object(fields: &serde_json::Map<String, Value>) -> Json {
    serde_json::value::to_raw_value(fields).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::sketch;

    #[test]
    fn equal_stays_equal_and_different_stays_different() {
        let run = redact(&sketch::run("ls(1)=a ls(1)=a ls(2)=b -done -done -other"), "");
        let prints: Vec<_> = run.steps().iter().filter_map(|step| run.events()[step.reply].message()).collect();
        let call = |nth: usize| prints[nth].tool_calls[0].canonical_print();
        assert_eq!(call(0), call(1));
        assert_ne!(call(0), call(2));
        assert_eq!(prints[3].content, prints[4].content);
        assert_ne!(prints[3].content, prints[5].content);
        assert!(run.header.redacted && run.header.run_id.starts_with("run-"));
    }

    #[test]
    fn published_tests_of_a_text_come_out_the_same_on_its_placeholder() {
        use crate::text::{
            TextPart, Wording, failure::failure_in, provider_error::provider_error, user_request::user_request_in,
        };
        let tables = ["asks_user", "blocked", "observations"]
            .map(|table| std::fs::read_to_string(format!("../frameworks/src/system/texts/{table}.jsonl")).unwrap());
        let mut texts = 0;
        for line in tables.iter().flat_map(|table| table.lines()) {
            let line: Value = serde_json::from_str(line).unwrap();
            let Some(Value::String(text)) = line["input"].as_object().and_then(|input| input.values().next()) else {
                continue;
            };
            let placeholder = Pseudonyms::default().text(&Text::plain(text.as_str()));
            let answers = |text: &str| {
                [Wording::V02, Wording::V03, Wording::Later].map(|wording| {
                    // The 0.2 list is only ever searched in the whole text.
                    let window = if wording == Wording::V02 { TextPart::Whole } else { TextPart::Closing };
                    let (asks, fails) = (user_request_in(text, wording, window), failure_in(text, wording, window));
                    (asks, fails, provider_error(text, wording))
                })
            };
            assert_eq!(answers(text), answers(&placeholder.as_str()), "{text:?} as {placeholder:?}");
            assert_eq!(answers(text.trim()), answers(placeholder.as_str().trim()), "{text:?} as {placeholder:?}");
            texts += 1;
        }
        assert!(texts > 40, "{texts}");
    }

    #[test]
    fn names_of_models_stay_and_paths_do_not() {
        assert!(is_catalogued("openai/gpt-4o") && is_catalogued("claude-code:2.0.1"));
        // A name with blanks may be a person's.
        assert!(!is_catalogued("claude-code 2.0.1") && !is_catalogued("Jane Doe"));
        assert!(
            !is_catalogued("/home/ann/runs") && !is_catalogued("the best of all models") && !is_catalogued("a@b.c")
        );
    }

    #[test]
    fn a_salt_changes_every_name_and_a_second_time_changes_no_text() {
        let run = sketch::run("ls(1)=a ls(2)=b -done");
        let (plain, salted) = (redact(&run, ""), redact(&run, "secret"));
        assert_ne!(plain.header.run_id, salted.header.run_id);
        assert_eq!(plain.header.run_id.len(), "run-".len() + 32, "128 bits: {}", plain.header.run_id);
        let again = redact(&plain, "secret");
        assert_eq!(format!("{:?}", again.events()), format!("{:?}", plain.events()));
        assert_ne!(again.header.run_id, plain.header.run_id);
    }

    #[test]
    fn a_run_that_says_it_is_redacted_is_not_believed() {
        let mut run = sketch::run("-hunter2");
        run.header.redacted = true;
        let copy = redact(&run, "");
        assert!(!format!("{copy:?}").contains("hunter2"));
        assert!(copy.header.run_id.starts_with("run-"));
    }

    #[test]
    fn a_first_word_of_a_text_is_no_name_of_a_program() {
        let mut reply = Message::new(Role::Assistant);
        for text in ["hunter2 is it", "ls -la", "tool-7 x"] {
            let name = text.split(' ').next().unwrap();
            reply.tool_calls.push(ToolCall::new(None, name, serde_json::Value::from(text).to_string()));
        }
        reply.tool_calls.push(ToolCall::new(None, "tool-7", "{}"));
        let run = Run::new(Draft { events: vec![Event::Message(reply)], ..Draft::default() });
        let copy = redact(&run, "");
        let calls = copy.events()[0].message().unwrap().tool_calls.iter();
        assert_eq!(
            calls.map(|call| call.name.to_string()).collect::<Vec<_>>(),
            ["command-1", "ls", "command-2", "command-2"]
        );
    }
}
