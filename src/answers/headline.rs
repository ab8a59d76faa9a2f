//! What was compared, as data.

use std::collections::BTreeSet;

use crate::aggregate::{RowView, Rows, by_stack};
use crate::transcript::Outcome;

/// What was compared.
#[derive(Clone, Debug)]
pub struct Headline {
    /// The part of the tasks that is reported, if they were split: `dev` or `test`.
    pub part: Option<String>,
    /// The plural of what counts as a run.
    pub noun: &'static str,
    /// The number of runs.
    pub runs: usize,
    /// The number of tasks, or of sessions.
    pub tasks: usize,
    /// Whether rounds are clustered by session.
    pub by_session: bool,
    /// Whether marks of the recordings stand in for outcomes.
    pub proxies: bool,
    /// Runs that succeeded.
    pub successes: usize,
    /// Runs that failed.
    pub failures: usize,
    /// Runs without an outcome.
    pub ungraded: usize,
    /// Runs with token counts.
    pub with_tokens: usize,
    /// Runs with token counts at some steps only.
    pub with_some_tokens: usize,
}

impl Headline {
    /// What `rows` hold; `part`, `noun` and `proxies` as in the fields. `None` if there is no row.
    pub fn from_rows(rows: &Rows, part: Option<String>, noun: &'static str, proxies: bool) -> Option<Self> {
        let group = by_stack(rows).into_iter().next()?;
        let tasks: BTreeSet<_> = group.rows().map(RowView::cluster).collect();
        let with_outcome = |outcome: Outcome| group.rows().filter(|row| row.outcome() == outcome).count();
        Some(Self {
            part,
            noun,
            runs: group.len(),
            tasks: tasks.len(),
            by_session: noun == "rounds" && group.rows().all(|row| is_in_own_session(row)),
            proxies,
            successes: with_outcome(Outcome::Success),
            failures: with_outcome(Outcome::Failure),
            ungraded: with_outcome(Outcome::Unknown),
            with_tokens: group.rows().filter(|row| row.tokens_recorded().is_some()).count(),
            with_some_tokens: group.rows().filter(|row| row.tokens_in_part() == 1).count(),
        })
    }
}

/// Whether a round is clustered by its session: so it is if the session names no task. A round is called `SESSION#3`, or
/// by its prompt with the end of that in brackets.
fn is_in_own_session(row: RowView<'_>) -> bool {
    let Some((session, _)) = row.run_id().rsplit_once('#') else { return false };
    let session = session.rsplit_once('(').map_or(session, |(_, end)| end);
    !session.is_empty() && matches!(row.task_id(), Some(task) if task.ends_with(session))
}
