//! Stop-point snapshots: small, sorted, reviewable text; their differences; and gates.
//!
//! A line is five fields apart by ` | `. Ids and names come from recordings and stack files, so any text must come back as
//! it was and no two may share a line: a field that would not is written as a JSON string, in quotes. Ordinary ids are
//! written as they are.

mod cut_short;
mod gate;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::aggregate::{RowView, Rows};
use crate::diagnostic::{self, Diagnostic, Location, is_hostile, one_line};

pub use cut_short::CutShortGate;
pub use gate::{Gate, GateResult, MIN_KNOWN};

/// What stands in the first line; the number is the version of the format.
const HEADER: &str = "# whenstop stop points v1: run | stack | rule | stop | verdict";

/// The stop of one stack on one run, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StopLine {
    /// The rule that stopped; `None` when none did, which is written as `-`.
    pub rule: Option<String>,
    /// The point, or `end`.
    pub stop: String,
    /// The verdict.
    pub verdict: String,
}

impl StopLine {
    fn of(row: RowView<'_>) -> Self {
        Self {
            rule: row.rule().map(ToString::to_string),
            stop: row.stop_point().map_or_else(|| "end".to_owned(), |point| point.to_string()),
            verdict: row.verdict().to_string(),
        }
    }
}

/// Stop points by run and stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<(String, String), StopLine>);

/// One difference between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The run.
    pub run: String,
    /// The stack.
    pub stack: String,
    /// What the snapshot says; `None` when it does not have the run.
    pub before: Option<StopLine>,
    /// What is so now; `None` when the run is gone.
    pub now: Option<StopLine>,
}

impl Snapshot {
    /// Takes the stop points of `rows`.
    pub fn of(rows: &Rows) -> Self {
        let key = |row: RowView<'_>| (row.run_id().to_string(), row.stack().to_string());
        Self(rows.iter().map(|row| (key(row), StopLine::of(row))).collect())
    }

    /// How many stop points there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the snapshot: sorted by run and stack.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for ((run, stack), StopLine { rule, stop, verdict }) in &self.0 {
            let rule = rule.as_deref().map_or(Cow::Borrowed(NO_RULE), field);
            let fields = [field(run), field(stack), rule, field(stop), field(verdict)];
            let _ = writeln!(text, "{}", fields.join(SEPARATOR));
        }
        text
    }

    /// Reads a snapshot back.
    pub fn parse(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |line: usize, what: &str| {
            Diagnostic::new(Location::line(path, line), what, "write it anew with `whenstop accept`")
        };
        let mut lines = text.lines().zip(1..);
        if lines.next().is_none_or(|(header, _)| header.trim_end() != HEADER) {
            return Err(wrong(1, "not a stop-point snapshot of this version"));
        }
        let mut stops = BTreeMap::new();
        for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
            let fields = fields(line.trim_end());
            // No bare field holds a bar that stands alone: the line is one of ours with something in between.
            let is_broken = fields.iter().any(|field| matches!(field, Field::Bare(text) if has_lone_bar(text)));
            let Some([run, stack, rule, stop, verdict]) =
                <[Field<'_>; 5]>::try_from(fields).ok().filter(|_| !is_broken)
            else {
                return Err(wrong(number, "a line without its five fields"));
            };
            let rule = (rule != Field::Bare(NO_RULE)).then(|| rule.into_text());
            let stop = StopLine { rule, stop: stop.into_text(), verdict: verdict.into_text() };
            if stops.insert((run.into_text(), stack.into_text()), stop).is_some() {
                return Err(wrong(number, "a run and stack that stand here twice"));
            }
        }
        Ok(Self(stops))
    }

    /// How `now` differs, in run and stack order.
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let keys: std::collections::BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        keys.into_iter()
            .filter(|key| self.0.get(*key) != now.0.get(*key))
            .map(|key| Change {
                run: key.0.clone(),
                stack: key.1.clone(),
                before: self.0.get(key).cloned(),
                now: now.0.get(key).cloned(),
            })
            .collect()
    }
}

impl Change {
    /// The change in one line.
    pub fn to_line(&self) -> String {
        let shown = |line: &Option<StopLine>| {
            line.as_ref().map_or_else(
                || "not there".to_owned(),
                |line| match &line.rule {
                    None => format!("ran to the end, {}", line.verdict),
                    Some(rule) => format!("{} by {rule}, {}", line.stop, line.verdict),
                },
            )
        };
        let line = format!("{} under {}: was {}; now {}", self.run, self.stack, shown(&self.before), shown(&self.now));
        one_line(&line).into_owned()
    }
}

/// What stands between two fields.
const SEPARATOR: &str = " | ";

/// What stands for no rule.
const NO_RULE: &str = "-";

/// A field as it is written: itself, or a JSON string where it would not be read back as itself or could not be seen.
fn field(text: &str) -> Cow<'_, str> {
    let ends_in_blank = text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace);
    let is_plain = !text.is_empty()
        && !ends_in_blank
        && text != NO_RULE
        && !text.starts_with('"')
        && !has_lone_bar(text)
        && !text.contains(is_hostile);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

/// Would the text be taken for two fields, alone or beside others?
fn has_lone_bar(text: &str) -> bool {
    text.split(char::is_whitespace).any(|word| word == "|")
}

fn quoted(text: &str) -> String {
    diagnostic::json(&serde_json::Value::from(text).to_string()).into_owned()
}

/// A field as it is read.
#[derive(Debug, PartialEq)]
enum Field<'a> {
    /// As it stands.
    Bare(&'a str),
    /// From a JSON string.
    Quoted(String),
}

impl Field<'_> {
    fn into_text(self) -> String {
        match self {
            Self::Bare(text) => text.to_owned(),
            Self::Quoted(text) => text,
        }
    }
}

/// The fields of a line. What begins with a quote and is no JSON string stands for itself, as all fields of older
/// snapshots do.
fn fields(line: &str) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) = match quoted_field(text) {
            Some((field, after)) => (Field::Quoted(field), after),
            None => match text.split_once(SEPARATOR) {
                Some((field, after)) => (Field::Bare(field), Some(after)),
                None => (Field::Bare(text), None),
            },
        };
        fields.push(field);
        rest = after;
    }
    fields
}

/// The JSON string at the start of `text`, if it is a whole field, and what follows its separator.
fn quoted_field(text: &str) -> Option<(String, Option<&str>)> {
    if !text.starts_with('"') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let field = values.next()?.ok()?;
    let after = text.get(values.byte_offset()..)?;
    if after.is_empty() { Some((field, None)) } else { after.strip_prefix(SEPARATOR).map(|after| (field, Some(after))) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text of the characters that mean something in a line, and any others.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof!["[ |a/\\\\\"#\n\r\t-]{0,8}", any::<String>()]
    }

    fn snapshot(stops: Vec<(String, String, Option<String>)>) -> Snapshot {
        let line = |rule| StopLine { rule, stop: "2:after_tools".into(), verdict: "fes".into() };
        Snapshot(stops.into_iter().map(|(run, stack, rule)| ((run, stack), line(rule))).collect())
    }

    proptest! {
        #[test]
        fn any_id_stack_and_rule_reads_back(
            stops in prop::collection::vec((any_text(), any_text(), prop::option::of(any_text())), 0..6),
        ) {
            let snapshot = snapshot(stops);
            let text = snapshot.to_text();
            prop_assert_eq!(text.lines().count(), 1 + snapshot.len(), "a line each: {}", &text);
            prop_assert!(!text.chars().any(|c| c != '\n' && is_hostile(c)), "{:?}", &text);
            prop_assert_eq!(Snapshot::parse("s", &text).unwrap(), snapshot);
        }
    }

    #[test]
    fn ids_alike_have_lines_of_their_own_and_ordinary_ones_no_quotes() {
        let ids = ["a | b", "a / b", "a\nb", "a b", "a | | b", "x |", "x", "a|b", "-", "", "\"a\"", "C:\\runs\\1"];
        let snapshot = snapshot(ids.map(|id| (id.to_owned(), "s".to_owned(), Some(id.to_owned()))).to_vec());
        assert_eq!(snapshot.len(), ids.len());
        let text = snapshot.to_text();
        assert_eq!(Snapshot::parse("s", &text).unwrap(), snapshot);
        for line in [
            "\"a | b\" | s | \"a | b\" |",
            "a / b | s | a / b |",
            "\"a\\nb\" | s |",
            "a|b | s |",
            "\"x |\" | s |",
            "\"-\" | s | \"-\" |",
            "C:\\runs\\1 | s |",
        ] {
            assert!(text.lines().any(|found| found.starts_with(line)), "{line} in {text}");
        }
    }

    const OLD: &str = "# whenstop stop points v1: run | stack | rule | stop | verdict\n\
        a | s | steps >= 3 | 2:after_tools | fes\nb | s | - | end | missed_stop\n";

    #[test]
    fn text_round_trips_and_differences_are_told() {
        let old = Snapshot::parse("s", OLD).unwrap();
        assert_eq!(old.to_text(), OLD);
        let new = Snapshot::parse("s", &OLD.replace("2:after_tools | fes", "4:after_tools | good_trim")).unwrap();
        let lines: Vec<String> = old.changes(&new).iter().map(Change::to_line).collect();
        assert_eq!(
            lines,
            ["a under s: was 2:after_tools by steps >= 3, fes; now 4:after_tools by steps >= 3, good_trim"]
        );
        assert!(old.changes(&old).is_empty());
    }

    #[test]
    fn a_broken_snapshot_is_refused_with_its_line() {
        for (text, line) in
            [("", 1), ("hello\n", 1), (&format!("{OLD}x | y\n"), 4), (&format!("{OLD}b | s | - | end | x\n"), 4)]
        {
            assert_eq!(Snapshot::parse("s", text).unwrap_err().at.line, line, "{text}");
        }
    }
}
