//! Programs that look at files, unless an option or their own script says otherwise.

use super::step::{CommandInput, CommandStep};
use crate::Effect;
use crate::parts::CallEffect;
use crate::path;
use crate::sed_awk::{self, Awk};
use crate::words::{CommandWord, after_options, has, operand_texts, operands, spelled, value_after};

pub(super) fn find(words: &[CommandWord]) -> Vec<CommandStep<'_>> {
    let mut steps = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "-delete" => steps.push(CommandStep::effect(Effect::Edit, "`find -delete`")),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                steps.push(CommandStep::effect(Effect::Edit, format!("`find {}`", word.text)));
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let inner = &words[at + 1..];
                let n_words = inner.iter().take_while(|word| !matches!(word.text.as_str(), ";" | "+" | "\\;")).count();
                steps.push(CommandStep::command(&inner[..n_words], CommandInput::default()));
                at += n_words;
            }
            _ => {}
        }
        at += 1;
    }
    steps.push(CommandStep::effect(Effect::Read, "`find`"));
    steps
}

pub(super) fn sed(words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 2));
    let (scripts, files) = scripts_and_files(rest);
    if rest.iter().any(|word| edits_in_place(&word.text)) {
        let call = CallEffect::new(Effect::Edit, why);
        if files.iter().any(|file| file.is_pattern()) {
            return call;
        }
        return call.touching(files.iter().map(|file| file.text.clone()).collect());
    }
    for script in scripts {
        match sed_awk::sed_writes(&script.text) {
            Some("w") => return CallEffect::new(Effect::Edit, format!("{why} with a `w` command")),
            Some(_) => return CallEffect::new(Effect::Unknown, format!("{why} with an `e` command")),
            None => {}
        }
    }
    CallEffect::new(Effect::Read, why)
}

/// True for `-i`, `-i.bak`, `-ni` and `--in-place`.
fn edits_in_place(word: &str) -> bool {
    if word.starts_with("--") {
        return word.starts_with("--in-place");
    }
    let Some(options) = word.strip_prefix('-') else { return false };
    for option in options.chars() {
        match option {
            'i' => return true,
            // In `-es/a/i/`, the text after `e` is a script.
            'e' | 'f' => return false,
            c if !c.is_ascii_alphabetic() => return false,
            _ => {}
        }
    }
    false
}

/// The scripts and the files of a `sed` command. Without `-e` and `-f`, the first operand is the script.
fn scripts_and_files(rest: &[CommandWord]) -> (Vec<&CommandWord>, Vec<&CommandWord>) {
    let (mut scripts, mut files) = (Vec::new(), Vec::new());
    let mut takes_value = false;
    for word in rest {
        if takes_value {
            scripts.push(word);
        } else if !word.text.starts_with('-') {
            files.push(word);
        }
        takes_value = matches!(word.text.as_str(), "-e" | "--expression");
    }
    if scripts.is_empty() && !has(rest, &["-f"]) {
        // On macOS `-i` takes a suffix, which is often empty.
        if files.first().is_some_and(|suffix| suffix.text.is_empty()) {
            files.remove(0);
        }
        if !files.is_empty() {
            scripts.push(files.remove(0));
        }
    }
    (scripts, files)
}

pub(super) fn awk(words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    if rest.windows(2).any(|pair| pair[0].text == "-i" && pair[1].text == "inplace") {
        return CallEffect::new(Effect::Edit, format!("{why} -i inplace"));
    }
    let program = after_options(rest, &["-F", "-v", "-f", "--field-separator", "--assign"]).first();
    match program {
        Some(program) if !has(rest, &["-f"]) => match sed_awk::awk(&program.text) {
            Awk::Prints => CallEffect::new(Effect::Read, why),
            Awk::Writes(file) => {
                CallEffect::new(Effect::Edit, format!("{why} prints into a file")).touching(file.into_iter().collect())
            }
            Awk::Starts => CallEffect::new(Effect::Unknown, format!("{why} starts a command")),
        },
        _ => CallEffect::new(Effect::Read, why),
    }
}

pub(super) fn sort(words: &[CommandWord]) -> CallEffect {
    let why = format!("`{}`", spelled(words, 2));
    match value_after(&words[1..], &["-o", "--output"]) {
        Some(file) if !path::is_sink(&file) => CallEffect::new(Effect::Edit, why).touching(vec![file]),
        _ => CallEffect::new(Effect::Read, why),
    }
}

pub(super) fn uniq(words: &[CommandWord]) -> CallEffect {
    let why = format!("`{}`", spelled(words, 2));
    match operands(&words[1..]).nth(1) {
        Some(file) => CallEffect::new(Effect::Edit, why).touching(vec![file.text.clone()]),
        None => CallEffect::new(Effect::Read, why),
    }
}

pub(super) fn tee(words: &[CommandWord]) -> CallEffect {
    let why = format!("`{}`", spelled(words, 2));
    let mut files = operand_texts(&words[1..]);
    files.retain(|file| !path::is_sink(file));
    if files.is_empty() {
        return CallEffect::new(Effect::Read, why);
    }
    CallEffect::new(Effect::Edit, why).touching(files)
}

pub(super) fn tar(words: &[CommandWord]) -> CallEffect {
    let rest = &words[1..];
    let first = match rest.first() {
        Some(word) => word.text.trim_start_matches('-'),
        None => "",
    };
    let lists =
        has(rest, &["-t", "--list", "-d", "--diff"]) || (!first.contains(['x', 'c', 'r', 'u']) && first.contains('t'));
    let shows = has(rest, &["-O", "--to-stdout"]);
    let streams = first.contains('c') && rest.windows(2).any(|pair| pair[0].text.ends_with('f') && pair[1].text == "-");
    let effect = if lists || shows || streams { Effect::Read } else { Effect::Edit };
    CallEffect::new(effect, format!("`{}`", spelled(words, 2)))
}

/// SWE-agent's editor as a command: `str_replace_editor view a.py`.
pub(super) fn editor(words: &[CommandWord]) -> CallEffect {
    let why = format!("`{}`", spelled(words, 2));
    match words.get(1) {
        Some(word) if word.text == "view" => CallEffect::new(Effect::Read, why),
        _ => {
            let file = words.iter().skip(2).take(1).map(|word| word.text.clone());
            CallEffect::new(Effect::Edit, why).touching(file.collect())
        }
    }
}

/// The files that an `apply_patch` patch names.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in patch.lines() {
        for head in ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"] {
            if let Some(file) = line.strip_prefix(head) {
                files.push(file.trim().to_owned());
            }
        }
    }
    files
}
