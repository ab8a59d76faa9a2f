//! The fingerprint of recordings: the same for the same runs, whichever command prints it.

use xxhash_rust::xxh3::xxh3_128;

use super::RowView;
use crate::transcript::Outcome;

/// One run, as far as the fingerprint covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedRun<'r> {
    /// Suite and task.
    pub cluster: (&'r str, &'r str),
    /// The run.
    pub run_id: &'r str,
    /// Model calls recorded.
    pub steps: u64,
    /// The recorded outcome.
    pub outcome: Outcome,
}

impl<'r> From<RowView<'r>> for PrintedRun<'r> {
    fn from(row: RowView<'r>) -> Self {
        Self { cluster: row.cluster(), run_id: row.run_id(), steps: row.steps_recorded(), outcome: row.outcome() }
    }
}

/// A hash over the runs in name order: suite, task, run, steps recorded and outcome. The same recordings have the same
/// fingerprint, whatever files they came from.
pub fn fingerprint<'r, R: Into<PrintedRun<'r>>>(runs: impl IntoIterator<Item = R>) -> String {
    let line = |run: R| {
        let run: PrintedRun<'r> = run.into();
        let outcome = match run.outcome {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::Unknown => "unknown",
        };
        [run.cluster.0, run.cluster.1, run.run_id, &run.steps.to_string(), outcome].join("\u{1f}")
    };
    let mut lines: Vec<String> = runs.into_iter().map(line).collect();
    lines.sort_unstable();
    format!("xxh3-128:{:032x}", xxh3_128(lines.join("\n").as_bytes()))
}
