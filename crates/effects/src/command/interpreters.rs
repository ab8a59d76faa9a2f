//! Shells and interpreters, and the scripts and commands they are given.

use std::borrow::Cow;

use super::step::{CommandContext, CommandInput, CommandStep};
use crate::code;
use crate::parts::CallEffect;
use crate::tables::{CodeLanguage, tables};
use crate::words::{CommandWord, after_options, has, joined, operands, shortened, spelled};
use crate::{Effect, packages, path, verbs};

const FED_BY_A_COMMAND: &str = "a shell is given what another command prints";

/// What a shell or an interpreter does; `None` for any other program.
pub(super) fn step<'w>(
    known: CommandContext<'_>,
    program: &str,
    words: &'w [CommandWord],
    given: CommandInput<'w>,
) -> Option<CommandStep<'w>> {
    let rest = &words[1..];
    Some(match program {
        "eval" => CommandStep::Script(joined(rest).into()),
        _ if is_shell(program) => shell(known, words, given),
        "cmd" | "powershell" | "pwsh" | "wsl" => windows_shell(program, rest),
        "su" | "runuser" => as_user(words),
        "source" | "." => sourced(known, words),
        "ssh" | "mosh" => remote(words),
        _ => interpreter(known, program, language(program)?, words, given),
    })
}

fn is_shell(program: &str) -> bool {
    matches!(program, "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "ash" | "busybox")
}

/// The language of an interpreter; `None` for any other program.
fn language(program: &str) -> Option<CodeLanguage> {
    // `python3.11`.
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    if program.strip_prefix("python").is_some_and(is_version) {
        return Some(CodeLanguage::Python);
    }
    CodeLanguage::find(|signs| signs.programs.has(program))
}

/// True for a shell or an interpreter that is given code, which runs whatever options follow it.
pub(super) fn runs_code(program: &str, rest: &[CommandWord], given: CommandInput<'_>) -> bool {
    if matches!(program, "eval" | "ssh" | "mosh" | "wsl") {
        return true;
    }
    let runs = is_shell(program)
        || matches!(program, "cmd" | "powershell" | "pwsh" | "su" | "runuser")
        || language(program).is_some();
    runs && (given.input.is_some() || given.piped || rest.iter().any(gives_code))
}

fn gives_code(word: &CommandWord) -> bool {
    let option = word.text.to_ascii_lowercase();
    if word.is_short_option() && option != "-help" && option.ends_with(['c', 'e', 'r', 'p']) {
        return true;
    }
    matches!(option.as_str(), "/c" | "/k" | "-command" | "--command" | "--eval" | "--print" | "eval")
}

/// The effect of running a script: known if the run wrote the script itself, else from its name, else a check.
pub(super) fn script(known: CommandContext<'_>, file: &str) -> CallEffect {
    if let Some(written) = known.scripts.effect(file) {
        let why = format!("runs `{}`: {}", shortened(file), written.why);
        return CallEffect { why, ..written.clone() };
    }
    let effect = verbs::by_script(file).unwrap_or(Effect::Check);
    let mut call = CallEffect::new(effect, format!("runs `{}`", shortened(file)));
    call.may_change |= effect != Effect::Check;
    call
}

fn shell<'w>(known: CommandContext<'_>, words: &'w [CommandWord], given: CommandInput<'w>) -> CommandStep<'w> {
    let rest = &words[1..];
    for (at, word) in rest.iter().enumerate() {
        if !word.text.starts_with('-') {
            break;
        }
        if word.is_short_option() && word.text.contains('c') {
            return match rest.get(at + 1) {
                Some(code) if code.text.starts_with("$(") || code.text.starts_with("${") => {
                    CommandStep::effect(Effect::Unknown, FED_BY_A_COMMAND)
                }
                Some(code) => CommandStep::Script(Cow::Borrowed(&code.text)),
                None => CommandStep::effect(Effect::Read, "a shell without a command"),
            };
        }
    }
    match (after_options(rest, &["-o", "-O"]).first(), given.input) {
        (Some(_), _) if has(rest, &["-n"]) => CommandStep::effect(Effect::Check, "checks the syntax of a script"),
        (Some(file), _) if file.text != "-" && words[0].text != "busybox" => {
            CommandStep::Effect(script(known, &file.text))
        }
        (_, Some(text)) => CommandStep::Script(Cow::Borrowed(text)),
        _ => CommandStep::effect(Effect::Unknown, FED_BY_A_COMMAND),
    }
}

fn windows_shell<'w>(program: &str, rest: &'w [CommandWord]) -> CommandStep<'w> {
    let is_option = |word: &CommandWord| {
        matches!(word.text.to_ascii_lowercase().as_str(), "/c" | "/k" | "-command" | "-c" | "-e" | "--")
    };
    match rest.iter().position(is_option) {
        Some(at) => CommandStep::Script(joined(&rest[at + 1..]).into()),
        None if program == "wsl" => CommandStep::Script(joined(rest).into()),
        None => CommandStep::effect(Effect::Unknown, "a shell without a command"),
    }
}

fn as_user(words: &[CommandWord]) -> CommandStep<'_> {
    let option = words.iter().position(|word| word.text == "-c" || word.text == "--command");
    match option {
        Some(at) => match words.get(at + 1) {
            Some(code) => CommandStep::Script(Cow::Borrowed(&code.text)),
            None => CommandStep::Script(Cow::Borrowed("")),
        },
        None => CommandStep::effect(Effect::Unknown, format!("`{}`", spelled(words, 2))),
    }
}

fn sourced<'w>(known: CommandContext<'_>, words: &[CommandWord]) -> CommandStep<'w> {
    if let Some(file) = words.get(1)
        && let Some(written) = known.scripts.effect(&file.text)
    {
        return CommandStep::Effect(written.clone());
    }
    CommandStep::effect(Effect::Read, format!("`{}`", spelled(words, 2)))
}

fn remote(words: &[CommandWord]) -> CommandStep<'_> {
    let with_value = ["-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-E", "-m", "-S"];
    let after_host = after_options(&words[1..], &with_value).get(1..).unwrap_or_default();
    let command = after_options(after_host, &with_value);
    if !command.is_empty() {
        return CommandStep::Script(joined(command).into());
    }
    let effect = if has(&words[1..], &["-T", "-G", "-V"]) { Effect::Read } else { Effect::Unknown };
    CommandStep::effect(effect, format!("`{}`", spelled(words, 2)))
}

fn interpreter<'w>(
    known: CommandContext<'_>,
    program: &str,
    language: CodeLanguage,
    words: &'w [CommandWord],
    given: CommandInput<'w>,
) -> CommandStep<'w> {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 2));
    if matches!(program, "deno" | "bun")
        && let Some(call) = packages::effect(program, words)
    {
        return CommandStep::Effect(call);
    }
    if matches!(program, "perl" | "ruby") && rest.iter().any(edits_in_place) {
        let files = operands(rest).skip(1).map(|word| word.text.clone()).collect();
        return CommandStep::Effect(CallEffect::new(Effect::Edit, why).touching(files));
    }
    let with_value = ["-W", "-X", "-m", "-r", "--require", "--loader", "--import", "-I", "-C", "--env-file", "-M"];
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if takes_code(word, language) {
            let code = if let Some(code) = rest.get(at + 1) { &code.text } else { "" };
            return CommandStep::Effect(code::effect(code, language));
        }
        match (language, word.text.as_str()) {
            (CodeLanguage::Python, "-m") => return module(&rest[at + 1..], given),
            (CodeLanguage::JavaScript, "--check" | "--test") => return CommandStep::effect(Effect::Check, why),
            (_, "-") => break,
            (_, option) if !option.starts_with('-') => break,
            (_, option) if with_value.contains(&option) => at += 2,
            _ => at += 1,
        }
    }
    let file = rest.get(at).filter(|file| file.text != "-" && file.text != "/dev/stdin");
    CommandStep::Effect(match (file, given.input) {
        (Some(file), _) if path::file_name(&file.text) == "manage.py" => packages::django(&rest[at + 1..]),
        (Some(file), _) if file.varies => CallEffect::new(Effect::Check, why),
        (Some(file), _) => script(known, &file.text),
        (None, Some(code)) => code::effect(code, language),
        (None, None) if given.piped => CallEffect::new(Effect::Unknown, format!("{why} runs what it is given")),
        (None, None) => CallEffect::new(Effect::Read, why),
    })
}

/// True for `-i` of Perl and Ruby, alone or in a group: `-pi`.
fn edits_in_place(word: &CommandWord) -> bool {
    if !word.is_short_option() {
        return false;
    }
    // After these, the rest of the word is their value.
    for option in word.text[1..].chars() {
        match option {
            'e' | 'M' | 'I' => return false,
            'i' => return true,
            _ => {}
        }
    }
    false
}

/// True for an option that is followed by code.
fn takes_code(word: &CommandWord, language: CodeLanguage) -> bool {
    match language {
        CodeLanguage::Python => word.is_short_option() && word.text.ends_with('c'),
        CodeLanguage::JavaScript => matches!(word.text.as_str(), "-e" | "-p" | "-pe" | "--eval" | "--print" | "eval"),
        CodeLanguage::Php => word.text == "-r",
        _ => word.is_short_option() && word.text.ends_with(['e', 'E']),
    }
}

/// `python -m MODULE …` usually runs the program of the same name.
fn module<'w>(words: &'w [CommandWord], given: CommandInput<'w>) -> CommandStep<'w> {
    let Some((module, rest)) = words.split_first() else { return CommandStep::effect(Effect::Read, "`python -m`") };
    let name = module.text.as_str();
    let effect = match (name, tables().python_modules.effect(name)) {
        ("json.tool", _) if operands(rest).count() > 1 => Effect::Edit,
        (_, Some(Effect::Edit)) if has(rest, &["-l", "--list", "-t"]) => Effect::Read,
        (_, Some(effect)) => effect,
        ("django", _) => return CommandStep::Effect(packages::django(rest)),
        _ if tables().commands.effect(name).is_some()
            || packages::effect(name, words).is_some()
            || tables().formatters.programs.has(name) =>
        {
            return CommandStep::Command(words, given);
        }
        _ => Effect::Check,
    };
    CommandStep::effect(effect, format!("`python -m {name}`"))
}
