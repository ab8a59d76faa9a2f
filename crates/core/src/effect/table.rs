//! The effects that a stack file adds to the built-in tables.

use super::shell::Word;
use super::{Effect, tools, words};

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
    pub(super) fn tool(&self, name: &str) -> Option<Effect> {
        self.tools.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, effect)| *effect)
    }

    /// The effect the file gives a command.
    pub(super) fn command(&self, words: &[Word]) -> Option<Effect> {
        let begins = |first: &[String]| {
            !first.is_empty()
                && first.len() <= words.len()
                && first.iter().zip(words).all(|(pattern, word)| matches(pattern, &word.text))
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
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

/// The built-in tables as readable text.
pub fn manual() -> String {
    let mut lines = vec![
        "effects: what a tool call does".to_owned(),
        String::new(),
        "edit      changes files or state that someone keeps".to_owned(),
        "handover  gives the work to others: commit, push, pull request, submission, deployment, booking".to_owned(),
        "check     runs tests, builds, linters, a program".to_owned(),
        "delegate  starts a sub-agent, whose effects are its own".to_owned(),
        "plan      keeps the agent's own list, thinks, asks".to_owned(),
        "read      looks".to_owned(),
        "unknown   cannot be told from the call: counted as an interval".to_owned(),
        String::new(),
        "Shell commands are parsed; the strongest part decides, in this order: handover, edit, delegate, check, unknown,".to_owned(),
        "plan, read. A redirection into a file is an edit. A script that the run wrote itself does what its text does. Tools".to_owned(),
        "not named here are told by the verb in their name (`get_order` reads, `update_order` edits), else unknown.".to_owned(),
        String::new(),
        "A stack file adds lines, which come first:".to_owned(),
        String::new(),
        "  [effects]".to_owned(),
        "  \"mcp__jira__*\" = \"handover\"   # tools, `*` for any text".to_owned(),
        "  \"$ just ship\" = \"handover\"    # commands that begin so".to_owned(),
    ];
    let mut section = |title: &str, names: &str| {
        lines.push(String::new());
        lines.push(format!("{title}:"));
        let mut line = String::from(" ");
        for name in names.split_ascii_whitespace() {
            if line.len() + name.len() > 98 {
                lines.push(std::mem::replace(&mut line, String::from(" ")));
            }
            line.push(' ');
            line.push_str(name);
        }
        lines.push(line);
    };
    section("tools that run a shell command", tools::SHELLS);
    for (effect, names) in tools::TOOLS {
        section(&format!("tools, {effect}"), names);
    }
    for (effect, names) in words::COMMANDS {
        section(&format!("commands, {effect}"), names);
    }
    lines.push(String::new());
    lines.push("git, gh, package managers, task runners, containers, clouds, databases, curl, sed, awk, find, tar and interpreters".to_owned());
    lines.push("are told by their sub-commands, options and code.".to_owned());
    format!("{}\n", lines.join("\n"))
}
