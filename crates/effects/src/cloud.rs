//! Commands of containers, clusters, infrastructure tools and cloud providers.

use crate::Effect;
use crate::parts::CallEffect;
use crate::tables::{Section, tables};
use crate::verbs;
use crate::words::{CommandWord, after_options, operands, spelled};

/// The command that runs elsewhere: `docker exec web ls`.
pub(crate) fn wrapped<'w>(program: &str, rest: &'w [CommandWord]) -> Option<&'w [CommandWord]> {
    let remote = &tables().remote;
    if !remote.programs.has(program) {
        return None;
    }
    let with_value = remote.options_with_value(program);
    let mut rest = after_options(rest, with_value);
    let is_container = matches!(program, "docker" | "podman" | "nerdctl");
    if is_container && matches!(rest.first()?.text.as_str(), "compose" | "container") {
        rest = after_options(&rest[1..], with_value);
    }
    if !matches!(rest.first()?.text.as_str(), "exec" | "run" | "ssh") {
        return None;
    }
    // The next word is the container or the machine.
    let inner = after_options(&rest[1..], with_value).get(1..)?;
    let inner = match inner.first()?.text.as_str() {
        "--" => &inner[1..],
        _ => after_options(inner, with_value),
    };
    if inner.is_empty() { None } else { Some(inner) }
}

/// The effect of such a command, unless it is [`wrapped`]; `None` for any other program.
pub(crate) fn effect(program: &str, words: &[CommandWord]) -> Option<CallEffect> {
    let rest = &words[1..];
    let lower: Vec<String> = operands(rest).take(4).map(|word| word.text.to_ascii_lowercase()).collect();
    let names: Vec<&str> = lower.iter().map(String::as_str).collect();
    let tables = tables();
    let decided = |section: &Section, names: &[&str]| section.effect(program, names, rest);
    let effect = if tables.containers.programs.has(program) {
        let in_group = names.first().is_some_and(|name| tables.containers.groups.has(name));
        decided(&tables.containers, if in_group { &names[1..] } else { &names })
    } else if tables.clusters.programs.has(program) {
        decided(&tables.clusters, &names)
    } else if tables.builders.programs.has(program) {
        decided(&tables.builders, &names)
    } else if tables.hosts.programs.has(program) {
        decided(&tables.hosts, &names).or_else(|| by_strongest_word(&names))
    } else if tables.clouds.programs.has(program) {
        decided(&tables.clouds, &names).or_else(|| by_first_verb(&names))
    } else {
        return None;
    };
    Some(CallEffect::new(effect.unwrap_or(Effect::Unknown), format!("`{}`", spelled(words, 3))))
}

/// The effect of a command of a host: `firebase deploy`, `heroku apps:create`.
fn by_strongest_word(names: &[&str]) -> Option<Effect> {
    let mut strongest = None;
    for name in names.iter().take(3) {
        let word = match name.rsplit_once(':') {
            Some((_, word)) => word,
            None => name,
        };
        strongest = strongest.max(tables().host_words.effect(word).or_else(|| verbs::by_word(word)));
    }
    strongest
}

/// The effect of a command of a cloud: `gcloud sql databases create NAME`, `aws ec2 describe-instances`.
fn by_first_verb(names: &[&str]) -> Option<Effect> {
    for name in names {
        if let Some(verb) = verbs::words_in(name).first()
            && let Some(effect) = verbs::by_word(verb)
        {
            return Some(effect);
        }
    }
    match names.first() {
        Some(&("login" | "logout")) => Some(Effect::Edit),
        _ => None,
    }
}
