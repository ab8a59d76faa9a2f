//! Counts and sums by stack or stratum, in data frames.
//!
//! A row counts towards one of a few dozen combinations of properties, its class. One grouping by group and class
//! therefore yields every count and every sum.

use polars::prelude::{DataFrame, IntoColumn, NamedFrom, PolarsResult, Series};

use super::{ExactnessName, Group, RowView, Unit};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// A boolean property that rows are counted by.
type Flag = (&'static str, fn(RowView<'_>) -> bool);
/// An amount that is summed; `None` if the row does not record it.
type Amount = (&'static str, fn(RowView<'_>) -> Option<f64>);

const FLAGS: [Flag; 20] = [
    ("stops", |row| row.is_stop()),
    ("stopped", |row| row.was_stopped()),
    ("judged", |row| row.is_judged()),
    ("judged_successes", |row| row.is_judged() && row.outcome() == Outcome::Success),
    ("judged_failures", |row| row.is_judged() && row.outcome() == Outcome::Failure),
    ("killed", |row| row.is_judged() && row.killed_low() == 1),
    ("killed_at_most", |row| row.is_judged() && row.killed_high() == 1),
    ("unknown", |row| !row.unknown().is_none()),
    ("runs_with_costs", |row| row.cost_usd_recorded().is_some()),
    ("unlabelled_runs", |row| row.unknown().unlabelled),
    ("diverged", |row| row.exactness() == ExactnessName::Diverged),
    ("censored", |row| row.exactness() == ExactnessName::Censored),
    ("runs_with_tokens", |row| row.tokens_recorded().is_some()),
    ("not_evaluable_runs", |row| row.unknown().unread),
    ("failures", |row| row.outcome() == Outcome::Failure),
    ("steps_runs", |row| Unit::Steps.saved(row).is_some()),
    ("tokens_runs", |row| Unit::Tokens.saved(row).is_some()),
    ("cost_usd_runs", |row| Unit::CostUsd.saved(row).is_some()),
    ("ms_recorded", |row| row.ms_recorded().is_some()),
    ("ms_at_stop", |row| row.ms_at_stop().is_some()),
];

/// Recorded and at-stop amounts of a unit count only runs that record both.
const AMOUNTS: [Amount; 11] = [
    ("steps_recorded", |row| recorded(Unit::Steps, row)),
    ("steps_at_stop", |row| at_stop(Unit::Steps, row)),
    ("steps_saved", |row| Unit::Steps.saved(row)),
    ("tokens_recorded", |row| recorded(Unit::Tokens, row)),
    ("tokens_at_stop", |row| at_stop(Unit::Tokens, row)),
    ("tokens_saved", |row| Unit::Tokens.saved(row)),
    ("cost_usd_recorded", |row| recorded(Unit::CostUsd, row)),
    ("cost_usd_at_stop", |row| at_stop(Unit::CostUsd, row)),
    ("cost_usd_saved", |row| Unit::CostUsd.saved(row)),
    ("ms_recorded", |row| row.ms_recorded().map(|ms| ms as f64)),
    ("ms_at_stop", |row| row.ms_at_stop().map(|ms| ms as f64)),
];

fn recorded(unit: Unit, row: RowView<'_>) -> Option<f64> {
    unit.saved(row).and(unit.recorded(row))
}

fn at_stop(unit: Unit, row: RowView<'_>) -> Option<f64> {
    unit.saved(row).and(unit.at_stop(row))
}

/// The properties of a row as bits: one for its verdict, and one for each flag that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u32);

impl Class {
    fn of(row: RowView<'_>) -> Self {
        let verdicts = Verdict::ALL.iter().map(|verdict| *verdict == row.verdict());
        let flags = FLAGS.iter().map(|(_, flag)| flag(row));
        Self(verdicts.chain(flags).zip(0_u32..).fold(0, |bits, (holds, bit)| bits | u32::from(holds) << bit))
    }

    /// Whether the verdict or flag of this name holds; false for an unknown name.
    pub(super) fn has(self, name: &str) -> bool {
        let names = Verdict::ALL.iter().map(|verdict| verdict.name()).chain(FLAGS.iter().map(|(name, _)| *name));
        names.zip(0_u32..).any(|(of, bit)| of == name && self.0 >> bit & 1 == 1)
    }

    /// The verdict shared by all rows of the class.
    pub(super) fn verdict(self) -> Option<Verdict> {
        Verdict::ALL.into_iter().zip(0_u32..).find_map(|(verdict, bit)| (self.0 >> bit & 1 == 1).then_some(verdict))
    }
}

/// The rows of one class in a group.
#[derive(Clone, Debug)]
struct Part {
    class: Class,
    rows: u64,
    amounts: [f64; AMOUNTS.len()],
}

/// Counts and sums of one group of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums(Vec<Part>);

impl Sums {
    /// Number of rows for which the verdict or flag of this name holds.
    pub(super) fn count(&self, name: &str) -> u64 {
        self.0.iter().filter(|part| part.class.has(name)).map(|part| part.rows).sum()
    }

    /// The sum of an amount over the rows of the classes that `of` accepts.
    pub(super) fn amount(&self, name: &str, of: impl Fn(Class) -> bool) -> f64 {
        let place = AMOUNTS.iter().position(|(amount, _)| *amount == name);
        let amount = |part: &Part| place.map_or(0.0, |place| part.amounts[place]);
        self.0.iter().filter(|part| of(part.class)).map(amount).sum()
    }
}

/// Maximum rows in one frame, unless a single group has more.
const FRAME_ROWS: usize = 1 << 16;

/// Counts and sums of every group, in group order. A frame stores a number for every row and amount, so rows are
/// processed in batches.
pub(super) fn sums(groups: &[Group<'_>]) -> Vec<Sums> {
    let mut all = vec![Sums::default(); groups.len()];
    let mut done = 0;
    while let Some(rest) = groups.get(done..).filter(|rest| !rest.is_empty()) {
        let mut rows = 0;
        let fitting = rest.iter().take_while(|group| {
            rows += group.len();
            rows <= FRAME_ROWS
        });
        let taken = fitting.count().max(1);
        let parts = parts(&rest[..taken]).expect("columns made here have one length and the types asked for");
        for (group, part) in parts {
            all[done + group].0.push(part);
        }
        done += taken;
    }
    all
}

/// The parts of each group, by the group's index. An unknown amount is stored as 0; the row's class marks it as
/// unknown.
fn parts(groups: &[Group<'_>]) -> PolarsResult<Vec<(usize, Part)>> {
    let rows = || groups.iter().flat_map(Group::rows);
    let numbered = groups.iter().zip(0_u64..).flat_map(|(group, place)| group.rows().map(move |row| (place, row)));
    let keys: Vec<u64> = numbered.map(|(place, row)| place << 32 | u64::from(Class::of(row).0)).collect();
    let mut columns = vec![Series::new("rows".into(), vec![1_u64; keys.len()]).into_column()];
    columns.insert(0, Series::new("key".into(), keys).into_column());
    for (name, amount) in AMOUNTS {
        let amounts: Vec<f64> = rows().map(|row| amount(row).unwrap_or_default()).collect();
        columns.push(Series::new(name.into(), amounts).into_column());
    }
    let frame = DataFrame::new_infer_height(columns)?;
    let summed = std::iter::once("rows").chain(AMOUNTS.iter().map(|(name, _)| *name));
    #[expect(deprecated, reason = "the eager group_by is the one that needs no query engine")]
    let sums = frame.group_by_stable(["key"])?.select(summed).sum()?;
    let (keys, rows) = (sums.column("key")?.u64()?, sums.column("rows_sum")?.u64()?);
    let amounts = AMOUNTS.iter().map(|(name, _)| sums.column(&format!("{name}_sum"))?.f64());
    let amounts = amounts.collect::<PolarsResult<Vec<_>>>()?;
    let part = |(at, (key, rows)): (usize, (Option<u64>, Option<u64>))| {
        let key = key.unwrap_or_default();
        let class = Class(u32::try_from(key & u64::from(u32::MAX)).unwrap_or_default());
        let amounts = std::array::from_fn(|amount| amounts[amount].get(at).unwrap_or_default());
        (usize::try_from(key >> 32).unwrap_or_default(), Part { class, rows: rows.unwrap_or_default(), amounts })
    };
    Ok(keys.iter().zip(rows.iter()).enumerate().map(part).collect())
}
