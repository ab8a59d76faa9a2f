//! What was compared, in one line.

use crate::answers::headline::Headline;
use crate::diagnostic::count;

/// What was compared, in one line: `dev part: 40 runs of 8 tasks: 30 successes, 10 failures`; `nothing` if there is no
/// run.
pub fn headline(headline: Option<&Headline>) -> String {
    let Some(headline) = headline else { return "nothing".to_owned() };
    let part = match &headline.part {
        Some(part) => format!("{part} part: "),
        None => String::new(),
    };
    let proxy = if headline.proxies { "proxy " } else { "" };
    let mut parts = vec![format!(
        "{part}{} of {}: {}, {}",
        count(headline.runs, headline.noun.trim_end_matches('s')),
        count(headline.tasks, if headline.by_session { "session" } else { "task" }),
        count(headline.successes, &format!("{proxy}success")),
        count(headline.failures, &format!("{proxy}failure"))
    )];
    if headline.ungraded > 0 {
        parts.push(format!(", {} ungraded", headline.ungraded));
    }
    if headline.with_tokens < headline.runs {
        parts.push(format!("; {} with token counts", headline.with_tokens));
    }
    if headline.with_some_tokens > 0 {
        parts.push(format!("; {} with tokens at some steps only, taken as unknown", headline.with_some_tokens));
    }
    parts.concat()
}
