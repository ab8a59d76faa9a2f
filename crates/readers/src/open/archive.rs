//! Unpacks archives of recordings: zip, tar, and compressed tar. Members go into a temporary folder that lives as long
//! as the corpus, under their own names, so that a recording's neighbouring files are found.
//!
//! Archives are untrusted. One budget of bytes and members covers an archive and all archives inside it. Declared
//! sizes are checked against the budget before unpacking, and actual sizes during it. A bad member costs only that
//! member.

mod tape;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use flate2::CrcReader;
use zip::read::read_zipfile_from_stream;
use zip::result::ZipResult;
use zip::{CompressionMethod, ZipArchive};

use crate::open::decompress::{self, FREE, HIGHEST_RATIO};
use crate::open::signature::Signature;
use crate::open::temp_folder::TemporaryFolder;

/// Most bytes that an archive may unpack to.
const LARGEST: u64 = 64 << 30;
/// Most members of an archive that are examined.
const MEMBERS: usize = 1_000_000;
/// The reason given for a member whose path leaves the archive.
const OUTSIDE: &str = "its path leads out of the archive";
/// Longest header that only holds a member's name, in bytes. Real paths are a few kilobytes at most.
const LONGEST_NAME: u64 = 1 << 20;

/// Most folders that a member may be in.
const DEEPEST: usize = 100;

/// How much an archive, including archives inside it, may still unpack to.
#[derive(Debug)]
pub(crate) struct UnpackBudget {
    bytes: u64,
    members: usize,
    folders: u64,
}

impl UnpackBudget {
    /// The budget for an archive of `packed` bytes.
    pub(crate) fn from_packed(packed: u64) -> Self {
        Self {
            bytes: most_unpacked(packed),
            members: MEMBERS,
            // A folder with a file in it takes an archive a hundred bytes or more.
            folders: 1_000 + packed / 20,
        }
    }
}

/// How many bytes a file of `packed` bytes may unpack to.
pub(crate) fn most_unpacked(packed: u64) -> u64 {
    LARGEST.min(FREE.saturating_add(packed.saturating_mul(HIGHEST_RATIO)))
}

/// A member that was left out or not completely unpacked.
#[derive(Debug)]
pub(crate) struct RefusedMember {
    /// Its name in the archive; empty for the archive itself.
    pub(crate) name: String,
    /// Why.
    pub(crate) reason: String,
    /// True if data may be lost; false if the member cannot hold a recording.
    pub(crate) lost: bool,
}

/// The members of an unpacked archive.
#[derive(Debug)]
pub(crate) struct Unpacked<'b> {
    /// The folder with the members: inside `held`, named after the archive.
    pub(crate) folder: PathBuf,
    /// Keeps the temporary folder alive.
    pub(crate) held: TemporaryFolder,
    /// Members left out, with the reasons.
    pub(crate) refused: Vec<RefusedMember>,
    /// Members with the same name as an earlier one, and the names they are stored under.
    pub(crate) renamed: Vec<(String, PathBuf)>,
    /// How often each stored name was repeated.
    again: HashMap<PathBuf, usize>,
    /// What may still be unpacked.
    pub(crate) budget: &'b mut UnpackBudget,
}

impl Unpacked<'_> {
    fn lose(&mut self, name: &str, reason: impl Into<String>) {
        self.refused.push(RefusedMember { name: name.to_owned(), reason: reason.into(), lost: true });
    }

    /// Creates a file for a member; the error says why there is none.
    fn place(&mut self, name: &str) -> Result<(File, PathBuf), String> {
        let inner = inner_path(name).ok_or(OUTSIDE)?;
        self.take_folders(&inner)?;
        self.create(name, inner).map_err(|error| format!("it cannot be stored: {error}"))
    }

    /// Takes a member's folders from the budget, unless they are too deep or too many.
    fn take_folders(&mut self, inner: &Path) -> Result<(), String> {
        let parents = || inner.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        let deep = parents().count();
        if deep > DEEPEST {
            return Err(format!("it is in {deep} folders, each in another; at most {DEEPEST} are made"));
        }
        let new = parents().take_while(|parent| !self.folder.join(parent).exists()).count() as u64;
        let left = self.budget.folders.checked_sub(new);
        self.budget.folders = left.ok_or("the archive has more folders than its size allows for")?;
        Ok(())
    }

    /// Creates a file for a member, under its own name or, if an earlier member has that name, under a numbered one.
    fn create(&mut self, name: &str, inner: PathBuf) -> io::Result<(File, PathBuf)> {
        let mut inner = inner;
        let first = inner.clone();
        loop {
            let path = self.folder.join(&inner);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_file() => {
                    let n = self.again.entry(first.clone()).or_insert(1);
                    *n += 1;
                    inner = first.with_file_name(numbered(&first, *n));
                }
                Ok(file) => {
                    if inner != first {
                        self.renamed.push((name.to_owned(), inner));
                    }
                    return Ok((file, path));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn leave_out(&mut self, name: &str, reason: &str) {
        self.refused.push(RefusedMember { name: name.to_owned(), reason: reason.to_owned(), lost: false });
    }
}

/// The name of the `n`th file with the same name: `a#2.json`, with the extension kept.
fn numbered(path: &Path, n: usize) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.find('.').filter(|at| *at > 0) {
        Some(at) => format!("{}#{n}{}", &name[..at], &name[at..]),
        None => format!("{name}#{n}"),
    }
}

/// The result of storing a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreResult {
    /// It was stored, or skipped with a reason.
    Done,
    /// It breaks off, so nothing after it in the same stream can be found.
    Broken,
    /// The budget is used up.
    BudgetSpent,
}

/// Whether the name is that of an archive.
pub(crate) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Unpacks an archive into a folder called `name`.
pub(crate) fn unpack<'b>(path: &Path, name: &str, budget: &'b mut UnpackBudget) -> io::Result<Unpacked<'b>> {
    let held = TemporaryFolder::new()?;
    let folder = held.path().join(name);
    std::fs::create_dir_all(&folder)?;
    let mut unpacked =
        Unpacked { folder, held, refused: Vec::new(), renamed: Vec::new(), again: HashMap::new(), budget };
    if Signature::from_file(path)? == Signature::Zip {
        unpack_zip(path, &mut unpacked)?;
    } else {
        tape::unpack(decompress::decoded(File::open(path)?)?, &mut unpacked)?;
    }
    Ok(unpacked)
}

/// Whether members share packed bytes, which lets few bytes unpack to many. No packer writes such archives.
pub(crate) fn overlaps<R: Read + Seek>(archive: &mut ZipArchive<R>, packed: u64) -> bool {
    let sizes =
        (0..archive.len()).map(|index| archive.by_index_raw(index).map_or(0, |member| member.compressed_size()));
    let sum = sizes.fold(0, u64::saturating_add);
    sum > packed || archive.has_overlapping_files().unwrap_or(false)
}

fn unpack_zip(path: &Path, unpacked: &mut Unpacked<'_>) -> io::Result<()> {
    let packed = std::fs::metadata(path)?.len();
    let mut archive = ZipArchive::new(io::BufReader::new(File::open(path)?)).map_err(io::Error::other)?;
    let most = unpacked.budget.members;
    if archive.len() > most {
        return Err(io::Error::other(format!("it has {} members; at most {most} are read", archive.len())));
    }
    if overlaps(&mut archive, packed) {
        return Err(io::Error::other("its members overlap, as in an archive that is made to fill a disk"));
    }
    let mut beside = io::BufReader::new(File::open(path)?);
    let behind_others = hidden(&mut archive, &mut beside)?;
    let sizes = behind_others.iter().map(|member| member.packed).fold(0, u64::saturating_add);
    if sizes > packed || behind_others.len() > most {
        return Err(io::Error::other("its members overlap, as in an archive that is made to fill a disk"));
    }
    let first = first_member(&mut archive, &behind_others);
    if first > 0 {
        let of = if archive.is_empty() { "it names no member" } else { "its first member" };
        unpacked.lose("", format!("{first} bytes before {of} are not read, another archive perhaps"));
    }
    unpack_hidden(behind_others, &mut beside, unpacked)?;
    let mut wanted = Vec::new();
    let mut size = 0_u64;
    for index in 0..archive.len() {
        let unnamed = match archive.name_for_index(index) {
            Some(Ok(name)) => name.into_owned(),
            Some(Err(_)) | None => format!("member {index}"),
        };
        let member = match archive.by_index_raw(index) {
            Ok(member) => member,
            Err(error) => {
                unpacked.lose(&unnamed, format!("it cannot be found: {error}"));
                continue;
            }
        };
        let name = String::from_utf8_lossy(member.name_raw()).into_owned();
        let ratio = if member.size() > FREE { member.size() / member.compressed_size().max(1) } else { 0 };
        if name.ends_with('/') {
            // Folders are created when a file in them is stored.
        } else if inner_path(&name).is_none() {
            unpacked.lose(&name, OUTSIDE);
        } else if !member.is_file() || member.is_symlink() {
            unpacked.leave_out(&name, "it is a link, which an archive of recordings does not need");
        } else if member.encrypted() {
            unpacked.lose(&name, "it is encrypted");
        } else if ratio > HIGHEST_RATIO {
            unpacked.lose(&name, format!("it unpacks to {ratio} times its size, as no recording does"));
        } else {
            size = size.saturating_add(member.size());
            wanted.push((index, name));
        }
    }
    if size > unpacked.budget.bytes {
        return Err(io::Error::other(over(unpacked.budget)));
    }
    for (index, name) in wanted {
        let before = unpacked.refused.len();
        match read_member(&mut archive, index, |mut member, size| store(&name, &mut member, size, unpacked)) {
            Ok((stored, wrong)) => {
                if let Some(wrong) = wrong.filter(|_| unpacked.refused.len() == before) {
                    unpacked.lose(&name, format!("it is damaged: {wrong}"));
                }
                if stored? == StoreResult::BudgetSpent {
                    break;
                }
            }
            Err(error) => unpacked.lose(&name, format!("it cannot be unpacked: {error}")),
        }
    }
    Ok(())
}

/// Hands a member of a zip and its size to `read`; returns what that returns, and what is wrong with the member. The zip
/// library does not unpack Zstandard.
pub(crate) fn read_member<T, R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    read: impl FnOnce(&mut dyn Read, u64) -> T,
) -> ZipResult<(T, Option<&'static str>)> {
    let raw = archive.by_index_raw(index)?;
    if raw.compression() != CompressionMethod::ZSTD {
        drop(raw);
        let mut member = archive.by_index(index)?;
        let size = member.size();
        return Ok((read(&mut member, size), None));
    }
    let (size, crc, encrypted) = (raw.size(), raw.crc32(), raw.encrypted());
    let mut member = CrcReader::new(decompress::zstd(raw));
    let done = read(&mut member, size);
    let is_whole = member.crc().sum() == crc;
    let wrong = if encrypted { Some("it is encrypted") } else { Some("its checksum is wrong").filter(|_| !is_whole) };
    Ok((done, wrong))
}

/// Where the first member of a zip begins; where its directory does, if it has no member.
fn first_member<R: Read + Seek>(archive: &mut ZipArchive<R>, hidden: &[Hidden]) -> u64 {
    let first = shown_headers(archive).chain(hidden.iter().map(|member| member.header)).min();
    first.unwrap_or_else(|| archive.central_directory_start())
}

/// The offsets of the local headers of the members that the zip library shows.
fn shown_headers<R: Read + Seek>(archive: &mut ZipArchive<R>) -> impl Iterator<Item = u64> {
    (0..archive.len()).filter_map(|nth| Some(archive.by_index_raw(nth).ok()?.header_start()))
}

/// A member of a zip that the zip library hides because a later member has the same name.
#[derive(Debug)]
pub(crate) struct Hidden {
    pub(crate) name: String,
    /// Offset of its local header.
    header: u64,
    packed: u64,
}

/// The members that share their name with a later one. A zip directory has such entries if its writer appends new
/// versions.
pub(crate) fn hidden<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    file: &mut (impl Read + Seek),
) -> io::Result<Vec<Hidden>> {
    let shown: HashSet<u64> = shown_headers(archive).collect();
    file.seek(SeekFrom::Start(archive.central_directory_start()))?;
    let directory = file;
    let mut hidden = Vec::new();
    loop {
        let mut entry = [0; 46];
        if directory.read_exact(&mut entry).is_err() || !entry.starts_with(b"PK\x01\x02") {
            return Ok(hidden);
        }
        let short = |at: usize| u64::from(u16::from_le_bytes([entry[at], entry[at + 1]]));
        let long = |at: usize| short(at) | short(at + 2) << 16;
        let mut name = Vec::new();
        directory.by_ref().take(short(28)).read_to_end(&mut name)?;
        let behind = short(30) + short(32);
        io::copy(&mut directory.by_ref().take(behind), &mut io::sink())?;
        let header = archive.offset() + long(42);
        // Headers beyond 4 GB are recorded elsewhere; those are not looked up.
        if long(42) != u64::from(u32::MAX) && !shown.contains(&header) {
            let name = String::from_utf8_lossy(&name).into_owned();
            hidden.push(Hidden { name, header, packed: long(20) });
        }
    }
}

/// Unpacks the members that the zip library hides. A member that cannot be read from its local header alone is
/// reported as lost.
fn unpack_hidden(hidden: Vec<Hidden>, file: &mut (impl Read + Seek), unpacked: &mut Unpacked<'_>) -> io::Result<()> {
    for Hidden { name, header, .. } in hidden {
        if name.ends_with('/') {
            continue;
        }
        file.seek(SeekFrom::Start(header))?;
        let Ok(Some(mut member)) = read_zipfile_from_stream(file) else {
            unpacked.lose(&name, "another member has this name, and this one cannot be read by itself");
            continue;
        };
        let size = member.size();
        if size > FREE && size / member.compressed_size().max(1) > HIGHEST_RATIO {
            unpacked.lose(&name, "it unpacks to many times its size, as no recording does");
        } else if store(&name, &mut member, size, unpacked)? == StoreResult::BudgetSpent {
            break;
        }
    }
    Ok(())
}

fn over(budget: &UnpackBudget) -> String {
    format!(
        "it unpacks to more than {} bytes: at most {HIGHEST_RATIO} times its size, as no recordings do",
        budget.bytes
    )
}

/// Writes a member of `size` bytes under its own name, if that stays within the folder. Fails only if nothing can be
/// stored at all.
fn store(name: &str, member: &mut impl Read, size: u64, unpacked: &mut Unpacked<'_>) -> io::Result<StoreResult> {
    unpacked.budget.members = unpacked.budget.members.saturating_sub(1);
    let (mut file, path) = match unpacked.place(name) {
        Ok(created) => created,
        Err(why) => {
            unpacked.lose(name, why);
            return Ok(StoreResult::Done);
        }
    };
    let most = unpacked.budget.bytes;
    // Reading one byte more than allowed shows whether the member ends there.
    let copied = io::copy(&mut member.take(most.saturating_add(1)), &mut file).and_then(|n| file.flush().map(|()| n));
    match copied {
        Ok(written) if written > most => {
            drop(file);
            std::fs::remove_file(&path)?;
            let over = over(unpacked.budget);
            unpacked.lose("", format!("{name} and the members behind it are left out: {over}"));
            unpacked.budget.bytes = 0;
            return Ok(StoreResult::BudgetSpent);
        }
        Ok(written) => {
            unpacked.budget.bytes -= written;
            if written < size {
                unpacked.lose(name, format!("it is cut off: {written} of {size} bytes are here"));
                return Ok(StoreResult::Broken);
            }
        }
        Err(error) => {
            unpacked.budget.bytes = most.saturating_sub(file.metadata().map_or(0, |data| data.len()));
            // What was unpacked before the damage is kept, since its runs may be complete.
            unpacked.lose(name, format!("it is damaged: {error}; what is before the damage is read"));
            return Ok(StoreResult::Broken);
        }
    }
    Ok(StoreResult::Done)
}

/// A member's path if it stays within the archive: no root, no drive, no `..`.
fn inner_path(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(&name.replace('\\', "/")).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    if path.as_os_str().is_empty() || name.contains('\0') { None } else { Some(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_within_are_followed() {
        for (name, inner) in [
            ("a/b.json", Some("a/b.json")),
            ("./a.json", Some("a.json")),
            ("../a.json", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("..\\a", None),
            ("", None),
        ] {
            assert_eq!(inner_path(name), inner.map(PathBuf::from), "{name}");
        }
    }
}
