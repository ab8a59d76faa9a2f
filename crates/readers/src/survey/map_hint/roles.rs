//! The words for roles that mean nothing here: which of the roles each stands for, judged by what its entries hold.

use std::collections::BTreeMap;

use super::text_below;
use crate::open::probe::Sketch;
use crate::record::field_map::FieldMap;

/// How often the entries of a speaker look like those of a role.
#[derive(Default)]
struct Votes {
    assistant: usize,
    tool: usize,
    user: usize,
    n: usize,
}

/// The mapping with a role for each such word, and the words for which none is certain.
pub(super) fn named(map: &FieldMap, runs: &[Vec<&Sketch>]) -> (FieldMap, Vec<String>) {
    let Some(role) = map.get("role") else { return (map.clone(), Vec::new()) };
    let holds = |entry: &Sketch, meaning: &str| {
        let Some(path) = map.get(meaning) else { return false };
        matches!(entry.at(path), Some(value) if !is_empty(value))
    };
    let mut votes: BTreeMap<String, Votes> = BTreeMap::new();
    for run in runs {
        let (mut after_call, mut is_first) = (false, true);
        for entry in run {
            let calls = holds(entry, "calls");
            let Some(word) = text_below(entry, role) else { continue };
            let says = ["text", "calls", "result", "arguments"].iter().any(|meaning| holds(entry, meaning));
            if map.speaker(&word).is_none() && says {
                let counts = ["input_tokens", "output_tokens", "tokens"].iter().any(|tokens| holds(entry, tokens));
                let vote = votes.entry(word.into_owned()).or_default();
                vote.n += 1;
                vote.assistant += usize::from(calls || counts);
                vote.tool += usize::from(after_call && !calls && !counts);
                vote.user += usize::from(is_first && !calls && !counts);
            }
            (after_call, is_first) = (calls || (after_call && !says), false);
        }
    }
    let (mut roles, mut strange): (BTreeMap<&'static str, Vec<String>>, Vec<String>) = Default::default();
    for (word, Votes { assistant, tool, user, n }) in votes {
        let role = if assistant > 0 {
            Some("assistant")
        } else if tool == n {
            Some("tool")
        } else if user > 0 && tool == 0 {
            Some("user")
        } else {
            None
        };
        match role {
            Some(role) => roles.entry(role).or_default().push(word),
            None => strange.push(word),
        }
    }
    let mut map = map.clone();
    for (role, words) in roles {
        if words.iter().all(|word| !word.contains([',', '=', '|'])) {
            map = map.with(role, words.join("|"));
        }
    }
    (map, strange)
}

fn is_empty(value: &Sketch) -> bool {
    match value {
        Sketch::Scalar(raw) => matches!(raw.as_str(), "null" | "\"\""),
        Sketch::Array(elements) => elements.is_empty(),
        Sketch::Object(members) => members.is_empty(),
        Sketch::Head(_) | Sketch::Other => false,
    }
}
