//! Commands of `git` and of the command-line tools of its hosting sites.

use crate::Effect;
use crate::parts::CallEffect;
use crate::tables::tables;
use crate::words::{CommandWord, after_options, has, operand_texts, operands, request_method, spelled};

/// The effect of a `git` command.
pub(crate) fn effect(words: &[CommandWord]) -> CallEffect {
    let git = &tables().git;
    let rest = after_options(&words[1..], git.options_with_value("git"));
    let Some((first, arguments)) = rest.split_first() else { return CallEffect::new(Effect::Read, "`git`") };
    let why = format!("`git {}`", spelled(rest, 2));
    let command = first.text.as_str();
    let mut names = vec![command];
    names.extend(operands(arguments).map(|word| word.text.as_str()));
    // Without a rule it is an alias or an extension.
    let Some(rule) = git.rule("git", &names, arguments) else { return CallEffect::new(Effect::Unknown, why) };
    let mut call = CallEffect::new(rule.effect, why);
    if rule.names_files {
        call = call.touching(changed(command, arguments));
        // These change the index or git's own records, and no file.
        if matches!(command, "add" | "stage" | "init" | "gc" | "prune" | "repack" | "pack-refs") {
            call.blind = false;
        }
    }
    if rule.effect == Effect::Edit {
        call.discards = discarded(command, arguments);
    }
    call
}

/// The files that a command names as those it changes.
fn changed(command: &str, arguments: &[CommandWord]) -> Vec<String> {
    if let Some(named) = after_dashes(arguments) {
        return named.iter().map(|word| word.text.clone()).collect();
    }
    match command {
        "rm" | "mv" | "restore" => operand_texts(arguments),
        _ => Vec::new(),
    }
}

/// The words after `--`, if there is one.
fn after_dashes(arguments: &[CommandWord]) -> Option<&[CommandWord]> {
    let at = arguments.iter().position(|word| word.text == "--")?;
    Some(&arguments[at + 1..])
}

/// The files and directories whose changes a command discards; `.` for all of them. An operand of `checkout` can be a
/// branch; it is a file if a file of that name was changed.
fn discarded(command: &str, arguments: &[CommandWord]) -> Vec<String> {
    let all = || vec![".".to_owned()];
    match command {
        "checkout" if has(arguments, &["-f", "--force"]) => all(),
        "checkout" if has(arguments, &["-b", "-B", "--orphan"]) => Vec::new(),
        "checkout" => operand_texts(after_dashes(arguments).unwrap_or(arguments)),
        "restore" if has(arguments, &["--staged", "-S"]) && !has(arguments, &["--worktree", "-W"]) => Vec::new(),
        "restore" => operand_texts(arguments),
        "reset" if has(arguments, &["--hard"]) => all(),
        "revert" => all(),
        // Stashing takes the changes out of the files; popping does not.
        "stash" => match operands(arguments).next() {
            None => all(),
            Some(word) if matches!(word.text.as_str(), "push" | "save") => all(),
            Some(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The effect of `gh` and similar tools.
pub(crate) fn hosting(program: &str, words: &[CommandWord]) -> CallEffect {
    let hosting = &tables().hosting;
    let rest = after_options(&words[1..], hosting.options_with_value(program));
    let names: Vec<&str> = operands(rest).map(|word| word.text.as_str()).collect();
    let effect = if names.first() == Some(&"api") {
        by_request(rest)
    } else {
        hosting.effect(program, &names, rest).unwrap_or(Effect::Unknown)
    };
    CallEffect::new(effect, format!("`{}`", spelled(words, 3)))
}

/// The effect of a request to a site's interface: `gh api`.
fn by_request(rest: &[CommandWord]) -> Effect {
    if rest.iter().any(|word| word.text == "graphql") {
        return by_query(rest);
    }
    let sends = has(rest, &["-f", "-F", "--field", "--raw-field", "--input"]);
    match request_method(rest).as_deref() {
        Some("GET" | "HEAD") => Effect::Read,
        Some(_) => Effect::Handover,
        None if sends => Effect::Handover,
        None => Effect::Read,
    }
}

/// The effect of a GraphQL request: mutations hand over, and a query that is not shown is unknown.
fn by_query(rest: &[CommandWord]) -> Effect {
    let changes = |word: &CommandWord| word.text.trim_start_matches("query=").trim_start().starts_with("mutation");
    if rest.iter().any(changes) {
        return Effect::Handover;
    }
    let is_shown = rest.iter().any(|word| word.text.starts_with("query=") && !word.varies);
    if is_shown { Effect::Read } else { Effect::Unknown }
}
