//! How a comparison was made: the command and the files it read, so that it can be made again and compared.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::reader::open_regular;

/// Options that do not change what is in the folder, apart from the format of its rows.
const WITHOUT_VALUE: [&str; 3] = ["--quiet", "-q", "--notes"];
/// The same with a value.
const WITH_VALUE: [&str; 4] = ["--out", "--rows", "--shard", "--threads"];

/// The command of a comparison and the files it read. The presets, their profiles and the seed are beside it in the
/// manifest; presets belong to the version of whenstop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The arguments of `whenstop`, without those that say where the result goes and in which format its rows are, which
    /// part of it is made, and with how many threads.
    pub command: Vec<String>,
    /// Every file read: recordings, and files named in the command. In path order.
    pub files: Vec<MadeFile>,
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeFile {
    /// Its path as given.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The 128-bit `XXH3` hash of its content.
    pub xxh3: String,
}

impl Provenance {
    /// From the arguments and the recordings. Files named in the arguments and a `whenstop.toml` here are added.
    pub fn from_arguments(arguments: &[String], recordings: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut command = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if WITH_VALUE.contains(&argument.as_str()) {
                rest.next();
                continue;
            }
            let name = argument.split('=').next().unwrap_or(argument);
            if !WITH_VALUE.contains(&name) && !WITHOUT_VALUE.contains(&argument.as_str()) {
                command.push(argument.clone());
            }
        }
        let named = command.iter().map(|argument| match argument.split_once('=') {
            Some((_, value)) => value,
            None => argument,
        });
        let named = named.chain(["whenstop.toml"]).map(PathBuf::from).filter(|path| path.is_file());
        let paths: BTreeSet<PathBuf> = recordings.into_iter().chain(named).collect();
        let files = paths.iter().filter_map(|path| MadeFile::from_path(path)).collect();
        Self { command, files }
    }
}

impl MadeFile {
    /// `None` for what cannot be read again.
    fn from_path(path: &Path) -> Option<Self> {
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let (bytes, xxh3) = size_and_hash(open_regular(path).ok()?).ok()?;
        Some(Self { path: path.display().to_string(), bytes, xxh3 })
    }
}

/// The size of a file, and the 128-bit `XXH3` hash of its content.
pub(super) fn size_and_hash(mut file: File) -> io::Result<(u64, String)> {
    let mut hash = Xxh3::new();
    let bytes = io::copy(&mut file, &mut hash)?;
    Ok((bytes, format!("{:032x}", hash.digest128())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_kept_without_what_changes_nothing() {
        let given = "compare runs --stacks s.toml --out a --threads 2 --shard=1/2 --out=b --quiet --max-killed 0.1";
        let given: Vec<String> = given.split(' ').map(str::to_owned).collect();
        let kept = Provenance::from_arguments(&given, []).command;
        assert_eq!(kept.join(" "), "compare runs --stacks s.toml --max-killed 0.1");
    }
}
