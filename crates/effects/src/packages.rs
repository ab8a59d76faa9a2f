//! Package managers, build tools and task runners: the effects of their sub-commands.

use crate::Effect;
use crate::parts::CallEffect;
use crate::tables::{ByManager, tables};
use crate::verbs;
use crate::words::{CommandWord, after_options, operands, spelled};

/// The effect of a package manager or build tool; `None` for any other program.
pub(crate) fn effect(program: &str, words: &[CommandWord]) -> Option<CallEffect> {
    let managers = &tables().managers;
    let program = program.trim_end_matches(".sh");
    if !managers.programs.has(program) {
        return None;
    }
    let mut rest = &words[1..];
    // A toolchain: `cargo +nightly`.
    if let Some(first) = rest.first()
        && first.text.starts_with('+')
    {
        rest = &rest[1..];
    }
    let arguments = after_options(rest, managers.options_with_value(program));
    let mut names: Vec<&str> = Vec::new();
    if managers.options_first.has(program)
        && let Some(first) = rest.first()
    {
        names.push(&first.text);
    }
    for word in operands(arguments) {
        // `CC=clang` sets a variable.
        if !word.text.contains('=') {
            names.push(&word.text);
        }
    }
    let effect = match managers.effect(program, &names, rest).unwrap_or(ByManager::VerbsElse(Effect::Unknown)) {
        ByManager::Effect(effect) => effect,
        ByManager::Pip => return self::effect("pip", arguments),
        ByManager::Django => return Some(django(arguments)),
        ByManager::WordsAfterDashes => by_words_after_dashes(rest),
        ByManager::ScriptName => verbs::by_target(names[1]),
        ByManager::TargetNames => names.iter().map(|name| verbs::by_target(name)).max().unwrap_or(Effect::Check),
        ByManager::ValueOfTarget => by_value_of_target(rest),
        ByManager::VerbsElse(otherwise) => by_verbs(&names).unwrap_or(otherwise),
    };
    Some(CallEffect::new(effect, format!("`{}`", spelled(words, 3))))
}

/// The effect of a sub-command that is the user's own, by the first words of its name and arguments.
fn by_verbs(names: &[&str]) -> Option<Effect> {
    names.iter().take(4).filter_map(|name| verbs::by_word(name).or_else(|| verbs::by_name(name))).max()
}

/// The effect of a program that is built and run (`cargo run -- add x`), by its own sub-command.
fn by_words_after_dashes(rest: &[CommandWord]) -> Effect {
    let own = rest.iter().skip_while(|word| word.text != "--").skip(1);
    let operands = own.filter(|word| !word.text.starts_with('-')).take(3);
    let works = operands.filter_map(|word| verbs::by_word(&word.text)).filter(|effect| effect.is_work());
    works.fold(Effect::Check, Effect::max)
}

/// The effect of `cmake`: `--target install` edits, anything else checks.
fn by_value_of_target(rest: &[CommandWord]) -> Effect {
    let installs = rest.windows(2).any(|pair| pair[0].text == "--target" && pair[1].text == "install");
    if installs { Effect::Edit } else { Effect::Check }
}

/// The effect of a management command of Django or Laravel.
pub(crate) fn django(words: &[CommandWord]) -> CallEffect {
    let names: Vec<&str> = operands(words).map(|word| word.text.as_str()).collect();
    let effect = tables().django.effect("django", &names, words).unwrap_or(Effect::Check);
    CallEffect::new(effect, format!("`manage {}`", spelled(words, 1)))
}
