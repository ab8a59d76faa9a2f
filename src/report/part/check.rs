//! Checks that a part is complete and that several parts fit together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Division, FILES, Input, PART, PartManifest, ROWS, VERSION, piece};
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::add_input;
use crate::report::refuse_half_written;
use crate::words::some_of;

/// Why complete parts do not form one comparison. `torn`: the numbers of parts that are present but incomplete.
pub(super) fn unfit(
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
    wrong.extend(judged_unlike(parts));
    let of = first.shard.of;
    let there: BTreeSet<u32> =
        parts.iter().map(|(_, manifest)| manifest.shard.number).chain(torn.iter().copied()).collect();
    let missing: Vec<u32> = (1..=of).filter(|number| !there.contains(number)).collect();
    if let Some(next) = missing.first() {
        let list: Vec<String> = missing.iter().map(|number| format!("{number}/{of}")).collect();
        let what = format!("{} of {of} parts missing: {}", missing.len(), some_of(&list, 20));
        let help = match first.division {
            Division::Tasks => format!("make them with `compare … --shard {next}/{of} --out DIR`"),
            Division::Files => "make them again with the call that made the others".to_owned(),
        };
        wrong.push(Diagnostic::new(at.clone(), what, help));
    }
    wrong
}

impl PartManifest {
    /// In which required property two parts differ; `None` if in none.
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
        let question = |part: &Self| part.search.as_ref().map(|search| search.question.clone());
        if mine != others || question(self) != question(other) {
            return Some("other options".to_owned());
        }
        if self.division != other.division {
            return Some("one is divided by task, one by file".to_owned());
        }
        if self.division == Division::Tasks && names(&self.inputs) != names(&other.inputs) {
            return Some(format!("other recordings ({} and {} files)", self.inputs.len(), other.inputs.len()));
        }
        if self.division == Division::Tasks && self.found != other.found {
            return Some("the recordings were not read alike: other findings".to_owned());
        }
        if self.division == Division::Tasks && self.runs_read != other.runs_read {
            return Some(format!("{} runs were read and {}", self.runs_read, other.runs_read));
        }
        None
    }
}

/// Errors for parts with the same number, and for files that two parts have read.
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

/// Errors for parts by file in which no run of a format records a call although others do elsewhere: rules on calls were taken
/// for not evaluable there, and would not have been in one comparison.
fn judged_unlike(parts: &[(PathBuf, PartManifest)]) -> Vec<Diagnostic> {
    let mut with_calls: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, manifest) in parts {
        for (format, _) in manifest.records_calls.iter().filter(|(_, records)| **records) {
            with_calls.entry(format).or_insert(manifest.shard.number);
        }
    }
    let mut wrong = Vec::new();
    for (folder, manifest) in parts {
        for (format, _) in manifest.records_calls.iter().filter(|(_, records)| !**records) {
            let Some(other) = with_calls.get(&**format) else { continue };
            let what = format!("no `{format}` run of this part records a call, and in part {other} some do");
            let help = "rules on calls were judged unlike in the two: give each part more files (`target_mb`), or divide by \
                        task with `compare --shard`";
            wrong.push(Diagnostic::new(Location::file(folder.display().to_string()), what, help));
        }
    }
    wrong
}

/// The folder itself if it is a part, else the parts inside it.
pub(super) fn folders(path: &Path) -> Vec<PathBuf> {
    if path.join(PART).exists() || path.join(ROWS).exists() {
        return vec![path.to_path_buf()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join(PART).exists() || folder.join(ROWS).exists());
    folders.sort();
    folders
}

/// Reads a part's manifest if the part is complete; else returns what is wrong, with the part's number if known.
pub(super) fn read_part(folder: &Path) -> Result<PartManifest, (Option<u32>, Diagnostic)> {
    refuse_half_written(folder).map_err(|half| (None, half))?;
    let help = "make this part again";
    let at = Location::file(folder.display().to_string());
    let told =
        |number, why: String| (number, Diagnostic::new(at.clone(), format!("this part is not whole: {why}"), help));
    let torn = |why: String| told(None, why);
    let text = crate::reader::read_whole_text(&folder.join(PART), crate::reader::LARGEST_WHOLE)
        .map_err(|error| torn(format!("`{PART}`: {error}")))?;
    let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(version) = document["part_version"].as_u64()
        && version != u64::from(VERSION)
    {
        return Err(torn(format!("`{PART}` is of version {version}, this is {VERSION}")));
    }
    [PART].iter().chain(&FILES).for_each(|name| add_input(&folder.join(name)));
    let manifest: PartManifest = serde_json::from_str(&text).map_err(|error| torn(format!("`{PART}`: {error}")))?;
    if !(1..=manifest.shard.of).contains(&manifest.shard.number) {
        return Err(torn(format!("`{PART}` calls it part {}", manifest.shard)));
    }
    let torn = |why: String| told(Some(manifest.shard.number), why);
    for said in &manifest.files {
        // Names come from a file that others may have written: only open a part's own files.
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
