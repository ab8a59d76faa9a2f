//! Chat messages in any wrapping: an array of messages, objects with `messages` (or another name for
//! them), or one message a line (FORMATS 15). Messages in the blocks, parts and items of other APIs are
//! read as the dialects they are.

use serde_json::value::RawValue;

use super::{Format, Layout};
use crate::reader::node::Node;
use crate::reader::probe::{Probe, Shape, Sketch};
use crate::reader::reading::{Reading, Record, plausible};
use crate::reader::{dialect, json, labels, openai};
use crate::transcript::{Draft, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Tokens, Totals, Usd};

/// OpenAI chat messages.
pub(super) struct Chat;

/// Fields that may hold the outcome, best first.
const OUTCOME_KEYS: &[&str] = &[
    "reward",
    "score",
    "resolved",
    "success",
    "is_correct",
    "passed",
    "label",
    "correct",
    "solved",
    "is_success",
    "succeeded",
    "final_reward",
    "outcome",
];

/// Names the list of messages goes by, best first.
const MESSAGES: &[&str] = &[
    "messages",
    "conversation",
    "conversations",
    "trajectory",
    "traj",
    "history",
    "chat_history",
    "message_history",
    "chat",
    "transcript",
    "dialogue",
    "turns",
    "prompt",
];

/// Objects that may hold the outcome instead.
const AROUND: &[&str] = &["result", "outcome", "evaluation", "eval", "metadata", "meta", "info", "verdict"];

/// What only messages of other APIs have: blocks, parts and items.
const OTHER_DIALECTS: &[&str] = &[
    "\"tool_use\"",
    "\"tool_result\"",
    "\"tool-call\"",
    "\"tool-result\"",
    "\"parts\"",
    "\"function_call_output\"",
    "\"function_call\"",
    "\"reasoning\"",
    "\"message\"",
];

/// The object around the messages, as its fields.
type Fields<'a> = Vec<(String, &'a RawValue)>;

impl Format for Chat {
    fn id(&self) -> &'static str {
        "chat"
    }

    fn summary(&self) -> &'static str {
        "OpenAI chat messages: an array, objects with `messages`, or one message a line"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let is_message = |value: &Sketch| {
            let role = value.text_of("role").or_else(|| value.text_of("from"));
            role.is_some_and(|role| openai::role(&role).is_some())
        };
        let are_messages = |list: &Sketch| list.elements().first().is_some_and(is_message);
        let holds = |value: &Sketch| {
            MESSAGES
                .iter()
                .find(|key| value.get(key).is_some_and(are_messages))
                .map(|key| format!("`{key}` with roles"))
        };
        let first = probe.first()?;
        if let Some(why) = holds(first).or_else(|| probe.values.iter().find_map(holds)) {
            return Some(why);
        }
        if are_messages(first) {
            return Some("an array of messages with roles".to_owned());
        }
        if let Some(why) = first.elements().first().and_then(holds) {
            return Some(format!("an array of objects: {why}"));
        }
        let lines = probe.shape == Shape::Lines && probe.values.iter().all(is_message);
        lines.then(|| "lines that are messages with roles".to_owned())
    }

    fn joins_lines(&self, first: &Sketch) -> bool {
        first.has(&["role"]) || first.has(&["from"])
    }

    fn takes_any_messages(&self) -> bool {
        true
    }

    fn layout(&self, probe: &Probe) -> Layout {
        let has = |value: &Sketch| MESSAGES.iter().any(|key| value.get(key).is_some_and(Sketch::is_array));
        let many = |value: &Sketch| value.first().is_some_and(has);
        match (probe.shape, probe.first()) {
            (Shape::Document, Some(first)) if first.is_array() && many(first) => {
                Layout::Elements { at: None, envelope: &[] }
            }
            (Shape::Lines, Some(first)) if has(first) || first.is_array() => Layout::Lines,
            _ => Layout::Whole,
        }
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        match record.parse::<&RawValue>() {
            Ok(whole) if whole.get().starts_with('[') => {
                let messages = out.list(Some(whole), "messages");
                push_run(record, &Vec::new(), &messages, out);
            }
            Ok(whole) => {
                let fields = json::fields_of(whole).unwrap_or_default();
                let Some(messages) = find(&fields, MESSAGES) else {
                    out.error_at(record.text, "neither messages nor an object with `messages`", "it is left out");
                    return;
                };
                let mut messages = out.list(Some(messages), "messages");
                // Pairs for training have the reply apart.
                let reply = find(&fields, &["completion", "chosen"]).filter(|reply| reply.get().starts_with('['));
                messages.extend(out.list(reply, "completion"));
                push_run(record, &fields, &messages, out);
            }
            Err(_) if looks_like_lines(record) => {
                let mut messages = Vec::new();
                for line in record.lines() {
                    match serde_json::from_str::<&RawValue>(line) {
                        Ok(message) => messages.push(message),
                        Err(error) => out.error(record.broken(line, &error)),
                    }
                }
                push_run(record, &Vec::new(), &messages, out);
            }
            Err(diagnostic) => out.error(diagnostic),
        }
    }
}

/// The first of `keys` that the object has.
fn find<'a>(fields: &Fields<'a>, keys: &[&str]) -> Option<&'a RawValue> {
    let value = |key: &&str| fields.iter().find(|(name, raw)| name == key && raw.get() != "null").map(|(_, raw)| *raw);
    keys.iter().find_map(value)
}

/// True when the first line is a value by itself.
fn looks_like_lines(record: &Record<'_>) -> bool {
    record.lines().take(2).any(|line| serde_json::from_str::<&RawValue>(line).is_ok())
}

fn push_run(record: &Record<'_>, fields: &Fields<'_>, messages: &[&RawValue], out: &mut Reading<'_>) {
    let mut events = Vec::new();
    for raw in messages {
        let (said, goes_on) = said(raw, out);
        for message in said {
            let before = events.last_mut().filter(|_| goes_on && message.role == Role::Assistant);
            if let Some(Event::Message(reply)) = before
                && reply.role == Role::Assistant
            {
                dialect::join(reply, message);
                continue;
            }
            events.push(Event::Message(message));
        }
    }
    let word = |keys: &[&str]| find(fields, keys).and_then(json::word);
    let stem = &record.file.stem;
    let run_id = match (word(&["run_id", "id", "conversation_id", "session_id"]), record.key) {
        (Some(id), "") => id,
        (Some(id), _) => format!("{stem}/{id}"),
        (None, "") => stem.clone(),
        (None, key) => format!("{stem}/{key}"),
    };
    let totals = totals(fields, &events, out);
    out.run(Draft {
        header: Header {
            totals,
            run_id,
            task_id: word(&["task_id", "instance_id", "task"]),
            trial: word(&["trial"]),
            suite: word(&["suite", "dataset"]),
            model: word(&["model"]),
            agent: word(&["agent"]),
            ..Header::default()
        },
        events,
        grade: grade(fields, record.options.outcome_key.as_deref()),
        warnings: Vec::new(),
    });
}

/// What the object around the messages says the run spent, where the messages do not say it themselves.
fn totals(fields: &Fields<'_>, events: &[Event], out: &mut Reading<'_>) -> Option<Totals> {
    let messages = || events.iter().filter_map(Event::message);
    let own = find(fields, &["usage", "token_usage", "total_usage", "tokens"]).filter(|raw| raw.get().starts_with('{'));
    let own = own.filter(|_| !messages().any(Message::has_usage));
    let usage = own.and_then(|own| openai::usage(Some(own), out)).filter(|usage| usage.total() > Some(Tokens(0)));
    let cost = find(fields, &["cost", "total_cost", "cost_usd"]).filter(|_| messages().all(|one| one.cost.is_none()));
    let cost = cost.and_then(json::number).and_then(plausible).filter(|cost| *cost > 0.0).map(Usd);
    (usage.is_some() || cost.is_some()).then(|| Totals { usage: usage.unwrap_or_default(), cost })
}

/// What a message says, which may be several messages here: results of tools stand in the user's words
/// elsewhere. True when it is an item of a reply rather than a reply of its own.
fn said(raw: &RawValue, out: &mut Reading<'_>) -> (Vec<Message>, bool) {
    let has = |mark: &&str| memchr::memmem::find(raw.get().as_bytes(), mark.as_bytes()).is_some();
    let of_another_api = OTHER_DIALECTS.iter().any(has).then(|| in_another_api(&Node::of(raw))).flatten();
    let Some((mut said, is_item)) = of_another_api else {
        return (openai::message(raw, out).into_iter().collect(), false);
    };
    if !is_item {
        let plain = openai::message(raw, out);
        if let Some((message, plain)) = said.last_mut().zip(plain) {
            message.ts = plain.ts;
            message.cost = plain.cost;
            message.model = plain.model;
            message.usage = plain.usage.or(message.usage);
        }
    }
    (said, is_item)
}

/// What a message of another API says: one in a shell, one whose content is in blocks or parts that are no text, or an
/// item without a role, which is told.
fn in_another_api(node: &Node<'_>) -> Option<(Vec<Message>, bool)> {
    // The message itself, where its role stands outside: `{"role": …, "message": {"content": …}}`.
    let inner = node.get("message").filter(|inner| inner.is_object() && !node.mentions("content"));
    if let Some(inner) = inner.filter(|_| node.mentions("role")) {
        let role = inner.some_string("role").or_else(|| node.some_string("role"));
        let role = role.as_deref().and_then(dialect::named_role);
        let said = role.map(|role| dialect::messages_of(&inner, role));
        return Some((said.unwrap_or_else(|| dialect::messages(&inner, Role::User)), false));
    }
    let acts = |block: &Node<'_>| {
        block.some_string("type").is_some_and(|kind| kind.starts_with("tool") || kind.contains("reasoning"))
    };
    let is_item = !node.mentions("role");
    let is_other = node.get("parts").is_some_and(|parts| parts.is_list())
        || node.some_list("content").iter().any(acts)
        || (is_item && node.some_string("type").is_some_and(|kind| !kind.is_empty()));
    is_other.then(|| (dialect::messages(node, Role::User), is_item))
}

/// The outcome, from the field the user names or from the first that usually holds it, in the object or
/// in one that stands for its evaluation.
fn grade(fields: &Fields<'_>, wanted: Option<&str>) -> Grade {
    let own = grade_among(fields, wanted);
    let inner = || {
        AROUND.iter().find_map(|name| {
            let inner = json::fields_of(find(fields, &[name])?)?;
            let grade = grade_among(&inner, wanted)?;
            Some(Grade { source: OutcomeSource::Native(name), ..grade })
        })
    };
    own.or_else(inner).unwrap_or_default()
}

fn grade_among(fields: &Fields<'_>, wanted: Option<&str>) -> Option<Grade> {
    let candidates: Vec<&str> = wanted.map_or_else(|| OUTCOME_KEYS.to_vec(), |key| vec![key]);
    candidates.into_iter().find_map(|key| {
        let raw = find(fields, &[key])?;
        let score = json::number(raw).filter(|_| json::flag(raw).is_none());
        let word = json::string(raw).and_then(|word| labels::grade_word(&word));
        let graded = json::flag(raw).or_else(|| score.map(|score| score >= 1.0)).or(word)?;
        let source = OUTCOME_KEYS.iter().find(|known| **known == key).copied().unwrap_or("the one named");
        let outcome = Outcome::from_grade(Some(graded));
        Some(Grade { outcome, score, source: OutcomeSource::Native(source), ..Grade::default() })
    })
}
