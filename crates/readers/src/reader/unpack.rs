//! Archives of recordings: zip, tar, and compressed tar. Members are put into a temporary folder that
//! goes away with the corpus, under their own names, so that what lies beside them is found there too.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;
use zip::{CompressionMethod, ZipArchive};

use super::decode;

/// Most bytes an archive may unpack to.
const LARGEST: u64 = 64 << 30;
/// Most members of an archive that are looked at.
const MEMBERS: usize = 1_000_000;
/// A member above this size must not be …
const FREE: u64 = 64 << 20;
/// … this many times as large as it is packed.
const HIGHEST_RATIO: u64 = 500;

/// What an archive, and those within it, may still unpack to.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    members: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: LARGEST, members: MEMBERS }
    }
}

/// An archive's members, unpacked.
#[derive(Debug)]
pub(super) struct Unpacked {
    /// Where the members are: within `held`, in a folder called after the archive.
    pub(super) folder: PathBuf,
    /// Holds the files for as long as they are needed.
    pub(super) held: TempDir,
    /// Members left out, each with the reason.
    pub(super) refused: Vec<(String, String)>,
}

/// True when the name says that a file is an archive of files.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Unpacks an archive into a folder called `name`.
pub(super) fn unpack(path: &Path, name: &str, budget: &mut Budget) -> io::Result<Unpacked> {
    let held = tempfile::Builder::new().prefix("whenstop-").tempdir()?;
    let folder = held.path().join(name);
    std::fs::create_dir_all(&folder)?;
    let mut unpacked = Unpacked { folder, held, refused: Vec::new() };
    let (packing, _) = decode::packing(File::open(path)?)?;
    if packing == decode::Packing::Zip {
        unpack_zip(File::open(path)?, &mut unpacked, budget)?;
    } else {
        unpack_tar(decode::decoded(File::open(path)?)?, &mut unpacked, budget)?;
    }
    Ok(unpacked)
}

fn unpack_zip(file: File, unpacked: &mut Unpacked, budget: &mut Budget) -> io::Result<()> {
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(io::Error::other)?;
    for index in 0..archive.len().min(budget.members) {
        let (name, is_file, ratio, method) = {
            let member = archive.by_index_raw(index).map_err(io::Error::other)?;
            let name = String::from_utf8_lossy(member.name_raw()).into_owned();
            let packed = member.compressed_size().max(1);
            let ratio = if member.size() > FREE { member.size() / packed } else { 0 };
            (name, member.is_file() && !member.is_symlink(), ratio, member.compression())
        };
        if name.ends_with('/') {
            continue;
        }
        if !is_file {
            unpacked.refused.push((name, "it is a link, which an archive of recordings does not need".to_owned()));
            continue;
        }
        if ratio > HIGHEST_RATIO {
            unpacked.refused.push((name, format!("it unpacks to {ratio} times its size, as no recording does")));
            continue;
        }
        if method == CompressionMethod::ZSTD {
            let raw = archive.by_index_raw(index).map_err(io::Error::other)?;
            store(&name, &mut decode::zstd(raw), unpacked, budget)?;
            continue;
        }
        match archive.by_index(index) {
            Ok(mut member) => store(&name, &mut member, unpacked, budget)?,
            Err(error) => unpacked.refused.push((name, format!("it cannot be unpacked: {error}"))),
        }
    }
    Ok(())
}

fn unpack_tar(input: impl Read, unpacked: &mut Unpacked, budget: &mut Budget) -> io::Result<()> {
    let mut archive = tar::Archive::new(input);
    for member in archive.entries()?.take(budget.members) {
        let mut member = member?;
        let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        let kind = member.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        if !kind.is_file() && !kind.is_contiguous() {
            unpacked.refused.push((name, "it is no plain file".to_owned()));
            continue;
        }
        store(&name, &mut member, unpacked, budget)?;
    }
    Ok(())
}

/// Writes a member under its own name, if that name stays within the folder.
fn store(name: &str, member: &mut impl Read, unpacked: &mut Unpacked, budget: &mut Budget) -> io::Result<()> {
    let Some(inner) = inner_path(name) else {
        unpacked.refused.push((name.to_owned(), "its path leads out of the archive".to_owned()));
        return Ok(());
    };
    let path = unpacked.folder.join(inner);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = match File::create_new(&path) {
        Ok(file) => file,
        Err(error) => {
            unpacked.refused.push((name.to_owned(), format!("it cannot be stored: {error}")));
            return Ok(());
        }
    };
    match io::copy(&mut member.take(budget.bytes), &mut file) {
        Ok(written) => budget.bytes = budget.bytes.saturating_sub(written),
        Err(error) => {
            // What was unpacked before the damage is kept: its runs may be whole.
            unpacked.refused.push((name.to_owned(), format!("it is damaged: {error}")));
        }
    }
    file.flush()?;
    budget.members = budget.members.saturating_sub(1);
    if budget.bytes == 0 {
        return Err(io::Error::other(format!("it unpacks to more than {LARGEST} bytes")));
    }
    Ok(())
}

/// A member's path, if it is one that stays within: no root, no drive, no way up.
fn inner_path(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(&name.replace('\\', "/")).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!path.as_os_str().is_empty() && !name.contains('\0')).then_some(path)
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
