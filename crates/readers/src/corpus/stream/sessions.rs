//! Which of several recordings of one session is read.

use std::sync::Arc;

use super::super::chosen_form::ChosenForm;
use super::super::one_session::{self, RecordingStanding, SessionGroups, SessionRecording};
use super::super::parse::{Parsed, read_record};
use super::CorpusStream;
use crate::find::source::InputFile;
use crate::open::records::Item;
use crate::read::format::Format;
use crate::record::options::{Detail, ReadOptions};

impl<'c> CorpusStream<'c> {
    /// What this recording is among those of its session.
    pub(super) fn standing(&mut self, source: &'c InputFile, format: &Format) -> RecordingStanding {
        if !one_session::holds_one(format.id()) {
            return RecordingStanding::Alone;
        }
        let sessions = self.sessions.get_or_init(|| SessionGroups::from_heads(self.heads()));
        let undecided = sessions.undecided(source).unwrap_or_default().to_vec();
        let recordings = self.recordings(&undecided);
        let Some(sessions) = self.sessions.get_mut() else { return RecordingStanding::Alone };
        if !recordings.is_empty() {
            sessions.decide(source, &recordings);
        }
        sessions.standing(source)
    }

    /// The recordings among these files of one session, read if they are of several formats.
    fn recordings(&mut self, group: &[&'c InputFile]) -> Vec<SessionRecording<'c>> {
        let mut all = Vec::new();
        for source in group {
            if let Ok(text) = source.open()
                && let Ok(chosen) = self.chosen(source, text)
                && one_session::holds_one(chosen.form.format.id())
                && self.left_for_another(source, chosen.form.format).is_none()
            {
                all.push((*source, chosen));
            }
        }
        let first = all.first().map(|(_, chosen)| chosen.form.format.id());
        if all.iter().all(|(_, chosen)| Some(chosen.form.format.id()) == first) {
            return Vec::new();
        }
        all.into_iter().filter_map(|(source, chosen)| self.recording(source, chosen)).collect()
    }

    /// The recording in a file; `None` if it holds several.
    fn recording(&mut self, source: &'c InputFile, chosen: ChosenForm) -> Option<SessionRecording<'c>> {
        let format = chosen.form.format.id();
        let (file, _, mut cuts) = self.opened(source, chosen).ok()?;
        let file = Arc::new(file);
        let options = ReadOptions { detail: Detail::Counts, ..self.corpus.options.clone() };
        let (mut found, mut told) = (Vec::new(), Vec::new());
        while let Some(item) = cuts() {
            let Item::Record(cut) = item else { continue };
            if let Parsed::Runs { results, .. } = read_record(&file, &cut, &options) {
                found.extend(results.runs.into_iter().filter(|found| found.run.header.parent.is_none()));
                told.extend(results.summaries);
            }
        }
        if found.len() > 1 {
            return None;
        }
        let run = found.pop().filter(|found| !found.run.steps().is_empty()).map(|found| (found.run, found.spend));
        Some(SessionRecording { source, format, run, summary: told.pop() })
    }
}
