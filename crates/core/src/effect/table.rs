//! The effects that a stack file adds to the built-in tables.

use super::Effect;

/// Effects of tools and commands given in a stack file; they take precedence over the built-in tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectTable {
    /// Patterns of tool names (`*` stands for any text) with their effects, in file order.
    tools: Vec<(String, Effect)>,
    /// The first words of commands with their effects.
    commands: Vec<(Vec<String>, Effect)>,
}

impl EffectTable {
    /// Adds a line: `mcp__jira__*` matches tool names, `$ just deploy` matches commands that begin with those words.
    /// Earlier lines take precedence.
    pub fn add(&mut self, pattern: &str, effect: Effect) {
        match pattern.strip_prefix('$') {
            Some(words) => self.commands.push((words.split_whitespace().map(str::to_owned).collect(), effect)),
            None => self.tools.push((pattern.to_owned(), effect)),
        }
    }

    /// Adds the lines of another table, with lower precedence.
    pub fn extend(&mut self, other: &Self) {
        self.tools.extend(other.tools.iter().cloned());
        self.commands.extend(other.commands.iter().cloned());
    }

    /// True if only the built-in tables apply.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.commands.is_empty()
    }

    /// The effect the file gives a tool.
    pub fn tool(&self, name: &str) -> Option<Effect> {
        self.tools.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, effect)| *effect)
    }

    /// The effect the file gives a command, given as its words.
    pub fn command(&self, words: &[impl AsRef<str>]) -> Option<Effect> {
        let begins = |first: &[String]| {
            !first.is_empty()
                && first.len() <= words.len()
                && first.iter().zip(words).all(|(pattern, word)| matches(pattern, word.as_ref()))
        };
        self.commands.iter().find(|(first, _)| begins(first)).map(|(_, effect)| *effect)
    }
}

/// True if `name` matches `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = rest.find(before) else { return false };
            rest = &rest[at + before.len()..];
        }
    }
    match last {
        Some(last) => rest.ends_with(last),
        None => rest.is_empty(),
    }
}
