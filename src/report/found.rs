//! Findings from reading the recordings, as far as a report lists them.

use serde::{Deserialize, Serialize};

use crate::answers::ToldRuns;
use crate::reader::{CorpusReport, Finding};

/// Maximum findings that are listed.
const SHOWN: usize = 200;

/// Findings from reading the recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingFindings {
    /// Files that could not be read, or not completely.
    pub unreadable: u64,
    /// Notices that affect every number, one line each.
    notices: Vec<String>,
    /// The first findings, one line each.
    findings: Vec<String>,
    /// Number of findings beyond those.
    more: u64,
    /// How many runs tell their agents of a limit, if that was looked for.
    #[serde(default)]
    told: ToldRuns,
}

impl ReadingFindings {
    /// Takes the findings of one reading.
    pub fn from_report(report: &CorpusReport) -> Self {
        let line = |(finding, times): &(&Finding, u64)| match times {
            1 => finding.diagnostic.to_string(),
            times => format!("{} ({times} such; the first is here)", finding.diagnostic),
        };
        let gathered = report.gathered(false);
        let findings = gathered.iter().map(line);
        Self {
            unreadable: report.unreadable,
            notices: report.notices.iter().map(|notice| notice.diagnostic.to_string()).collect(),
            findings: findings.take(SHOWN).collect(),
            more: gathered.len().saturating_sub(SHOWN) as u64,
            told: ToldRuns { told: report.told.told, runs: report.runs() },
        }
    }

    /// Takes out what the findings quote: values may be texts of the recordings.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        for line in self.notices.iter_mut().chain(&mut self.findings) {
            *line = unquoted(line);
        }
        self
    }

    /// Replaces file paths by other names: pairs of path and name.
    pub fn renamed(&mut self, names: &[(String, String)]) {
        for line in self.notices.iter_mut().chain(&mut self.findings) {
            for (path, name) in names {
                *line = line.replace(path, name);
            }
        }
    }

    /// Adds the findings of the files that come after these.
    pub fn extend(&mut self, later: Self) {
        self.unreadable += later.unreadable;
        for notice in later.notices {
            // A notice that affects every number is listed once, whichever files it was found in.
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        let room = SHOWN.saturating_sub(self.findings.len());
        self.more += later.more + later.findings.len().saturating_sub(room) as u64;
        self.findings.extend(later.findings.into_iter().take(room));
        self.told.add(later.told);
    }

    /// How many runs tell their agents of a limit; `None` if none does, or nobody looked.
    pub fn told_of_limits(&self) -> Option<ToldRuns> {
        if self.told.told > 0 { Some(self.told) } else { None }
    }

    /// All notices and listed findings, one line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        if self.unreadable > 0 {
            lines.push(unreadable(self.unreadable));
        }
        lines.extend(self.notices.iter().cloned());
        lines.extend(self.findings.iter().cloned());
        if self.more > 0 {
            lines.push(format!("{} more: `whenstop corpus PATH` lists them", self.more));
        }
        lines
    }
}

/// Formats the number of unreadable inputs.
pub fn unreadable(n: u64) -> String {
    format!("{n} {} could not be read, or not to the end", if n == 1 { "input" } else { "inputs" })
}

/// The line without what is between its first quotation mark or backtick and its last: a value may hold more of them.
fn unquoted(line: &str) -> String {
    let mark = |c: char| matches!(c, '`' | '"');
    match (line.find(mark), line.rfind(mark)) {
        (Some(first), Some(last)) if first < last => format!("{}`…`{}", &line[..first], &line[last + 1..]),
        _ => line.to_owned(),
    }
}
