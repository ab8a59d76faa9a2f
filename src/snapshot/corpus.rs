//! The recordings a snapshot was taken from: number of runs, formats, and a fingerprint of the content.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::transcript::fingerprint::Fingerprint;

/// The recordings a snapshot was taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CorpusPrint {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs by format.
    pub formats: BTreeMap<String, u64>,
    /// 16 hexadecimal digits: equal for the same runs with the same content and outcomes, in any order and any files.
    pub print: String,
}

impl CorpusPrint {
    /// Summarises runs given by id, each with a fingerprint of its content.
    pub fn from_runs(mut runs: Vec<(String, Fingerprint)>, formats: BTreeMap<String, u64>) -> Self {
        runs.sort();
        let parts = runs.iter().flat_map(|(id, print)| [Fingerprint::from_text(id), *print]);
        Self { runs: runs.len() as u64, formats, print: format!("{:016x}", Fingerprint::from_list(parts).0) }
    }

    /// The formats as text: `trace 500, inspect 13`.
    pub fn formats_told(&self) -> String {
        let formats: Vec<String> = self.formats.iter().map(|(format, runs)| format!("{format} {runs}")).collect();
        formats.join(", ")
    }
}
