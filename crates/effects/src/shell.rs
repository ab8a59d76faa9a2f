//! Parses a shell command, and finds its simple commands at any depth and the files it writes.

use std::collections::BTreeSet;

use rable::{Node, NodeKind};

use super::EffectTable;
use super::parts::{CallEffect, Parts};
use super::reader::Scripts;
use super::{Effect, code, command, path, powershell};

/// A longer command, in bytes, is not parsed: its tree takes up to a kilobyte for each of them.
const LONGEST: usize = 256 << 10;

/// A command with more `;`, `&`, `|` and line ends than this is not parsed: the parser makes `a;b;c` a tree as deep as
/// the list is long, and dropping such a tree recurses.
const MOST_JOINTS: usize = 10_000;

/// A command with more expansions than this is not parsed, because the parser recurses into each.
const MOST_EXPANSIONS: usize = 120;

/// The most bytes that the parser reads of one command, over and over.
const MOST_READ: usize = 10_000_000;

/// Shells within shells (`bash -c "ssh host 'bash -c …'"`) are followed to this depth.
const MOST_SHELLS: usize = 8;

/// Commands within commands (`find -exec docker exec web find -exec …`) are followed to this depth.
const MOST_COMMANDS: usize = 64;

/// A word of a command, without its quotes.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    /// True if part of it comes from a variable or a command.
    pub(super) varies: bool,
}

impl Word {
    /// A literal word.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), varies: false }
    }
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// What a command receives besides its words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given<'n> {
    /// Text on its standard input, if the command line contains it.
    pub(super) input: Option<&'n str>,
    /// True if something is piped into it.
    pub(super) piped: bool,
}

/// The analysis of one shell command.
pub(super) struct Shell<'t> {
    pub(super) table: &'t EffectTable,
    /// Scripts that the run has written so far.
    pub(super) scripts: &'t mut Scripts,
    pub(super) parts: Parts,
    functions: BTreeSet<String>,
    depth: usize,
    /// How many commands the current one is within.
    within: usize,
}

/// A longer command, in bytes, could nest deeper than a worker thread's stack allows.
const LONGEST_ON_STACK: usize = 400;

/// Enough for the thousand levels at which the parser gives up, even without optimisation.
const STACK_BYTES: usize = 64 << 20;

/// The effect of a shell command. Scripts it writes are added to `scripts`.
pub(super) fn effect(text: &str, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    if text.len() <= LONGEST_ON_STACK {
        return effect_here(text, table, scripts);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let told =
            thread.spawn_scoped(scope, || effect_here(text, table, scripts)).map(std::thread::ScopedJoinHandle::join);
        match told {
            Ok(Ok(told)) => told,
            _ => CallEffect::new(Effect::Unknown, "the system has no room to parse the command"),
        }
    })
}

/// The effect of a command for PowerShell.
pub(super) fn effect_in_powershell(text: &str, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    if let Some(why) = beyond_limits(text) {
        return CallEffect::new(Effect::Unknown, why);
    }
    let mut shell = Shell::new(table, scripts);
    shell.depth += 1;
    powershell::effect(text, &mut shell)
}

fn effect_here(text: &str, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    let mut shell = Shell::new(table, scripts);
    shell.script(text);
    shell.parts.told()
}

/// Why `text` is not parsed, if it is too long or may nest too deep.
fn beyond_limits(text: &str) -> Option<&'static str> {
    let joints = text.bytes().filter(|byte| matches!(byte, b';' | b'&' | b'|' | b'\n')).count();
    if text.len() > LONGEST || joints > MOST_JOINTS {
        return Some("too long to be followed");
    }
    is_too_deep(text).then_some("nested too deep to be followed")
}

/// True if `text` has too many expansions to be parsed: the parser reads what is within `n` of them about `n²` times. How
/// many are within each other is seen without regard to quotes, so their number counts too.
fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut deepest, mut expansions) = (0_usize, 0, text.bytes().filter(|byte| *byte == b'`').count() / 2);
    for pair in text.as_bytes().windows(2) {
        match pair {
            b"$(" | b"<(" | b">(" | b"${" | b"((" | b"=(" => {
                (depth, expansions) = (depth + 1, expansions + 1);
                deepest = deepest.max(depth);
            }
            [b')' | b'}', _] => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    expansions > MOST_EXPANSIONS
        || deepest.pow(2) * text.len() > MOST_READ
        || expansions.pow(2) * text.len() > 10 * MOST_READ
}

impl<'t> Shell<'t> {
    fn new(table: &'t EffectTable, scripts: &'t mut Scripts) -> Self {
        Self { table, scripts, parts: Parts::default(), functions: BTreeSet::new(), depth: 0, within: 0 }
    }

    /// Adds the effects of a script's commands.
    pub(super) fn script(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let beyond = beyond_limits(text);
        if self.depth >= MOST_SHELLS || beyond.is_some() {
            self.parts.push(Effect::Unknown, beyond.unwrap_or("nested too deep to be followed"));
            return;
        }
        self.depth += 1;
        if powershell::looks_like(text) {
            let told = powershell::effect(text, self);
            self.parts.add(told);
        } else {
            match rable::parse(text, false) {
                Ok(nodes) => nodes.iter().for_each(|node| self.node(node, false)),
                Err(_) => match powershell::effect_of_other_shell(text, self) {
                    Some(told) => self.parts.add(told),
                    None => self.parts.push(Effect::Unknown, "the command cannot be parsed"),
                },
            }
        }
        self.depth -= 1;
    }

    /// Adds the effect of a simple command, unless it is within too many others.
    pub(super) fn command(&mut self, words: &[Word], given: Given<'_>) {
        if self.within >= MOST_COMMANDS {
            self.parts.push(Effect::Unknown, "nested too deep to be followed");
            return;
        }
        self.within += 1;
        command::run(self, words, given);
        self.within -= 1;
    }

    fn node(&mut self, node: &Node, piped: bool) {
        match &node.kind {
            NodeKind::Command { assignments, words, redirects, .. } => {
                for word in assignments {
                    self.expansions(word);
                }
                self.simple(words, redirects, piped);
            }
            NodeKind::Pipeline { commands, .. } => {
                for (nth, command) in commands.iter().enumerate() {
                    self.node(command, piped || nth > 0);
                }
            }
            NodeKind::List { items } => items.iter().for_each(|item| self.node(&item.command, piped)),
            NodeKind::If { condition, then_body, else_body, redirects } => {
                self.node(condition, false);
                self.node(then_body, piped);
                if let Some(body) = else_body {
                    self.node(body, piped);
                }
                self.redirects(redirects);
            }
            NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
                self.node(condition, piped);
                self.node(body, piped);
                self.redirects(redirects);
            }
            NodeKind::For { words, body, redirects, .. } | NodeKind::Select { words, body, redirects, .. } => {
                words.iter().flatten().for_each(|word| self.expansions(word));
                self.node(body, piped);
                self.redirects(redirects);
            }
            NodeKind::ForArith { body, redirects, .. }
            | NodeKind::Subshell { body, redirects }
            | NodeKind::BraceGroup { body, redirects } => {
                self.node(body, piped);
                self.redirects(redirects);
            }
            NodeKind::Case { word, patterns, redirects } => {
                self.expansions(word);
                patterns.iter().filter_map(|pattern| pattern.body.as_ref()).for_each(|body| self.node(body, piped));
                self.redirects(redirects);
            }
            NodeKind::Function { name, body } => {
                self.functions.insert(name.clone());
                self.node(body, piped);
            }
            NodeKind::Coproc { command, .. } => self.node(command, piped),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => self.node(pipeline, piped),
            NodeKind::ConditionalExpr { redirects, .. } | NodeKind::ArithmeticCommand { redirects, .. } => {
                self.parts.push(Effect::Read, "a test");
                self.redirects(redirects);
            }
            NodeKind::Empty | NodeKind::Comment { .. } => {}
            _ => self.expansions(node),
        }
    }

    fn simple(&mut self, words: &[Node], redirects: &[Node], piped: bool) {
        for word in words {
            self.expansions(word);
        }
        let input = redirects.iter().find_map(given_text);
        let targets = self.redirects(redirects);
        let words: Vec<Word> = words.iter().map(word).collect();
        let Some(first) = words.first() else {
            self.parts.push(Effect::Read, "sets variables");
            return;
        };
        let writer = matches!(first.text.as_str(), "cat" | "tee" | "printf" | "echo");
        if let (true, Some(text)) = (writer, input.as_deref()) {
            let tee = words[1..].iter().map(|word| word.text.as_str()).filter(|_| first.text == "tee");
            self.scripts.wrote(targets.iter().map(String::as_str).chain(tee), text, self.table);
        }
        if self.functions.contains(&first.text) {
            return;
        }
        self.command(&words, Given { input: input.as_deref(), piped });
    }

    /// Adds the commands in expansions: `$(…)`, `<(…)` and the like.
    fn expansions(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Word { parts, .. } => parts.iter().for_each(|part| self.expansions(part)),
            NodeKind::Array { elements } => elements.iter().for_each(|part| self.expansions(part)),
            NodeKind::CommandSubstitution { command, .. } | NodeKind::ProcessSubstitution { command, .. } => {
                self.node(command, false);
            }
            NodeKind::ParamExpansion { arg: Some(arg), .. } | NodeKind::ParamIndirect { arg: Some(arg), .. }
                if (arg.contains("$(") || arg.contains('`')) =>
            {
                self.parts.push(Effect::Unknown, "a command within an expansion");
            }
            _ => {}
        }
    }

    /// Adds the effects of redirections and returns the files they write.
    fn redirects(&mut self, redirects: &[Node]) -> Vec<String> {
        let mut written = Vec::new();
        for redirect in redirects {
            match &redirect.kind {
                NodeKind::Redirect { op, target, .. } => {
                    self.expansions(target);
                    let target = word(target).text;
                    let opens = matches!(op.as_str(), ">" | ">>" | ">|" | "&>" | "&>>" | "<>")
                        || (op == ">&" && !target.chars().all(|c| c.is_ascii_digit() || c == '-'));
                    if opens && !path::is_sink(&target) {
                        let why = format!("writes `{}`", code::shortened(&target));
                        self.parts.add(CallEffect::new(Effect::Edit, why).touching(vec![target.clone()]));
                        written.push(target);
                    }
                }
                NodeKind::HereDoc { content, quoted: false, .. } => self.expanded_text(content),
                _ => {}
            }
        }
        written
    }

    /// Adds the commands expanded in an unquoted here-document.
    fn expanded_text(&mut self, text: &str) {
        if !text.contains("$(") && !text.contains('`') {
            return;
        }
        let quoted = format!(": \"{}\"", text.replace('"', ""));
        let followed = self.depth < MOST_SHELLS && beyond_limits(&quoted).is_none();
        match followed.then(|| rable::parse(&quoted, false)) {
            Some(Ok(nodes)) => {
                self.depth += 1;
                for node in &nodes {
                    self.node(node, false);
                }
                self.depth -= 1;
            }
            _ => self.parts.push(Effect::Unknown, "a here-document that runs commands"),
        }
    }
}

/// The text of a here-document or here-string.
fn given_text(redirect: &Node) -> Option<String> {
    match &redirect.kind {
        NodeKind::HereDoc { content, .. } => Some(content.clone()),
        NodeKind::Redirect { op, target, .. } if op == "<<<" => Some(word(target).text),
        _ => None,
    }
}

/// A word without its quotes.
fn word(node: &Node) -> Word {
    let NodeKind::Word { value, parts, .. } = &node.kind else { return Word { text: String::new(), varies: true } };
    let varies = parts.iter().any(|part| {
        !matches!(part.kind, NodeKind::WordLiteral { .. } | NodeKind::AnsiCQuote { .. } | NodeKind::LocaleString { .. })
    });
    Word { text: unquoted(value), varies }
}

fn unquoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    let (mut single, mut double) = (false, false);
    while let Some(character) = characters.next() {
        match character {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '$' if !single && !double && matches!(characters.peek(), Some('\'' | '"')) => {}
            '\\' if !single => match characters.next() {
                Some('\n') | None => {}
                // In double quotes a backslash escapes only these characters; elsewhere `C:\dir` is more likely a path.
                Some(next @ ('"' | '\\' | '$' | '`')) => text.push(next),
                Some(next) if double || next.is_alphanumeric() || next == '.' => text.extend(['\\', next]),
                Some(next) => text.push(next),
            },
            _ => text.push(character),
        }
    }
    text
}
