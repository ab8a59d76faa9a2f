//! Stop-point snapshots: small, sorted, reviewable text; their differences; and gates.

mod gate;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::aggregate::Row;
use crate::diagnostic::{Diagnostic, Location};

pub use gate::{Gate, GateResult, MIN_KNOWN};

/// What stands in the first line; the number is the version of the format.
const HEADER: &str = "# whenstop stop points v1: run | stack | rule | stop | verdict";

/// The stop of one stack on one run, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StopLine {
    /// The rule that stopped; `-` when none did.
    pub rule: String,
    /// The point, or `end`.
    pub stop: String,
    /// The verdict.
    pub verdict: String,
}

impl StopLine {
    fn of(row: &Row) -> Self {
        Self {
            rule: row.rule.as_deref().unwrap_or("-").to_owned(),
            stop: row.stop_point.map_or_else(|| "end".to_owned(), |point| point.to_string()),
            verdict: row.verdict.to_string(),
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
    pub fn of(rows: &[Row]) -> Self {
        let key = |row: &Row| (field(&row.run_id), field(&row.stack));
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
            let _ = writeln!(text, "{run} | {stack} | {} | {stop} | {verdict}", field(rule));
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
            let fields: Vec<&str> = line.trim_end().split(" | ").collect();
            let [run, stack, rule, stop, verdict] = fields[..] else {
                return Err(wrong(number, "a line without its five fields"));
            };
            let stop = StopLine { rule: rule.to_owned(), stop: stop.to_owned(), verdict: verdict.to_owned() };
            if stops.insert((run.to_owned(), stack.to_owned()), stop).is_some() {
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
                |line| match line.rule.as_str() {
                    "-" => format!("ran to the end, {}", line.verdict),
                    rule => format!("{} by {rule}, {}", line.stop, line.verdict),
                },
            )
        };
        format!("{} under {}: was {}; now {}", self.run, self.stack, shown(&self.before), shown(&self.now))
    }
}

/// A field of a line: the separator and line breaks cannot stand in it.
fn field(text: &str) -> String {
    text.replace(" | ", " / ").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
