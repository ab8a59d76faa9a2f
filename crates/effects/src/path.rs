//! Paths as written in commands.

/// The last component of a path with either kind of slash, without `.exe` or a similar extension.
pub(crate) fn program(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat"] {
        if let Some(stem) = name.strip_suffix(ending)
            && !stem.is_empty()
        {
            return stem.to_owned();
        }
    }
    name
}

/// The file name in a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// True for paths such as `/dev/null` and `/dev/stdout`, to which writing changes nothing.
pub(crate) fn is_sink(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    matches!(lower.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "nul" | "$null" | "con" | "-")
        || lower.starts_with("/dev/fd/")
}
