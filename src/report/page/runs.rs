//! The run list of a page: chooses the runs to list and stores their rows as columns.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use foldhash::{HashMap, HashSet};
use serde::Serialize;

use super::columns::{ColumnBlock, ColumnPosition, MISSING};
use crate::aggregate::{Label, RowView, Rows};
use crate::stats::cluster_key;
use crate::transcript::{EndCause, Outcome};
use crate::verdict::{Doubts, Verdict};

/// Maximum rows in a page; beyond that it lists a sample of the runs.
const MOST_ROWS: usize = 1_000_000;

/// The dictionaries: numbers in columns are indices into them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct RunDictionaries {
    tasks: Vec<Label>,
    suites: Vec<Label>,
    models: Vec<Label>,
    rules: Vec<Label>,
    verdicts: Vec<&'static str>,
    outcomes: Vec<String>,
    ends: Vec<String>,
}

/// The listed runs.
pub(super) struct Listed {
    pub(super) ids: Vec<Label>,
    pub(super) names: RunDictionaries,
    pub(super) columns: Vec<ColumnPosition>,
    /// The columns' bytes, as [`ColumnBlock::finish`] returns them.
    pub(super) packed: String,
    /// The total number of runs if not all are listed.
    pub(super) of: Option<usize>,
}

/// The row indices of the listed runs, run by run and stack by stack; [`NO_ROW`] where a stack has no row of a run.
type Places = Vec<u32>;
const NO_ROW: u32 = u32::MAX;

/// Stores the rows of `stacks` as columns, run by run in the given order, each run stack by stack. Runs in `told`
/// (those with a story) are always listed.
pub(super) fn listed(rows: &Rows, stacks: &[Label], told: &BTreeSet<&str>) -> io::Result<Listed> {
    let stacks: HashMap<&str, usize> = stacks.iter().enumerate().map(|(at, stack)| (&**stack, at)).collect();
    let of_stacks = || rows.iter().zip(0..).filter_map(|(row, at)| Some((row, at, *stacks.get(&**row.stack())?)));
    let all = firsts(of_stacks().map(|(row, ..)| row));
    let (n_runs, most) = (all.len(), (MOST_ROWS / stacks.len().max(1)).max(1));
    let runs = if n_runs > most { sampled(all, most, told) } else { all };

    let places: HashMap<&str, usize> = runs.iter().enumerate().map(|(at, run)| (&**run.run_id(), at)).collect();
    let mut table: Places = vec![NO_ROW; stacks.len() * runs.len()];
    for (row, at, stack) in of_stacks() {
        if let Some(place) = places.get(&**row.run_id()) {
            table[place * stacks.len() + stack] = at;
        }
    }
    let (names, block) = columns(rows, &runs, &table)?;
    let (columns, packed) = block.finish()?;
    let ids = runs.iter().map(|run| run.run_id().clone()).collect();
    let of = if n_runs > runs.len() { Some(n_runs) } else { None };
    Ok(Listed { ids, names, columns, packed, of })
}

/// The first row of each run, in the given order.
fn firsts<'r>(rows: impl Iterator<Item = RowView<'r>>) -> Vec<RowView<'r>> {
    let mut seen = HashSet::default();
    rows.filter(|row| seen.insert(&**row.run_id())).collect()
}

/// The runs of a [`sample`], in their order.
fn sampled<'r>(runs: Vec<RowView<'r>>, most: usize, told: &BTreeSet<&str>) -> Vec<RowView<'r>> {
    let strata = runs.iter().map(|row| ((row.suite(), row.model(), row.outcome().name()), &**row.run_id()));
    let kept = sample(strata, most, told);
    runs.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(run, _)| run).collect()
}

/// Selects a sample of about `most` runs, given with their strata: from each stratum in proportion, first all runs in
/// `told`, then by a hash of their ids.
fn sample<'r, S: Ord>(runs: impl Iterator<Item = (S, &'r str)>, most: usize, told: &BTreeSet<&str>) -> Vec<bool> {
    let mut strata: BTreeMap<S, Vec<(bool, u64, usize)>> = BTreeMap::new();
    let mut all = 0;
    for (at, (stratum, id)) in runs.enumerate() {
        all = at + 1;
        strata.entry(stratum).or_default().push((!told.contains(id), cluster_key(id), at));
    }
    let mut kept = vec![false; all];
    for stratum in strata.values_mut() {
        stratum.sort_unstable();
        let share = (stratum.len() * most).div_ceil(all);
        for (nth, (is_silent, _, at)) in stratum.iter().enumerate() {
            kept[*at] = nth < share || !is_silent;
        }
    }
    kept
}

/// Builds a dictionary.
#[derive(Default)]
struct Dictionary {
    places: HashMap<Label, u64>,
    names: Vec<Label>,
}

impl Dictionary {
    fn place(&mut self, name: &Label) -> u64 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len() as u64;
        self.names.push(name.clone());
        self.places.insert(name.clone(), place);
        place
    }
}

#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime, the closure of any")]
fn columns(rows: &Rows, runs: &[RowView<'_>], table: &[u32]) -> io::Result<(RunDictionaries, ColumnBlock)> {
    let mut block = ColumnBlock::default();
    let of_run = |number: &mut dyn FnMut(RowView<'_>) -> Option<u64>| -> Vec<u64> {
        runs.iter().map(|run| number(*run).unwrap_or(MISSING)).collect()
    };
    let (mut tasks, mut suites, mut models) = (Dictionary::default(), Dictionary::default(), Dictionary::default());
    block.push_whole("task", &of_run(&mut |row| row.task_id().map(|name| tasks.place(name))))?;
    block.push_whole("suite", &of_run(&mut |row| row.suite().map(|name| suites.place(name))))?;
    block.push_whole("model", &of_run(&mut |row| row.model().map(|name| models.place(name))))?;
    block.push_whole("outcome", &of_run(&mut |row| place(&OUTCOMES, &row.outcome())))?;
    block.push_whole("end", &of_run(&mut |row| place(&EndCause::ALL, &row.end())))?;
    block.push_whole("secured", &of_run(&mut |row| row.secured_step().map(u64::from)))?;
    block.push_whole("steps", &of_run(&mut |row| Some(row.steps_recorded())))?;
    block.push_whole("tokens", &of_run(&mut |row| row.tokens_recorded()))?;

    let rows = || table.iter().map(|at| if *at == NO_ROW { None } else { rows.get(*at as usize) });
    let whole = |number: &mut dyn FnMut(RowView<'_>) -> Option<u64>| -> Vec<u64> {
        rows().map(|row| row.and_then(&mut *number).unwrap_or(MISSING)).collect()
    };
    let real = |number: fn(RowView<'_>) -> Option<f64>| -> Vec<f64> {
        rows().map(|row| row.and_then(number).unwrap_or(f64::NAN)).collect()
    };
    let mut rules = Dictionary::default();
    block.push_whole("verdict", &whole(&mut |row| place(&Verdict::ALL, &row.verdict())))?;
    block.push_whole("flags", &whole(&mut |row| Some(flags(row))))?;
    block.push_whole("doubts", &whole(&mut |row| Some(doubts(row.unknown()))))?;
    block.push_whole("rule", &whole(&mut |row| row.rule().map(|name| rules.place(name))))?;
    block.push_whole("moment", &whole(&mut |row| row.stop_point().map(|point| point.moment as u64)))?;
    block.push_whole("paid", &whole(&mut |row| row.stop_point().map(|_| row.steps_at_stop())))?;
    block.push_whole("tokens_at_stop", &whole(&mut |row| row.stop_point().and(row.tokens_at_stop())))?;
    block.push_real("observed", &real(|row| row.observed()))?;
    block.push_real("limit", &real(|row| row.limit()))?;
    let names = RunDictionaries {
        tasks: tasks.names,
        suites: suites.names,
        models: models.names,
        rules: rules.names,
        verdicts: Verdict::ALL.map(Verdict::name).to_vec(),
        outcomes: OUTCOMES.iter().map(ToString::to_string).collect(),
        ends: EndCause::ALL.iter().map(ToString::to_string).collect(),
    };
    Ok((names, block))
}

/// Outcomes that have a word on the page; ungraded runs have none.
const OUTCOMES: [Outcome; 2] = [Outcome::Success, Outcome::Failure];

fn place<T: PartialEq>(all: &[T], one: &T) -> Option<u64> {
    all.iter().position(|other| other == one).map(|place| place as u64)
}

/// One bit each for stopped, killed and true stop, at least and at most. `data.js` has their names.
fn flags(row: RowView<'_>) -> u64 {
    let bits = [
        row.stopped_low(),
        row.stopped_high(),
        row.killed_low(),
        row.killed_high(),
        row.true_stop_low(),
        row.true_stop_high(),
    ];
    bits.iter().enumerate().map(|(at, bit)| u64::from(*bit) << at).sum()
}

fn doubts(doubts: Doubts) -> u64 {
    u64::from(doubts.unread) | u64::from(doubts.diverged) << 1 | u64::from(doubts.unlabelled) << 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_in_proportion_and_holds_all_that_are_told() {
        let ids: Vec<String> = (0..1000).map(|n| format!("run-{n}")).collect();
        let runs = || ids.iter().enumerate().map(|(n, id)| (n % 10 == 0, id.as_str()));
        let told: BTreeSet<&str> = ids.iter().map(String::as_str).filter(|id| id.ends_with("00")).collect();
        let kept = sample(runs(), 100, &told);
        let of = |seldom: bool| runs().zip(&kept).filter(|((stratum, _), kept)| *stratum == seldom && **kept).count();
        assert_eq!((of(true), of(false)), (10, 90));
        assert!(runs().zip(&kept).all(|((_, id), kept)| *kept || !told.contains(id)));
        let all: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(sample(runs(), 100, &all), vec![true; 1000]);
    }
}
