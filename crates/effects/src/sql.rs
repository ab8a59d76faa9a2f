//! Decides whether SQL statements only read.

use crate::Effect;

/// The strongest effect of the statements; `None` if there are none.
pub(crate) fn effect(text: &str) -> Option<Effect> {
    let mut strongest = None;
    for statement in text.split([';', '\n']) {
        let statement = statement.trim_start_matches(['(', ' ', '\t', '\r']);
        let mut words = statement.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '\\'));
        let Some(first) = words.next().filter(|word| !word.is_empty()) else { continue };
        let effect = match first.to_ascii_lowercase().as_str() {
            "select" | "values" | "table" => {
                let writes = words.any(|word| word.eq_ignore_ascii_case("into"));
                if writes { Effect::Edit } else { Effect::Read }
            }
            "with" | "explain" => {
                let changes = |word: &str| {
                    ["insert", "update", "delete", "merge"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
                };
                if words.any(changes) { Effect::Edit } else { Effect::Read }
            }
            "show" | "describe" | "desc" | "use" | "begin" | "commit" | "rollback" | "end" => Effect::Read,
            "pragma" => {
                if statement.contains('=') {
                    Effect::Edit
                } else {
                    Effect::Read
                }
            }
            "insert" | "update" | "delete" | "create" | "drop" | "alter" | "replace" | "truncate" | "grant"
            | "revoke" | "merge" | "vacuum" | "reindex" | "attach" | "copy" | "set" | "call" | "do" | "rename" => {
                Effect::Edit
            }
            word if word.starts_with('.') => match word {
                ".import" | ".restore" | ".save" | ".backup" | ".output" | ".once" | ".clone" | ".read" => Effect::Edit,
                ".shell" | ".system" => Effect::Unknown,
                _ => Effect::Read,
            },
            word if word.starts_with('\\') => match word {
                "\\i" | "\\copy" | "\\o" | "\\!" => Effect::Unknown,
                _ => Effect::Read,
            },
            // A continuation of the line before: `FROM`, a column, a value.
            _ => continue,
        };
        strongest = strongest.max(Some(effect));
    }
    strongest
}
