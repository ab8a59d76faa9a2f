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

/// The runs that are judged together: those of a format, and in tables of a layout.
type Source = (&'static str, String);

fn source_of(file: &OpenFile) -> Source {
    let layout = if file.format.id() == "parquet" { file.envelope.clone() } else { String::new() };
    (file.format.id(), layout)
}

/// What is known of a source that takes steps.
#[derive(Clone, Copy, PartialEq)]
enum CallEvidence {
    NoneYet,
    FirstEndsAt(u64),
}

/// What was parsed and not yet judged, in order, and the sources seen so far.
#[derive(Default)]
pub(super) struct CallSources {
    /// Each with the bytes of the corpus up to its end, and the thread that parsed it.
    waiting: VecDeque<(u64, Parsed, usize)>,
    /// The bytes that were parsed.
    parsed: u64,
    /// There are few.
    calls: Vec<(Source, CallEvidence)>,
}

impl CallSources {
    /// Adds what a thread parsed of a record of this many bytes.
    pub(super) fn add(&mut self, parsed: Parsed, bytes: usize, thread: usize) {
        if let Parsed::Runs { file, results: RecordResults { runs, .. }, .. } = &parsed {
            self.parsed += bytes as u64 + A_RECORD;
            let has_calls = runs.iter().any(|found| found.run.has_calls());
            if has_calls || runs.iter().any(|found| !found.run.steps().is_empty()) {
                let source = source_of(file);
                let at = self.calls.iter().position(|(known, _)| *known == source).unwrap_or_else(|| {
                    self.calls.push((source, CallEvidence::NoneYet));
                    self.calls.len() - 1
                });
                let (_, calls) = &mut self.calls[at];
                if has_calls && *calls == CallEvidence::NoneYet {
                    *calls = CallEvidence::FirstEndsAt(self.parsed);
                }
            }
        }
        self.waiting.push_back((self.parsed, parsed, thread));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if more must be parsed before the next one can be judged.
    pub(super) fn needs_more(&self) -> bool {
        let Some((end, next, _)) = self.waiting.front() else { return true };
        self.parsed < end + FAR && self.calls(next) == Some(CallEvidence::NoneYet)
    }

    /// The next one and the thread that parsed it. Runs that have no calls because their source records none are marked
    /// in it.
    pub(super) fn next(&mut self) -> Option<(Parsed, usize)> {
        let (end, mut next, thread) = self.waiting.pop_front()?;
        let records_calls = match self.calls(&next) {
            Some(CallEvidence::FirstEndsAt(place)) => place <= end + FAR,
            Some(CallEvidence::NoneYet) => false,
            None => true,
        };
        if let (false, Parsed::Runs { results, .. }) = (records_calls, &mut next) {
            for found in results.runs.iter_mut().filter(|found| !found.run.steps().is_empty()) {
                if found.run.header.requests != Requests::OnlySums {
                    found.run.header.requests = Requests::NoCalls;
                }
            }
        }
        Some((next, thread))
    }

    /// What is known of the runs' source; `None` where no run of it takes a step.
    fn calls(&self, parsed: &Parsed) -> Option<CallEvidence> {
        let Parsed::Runs { file, .. } = parsed else { return None };
        let source = source_of(file);
        self.calls.iter().find(|(known, _)| *known == source).map(|(_, calls)| *calls)
    }

    /// Whether each source records calls, by its format and layout.
    pub(super) fn known(self) -> BTreeMap<String, bool> {
        let name =
            |(format, layout): Source| if layout.is_empty() { format.to_owned() } else { format!("{format} {layout}") };
        self.calls.into_iter().map(|(source, calls)| (name(source), calls != CallEvidence::NoneYet)).collect()
    }
}
