//! Where a collection says what a format does not: the task, model, run or outcome as a field of the record, a part of the
//! path, or what stands at a place of a pattern.

use super::ReadOptions;
use super::json;
use super::labels::grade_word;
use super::node::Node;
use super::reading::Record;
use crate::transcript::{Draft, Grade, Outcome, OutcomeSource};

/// The word in a pattern that stands for what is looked for.
const WANTED: &str = "{}";

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// `path:2`: a part of the path, counted from its end; 0 is the file's name without its endings.
    Path(usize),
    /// `runs/{}/*`: parts of the path in order, `*` for any; `{}` is what is looked for.
    Pattern(String),
    /// `info.model`: a field of the record, or of what stands around the records of its file.
    Field(String),
}

impl NamedBy {
    /// Reads an argument.
    ///
    /// # Errors
    /// What is wrong with it, in words for a person.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix("path:") {
            return number.parse().map(Self::Path).map_err(|_| {
                format!("`{text}`: after `path:` comes a number, 0 for the file's name, 1 for its folder, and so on")
            });
        }
        if text.contains(WANTED) {
            return match text.matches(WANTED).count() {
                1 => Ok(Self::Pattern(text.to_owned())),
                n => Err(format!("`{text}` has `{WANTED}` {n} times: it stands once, for what is looked for")),
            };
        }
        if text.is_empty() || text.contains('/') {
            return Err(format!(
                "`{text}` is no field, and no pattern either: in a pattern `{WANTED}` stands for what is looked for"
            ));
        }
        Ok(Self::Field(text.to_owned()))
    }

    /// What is found there.
    fn find(&self, record: &Record<'_>) -> Option<String> {
        match self {
            Self::Path(0) => Some(record.file.stem.clone()),
            Self::Path(n) => {
                let parts = parts(&record.file.path);
                parts.len().checked_sub(n + 1).map(|at| parts[at].to_owned())
            }
            Self::Pattern(pattern) => matched(pattern, &record.file.path),
            Self::Field(path) => field(record.text, path).or_else(|| field(record.envelope, path)),
        }
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\', '!']).filter(|part| !part.is_empty() && *part != ".").collect()
}

/// What stands for `{}` where the pattern first matches parts of the path that follow each other, the rightmost.
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

/// The word under a field's path, `a.b.c`; a field whose own name has points goes before.
fn field(text: &str, path: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let whole = Node::of(text);
    let found = whole.get(path).or_else(|| whole.at(&path.split('.').collect::<Vec<_>>()))?;
    json::word(&found).or_else(|| json::flag(&found).map(|flag| flag.to_string()))
}

/// Names a run as the options say; true when it was graded so.
pub(super) fn apply(draft: &mut Draft, record: &Record<'_>, options: &ReadOptions) -> bool {
    let find = |place: &Option<NamedBy>| place.as_ref().and_then(|place| place.find(record));
    let header = &mut draft.header;
    header.task_id = find(&options.task).or(header.task_id.take());
    header.model = find(&options.model).or(header.model.take());
    if let Some(run) = find(&options.run) {
        header.run_id = if record.key.is_empty() { run } else { format!("{run}/{}", record.key) };
    }
    let place = options.outcome_key.as_deref().and_then(|key| NamedBy::parse(key).ok());
    let Some(word) = find(&place) else { return false };
    let score: Option<f64> = word.parse().ok().filter(|score: &f64| score.is_finite());
    let Some(graded) = score.map(|score| score >= 1.0).or_else(|| grade_word(&word)) else { return false };
    let source = OutcomeSource::Native("the one named");
    draft.grade = Grade { outcome: Outcome::from_grade(Some(graded)), score, source, ..draft.grade };
    true
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
