//! The name of a file: what runs are called after it, and what kind of file it says it is.

use std::path::{Path, PathBuf};

use crate::text::word_list;

/// The file a record comes from.
#[derive(Clone, Debug, Default)]
pub struct FileName {
    /// The path as the user gave it; for an archive's member, `archive.zip!member`.
    pub path: String,
    /// The name without folder and extensions; run ids begin with it.
    pub stem: String,
    /// The folder it is in.
    pub folder: PathBuf,
    /// The name of that folder, however its path is spelled; empty if it has none.
    pub folder_name: String,
    /// Its path below the root that it was found under, without extensions.
    pub in_corpus: String,
    /// Whether files of the same name stand in other folders of the corpus.
    pub clashes: bool,
    /// Whether it is the only file in its folder that may be a recording.
    pub is_alone: bool,
}

/// Another file that is read with a recording.
#[derive(Clone, Debug)]
pub(crate) struct OtherFile {
    /// Its path on disk.
    pub(crate) path: PathBuf,
    /// Its name.
    pub(crate) name: FileName,
}

/// Extensions that describe how a file is encoded rather than its content.
const ENDINGS: &[&str] =
    word_list!(".json .jsonl .ndjson .traj .trajectory .eval .log .txt .md .af .gz .zst .zip .tar .tgz .parquet");

/// Extensions of documents and of program text: lines of a recording in them are examples.
const QUOTING: &[&str] = word_list!(
    "adoc bash c cc cjs cpp cs css diff go h hpp htm html java jl js jsx kt lua md mdx",
    "mjs patch php pl ps1 py pyi r rb rs rst scala sh sql svelte swift tex ts tsx vue zsh",
);

/// Whether what looks like a record within the file's text is only quoted there.
pub(crate) fn quotes_records(name: &str) -> bool {
    has_ending(Path::new(name), QUOTING)
}

/// A file's name without its folder and extensions.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut stem = name.as_str();
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)).filter(|s| !s.is_empty()) {
        stem = shorter;
    }
    stem.to_owned()
}

/// The path without links and `..`; as it is where nothing stands there.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The name of a file without its directory, for labels that name files.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\', '!']).next().unwrap_or(path)
}

/// Names of outcome reports.
const REPORTS: &[&str] = word_list!(
    "results_summary.json results.json result.json report.json eval_results.json final_report.json meta.json",
);

/// True for the file names of outcome reports.
pub(crate) fn is_report(name: &str) -> bool {
    REPORTS.contains(&name) || name.ends_with(".report.json") || name.ends_with(".swebench_eval.jsonl")
}

/// Whether the file's name ends in one of these, such as `csv`, in capitals or not.
pub(crate) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let Some(own) = path.extension() else { return false };
    endings.iter().any(|ending| own.eq_ignore_ascii_case(ending))
}
