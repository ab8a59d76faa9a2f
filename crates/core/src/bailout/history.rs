//! The history a bailout reads: messages by index, each reduced to what the stuck checks need.

use std::borrow::Cow;

use crate::transcript::{Lane, Message, PointView, Role};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
    /// Anyone else.
    Other,
}

/// A message as the stuck checks see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry<'a> {
    /// The author.
    pub speaker: Speaker,
    /// The tool's name. All messages without a name count as one tool.
    pub name: Option<Cow<'a, str>>,
    /// Whether it has any content. A single space is content.
    pub has_content: bool,
    /// For a tool result: whether it contains the word `Error` (case-sensitive).
    pub mentions_error: bool,
}

/// A history by index, oldest message first.
pub trait History {
    /// The number of messages.
    fn len(&self) -> usize;

    /// True when there are no messages.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message at `index`; `None` beyond the end.
    fn entry(&self, index: usize) -> Option<HistoryEntry<'_>>;
}

impl History for Vec<HistoryEntry<'_>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn entry(&self, index: usize) -> Option<HistoryEntry<'_>> {
        self.get(index).cloned()
    }
}

/// The agent's history at a point: what the model has been shown, without system messages, a simulated user's tool
/// calls and results, and sub-agents' messages.
#[derive(Clone, Debug)]
pub struct RunHistory<'r> {
    messages: Vec<&'r Message>,
}

impl<'r> RunHistory<'r> {
    /// The history at the view's point.
    pub fn at(view: &PointView<'r>) -> Self {
        Self { messages: view.messages().filter(|message| is_shown(message)).collect() }
    }
}

fn is_shown(message: &Message) -> bool {
    match (&message.lane, message.role) {
        (Lane::Main | Lane::Canned, role) => role != Role::System,
        (Lane::Counterpart, role) => role == Role::User,
        (Lane::Side(_) | Lane::Host, _) => false,
    }
}

impl History for RunHistory<'_> {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn entry(&self, index: usize) -> Option<HistoryEntry<'_>> {
        let message = self.messages.get(index)?;
        let speaker = match message.role {
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
            Role::User | Role::System => Speaker::Other,
        };
        Some(HistoryEntry {
            speaker,
            name: message.name.as_deref().map(Cow::Borrowed),
            has_content: message.has_text(),
            mentions_error: speaker == Speaker::Tool && message.text().contains("Error"),
        })
    }
}

/// Tokens of the history at a point: input plus output of the last model call if it reported them, else an estimate of
/// four bytes per token over all messages.
pub fn rough_tokens(view: &PointView<'_>) -> u64 {
    if let Some(tokens) = view.replies().next_back().and_then(Message::total_tokens) {
        return tokens.0;
    }
    let bytes: usize =
        view.messages().filter(|message| is_shown(message)).map(|message| view.content_bytes(message)).sum();
    (bytes / 4) as u64
}
