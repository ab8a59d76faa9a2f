//! Normalises model names, to which providers, routers and clouds add prefixes and suffixes.

/// Maker prefixes that clouds put before a model's name, after the region.
const MAKERS: &[&str] = &["anthropic.", "amazon.", "meta.", "mistral.", "cohere.", "deepseek.", "openai."];
/// Region prefixes that clouds put before the maker.
const REGIONS: &[&str] = &["us.", "eu.", "apac.", "jp.", "au.", "global.", "us-gov."];

/// The name in lower case, without provider (`openai/`, `models/`, `us.anthropic.`), date (`-20250514`, `-2025-04-14`,
/// `@20250514`, `-latest`, `@latest`) and cloud version (`-v1:0`).
pub(super) fn plain(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let mut rest = name.rsplit('/').next().unwrap_or(&name);
    rest = REGIONS.iter().find_map(|region| rest.strip_prefix(region)).unwrap_or(rest);
    rest = MAKERS.iter().find_map(|maker| rest.strip_prefix(maker)).unwrap_or(rest);
    while let Some(shorter) = without_ending(rest) {
        rest = shorter;
    }
    rest.to_owned()
}

/// The name without one such suffix; `None` if it has none, or if nothing would be left.
fn without_ending(name: &str) -> Option<&str> {
    let shorter = ["-latest", "@latest", "@default"].iter().find_map(|ending| name.strip_suffix(ending));
    let shorter = shorter.or(without_date(name)).or(without_version(name));
    shorter.filter(|shorter| !shorter.is_empty())
}

/// Removes `-20250514`, `@20250514` or `-2025-04-14`.
fn without_date(name: &str) -> Option<&str> {
    for (pattern, marks) in [("-########", "-@"), ("-####-##-##", "-")] {
        let Some(at) = name.len().checked_sub(pattern.len()).filter(|at| name.is_char_boundary(*at)) else { continue };
        let (head, tail) = name.split_at(at);
        let fits = |(wanted, found): (char, char)| if wanted == '#' { found.is_ascii_digit() } else { found == wanted };
        let is_marked = tail.starts_with(|mark| marks.contains(mark));
        let is_year = tail.get(1..3) == Some("20");
        if is_marked && is_year && pattern.chars().zip(tail.chars()).skip(1).all(fits) {
            return Some(head);
        }
    }
    None
}

/// Removes `-v1:0`.
fn without_version(name: &str) -> Option<&str> {
    let (head, tail) = name.rsplit_once("-v")?;
    let (major, minor) = tail.split_once(':')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if number(major) && number(minor) { Some(head) } else { None }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn decorations_fall_off_and_names_stay() {
        for (name, expected) in [
            ("gpt-4.1-2025-04-14", "gpt-4.1"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4"),
            ("openrouter/anthropic/claude-3.5-sonnet", "claude-3.5-sonnet"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
            ("gpt-4-0613", "gpt-4-0613"),
            ("gpt-4o-mini", "gpt-4o-mini"),
            ("x-99999999", "x-99999999"),
            ("ü-20250101", "ü"),
            ("20250101", "20250101"),
            ("-20250101", "-20250101"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }
}
