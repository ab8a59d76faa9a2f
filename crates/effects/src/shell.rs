//! Parses a shell command, and finds its simple commands at any depth and the files it writes.

use std::collections::{BTreeMap, BTreeSet};

use rable::{Node, NodeKind};

use crate::command::{self, CommandContext, CommandInput, CommandStep};
use crate::parts::{CallEffect, CombinedEffect};
use crate::powershell::{self, ScriptAction, ShellDialect};
use crate::scripts::ScriptEffects;
use crate::tables::CodeLanguage;
use crate::words::{CommandWord, shortened};
use crate::{Effect, EffectTable, code, path};

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

/// A longer command, in bytes, could nest deeper than a worker thread's stack allows.
const LONGEST_ON_STACK: usize = 400;

/// Enough for the thousand levels at which the parser gives up, even without optimisation.
const STACK_BYTES: usize = 64 << 20;

/// Scripts longer than this, in bytes, are not searched.
const LONGEST_SCRIPT: usize = 1 << 20;

const TOO_DEEP: &str = "nested too deep to be followed";

/// The effect of a shell command. Scripts it writes are added to `scripts`.
pub(crate) fn effect(text: &str, table: &EffectTable, scripts: &mut ScriptEffects) -> CallEffect {
    if text.len() <= LONGEST_ON_STACK {
        return effect_within(0, text, table, scripts);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, || effect_within(0, text, table, scripts)) {
            Ok(thread) => thread.join().ok(),
            Err(_) => None,
        }
    })
    .unwrap_or_else(|| CallEffect::new(Effect::Unknown, "the system has no room to parse the command"))
}

/// The effect of a command within so many shells, on this thread.
fn effect_within(depth: usize, text: &str, table: &EffectTable, scripts: &mut ScriptEffects) -> CallEffect {
    let mut shell = Shell::new(table, scripts);
    shell.depth = depth;
    shell.script(text);
    shell.parts.combined()
}

/// The effect of a command for PowerShell.
pub(crate) fn effect_in_powershell(text: &str, table: &EffectTable, scripts: &mut ScriptEffects) -> CallEffect {
    if let Some(why) = beyond_limits(text) {
        return CallEffect::new(Effect::Unknown, why);
    }
    let mut shell = Shell::new(table, scripts);
    shell.depth += 1;
    shell.acts(powershell::acts(text, ShellDialect::PowerShell))
}

/// Records that `text` was written to each of `files`, within so many shells, and searches it once for each language.
pub(crate) fn record_scripts(
    depth: usize,
    files: &[&str],
    text: &str,
    table: &EffectTable,
    scripts: &mut ScriptEffects,
) {
    if text.len() > LONGEST_SCRIPT {
        return;
    }
    let by_first_line = CodeLanguage::from_first_line(text);
    let mut known = BTreeMap::new();
    for file in files {
        let Some(language) = CodeLanguage::from_file_name(file).or(by_first_line) else { continue };
        let effect = known.entry(language).or_insert_with(|| script_effect(depth, text, language, table));
        scripts.record(file, effect.clone());
    }
}

/// What running a script does: at least a check.
fn script_effect(depth: usize, text: &str, language: CodeLanguage, table: &EffectTable) -> CallEffect {
    let call = match language {
        CodeLanguage::Shell if depth == 0 => effect(text, table, &mut ScriptEffects::default()),
        // A thread for each script within a script would be as many as somebody likes.
        CodeLanguage::Shell => effect_within(depth, text, table, &mut ScriptEffects::default()),
        language => code::effect(text, language),
    };
    if call.effect < Effect::Check { CallEffect::new(Effect::Check, call.why) } else { call }
}

/// Why `text` is not parsed, if it is too long or may nest too deep.
fn beyond_limits(text: &str) -> Option<&'static str> {
    let joints = text.bytes().filter(|byte| matches!(byte, b';' | b'&' | b'|' | b'\n')).count();
    if text.len() > LONGEST || joints > MOST_JOINTS {
        return Some("too long to be followed");
    }
    if is_too_deep(text) || brace_reads(text) > MOST_READ { Some(TOO_DEEP) } else { None }
}

/// At most so many bytes are read by the parser in search of the ends of brace expansions (`{a,b}`): from each brace to the
/// end of its word, and for each byte all the quotes, escapes and expansions in this word.
fn brace_reads(text: &str) -> usize {
    let (mut reads, mut braces, mut spans, mut length) = (0_usize, 0_usize, 1_usize, 0_usize);
    let (mut quote, mut in_backticks, mut depth) = (None, false, 0_usize);
    let mut bytes = text.bytes().peekable();
    let mut previous = b' ';
    while let Some(byte) = bytes.next() {
        length += 1;
        match (quote, byte) {
            (Some(b'\''), b'\'') | (Some(b'"'), b'"') => quote = None,
            (None | Some(b'"'), b'\\') => {
                spans += 1;
                length += usize::from(bytes.next().is_some());
            }
            (None, b'\'' | b'"') => {
                spans += 1;
                quote = Some(byte);
            }
            (None, b'{') => braces += usize::from(previous != b'$'),
            (None, b'$') => spans += 1,
            (None, b'`') => {
                spans += 1;
                in_backticks = !in_backticks;
            }
            (None, b'(') => depth += usize::from(depth > 0 || matches!(previous, b'$' | b'<' | b'>' | b'=')),
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&') if depth == 0 && !in_backticks => {
                reads = reads.saturating_add(braces.saturating_mul(length).saturating_mul(spans));
                (braces, spans, length) = (0, 1, 0);
            }
            _ => {}
        }
        previous = byte;
    }
    reads.saturating_add(braces.saturating_mul(length).saturating_mul(spans))
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

/// The analysis of one shell command.
struct Shell<'t> {
    table: &'t EffectTable,
    /// Scripts that the run has written so far.
    scripts: &'t mut ScriptEffects,
    parts: CombinedEffect,
    functions: BTreeSet<String>,
    /// How many shells the current one is within.
    depth: usize,
    /// How many commands the current one is within.
    within: usize,
}

impl<'t> Shell<'t> {
    fn new(table: &'t EffectTable, scripts: &'t mut ScriptEffects) -> Self {
        Self { table, scripts, parts: CombinedEffect::default(), functions: BTreeSet::new(), depth: 0, within: 0 }
    }

    /// Adds the effects of a script's commands.
    fn script(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if let Some(why) = beyond_limits(text) {
            self.parts.push(Effect::Unknown, why);
            return;
        }
        if self.depth >= MOST_SHELLS {
            self.parts.push(Effect::Unknown, TOO_DEEP);
            return;
        }
        self.depth += 1;
        if powershell::looks_like(text) {
            self.other_shell(text, ShellDialect::PowerShell);
        } else if let Ok(nodes) = rable::parse(text, false) {
            for node in &nodes {
                self.node(node, false);
            }
        } else if let Some(dialect) = powershell::dialect_of_unparsed(text) {
            self.other_shell(text, dialect);
        } else {
            self.parts.push(Effect::Unknown, "the command cannot be parsed");
        }
        self.depth -= 1;
    }

    /// Adds the effect of a script for PowerShell or `cmd`.
    fn other_shell(&mut self, text: &str, dialect: ShellDialect) {
        let call = self.acts(powershell::acts(text, dialect));
        self.parts.add(call);
    }

    /// The combined effect of what a script for PowerShell or `cmd` does.
    fn acts(&mut self, acts: Vec<ScriptAction>) -> CallEffect {
        let mut parts = CombinedEffect::default();
        for act in acts {
            match act {
                ScriptAction::Effect(call) => parts.add(call),
                ScriptAction::Text { file, text } => {
                    record_scripts(self.depth, &[&file], &text, self.table, self.scripts);
                }
                ScriptAction::Command { words, input, piped, is_assigned } => {
                    let before = std::mem::take(&mut self.parts);
                    self.command(&words, CommandInput { input: input.as_deref(), piped });
                    let call = std::mem::replace(&mut self.parts, before).combined();
                    if is_assigned && call.effect == Effect::Read {
                        parts.push(Effect::Read, powershell::SETS_VARIABLES);
                    } else {
                        parts.add(call);
                    }
                }
            }
        }
        parts.combined()
    }

    /// Adds the effect of a simple command, unless it is within too many others.
    fn command(&mut self, words: &[CommandWord], given: CommandInput<'_>) {
        if self.within >= MOST_COMMANDS {
            self.parts.push(Effect::Unknown, TOO_DEEP);
            return;
        }
        self.within += 1;
        let known = CommandContext { table: self.table, scripts: self.scripts };
        for step in command::steps(known, words, given) {
            match step {
                CommandStep::Effect(call) => self.parts.add(call),
                CommandStep::Script(text) => self.script(&text),
                CommandStep::Command(inner, given) => self.command(inner, given),
            }
        }
        self.within -= 1;
    }

    fn node(&mut self, node: &Node, piped: bool) {
        match &node.kind {
            NodeKind::Command { assignments, words, redirects, .. } => {
                self.all_expansions(assignments);
                self.simple(words, redirects, piped);
            }
            NodeKind::Pipeline { commands, .. } => {
                for (nth, command) in commands.iter().enumerate() {
                    self.node(command, piped || nth > 0);
                }
            }
            NodeKind::List { items } => {
                for item in items {
                    self.node(&item.command, piped);
                }
            }
            NodeKind::Case { word, patterns, redirects } => {
                self.expansions(word);
                for pattern in patterns {
                    if let Some(body) = &pattern.body {
                        self.node(body, piped);
                    }
                }
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
            _ => self.block(node, piped),
        }
    }

    /// Adds the effects of a branch, a loop or a group.
    fn block(&mut self, node: &Node, piped: bool) {
        match &node.kind {
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
                self.all_expansions(words.as_deref().unwrap_or_default());
                self.node(body, piped);
                self.redirects(redirects);
            }
            NodeKind::ForArith { body, redirects, .. }
            | NodeKind::Subshell { body, redirects }
            | NodeKind::BraceGroup { body, redirects } => {
                self.node(body, piped);
                self.redirects(redirects);
            }
            _ => self.expansions(node),
        }
    }

    fn simple(&mut self, words: &[Node], redirects: &[Node], piped: bool) {
        self.all_expansions(words);
        let input = redirects.iter().find_map(given_text);
        let written = self.redirects(redirects);
        let words: Vec<CommandWord> = words.iter().map(word).collect();
        let Some(first) = words.first() else {
            self.parts.push(Effect::Read, "sets variables");
            return;
        };
        if let Some(text) = &input
            && matches!(first.text.as_str(), "cat" | "tee" | "printf" | "echo")
        {
            let mut files: Vec<&str> = written.iter().map(String::as_str).collect();
            if first.text == "tee" {
                files.extend(words[1..].iter().map(|word| word.text.as_str()));
            }
            record_scripts(self.depth, &files, text, self.table, self.scripts);
        }
        if !self.functions.contains(&first.text) {
            self.command(&words, CommandInput { input: input.as_deref(), piped });
        }
    }

    fn all_expansions(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.expansions(node);
        }
    }

    /// Adds the commands in expansions: `$(…)`, `<(…)` and the like.
    fn expansions(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Word { parts, .. } => self.all_expansions(parts),
            NodeKind::Array { elements } => self.all_expansions(elements),
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
                    if writes_file(op, &target) {
                        let why = format!("writes `{}`", shortened(&target));
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
        if self.depth < MOST_SHELLS
            && beyond_limits(&quoted).is_none()
            && let Ok(nodes) = rable::parse(&quoted, false)
        {
            self.depth += 1;
            for node in &nodes {
                self.node(node, false);
            }
            self.depth -= 1;
        } else {
            self.parts.push(Effect::Unknown, "a here-document that runs commands");
        }
    }
}

/// True for a redirection into a file.
fn writes_file(operator: &str, target: &str) -> bool {
    let writes = match operator {
        ">" | ">>" | ">|" | "&>" | "&>>" | "<>" => true,
        // `2>&1` and `>&-` are about streams.
        ">&" => !target.chars().all(|c| c.is_ascii_digit() || c == '-'),
        _ => false,
    };
    writes && !path::is_sink(target)
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
fn word(node: &Node) -> CommandWord {
    let NodeKind::Word { value, parts, .. } = &node.kind else {
        return CommandWord { text: String::new(), varies: true };
    };
    let varies = parts.iter().any(|part| {
        !matches!(part.kind, NodeKind::WordLiteral { .. } | NodeKind::AnsiCQuote { .. } | NodeKind::LocaleString { .. })
    });
    CommandWord { text: unquoted(value), varies }
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

#[cfg(test)]
mod tests {
    use super::{MOST_READ, brace_reads};

    #[test]
    fn what_is_read_in_search_of_braces_is_counted() {
        // Two braces in a word of seven bytes; the quoted part is a second thing to look at for each of them.
        assert_eq!(brace_reads("a{b,c}{"), 14);
        assert_eq!(brace_reads("a{b'c'{"), 28);
        assert_eq!(brace_reads("'{{{' \"{\" ${a} \\{"), 0);
        assert_eq!(brace_reads("a{b,c} {d"), 7 + 2);
        assert_eq!(brace_reads("{$(a b){"), 2 * 8 * 2);
        // `n` braces are read `n` times.
        for (n, is_followed) in [(1_000, true), (3_000, true), (3_200, false), (50_000, false)] {
            let text = "{".repeat(n);
            assert_eq!(brace_reads(&text), n * n);
            assert_eq!(brace_reads(&text) <= MOST_READ, is_followed, "{n}");
        }
        let words = "{ a; } ".repeat(10_000);
        assert!(brace_reads(&words) < words.len(), "braces in words of their own");
    }
}
