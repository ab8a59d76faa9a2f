//! Finds the task, model, run or outcome where a collection keeps it and the format does not say: in a field of the
//! record, a part of the path, or the placeholder of a path pattern.

use crate::diagnostic::{Diagnostic, Location};
use crate::label::words::grade_word;
use crate::record::named_by::{NamedBy, WANTED};
use crate::record::node::Node;
use crate::record::options::ReadOptions;
use crate::record::outcomes::NAMED_FIELD;
use crate::record::reading::Record;
use crate::transcript::{Draft, Grade, Outcome, Role, messages};
use crate::value::json;

/// The numbers of runs in which each value was found where the user said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NamedRuns {
    runs: u64,
    pub(crate) outcome: u64,
    task: u64,
    model: u64,
    pub(crate) run: u64,
    class: u64,
}

impl NamedRuns {
    /// Adds the counts of more runs.
    pub(crate) fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.outcome += more.outcome;
        self.task += more.task;
        self.model += more.model;
        self.run += more.run;
        self.class += more.class;
    }

    /// Warnings about places where no run, or only some runs, have a value.
    pub(crate) fn notices(self, options: &ReadOptions) -> Vec<Diagnostic> {
        let places = [
            ("--task", &options.task, self.task),
            ("--model", &options.model, self.model),
            ("--run", &options.run, self.run),
            ("--by", &options.class, self.class),
        ];
        let help =
            "the others keep what the recording says by itself; `whenstop corpus PATH --runs` shows what that is";
        let mut notices = Vec::new();
        for (argument, place, found) in places {
            if let Some(place) = place
                && found < self.runs
            {
                let of = if found == 0 { "none".to_owned() } else { format!("only {found}") };
                let what = format!("`{argument} {place}` is found in {of} of {} runs", self.runs);
                notices.push(Diagnostic::new(Location::default(), what, help));
            }
        }
        notices
    }
}

impl NamedBy {
    /// The value found in that place.
    fn find(&self, record: &Record<'_>, draft: &Draft) -> Option<String> {
        match self {
            Self::Path(0) => Some(record.file.stem.clone()),
            Self::Path(n) => {
                let parts = parts(&record.file.path);
                parts.len().checked_sub(n + 1).map(|at| parts[at].to_owned())
            }
            Self::Pattern(pattern) => matched(pattern, &record.file.path),
            Self::Field(path) => {
                let meta = draft.header.meta.as_ref().map(|meta| meta.get()).unwrap_or_default();
                let texts = [record.text, record.envelope, record.original, meta];
                texts.into_iter().find_map(|text| field(text, path))
            }
            Self::FirstMessage => {
                let mut messages = messages(&draft.events);
                let first = messages.find(|message| message.role == Role::User)?;
                Some(format!("message-{:016x}", xxhash_rust::xxh3::xxh3_64(first.text().as_bytes())))
            }
            Self::EachRun => Some(draft.header.run_id.clone()),
        }
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\', '!']).filter(|part| !part.is_empty() && *part != ".").collect()
}

/// The value of `{}` at the rightmost place where the pattern matches consecutive parts of the path.
fn matched(pattern: &str, path: &str) -> Option<String> {
    let wanted = parts(pattern);
    let found = parts(path);
    found.windows(wanted.len().max(1)).rev().find_map(|window| {
        let mut value = None;
        for (wanted, part) in wanted.iter().zip(window) {
            if let Some((before, after)) = wanted.split_once(WANTED) {
                let inner = part.strip_prefix(before)?.strip_suffix(after)?;
                value = Some(inner).filter(|inner| !inner.is_empty());
            } else if *wanted != "*" && wanted != part {
                return None;
            }
        }
        value.map(str::to_owned)
    })
}

/// The word at a field's path, `a.b.c`; a field whose own name contains dots takes precedence.
fn field(text: &str, path: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let whole = Node::from_written(text);
    let parts: Vec<&str> = path.split('.').collect();
    let found = [&[path][..], &parts].into_iter().find_map(|path| whole.at(path))?;
    match json::word(&found) {
        Some(word) => Some(word),
        None => Some(json::flag(&found)?.to_string()),
    }
}

/// Names a run as the options say and returns which values were found.
pub(crate) fn apply(draft: &mut Draft, record: &Record<'_>, options: &ReadOptions) -> NamedRuns {
    let find = |place: &Option<NamedBy>, draft: &Draft| place.as_ref()?.find(record, draft);
    let (task, model, run) = (find(&options.task, draft), find(&options.model, draft), find(&options.run, draft));
    let class = find(&options.class, draft);
    let grade = named_grade(draft, record, options);
    let one = |found: &Option<String>| u64::from(found.is_some());
    let named = NamedRuns {
        runs: 1,
        outcome: u64::from(grade.is_some()),
        task: one(&task),
        model: one(&model),
        run: one(&run),
        class: one(&class),
    };
    let header = &mut draft.header;
    header.task_id = task.or(header.task_id.take());
    header.model = model.or(header.model.take());
    header.class = class.or(header.class.take());
    if let Some(run) = run {
        header.run_id = if record.key.is_empty() { run } else { format!("{run}/{}", record.key) };
    }
    if options.task == Some(NamedBy::EachRun) {
        header.task_id = Some(header.run_id.clone());
    }
    if let Some(grade) = grade {
        draft.grade = grade;
    }
    named
}

/// The grade in the field that the options name.
fn named_grade(draft: &Draft, record: &Record<'_>, options: &ReadOptions) -> Option<Grade> {
    let place = NamedBy::parse(options.outcome_key.as_deref()?).ok()?;
    grade(&place.find(record, draft)?, &draft.grade)
}

/// The grade that a word stands for, if any.
fn grade(word: &str, of: &Grade) -> Option<Grade> {
    let score: Option<f64> = word.parse().ok().filter(|score: &f64| score.is_finite());
    let graded = score.map(|score| score >= 1.0).or(grade_word(word))?;
    Some(Grade { outcome: Outcome::from_grade(Some(graded)), score, source: NAMED_FIELD, ..of.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_places_of_a_path() {
        let path = "data/runs/model-a/retail/task_3/try-2.json";
        for (pattern, expected) in [
            ("runs/{}/*", Some("model-a")),
            ("task_{}", Some("3")),
            ("{}/task_3", Some("retail")),
            ("try-{}.json", Some("2")),
            ("walks/{}", None),
        ] {
            assert_eq!(matched(pattern, path).as_deref(), expected, "{pattern}");
        }
        assert_eq!(NamedBy::parse("path:2"), Ok(NamedBy::Path(2)));
        assert_eq!(NamedBy::parse("first-message"), Ok(NamedBy::Field("first-message".to_owned())));
        for text in ["path:2", "runs/{}/*", "info.model", "first-message"] {
            assert_eq!(NamedBy::parse_task(text).map(|place| place.to_string()).as_deref(), Ok(text));
        }
        assert_eq!(NamedBy::parse("info.model"), Ok(NamedBy::Field("info.model".to_owned())));
        for wrong in ["path:x", "a/{}/{}", "a/b", ""] {
            assert!(NamedBy::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fields_may_stand_deep() {
        let text = r#"{"a":{"b":{"c":7}},"x.y":"z","ok":true}"#;
        assert_eq!(field(text, "a.b.c").as_deref(), Some("7"));
        assert_eq!(field(text, "x.y").as_deref(), Some("z"));
        assert_eq!(field(text, "ok").as_deref(), Some("true"));
        assert_eq!(field("[1]", "a"), None);
    }
}
