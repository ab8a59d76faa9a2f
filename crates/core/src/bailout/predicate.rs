//! The three stuck checks of the agentao page, over the last messages of a history.
//!
//! A window counts messages, not tool results: a call and its result are two messages. It follows Python's
//! `messages[-window:]`: 0 takes the whole history, and a negative window drops that many messages from the front.

use std::borrow::Cow;

use super::{History, HistoryEntry, Speaker};

/// How many of the latest messages to look at, with the meaning of Python's `messages[-window:]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub i64);

impl Window {
    /// The messages in the window, oldest first.
    pub fn within(self, history: &dyn History) -> impl Iterator<Item = HistoryEntry<'_>> + '_ {
        let len = history.len();
        let wanted = usize::try_from(self.0.unsigned_abs()).unwrap_or(usize::MAX);
        let from = match self.0 {
            1.. => len.saturating_sub(wanted),
            _ => wanted.min(len),
        };
        (from..len).filter_map(|index| history.entry(index))
    }

    fn tools(self, history: &dyn History) -> impl Iterator<Item = HistoryEntry<'_>> + '_ {
        self.within(history).filter(|entry| entry.speaker == Speaker::Tool)
    }
}

/// True if the share of the most frequent tool is at least `threshold`. False without tool results.
pub fn one_tool(history: &dyn History, window: Window, threshold: f64) -> bool {
    let mut counts: Vec<(Option<Cow<'_, str>>, usize)> = Vec::new();
    let mut total = 0_usize;
    for entry in window.tools(history) {
        total += 1;
        match counts.iter_mut().find(|(name, _)| *name == entry.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((entry.name, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    total > 0 && most as f64 / total as f64 >= threshold
}

/// True if every tool result contains the word `Error`. False without tool results.
pub fn all_errors(history: &dyn History, window: Window) -> bool {
    let mut any = false;
    let all = window.tools(history).all(|entry| {
        any = true;
        entry.mentions_error
    });
    any && all
}

/// True if the agent has written no text. True for an empty history.
pub fn no_text_progress(history: &dyn History, window: Window) -> bool {
    !window.within(history).any(|entry| entry.speaker == Speaker::Assistant && entry.has_content)
}
