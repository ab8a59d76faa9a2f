//! Shells and interpreters, and the scripts and commands they are given.

use std::borrow::Cow;

use super::step::{Given, Known, Step};
use crate::code::{self, Language};
use crate::parts::CallEffect;
use crate::tables::tables;
use crate::words::{Word, after_options, has, joined, operands, shortened, spelled};
use crate::{Effect, packages, path, verbs};

const FED_BY_A_COMMAND: &str = "a shell is given what another command prints";

/// What a shell or an interpreter does; `None` for any other program.
pub(super) fn step<'w>(known: Known<'_>, program: &str, words: &'w [Word], given: Given<'w>) -> Option<Step<'w>> {
    let rest = &words[1..];
    Some(match program {
        "eval" => Step::Script(joined(rest).into()),
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
fn language(program: &str) -> Option<Language> {
    Some(match program {
        "pypy" | "pypy3" | "ipython" | "py" => Language::Python,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Language::JavaScript,
        "ruby" | "irb" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" | "rscript" | "julia" | "osascript" | "groovy" => Language::Other,
        _ => {
            // `python3.11`.
            let version = program.strip_prefix("python")?;
            if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
                return None;
            }
            Language::Python
        }
    })
}

/// True for a shell or an interpreter that is given code, which runs whatever options follow it.
pub(super) fn runs_code(program: &str, rest: &[Word], given: Given<'_>) -> bool {
    if matches!(program, "eval" | "ssh" | "mosh" | "wsl") {
        return true;
    }
    let runs = is_shell(program)
        || matches!(program, "cmd" | "powershell" | "pwsh" | "su" | "runuser")
        || language(program).is_some();
    runs && (given.input.is_some() || given.piped || rest.iter().any(gives_code))
}

fn gives_code(word: &Word) -> bool {
    let option = word.text.to_ascii_lowercase();
    if word.is_short_option() && option != "-help" && option.ends_with(['c', 'e', 'r', 'p']) {
        return true;
    }
    matches!(option.as_str(), "/c" | "/k" | "-command" | "--command" | "--eval" | "--print" | "eval")
}

/// The effect of running a script: known if the run wrote the script itself, else from its name, else a check.
pub(super) fn script(known: Known<'_>, file: &str) -> CallEffect {
    if let Some(written) = known.scripts.effect(file) {
        let why = format!("runs `{}`: {}", shortened(file), written.why);
        return CallEffect { why, ..written.clone() };
    }
    let effect = verbs::by_script(file).unwrap_or(Effect::Check);
    let mut call = CallEffect::new(effect, format!("runs `{}`", shortened(file)));
    call.may_change |= effect != Effect::Check;
    call
}

fn shell<'w>(known: Known<'_>, words: &'w [Word], given: Given<'w>) -> Step<'w> {
    let rest = &words[1..];
    for (at, word) in rest.iter().enumerate() {
        if !word.text.starts_with('-') {
            break;
        }
        if word.is_short_option() && word.text.contains('c') {
            return match rest.get(at + 1) {
                Some(code) if code.text.starts_with("$(") || code.text.starts_with("${") => {
                    Step::effect(Effect::Unknown, FED_BY_A_COMMAND)
                }
                Some(code) => Step::Script(Cow::Borrowed(&code.text)),
                None => Step::effect(Effect::Read, "a shell without a command"),
            };
        }
    }
    match (after_options(rest, &["-o", "-O"]).first(), given.input) {
        (Some(_), _) if has(rest, &["-n"]) => Step::effect(Effect::Check, "checks the syntax of a script"),
        (Some(file), _) if file.text != "-" && words[0].text != "busybox" => Step::Effect(script(known, &file.text)),
        (_, Some(text)) => Step::Script(Cow::Borrowed(text)),
        _ => Step::effect(Effect::Unknown, FED_BY_A_COMMAND),
    }
}

fn windows_shell<'w>(program: &str, rest: &'w [Word]) -> Step<'w> {
    let is_option =
        |word: &Word| matches!(word.text.to_ascii_lowercase().as_str(), "/c" | "/k" | "-command" | "-c" | "-e" | "--");
    match rest.iter().position(is_option) {
        Some(at) => Step::Script(joined(&rest[at + 1..]).into()),
        None if program == "wsl" => Step::Script(joined(rest).into()),
        None => Step::effect(Effect::Unknown, "a shell without a command"),
    }
}

fn as_user(words: &[Word]) -> Step<'_> {
    let option = words.iter().position(|word| word.text == "-c" || word.text == "--command");
    match option {
        Some(at) => match words.get(at + 1) {
            Some(code) => Step::Script(Cow::Borrowed(&code.text)),
            None => Step::Script(Cow::Borrowed("")),
        },
        None => Step::effect(Effect::Unknown, format!("`{}`", spelled(words, 2))),
    }
}

fn sourced<'w>(known: Known<'_>, words: &[Word]) -> Step<'w> {
    if let Some(file) = words.get(1)
        && let Some(written) = known.scripts.effect(&file.text)
    {
        return Step::Effect(written.clone());
    }
    Step::effect(Effect::Read, format!("`{}`", spelled(words, 2)))
}

fn remote(words: &[Word]) -> Step<'_> {
    let with_value = ["-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-E", "-m", "-S"];
    let after_host = after_options(&words[1..], &with_value).get(1..).unwrap_or_default();
    let command = after_options(after_host, &with_value);
    if !command.is_empty() {
        return Step::Script(joined(command).into());
    }
    let effect = if has(&words[1..], &["-T", "-G", "-V"]) { Effect::Read } else { Effect::Unknown };
    Step::effect(effect, format!("`{}`", spelled(words, 2)))
}

fn interpreter<'w>(
    known: Known<'_>,
    program: &str,
    language: Language,
    words: &'w [Word],
    given: Given<'w>,
) -> Step<'w> {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 2));
    if matches!(program, "deno" | "bun")
        && let Some(call) = packages::effect(program, words)
    {
        return Step::Effect(call);
    }
    if matches!(program, "perl" | "ruby") && rest.iter().any(edits_in_place) {
        let files = operands(rest).skip(1).map(|word| word.text.clone()).collect();
        return Step::Effect(CallEffect::new(Effect::Edit, why).touching(files));
    }
    let with_value = ["-W", "-X", "-m", "-r", "--require", "--loader", "--import", "-I", "-C", "--env-file", "-M"];
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if takes_code(word, language) {
            let code = rest.get(at + 1).map_or("", |code| &code.text);
            return Step::Effect(code::effect(code, language));
        }
        match (language, word.text.as_str()) {
            (Language::Python, "-m") => return module(&rest[at + 1..], given),
            (Language::JavaScript, "--check" | "--test") => return Step::effect(Effect::Check, why),
            (_, "-") => break,
            (_, option) if !option.starts_with('-') => break,
            (_, option) if with_value.contains(&option) => at += 2,
            _ => at += 1,
        }
    }
    let file = rest.get(at).filter(|file| file.text != "-" && file.text != "/dev/stdin");
    Step::Effect(match (file, given.input) {
        (Some(file), _) if path::file_name(&file.text) == "manage.py" => packages::django(&rest[at + 1..]),
        (Some(file), _) if file.varies => CallEffect::new(Effect::Check, why),
        (Some(file), _) => script(known, &file.text),
        (None, Some(code)) => code::effect(code, language),
        (None, None) if given.piped => CallEffect::new(Effect::Unknown, format!("{why} runs what it is given")),
        (None, None) => CallEffect::new(Effect::Read, why),
    })
}

/// True for `-i` of Perl and Ruby, alone or in a group: `-pi`.
fn edits_in_place(word: &Word) -> bool {
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
fn takes_code(word: &Word, language: Language) -> bool {
    match language {
        Language::Python => word.is_short_option() && word.text.ends_with('c'),
        Language::JavaScript => matches!(word.text.as_str(), "-e" | "-p" | "-pe" | "--eval" | "--print" | "eval"),
        Language::Php => word.text == "-r",
        _ => word.is_short_option() && word.text.ends_with(['e', 'E']),
    }
}

/// `python -m MODULE …` usually runs the program of the same name.
fn module<'w>(words: &'w [Word], given: Given<'w>) -> Step<'w> {
    let Some((module, rest)) = words.split_first() else { return Step::effect(Effect::Read, "`python -m`") };
    let name = module.text.as_str();
    let effect = match name {
        "json.tool" if operands(rest).count() > 1 => Effect::Edit,
        "json.tool" | "site" | "sysconfig" | "platform" | "this" | "pydoc" | "inspect" | "dis" | "tokenize" | "ast" => {
            Effect::Read
        }
        "zipfile" | "tarfile" | "venv" if has(rest, &["-l", "--list", "-t"]) => Effect::Read,
        "zipfile" | "tarfile" | "venv" => Effect::Edit,
        "django" => return Step::Effect(packages::django(rest)),
        _ if tables().commands.effect(name).is_some()
            || packages::effect(name, words).is_some()
            || tables().formatters.programs.has(name) =>
        {
            return Step::Command(words, given);
        }
        _ => Effect::Check,
    };
    Step::effect(effect, format!("`python -m {name}`"))
}
