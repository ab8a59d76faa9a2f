//! What one simple command does: a program and its arguments.

mod files;
mod help;
mod interpreters;
mod network;
mod step;

pub(crate) use files::patched_files;
pub(crate) use step::{CommandContext, CommandInput, CommandStep};

use crate::parts::CallEffect;
use crate::tables::{CodeLanguage, tables};
use crate::words::{CommandWord, operand_texts, operands, shortened, spelled};
use crate::{Effect, cloud, git, packages, path, verbs};

/// Wrappers around a command (`sudo env nice …`) are followed to this number.
const MOST_WRAPPERS: usize = 64;

/// What the command does.
pub(crate) fn steps<'w>(
    known: CommandContext<'_>,
    words: &'w [CommandWord],
    given: CommandInput<'w>,
) -> Vec<CommandStep<'w>> {
    let mut words = words;
    for _ in 0..MOST_WRAPPERS {
        words = skip_assignments(words);
        let Some(first) = words.first() else { return vec![CommandStep::effect(Effect::Read, "sets variables")] };
        if let Some(effect) = known.table.command(words) {
            return vec![CommandStep::effect(effect, format!("`{}`, by the stack file", spelled(words, 3)))];
        }
        if first.varies {
            return vec![CommandStep::effect(Effect::Unknown, format!("`{}` is not known", shortened(&first.text)))];
        }
        let program = path::program(&first.text);
        match wrapped(&program, &words[1..]) {
            Some(inner) => words = inner,
            None => return program_steps(known, &program, words, given),
        }
    }
    vec![CommandStep::effect(Effect::Unknown, "nested too deep to be followed")]
}

/// The words after `NAME=value`.
fn skip_assignments(mut words: &[CommandWord]) -> &[CommandWord] {
    while let Some((first, rest)) = words.split_first()
        && is_assignment(&first.text)
    {
        words = rest;
    }
    words
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The command that a wrapper (`sudo`, `env` and the like) runs; `None` if the program is not a wrapper.
fn wrapped<'w>(program: &str, rest: &'w [CommandWord]) -> Option<&'w [CommandWord]> {
    // `command -v git` only asks.
    if program == "command" && rest.first()?.text.starts_with('-') {
        return None;
    }
    tables().wrappers.command(program, rest)
}

fn program_steps<'w>(
    known: CommandContext<'_>,
    program: &str,
    words: &'w [CommandWord],
    given: CommandInput<'w>,
) -> Vec<CommandStep<'w>> {
    let rest = &words[1..];
    if !interpreters::runs_code(program, rest, given) && help::only_asks(program, rest) {
        return vec![CommandStep::effect(Effect::Read, format!("`{}`", spelled(words, 2)))];
    }
    match program {
        "find" | "gfind" => return files::find(words),
        "chroot" => return vec![CommandStep::command(rest.get(1..).unwrap_or_default(), given)],
        _ => {}
    }
    if let Some(call) = by_own_rules(program, words, given) {
        return vec![CommandStep::Effect(call)];
    }
    let options: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    for section in [&tables().options, &tables().formatters] {
        let is_of_section = section.programs.all().is_empty() || section.programs.has(program);
        if is_of_section && let Some(effect) = section.effect(program, &options, rest) {
            return vec![CommandStep::effect(effect, format!("`{}`", spelled(words, 2)))];
        }
    }
    match interpreters::step(known, program, words, given) {
        Some(step) => vec![step],
        None => vec![by_name(known, program, words, given)],
    }
}

/// The effect of a program that has rules of its own, in Rust.
fn by_own_rules(program: &str, words: &[CommandWord], given: CommandInput<'_>) -> Option<CallEffect> {
    let rest = &words[1..];
    Some(match program {
        "echo" if rest.iter().any(submits) => CallEffect::new(Effect::Handover, format!("`{}`", spelled(words, 2))),
        "git" => git::effect(words),
        "gh" | "glab" | "hub" => git::hosting(program, words),
        "sed" | "gsed" => files::sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => files::awk(words),
        "sort" => files::sort(words),
        "uniq" => files::uniq(words),
        "tee" => files::tee(words),
        "tar" | "bsdtar" | "gtar" => files::tar(words),
        "ar" if rest.first()?.text.trim_start_matches('-').starts_with(['t', 'p']) => {
            CallEffect::new(Effect::Read, format!("`{}`", spelled(words, 2)))
        }
        "curl" | "wget" | "http" | "https" | "xh" | "httpie" => network::http(program, words),
        "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb" | "clickhouse-client" | "sqlcmd" | "bq" | "snowsql" => {
            network::database(words, given)
        }
        "redis-cli" | "mongosh" | "mongo" => network::key_store(words, given),
        "apply_patch" | "applypatch" => {
            let first = rest.first().map(|word| word.text.as_str());
            let patch = given.input.or(first).unwrap_or_default();
            CallEffect::new(Effect::Edit, "`apply_patch`").touching(patched_files(patch))
        }
        "str_replace_editor" | "str_replace_based_edit_tool" | "edit_anthropic" => files::editor(words),
        _ => return None,
    })
}

/// True for the words with which mini-swe-agent submits.
fn submits(word: &CommandWord) -> bool {
    word.text.contains("COMPLETE_TASK_AND_SUBMIT") || word.text.contains("MINI_SWE_AGENT_FINAL_OUTPUT")
}

/// Any other command: one decided by its name alone, by a package manager or cloud tool, or a script.
fn by_name<'w>(
    known: CommandContext<'_>,
    program: &str,
    words: &'w [CommandWord],
    given: CommandInput<'w>,
) -> CommandStep<'w> {
    let rest = &words[1..];
    if let Some(effect) = tables().commands.effect(program) {
        return CommandStep::Effect(listed(program, effect, words));
    }
    if let Some(call) = packages::effect(program, words) {
        return CommandStep::Effect(call);
    }
    if let Some(inner) = cloud::wrapped(program, rest) {
        return CommandStep::Command(inner, given);
    }
    if let Some(call) = cloud::effect(program, words) {
        return CommandStep::Effect(call);
    }
    let name = words[0].text.as_str();
    if name.contains(['/', '\\']) || CodeLanguage::from_file_name(name).is_some() {
        return CommandStep::Effect(interpreters::script(known, name));
    }
    let effect = by_verbs(program, rest).unwrap_or(Effect::Unknown);
    CommandStep::effect(effect, format!("`{}`", spelled(words, 3)))
}

/// The effect of a command that its name decides, with the files it names.
fn listed(program: &str, effect: Effect, words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let mut call = CallEffect::new(effect, format!("`{}`", spelled(words, 2)));
    // For these programs, all operands are files they change; for others (`kill 12`, `dd of=x`) they can be anything.
    let names_files =
        matches!(program, "rm" | "rmdir" | "mv" | "cp" | "mkdir" | "touch" | "ln" | "chmod" | "truncate" | "unlink");
    if names_files && !rest.iter().any(CommandWord::is_pattern) {
        call = call.touching(operand_texts(rest));
    }
    if matches!(program, "rm" | "unlink" | "rmdir") {
        call.removed.clone_from(&call.touched);
    }
    call
}

/// The effect of an unknown program, by its first operands or by its own name.
fn by_verbs(program: &str, rest: &[CommandWord]) -> Option<Effect> {
    for word in operands(rest).take(3) {
        if let Some(effect) = verbs::by_word(&word.text.to_ascii_lowercase()) {
            return Some(effect);
        }
    }
    match verbs::by_script(program) {
        Some(effect) if effect != Effect::Check => return Some(effect),
        _ => {}
    }
    let checks = |word: &String| matches!(word.as_str(), "test" | "tests" | "lint" | "check");
    if verbs::words_in(program).iter().any(checks) { Some(Effect::Check) } else { None }
}
