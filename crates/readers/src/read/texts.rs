//! Texts that several formats put together in the same way.

use std::borrow::Borrow;
use std::fmt::Display;

use crate::transcript::Text;

/// The texts, one after the other on lines of their own; `None` if there are none.
pub(crate) fn lines(texts: &[impl Borrow<str>]) -> Option<Text> {
    if texts.is_empty() { None } else { Some(Text::plain(texts.join("\n"))) }
}

/// A text, and on a line of its own what was said after it; an empty text before it counts as none.
pub(crate) fn followed(before: Option<Text>, more: Option<Text>) -> Option<Text> {
    let Some(more) = more else { return before };
    match before {
        Some(before) if !before.is_empty() => Some(Text::plain(format!("{}\n{}", before.as_str(), more.as_str()))),
        _ => Some(more),
    }
}

/// The name of an agent, with its version if that is known.
pub(crate) fn agent_name(agent: &str, version: Option<impl Display>) -> String {
    match version {
        Some(version) => format!("{agent} {version}"),
        None => agent.to_owned(),
    }
}
