//! Somebody's own log, read as `--map` says: a run a line or a document with its messages in a list, or a message a
//! line with the run's id. A table of runs has a run a line, of which only numbers are known.

mod run_of_table;

use super::{Format, RecordLayout};
use crate::label::words;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::read::by_name::ByName;
use crate::read::dialect;
use crate::read::turns::Turns;
use crate::record::field_map::{EntryKind, FieldMap};
use crate::record::node::Node;
use crate::record::outcomes::NAMED_FIELD;
use crate::record::parts::parts_in;
use crate::record::reading::{Reading, Record};
use crate::record::tokens::is_spent;
use crate::record::usage;
use crate::transcript::{
    Grade, Header, Instant, Message, Outcome, OutcomeSource, Role, Text, ToolCall, Totals, Usage, Usd,
};
use crate::value::json::plausible;
use crate::value::{json, time};

/// Logs that `--map` describes. It recognises none by itself: it is used where `--map` is given and fits.
pub(super) static FORMAT: Format =
    Format { id: "mapped", summary: "any other JSON log, read as `--map` says", layout, ..Format::reading(read) };

/// Usual names inside a call.
pub(crate) const NAME: [&str; 10] =
    ["name", "tool", "tool_name", "function", "fn", "action", "op", "command", "method", "api"];
pub(crate) const ARGUMENTS: [&str; 11] =
    ["arguments", "args", "input", "parameters", "params", "kwargs", "payload", "with", "options", "body", "request"];
pub(crate) const RESULT: [&str; 10] =
    ["result", "output", "response", "observation", "returned", "return", "returns", "out", "answer", "content"];
const ERROR: [&str; 5] = ["error", "is_error", "failed", "exception", "err"];
pub(crate) const ID: [&str; 4] = ["id", "call_id", "tool_call_id", "uid"];
const ROLE: [&str; 7] = ["role", "speaker", "from", "author", "sender", "source", "type"];
const TEXT: [&str; 9] = ["content", "text", "message", "utterance", "body", "value", "msg", "output", "response"];
const TIME: [&str; 7] = ["timestamp", "ts", "time", "at", "created_at", "datetime", "when"];

fn layout(probe: &Probe) -> RecordLayout {
    match (probe.shape, probe.first()) {
        (Shape::Document, Some(first)) if first.is_array() => RecordLayout::Elements { at: None, envelope: &[] },
        (Shape::Lines, _) => RecordLayout::Lines,
        (Shape::Concatenated, _) => RecordLayout::Values,
        _ => RecordLayout::Whole,
    }
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(map) = &record.options.columns else {
        return out.error_at(record.text, "a log of no known format", "say which field is what with `--map`");
    };
    let mut runs: ByName<Vec<Node<'_>>> = ByName::default();
    for value in Node::values(record, out) {
        let Some(value) = value.into_object("line", out) else { continue };
        if map.is_of_table() {
            run_of_table::push(&value, map, record, out);
            continue;
        }
        let has_lists = map.get("messages").is_some();
        // Where each line is a message, its own `id` may be the message's: only a field that the user names is the run's.
        let usual = ["run_id", "session_id", "id"];
        let mut id = if has_lists { map.find_word(&value, "run", usual) } else { map.named_word(&value, "run") };
        // A message without the run's id belongs to the run of the one before it.
        if id.is_none() && !has_lists {
            id = runs.all.last().map(|(id, _)| id.clone());
        }
        let Some(list) = map.named(&value, "messages") else {
            runs.named(id.unwrap_or_default()).push(value);
            continue;
        };
        let Some(messages) = list.elements() else {
            out.wrong(&list, "messages", "an array of messages");
            continue;
        };
        push_run(id, &[value], &messages, map, record, out);
    }
    for (id, messages) in runs.all {
        push_run(Some(id).filter(|id| !id.is_empty()), &messages, &messages, map, record, out);
    }
}

/// Whether a mapping fits a value: it has the messages, or what the messages consist of.
pub(crate) fn fits(map: &FieldMap, value: &Sketch) -> bool {
    let has = |name: &str| value.at(map.get(name)?);
    match map.get("messages") {
        Some(_) => matches!(has("messages"), Some(Sketch::Array(_))),
        None => ["text", "calls", "role", "steps"].iter().any(|name| has(name).is_some()),
    }
}

/// Whether each line is a message, so that the lines of a file belong together.
pub(crate) fn joins_lines(map: &FieldMap) -> bool {
    map.get("messages").is_none() && !map.is_of_table()
}

/// `around` is where the run's own fields stand: the object that has its messages, or the messages.
fn push_run(
    id: Option<String>,
    around: &[Node<'_>],
    messages: &[Node<'_>],
    map: &FieldMap,
    record: &Record<'_>,
    out: &mut Reading<'_>,
) {
    let mut turns = Turns::default();
    push_messages(messages, map, &mut turns, out);
    let field = |name: &str| around.iter().find_map(|node| map.named(node, name));
    let word = |name: &str| field(name)?.as_word();
    let run_id = run_id(id, record);
    let (usage_of_run, cost_of_run) = match around {
        [whole] => (usage(whole, map, out), cost(whole, map)),
        _ => (None, None),
    };
    let is_counted = turns.messages().any(Message::has_usage);
    let is_priced = turns.messages().any(|message| message.cost().is_some());
    let totals = Totals {
        usage: usage_of_run.filter(|_| !is_counted).unwrap_or_default(),
        cost: cost_of_run.filter(|_| !is_priced),
    };
    let header = Header {
        run_id,
        task_id: word("task"),
        trial: word("trial"),
        model: word("model"),
        agent: word("agent"),
        totals: Some(totals).filter(|totals| is_spent(&totals.usage) || totals.cost.is_some()),
        ..Header::default()
    };
    out.run(turns.into_draft(header, grade(field("outcome").as_ref())));
}

/// The id of a run that may have none of its own.
fn run_id(id: Option<String>, record: &Record<'_>) -> String {
    let stem = &record.file.stem;
    match (id, record.key) {
        (Some(id), _) => id,
        (None, "") => stem.clone(),
        (None, key) => format!("{stem}/{key}"),
    }
}

/// Reads messages as the mapping says.
pub(super) fn push_messages(messages: &[Node<'_>], map: &FieldMap, turns: &mut Turns, out: &mut Reading<'_>) {
    for node in messages {
        if node.is_object() {
            push_message(node, map, turns, out);
        } else {
            out.wrong(node, "message", "an object");
        }
    }
}

fn push_message(node: &Node<'_>, map: &FieldMap, turns: &mut Turns, out: &mut Reading<'_>) {
    let named = map.find_word(node, "role", ROLE);
    // Where no role is recorded, each entry is a step of the agent.
    let speaker = match &named {
        Some(word) => map.speaker(word),
        None => Some(EntryKind::Role(Role::Assistant)),
    };
    let at = map.instant(node);
    let role = match speaker {
        None => return pass_over(node, &format!("role {}", named.unwrap_or_default()), map, out),
        Some(EntryKind::Call) => {
            if let Some((call, result)) = call(node, node, map, turns.len(), 0, out) {
                turns.call(call, at);
                result.map(|result| turns.push(result));
            }
            return;
        }
        Some(EntryKind::Role(role)) => role,
    };
    let mut message = Message::new(role);
    message.content = map.find(node, "text", TEXT).map(|text| text.as_content());
    message.ts = at;
    if role == Role::Tool {
        message.tool_call_id = map.find_word(node, "call_id", ["tool_call_id", "call_id"]).map(Into::into);
        message.name = map.find_word(node, "name", ["name", "tool", "tool_name"]).map(Into::into);
        message.content = map.find(node, "result", RESULT).map(|text| text.as_content()).or(message.content);
        message.is_error = error(node, map);
        turns.push(message);
        return;
    }
    if role == Role::Assistant {
        message.set_usage(usage(node, map, out));
        message.set_cost(cost(node, map));
        message.set_model(map.named_word(node, "model").map(Into::into));
    }
    let mut results = Vec::new();
    let named = map.named(node, "calls").or_else(|| node.get(["tool_calls"]));
    let (at, mut calls) = (turns.len(), Vec::new());
    let mut add = |one: &Node<'_>| calls.extend(call(one, node, map, at, calls.len(), out));
    match &named {
        Some(named) => listed(named.opened().node()).iter().for_each(&mut add),
        None => itself(node, role, map).iter().for_each(&mut add),
    }
    for (call, result) in calls {
        message.tool_calls.push(call);
        results.extend(result);
    }
    turns.push(message);
    turns.push_all(results);
}

/// Passes over an entry of a kind that is no message's. One that holds nothing of a message is only counted.
fn pass_over(node: &Node<'_>, kind: &str, map: &FieldMap, out: &mut Reading<'_>) {
    let names = ["text", "calls", "name", "arguments", "result"];
    let holds = names.iter().any(|name| map.get(name).is_some() && map.find(node, name, []).is_some());
    if holds || !parts_in(node.written()).is_empty() {
        out.unknown(kind, node);
    } else {
        out.unknown_kind(kind);
    }
}

/// The calls in a list, or the one that is none; no text is no call.
fn listed(calls: Node<'_>) -> Vec<Node<'_>> {
    match calls.elements() {
        Some(elements) => elements,
        None if matches!(calls.as_string(), Some(text) if text.trim().is_empty()) => Vec::new(),
        None => vec![calls],
    }
}

/// The message itself, where it names a tool and no field has calls.
fn itself<'a>(node: &Node<'a>, role: Role, map: &FieldMap) -> Option<Node<'a>> {
    let is_call = role == Role::Assistant && map.get("calls").is_none() && map.get("name").is_some();
    let name = map.find_word(node, "name", []).filter(|name| !name.is_empty());
    name.filter(|_| is_call).map(|_| node.clone())
}

/// A call and its result, if it stands with it.
fn call(
    node: &Node<'_>,
    step: &Node<'_>,
    map: &FieldMap,
    at: usize,
    nth: usize,
    out: &mut Reading<'_>,
) -> Option<(ToolCall, Option<Message>)> {
    let id = map.find_word(node, "call_id", ID).unwrap_or_else(|| format!("m{at}-{nth}"));
    let (name, arguments) = if let Some(text) = node.as_string() {
        // A command in words; the first of them is its name.
        let name = text.split([' ', '\t', '\n', '(']).find(|word| !word.is_empty()).unwrap_or_default().to_owned();
        let arguments = match map.named(step, "arguments") {
            Some(beside) => usage::arguments(Some(&beside)),
            None => Text::plain(serde_json::Value::String(text.into_owned()).to_string()),
        };
        (name, arguments)
    } else {
        let inner = node.get(["function", "call"]).filter(Node::is_object);
        let inner = inner.as_ref().unwrap_or(node);
        let Some(name) = map.find_word(inner, "name", NAME) else {
            out.error_at(node.place(), "a call without a name", "say which field has it: `--map …,name=FIELD`");
            return None;
        };
        (name, usage::arguments(map.find(inner, "arguments", ARGUMENTS).as_ref()))
    };
    let call = ToolCall::new(Some(&id), &name, arguments);
    let returned = match map.find(node, "result", RESULT) {
        Some(own) => Some(own.as_content()),
        None => map.named(step, "result").map(|beside| beside.as_content()),
    };
    let failed = error(node, map);
    if returned.is_none() && failed != Some(true) {
        return Some((call, None));
    }
    let mut result = Message::new(Role::Tool);
    (result.tool_call_id, result.name) = (Some(id.into()), Some(name.into()));
    result.content = Some(returned.unwrap_or_default());
    result.is_error = failed;
    Some((call, Some(result)))
}

/// Whether it failed: a flag, or an error that is not empty.
fn error(node: &Node<'_>, map: &FieldMap) -> Option<bool> {
    if let Some(found) = map.find(node, "error", ERROR) {
        if let Some(flag) = json::flag(&found) {
            return Some(flag);
        }
        return Some(match json::number(&found) {
            Some(code) => code != 0.0,
            None => !matches!(found.as_string().as_deref(), Some("" | "none" | "ok")),
        });
    }
    // A null under the name of an error says that there was none.
    let is_mentioned = match map.get("error") {
        Some(path) => node.mentions(path),
        None => ERROR.iter().any(|name| node.mentions(name)),
    };
    if is_mentioned { Some(false) } else { None }
}

fn usage(node: &Node<'_>, map: &FieldMap, out: &mut Reading<'_>) -> Option<Usage> {
    let mut count = |name: &str| out.tokens(Some(&map.named(node, name)?), name);
    let (total, output) = (count("tokens"), count("output_tokens"));
    let input = count("input_tokens").or_else(|| Some(total?.saturating_sub(output.unwrap_or(0))));
    let usage = Usage { input, output: output.or(total.map(|_| 0)), ..Usage::default() };
    if !usage.is_empty() {
        return Some(usage);
    }
    for name in ["usage", "token_usage", "tokens", "metrics"] {
        if let Some(counts) = node.get(name).filter(Node::is_object)
            && let Some(usage) = dialect::usage(&counts, out)
        {
            return Some(usage);
        }
    }
    None
}

fn cost(node: &Node<'_>, map: &FieldMap) -> Option<Usd> {
    plausible(json::number(&map.named(node, "cost")?)?).map(Usd)
}

fn grade(found: Option<&Node<'_>>) -> Grade {
    let Some(found) = found else { return Grade::default() };
    let flag = json::flag(found);
    let score = json::number(found).filter(|_| flag.is_none());
    let graded = flag.or(score.map(|score| score >= 1.0));
    let graded = match found.as_string() {
        Some(word) => graded.or(words::grade_word(&word)),
        None => graded,
    };
    let source = if graded.is_some() { NAMED_FIELD } else { OutcomeSource::None };
    Grade { outcome: Outcome::from_grade(graded), score, source, ..Grade::default() }
}

impl FieldMap {
    /// The value under the field that is named for this; `None` if none is.
    fn named<'a>(&self, node: &Node<'a>, name: &str) -> Option<Node<'a>> {
        self.get(name)?;
        self.find(node, name, [])
    }

    /// Like [`Self::named`], as a word.
    fn named_word(&self, node: &Node<'_>, name: &str) -> Option<String> {
        self.named(node, name)?.as_word()
    }

    /// Like [`Self::find`], as a word.
    fn find_word<const N: usize>(&self, node: &Node<'_>, name: &str, usual: [&str; N]) -> Option<String> {
        self.find(node, name, usual)?.as_word()
    }

    /// When a message was written.
    fn instant(&self, node: &Node<'_>) -> Option<Instant> {
        time::instant(&self.find(node, "ts", TIME)?)
    }

    /// The value that means this, in a message or around it: under the field that is named or, if none is, under one
    /// of the usual names.
    fn find<'a, const N: usize>(&self, node: &Node<'a>, name: &str, usual: [&str; N]) -> Option<Node<'a>> {
        match self.get(name) {
            Some(path) => node.get(path).or_else(|| node.at(&path.split('.').collect::<Vec<_>>())),
            None => node.get(usual),
        }
    }
}
