//! agentao's repair of tool names: by spelling only, with no guess by similarity.

use std::collections::BTreeSet;

use crate::python;

/// Characters stripped from both ends of a name.
const EDGES: [char; 8] = [' ', '\t', '\r', '\n', '\u{c}', '\u{b}', '_', '-'];

/// The offered name that `name` is a spelling of; `None` if there is none. `name` itself is tried too.
pub(super) fn repaired<'o>(name: &str, offered: &[&'o str]) -> Option<&'o str> {
    let mut tiers = vec![variants(name)];
    let trimmed = name.trim_matches(EDGES);
    if !trimmed.is_empty() && trimmed != name {
        tiers.push(variants(trimmed));
    }
    let mut seen: BTreeSet<String> = tiers.iter().flatten().cloned().collect();
    let mut frontier = seen.clone();
    // Drop a suffix at most twice; each time, the match is less faithful.
    for _ in 0..2 {
        let stripped = frontier.iter().filter_map(|spelling| without_suffix(spelling));
        let next: BTreeSet<String> =
            stripped.flat_map(|spelling| variants(&spelling)).filter(|spelling| !seen.contains(spelling)).collect();
        if next.is_empty() {
            break;
        }
        seen.extend(next.iter().cloned());
        tiers.push(next.iter().cloned().collect());
        frontier = next;
    }
    let spellings = || tiers.iter().flatten();
    for spelling in spellings() {
        if let Some(name) = offered.iter().find(|name| **name == spelling) {
            return Some(name);
        }
    }
    // An offered name may have other spellings too; a spelling that two of them share matches neither.
    let by_spelling = |spelling: &String| {
        let mut means = offered.iter().filter(|name| variants(name).iter().skip(1).any(|other| other == spelling));
        means.next().filter(|_| means.next().is_none())
    };
    spellings().find_map(by_spelling).copied()
}

/// The spellings of a name, itself first: lower case, separators as underscores, camel case as underscores.
fn variants(name: &str) -> Vec<String> {
    let lower = python::lower(name);
    let separated = lower.replace(['-', ' '], "_");
    let mut humps = String::new();
    for (index, character) in name.chars().enumerate() {
        if index > 0 && character.is_ascii_uppercase() {
            humps.push('_');
        }
        humps.push(character);
    }
    let mut variants: Vec<String> = Vec::new();
    for spelling in [name.to_owned(), lower, separated, python::lower(&humps)] {
        if !spelling.is_empty() && !variants.contains(&spelling) {
            variants.push(spelling);
        }
    }
    variants
}

fn without_suffix(name: &str) -> Option<String> {
    let lower = python::lower(name);
    let suffix = ["_tool", "-tool", "tool"].into_iter().find(|suffix| lower.ends_with(suffix))?;
    let kept: String = name.chars().take(name.chars().count() - suffix.len()).collect();
    let kept = kept.trim_end_matches(['_', '-']);
    if kept.is_empty() { None } else { Some(kept.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_repaired_by_its_spelling() {
        let offered = ["alpha", "read_file", "getFile"];
        let cases = [
            ("alpha", Some("alpha")),
            (" Alpha\n", Some("alpha")),
            ("ReadFileTool_tool", Some("read_file")),
            ("read-file", Some("read_file")),
            ("get_file", Some("getFile")),
            ("alph", None),
            ("", None),
        ];
        for (name, meant) in cases {
            assert_eq!(repaired(name, &offered), meant, "{name}");
        }
    }
}
