//! One session in several recordings: the agent's own, the stream that its caller kept, what a harness made of them. It
//! is one run, read from the richest of them; what only the others say of it holds for that run.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::fill;
use crate::find::run_ids;
use crate::find::session_heads::Heads;
use crate::find::source::InputFile;
use crate::read::by_name::ByName;
use crate::record::tokens;
use crate::text::word_list;
use crate::transcript::{Draft, EndCause, Grade, Header, Message, Outcome, Run, Spend, Totals, Usage, Usd, messages};

/// The formats that hold one session a file, an agent's own first.
const RECORDERS: &[&str] = word_list!(
    "claude-code codex gemini-cli qwen-code opencode copilot-cli pi droid kimi-cli cursor claude-agent-sdk codex-exec",
    "gemini-cli-stream atif",
);

/// Whether files of this format hold one session each.
pub(super) fn holds_one(format: &str) -> bool {
    RECORDERS.contains(&format)
}

/// The files that may hold the same session, by path.
#[derive(Debug, Default)]
pub(super) struct SessionGroups<'c> {
    groups: Vec<Vec<&'c InputFile>>,
    group_of: HashMap<&'c str, usize>,
    /// What is known of a file of a group whose recordings were compared.
    standings: HashMap<&'c str, RecordingStanding>,
}

/// What a recording is among those of its session.
#[derive(Clone, Debug, Default)]
pub(super) enum RecordingStanding {
    /// The only one of its kind.
    #[default]
    Alone,
    /// Another one, at this path, is read in its place.
    Left(String),
    /// The one that is read, with what the others say.
    Richest(Told),
}

/// What other recordings say of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    grade: Option<Grade>,
    task: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    cost: Option<Usd>,
}

/// A recording of a session, as it was read.
pub(super) struct SessionRecording<'c> {
    pub(super) source: &'c InputFile,
    pub(super) format: &'static str,
    /// Its run, if it has a reply.
    pub(super) run: Option<(Run, Spend)>,
    /// What it says of the session without a reply.
    pub(super) summary: Option<Draft>,
}

impl<'c> SessionGroups<'c> {
    pub(super) fn from_heads(heads: &Heads<'c>) -> Self {
        let mut by_id: ByName<Vec<&'c InputFile>> = ByName::default();
        for (head, file) in heads.values().filter(|(head, _)| head.parent.is_none()) {
            by_id.named(head.id.clone()).push(file);
        }
        let mut sessions = Self::default();
        for (id, files) in by_id.all {
            for group in groups(&id, files).into_iter().filter(|group| group.len() > 1) {
                sessions.group_of.extend(group.iter().map(|file| (file.name.path.as_str(), sessions.groups.len())));
                sessions.groups.push(group);
            }
        }
        sessions
    }

    /// The files that may hold the same session as this one, unless it is known already which of them is read.
    pub(super) fn undecided(&self, source: &InputFile) -> Option<&[&'c InputFile]> {
        let path = source.name.path.as_str();
        let group = self.groups.get(*self.group_of.get(path)?)?;
        if self.standings.contains_key(path) { None } else { Some(group) }
    }

    /// Decides which of a group's recordings is read.
    pub(super) fn decide(&mut self, source: &'c InputFile, recordings: &[SessionRecording<'c>]) {
        let Some(nth) = self.group_of.get(source.name.path.as_str()).copied() else { return };
        for file in self.groups.get(nth).into_iter().flatten() {
            self.standings.insert(&file.name.path, RecordingStanding::Alone);
        }
        let with_replies = recordings.iter().filter(|recording| recording.run.is_some());
        let Some(richest) = with_replies.max_by_key(|recording| recording.richness()) else { return };
        let others: Vec<&SessionRecording<'c>> =
            recordings.iter().filter(|other| other.format != richest.format).collect();
        for other in &others {
            self.standings.insert(&other.source.name.path, RecordingStanding::Left(richest.source.name.path.clone()));
        }
        if !others.is_empty() {
            self.standings.insert(&richest.source.name.path, RecordingStanding::Richest(Told::by(&others)));
        }
    }

    pub(super) fn standing(&self, source: &InputFile) -> RecordingStanding {
        self.standings.get(source.name.path.as_str()).cloned().unwrap_or_default()
    }
}

/// The files of one session id that hold the same session: those in a folder and below it. An id that was made to be the
/// only one of its kind is one session wherever it stands, unless a folder was copied.
fn groups<'c>(id: &str, files: Vec<&'c InputFile>) -> Vec<Vec<&'c InputFile>> {
    let folders: HashSet<_> = files.iter().map(|file| &file.name.folder).collect();
    if run_ids::is_unique(id) && folders.len() == files.len() && files.len() < 4 {
        return vec![files];
    }
    let mut files = files;
    files.sort_by_key(|file| (file.name.folder.components().count(), file.name.path.clone()));
    let mut groups: Vec<Vec<&'c InputFile>> = Vec::new();
    for file in files {
        let above =
            groups.iter_mut().find(|group| group.iter().any(|top| file.name.folder.starts_with(&top.name.folder)));
        match above {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    groups
}

impl SessionRecording<'_> {
    /// How much it says, the most important first. A recorder may divide replies as it likes, so calls come before them.
    fn richness(&self) -> impl Ord + use<> {
        let run = self.run.as_ref();
        let replies = || run.into_iter().flat_map(|(run, _)| run.replies());
        let calls = replies().map(|reply| reply.tool_calls.len()).sum::<usize>();
        let tokens = run.and_then(|(_, spend)| spend.total);
        let is_timed = replies().any(|reply| reply.ts.is_some());
        let n_events = run.map(|(run, _)| run.events().len());
        let rank = RECORDERS.iter().position(|format| *format == self.format);
        (calls, tokens, is_timed, n_events, Reverse(rank))
    }
}

impl Told {
    fn by(others: &[&SessionRecording<'_>]) -> Self {
        let mut told = Self::default();
        for other in others {
            if let Some((run, spend)) = &other.run {
                let usage =
                    Usage { input: spend.input.map(|n| n.0), output: spend.output.map(|n| n.0), ..Usage::default() };
                told.add(&run.grade, &run.header, Some(Totals { usage, cost: spend.cost }));
            } else if let Some(summary) = &other.summary {
                told.add(&summary.grade, &summary.header, summary.header.totals);
            }
        }
        told
    }

    fn add(&mut self, grade: &Grade, header: &Header, totals: Option<Totals>) {
        if self.grade.is_none() && (grade.outcome != Outcome::Unknown || grade.score.is_some()) {
            self.grade = Some(grade.clone());
        }
        fill(&mut self.task, header.task_id.as_ref());
        fill(&mut self.model, header.model.as_ref());
        if let Some(Totals { usage, cost }) = totals {
            self.usage = self.usage.or(tokens::recorded(usage));
            self.cost = self.cost.or(cost);
        }
    }

    /// Adds what the run's own recording does not say.
    pub(super) fn apply(&self, draft: &mut Draft) {
        let Draft { header, grade, events, .. } = draft;
        if let Some(told) = self.grade.as_ref().filter(|_| grade.outcome == Outcome::Unknown && grade.score.is_none()) {
            let end = if grade.end == EndCause::Unknown { told.end } else { grade.end };
            *grade = Grade { end, secured_step: grade.secured_step, ..told.clone() };
        }
        fill(&mut header.task_id, self.task.as_ref());
        fill(&mut header.model, self.model.as_ref());
        let replies = || messages(events);
        let (counted, priced) = (replies().any(Message::has_usage), replies().any(|reply| reply.cost().is_some()));
        let usage = self.usage.filter(|_| !counted);
        let cost = self.cost.filter(|_| !priced);
        if header.totals.is_none() && (usage.is_some() || cost.is_some()) {
            header.totals = Some(Totals { usage: usage.unwrap_or_default(), cost });
        }
    }
}
