//! Parses one record into runs, on any thread.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::fill;
use super::open_file::OpenFile;
use crate::diagnostic::{Diagnostic, Severity};
use crate::find::file_name::FileName;
use crate::find::skipped::Skipped;
use crate::open::finding::Finding;
use crate::open::layout::RecordLayout;
use crate::open::records::Cut;
use crate::price::{self, Settled};
use crate::read::reply_prints;
use crate::read::subagents;
use crate::read::text_calls;
use crate::read::wrappings::{self, Reshape};
use crate::record::looked_up;
use crate::record::naming::{self, NamedRuns};
use crate::record::options::{Detail, ReadOptions, SubAgents};
use crate::record::reading::{LastPosition, Of, Reading, Record, RecordFindings, ReplyId, Untaken};
use crate::survey::hygiene::RunChecks;
use crate::survey::told_limits::LimitSigns;
use crate::survey::unread_parts;
use crate::survey::unused_fields::{self, FieldValue};
use crate::transcript::{
    Draft, Event, Grade, Lane, Message, Origin, Outcome, OutcomeSource, PromptedBy, Role, Run, Spend, Totals, messages,
};
use crate::value::json;

/// The result of parsing a piece.
pub(super) enum Parsed {
    Begin(Arc<OpenFile>, String),
    Runs {
        file: Arc<OpenFile>,
        results: RecordResults,
        /// For a row of a table: a hash of its content.
        row: Option<u64>,
    },
    Skip(Skipped),
    Finding(Finding),
    /// Input that could not be read completely.
    Lost(Diagnostic),
}

/// A run, with what is known about it.
pub(super) struct FoundRun {
    pub(super) run: Run,
    pub(super) spend: Spend,
    /// What it shows of a limit on its steps, if that was asked.
    pub(super) limit: LimitSigns,
    pub(super) checked: Option<RunChecks>,
    pub(super) costs: Settled,
    /// Which of outcome, task, model and id were found where the options say.
    pub(super) named: NamedRuns,
    pub(super) replies: Vec<ReplyId>,
    /// The fields of its record that nothing looked at; `None` if that was not asked.
    pub(super) unused: Option<Arc<[(String, FieldValue)]>>,
}

/// Parses one record, even if its bytes are not valid UTF-8.
pub(super) fn read_record(file: &Arc<OpenFile>, cut: &Cut, options: &ReadOptions) -> Parsed {
    // Validating is several times faster than repairing.
    let valid = std::str::from_utf8(&cut.bytes);
    let lossy = match valid {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(&cut.bytes),
    };
    let (text, surrogates) = json::without_lone_surrogates(&lossy);
    let name_of_part = name_of_part(file, cut);
    let reshaped = wrappings::reshaped(&text, file.reshape);
    let (record_text, inserted): (&str, &[_]) = match &reshaped {
        Some(reshaped) => (&reshaped.text, &reshaped.inserted),
        None => (&text, &[]),
    };
    let places = LastPosition::default();
    let record = Record {
        places: &places,
        text: record_text,
        // Decoded text has no positions of its own in the file.
        original: if file.reshape == Reshape::Decoded { record_text } else { &text },
        inserted,
        file: name_of_part.as_ref().unwrap_or(&file.name),
        key: if file.as_files { "" } else { &cut.key },
        envelope: &file.envelope,
        grades: &file.grades,
        children: &file.children,
        options,
        line: cut.line,
        column: cut.column,
    };
    let mut reading = Reading::from_record(record);
    if let Err(error) = valid {
        reading.warning(Diagnostic::new(
            record.at_original(error.valid_up_to()),
            "bytes that are not UTF-8, read as U+FFFD",
            "write the recording as UTF-8",
        ));
    }
    if surrogates > 0 {
        reading.warning(Diagnostic::new(
            record.at_original(first_difference(&lossy, &text)),
            format!("{surrogates} escapes of half a surrogate pair, read as U+FFFD"),
            "harmless for stop rules; the recorder cut a character in two",
        ));
    }
    let mut gathered = RecordResults::default();
    match file.within {
        None => {
            looked_up::watch(record.text, may_leave_fields(file, options));
            (file.format.read)(&record, &mut reading);
        }
        Some(layout) => gathered.parts(file, &record, layout),
    }
    gathered.take(reading, file, options);
    gathered.findings.kept.sort_by_key(|finding| (finding.diagnostic.at.line, finding.diagnostic.at.column));
    let row = if file.format.id() == "parquet" { Some(xxhash_rust::xxh3::xxh3_64(&cut.bytes)) } else { None };
    Parsed::Runs { file: file.clone(), results: gathered, row }
}

/// The name of a record that is like a file of its own: a member of an archive, or a part of a file that holds many.
fn name_of_part(file: &OpenFile, cut: &Cut) -> Option<FileName> {
    if let Some(member) = &cut.member {
        return Some(FileName { path: format!("{}!{member}", file.name.path), ..file.name.clone() });
    }
    if !file.as_files {
        return None;
    }
    Some(FileName { stem: format!("{}/{}", file.name.stem, cut.key), ..file.name.clone() })
}

/// Whether it is asked which fields of the records nothing looks at. Our own format has no others.
fn may_leave_fields(file: &OpenFile, options: &ReadOptions) -> bool {
    options.detail >= Detail::Hygiene && file.format.id() != "trace"
}

/// The results from a record and the records nested in it.
#[derive(Default)]
pub(super) struct RecordResults {
    pub(super) runs: Vec<FoundRun>,
    pub(super) findings: RecordFindings,
    pub(super) unknown: BTreeMap<String, u64>,
    pub(super) untaken: BTreeMap<(Of, String), Untaken>,
    /// What the record says of sessions without their replies.
    pub(super) summaries: Vec<Draft>,
    /// Why the record is not read as its format, where it is not.
    pub(super) refused: Option<String>,
}

impl RecordResults {
    /// Parses the records nested in a record, which in other recordings would be a file of their own.
    fn parts(&mut self, file: &OpenFile, whole: &Record<'_>, layout: RecordLayout) {
        let (cuts, envelope, findings) = wrappings::cut(whole.text, layout, &whole.file.path);
        for finding in findings {
            self.findings.add(finding);
        }
        for cut in cuts {
            let text = String::from_utf8_lossy(&cut.bytes);
            let places = LastPosition::default();
            let record = Record {
                places: &places,
                text: &text,
                original: &text,
                inserted: &[],
                key: &cut.key,
                envelope: &envelope,
                line: whole.line + cut.line - 1,
                column: if cut.line == 1 { whole.column + cut.column - 1 } else { cut.column },
                ..*whole
            };
            let mut reading = Reading::from_record(record);
            looked_up::watch(record.text, may_leave_fields(file, whole.options));
            (file.format.read)(&record, &mut reading);
            self.take(reading, file, whole.options);
        }
    }

    /// Adds the results of a record.
    fn take(&mut self, reading: Reading<'_>, file: &OpenFile, options: &ReadOptions) {
        let mut reading = reading;
        reading.settle();
        let Reading { record, drafts, mut replies, findings, unknown, unread, untaken, summaries, .. } = reading;
        for mut summary in summaries {
            join_report(&mut summary, record);
            self.summaries.push(summary);
        }
        for (what, more) in untaken {
            self.untaken.entry(what).and_modify(|all| all.times += more.times).or_insert(more);
        }
        let is_silent = findings.kept.iter().all(|finding| finding.severity != Severity::Error);
        self.findings.extend(findings);
        for (kind, n) in unknown {
            *self.unknown.entry(kind).or_default() += n;
        }
        let mut taken = Vec::new();
        for (n, mut draft) in drafts.into_iter().enumerate() {
            if draft.header.parent.is_some() {
                if options.sub_agents == SubAgents::Drop {
                    continue;
                }
                draft.header.prompted_by = draft.header.prompted_by.max(PromptedBy::Program);
            }
            draft.header.prompted_by = draft.header.prompted_by.max(file.format.prompted_by);
            let unread_calls = if text_calls::OF_READERS.contains(&file.format.id()) {
                0
            } else {
                text_calls::read(&mut draft, file.format.acts_in_texts)
            };
            let named = naming::apply(&mut draft, &record, options);
            join_report(&mut draft, record);
            if draft.header.parent.is_none() {
                file.told.apply(&mut draft);
            }
            let costs = price::settle(&mut draft, &options.costs(), file.format.counts_by_turn);
            later_prompts(&mut draft, file.format.later_prompts);
            let is_session = file.format.prompted_by == PromptedBy::Person;
            let replies = match replies.remove(&n) {
                Some(replies) => replies,
                None if is_session => reply_prints::reply_ids(&draft.events),
                None => Vec::new(),
            };
            for (draft, replies) in subagents::apart(draft, replies, options.sub_agents) {
                let run = Run::new(draft);
                let tells = options.detail >= Detail::ToldLimits;
                let is_checked = options.detail >= Detail::Hygiene;
                taken.push(FoundRun {
                    spend: Spend::from_run(&run),
                    limit: if tells { LimitSigns::from_run(&run) } else { LimitSigns::default() },
                    checked: if is_checked { Some(RunChecks::from_run(&run, unread_calls)) } else { None },
                    costs: costs.clone(),
                    named,
                    replies,
                    unused: None,
                    run,
                });
            }
        }
        let runs: Vec<&Run> = taken.iter().map(|found| &found.run).collect();
        if let Some(reason) = unread_parts::refusal(file.format.id(), record.text, &unread, &runs, is_silent) {
            self.refused = self.refused.take().or(Some(reason));
            return;
        }
        if options.detail >= Detail::Hygiene {
            let fields = if may_leave_fields(file, options) { unused_fields::left(&record) } else { Vec::new() };
            let left: Arc<[(String, FieldValue)]> = fields.into();
            for found in &mut taken {
                found.unused = Some(left.clone());
            }
        }
        self.runs.append(&mut taken);
    }
}

/// Where a run answers one prompt, whatever stands in the user's name after the first reply is the harness's, unless it
/// begins with one of these words.
fn later_prompts(draft: &mut Draft, words: Option<&[&str]>) {
    let Some(words) = words else { return };
    let mut is_answered = false;
    for event in &mut draft.events {
        let Event::Message(message) = event else { continue };
        is_answered |= message.is_step();
        let is_prompt = message.role == Role::User && message.origin == Origin::Prompt && message.lane == Lane::Main;
        if is_answered && is_prompt && !words.iter().any(|word| message.text().starts_with(word)) {
            message.origin = Origin::Host;
        }
    }
}

/// Grades a run whose recording has no grade from a report next to it.
fn join_report(draft: &mut Draft, record: Record<'_>) {
    if draft.grade.outcome != Outcome::Unknown || draft.grade.source != OutcomeSource::None {
        return;
    }
    let task = draft.header.task_id.as_deref();
    if let Some(graded) = record.grades.graded(task, record.file) {
        draft.grade = Grade { end: draft.grade.end, secured_step: draft.grade.secured_step, ..graded.grade() };
        let header = &mut draft.header;
        fill(&mut header.task_id, graded.task.as_ref());
        fill(&mut header.model, graded.model.as_ref());
        let counted = messages(&draft.events).any(Message::has_usage);
        if header.totals.is_none() && !counted {
            header.totals = graded.usage.map(|usage| Totals { usage, cost: None });
        }
    } else if let Some(grade) = record.grades.score(&draft.grade) {
        draft.grade = grade;
    }
}

fn first_difference(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
