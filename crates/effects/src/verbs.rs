//! Effects suggested by a name: `get_order_details` looks, `updateIssue` changes, `transfer_to_human_agents` hands
//! over.

pub(crate) use crate::text::words_in;

use crate::Effect;
use crate::path;
use crate::tables::{WordPatterns, tables};

/// True if one of the words is one of these.
pub(crate) fn has_one(words: &[String], names: &WordPatterns) -> bool {
    words.iter().any(|word| names.has(word))
}

/// The effect a single word suggests.
pub(crate) fn by_word(word: &str) -> Option<Effect> {
    tables().verbs.effect(word)
}

/// The strongest effect that one of the words suggests.
fn strongest(words: &[String]) -> Option<Effect> {
    words.iter().filter_map(|word| by_word(word)).max()
}

/// The effect a tool's name suggests. The first word decides if it is a verb in the tables, else the strongest verb.
/// `None` if no word is such a verb.
pub(crate) fn by_name(name: &str) -> Option<Effect> {
    let words = words_in(name);
    let first = words.first()?.as_str();
    match by_word(first) {
        Some(Effect::Read) => Some(also_works(&words).unwrap_or(Effect::Read)),
        Some(Effect::Edit) if asks_others(&words) => Some(Effect::Handover),
        Some(effect) => Some(effect),
        None if matches!(first, "run" | "execute") => {
            let checks = words.iter().any(|word| by_word(word) == Some(Effect::Check));
            if checks { Some(Effect::Check) } else { None }
        }
        None => strongest(&words),
    }
}

/// The edit or handover in a name such as `get_or_create_cart`.
fn also_works(words: &[String]) -> Option<Effect> {
    for pair in words.windows(2) {
        if matches!(pair[0].as_str(), "or" | "and") {
            return by_word(&pair[1]).filter(|effect| effect.is_work());
        }
    }
    None
}

/// True for names such as `create_pull_request`.
fn asks_others(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "pull" | "merge" | "pr" | "review" | "release"))
}

/// The effect a script's name suggests: `edit_models.py` edits, `test_edit.py` checks.
pub(crate) fn by_script(file: &str) -> Option<Effect> {
    let name = path::file_name(file);
    let stem = match name.rsplit_once('.') {
        Some((stem, _)) => stem,
        None => name,
    };
    let words = words_in(stem);
    let by_first = tables().scripts.effect(words.first()?);
    by_first.or_else(|| strongest(&words).filter(|effect| effect.is_work()))
}

/// The effect of a target or script of a task runner, by its name: `lint:fix` edits, `deploy:prod` hands over, all
/// others check.
pub(crate) fn by_target(name: &str) -> Effect {
    let words = words_in(name);
    let targets = &tables().targets;
    if has_one(&words, &targets.handover) {
        Effect::Handover
    } else if has_one(&words, &targets.edit) {
        if has_one(&words, &targets.dry) { Effect::Check } else { Effect::Edit }
    } else if has_one(&words, &targets.read) {
        Effect::Read
    } else {
        Effect::Check
    }
}
