//! What is said in words: how many tasks a refusal misses, and how often sessions are cut short of which one is a giant.

use whenstop::aggregate::{FollowedRow, FollowedRows, followed_by_stack};
use whenstop::stats::distribution::binomial_cdf;
use whenstop::stats::gaffke::Surpluses;
use whenstop::transcript::{Moment, Point};
use whenstop::tune::clean_tasks_needed;

use super::{Corpus, Row, repeat};

/// A certificate is refused for want of tasks with a success: whether as many more, none of them killed, would do, and one
/// less would not. `effect` is the tolerated share.
pub(crate) fn refused(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("refused", corpus, repetitions, |random, tally| {
        let (alpha, delta) = (corpus.effect, 0.01);
        let n = random.one_to(clean_tasks_needed(alpha, delta) - 1);
        let killed = random.one_to(3) - 1;
        let p = binomial_cdf(killed, n, alpha);
        let losses = (0..n).map(|task| f64::from(u8::from(task < killed)));
        let missing = Surpluses::from_losses(losses, alpha).clean_tasks_needed(delta).filter(|_| p > delta);
        let passes = |more: u64| binomial_cdf(killed, n + more, alpha) <= delta;
        tally.note(
            "printed",
            "as-many-missing",
            (p > delta).then(|| missing.is_some_and(|m| passes(m) && !passes(m - 1))),
        );
    })
}

/// Rounds of sessions, one of which is a giant: the share of a session's rounds that is cut short.
pub(crate) fn giant_session(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    repeat("giant-session", corpus, repetitions, |random, tally| {
        let mut rows = Vec::new();
        for session in 0..corpus.tasks {
            let rounds = if session == 0 { 300 } else { corpus.runs(random) };
            let rate = random.task_rate(corpus.effect, corpus.icc);
            for round in 0..rounds {
                rows.push(followed_row(session, round, random.chance(rate)));
            }
        }
        let summaries = followed_by_stack(&rows.into_iter().collect::<FollowedRows>());
        let interval = summaries.first().and_then(|summary| summary.cut_short_high.interval);
        tally.interval("printed", "coverage", interval, Some(corpus.effect));
    })
}

fn followed_row(session: usize, round: u64, cut: bool) -> FollowedRow {
    let cut_short = u8::from(cut);
    FollowedRow {
        run_id: format!("{session}#{round}").as_str().into(),
        cluster: format!("{session}").as_str().into(),
        stack: "s".into(),
        stop_point: cut.then(|| Point::new(5, Moment::AfterTools)),
        stopped_low: cut_short,
        stopped_high: cut_short,
        edits_low: u64::from(cut),
        edits_high: u64::from(cut),
        handovers_low: 0,
        handovers_high: 0,
        greens_low: 0,
        greens_high: 0,
        reply_to_come: cut_short,
        cut_short_low: cut_short,
        cut_short_high: cut_short,
        tokens_after_stop: None,
        tokens_after_last_effect: None,
        tail_tokens_low: None,
        tail_tokens_high: None,
        tokens_recorded: None,
        steps_after_stop: None,
        last_effect_step: None,
        awaited: 1,
        interrupted: 0,
        killed_high: 0,
    }
}
