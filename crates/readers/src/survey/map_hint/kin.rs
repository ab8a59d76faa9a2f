//! Names that nobody listed: a field called `session_key` or `promptToks` says by its parts what it holds.

use super::{WITHIN, below_objects, highest};
use crate::open::probe::Sketch;
use crate::text::word_list;
use crate::text::words_in;

/// What a field means by its parts: one part of each group has to be there, and none of `not`.
struct Kin {
    meaning: &'static str,
    parts: &'static [&'static [&'static str]],
    not: &'static [&'static str],
}

const TOKEN: &[&str] = &["token", "tokens", "tok", "toks"];
const SENT: &[&str] = &["prompt", "input", "in", "sent", "read"];
const WRITTEN: &[&str] = &["completion", "output", "out", "gen", "generated", "response", "reply", "written"];
/// Parts of names that tell that a number is not what one reply took.
const NOT_SPENT: &[&str] =
    word_list!("cached cache max limit budget left remaining saved far cumulative cum running cents");
/// Parts of names that tell that a number counts something else.
const NOT_ID: &[&str] = &["count", "n", "num", "len", "ms", "time", "at", "start", "end"];

const KIN: [Kin; 8] = [
    Kin {
        meaning: "run",
        parts: &[word_list!(
            "run session conversation convo trace trajectory rollout episode thread chat dialog dialogue job",
        )],
        not: NOT_ID,
    },
    Kin { meaning: "task", parts: &[&["task", "case", "scenario", "problem", "ticket", "question"]], not: NOT_ID },
    Kin { meaning: "model", parts: &[&["model", "llm"]], not: NOT_ID },
    Kin { meaning: "role", parts: &[&["role", "speaker", "actor", "sender", "author"]], not: &["id"] },
    Kin { meaning: "input_tokens", parts: &[TOKEN, SENT], not: NOT_SPENT },
    Kin { meaning: "output_tokens", parts: &[TOKEN, WRITTEN], not: NOT_SPENT },
    Kin { meaning: "tokens", parts: &[TOKEN], not: NOT_SPENT },
    Kin { meaning: "cost", parts: &[&["cost", "usd", "dollars", "price"]], not: NOT_SPENT },
];

/// Whether the name of a field is one of a run's id, by its parts.
pub(super) fn is_run_id(name: &str) -> bool {
    KIN.iter().any(|kin| kin.meaning == "run" && is_like(kin, name))
}

/// Whether the parts of a name tell that the field has this meaning.
fn is_like(kin: &Kin, name: &str) -> bool {
    let parts = words_in(name);
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    kin.parts.iter().all(|words| has(words)) && !has(kin.not)
}

/// The path of the first field whose name tells `meaning` by its parts and whose value fits, the highest first.
pub(super) fn find(
    meaning: &str,
    objects: &[&Sketch],
    fits: &dyn Fn(&Sketch) -> bool,
    is_free: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let kin = KIN.iter().find(|kin| kin.meaning == meaning)?;
    let mut level = highest(objects);
    for _ in 0..WITHIN {
        level = below_objects(&level);
        let here = level.iter().find(|(path, value)| {
            let name = path.rsplit('.').next().unwrap_or(path);
            is_like(kin, name) && fits(value) && is_free(path)
        });
        if let Some((path, _)) = here {
            return Some(path.clone());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_by_their_parts() {
        let meaning = |name: &str| KIN.iter().find(|kin| is_like(kin, name)).map(|kin| kin.meaning);
        for (name, expected) in [
            ("session_key", Some("run")),
            ("threadRef", Some("run")),
            ("run_count", None),
            ("prompt_toks", Some("input_tokens")),
            ("tokensOut", Some("output_tokens")),
            ("cachedInputTokens", None),
            ("tokens_so_far", None),
            ("token_budget_left", None),
            ("cost_cents", None),
            ("total_cost", Some("cost")),
            ("speaker_role", Some("role")),
            ("body", None),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }
}
