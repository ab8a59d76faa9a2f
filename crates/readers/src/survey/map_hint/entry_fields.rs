//! Which fields of one message mean what, by their names and values.

use std::borrow::Cow;
use std::collections::HashSet;

use super::words::{
    CALLED, CALLS, COMMANDS, COSTS, EXITS, IDS, INPUT_TOKENS, OUTPUT_TOKENS, PASSED, RESULTS, RETURNS, ROLES, TEXTS,
    TIMES, TOKENS,
};
use super::{is_name, is_scalar, kin, named, text_below};
use crate::open::probe::Sketch;
use crate::read::format;
use crate::record::field_map::{EntryKind, FieldMap};
use crate::transcript::{Name, Role};

/// How many of the names for roles mean nothing else, and how many words for roles a log may have.
const SPEAKERS: usize = 7;
const WORDS: usize = 6;
/// Names of the arguments of a tool that is named beside them.
const BESIDE: [&str; 8] =
    ["action_input", "action_args", "tool_input", "tool_args", "arguments", "args", "params", "kwargs"];

/// The fields of one message.
pub(super) fn message_fields(entries: &[&Sketch]) -> Vec<(&'static str, String)> {
    let mut fields = FoundFields::default();
    let map = FieldMap::default();
    let names_speaker = |value: &Sketch| matches!(value.text(), Some(word) if map.speaker(&word).is_some());
    fields.add(entries, "role", ROLES, &names_speaker);
    if fields.path("role").is_none()
        && let Some(field) = field_of_speakers(entries, &map)
    {
        fields.0.push(("role", field));
    }
    if fields.path("role").is_none() {
        // What the words mean is judged later, by what their entries hold.
        fields.add(entries, "role", &ROLES[..SPEAKERS], &is_name);
        let is_varied = |path: &String| (2..=WORDS).contains(&words_under(entries, path).len());
        fields.0.retain(|(_, path)| is_varied(path));
    }
    let has_role = fields.path("role").is_some();
    fields.add(entries, "calls", CALLS, &|value| value.is_object() || value.elements().iter().any(Sketch::is_object));
    if fields.path("calls").is_none() && !has_role {
        // A command in words, or a tool's name with its arguments beside it.
        fields.add(entries, "calls", COMMANDS, &|value| value.text().is_some());
        if fields.path("calls").is_some() {
            fields.add(entries, "arguments", &BESIDE, &|_| true);
        }
    }
    fields.add(entries, "text", TEXTS, &|value| matches!(value, Sketch::Head(_)) || value.text().is_some());
    match fields.path("calls") {
        Some(calls) => {
            let lists = entries.iter().filter_map(|entry| entry.at(&calls));
            fields.call(&lists.flat_map(calls_in).collect::<Vec<_>>());
            if !has_role {
                fields.add(entries, "result", RESULTS, &|_| true);
            }
        }
        None if has_role => fields.events(entries),
        None => fields.add(entries, "result", RESULTS, &|_| true),
    }
    if has_role {
        fields.add(entries, "error", EXITS, &is_number);
    }
    // Counts that other entries have too are those of their texts, or of all that was spent so far.
    let others: Vec<&Sketch> = match fields.path("role") {
        Some(role) => entries.iter().copied().filter(|entry| is_of_no_model(entry, &role, &map)).collect(),
        None => Vec::new(),
    };
    let is_own = |path: &str| others.iter().all(|entry| entry.at(path).is_none_or(is_nothing));
    fields.add_free(entries, "input_tokens", INPUT_TOKENS, &is_number, &is_own);
    fields.add_free(entries, "output_tokens", OUTPUT_TOKENS, &is_number, &is_own);
    if fields.0.iter().all(|(meaning, _)| !meaning.ends_with("_tokens")) {
        fields.add_free(entries, "tokens", TOKENS, &is_number, &is_own);
    }
    fields.add_free(entries, "cost", COSTS, &is_number, &is_own);
    fields.add(entries, "ts", TIMES, &is_scalar);
    fields.0
}

/// A number, also one in a string.
fn is_number(value: &Sketch) -> bool {
    let Sketch::Scalar(raw) = value else { return false };
    raw.trim_matches('"').trim().parse::<f64>().is_ok()
}

/// Whether a number is 0 or none.
fn is_nothing(value: &Sketch) -> bool {
    matches!(value, Sketch::Scalar(raw) if matches!(raw.as_str(), "0" | "0.0" | "null" | "\"\""))
}

/// Whether the entry is a user's, a tool's or the system's.
fn is_of_no_model(entry: &Sketch, role: &str, map: &FieldMap) -> bool {
    let Some(word) = text_below(entry, role) else { return false };
    matches!(map.speaker(&word), Some(EntryKind::Role(role)) if role != Role::Assistant)
}

/// The words that a field has.
fn words_under(entries: &[&Sketch], path: &str) -> HashSet<String> {
    entries.iter().filter_map(|entry| text_below(entry, path)).map(Cow::into_owned).collect()
}

/// The field whose values are words for several roles, whatever it is called.
fn field_of_speakers(entries: &[&Sketch], map: &FieldMap) -> Option<String> {
    let Some(Sketch::Object(fields)) = entries.first() else { return None };
    let is_of_speakers = |(name, _): &&(Name, Sketch)| {
        let words: HashSet<Cow<'_, str>> = entries.iter().filter_map(|entry| entry.get(name)?.text()).collect();
        words.len() > 1 && words.iter().filter(|word| map.speaker(word).is_some()).count() > 1
    };
    fields.iter().find(is_of_speakers).map(|(name, _)| name.to_string())
}

/// The calls that a value holds: it may be one, or a list of them.
fn calls_in(value: &Sketch) -> Vec<&Sketch> {
    if value.is_object() { vec![value] } else { value.elements().iter().filter(|one| one.is_object()).collect() }
}

/// The first field of these calls that fits and is not taken.
fn field_that_fits(calls: &[&Sketch], fits: &dyn Fn(&Sketch) -> bool, taken: &[String]) -> Option<String> {
    for call in calls {
        let Sketch::Object(fields) = call else { continue };
        let found = fields.iter().find(|(name, value)| fits(value) && !taken.iter().any(|one| one == name));
        if let Some((name, _)) = found {
            return Some(name.to_string());
        }
    }
    None
}

/// Fields found so far, with what they mean.
#[derive(Default)]
struct FoundFields(Vec<(&'static str, String)>);

impl FoundFields {
    fn path(&self, meaning: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| *known == meaning).map(|(_, path)| path.clone())
    }

    /// Adds the best field of these names that fits and means nothing else yet. What is inside a call, its arguments or
    /// its result is its own.
    fn add(&mut self, entries: &[&Sketch], meaning: &'static str, words: &[&str], fits: &dyn Fn(&Sketch) -> bool) {
        self.add_free(entries, meaning, words, fits, &|_| true);
    }

    /// The same, of those whose path `may_be`.
    fn add_free(
        &mut self,
        entries: &[&Sketch],
        meaning: &'static str,
        words: &[&str],
        fits: &dyn Fn(&Sketch) -> bool,
        may_be: &dyn Fn(&str) -> bool,
    ) {
        if self.path(meaning).is_some() {
            return;
        }
        let closed = ["calls", "arguments", "result"].iter().filter_map(|meaning| self.path(meaning));
        let closed: Vec<String> = closed.map(|path| format!("{path}.")).collect();
        let is_free = |path: &str| {
            let inside = closed.iter().any(|closed| path.starts_with(closed.as_str()));
            !inside && self.0.iter().all(|(_, known)| known != path) && may_be(path)
        };
        let mut found = named(entries, words, fits, &is_free);
        if found.is_none() {
            found = kin::find(meaning, entries, fits, &is_free);
        }
        self.0.extend(found.map(|path| (meaning, path)));
    }

    /// The fields inside calls, where they do not have the usual names.
    fn call(&mut self, calls: &[&Sketch]) {
        let is_usual = |names: &[&str]| {
            calls.iter().any(|call| names.iter().any(|name| call.get(name).is_some()) || call.has(&["function"]))
        };
        let mut taken: Vec<String> = format::CALL_IDS.iter().map(|name| (*name).to_owned()).collect();
        if !is_usual(&format::CALL_NAMES)
            && let Some(name) = field_that_fits(calls, &is_name, &taken)
        {
            taken.push(name.clone());
            self.0.push(("name", name));
        }
        if !is_usual(&format::CALL_ARGUMENTS)
            && let Some(arguments) = field_that_fits(calls, &Sketch::is_object, &taken)
        {
            taken.push(arguments.clone());
            self.0.push(("arguments", arguments));
        }
        if !is_usual(&format::CALL_RESULTS) {
            self.add(calls, "result", RETURNS, &|_| true);
        }
    }

    /// The fields of calls and results that are entries of their own.
    fn events(&mut self, entries: &[&Sketch]) {
        self.add(entries, "name", CALLED, &is_name);
        let Some(name) = self.path("name") else { return };
        self.add(entries, "arguments", PASSED, &|_| true);
        let id = name.rsplit_once('.').map(|(parent, _)| format!("{parent}.id"));
        match id.filter(|id| entries.iter().any(|entry| entry.at(id).is_some())) {
            Some(id) => self.0.push(("call_id", id)),
            None => self.add(entries, "call_id", IDS, &is_scalar),
        }
        self.add(entries, "result", RESULTS, &|_| true);
    }
}
