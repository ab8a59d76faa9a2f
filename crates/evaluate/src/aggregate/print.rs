//! The fingerprint of recordings: the same for the same runs, whichever command prints it.

use xxhash_rust::xxh3::xxh3_128;

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

/// A hash over the runs in name order: suite, task, run, steps recorded and outcome. The same recordings have the same
/// fingerprint, whatever files they came from.
pub fn fingerprint<'r>(runs: impl IntoIterator<Item = PrintedRun<'r>>) -> String {
    let line = |run: PrintedRun<'_>| {
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
