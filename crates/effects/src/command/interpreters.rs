//! Shells and interpreters, and the scripts and commands they are given.

use super::super::code::{self, Language};
use super::super::parts::CallEffect;
use super::super::shell::{Given, Shell, Word};
use super::super::{Effect, packages, path, verbs, words};
use super::flags::is_formatter;
use super::options::{after_options, has, joined, operands, spelled};

/// Adds the effect of a shell or an interpreter; false for any other program.
pub(super) fn run(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) -> bool {
    let rest = &words[1..];
    match program {
        "eval" => shell.script(&joined(rest)),
        _ if is_shell(program) => of_shell(shell, words, given),
        "cmd" | "powershell" | "pwsh" | "wsl" => of_windows_shell(shell, program, rest),
        "su" | "runuser" => match rest.iter().position(|word| word.text == "-c" || word.text == "--command") {
            Some(at) => shell.script(&rest.get(at + 1).map(|word| word.text.clone()).unwrap_or_default()),
            None => shell.parts.push(Effect::Unknown, format!("`{}`", spelled(words, 2))),
        },
        "source" | "." => of_sourced(shell, words),
        "ssh" | "mosh" => of_remote(shell, words),
        _ if is_python(program) => of_interpreter(shell, "python", words, given),
        _ if INTERPRETERS.split(' ').any(|name| name == program) => of_interpreter(shell, program, words, given),
        _ => return false,
    }
    true
}

const INTERPRETERS: &str = "pypy pypy3 ipython py node nodejs deno bun tsx ts-node ruby perl php lua luajit rscript julia osascript groovy irb";

fn is_shell(program: &str) -> bool {
    matches!(program, "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "ash" | "busybox")
}

/// True for a shell or an interpreter that is given code, which runs whatever options follow it.
pub(super) fn runs_code(program: &str, rest: &[Word], given: Given<'_>) -> bool {
    let takes_code = |word: &Word| {
        let text = word.text.to_ascii_lowercase();
        let short =
            text.starts_with('-') && !text.starts_with("--") && text != "-help" && text.ends_with(['c', 'e', 'r', 'p']);
        short || matches!(text.as_str(), "/c" | "/k" | "-command" | "--command" | "--eval" | "--print" | "eval")
    };
    let remote = matches!(program, "eval" | "ssh" | "mosh" | "wsl");
    let is_one = is_shell(program)
        || is_python(program)
        || matches!(program, "cmd" | "powershell" | "pwsh" | "su" | "runuser")
        || INTERPRETERS.split(' ').any(|name| name == program);
    remote || (is_one && (given.input.is_some() || given.piped || rest.iter().any(takes_code)))
}

/// The effect of running a script: known if the run wrote the script itself, else from its name, else a check.
pub(super) fn of_script(shell: &Shell<'_>, file: &str) -> CallEffect {
    if let Some(told) = shell.scripts.what_runs(file) {
        let mut told = told.clone();
        told.why = format!("runs `{}`: {}", code::shortened(file), told.why);
        return told;
    }
    let effect = verbs::of_script(file).unwrap_or(Effect::Check);
    let mut told = CallEffect::new(effect, format!("runs `{}`", code::shortened(file)));
    told.may_change |= effect != Effect::Check;
    told
}

pub(super) fn of_shell(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    let takes_code = |word: &&Word| {
        let text = word.text.as_str();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    };
    if let Some(at) = rest.iter().take_while(|word| word.text.starts_with('-')).position(|word| takes_code(&word)) {
        match rest.get(at + 1) {
            Some(word) if word.text.starts_with("$(") || word.text.starts_with("${") => {
                shell.parts.push(Effect::Unknown, "a shell is given what another command prints");
            }
            Some(word) => shell.script(&word.text.clone()),
            None => shell.parts.push(Effect::Read, "a shell without a command"),
        }
        return;
    }
    let checks_syntax = has(rest, &["-n"]);
    match (after_options(rest, &["-o", "-O"]).first(), given.input) {
        (Some(_), _) if checks_syntax => shell.parts.push(Effect::Check, "checks the syntax of a script"),
        (Some(word), _) if word.text != "-" && words[0].text != "busybox" => {
            let told = of_script(shell, &word.text.clone());
            shell.parts.add(told);
        }
        (_, Some(text)) => shell.script(text),
        _ => shell.parts.push(Effect::Unknown, "a shell is given what another command prints"),
    }
}

pub(super) fn of_windows_shell(shell: &mut Shell<'_>, program: &str, rest: &[Word]) {
    let at = rest.iter().position(|word| {
        matches!(word.text.to_ascii_lowercase().as_str(), "/c" | "/k" | "-command" | "-c" | "-e" | "--")
    });
    let from = match (at, program) {
        (Some(at), _) => at + 1,
        (None, "wsl") => 0,
        (None, _) => {
            shell.parts.push(Effect::Unknown, "a shell without a command");
            return;
        }
    };
    shell.script(&joined(&rest[from..]));
}

pub(super) fn of_sourced(shell: &mut Shell<'_>, words: &[Word]) {
    let told = words.get(1).and_then(|word| shell.scripts.what_runs(&word.text)).cloned();
    shell.parts.add(told.unwrap_or_else(|| CallEffect::new(Effect::Read, format!("`{}`", spelled(words, 2)))));
}

pub(super) fn of_remote(shell: &mut Shell<'_>, words: &[Word]) {
    let with_value = ["-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-E", "-m", "-S"];
    let after_host = after_options(&words[1..], &with_value).get(1..).unwrap_or_default();
    let command = after_options(after_host, &with_value);
    if command.is_empty() {
        let asks = has(&words[1..], &["-T", "-G", "-V"]);
        shell.parts.push(if asks { Effect::Read } else { Effect::Unknown }, format!("`{}`", spelled(words, 2)));
    } else {
        shell.script(&joined(command));
    }
}

pub(super) fn of_interpreter(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let language = match program {
        "python" | "pypy" | "pypy3" | "ipython" | "py" => Language::Python,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Language::JavaScript,
        "ruby" | "irb" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        _ => Language::Other,
    };
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 2));
    if matches!(program, "deno" | "bun")
        && let Some(told) = packages::effect(program, words)
    {
        shell.parts.add(told);
        return;
    }
    if matches!(program, "perl" | "ruby")
        && rest.iter().any(|w| {
            w.text.starts_with('-')
                && !w.text.starts_with("--")
                && w.text[1..].split(['e', 'M', 'I']).next().is_some_and(|flags| flags.contains('i'))
        })
    {
        let files = operands(rest).skip(1).map(|word| word.text.clone()).collect();
        shell.parts.add(CallEffect::new(Effect::Edit, why).touching(files));
        return;
    }
    let takes_code = |word: &Word| match language {
        Language::Python => word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c'),
        Language::JavaScript => matches!(word.text.as_str(), "-e" | "-p" | "-pe" | "--eval" | "--print" | "eval"),
        Language::Php => word.text == "-r",
        _ => word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with(['e', 'E']),
    };
    let with_value = ["-W", "-X", "-m", "-r", "--require", "--loader", "--import", "-I", "-C", "--env-file", "-M"];
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if takes_code(word) {
            let code = rest.get(at + 1).map(|word| word.text.clone()).unwrap_or_default();
            shell.parts.add(code::effect(&code, language));
            return;
        }
        if language == Language::Python && word.text == "-m" {
            of_module(shell, &rest[at + 1..], given);
            return;
        }
        if language == Language::JavaScript && matches!(word.text.as_str(), "--check" | "--test") {
            shell.parts.push(Effect::Check, why);
            return;
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    match (rest.get(at).filter(|word| word.text != "-" && word.text != "/dev/stdin"), given.input) {
        (Some(script), _) if path::file_name(&script.text) == "manage.py" => {
            shell.parts.add(packages::django(&rest[at + 1..]));
        }
        (Some(script), _) if script.varies => shell.parts.push(Effect::Check, why),
        (Some(script), _) => {
            let told = of_script(shell, &script.text.clone());
            shell.parts.add(told);
        }
        (None, Some(code)) => shell.parts.add(code::effect(code, language)),
        (None, None) if given.piped => shell.parts.push(Effect::Unknown, format!("{why} runs what it is given")),
        (None, None) => shell.parts.push(Effect::Read, why),
    }
}

/// `python -m MODULE …` usually runs the program of the same name.
pub(super) fn of_module(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let Some(module) = words.first() else {
        shell.parts.push(Effect::Read, "`python -m`");
        return;
    };
    match module.text.as_str() {
        "json.tool" | "site" | "sysconfig" | "platform" | "this" | "pydoc" | "inspect" | "dis" | "tokenize" | "ast" => {
            let writes = module.text == "json.tool" && operands(&words[1..]).count() > 1;
            shell.parts.push(if writes { Effect::Edit } else { Effect::Read }, format!("`python -m {}`", module.text));
        }
        "zipfile" | "tarfile" | "venv" => {
            let lists = has(&words[1..], &["-l", "--list", "-t"]);
            shell.parts.push(if lists { Effect::Read } else { Effect::Edit }, format!("`python -m {}`", module.text));
        }
        "django" => shell.parts.add(packages::django(&words[1..])),
        name => {
            let known = words::effect(name).is_some() || packages::effect(name, words).is_some() || is_formatter(name);
            if known {
                shell.command(words, given);
            } else {
                shell.parts.push(Effect::Check, format!("`python -m {name}`"));
            }
        }
    }
}

pub(super) fn is_python(program: &str) -> bool {
    program.strip_prefix("python").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

pub(super) fn run_rest(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    if words.is_empty() {
        shell.parts.push(Effect::Unknown, "a shell without a command");
    } else {
        shell.command(words, given);
    }
}
