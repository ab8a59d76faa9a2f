//! Clients of web servers, databases and key stores.

use super::step::CommandInput;
use crate::parts::CallEffect;
use crate::tables::tables;
use crate::words::{CommandWord, has, operands, spelled, value_after};
use crate::{Effect, path, sql, verbs};

/// Options of `curl` and `wget` that send data.
const SENDS: [&str; 12] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--post-data",
    "--post-file",
];

pub(super) fn http(program: &str, words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    let asks = match method(rest).as_deref() {
        Some(method) => matches!(method, "GET" | "HEAD" | "OPTIONS"),
        None => !has(rest, &SENDS),
    };
    let is_local = rest.iter().any(|word| names_this_machine(&word.text));
    if !asks {
        let effect = if is_local { Effect::Check } else { Effect::Unknown };
        let mut call = CallEffect::new(effect, format!("{why} sends data"));
        call.may_change = true;
        return call;
    }
    match saved_file(program, rest) {
        Some(file) => {
            let named = if file.is_empty() { Vec::new() } else { vec![file] };
            CallEffect::new(Effect::Edit, format!("{why} saves a file")).touching(named)
        }
        None => CallEffect::new(if is_local { Effect::Check } else { Effect::Read }, why),
    }
}

fn names_this_machine(word: &str) -> bool {
    ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|host| word.contains(host))
}

/// The method of a request, in capitals, if the command names one.
fn method(rest: &[CommandWord]) -> Option<String> {
    for pair in rest.windows(2) {
        if matches!(pair[0].text.as_str(), "-X" | "--request" | "--method") {
            return Some(pair[1].text.to_ascii_uppercase());
        }
    }
    for word in rest {
        if let Some(method) = word.text.strip_prefix("-X")
            && !method.is_empty()
        {
            return Some(method.to_ascii_uppercase());
        }
    }
    // HTTPie takes the method as a word.
    let first = operands(rest).next()?.text.as_str();
    match first {
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" => Some(first.to_owned()),
        _ => None,
    }
}

/// The file in which the answer is saved, empty if the address names it; `None` if it is shown.
fn saved_file(program: &str, rest: &[CommandWord]) -> Option<String> {
    if program == "wget" {
        let shows = rest.iter().any(|word| matches!(word.text.as_str(), "--spider" | "-O-" | "-qO-"));
        match value_after(rest, &["-O", "-qO", "--output-document"]) {
            _ if shows => return None,
            Some(file) if path::is_sink(&file) => return None,
            _ => {}
        }
        return Some(value_after(rest, &["-O", "--output-document"]).unwrap_or_default());
    }
    for word in rest {
        if word.text == "--remote-name" || (word.is_short_option() && word.text.contains('O')) {
            return Some(String::new());
        }
    }
    let named = value_after(rest, &["-o", "--output", "-sSLo", "-Lo", "-sLo", "-fsSLo", "-so"]);
    named.filter(|file| !path::is_sink(file))
}

pub(super) fn database(words: &[CommandWord], given: CommandInput<'_>) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    if has(rest, &["-l", "--list"]) {
        return CallEffect::new(Effect::Read, why);
    }
    let mut strongest = None;
    for text in rest.iter().map(|word| word.text.as_str()).chain(given.input) {
        // A single word is the name of a database or a file.
        if text.contains(' ') || text.starts_with(['.', '\\']) {
            strongest = strongest.max(sql::effect(text));
        }
    }
    CallEffect::new(strongest.unwrap_or(Effect::Unknown), why)
}

pub(super) fn key_store(words: &[CommandWord], given: CommandInput<'_>) -> CallEffect {
    let operands: Vec<&str> = operands(&words[1..]).map(|word| word.text.as_str()).collect();
    // The input follows without a blank, as if typed.
    let text = operands.join(" ").to_ascii_lowercase() + given.input.unwrap_or_default();
    let mut strongest = None;
    for word in verbs::words_in(&text) {
        let effect = if begins_with_edit(&word) { Some(Effect::Edit) } else { tables().key_stores.effect(&word) };
        strongest = strongest.max(effect);
    }
    CallEffect::new(strongest.unwrap_or(Effect::Unknown), format!("`{}`", spelled(words, 2)))
}

/// True for `update` and `updateone`.
fn begins_with_edit(word: &str) -> bool {
    match tables().verbs.by_effect().get(&Effect::Edit) {
        Some(verbs) => verbs.all().iter().any(|verb| word.starts_with(verb)),
        None => false,
    }
}
