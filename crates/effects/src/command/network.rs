//! Clients of web servers, databases and key stores.

use super::step::CommandInput;
use crate::parts::CallEffect;
use crate::tables::tables;
use crate::text::word_list;
use crate::words::{CommandWord, has, operands, request_method, spelled, value_after};
use crate::{Effect, path, sql, verbs};

/// Options of `curl` and `wget` that send data.
const SENDS: &[&str] = word_list!(
    "-d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file --post-data --post-file",
);

pub(super) fn http(program: &str, words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    let asks = match request_method(rest).or_else(|| method_word(rest)).as_deref() {
        Some(method) => matches!(method, "GET" | "HEAD" | "OPTIONS"),
        None => !has(rest, SENDS),
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

/// The method that HTTPie takes as a word.
fn method_word(rest: &[CommandWord]) -> Option<String> {
    let first = operands(rest).next()?.text.as_str();
    ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(&first).then(|| first.to_owned())
}

/// The file in which the answer is saved, empty if the address names it; `None` if it is shown.
fn saved_file(program: &str, rest: &[CommandWord]) -> Option<String> {
    if program == "wget" {
        let shows = rest.iter().any(|word| matches!(word.text.as_str(), "--spider" | "-O-" | "-qO-"));
        if shows || value_after(rest, &["-O", "-qO", "--output-document"]).is_some_and(|file| path::is_sink(&file)) {
            return None;
        }
        return Some(value_after(rest, &["-O", "--output-document"]).unwrap_or_default());
    }
    let names_none = |word: &CommandWord| word.is_short_option() && word.text.contains('O');
    if rest.iter().any(|word| word.text == "--remote-name" || names_none(word)) {
        return Some(String::new());
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
    // A single word is the name of a database or a file.
    let is_statement = |text: &&str| text.contains(' ') || text.starts_with(['.', '\\']);
    let texts = rest.iter().map(|word| word.text.as_str()).chain(given.input);
    let strongest = texts.filter(is_statement).filter_map(sql::effect).max();
    CallEffect::new(strongest.unwrap_or(Effect::Unknown), why)
}

pub(super) fn key_store(words: &[CommandWord], given: CommandInput<'_>) -> CallEffect {
    let operands: Vec<&str> = operands(&words[1..]).map(|word| word.text.as_str()).collect();
    // The input follows without a blank, as if typed.
    let text = operands.join(" ").to_ascii_lowercase() + given.input.unwrap_or_default();
    let effect =
        |word: &String| if begins_with_edit(word) { Some(Effect::Edit) } else { tables().key_stores.effect(word) };
    let strongest = verbs::words_in(&text).iter().filter_map(effect).max();
    CallEffect::new(strongest.unwrap_or(Effect::Unknown), format!("`{}`", spelled(words, 2)))
}

/// True for `update` and `updateone`.
fn begins_with_edit(word: &str) -> bool {
    let edits = tables().verbs.by_effect().get(&Effect::Edit);
    edits.is_some_and(|verbs| verbs.all().iter().any(|verb| word.starts_with(verb)))
}
