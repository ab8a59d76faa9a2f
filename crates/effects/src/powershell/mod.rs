//! PowerShell and `cmd` commands, which a bash parser cannot read. They are split into the elements of their pipelines,
//! and each element is classified by its verb.

mod elements;

use std::collections::BTreeMap;

pub(crate) use elements::ShellDialect;

use crate::parts::CallEffect;
use crate::tables::tables;
use crate::words::{CommandWord, shortened, spelled};
use crate::{Effect, path};
use elements::{PipelineElement, Token};

/// The most bytes of a variable's value that are put in its place.
const LONGEST_VALUE: usize = 1 << 10;

/// Why an assignment whose value only reads has its effect.
pub(crate) const SETS_VARIABLES: &str = "sets variables";

/// What a part of a script does, in the order in which it happens.
pub(crate) enum ScriptAction {
    Effect(CallEffect),
    /// It runs a program. If its result `is_assigned`, a program that only reads counts as an assignment.
    Command {
        words: Vec<CommandWord>,
        input: Option<String>,
        piped: bool,
        is_assigned: bool,
    },
    /// It writes a constant text to a file.
    Text {
        file: String,
        text: String,
    },
}

/// True if `text` is PowerShell rather than a Unix shell: a command named `Verb-Noun`, PowerShell's variables, or a
/// here-string.
pub(crate) fn looks_like(text: &str) -> bool {
    // PowerShell has no here-documents; a shell's may hold a script for PowerShell.
    let may_be = has_a_sign(text) && !text.contains("<<");
    may_be && elements::elements(text, ShellDialect::PowerShell).iter().any(is_powershell)
}

/// Whether there is anything by which [`is_powershell`] knows an element: most commands need not be taken apart.
fn has_a_sign(text: &str) -> bool {
    // A backtick may stand before any letter.
    let begins_noun = |byte: u8| byte.is_ascii_uppercase() || byte == b'`';
    let names_cmdlet = || text.as_bytes().windows(2).any(|pair| pair[0] == b'-' && begins_noun(pair[1]));
    (text.contains('$') && text.contains(['=', ':'])) || text.contains("]::") || names_cmdlet()
}

fn is_powershell(element: &PipelineElement) -> bool {
    let Some(first) = element.words.first() else { return false };
    if first.quoted || element.names {
        return false;
    }
    let text = first.text.as_str();
    let assigns = text.starts_with('$') && element.words.get(1).is_some_and(|word| word.text == "=");
    assigns || is_cmdlet(text) || text.starts_with("$env:") || (text.starts_with('[') && text.contains("]::"))
}

/// True for names such as `Get-ChildItem`: a capitalised verb, a hyphen and a capitalised noun.
fn is_cmdlet(word: &str) -> bool {
    let Some((verb, noun)) = word.split_once('-') else { return false };
    verb.len() > 2
        && verb.starts_with(|c: char| c.is_ascii_uppercase())
        && verb.chars().all(|c| c.is_ascii_alphabetic())
        && noun.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The dialect of a command that bash cannot parse but that may be `cmd`, whose `&` and `2>nul` mean something else
/// there. `None` if it is not for Windows.
pub(crate) fn dialect_of_unparsed(text: &str) -> Option<ShellDialect> {
    if text.contains("$LASTEXITCODE") {
        Some(ShellDialect::PowerShell)
    } else if text.contains(":\\") || text.contains('%') || text.contains("2>nul") {
        Some(ShellDialect::Cmd)
    } else {
        None
    }
}

/// What a script does.
pub(crate) fn acts(text: &str, dialect: ShellDialect) -> Vec<ScriptAction> {
    let mut session = ScriptState { dialect, constants: BTreeMap::new(), text: None, acts: Vec::new() };
    for element in elements::elements(text, dialect) {
        let input = session.text.take().filter(|_| element.piped);
        session.redirections(&element);
        session.element(&element, input);
    }
    session.acts
}

/// What the elements of a script share.
struct ScriptState {
    dialect: ShellDialect,
    /// The values of variables that are short constants, by name in lower case.
    constants: BTreeMap<String, String>,
    /// The text that the element before is, if it is one: what a `|` gives to the next.
    text: Option<String>,
    acts: Vec<ScriptAction>,
}

impl ScriptState {
    fn push(&mut self, effect: Effect, why: impl Into<String>) {
        self.acts.push(ScriptAction::Effect(CallEffect::new(effect, why)));
    }

    /// Adds the files that an element is redirected into.
    fn redirections(&mut self, element: &PipelineElement) {
        for file in &element.written {
            if path::is_sink(file) {
                continue;
            }
            let call = CallEffect::new(Effect::Edit, format!("writes `{}`", shortened(file)));
            self.acts.push(ScriptAction::Effect(call.touching(vec![file.clone()])));
            if let [only] = &element.words[..]
                && only.quoted
            {
                self.acts.push(ScriptAction::Text { file: file.clone(), text: only.text.clone() });
            }
        }
    }

    /// Adds what the words of an element do.
    fn element(&mut self, element: &PipelineElement, mut input: Option<String>) {
        let (mut words, mut names) = (&element.words[..], element.names);
        let mut is_assigned = false;
        while let Some(first) = words.first() {
            if let Some(value) = assigned(words, names) {
                self.remember(first, value);
                (words, names, is_assigned, input) = (value, false, true, None);
                continue;
            }
            if names {
                return self.push(Effect::Read, "names");
            }
            let lower = first.text.to_ascii_lowercase();
            if matches!(lower.as_str(), "&" | "." | "call") && words.len() > 1 && !first.quoted {
                return self.call(&words[1..], element.piped, input, is_assigned);
            }
            if self.is_expression(first, &lower) {
                return self.expression(words, &lower, is_assigned);
            }
            let keyword = lower.strip_suffix("(…)").unwrap_or(&lower);
            let inner = if first.quoted { Some(words) } else { after_keyword(words, keyword, self.dialect) };
            match inner {
                Some(inner) if inner.len() < words.len() => words = inner,
                Some(_) => return self.command(words, element.piped, input, is_assigned),
                None => break,
            }
        }
        if is_assigned {
            self.push(Effect::Read, SETS_VARIABLES);
        }
    }

    /// Notes the value of a variable, if it is a short constant.
    fn remember(&mut self, variable: &Token, value: &[Token]) {
        if let ([only], Some(name)) = (value, variable.text.strip_prefix('$'))
            && !only.varies
            && only.text.len() <= LONGEST_VALUE
        {
            self.constants.insert(name.to_ascii_lowercase(), only.text.clone());
        }
    }

    /// True for an expression, such as `$x.Count`, `'a','b'` or `1..5`; false for a command.
    fn is_expression(&self, first: &Token, lower: &str) -> bool {
        if first.quoted && self.dialect == ShellDialect::PowerShell {
            return true;
        }
        let is_path = lower.starts_with(".\\") || lower.starts_with("./") || lower.starts_with("..");
        if lower.starts_with(['$', '[', '-', '!', ',', '(', '{', '@', '<', '+', '=', '*']) && !is_path {
            return true;
        }
        let number = lower.trim_end_matches(['k', 'm', 'g', 'b']);
        lower.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || ".,-+*/x".contains(c))
    }

    /// Adds the effect of an expression.
    fn expression(&mut self, words: &[Token], lower: &str, is_assigned: bool) {
        match words {
            [only] if only.quoted && self.dialect == ShellDialect::PowerShell => self.text = Some(only.text.clone()),
            _ => {
                if let Some(name) = lower.strip_prefix('$')
                    && let Some(value) = self.constants.get(name)
                {
                    self.text = Some(value.clone());
                }
            }
        }
        for word in words {
            if !word.quoted && writes_by_method(&word.text) {
                return self.push(Effect::Edit, format!("`{}`", shortened(&word.text)));
            }
        }
        self.push(Effect::Read, if is_assigned { SETS_VARIABLES } else { "an expression" });
    }

    /// Adds the effect of what `&` calls.
    fn call(&mut self, words: &[Token], piped: bool, input: Option<String>, is_assigned: bool) {
        match words.first() {
            // A block was classified by its commands.
            Some(first) if first.text == "{…}" => {
                self.push(Effect::Read, if is_assigned { SETS_VARIABLES } else { "a block" });
            }
            _ => self.command(words, piped, input, is_assigned),
        }
    }

    fn command(&mut self, words: &[Token], piped: bool, input: Option<String>, is_assigned: bool) {
        let words: Vec<CommandWord> = words.iter().map(|token| self.word(token)).collect();
        let Some((first, rest)) = words.split_first() else { return };
        let lower = path::program(&first.text);
        let asks = rest.last().is_some_and(|word| matches!(word.text.as_str(), "-?" | "/?"));
        let powershell = &tables().powershell;
        let call = if asks {
            CallEffect::new(Effect::Read, format!("`{}`", spelled(&words, 2)))
        } else if let Some(effect) = powershell.aliases.effect(&lower) {
            CallEffect::new(effect, format!("`{}`", spelled(&words, 2)))
        } else if is_cmdlet(&first.text) || (lower.contains('-') && powershell.looking_cmdlets.has(&lower)) {
            self.cmdlet(&lower, &words, input)
        } else {
            self.acts.push(ScriptAction::Command { words, input, piped, is_assigned });
            return;
        };
        if is_assigned && call.effect == Effect::Read {
            self.push(Effect::Read, SETS_VARIABLES);
        } else {
            self.acts.push(ScriptAction::Effect(call));
        }
    }

    /// A token with the value of a constant in its place.
    fn word(&self, token: &Token) -> CommandWord {
        if token.varies
            && let Some(name) = token.text.strip_prefix('$')
            && let Some(value) = self.constants.get(&name.to_ascii_lowercase())
        {
            return CommandWord::plain(value);
        }
        CommandWord { text: token.text.clone(), varies: token.varies }
    }

    /// The effect of a cmdlet. Text that it writes is added.
    fn cmdlet(&mut self, lower: &str, words: &[CommandWord], input: Option<String>) -> CallEffect {
        let call = CallEffect::new(cmdlet_effect(lower, words), format!("`{}`", spelled(words, 2)));
        if !matches!(lower, "set-content" | "out-file" | "add-content") {
            return call;
        }
        let Some(file) = written_file(words) else { return call };
        let text = match option(words, &["-value"]) {
            Some(value) if !value.varies => Some(value.text.clone()),
            _ => input,
        };
        if let Some(text) = text {
            self.acts.push(ScriptAction::Text { file: file.clone(), text });
        }
        call.touching(vec![file])
    }
}

fn cmdlet_effect(lower: &str, words: &[CommandWord]) -> Effect {
    let has = |option: &str| words.iter().any(|word| word.text.to_ascii_lowercase().starts_with(option));
    let verb = lower.split('-').next().unwrap_or_default();
    let powershell = &tables().powershell;
    match lower {
        "invoke-webrequest" | "invoke-restmethod" if has("-outfile") => Effect::Edit,
        "invoke-webrequest" | "invoke-restmethod" if has("-method") && !has("get") => Effect::Unknown,
        "invoke-webrequest" | "invoke-restmethod" => Effect::Read,
        "start-process" if has("-redirectstandard") => Effect::Edit,
        "start-process" | "invoke-expression" | "invoke-command" | "invoke-item" => Effect::Unknown,
        "invoke-pester" | "invoke-scriptanalyzer" => Effect::Check,
        "publish-module" | "publish-script" | "send-mailmessage" => Effect::Handover,
        "tee-object" if has("-variable") => Effect::Read,
        "tee-object" => Effect::Edit,
        _ if powershell.looking_cmdlets.has(lower) || powershell.looking_verbs.has(verb) => Effect::Read,
        _ if verb == "invoke" => Effect::Unknown,
        _ => Effect::Edit,
    }
}

/// The value in an assignment: the words after `=`, if a variable stands before it, or a name where `names` are.
fn assigned(words: &[Token], names: bool) -> Option<&[Token]> {
    let first = words.first()?;
    let is_variable = first.text.starts_with(['$', '[', '(']) && !first.quoted;
    if !is_variable && !names {
        return None;
    }
    for (at, word) in words.iter().enumerate().skip(1).take(8) {
        if !word.quoted && is_assignment(&word.text) {
            return Some(&words[at + 1..]);
        }
    }
    None
}

fn is_assignment(word: &str) -> bool {
    matches!(word, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "??=")
}

/// The value of one of these options, in any case.
fn option<'w>(words: &'w [CommandWord], names: &[&str]) -> Option<&'w CommandWord> {
    let at = words.iter().position(|word| names.iter().any(|name| word.text.eq_ignore_ascii_case(name)))?;
    words.get(at + 1)
}

/// The file that `Set-Content` and the like write, if it is a constant.
fn written_file(words: &[CommandWord]) -> Option<String> {
    let file = match option(words, &["-path", "-literalpath", "-filepath"]) {
        Some(named) => named,
        None => words.get(1).filter(|word| !word.text.starts_with('-'))?,
    };
    if file.varies || file.text.contains(['*', '?']) { None } else { Some(file.text.clone()) }
}

/// The words after a keyword that a command may follow; `None` if no command does.
fn after_keyword<'w>(words: &'w [Token], first: &str, dialect: ShellDialect) -> Option<&'w [Token]> {
    let rest = &words[1..];
    match (dialect, first) {
        (ShellDialect::Cmd, "if") => after_condition(rest),
        (ShellDialect::Cmd, "for") => {
            let at = rest.iter().position(|word| word.text.eq_ignore_ascii_case("do"))?;
            Some(&rest[at + 1..])
        }
        (_, "foreach") if rest.first().is_some_and(|word| word.text.starts_with("(…)")) => None,
        (_, "return" | "throw" | "exit" | "else" | "do" | "in" | "@echo") if rest.is_empty() => None,
        (_, "return" | "throw" | "exit" | "else" | "do" | "in" | "@echo") => Some(rest),
        (_, keyword) if tables().powershell.keywords.has(keyword) => None,
        _ => Some(words),
    }
}

/// The words after the condition of an `if` of `cmd`.
fn after_condition(rest: &[Token]) -> Option<&[Token]> {
    let mut rest = rest;
    while let Some((first, others)) = rest.split_first()
        && matches!(first.text.to_ascii_lowercase().as_str(), "not" | "/i")
    {
        rest = others;
    }
    let condition = rest.first()?.text.to_ascii_lowercase();
    let n_words = if matches!(condition.as_str(), "exist" | "defined" | "errorlevel") { 2 } else { 1 };
    rest.get(n_words..).filter(|rest| !rest.is_empty())
}

/// True for a call of a method that changes something: `[IO.File]::WriteAllText(…)`, `$_.Delete(…)`.
fn writes_by_method(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some((before, _)) = lower.split_once("(…)") else { return false };
    let method = before.rsplit(['.', ':']).next().unwrap_or_default();
    let Some((class, _)) = before.split_once("]::") else { return tables().powershell.writing_methods.has(method) };
    if class.ends_with("file") || class.ends_with("directory") {
        let looks = ["read", "exists", "get", "enumerate", "openread", "opentext"];
        return !looks.iter().any(|looking| method.starts_with(looking));
    }
    class.ends_with("environment") && method.starts_with("set")
}
