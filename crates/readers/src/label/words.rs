//! Words that grade a run.

/// Parses a grade in any of its usual spellings.
pub(crate) fn grade_word(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "1" | "1.0" | "yes" | "y" | "success" | "pass" | "passed" | "resolved" | "correct" => Some(true),
        "false" | "0" | "0.0" | "no" | "n" | "failure" | "fail" | "failed" | "unresolved" | "incorrect" => Some(false),
        _ => None,
    }
}

/// Whether the last name of a path is one that outcomes have.
pub(crate) fn may_be_outcome(field: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field).to_lowercase();
    OUTCOME.iter().any(|word| name.contains(word))
}

/// Parts of the names of fields that hold outcomes.
pub(crate) const OUTCOME: &[&str] = &[
    "pass",
    "success",
    "succeed",
    "resolved",
    "solved",
    "correct",
    "reward",
    "score",
    "utility",
    "match",
    "outcome",
    "win",
    "won",
    "accura",
    "grade",
    "verdict",
    "accepted",
    "valid",
    "achieved",
    "completed_task",
    "is_ok",
];
