//! A part of a comparison: its rows, and a manifest that says what they were made from. [`Merge`] combines parts into
//! what one comparison of everything would have given, or says why it cannot.
//!
//! A comparison is divided by task, each part reading all files, or by file, each part reading its own. A run's place
//! is its number among the runs its part has read; places give the order of the runs in the whole.

mod check;
mod merge;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::folder::cannot_write;
use super::found::ReadingFindings;
use super::made::size_and_hash;
use super::row_file::RowWriter;
use super::saved::{Manifest, STORIES, write_lines, write_stories};
use super::{CsvStyle, write_folder};
use crate::aggregate::{Firing, Label, Row};
use crate::compare::{KeptStories, Met, OfRun};
use crate::diagnostic::Diagnostic;
use crate::explain::Texts;
use crate::reader::LabelDraw;
use crate::sweep::GridQuestion;
use crate::sweep::engine::KeptExtract;
use crate::transcript::Header;
use crate::tune::TuneQuestion;

pub use merge::Merge;

/// The file name of a part's manifest.
pub const PART: &str = "part.json";
/// Version of `part.json`.
const VERSION: u32 = 6;
const ROWS: &str = "rows.parquet";
const FIRINGS: &str = "firings.parquet";
/// What followed the stops, one JSON line per row.
const FOLLOWED: &str = "followed.jsonl";
/// What a search of the catalogue needs of each run, one JSON line each; nothing in a comparison.
const STUDY: &str = "study.jsonl";
/// All files of a part except its manifest.
const FILES: [&str; 5] = [ROWS, FIRINGS, FOLLOWED, STUDY, STORIES];

/// One shard of a divided comparison, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of this shard.
    pub number: u32,
    /// The number of shards.
    pub of: u32,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((number, of)) = text.split_once('/')
            && let (Ok(number), Ok(of)) = (number.parse(), of.parse())
            && (1..=of).contains(&number)
            && of <= 100_000
        {
            return Ok(Self { number, of });
        }
        Err("write it as `2/7`: the second of seven parts".to_owned())
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Whether the run belongs to this part, with all runs of its task; tasks are told apart as in
    /// [`RowView::cluster`](crate::aggregate::RowView::cluster).
    pub fn holds(self, run: &Header) -> bool {
        let suite = run.suite.as_deref().unwrap_or_default();
        let task = run.task_id.as_deref().unwrap_or(&run.run_id);
        let name = format!("{suite}\0{task}");
        xxh3_64(name.as_bytes()) % u64::from(self.of) == u64::from(self.number - 1)
    }
}

/// How a comparison is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// By task: every part reads all files.
    Tasks,
    /// By file: every part reads its own files.
    Files,
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Input {
    /// Its path as given by the user.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A file of the part, with size and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PartFile {
    name: String,
    bytes: u64,
    xxh3_128: String,
}

/// The contents of `part.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartManifest {
    part_version: u32,
    /// Which shard this is.
    pub shard: Shard,
    /// How the comparison is divided.
    pub division: Division,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Findings from reading them.
    pub found: ReadingFindings,
    /// Which formats record calls, as far as was read.
    pub records_calls: BTreeMap<String, bool>,
    /// What its runs imply for the certificates of tuned stacks.
    pub met: Vec<Met>,
    /// The agents of its runs, as far as they are recorded.
    pub agents: BTreeSet<String>,
    /// Number of runs read, in this part or not.
    pub runs_read: u64,
    /// Number of runs in this part.
    pub runs: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of firings.
    pub firings: u64,
    /// The place of each run of this part among the runs read.
    places: Vec<u64>,
    files: Vec<PartFile>,
    texts: Texts,
    /// How the merged comparison is to be reported.
    pub comparison: Manifest,
    /// What is searched, if it is a part of a search.
    pub search: Option<PartSearch>,
}

impl PartManifest {
    /// Of a part without runs, of which nothing else is said.
    fn new(shard: Shard, division: Division) -> Self {
        Self {
            part_version: VERSION,
            shard,
            division,
            inputs: Vec::new(),
            found: ReadingFindings::default(),
            records_calls: BTreeMap::new(),
            met: Vec::new(),
            agents: BTreeSet::new(),
            runs_read: 0,
            runs: 0,
            rows: 0,
            firings: 0,
            places: Vec::new(),
            files: Vec::new(),
            texts: Texts::default(),
            comparison: Manifest::new(Vec::new()),
            search: None,
        }
    }
}

/// What is searched in parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartSearch {
    /// What is asked.
    pub question: SearchQuestion,
    /// Whether the runs with an outcome were drawn, as their labels say.
    pub labels: LabelDraw,
}

/// What a search in parts asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchQuestion {
    /// Of the catalogue.
    Catalogue(TuneQuestion),
    /// Of the catalogue, for each class.
    Classes {
        /// What is asked of the catalogue.
        question: TuneQuestion,
        /// What the classes are: `suite`, `model` or where a field is.
        by: String,
    },
    /// Of a grid of rules.
    Grid(GridQuestion),
    /// Of stacks or settings of the user's own, which are compared.
    Own(Vec<Shippable>),
}

/// A stack of the user's own, as it is written if it is the one to ship.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shippable {
    /// Its name among those compared.
    pub stack: String,
    /// Its entry of a stack file, under the name `tuned`; `None` if only the file it comes from can define it.
    pub entry: Option<String>,
    /// What it sets, if it is settings of a framework.
    pub settings: Option<ShippableSettings>,
}

/// Settings of a framework, as they are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippableSettings {
    /// The framework.
    pub framework: String,
    /// Names and values, as the `set` of a stack file has them; empty for what is shipped by default.
    pub set: String,
    /// Whether `export` writes them as the framework reads them.
    pub is_exported: bool,
}

/// One run of a part of a search.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchedRun {
    /// What the search needs of it.
    pub extract: KeptExtract,
    /// Its class, if classes are asked for and the recording says it.
    pub class: Option<Label>,
}

/// Writes a part row by row.
pub struct PartWriter {
    rows: RowWriter<Row>,
    firings: RowWriter<Firing>,
    folder: PathBuf,
    followed: BufWriter<std::fs::File>,
    study: BufWriter<std::fs::File>,
    /// What is said of the part; its runs, rows and firings are counted as they are added.
    pub manifest: PartManifest,
}

fn failed(folder: &Path) -> impl Fn(io::Error) -> Diagnostic {
    move |error| cannot_write(folder, &error)
}

impl PartWriter {
    /// Starts a part in `folder`, which [`write_part_folder`] supplies.
    fn begin(folder: &Path, shard: Shard, division: Division) -> Result<Self, Diagnostic> {
        let create = |name: &str| std::fs::File::create_new(folder.join(name));
        let begun = || -> io::Result<Self> {
            Ok(Self {
                rows: RowWriter::to_file(create(ROWS)?)?,
                firings: RowWriter::to_file(create(FIRINGS)?)?,
                folder: folder.to_path_buf(),
                followed: BufWriter::new(create(FOLLOWED)?),
                study: BufWriter::new(create(STUDY)?),
                manifest: PartManifest::new(shard, division),
            })
        };
        begun().map_err(failed(folder))
    }

    /// Skips the next run, which belongs to another part.
    pub fn pass(&mut self) {
        self.manifest.runs_read += 1;
    }

    /// Adds the next run of this part with its result.
    pub fn run(&mut self, run: &OfRun) -> Result<(), Diagnostic> {
        self.manifest.firings += run.firings.len() as u64;
        self.write_run(run).map_err(failed(&self.folder))
    }

    fn write_run(&mut self, run: &OfRun) -> io::Result<()> {
        self.rows_of_next(&run.rows)?;
        run.firings.iter().try_for_each(|firing| self.firings.row(firing))?;
        write_lines(&mut self.followed, &run.followed)
    }

    /// Adds the next run of this part of a search, with the rows of the strategies shown for comparison.
    pub fn searched_run(&mut self, run: &SearchedRun, rows: &[Row]) -> Result<(), Diagnostic> {
        self.rows_of_next(rows).map_err(failed(&self.folder))?;
        write_lines(&mut self.study, std::slice::from_ref(run)).map_err(failed(&self.folder))
    }

    fn rows_of_next(&mut self, rows: &[Row]) -> io::Result<()> {
        self.manifest.places.push(self.manifest.runs_read);
        self.manifest.runs_read += 1;
        self.manifest.runs += 1;
        self.manifest.rows += rows.len() as u64;
        rows.iter().try_for_each(|row| self.rows.row(row))
    }

    fn close(mut self, stories: KeptStories) -> Result<(), Diagnostic> {
        let failed = failed(&self.folder);
        self.followed.flush().map_err(&failed)?;
        self.study.flush().map_err(&failed)?;
        self.manifest.texts = stories.texts();
        write_stories(&self.folder.join(STORIES), &stories.into_stories())?;
        for closed in [self.rows.close(), self.firings.close()] {
            closed.map_err(&failed)?;
        }
        let files = FILES.map(|name| piece(&self.folder, name));
        self.manifest.files = files.into_iter().collect::<io::Result<Vec<_>>>().map_err(&failed)?;
        let text = serde_json::to_string(&self.manifest).map_err(|error| failed(error.into()))?;
        std::fs::write(self.folder.join(PART), text + "\n").map_err(failed)
    }
}

/// Writes the folder of a part through `fill`, which returns the stories that are kept: the whole folder appears, or
/// nothing.
pub fn write_part_folder(
    folder: &Path,
    (shard, division): (Shard, Division),
    fill: impl FnOnce(&mut PartWriter) -> Result<KeptStories, Diagnostic>,
) -> Result<(), Diagnostic> {
    write_folder(folder, CsvStyle::Plain, |to| {
        let mut writer = PartWriter::begin(to, shard, division)?;
        let stories = fill(&mut writer)?;
        writer.close(stories)
    })
}

/// Name, size and hash of a file.
fn piece(folder: &Path, name: &str) -> io::Result<PartFile> {
    let (bytes, xxh3_128) = size_and_hash(std::fs::File::open(folder.join(name))?)?;
    Ok(PartFile { name: name.to_owned(), bytes, xxh3_128 })
}
