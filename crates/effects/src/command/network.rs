//! Clients of web servers, databases and key stores.

use super::super::parts::CallEffect;
use super::super::shell::{Given, Word};
use super::super::{Effect, path, sql, verbs};
use super::options::{has, has_output, operands, spelled};

pub(super) fn of_http(program: &str, words: &[Word]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    let method = rest
        .windows(2)
        .find(|pair| matches!(pair[0].text.as_str(), "-X" | "--request" | "--method"))
        .map(|pair| pair[1].text.to_ascii_uppercase())
        .or_else(|| {
            rest.iter().find_map(|w| w.text.strip_prefix("-X").filter(|m| !m.is_empty()).map(str::to_ascii_uppercase))
        })
        .or_else(|| {
            let first = rest.iter().find(|w| !w.text.starts_with('-')).map(|w| w.text.as_str());
            first.filter(|w| ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(w)).map(str::to_owned)
        });
    let sends = has(
        rest,
        &[
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
        ],
    );
    let asks = method.as_deref().map_or(!sends, |method| matches!(method, "GET" | "HEAD" | "OPTIONS"));
    let here = rest
        .iter()
        .any(|word| ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|host| word.text.contains(host)));
    if !asks {
        let mut told = CallEffect::new(if here { Effect::Check } else { Effect::Unknown }, format!("{why} sends data"));
        told.may_change = true;
        return told;
    }
    let output = if program == "wget" {
        let to_screen = rest.iter().any(|w| w.text == "--spider" || w.text == "-O-" || w.text == "-qO-")
            || has_output(rest, &["-O", "-qO", "--output-document"]).is_some_and(|file| path::is_sink(&file));
        if to_screen { None } else { Some(has_output(rest, &["-O", "--output-document"]).unwrap_or_default()) }
    } else {
        let named = has_output(rest, &["-o", "--output", "-sSLo", "-Lo", "-sLo", "-fsSLo", "-so"]);
        let remote = rest.iter().any(|w| w.text == "--remote-name")
            || rest.iter().any(|w| w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains('O'));
        if remote { Some(String::new()) } else { named.filter(|file| !path::is_sink(file)) }
    };
    match output {
        Some(file) => CallEffect::new(Effect::Edit, format!("{why} saves a file"))
            .touching(Some(file).filter(|file| !file.is_empty()).into_iter().collect()),
        None => CallEffect::new(if here { Effect::Check } else { Effect::Read }, why),
    }
}

pub(super) fn of_database(words: &[Word], given: Given<'_>) -> CallEffect {
    let why = format!("`{}`", spelled(words, 1));
    let rest = &words[1..];
    let texts = rest.iter().map(|word| word.text.as_str()).chain(given.input);
    let effect = texts.filter(|text| text.contains(' ') || text.starts_with(['.', '\\'])).filter_map(sql::effect).max();
    let lists = has(rest, &["-l", "--list"]);
    let effect = if lists { Effect::Read } else { effect.unwrap_or(Effect::Unknown) };
    CallEffect::new(effect, why)
}

pub(super) fn of_key_store(words: &[Word], given: Given<'_>) -> CallEffect {
    let mut said = operands(&words[1..]).map(|word| word.text.to_ascii_lowercase()).collect::<Vec<_>>().join(" ");
    said.push_str(given.input.unwrap_or_default());
    let verbs = verbs::words(&said);
    let looks = [
        "get", "keys", "info", "ping", "find", "findone", "count", "scan", "ttl", "exists", "llen", "show", "mget",
        "hgetall",
    ];
    let changes = |word: &String| {
        verbs::EDIT.iter().any(|verb| word.starts_with(verb))
            || matches!(word.as_str(), "del" | "flushall" | "flushdb" | "eval" | "hset" | "lpush" | "expire" | "incr")
    };
    let effect = if verbs.iter().any(changes) {
        Effect::Edit
    } else if verbs.iter().any(|word| looks.contains(&word.as_str())) {
        Effect::Read
    } else {
        Effect::Unknown
    };
    CallEffect::new(effect, format!("`{}`", spelled(words, 2)))
}
