//! Recognises the files of a corpus and splits them into records, a portion at a time.

mod sessions;
mod tables;

use std::cell::OnceCell;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Corpus;
use super::chosen_form::{self, ChosenForm, TextIn};
use super::one_session::{RecordingStanding, SessionGroups, Told};
use super::open_file::OpenFile;
use super::parse::Parsed;
use crate::diagnostic::{Diagnostic, Location};
use crate::find::child_sessions::SessionFamilies;
use crate::find::earlier_states::{self, Grown};
use crate::find::file_name::{self, OtherFile};
use crate::find::identical_files::Twins;
use crate::find::session_heads::{Heads, heads};
use crate::find::skipped::{Skipped, Twin};
use crate::find::source::InputFile;
use crate::label::label_files;
use crate::label::report_files::{FolderGrades, Joined, Reports};
use crate::open::finding::Finding;
use crate::open::inputs::add_known_input;
use crate::open::layout::RecordLayout;
use crate::open::probe::{Probe, Shape, Sketch};
use crate::open::records::{self, Cut, Item, Records};
use crate::open::signature::Signature;
use crate::read::format::{self, Format};
use crate::read::wrappings::{self, Form};
use crate::record::named_by::NamedBy;
use crate::record::options::SubAgents;
use crate::survey::map_hint::NamedInputs;
use crate::survey::skip_reasons::{Left, NotRead};

/// Gives an open file's next record or finding.
type Cuts = Box<dyn FnMut() -> Option<Item> + Send>;

/// A recognised file, the reason, and its records.
type Opened = (OpenFile, String, Cuts);

/// What the stream yields, in order.
pub(super) enum StreamPiece {
    /// A record of a file, still to be parsed.
    Record(Arc<OpenFile>, Cut),
    /// What needs no parsing.
    Known(Parsed),
}

impl StreamPiece {
    /// The size of a record in bytes, before parsing.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Record(_, cut) => cut.bytes.len(),
            Self::Known(_) => 0,
        }
    }
}

/// The corpus as a stream of pieces.
pub(super) struct CorpusStream<'c> {
    corpus: &'c Corpus,
    next_file: usize,
    open: Option<(Arc<OpenFile>, Cuts)>,
    /// Bytes of the open file, by its size on disk, not yet counted as read.
    uncounted: u64,
    reports: Reports,
    /// Files of which another file holds a longer version; computed when first needed.
    grown: OnceCell<Grown<'c>>,
    /// Whose session is in which file; found out when first needed.
    heads: OnceCell<Heads<'c>>,
    /// Who started which session; found out when first needed.
    family: OnceCell<SessionFamilies<'c>>,
    /// Files that hold the same session; found out when first needed.
    sessions: OnceCell<SessionGroups<'c>>,
    /// Files that hold the same as one before them; begun when first needed.
    twins: Option<Twins<'c>>,
}

impl<'c> CorpusStream<'c> {
    pub(super) fn new(corpus: &'c Corpus, joined: Joined) -> Self {
        let recordings = corpus.sources.files.iter().filter(|source| source.may_be_recording());
        let recordings = recordings.map(|source| source.name.folder.clone()).collect();
        Self {
            corpus,
            next_file: 0,
            open: None,
            uncounted: 0,
            reports: Reports::new(joined, recordings, corpus.options.outcome_key.clone()),
            grown: OnceCell::new(),
            heads: OnceCell::new(),
            family: OnceCell::new(),
            sessions: OnceCell::new(),
            twins: None,
        }
    }

    /// The next pieces, up to this many and this many bytes; empty at the end of the corpus.
    pub(super) fn next_portion(&mut self, most_pieces: usize, most_bytes: usize) -> Vec<StreamPiece> {
        let mut portion = Vec::new();
        let mut bytes = 0;
        while bytes < most_bytes && portion.len() < most_pieces {
            if let Some((file, records)) = &mut self.open {
                match records() {
                    Some(Item::Record(cut)) => {
                        bytes += cut.bytes.len();
                        let read = (cut.bytes.len() as u64).min(self.uncounted);
                        self.uncounted -= read;
                        self.corpus.passed.fetch_add(read, Ordering::Relaxed);
                        portion.push(StreamPiece::Record(file.clone(), cut));
                    }
                    Some(Item::Finding(finding)) => portion.push(StreamPiece::Known(Parsed::Finding(finding))),
                    Some(Item::Broken(diagnostic)) => portion.push(StreamPiece::Known(Parsed::Lost(diagnostic))),
                    None => {
                        self.corpus.passed.fetch_add(self.uncounted, Ordering::Relaxed);
                        self.open = None;
                    }
                }
                continue;
            }
            let Some(source) = self.corpus.sources.files.get(self.next_file) else { break };
            self.next_file += 1;
            self.begin(source, &mut portion);
        }
        portion
    }

    /// Opens the next file, or records why it is not read.
    fn begin(&mut self, source: &'c InputFile, portion: &mut Vec<StreamPiece>) {
        let recognised = self.recognise(source);
        // What is left out because it is no recording may be an output of before.
        if !matches!(&recognised, Err(not_read) if not_read.kind != Left::Unreadable) {
            add_known_input(source.identity.clone());
        }
        match recognised {
            Ok((file, why, records)) => {
                let file = Arc::new(file);
                portion.push(StreamPiece::Known(Parsed::Begin(file.clone(), why)));
                self.open = Some((file, records));
                self.uncounted = source.bytes;
            }
            Err(NotRead { reason, kind, advice, .. }) => {
                let unreadable = kind == Left::Unreadable;
                self.corpus.passed.fetch_add(source.bytes, Ordering::Relaxed);
                let at = Location::file(source.name.path.as_str());
                if unreadable {
                    let lost = Diagnostic::new(at, reason.as_str(), UNREADABLE);
                    portion.push(StreamPiece::Known(Parsed::Lost(lost)));
                } else if source.named && !matches!(kind, Left::Copy(_) | Left::Part) {
                    let help = advice.as_deref().unwrap_or("name a recording, or say what format it is with `--as`");
                    let not_read = Finding::error(Diagnostic::new(at, format!("not read: {reason}"), help));
                    portion.push(StreamPiece::Known(Parsed::Finding(not_read)));
                }
                // A file that was named by itself has its own finding.
                let looks_recorded = kind == Left::LooksRecorded && !source.named;
                let twin = if let Left::Copy(twin) = kind { Some(twin) } else { None };
                portion.push(StreamPiece::Known(Parsed::Skip(Skipped {
                    path: source.name.path.clone(),
                    reason,
                    unreadable,
                    looks_recorded,
                    twin,
                    hidden: 0,
                    advice,
                })));
            }
        }
        portion.extend(self.reports.unreadable.drain(..).map(|lost| StreamPiece::Known(Parsed::Lost(lost))));
    }

    /// The file before `source` that holds the same; none where their paths tell equal ones apart.
    fn twin(&mut self, source: &'c InputFile, text: Option<&[u8]>) -> Option<&'c InputFile> {
        let options = &self.corpus.options;
        let by_path = [&options.task, &options.model, &options.run, &options.class].into_iter().flatten();
        let told_apart = by_path.into_iter().any(|place| matches!(place, NamedBy::Path(_) | NamedBy::Pattern(_)));
        if told_apart {
            return None;
        }
        let twins = self.twins.get_or_insert_with(|| Twins::from_files(&self.corpus.sources.files));
        twins.earlier(source, text)
    }

    fn recognise(&mut self, source: &'c InputFile) -> Result<Opened, NotRead> {
        let name = source.file_name();
        if label_files::is_label_file(&name) {
            return Err("labels: joined to the runs they name".to_owned().into());
        }
        let (signature, text) = source.look().map_err(NotRead::unreadable)?;
        match signature {
            Signature::Parquet => return self.recognise_table(source),
            Signature::Database => return self.recognise_store(source),
            Signature::Zip => {
                let twin = self.twin(source, None);
                return unless_twin(self.recognise_log(source)?, twin);
            }
            Signature::Other => {}
        }
        let chosen = self.chosen(source, text)?;
        let text = if let TextIn::Known(text) = &chosen.text { Some(text.as_slice()) } else { None };
        let twin = self.twin(source, text);
        if let Some(not_read) = self.left_for_another(source, chosen.form.format) {
            return Err(not_read);
        }
        let told = match self.standing(source, chosen.form.format) {
            RecordingStanding::Alone => Told::default(),
            RecordingStanding::Richest(told) => told,
            RecordingStanding::Left(path) => {
                let reason = format!("the same session as `{path}`, which says more of it");
                return Err(NotRead::elsewhere(Left::Copy(Twin::Session), reason));
            }
        };
        let (mut file, why, records) = self.opened(source, chosen)?;
        file.told = told;
        unless_twin((file, why, records), twin)
    }

    /// The format of a file with this text, and how it is wrapped.
    fn chosen(&mut self, source: &InputFile, text: impl Read) -> Result<ChosenForm, NotRead> {
        let name = source.file_name();
        let mut probe = Probe::from_name(&name, text).map_err(NotRead::unreadable)?;
        let options = &self.corpus.options;
        let forced = options.format.as_deref().and_then(format::by_id);
        if !source.named && forced.is_none() && file_name::quotes_records(&name) {
            probe.set_examples_apart();
        }
        if probe.shape == Shape::Empty {
            return Err(match &probe.broken {
                Some(error) => NotRead::unreadable(error),
                None => NotRead::empty(&name),
            });
        }
        let is_empty = matches!(probe.document(), Some(Sketch::Array(elements)) if elements.is_empty());
        let may_be_run = forced.is_none() && is_empty && source.name.is_alone && !options.sealed;
        let is_graded = may_be_run && self.reports.seen_from(&source.name.folder, source.path()).grade_only_run();
        let empty_run = if is_graded { format::by_id("chat") } else { None };
        let label_files = || if options.sealed { Vec::new() } else { self.corpus.csv_files() };
        let named = NamedInputs { paths: &self.corpus.paths, label_files: &label_files };
        let mut chosen = match forced.or(empty_run) {
            Some(format) => ChosenForm { form: wrappings::forced(format, &probe), text: TextIn::File },
            None => chosen_form::choose(source, &probe, &named, options.columns.as_ref())?,
        };
        if let (TextIn::File, Some(text)) = (&chosen.text, probe.text.take()) {
            chosen.text = TextIn::Known(text);
        }
        Ok(chosen)
    }

    /// Opens a file in the form that was chosen for it.
    fn opened(&mut self, source: &InputFile, chosen: ChosenForm) -> Result<Opened, NotRead> {
        let options = &self.corpus.options;
        let ChosenForm { form: Form { format, why, layout, reshape, as_files, within }, text } = chosen;
        let envelope = match layout {
            RecordLayout::Elements { envelope: keys, .. } if !keys.is_empty() => {
                records::envelope(source.open().map_err(NotRead::unreadable)?, keys)
            }
            _ => String::new(),
        };
        let grades = if options.sealed {
            FolderGrades::default()
        } else {
            self.reports.seen_from(&source.name.folder, source.path())
        };
        let input = text.open(source).map_err(NotRead::unreadable)?;
        let mut records = Records::new(input, layout, &source.name.path, options.limit);
        let children = self.children(source, format);
        let plain = OpenFile::plain(&source.name, format, envelope);
        let file = OpenFile { reshape, as_files, within, grades, children, ..plain };
        Ok((file, why, Box::new(move || records.next())))
    }

    /// Why a recording is left out because another file contains more of the same run; `None` if it is not.
    fn left_for_another(&self, source: &InputFile, format: &Format) -> Option<NotRead> {
        let files = &self.corpus.sources.files;
        if let Some(name) = format.superseded_by {
            let is_other = |other: &&InputFile| other.name.folder == source.name.folder && other.file_name() == name;
            let other =
                files.iter().find(is_other).filter(|other| earlier_states::is_same_task(source.path(), other.path()));
            return other.map(|_| format!("the same run as `{name}` beside it, which says more").into());
        }
        if let Some(family) = self.family(format)
            && let Some(root) = family.root_of(source)
        {
            let reason = format!("a sub-agent's session, read with `{}`, which started it", root.name.path);
            return Some(NotRead::elsewhere(Left::Part, reason));
        }
        let grown = self.grown.get_or_init(|| Grown::from_files(files));
        let latest =
            if format.latest_copy_counts { grown.later_conversation(source) } else { grown.later_checkpoint(source) };
        latest.map(|latest| {
            format!("an earlier state of the session that `{}` holds to its end", latest.name.path).into()
        })
    }

    /// Whose session is in which file of this corpus.
    fn heads(&self) -> &Heads<'c> {
        self.heads.get_or_init(|| heads(&self.corpus.sources.files))
    }

    /// The sessions of this corpus, if sub-agents are part of their parents' runs and may be in other files.
    fn family(&self, format: &Format) -> Option<&SessionFamilies<'c>> {
        if !format.keeps_sub_agents_apart || self.corpus.options.sub_agents != SubAgents::Parent {
            return None;
        }
        Some(self.family.get_or_init(|| SessionFamilies::from_heads(self.heads())))
    }

    /// The files of the sub-agents that the session in this file started.
    fn children(&self, source: &InputFile, format: &Format) -> Vec<OtherFile> {
        let family = self.family(format);
        let below = family.map(|family| family.below(source)).unwrap_or_default();
        let other = |child: &InputFile| OtherFile { path: child.path().to_path_buf(), name: child.name.clone() };
        below.iter().map(|child| other(child)).collect()
    }
}

/// The opened recording, unless it holds the same as `twin`. Where files beside the recordings grade them, equal ones
/// are different runs.
fn unless_twin(opened: Opened, twin: Option<&InputFile>) -> Result<Opened, NotRead> {
    match twin {
        Some(twin) if !opened.0.grades.are_any() => {
            let reason = format!("the same as `{}`, byte for byte", twin.name.path);
            Err(NotRead::elsewhere(Left::Copy(Twin::Bytes), reason))
        }
        _ => Ok(opened),
    }
}

/// Advice for a file that cannot be read.
const UNREADABLE: &str = "check its permissions and the disk it is on, copy or pack it anew, or leave it out";
