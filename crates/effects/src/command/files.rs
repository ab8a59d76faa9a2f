//! Programs that look at files, unless an option or their own script says otherwise.

use super::super::parts::CallEffect;
use super::super::programs::{self, Awk};
use super::super::shell::{Given, Shell, Word};
use super::super::{Effect, path};
use super::interpreters::run_rest;
use super::options::{after_options, has, spelled};

pub(super) fn of_find(shell: &mut Shell<'_>, words: &[Word]) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "-delete" => shell.parts.push(Effect::Edit, "`find -delete`"),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                shell.parts.push(Effect::Edit, format!("`find {}`", word.text));
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let inner = &words[at + 1..];
                let end = inner.iter().position(|word| matches!(word.text.as_str(), ";" | "+" | "\\;"));
                let end = end.unwrap_or(inner.len());
                run_rest(shell, &inner[..end], Given::default());
                at += end;
            }
            _ => {}
        }
        at += 1;
    }
    shell.parts.push(Effect::Read, "`find`");
}

pub(super) fn of_sed(words: &[Word]) -> CallEffect {
    let rest = &words[1..];
    let in_place = rest.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with("--in-place")
            || (text.starts_with('-') && !text.starts_with("--") && {
                let flags = text[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
                // In `-es/a/i/`, the text after `e` is a script.
                flags.find('i').is_some_and(|i| !flags[..i].contains(['e', 'f']))
            })
    });
    let explicit: Vec<&str> = rest
        .windows(2)
        .filter(|pair| matches!(pair[0].text.as_str(), "-e" | "--expression"))
        .map(|pair| pair[1].text.as_str())
        .collect();
    let takes_value =
        |before: Option<&Word>| before.is_some_and(|word| matches!(word.text.as_str(), "-e" | "--expression"));
    let mut plain: Vec<&Word> = (0..rest.len())
        .filter(|at| !takes_value(at.checked_sub(1).map(|before| &rest[before])))
        .map(|at| &rest[at])
        .filter(|word| !word.text.starts_with('-'))
        .collect();
    let mut scripts = explicit.clone();
    if explicit.is_empty() && !has(rest, &["-f"]) && !plain.is_empty() {
        // On macOS `-i` takes a suffix, which is often empty.
        if plain[0].text.is_empty() {
            plain.remove(0);
        }
        if !plain.is_empty() {
            scripts.push(&plain.remove(0).text);
        }
    }
    let why = format!("`{}`", spelled(words, 2));
    if in_place {
        let varies = plain.iter().any(|word| word.varies || word.text.contains(['*', '?', '{']));
        let files = plain.iter().map(|word| word.text.clone()).collect();
        let told = CallEffect::new(Effect::Edit, why);
        return if varies { told } else { told.touching(files) };
    }
    match scripts.iter().find_map(|script| programs::sed_writes(script)) {
        Some("w") => CallEffect::new(Effect::Edit, format!("{why} with a `w` command")),
        Some(_) => CallEffect::new(Effect::Unknown, format!("{why} with an `e` command")),
        None => CallEffect::new(Effect::Read, why),
    }
}

pub(super) fn of_awk(words: &[Word]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    if rest.windows(2).any(|pair| pair[0].text == "-i" && pair[1].text == "inplace") {
        return CallEffect::new(Effect::Edit, format!("{why} -i inplace"));
    }
    let Some(program) = after_options(rest, &["-F", "-v", "-f", "--field-separator", "--assign"]).first() else {
        return CallEffect::new(Effect::Read, why);
    };
    if has(rest, &["-f"]) {
        return CallEffect::new(Effect::Read, why);
    }
    match programs::awk(&program.text) {
        Awk::Prints => CallEffect::new(Effect::Read, why),
        Awk::Writes(file) => {
            CallEffect::new(Effect::Edit, format!("{why} prints into a file")).touching(file.into_iter().collect())
        }
        Awk::Starts => CallEffect::new(Effect::Unknown, format!("{why} starts a command")),
    }
}

pub(super) fn of_output(words: &[Word], output: Option<String>) -> CallEffect {
    let why = format!("`{}`", spelled(words, 2));
    match output.filter(|file| !path::is_sink(file)) {
        Some(file) => CallEffect::new(Effect::Edit, why).touching(vec![file]),
        None => CallEffect::new(Effect::Read, why),
    }
}

pub(super) fn of_tar(words: &[Word]) -> CallEffect {
    let first = words.get(1).map(|word| word.text.trim_start_matches('-')).unwrap_or_default();
    let rest = &words[1..];
    let lists =
        has(rest, &["-t", "--list", "-d", "--diff"]) || (!first.contains(['x', 'c', 'r', 'u']) && first.contains('t'));
    let shows = has(rest, &["-O", "--to-stdout"]);
    let streams = rest.windows(2).any(|pair| pair[0].text.ends_with('f') && pair[1].text == "-") && first.contains('c');
    CallEffect::new(
        if lists || shows || streams { Effect::Read } else { Effect::Edit },
        format!("`{}`", spelled(words, 2)),
    )
}

/// The files that an `apply_patch` patch names.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let heads = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];
    let named = |line: &str| heads.iter().find_map(|head| line.strip_prefix(head)).map(|file| file.trim().to_owned());
    patch.lines().filter_map(named).collect()
}
