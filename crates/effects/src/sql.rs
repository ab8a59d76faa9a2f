//! Decides whether SQL statements only read.

use crate::Effect;
use crate::tables::tables;

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
            "pragma" if statement.contains('=') => Effect::Edit,
            "pragma" => Effect::Read,
            word => match tables().sql.effect(word) {
                Some(effect) => effect,
                None if word.starts_with(['.', '\\']) => Effect::Read,
                // A continuation of the line before: `FROM`, a column, a value.
                None => continue,
            },
        };
        strongest = strongest.max(Some(effect));
    }
    strongest
}
