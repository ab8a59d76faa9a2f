//! Merges parts into one comparison.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::check::{folders, read_part, unfit};
use super::{Division, FIRINGS, FOLLOWED, PART, PartManifest, PartSearch, ROWS, STUDY, SearchedRun};
use crate::aggregate::{Firing, Firings, FollowedBuilder, FollowedRow, FollowedRows, Label, Row, Rows, RowsBuilder};
use crate::answers::{FollowedReport, RunEvidence};
use crate::compare::{KeptStories, Met, matters};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::explain::Story;
use crate::report::ReadingFindings;
use crate::report::row_file::SavedRows;
use crate::report::saved::{Manifest, STORIES, read_lines, read_stories};

/// Parts that fit together, ready to be merged.
#[derive(Debug)]
pub struct Merge {
    /// Folder and manifest of each part, ordered by number.
    parts: Vec<(PathBuf, PartManifest)>,
}

impl Merge {
    /// Whether there is a part in any of these, or in a folder inside them.
    pub fn is_asked(paths: &[PathBuf]) -> bool {
        let has_part = |path: &PathBuf| folders(path).iter().any(|folder| folder.join(PART).exists());
        paths.iter().any(has_part)
    }

    /// Finds parts in `paths` and in the folders inside them, and checks that they belong to one comparison, each
    /// present once and complete. Reports all problems at once.
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
        match Diagnostics::from_list(wrong) {
            None => Ok(Self { parts }),
            Some(wrong) => Err(wrong),
        }
    }

    /// How the merged comparison is to be reported.
    pub fn comparison(&self) -> Option<&Manifest> {
        self.parts.first().map(|(_, manifest)| &manifest.comparison)
    }

    /// Findings from reading the recordings. With parts by task, every part has read the same files.
    pub fn found(&self) -> ReadingFindings {
        let mut found = ReadingFindings::default();
        let by_file = |manifest: &PartManifest| manifest.division == Division::Files;
        for (index, (_, manifest)) in self.parts.iter().enumerate() {
            if index == 0 || by_file(manifest) {
                found.extend(manifest.found.clone());
            }
        }
        found
    }

    /// The agents of the runs, as far as they are recorded.
    pub fn agents(&self) -> BTreeSet<String> {
        self.parts.iter().flat_map(|(_, manifest)| manifest.agents.iter().cloned()).collect()
    }

    /// One sentence per tuned stack whose certificate does not hold for the whole, with the reason.
    fn void(&self) -> Vec<String> {
        let mut parts = self.parts.iter().map(|(_, manifest)| &manifest.met);
        let mut whole: Vec<Met> = parts.next().cloned().unwrap_or_default();
        for part in parts {
            for (whole, part) in whole.iter_mut().zip(part) {
                whole.and(part.clone());
            }
        }
        whole.iter().filter_map(Met::sentence).collect()
    }

    /// The merged evidence and how it is to be reported; `None` if the parts hold no runs.
    pub fn evidence(&self) -> Result<Option<(RunEvidence, Manifest)>, Diagnostic> {
        let Some(manifest) = self.comparison().cloned() else { return Ok(None) };
        let (rows, firings) = self.rows()?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (followed, stories) = self.told(&rows)?;
        let followed = Some(FollowedReport::new(followed, manifest.noun()));
        let found = self.found();
        let told = found.told_of_limits();
        let manifest = Manifest { found: found.lines(), told, remarks: self.void(), ..manifest };
        Ok(Some((RunEvidence { rows, firings, followed, stories }, manifest)))
    }

    /// What is searched, if these are parts of a search.
    pub fn search(&self) -> Option<PartSearch> {
        let mut searches =
            self.parts.iter().filter_map(|(_, manifest)| Some((manifest.division, manifest.search.as_ref()?)));
        let mut whole = searches.next()?.1.clone();
        for (division, PartSearch { labels, .. }) in searches {
            // With parts by task, every part has read all labels.
            if division == Division::Files {
                whole.labels.graded += labels.graded;
                whole.labels.drawn += labels.drawn;
            }
        }
        Some(whole)
    }

    /// Calls `take` with what the search needs of each run, and its place among all that were read. Those of one task are
    /// in one part, in their order.
    pub fn searched_runs(&self, mut take: impl FnMut(u64, SearchedRun) -> Option<()>) -> Result<(), Diagnostic> {
        let help = "make this part again with `tune --shard`";
        for (offset, folder, manifest) in self.placed() {
            let path = folder.join(STUDY);
            let mut places = manifest.places.iter().map(|place| offset + place);
            let mut is_read = true;
            read_lines(&path, "run of a search", help, |run| {
                is_read &= places.next().is_some_and(|place| take(place, run).is_some());
            })?;
            if !is_read || places.next().is_some() {
                let at = Location::file(path.display().to_string());
                return Err(Diagnostic::new(at, "not what this version searches", help));
            }
        }
        Ok(())
    }

    /// Folder and manifest of each part, behind the number of runs that are placed before all of its own.
    fn placed(&self) -> Vec<(u64, &Path, &PartManifest)> {
        let (mut placed, mut offset) = (Vec::new(), 0);
        for (folder, manifest) in &self.parts {
            placed.push((offset, folder.as_path(), manifest));
            // With parts by task, every part has read the same runs.
            if manifest.division == Division::Files {
                offset += manifest.runs_read;
            }
        }
        placed
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// All rows and firings, in the order of one comparison. Reads the parts side by side and holds only the next run
    /// of each.
    pub fn rows(&self) -> Result<(Rows, Firings), Diagnostic> {
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut open = Vec::new();
        for (number, (offset, folder, manifest)) in self.placed().into_iter().enumerate() {
            let part = OpenPart::open(folder, manifest, offset)?;
            next.extend(part.places.first().map(|place| Reverse((offset + place, number))));
            open.push(part);
        }
        let (mut rows, mut firings) = (RowsBuilder::default(), Firings::default());
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
        Ok((rows.finish(), firings))
    }

    /// What followed the stops, in the order of `rows`, and the stories that one comparison would have told.
    fn told(&self, rows: &Rows) -> Result<(FollowedRows, Vec<Story>), Diagnostic> {
        let texts = self.parts.first().map(|(_, manifest)| manifest.texts).unwrap_or_default();
        let mut kept = KeptStories::new(texts);
        let mut of_note: HashMap<&str, bool> = HashMap::new();
        let mut order: Vec<&str> = Vec::new();
        for row in rows.iter() {
            let run: &str = row.run_id();
            let matters_so_far = of_note.entry(run).or_insert_with(|| {
                order.push(run);
                false
            });
            *matters_so_far |= matters(row.killed_high(), row.verdict());
        }
        let mut followed = Vec::new();
        for (folder, _) in &self.parts {
            followed.push(read_followed_lines(&folder.join(FOLLOWED))?);
            for story in read_stories(&folder.join(STORIES))? {
                let is_one = of_note.get(&*story.run_id).copied().unwrap_or_default();
                kept.put_again(is_one, story);
            }
        }
        let places: HashMap<&str, (&FollowedRows, Range<usize>)> =
            followed.iter().flat_map(|part| part.runs().map(move |(run, rows)| (run, (part, rows)))).collect();
        let of_run = |run: &&str| places.get(*run).map(|(part, rows)| part.range(rows.clone()));
        let followed = order.iter().filter_map(of_run).flatten().collect();
        Ok((followed, kept.into_stories()))
    }
}

fn read_followed_lines(path: &Path) -> Result<FollowedRows, Diagnostic> {
    let mut rows = FollowedBuilder::default();
    read_lines(path, "row", "make this part again with `compare --shard`", |row: FollowedRow| rows.push(&row))?;
    Ok(rows.finish())
}

/// A part that is being read.
struct OpenPart<'p> {
    rows: SavedRows,
    firings: SavedRows,
    /// The last firing read, if it belongs to a later run.
    firing: Option<Firing>,
    places: &'p [u64],
    /// Number of runs read so far.
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

    /// Reads the next run and returns its name.
    fn run(&mut self, rows: &mut RowsBuilder, firings: &mut Firings) -> Result<Option<Label>, Diagnostic> {
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

fn two_runs(folder: &Path, other: &Path, name: &str) -> Diagnostic {
    let what = format!("run `{name}` is in `{}` too", other.display());
    let help = "each part has read other files, and two of them hold runs of one name: divide by task (`--shard m/n` on all files), \
                which tells them apart";
    Diagnostic::new(Location::file(folder.display().to_string()), what, help)
}
