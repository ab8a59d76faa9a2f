//! Which sources record calls: a run without calls made none if another run of its source has some, before it or soon
//! after it, and otherwise says nothing about calls.

use std::collections::{BTreeMap, VecDeque};

use super::open_file::OpenFile;
use super::parse::{Parsed, RecordResults};
use crate::transcript::Requests;

/// A call is looked for in this many bytes behind a run without calls, so that a corpus without any is read only once …
const FAR: u64 = 64 << 20;
/// … and each record counts as this many bytes more, since a short run takes more memory than its text.
const A_RECORD: u64 = 4 << 10;

/// The runs that are judged together, some of which take steps: those of a format, and in tables of a layout.
struct CallSource {
    format: &'static str,
    /// Empty but for tables.
    layout: String,
    /// The bytes of the corpus up to the end of the first record with a call.
    first_call: Option<u64>,
}

/// What was parsed and not yet judged.
struct UnjudgedPiece {
    parsed: Parsed,
    /// The bytes of the corpus up to its end.
    end: u64,
    /// The number of its source, if a run of it takes a step.
    source: Option<usize>,
    /// The thread that parsed it.
    thread: usize,
}

/// What was parsed and not yet judged, in order, and the sources seen so far.
#[derive(Default)]
pub(super) struct CallSources {
    waiting: VecDeque<UnjudgedPiece>,
    /// The bytes that were parsed.
    parsed: u64,
    /// There are few.
    sources: Vec<CallSource>,
}

impl CallSources {
    /// Adds what a thread parsed of a record of this many bytes.
    pub(super) fn add(&mut self, parsed: Parsed, bytes: usize, thread: usize) {
        let mut source = None;
        if let Parsed::Runs { file, results: RecordResults { runs, .. }, .. } = &parsed {
            self.parsed += bytes as u64 + A_RECORD;
            let has_calls = runs.iter().any(|found| found.run.has_calls());
            if has_calls || runs.iter().any(|found| !found.run.steps().is_empty()) {
                let at = self.source(file);
                if has_calls {
                    self.sources[at].first_call.get_or_insert(self.parsed);
                }
                source = Some(at);
            }
        }
        self.waiting.push_back(UnjudgedPiece { parsed, end: self.parsed, source, thread });
    }

    /// The number of a file's source.
    fn source(&mut self, file: &OpenFile) -> usize {
        let format = file.format.id();
        let layout = if format == "parquet" { &*file.envelope } else { "" };
        let known = self.sources.iter().position(|source| source.format == format && source.layout == layout);
        known.unwrap_or_else(|| {
            self.sources.push(CallSource { format, layout: layout.to_owned(), first_call: None });
            self.sources.len() - 1
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if more must be parsed before the next one can be judged.
    pub(super) fn needs_more(&self) -> bool {
        let Some(next) = self.waiting.front() else { return true };
        let Some(source) = next.source else { return false };
        self.parsed < next.end + FAR && self.sources[source].first_call.is_none()
    }

    /// The next one and the thread that parsed it. Runs that have no calls because their source records none are marked
    /// in it.
    pub(super) fn next(&mut self) -> Option<(Parsed, usize)> {
        let UnjudgedPiece { mut parsed, end, source, thread } = self.waiting.pop_front()?;
        let records_calls = match source.map(|source| self.sources[source].first_call) {
            Some(Some(place)) => place <= end + FAR,
            Some(None) => false,
            None => true,
        };
        if let (false, Parsed::Runs { results, .. }) = (records_calls, &mut parsed) {
            for found in results.runs.iter_mut().filter(|found| !found.run.steps().is_empty()) {
                if found.run.header.requests != Requests::OnlySums {
                    found.run.header.requests = Requests::NoCalls;
                }
            }
        }
        Some((parsed, thread))
    }

    /// Whether each source records calls, by its format and layout.
    pub(super) fn known(self) -> BTreeMap<String, bool> {
        let mut known = BTreeMap::new();
        for CallSource { format, layout, first_call } in self.sources {
            let name = if layout.is_empty() { format.to_owned() } else { format!("{format} {layout}") };
            known.insert(name, first_call.is_some());
        }
        known
    }
}
