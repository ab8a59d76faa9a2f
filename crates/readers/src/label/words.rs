//! Words that grade a run.

use crate::text::word_list;

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

/// Whether a field counts things, by its name, so that 1 is a number and not yes: `tests_passed`, `stats.succeeded`.
pub(crate) fn counts_things(field: &str) -> bool {
    const COUNTS: [&str; 6] = ["n", "num", "number", "count", "counts", "nr"];
    const COUNTERS: [&str; 4] = ["stats", "counters", "counts", "totals"];
    let mut path = field.rsplit('.');
    let name = path.next().unwrap_or(field).to_lowercase();
    let is_plural = |word: &str| {
        word.len() > 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && !word.starts_with("reward")
            && word != "status"
    };
    let counts = |word: &str| COUNTS.contains(&word) || is_plural(word);
    name.split(['_', '-', ' ']).any(counts) || path.any(|part| COUNTERS.contains(&part))
}

/// Parts of the names of fields that hold outcomes.
pub(crate) const OUTCOME: &[&str] = word_list!(
    "pass success succeed resolved solved correct reward score utility match outcome win won accura grade verdict",
    "accepted valid achieved completed_task is_ok",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_from_grades_by_their_names() {
        for field in
            ["stats.tool_calls_succeeded", "tests_passed", "num_passed", "n_correct", "successes", "stats.passed"]
        {
            assert!(counts_things(field), "{field}");
        }
        for field in ["success", "passed", "evaluation.utility", "is_pass", "rewards", "info.resolved"] {
            assert!(!counts_things(field), "{field}");
        }
    }
}
