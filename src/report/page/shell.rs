//! The page around the data: one file that loads nothing and runs nothing but its own script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const SHELL: &str = include_str!("assets/shell.html");
const STYLE: &str = include_str!("assets/page.css");
/// One script of several files; nothing of it reaches the page's global names.
const SCRIPT: &str = concat!(
    "'use strict';(() => {\n",
    include_str!("assets/data.js"),
    include_str!("assets/draw.js"),
    include_str!("assets/copy.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/runs.js"),
    include_str!("assets/story.js"),
    include_str!("assets/tabs.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

/// What fills the shell.
pub(super) struct Filling<'a> {
    pub(super) headline: &'a str,
    pub(super) verdict: &'a str,
    /// JSON, packed columns, packed stories.
    pub(super) meta: &'a str,
    pub(super) columns: &'a str,
    pub(super) stories: &'a str,
    /// Figures by name: SVG of our own making.
    pub(super) figures: &'a [(&'static str, String)],
}

/// The whole page.
pub(super) fn page(filling: &Filling<'_>) -> String {
    let figures: String = filling
        .figures
        .iter()
        .flat_map(|(name, svg)| ["<template id=\"figure-", name, "\">", svg, "</template>\n"])
        .collect();
    let parts = [
        ("policy", policy()),
        ("style", STYLE.to_owned()),
        ("headline", escaped(filling.headline)),
        ("verdict", escaped(filling.verdict)),
        // The only way out of a script is a tag, and no tag begins without this sign.
        ("meta", filling.meta.replace('<', "\\u003c")),
        ("columns", filling.columns.to_owned()),
        ("stories", filling.stories.to_owned()),
        ("figures", figures),
        ("script", SCRIPT.to_owned()),
    ];
    // Each place is filled once, from the left: what fills one is never searched for another.
    let mut page = String::new();
    let mut rest = SHELL;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text));
        rest = behind;
    }
    page + rest
}

/// Nothing may be loaded, sent or run but the style and the script of this page, known by their hashes.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_place_cannot_leave_it() {
        let hostile = "</script><img src=x onerror=alert(1)>{{script}}";
        let meta = serde_json::json!({ "id": hostile }).to_string();
        let filling =
            Filling { headline: hostile, verdict: hostile, meta: &meta, columns: "", stories: "", figures: &[] };
        let page = page(&filling);
        assert_eq!(page.matches("</script>").count(), 4, "the shell's own");
        assert_eq!(page.matches("<img").count(), 0);
        assert_eq!(page.matches("'use strict'").count(), 1);
    }

    #[test]
    fn the_shell_has_no_style_or_handler_of_its_own_beside_the_hashed_ones() {
        assert!(!SHELL.contains("style=") && !SHELL.contains(" on"), "the policy would block it");
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("</script"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
