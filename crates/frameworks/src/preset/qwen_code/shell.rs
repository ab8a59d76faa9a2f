//! Recognizes shell commands that only look at the state of a git work tree.

use std::sync::LazyLock;

use regex::Regex;

/// Whether every part of the command is `git status`, `git ls-files`, or a `git diff` of the whole tree.
pub(super) fn is_overview(command: &str) -> bool {
    let separated = command.replace("&&", "\n").replace("||", "\n");
    let parts: Vec<&str> =
        separated.split([';', '&', '|', '\n']).map(str::trim).filter(|part| !part.is_empty()).collect();
    !parts.is_empty() && parts.iter().all(|part| is_overview_part(part))
}

fn is_overview_part(part: &str) -> bool {
    static GIT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)^git(?:\s+(?:-C\s+\S+|--no-pager))*\s+(status|diff|ls-files)(?-u:\b)").ok());
    let Some(found) = GIT.as_ref().and_then(|git| git.captures(part)) else { return false };
    if !found[1].eq_ignore_ascii_case("diff") {
        return true;
    }
    let words: Vec<&str> = part[found[0].len()..].split_whitespace().collect();
    let names_paths = words.iter().position(|word| *word == "--").is_some_and(|dashes| dashes + 1 < words.len());
    !names_paths && words.iter().all(|word| word.starts_with('-') || is_revision(word))
}

fn is_revision(word: &str) -> bool {
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let forms = [r"^(?:HEAD|@)(?:[~^][0-9]*)*$", r"^(?i:[0-9a-f]{7,40})$", r"^\S+\.{2,3}\S+$"];
        forms.iter().filter_map(|form| Regex::new(form).ok()).collect()
    });
    FORMS.iter().any(|form| form.is_match(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overviews_name_no_file_and_no_branch() {
        let check = |command: &str, wanted: bool| assert_eq!(is_overview(command), wanted, "{command}");
        check("git status && git diff HEAD~1", true);
        check("GIT -C x --no-pager diff --stat main..HEAD", true);
        check("git diff abcdef1 --", true);
        check("git diff main", false);
        check("git diff -- a.txt", false);
        check("git diff HEAD@{1}", false);
        check("git status | head", false);
        check("git log", false);
        check("  ", false);
    }
}
