//! The ids of runs, which labels, snapshots and people refer to.
//!
//! A run is called what its recording calls it, else what its file is called. Where files of one name stand in several
//! folders, all their runs are called after their whole path in the corpus: none of them is the first, so no folder that
//! comes or goes gives a run the name that another had.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::find::file_name::{FileName, real_path, stem};
use crate::find::source::InputFile;

/// Sets the path in the corpus of every file under `roots`, and marks those whose name stands in several folders.
pub(crate) fn mark_clashes(files: &mut [InputFile], roots: &[PathBuf]) {
    let roots = Root::each(roots);
    for source in &mut *files {
        source.name.in_corpus = in_corpus(&source.name.path, &roots);
    }
    let mut folders: HashMap<String, HashSet<PathBuf>> = HashMap::new();
    for source in &*files {
        folders.entry(plain_name(source)).or_default().insert(source.name.folder.clone());
    }
    let mut paths: HashMap<String, usize> = HashMap::new();
    for source in &mut *files {
        source.name.clashes = matches!(folders.get(&plain_name(source)), Some(folders) if folders.len() > 1);
        *paths.entry(source.name.in_corpus.clone()).or_default() += 1;
    }
    // Folders of one name that were named apart: only the paths as they were given differ.
    for source in files.iter_mut().filter(|source| source.name.clashes) {
        if matches!(paths.get(&source.name.in_corpus), Some(n) if *n > 1) {
            source.name.in_corpus = without_endings(Path::new(&source.name.path));
        }
    }
}

/// The name of a file, whether it is compressed or not.
fn plain_name(source: &InputFile) -> String {
    let name = source.file_name();
    name.trim_end_matches(".gz").trim_end_matches(".zst").to_owned()
}

/// A folder under which files were looked for.
struct Root {
    folder: PathBuf,
    /// Its own name, where there are several roots and it has one.
    name: Option<String>,
}

impl Root {
    /// The folders that the user named, or whose files; asked of the disk once, not for each file.
    fn each(named: &[PathBuf]) -> Vec<Self> {
        let mut roots = Vec::new();
        for path in named {
            let folder = if path.is_file() { path.parent() } else { Some(path.as_path()) };
            let Some(folder) = folder else { continue };
            let real = real_path(folder);
            let name = real.file_name().filter(|_| named.len() > 1).map(|name| name.to_string_lossy().into_owned());
            roots.push(Self { folder: folder.to_path_buf(), name });
        }
        roots
    }
}

/// The path of a file below the root that it was found under, without endings. Where several roots are opened, it begins
/// with the root's own name.
fn in_corpus(path: &str, roots: &[Root]) -> String {
    let path = Path::new(path);
    let below = roots.iter().filter_map(|root| Some((path.strip_prefix(&root.folder).ok()?, root)));
    let Some((below, root)) = below.min_by_key(|(below, _)| below.components().count()) else {
        return without_endings(path);
    };
    let below = without_endings(below);
    match &root.name {
        Some(name) => format!("{name}/{below}"),
        None => below,
    }
}

fn without_endings(path: &Path) -> String {
    let parts = path.parent().into_iter().flat_map(Path::components).filter_map(|part| match part {
        std::path::Component::Normal(part) => Some(part.to_string_lossy().replace('!', "/")),
        _ => None,
    });
    parts.chain([stem(path).replace('!', "/")]).collect::<Vec<_>>().join("/")
}

/// The id of a run that its recording calls `native`, in this file.
pub(crate) fn id(native: &str, file: &FileName) -> String {
    if !file.clashes {
        return native.to_owned();
    }
    if let Some(rest) = after_stem(native, file) {
        return format!("{}{rest}", file.in_corpus);
    }
    let names_path = format!("/{}/", file.in_corpus).contains(&format!("/{native}/"));
    if names_path { file.in_corpus.clone() } else { format!("{}/{native}", file.in_corpus) }
}

/// What follows the file's name in the id of a run that is called after it.
fn after_stem<'n>(native: &'n str, file: &FileName) -> Option<&'n str> {
    native.strip_prefix(&file.stem).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Names that a run had, or would have if files of the same name came or went, and that are of this run alone.
pub(crate) fn other_names(native: &str, file: &FileName) -> Vec<String> {
    let in_corpus = match after_stem(native, file) {
        Some(rest) => format!("{}{rest}", file.in_corpus),
        None => format!("{}/{native}", file.in_corpus),
    };
    let mut names = vec![in_corpus, file.path.clone()];
    if !file.clashes || is_unique(native) {
        names.push(native.to_owned());
    }
    if !file.clashes {
        names.push(crate::find::file_name::file_name(&file.path).to_owned());
    }
    names
}

/// Whether a recorder made the id to be the only one of its kind: it has the digits of a UUID or a hash.
pub(crate) fn is_unique(native: &str) -> bool {
    native.bytes().filter(u8::is_ascii_hexdigit).count() >= 20
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(in_corpus: &str, clashes: bool) -> FileName {
        let stem = in_corpus.rsplit('/').next().unwrap().to_owned();
        FileName {
            path: format!("{in_corpus}.jsonl"),
            stem,
            in_corpus: in_corpus.to_owned(),
            clashes,
            ..FileName::default()
        }
    }

    #[test]
    fn runs_of_files_of_one_name_are_called_after_their_path() {
        for (native, in_corpus, clashes, expected) in [
            ("x", "a/x", false, "x"),
            ("x", "a/x", true, "a/x"),
            ("x/3", "a/b/x", true, "a/b/x/3"),
            ("r", "a/x", true, "a/x/r"),
            ("xy", "a/x", true, "a/x/xy"),
            ("a/b", "runs/a/b/x", true, "runs/a/b/x"),
            ("0190f5f2-7c1e-7000-8000-00000000abcd", "a/x", true, "a/x/0190f5f2-7c1e-7000-8000-00000000abcd"),
        ] {
            assert_eq!(id(native, &file(in_corpus, clashes)), expected);
        }
    }

    #[test]
    fn a_path_is_counted_from_its_root() {
        let roots = |paths: &[&str]| Root::each(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(in_corpus("top/one/x.traj.json", &roots(&["top"])), "one/x");
        assert_eq!(in_corpus("./one/x.jsonl.gz", &roots(&["."])), "one/x");
        assert_eq!(in_corpus("top/a.zip!one/x.jsonl", &roots(&["top"])), "a.zip/one/x");
        assert_eq!(in_corpus("top/one/x.json", &roots(&["top/one", "top/two"])), "one/x");
    }
}
