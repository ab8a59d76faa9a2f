//! A part of a comparison: its rows, and a manifest that says what they were made from. Parts are put together again by
//! [`Merge`], which gives what one comparison of everything would have given, or says why it cannot.
//!
//! A comparison is divided by task, each part reading all files, or by file, each part reading its own. A run's place is its
//! number among the runs its part has read, so the places say where each run stands in the whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::row_file::{RowWriter, SavedRows};
use super::saved::{Manifest, STORIES, read_stories, write_stories};
use super::{CsvStyle, refuse_half_written, write_folder};
use crate::aggregate::{Firing, Firings, FiringsBuilder, FollowedRow, Label, Row, Rows, RowsBuilder};
use crate::compare::{Shelf, matters};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::explain::{Story, Texts};

/// The file that says what a part is.
pub const PART: &str = "part.json";
/// Version of `part.json`.
const VERSION: u32 = 2;
const ROWS: &str = "rows.parquet";
const FIRINGS: &str = "firings.parquet";
/// What followed the stops, a JSON line a row.
const FOLLOWED: &str = "followed.jsonl";
/// All files of a part but its manifest.
const FILES: [&str; 4] = [ROWS, FIRINGS, FOLLOWED, STORIES];

/// Which part of how many, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// This one.
    pub number: u32,
    /// Of so many.
    pub of: u32,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= 100_000 => Ok(Self { number, of }),
            _ => Err("write it as `2/7`: the second of seven parts".to_owned()),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Is the task in this part? All runs of a task are; `task` as in [`Row::cluster`].
    pub fn holds(self, (suite, task): (&str, &str)) -> bool {
        let name = format!("{suite}\0{task}");
        xxh3_64(name.as_bytes()) % u64::from(self.of) == u64::from(self.number - 1)
    }
}

/// How a comparison is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// By task: every part has read all files.
    Tasks,
    /// By file: every part has read its own.
    Files,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Input {
    /// As it was named.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// A file of the part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    name: String,
    bytes: u64,
    xxh3_128: String,
}

/// What a part is: `part.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartManifest {
    part_version: u32,
    /// Which part of how many.
    pub shard: Shard,
    /// How the comparison is divided.
    pub division: Division,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Files that could not be read, or not to their end.
    pub unreadable: u64,
    /// Runs that were read, in this part or not.
    pub runs_read: u64,
    /// Runs of this part.
    pub runs: u64,
    /// Its rows.
    pub rows: u64,
    /// Its firings.
    pub firings: u64,
    /// The place of each run.
    places: Vec<u64>,
    files: Vec<Piece>,
    texts: Texts,
    /// How the whole is to be reported.
    pub comparison: Manifest,
}

/// A part while its rows come.
pub struct PartWriter {
    rows: RowWriter<BufWriter<std::fs::File>>,
    firings: RowWriter<BufWriter<std::fs::File>>,
    folder: PathBuf,
    runs_read: u64,
    places: Vec<u64>,
    n_rows: u64,
    n_firings: u64,
    followed: BufWriter<std::fs::File>,
    shelf: Shelf,
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Diagnostic {
    let at = Location::file(path.display().to_string());
    move |error| {
        let help = "check that the folder may be written to, and has room";
        Diagnostic::new(at.clone(), format!("cannot write: {error}"), help)
    }
}

impl PartWriter {
    /// Begins a part in `folder`, which [`write_part`] hands over.
    fn begin(folder: &Path) -> Result<Self, Diagnostic> {
        let create = |name: &str| std::fs::File::create_new(folder.join(name)).map(BufWriter::new);
        let begun = || -> io::Result<Self> {
            Ok(Self {
                rows: RowWriter::new::<Row>(create(ROWS)?)?,
                firings: RowWriter::new::<Firing>(create(FIRINGS)?)?,
                folder: folder.to_path_buf(),
                runs_read: 0,
                places: Vec::new(),
                n_rows: 0,
                n_firings: 0,
                followed: create(FOLLOWED)?,
                shelf: Shelf::new(Texts::default()),
            })
        };
        begun().map_err(failed(folder))
    }

    /// The next run is in another part.
    pub fn pass(&mut self) {
        self.runs_read += 1;
    }

    /// The next run is in this part, with these rows and firings.
    pub fn run(&mut self, rows: &[Row], firings: &[Firing]) -> Result<(), Diagnostic> {
        self.places.push(self.runs_read);
        self.runs_read += 1;
        self.n_rows += rows.len() as u64;
        self.n_firings += firings.len() as u64;
        let rows = rows.iter().try_for_each(|row| self.rows.row(row));
        rows.and_then(|()| firings.iter().try_for_each(|firing| self.firings.row(firing))).map_err(failed(&self.folder))
    }

    /// How much of the recordings' texts the stories hold; said before the first run.
    pub fn tells(&mut self, texts: Texts) {
        self.shelf = Shelf::new(texts);
    }

    /// What followed the stops of the run that was just added, and its story, if it is told.
    pub fn tell(&mut self, rows: &[Row], followed: &[FollowedRow], story: Option<Story>) -> Result<(), Diagnostic> {
        if let Some(story) = story {
            self.shelf.put(rows, story);
        }
        let mut written = followed.iter().map(|row| {
            serde_json::to_writer(&mut self.followed, row)?;
            self.followed.write_all(b"\n")
        });
        written.try_for_each(|written| written).map_err(failed(&self.folder))
    }

    fn close(mut self, about: About) -> Result<(), Diagnostic> {
        let About { shard, division, inputs, unreadable, comparison } = about;
        let failed = failed(&self.folder);
        self.followed.flush().map_err(&failed)?;
        let texts = self.shelf.texts();
        write_stories(&self.folder.join(STORIES), &self.shelf.into_stories())?;
        for closed in [self.rows.close(), self.firings.close()] {
            closed.and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error)).map_err(&failed)?;
        }
        let files = FILES.map(|name| piece(&self.folder, name));
        let files = files.into_iter().collect::<io::Result<Vec<_>>>().map_err(&failed)?;
        let manifest = PartManifest {
            part_version: VERSION,
            shard,
            division,
            inputs,
            unreadable,
            runs_read: self.runs_read,
            runs: self.places.len() as u64,
            rows: self.n_rows,
            firings: self.n_firings,
            places: self.places,
            files,
            texts,
            comparison,
        };
        let text = serde_json::to_string(&manifest).map_err(|error| failed(error.into()))?;
        std::fs::write(self.folder.join(PART), text + "\n").map_err(failed)
    }
}

/// What a part's manifest says besides what its rows do.
pub struct About {
    /// Which part.
    pub shard: Shard,
    /// How the whole is divided.
    pub division: Division,
    /// What was read.
    pub inputs: Vec<Input>,
    /// How many files could not be read.
    pub unreadable: u64,
    /// How the whole is to be reported.
    pub comparison: Manifest,
}

/// Writes a part through `fill`: the whole folder appears, or nothing of it.
pub fn write_part(
    folder: &Path,
    fill: impl FnOnce(&mut PartWriter) -> Result<About, Diagnostic>,
) -> Result<(), Diagnostic> {
    write_folder(folder, CsvStyle::Plain, |to| {
        let mut writer = PartWriter::begin(to)?;
        let about = fill(&mut writer)?;
        writer.close(about)
    })
}

/// Name, size and hash of a file.
fn piece(folder: &Path, name: &str) -> io::Result<Piece> {
    let mut file = std::fs::File::open(folder.join(name))?;
    let (mut hash, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 16]);
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(Piece { name: name.to_owned(), bytes, xxh3_128: format!("{:032x}", hash.digest128()) });
        }
        bytes += n as u64;
        hash.update(buffer.get(..n).unwrap_or_default());
    }
}

/// Parts that fit together.
#[derive(Debug)]
pub struct Merge {
    /// Folder and manifest of each part, by number.
    parts: Vec<(PathBuf, PartManifest)>,
}

impl Merge {
    /// Looks for parts in `paths` and in the folders within them, and checks that they are one comparison's, each once and
    /// whole. All that is wrong is told at once.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Diagnostics> {
        let (mut wrong, mut torn) = (Vec::new(), Vec::new());
        let mut found: BTreeMap<PathBuf, PartManifest> = BTreeMap::new();
        for path in paths {
            for folder in folders(path) {
                match read_part(&folder) {
                    Ok(manifest) => _ = found.insert(folder, manifest),
                    Err((number, diagnostic)) => {
                        torn.extend(number);
                        wrong.push(diagnostic);
                    }
                }
            }
        }
        let at = || Location::file(paths.first().map_or_else(String::new, |path| path.display().to_string()));
        let mut parts: Vec<(PathBuf, PartManifest)> = found.into_iter().collect();
        parts.sort_by_key(|(folder, manifest)| (manifest.shard.number, folder.clone()));
        match parts.first() {
            Some(first) => wrong.extend(unfit(first, &parts, &torn, &at())),
            None if wrong.is_empty() => {
                let help = "give the folders that `compare --shard` wrote, or the one they are in";
                wrong.push(Diagnostic::new(at(), format!("no part here: no `{PART}`"), help));
            }
            None => {}
        }
        match Diagnostics::of(wrong) {
            None => Ok(Self { parts }),
            Some(wrong) => Err(wrong),
        }
    }

    /// How the whole is to be reported.
    pub fn comparison(&self) -> Option<&Manifest> {
        self.parts.first().map(|(_, manifest)| &manifest.comparison)
    }

    /// Files of all parts that could not be read.
    pub fn unreadable(&self) -> u64 {
        let by_part = self.parts.iter().map(|(_, manifest)| (manifest.division, manifest.unreadable));
        by_part.fold(0, |sum, (division, n)| if division == Division::Tasks { sum.max(n) } else { sum + n })
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// All rows and firings, in the order of one comparison. Parts are read side by side: no run is held but the next of each.
    pub fn rows(&self) -> Result<(Rows, Firings), Diagnostic> {
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut open = Vec::new();
        let mut offset = 0;
        for (number, (folder, manifest)) in self.parts.iter().enumerate() {
            let part = OpenPart::open(folder, manifest, offset)?;
            next.extend(part.places.first().map(|place| Reverse((offset + place, number))));
            open.push(part);
            if manifest.division == Division::Files {
                offset += manifest.runs_read;
            }
        }
        let (mut rows, mut firings) = (RowsBuilder::default(), FiringsBuilder::default());
        let mut runs: HashMap<Label, usize> = HashMap::new();
        while let Some(Reverse((_, number))) = next.pop() {
            let Some(part) = open.get_mut(number) else { break };
            let run = part.run(&mut rows, &mut firings)?;
            next.extend(part.place().map(|place| Reverse((place, number))));
            if let Some(run) = run
                && let Some(other) = runs.insert(run.clone(), number)
                && let (Some((folder, _)), Some((other, _))) = (self.parts.get(number), self.parts.get(other))
            {
                return Err(two_runs(folder, other, &run));
            }
        }
        Ok((rows.finish(), firings.finish()))
    }
}

/// What is told of a comparison beside its rows.
pub type Told = (Vec<FollowedRow>, Vec<Story>);

impl Merge {
    /// What followed the stops, in the order of `rows`, and the stories a whole comparison would have told.
    pub fn told(&self, rows: &Rows) -> Result<Told, Diagnostic> {
        let mut by_run: HashMap<String, Vec<FollowedRow>> = HashMap::new();
        let texts = self.parts.first().map(|(_, manifest)| manifest.texts).unwrap_or_default();
        let mut kept = Shelf::new(texts);
        let mut of_note: HashMap<&str, bool> = HashMap::new();
        let mut order: Vec<&str> = Vec::new();
        for row in rows {
            let run: &str = row.run_id();
            let matters_so_far = of_note.entry(run).or_insert_with(|| {
                order.push(run);
                false
            });
            *matters_so_far |= matters(row.killed_high(), row.verdict());
        }
        for (folder, _) in &self.parts {
            for row in read_followed_lines(&folder.join(FOLLOWED))? {
                by_run.entry(row.run_id.to_string()).or_default().push(row);
            }
            for story in read_stories(&folder.join(STORIES))? {
                let is_one = of_note.get(&*story.run_id).copied().unwrap_or_default();
                kept.put_again(is_one, story);
            }
        }
        let followed = order.iter().filter_map(|run| by_run.remove(*run)).flatten().collect();
        Ok((followed, kept.into_stories()))
    }
}

fn read_followed_lines(path: &Path) -> Result<Vec<FollowedRow>, Diagnostic> {
    let name = path.display().to_string();
    let help = "make this part again with `compare --shard`";
    let text = std::fs::read_to_string(path)
        .map_err(|error| Diagnostic::new(Location::file(&name), format!("cannot read: {error}"), help))?;
    let row = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let what = format!("not a row of this version: {error}");
            Diagnostic::new(Location::line(&name, index + 1), what, help)
        })
    };
    text.lines().enumerate().map(row).collect()
}

/// A part that is being read.
struct OpenPart<'p> {
    rows: SavedRows,
    firings: SavedRows,
    /// The firing that was read last and belongs to a run to come.
    firing: Option<Firing>,
    places: &'p [u64],
    /// Runs read so far.
    read: usize,
    stacks: usize,
    offset: u64,
}

impl<'p> OpenPart<'p> {
    fn open(folder: &Path, manifest: &'p PartManifest, offset: u64) -> Result<Self, Diagnostic> {
        let mut firings = SavedRows::open(&folder.join(FIRINGS))?;
        let firing = firings.next()?;
        let rows = SavedRows::open(&folder.join(ROWS))?;
        let (places, stacks) = (&manifest.places[..], manifest.comparison.stacks.len());
        Ok(Self { rows, firings, firing, places, read: 0, stacks, offset })
    }

    /// The place of the next run.
    fn place(&self) -> Option<u64> {
        self.places.get(self.read).map(|place| self.offset + place)
    }

    /// Reads the next run; gives its name.
    fn run(&mut self, rows: &mut RowsBuilder, firings: &mut FiringsBuilder) -> Result<Option<Label>, Diagnostic> {
        self.read += 1;
        let mut name = None;
        for _ in 0..self.stacks {
            if let Some(row) = self.rows.next::<Row>()? {
                rows.push(&row);
                name = Some(row.run_id);
            }
        }
        while let Some(firing) = self.firing.take_if(|firing| name.as_ref() == Some(&firing.run_id)) {
            firings.push(&firing);
            self.firing = self.firings.next()?;
        }
        Ok(name)
    }
}

/// Why whole parts do not make a whole. `torn`: the numbers of parts that are there and not whole.
fn unfit(
    (first_folder, first): &(PathBuf, PartManifest),
    parts: &[(PathBuf, PartManifest)],
    torn: &[u32],
    at: &Location,
) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for (folder, manifest) in parts {
        if let Some(what) = first.differs(manifest) {
            let what = format!("this part and `{}` are not of one comparison: {what}", first_folder.display());
            let help = "make all parts with the same command but for `--shard`, and with the same whenstop";
            wrong.push(Diagnostic::new(Location::file(folder.display().to_string()), what, help));
        }
    }
    wrong.extend(doubled(parts));
    let of = first.shard.of;
    let there: BTreeSet<u32> =
        parts.iter().map(|(_, manifest)| manifest.shard.number).chain(torn.iter().copied()).collect();
    let missing: Vec<u32> = (1..=of).filter(|number| !there.contains(number)).collect();
    if let Some(next) = missing.first() {
        let list: Vec<String> = missing.iter().take(20).map(|number| format!("{number}/{of}")).collect();
        let more = missing.len().saturating_sub(20);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("{} of {of} parts missing: {}{more}", missing.len(), list.join(", "));
        wrong.push(Diagnostic::new(
            at.clone(),
            what,
            format!("make them with `compare … --shard {next}/{of} --out DIR`"),
        ));
    }
    wrong
}

fn two_runs(folder: &Path, other: &Path, name: &str) -> Diagnostic {
    let what = format!("run `{name}` is in `{}` too", other.display());
    let help = "each part has read other files, and two of them hold runs of one name: divide by task (`--shard m/n` on all files), \
                which tells them apart";
    Diagnostic::new(Location::file(folder.display().to_string()), what, help)
}

impl PartManifest {
    /// In what two parts differ that have to be alike.
    fn differs(&self, other: &Self) -> Option<String> {
        let names = |inputs: &[Input]| -> Vec<(String, u64)> {
            let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
            inputs.iter().map(|input| (name(&input.path), input.bytes)).collect()
        };
        let (mine, others) = (&self.comparison, &other.comparison);
        if self.shard.of != other.shard.of {
            return Some(format!("one of {} parts, one of {}", self.shard.of, other.shard.of));
        }
        if mine.whenstop != others.whenstop {
            return Some(format!("made by whenstop {} and {}", mine.whenstop, others.whenstop));
        }
        if mine.stacks != others.stacks {
            return Some("other stacks, or other rules in them".to_owned());
        }
        if mine != others {
            return Some("other options".to_owned());
        }
        if self.division != other.division {
            return Some("one is divided by task, one by file".to_owned());
        }
        if self.division == Division::Tasks && names(&self.inputs) != names(&other.inputs) {
            return Some(format!("other recordings ({} and {} files)", self.inputs.len(), other.inputs.len()));
        }
        (self.division == Division::Tasks && self.runs_read != other.runs_read)
            .then(|| format!("{} runs were read and {}", self.runs_read, other.runs_read))
    }
}

/// Parts of one number, and files that two parts have read.
fn doubled(parts: &[(PathBuf, PartManifest)]) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for pair in parts.windows(2) {
        if let [(one, first), (other, second)] = pair
            && first.shard == second.shard
        {
            let what = format!("part {} is doubled: it is in `{}` too", second.shard, one.display());
            let help = "a part that was made twice is used once: remove one of the two";
            wrong.push(Diagnostic::new(Location::file(other.display().to_string()), what, help));
        }
    }
    let mut read: BTreeMap<&str, u32> = BTreeMap::new();
    for (folder, manifest) in parts.iter().filter(|(_, manifest)| manifest.division == Division::Files) {
        for input in &manifest.inputs {
            let before = read.insert(&input.path, manifest.shard.number);
            if let Some(before) = before.filter(|before| *before != manifest.shard.number) {
                let what = format!("`{}` was read by part {before} too", input.path);
                let help = "give each file to one part";
                wrong.push(Diagnostic::new(Location::file(folder.display().to_string()), what, help));
            }
        }
    }
    wrong
}

/// The folder itself where it is a part, else the parts in it.
fn folders(path: &Path) -> Vec<PathBuf> {
    if path.join(PART).exists() || path.join(ROWS).exists() {
        return vec![path.to_path_buf()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join(PART).exists() || folder.join(ROWS).exists());
    folders.sort();
    folders
}

/// A part's manifest, if the part is whole; else what is wrong, and the part's number where that can be told.
fn read_part(folder: &Path) -> Result<PartManifest, (Option<u32>, Diagnostic)> {
    refuse_half_written(folder).map_err(|half| (None, half))?;
    let help = "make this part again";
    let at = Location::file(folder.display().to_string());
    let told =
        |number, why: String| (number, Diagnostic::new(at.clone(), format!("this part is not whole: {why}"), help));
    let torn = |why: String| told(None, why);
    let text = std::fs::read_to_string(folder.join(PART)).map_err(|error| torn(format!("`{PART}`: {error}")))?;
    let version =
        serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|value| value.get("part_version")?.as_u64());
    if version.is_some_and(|version| version != u64::from(VERSION)) {
        return Err(torn(format!("`{PART}` is of version {}, this is {VERSION}", version.unwrap_or_default())));
    }
    let manifest: PartManifest = serde_json::from_str(&text).map_err(|error| torn(format!("`{PART}`: {error}")))?;
    if !(1..=manifest.shard.of).contains(&manifest.shard.number) {
        return Err(torn(format!("`{PART}` calls it part {}", manifest.shard)));
    }
    let torn = |why: String| told(Some(manifest.shard.number), why);
    for said in &manifest.files {
        // Names come from a file that others may have written: only a part's own files are opened.
        let own = FILES.into_iter().find(|name| *name == said.name);
        let name = own.ok_or_else(|| torn(format!("`{PART}` names a file `{}`", said.name)))?;
        let there = piece(folder, name).map_err(|error| torn(format!("`{name}`: {error}")))?;
        if there.bytes != said.bytes {
            return Err(torn(format!("`{name}` has {} bytes, and its manifest says {}", there.bytes, said.bytes)));
        }
        if there != *said {
            return Err(torn(format!("`{name}` is not what its manifest says: other content of the same length")));
        }
    }
    let stacks = manifest.comparison.stacks.len() as u64;
    if manifest.files.len() != FILES.len()
        || manifest.places.len() as u64 != manifest.runs
        || manifest.runs * stacks != manifest.rows
    {
        return Err(torn(format!("`{PART}` contradicts itself")));
    }
    Ok(manifest)
}
