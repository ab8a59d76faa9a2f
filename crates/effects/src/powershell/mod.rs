//! PowerShell and `cmd` commands, which a bash parser cannot read. They are split into the elements of their pipelines,
//! and each element is classified by its verb.

mod elements;

use std::collections::BTreeMap;

use super::parts::{CallEffect, Parts};
use super::shell::{Given, Shell, Word};
use super::{Effect, code, command, path};
use elements::{Dialect, Element, Token};

/// The most bytes of a variable's value that are put in its place.
const LONGEST_VALUE: usize = 1 << 10;

/// Verbs of PowerShell's `Verb-Noun` names that change nothing.
const LOOKING: &str = "get select where format measure test sort group foreach compare convertto convertfrom resolve join split \
     find read show trace wait debug tee-none search assert confirm use-none push pop enter exit";

/// Cmdlets that only display something or change only memory.
const LOOKING_CMDLETS: &str = "write-output write-host write-error write-warning write-verbose write-progress write-debug \
     write-information out-string out-null out-host out-default start-sleep set-location set-strictmode set-variable \
     new-object new-timespan new-guid update-typedata push-location pop-location import-module clear-host new-variable add-type start-job receive-job";

/// Aliases whose effect the table for bash does not have.
const ALIASES: &[(&str, Effect)] = &[
    ("gci", Effect::Read),
    ("gc", Effect::Read),
    ("gi", Effect::Read),
    ("sls", Effect::Read),
    ("iwr", Effect::Read),
    ("irm", Effect::Read),
    ("gps", Effect::Read),
    ("gcm", Effect::Read),
    ("ft", Effect::Read),
    ("fl", Effect::Read),
    ("sc", Effect::Edit),
    ("ni", Effect::Edit),
    ("ri", Effect::Edit),
    ("ci", Effect::Edit),
    ("mi", Effect::Edit),
    ("iex", Effect::Unknown),
    ("spps", Effect::Edit),
    ("ac", Effect::Edit),
    ("%", Effect::Read),
    ("?", Effect::Read),
    ("gm", Effect::Read),
    ("gsv", Effect::Read),
    ("gal", Effect::Read),
    ("gv", Effect::Read),
    ("saps", Effect::Check),
    ("ogv", Effect::Read),
    ("oh", Effect::Read),
    ("compare", Effect::Read),
];

/// True if `text` is PowerShell rather than a Unix shell: a command named `Verb-Noun`, PowerShell's variables, or a
/// here-string.
pub(super) fn looks_like(text: &str) -> bool {
    // PowerShell has no here-documents; a shell's may hold a script for PowerShell.
    let may_be = text.contains(['$', '[', '-', '@']) && !text.contains("<<");
    may_be && elements::elements(text, Dialect::PowerShell).iter().any(is_powershell)
}

fn is_powershell(element: &Element) -> bool {
    let Some(first) = element.words.first().filter(|first| !first.quoted && !element.names) else { return false };
    let assigns = first.text.starts_with('$') && element.words.get(1).is_some_and(|word| word.text == "=");
    is_cmdlet(&first.text)
        || first.text.starts_with("$env:")
        || (first.text.starts_with('[') && first.text.contains("]::"))
        || assigns
}

/// True for names such as `Get-ChildItem`: a capitalised verb, a hyphen and a capitalised noun.
fn is_cmdlet(word: &str) -> bool {
    word.split_once('-').is_some_and(|(verb, noun)| {
        verb.len() > 2
            && verb.starts_with(|c: char| c.is_ascii_uppercase())
            && verb.chars().all(|c| c.is_ascii_alphabetic())
            && noun.starts_with(|c: char| c.is_ascii_uppercase())
            && noun.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The effect of a command that bash cannot parse but that may be `cmd`, whose `&` and `2>nul` mean something else
/// there. `None` if it is not for Windows.
pub(super) fn effect_of_other_shell(text: &str, shell: &mut Shell<'_>) -> Option<CallEffect> {
    let of_windows =
        text.contains(":\\") || text.contains('%') || text.contains("2>nul") || text.contains("$LASTEXITCODE");
    let dialect = if text.contains("$LASTEXITCODE") { Dialect::PowerShell } else { Dialect::Cmd };
    of_windows.then(|| Session::new(shell, dialect).effect(text))
}

/// The combined effect of a script.
pub(super) fn effect(text: &str, shell: &mut Shell<'_>) -> CallEffect {
    Session::new(shell, Dialect::PowerShell).effect(text)
}

/// What the elements of a script share.
struct Session<'s, 't> {
    shell: &'s mut Shell<'t>,
    dialect: Dialect,
    /// The values of variables that are short constants, by name in lower case.
    constants: BTreeMap<String, String>,
    /// The text that the element before is, if it is one: what a `|` gives to the next.
    text: Option<String>,
}

impl<'s, 't> Session<'s, 't> {
    fn new(shell: &'s mut Shell<'t>, dialect: Dialect) -> Self {
        Self { shell, dialect, constants: BTreeMap::new(), text: None }
    }

    fn effect(mut self, text: &str) -> CallEffect {
        let mut parts = Parts::default();
        for element in elements::elements(text, self.dialect) {
            let given = self.text.take().filter(|_| element.piped);
            for file in element.written.iter().filter(|file| !path::is_sink(file)) {
                let told = CallEffect::new(Effect::Edit, format!("writes `{}`", code::shortened(file)));
                parts.add(told.touching(vec![file.clone()]));
                if let [only] = &element.words[..]
                    && only.quoted
                {
                    self.shell.scripts.wrote([file.as_str()], &only.text, self.shell.table);
                }
            }
            if let Some(told) = self.element(&element.words, element.names, element.piped, given.as_deref()) {
                parts.add(told);
            }
        }
        parts.told()
    }

    /// The effect of the words of an element; `None` if there are none.
    fn element(&mut self, words: &[Token], names: bool, piped: bool, given: Option<&str>) -> Option<CallEffect> {
        let first = words.first()?;
        let assigned = words.iter().skip(1).take(8).position(|word| !word.quoted && is_assignment(&word.text));
        let is_variable = first.text.starts_with(['$', '[', '(']) && !first.quoted;
        if let Some(at) = assigned.filter(|_| is_variable || names) {
            return Some(self.assignment(first, &words[at + 2..], piped));
        }
        if names {
            return Some(CallEffect::new(Effect::Read, "names"));
        }
        let lower = first.text.to_ascii_lowercase();
        if matches!(lower.as_str(), "&" | "." | "call") && words.len() > 1 && !first.quoted {
            return Some(self.call(&words[1..], piped, given));
        }
        if let Some(told) = self.expression(words, &lower) {
            return Some(told);
        }
        let keyword = lower.strip_suffix("(…)").unwrap_or(&lower);
        let inner = if first.quoted { words } else { after_keyword(words, keyword, self.dialect)? };
        if inner.len() < words.len() {
            return self.element(inner, false, piped, given);
        }
        Some(self.command(words, piped, given))
    }

    fn assignment(&mut self, variable: &Token, value: &[Token], piped: bool) -> CallEffect {
        if let ([only], Some(name)) = (value, variable.text.strip_prefix('$'))
            && !only.varies
            && only.text.len() <= LONGEST_VALUE
        {
            self.constants.insert(name.to_ascii_lowercase(), only.text.clone());
        }
        let told = self.element(value, false, piped, None);
        told.filter(|told| told.effect != Effect::Read)
            .unwrap_or_else(|| CallEffect::new(Effect::Read, "sets variables"))
    }

    /// The effect of an expression, such as `$x.Count`, `'a','b'` or `1..5`; `None` if it is a command.
    fn expression(&mut self, words: &[Token], lower: &str) -> Option<CallEffect> {
        let first = words.first()?;
        let is_value = first.quoted && self.dialect == Dialect::PowerShell;
        let is_path = lower.starts_with(".\\") || lower.starts_with("./") || lower.starts_with("..");
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit())
            && lower
                .trim_end_matches(['k', 'm', 'g', 'b'])
                .chars()
                .all(|c| c.is_ascii_digit() || ".,-+*/x".contains(c));
        let begins = lower.starts_with(['$', '[', '-', '!', ',', '(', '{', '@', '<', '+', '=', '*']);
        if !is_value && !is_number && (!begins || is_path) {
            return None;
        }
        if is_value && words.len() == 1 {
            self.text = Some(first.text.clone());
        } else if let Some(value) = lower.strip_prefix('$').and_then(|name| self.constants.get(name)) {
            self.text = Some(value.clone());
        }
        let writes = words.iter().filter(|word| !word.quoted).find(|word| writes_by_method(&word.text));
        Some(match writes {
            Some(word) => CallEffect::new(Effect::Edit, format!("`{}`", code::shortened(&word.text))),
            None => CallEffect::new(Effect::Read, "an expression"),
        })
    }

    /// The effect of what `&` calls.
    fn call(&mut self, words: &[Token], piped: bool, given: Option<&str>) -> CallEffect {
        match words.first() {
            // A block was classified by its commands.
            Some(first) if first.text == "{…}" => CallEffect::new(Effect::Read, "a block"),
            _ => self.command(words, piped, given),
        }
    }

    fn command(&mut self, words: &[Token], piped: bool, given: Option<&str>) -> CallEffect {
        let words: Vec<Word> = words.iter().map(|token| self.word(token)).collect();
        let Some(first) = words.first() else { return CallEffect::new(Effect::Read, "nothing is run") };
        let lower = path::program(&first.text);
        let why = format!("`{}`", command::spelled(&words, 2));
        let asks = words.len() > 1 && words.last().is_some_and(|word| matches!(word.text.as_str(), "-?" | "/?"));
        if asks {
            return CallEffect::new(Effect::Read, why);
        }
        if let Some((_, effect)) = ALIASES.iter().find(|(alias, _)| *alias == lower) {
            return CallEffect::new(*effect, why);
        }
        if is_cmdlet(&first.text) || (lower.contains('-') && is_looking(&lower)) {
            return self.cmdlet(&lower, &words, given);
        }
        let before = std::mem::take(&mut self.shell.parts);
        self.shell.command(&words, Given { input: given, piped });
        std::mem::replace(&mut self.shell.parts, before).told()
    }

    /// A token with the value of a constant in its place.
    fn word(&self, token: &Token) -> Word {
        let constant = token.text.strip_prefix('$').filter(|_| token.varies);
        match constant.and_then(|name| self.constants.get(&name.to_ascii_lowercase())) {
            Some(value) => Word::plain(value),
            None => Word { text: token.text.clone(), varies: token.varies },
        }
    }

    fn cmdlet(&mut self, lower: &str, words: &[Word], given: Option<&str>) -> CallEffect {
        let why = format!("`{}`", command::spelled(words, 2));
        let has = |option: &str| words.iter().any(|word| word.text.to_ascii_lowercase().starts_with(option));
        let verb = lower.split('-').next().unwrap_or_default();
        let effect = match lower {
            "invoke-webrequest" | "invoke-restmethod" if has("-outfile") => Effect::Edit,
            "invoke-webrequest" | "invoke-restmethod" if has("-method") && !has("get") => Effect::Unknown,
            "invoke-webrequest" | "invoke-restmethod" => Effect::Read,
            "start-process" if has("-redirectstandard") => Effect::Edit,
            "start-process" | "invoke-expression" | "invoke-command" | "invoke-item" => Effect::Unknown,
            "invoke-pester" | "invoke-scriptanalyzer" => Effect::Check,
            "publish-module" | "publish-script" | "send-mailmessage" => Effect::Handover,
            "tee-object" if has("-variable") => Effect::Read,
            "tee-object" => Effect::Edit,
            _ if is_looking(lower) || LOOKING.split_ascii_whitespace().any(|word| word == verb) => Effect::Read,
            _ if verb == "invoke" => Effect::Unknown,
            _ => Effect::Edit,
        };
        let writes_text = matches!(lower, "set-content" | "out-file" | "add-content");
        if let Some(file) = writes_text.then(|| file_of(words)).flatten() {
            if let Some(text) =
                option(words, &["-value"]).filter(|word| !word.varies).map(|word| word.text.as_str()).or(given)
            {
                self.shell.scripts.wrote([file.as_str()], text, self.shell.table);
            }
            return CallEffect::new(effect, why).touching(vec![file]);
        }
        CallEffect::new(effect, why)
    }
}

fn is_assignment(word: &str) -> bool {
    matches!(word, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "??=")
}

/// The value of one of these options, in any case.
fn option<'w>(words: &'w [Word], names: &[&str]) -> Option<&'w Word> {
    let is_name = |word: &Word| names.iter().any(|name| word.text.eq_ignore_ascii_case(name));
    words.iter().position(is_name).and_then(|at| words.get(at + 1))
}

/// The file that `Set-Content` and the like write, if it is a constant.
fn file_of(words: &[Word]) -> Option<String> {
    let named = option(words, &["-path", "-literalpath", "-filepath"]);
    let first = words.get(1).filter(|word| !word.text.starts_with('-'));
    named.or(first).filter(|word| !word.varies && !word.text.contains(['*', '?'])).map(|word| word.text.clone())
}

/// The words after a keyword that a command may follow; `None` if no command does.
fn after_keyword<'w>(words: &'w [Token], first: &str, dialect: Dialect) -> Option<&'w [Token]> {
    let rest = &words[1..];
    let find = |keyword: &str| rest.iter().position(|word| word.text.eq_ignore_ascii_case(keyword));
    match (dialect, first) {
        (Dialect::Cmd, "if") => {
            let skipped =
                rest.iter().take_while(|word| matches!(word.text.to_ascii_lowercase().as_str(), "not" | "/i")).count();
            let condition = rest.get(skipped)?.text.to_ascii_lowercase();
            let takes_one = matches!(condition.as_str(), "exist" | "defined" | "errorlevel");
            rest.get(skipped + 1 + usize::from(takes_one)..).filter(|rest| !rest.is_empty())
        }
        (Dialect::Cmd, "for") => find("do").map(|at| &rest[at + 1..]),
        (_, "foreach") if rest.first().is_some_and(|word| word.text.starts_with("(…)")) => None,
        (_, "return" | "throw" | "exit" | "else" | "do" | "in" | "@echo") => Some(rest).filter(|rest| !rest.is_empty()),
        (
            _,
            "if" | "elseif" | "foreach" | "for" | "while" | "until" | "switch" | "try" | "catch" | "finally" | "param"
            | "function" | "filter" | "begin" | "process" | "end" | "break" | "continue" | "not" | "rem" | "setlocal"
            | "endlocal" | "goto" | "using" | "default" | "trap",
        ) => None,
        _ => Some(words),
    }
}

/// True for a call of a method that changes something: `[IO.File]::WriteAllText(…)`, `$_.Delete(…)`.
fn writes_by_method(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(called) = lower.find("(…)") else { return false };
    let before = &lower[..called];
    let method = before.rsplit(['.', ':']).next().unwrap_or_default();
    let of_type = before.split_once("]::").map(|(name, _)| name);
    match of_type {
        Some(name) if ["file", "directory"].iter().any(|kind| name.ends_with(kind)) => {
            !["read", "exists", "get", "enumerate", "openread", "opentext"]
                .iter()
                .any(|looks| method.starts_with(looks))
        }
        Some(name) if name.ends_with("environment") => method.starts_with("set"),
        Some(name) if name.ends_with("zipfile") => method != "openread",
        Some(_) => false,
        None => matches!(
            method,
            "delete"
                | "kill"
                | "moveto"
                | "copyto"
                | "save"
                | "savechanges"
                | "setvalue"
                | "downloadfile"
                | "extracttodirectory"
                | "writealltext"
                | "writeline"
                | "createsubdirectory"
                | "createtext"
                | "replacefile"
                | "terminate"
        ),
    }
}

fn is_looking(cmdlet: &str) -> bool {
    LOOKING_CMDLETS.split_ascii_whitespace().any(|word| word == cmdlet)
}
