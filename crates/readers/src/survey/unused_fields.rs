//! What is in the files and was not used: fields that no reader looked at, and what they may be (an outcome, a task, a
//! model, tokens, calls), with the argument that takes them.
//!
//! While a record is read, the addresses of the values that are looked up are collected. Those of its fields whose
//! values are not among them were not used.

mod look;

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::label::words::{OUTCOME, counts_things};
use crate::record::looked_up;
use crate::record::node::{Node, sound};
use crate::record::parts::each_element;
use crate::record::reading::Record;
use crate::text::word_list;
use crate::transcript::{Outcome, Run};
pub(crate) use look::FieldValue;
use look::Looks;

/// Levels of objects whose fields are listed.
const DEPTH: usize = 4;
/// Fields listed of one record.
const LISTED: usize = 200;
/// Elements of a list whose fields are listed.
const ELEMENTS: usize = 100;
/// What stands in a path for the elements of a list.
const EACH: &str = "[]";
/// Fields counted of one format.
const COUNTED: usize = 2000;
/// Objects with more members are tables, whose keys are data.
const MEMBERS: usize = 60;

/// The fields of the record that were not looked at since [`looked_up::watch`], with their paths.
pub(crate) fn left(record: &Record<'_>) -> Vec<(String, FieldValue)> {
    looked_up::with_used(|used| {
        let mut listing = Listing::new(used);
        for text in [record.text, record.original] {
            let text = text.trim();
            let is_other = listing.fields.is_empty() || text.as_ptr() != record.text.trim().as_ptr();
            if is_other && text.starts_with('{') && sound(text).is_ok() {
                listing.add_object(&Node::from_written(text), "", DEPTH);
            }
        }
        listing.unused()
    })
}

/// Lists the fields of a record.
struct Listing<'u> {
    /// The addresses of the values that were looked at.
    used: &'u HashSet<usize>,
    /// The paths of values that were looked at: in a list, those of some of its elements.
    known: HashSet<String>,
    /// Paths of other values, with the look of the first.
    fields: Vec<(String, FieldValue)>,
}

impl<'u> Listing<'u> {
    fn new(used: &'u HashSet<usize>) -> Self {
        Self { used, known: HashSet::new(), fields: Vec::new() }
    }

    fn add_object(&mut self, object: &Node<'_>, path: &str, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| object.members().len() <= MEMBERS) else { return };
        for (name, value) in object.members() {
            if self.fields.len() >= LISTED || name.contains('.') || *value == "null" {
                continue;
            }
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            let is_known = self.used.contains(&(value.as_ptr() as usize));
            if value.starts_with('{') {
                self.add_object(&Node::from_written(*value), &path, depth);
            } else if is_known && value.starts_with('[') {
                self.add_elements(value, &format!("{path}{EACH}"), depth);
            } else if is_known {
                self.known.insert(path);
            } else if self.fields.iter().all(|(known, _)| *known != path) {
                self.fields.extend(FieldValue::from_written(value).map(|look| (path, look)));
            }
        }
    }

    /// Adds the objects among the first elements of a list, which may be far longer.
    fn add_elements(&mut self, list: &str, path: &str, depth: usize) {
        let mut n = 0;
        each_element(list, |element| {
            n += 1;
            if n <= ELEMENTS && element.starts_with('{') {
                self.add_object(&Node::from_written(element), path, depth);
            }
        });
    }

    /// The fields that were not looked at, in a list in none of its elements.
    fn unused(mut self) -> Vec<(String, FieldValue)> {
        self.fields.retain(|(path, _)| !path.contains(EACH) || !self.known.contains(path));
        self.fields
    }
}

/// A field that no reader used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnusedField {
    /// The format of the runs.
    pub format: String,
    /// The path of the field: `metrics.passed`.
    pub field: String,
    /// The runs that have it.
    pub runs: u64,
    /// All runs of the format.
    pub of: u64,
    /// What its values look like.
    pub look: String,
    /// What it may be and which argument takes it, if it may be something that is missing.
    pub hint: Option<String>,
}

/// What is missing in the runs of a format.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    runs: u64,
    outcome: u64,
    task: u64,
    model: u64,
    usage: u64,
    calls: u64,
    /// Runs that are called by their place in a file, as nothing else names them.
    numbered: u64,
}

/// The unused fields of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Unused {
    formats: BTreeMap<&'static str, (Missing, BTreeMap<String, Looks>)>,
}

impl Unused {
    /// Adds a run and the fields of its record.
    pub(crate) fn enter(
        &mut self,
        format: &'static str,
        run: &Run,
        is_numbered: bool,
        fields: &[(String, FieldValue)],
    ) {
        let (missing, looks) = self.formats.entry(format).or_default();
        let one = |is: bool| u64::from(is);
        missing.runs += 1;
        missing.outcome += one(run.grade.outcome == Outcome::Unknown);
        missing.task += one(run.header.task_id.is_none());
        missing.model += one(run.header.model.is_none() && run.replies().all(|reply| reply.model().is_none()));
        missing.usage += one(run.totals.is_none() && !run.replies().any(crate::transcript::Message::has_usage));
        missing.calls += one(!run.has_calls());
        missing.numbered += one(is_numbered);
        for (path, look) in fields {
            if looks.len() < COUNTED || looks.contains_key(path) {
                looks.entry(path.clone()).or_default().add(look, run.steps().len());
            }
        }
    }

    /// The field that may be the runs' id, if they are called by their places.
    pub(crate) fn id_field(&self) -> Option<&str> {
        let mut ids = self.formats.values().flat_map(|(missing, looks)| {
            looks.iter().filter(|(field, looks)| may_be_id(field, looks, missing)).map(|(field, _)| field.as_str())
        });
        ids.next()
    }

    /// The fields that more than half of the runs of their format have, the most telling first; of those in lists only
    /// what may be missing. `by_id` is the mapping that takes [`Self::id_field`].
    pub(crate) fn fields(self, by_id: Option<&str>) -> Vec<UnusedField> {
        let mut all = Vec::new();
        for (format, (missing, looks)) in self.formats {
            let often = looks.into_iter().filter(|(_, looks)| 2 * looks.runs > missing.runs);
            let mut fields: Vec<UnusedField> = often
                .map(|(field, looks)| UnusedField {
                    format: format.to_owned(),
                    hint: hint(&field, &looks, &missing, by_id),
                    field,
                    runs: looks.runs,
                    of: missing.runs,
                    look: looks.to_string(),
                })
                .collect();
            fields.retain(|field| field.hint.is_some() || !field.field.contains(EACH));
            fields.sort_by_key(|field| (field.hint.is_none(), std::cmp::Reverse(field.runs)));
            all.extend(fields);
        }
        all
    }
}

/// What a field may be, where most runs lack that, and the argument that takes it.
fn hint(field: &str, looks: &Looks, missing: &Missing, by_id: Option<&str>) -> Option<String> {
    let lacks = |n: u64| 2 * n > missing.runs;
    let nearly_all = 20 * looks.runs >= 19 * missing.runs;
    let argument = if field.contains(' ') { format!("'{field}'") } else { field.to_owned() };
    let name = last_name(field);
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if field.contains(EACH) {
        return hint_in_list(&name, looks, missing);
    }
    let is_count = matches!(looks.range(), Some((_, high)) if high <= 1.0) && counts_things(field);
    if lacks(missing.outcome) && nearly_all && !is_count {
        if let Some((yes, no)) = looks.as_flag()
            && (named(OUTCOME) || yes > 0 && no > 0 && !named(NO_OUTCOME))
        {
            return Some(format!("is true in {yes} and false in {no} runs: `--outcome {argument}`"));
        }
        if let Some((low, high)) = looks.range().filter(|_| named(OUTCOME)) {
            let at = if high > 1.0 || low < 0.0 { " --success-at SCORE" } else { "" };
            return Some(format!(
                "is a number from {low} to {high} in {} runs: `--outcome {argument}{at}`",
                looks.runs
            ));
        }
    }
    if may_be_id(field, looks, missing) {
        let map = match by_id {
            Some(map) => map.to_owned(),
            None => format!("run={argument},messages=…"),
        };
        return Some(format!("may be the run's id ({} values): `--map {map}`", looks.values()));
    }
    if lacks(missing.task) && looks.is_name() && named(TASK) && !named(&["status"]) {
        return Some(format!(
            "may be the task ({} values in {} runs): `--task {argument}`",
            looks.values(),
            looks.runs
        ));
    }
    if lacks(missing.model) && looks.is_name() && looks.range().is_none() && named(MODEL) {
        return Some(format!("may be the model ({}): `--model {argument}`", looks.values_in_words()));
    }
    if lacks(missing.usage) && looks.range().is_some() && counts_tokens(&name) {
        return Some(format!("may be tokens, in {} runs: `--map tokens={argument},messages=…`", looks.runs));
    }
    if missing.calls == missing.runs && looks.is_list() && named(CALLS) {
        return Some(format!("may be calls, in {} runs: `--map calls={argument},…`", looks.runs));
    }
    None
}

/// The last name of a path, in small letters.
fn last_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_lowercase()
}

/// Whether a name may be of tokens that were spent, and not of those that may be.
fn counts_tokens(name: &str) -> bool {
    name.contains("token") && !["max", "limit", "budget"].iter().any(|word| name.contains(word))
}

/// What a field of the elements of a list may be, which no argument takes.
fn hint_in_list(name: &str, looks: &Looks, missing: &Missing) -> Option<String> {
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let (what, how) = if missing.usage == missing.runs && looks.range().is_some() && counts_tokens(name) {
        ("tokens", "counts are read from `usage`, as `input_tokens` and `output_tokens`")
    } else if missing.calls == missing.runs && looks.is_list() && named(CALLS) {
        ("calls", "calls are read from `tool_calls`, as OpenAI's API has them")
    } else {
        return None;
    };
    Some(format!("may be {what}, in {} runs: {how}", looks.runs))
}

/// Whether a field has another value, in one word, in every run of those that are called by their places.
fn may_be_id(field: &str, looks: &Looks, missing: &Missing) -> bool {
    let name = last_name(field);
    let is_of_task = TASK.iter().chain(MODEL).any(|word| name.contains(word));
    2 * missing.numbered > missing.runs && looks.runs == missing.runs && looks.are_ids() && !is_of_task
}

/// Flags that say something about the recording or its making.
const NO_OUTCOME: &[&str] =
    &["stream", "cached", "debug", "is_", "has_", "use_", "enable", "truncat", "timeout", "error", "parallel", "think"];
const TASK: &[&str] = word_list!("task instance instruction problem question scenario case goal query ticket example");
const MODEL: &[&str] = &["model", "llm", "engine", "pipeline"];
const CALLS: &[&str] = &["call", "tool", "action", "invocation", "function", "command"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Draft, Event, Header, Message, Role};

    fn told(records: &[&str]) -> Vec<String> {
        let mut unused = Unused::default();
        for record in records {
            let events = vec![Event::Message(Message::saying(Role::Assistant, "ok"))];
            let run = Run::new(Draft { header: Header::named("r"), events, ..Draft::default() });
            let none = HashSet::new();
            let mut listing = Listing::new(&none);
            listing.add_object(&Node::from_written(*record), "", DEPTH);
            unused.enter("chat", &run, true, &listing.unused());
        }
        let told = |field: UnusedField| format!("{} {}", field.field, field.hint.unwrap_or(field.look));
        unused.fields(None).into_iter().map(told).collect()
    }

    #[test]
    fn what_may_be_an_outcome_a_task_or_a_model_is_named_with_its_argument() {
        let told = told(&[
            r#"{"evaluation":{"utility":true,"security":true},"case_name":"a","llm":"m","n":1}"#,
            r#"{"evaluation":{"utility":false,"security":true},"case_name":"b","llm":"m","n":2}"#,
        ]);
        assert_eq!(
            told,
            [
                "case_name may be the task (2 values in 2 runs): `--task case_name`",
                "evaluation.utility is true in 1 and false in 1 runs: `--outcome evaluation.utility`",
                "llm may be the model (`m`): `--model llm`",
                "evaluation.security true or false (2 true)",
                "n number from 1 to 2",
            ]
        );
    }

    #[test]
    fn a_field_with_a_word_of_its_own_in_every_run_may_be_the_id() {
        let fields = [r#"{"conv":"c1","note":"a b","llm":"m1"}"#, r#"{"conv":"c2","note":"b c","llm":"m2"}"#];
        assert_eq!(
            told(&fields),
            [
                "conv may be the run's id (2 values): `--map run=conv,messages=…`",
                "llm may be the model (2 values): `--model llm`",
                "note name, 2 values",
            ]
        );
        assert_eq!(told(&[r#"{"conv":"c1"}"#, r#"{"conv":"c1"}"#]), ["conv name, 1 values"]);
    }

    #[test]
    fn what_is_looked_at_is_used() {
        let text = r#"{"a":1,"b":{"c":true,"d":[{"role":"user"}]}}"#;
        looked_up::watch(text, true);
        let node = Node::from_written(text);
        assert!(node.get("a").is_some());
        let fields = looked_up::with_used(|used| {
            let mut listing = Listing::new(used);
            listing.add_object(&node, "", DEPTH);
            listing.unused()
        });
        assert_eq!(fields.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["b.c", "b.d"]);
    }
}
