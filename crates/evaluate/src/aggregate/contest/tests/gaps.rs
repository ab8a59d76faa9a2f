//! The same where outcomes, costs and what rules read are missing from the start, in corpora down to a few tasks.

use super::*;

/// A corpus of 4 tasks to 120, of which up to a tenth of each kind of fact is missing; in every fifth corpus, up to a half.
fn world_with_gaps(seed: u64) -> Vec<Row> {
    let tasks = [4, 8, 12, 20, 35, 60, 120][usize::try_from(chance([seed, 30, 0, 0]) % 7).unwrap()];
    let most = if seed.is_multiple_of(5) { 500 } else { 100 };
    let often = |what: u64| match chance([seed, 31, what, 0]) % 5 {
        0 | 1 => 0,
        2 | 3 => chance([seed, 32, what, 0]) % 20,
        _ => chance([seed, 32, what, 0]) % most,
    };
    let shares = [often(0), often(1), often(2)];
    let hide = |row: Row| {
        let run: u64 = row.run_id[4..].parse().unwrap();
        let stack: u64 = row.stack[6..].parse().unwrap();
        // Outcomes and costs are the run's, for every stack; what a rule reads is the stack's own.
        let facts = [(Hidden::Flags, stack + 1), (Hidden::Outcome, 0), (Hidden::Cost, 0)];
        facts.into_iter().zip(shares).zip(0..).fold(row, |row, (((hidden, of), share), what)| {
            if chance([seed, 33 + what, run, of]) < share { without(row, hidden) } else { row }
        })
    };
    sized(seed + 10_000, tasks).into_iter().map(hide).collect()
}

/// What is tolerated: in corpora of a few tasks nothing is shown to keep to little.
fn terms(seed: u64) -> ShipTerms {
    let max_killed = [0.08, 0.2, 0.4, 0.6][usize::try_from(chance([seed, 41, 0, 0]) % 4).unwrap()];
    ShipTerms { max_killed, ..TERMS }
}

/// The price of a lost success, in every fourth world.
fn price(seed: u64) -> Option<f64> {
    seed.is_multiple_of(4).then(|| (1 + chance([seed, 40, 0, 0]) % 20) as f64 * 100.0)
}

/// What a stack does if whatever is not known is at its worst, counted from the rows by other means than the code under
/// test.
struct AtWorst {
    killed: f64,
    saved: f64,
    known: f64,
}

impl AtWorst {
    fn from_rows(rows: &[Row], stack: usize) -> Self {
        let own = || rows.iter().filter(move |row| *row.stack == *format!("stack-{stack}"));
        let (mut killed, mut successes, mut saved, mut spent, mut judged, mut costed) = (0, 0, 0, 0, 0, 0);
        for row in own() {
            let may_stop = row.stop_point.is_some() || row.unknown.unread;
            let is_lost = may_stop && row.outcome != Outcome::Failure;
            successes += u64::from(row.outcome == Outcome::Success || is_lost);
            killed += u64::from(is_lost);
            judged += u64::from(row.outcome != Outcome::Unknown && !row.unknown.unread);
            if let Some(tokens) = row.tokens_recorded {
                costed += 1;
                spent += tokens;
                if row.outcome == Outcome::Failure && !row.unknown.unread {
                    saved += tokens - row.tokens_at_stop.unwrap();
                }
            }
        }
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let n = own().count() as u64;
        Self { killed: share(killed, successes), saved: share(saved, spent), known: share(judged.min(costed), n) }
    }
}

#[test]
fn what_is_shipped_is_safe_and_worth_it_whatever_is_missing() {
    let (mut shipped, mut with_gaps, mut small, mut refused) = (0, 0, 0, 0);
    for seed in 0..600 {
        let rows = world_with_gaps(seed);
        let (terms, costs) = (terms(seed), price(seed));
        let (decision, candidates, _) = decided_at(&rows, terms, costs);
        let worst: Vec<AtWorst> = (0..candidates.len()).map(|stack| AtWorst::from_rows(&rows, stack)).collect();
        let Some(at) = decision.ship else {
            refused += 1;
            assert!(!decision.standings.contains(&Standing::Allowed), "world {seed}");
            continue;
        };
        shipped += 1;
        with_gaps += usize::from(worst[at].known < 1.0);
        small += usize::from(rows.len() / candidates.len() <= 60);
        let (ship, own) = (candidates[at], &worst[at]);
        assert!(own.killed <= terms.max_killed, "world {seed}: kills {}", own.killed);
        assert!(ship.killed_at_most.unwrap() >= own.killed, "world {seed}");
        assert!(own.known >= terms.min_known, "world {seed}: known {}", own.known);
        assert!(own.saved > 0.01 && ship.saved.interval.unwrap().low > 0.01, "world {seed}: saves {}", own.saved);
        assert!(costs.is_none() || ship.worth.unwrap().interval.unwrap().low > 0.0, "world {seed}");
        assert!(costs.is_some() || ship.cost.interval.unwrap().low <= 1.0, "world {seed}");
        let table: Rows = rows.iter().cloned().collect();
        let groups = crate::aggregate::by_stack(&table);
        let price = costs.map(|costs| LostSuccess { unit: Unit::Tokens, costs });
        for (other, candidate) in candidates.iter().enumerate().filter(|(other, _)| *other != at) {
            let dominates = worst[other].killed <= own.killed
                && worst[other].saved >= own.saved
                && candidate.merit() > ship.merit()
                && !is_equal(&groups[other], &groups[at], Unit::Tokens, price);
            assert!(!(decision.standings[other] == Standing::Allowed && dominates), "world {seed}: {other} beats {at}");
        }
    }
    assert!(shipped > 60 && with_gaps > 20 && small > 3, "{shipped} shipped, {with_gaps} with gaps, {small} small");
    assert!(refused > 100, "{refused} refused");
}

#[test]
fn hiding_more_never_turns_what_was_refused_for_sure_into_ship() {
    let mut changed = 0;
    for seed in 0..300 {
        let rows = world_with_gaps(seed);
        let (before, candidates, _) = decided_at(&rows, terms(seed), price(seed));
        let is_refused = |at: usize| {
            let kills = candidates[at].killed.is_none_or(|killed| killed > terms(seed).max_killed);
            kills || before.standings[at].is_not_worth_it()
        };
        let says_not_worth = before.nearest.is_some_and(|at| before.standings[at].is_not_worth_it());
        for (turn, hidden) in (0..).zip([Hidden::Outcome, Hidden::Flags, Hidden::Cost]) {
            let share = [5, 20, 45, 100][usize::try_from(chance([seed, 50, turn, 0]) % 4).unwrap()];
            let is_spiteful = chance([seed, 51, turn, 0]).is_multiple_of(2);
            let hides = |row: &Row| {
                let run: u64 = row.run_id[4..].parse().unwrap();
                let against = is_spiteful && row.killed_high == 1 && chance([seed, 53, turn, run]) < 300;
                against || chance([seed, 52, turn, run]) < share
            };
            let named: BTreeSet<&Label> = rows.iter().filter(|row| hides(row)).map(|row| &row.run_id).collect();
            let less: Vec<Row> = rows
                .iter()
                .map(|row| if named.contains(&row.run_id) { without(row.clone(), hidden) } else { row.clone() })
                .collect();
            let (after, _, _) = decided_at(&less, terms(seed), price(seed));
            assert!(after.ship.is_none_or(|at| !is_refused(at)), "world {seed}, turn {turn}: {candidates:?}");
            assert!(!says_not_worth || after.ship.is_none(), "world {seed}, turn {turn}: {candidates:?}");
            changed += usize::from(after.standings != before.standings);
        }
    }
    assert!(changed > 50, "hiding has to matter somewhere: {changed} of 900");
}
