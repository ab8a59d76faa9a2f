//! Rows as a data frame: verdict counts and sums by stack or stratum.

use std::collections::BTreeMap;

use polars::prelude::{Column, DataFrame, IntoColumn, NamedFrom, PolarsResult, Series};

use super::{ExactnessName, Group, Row};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// Counts and sums of one group of rows, by column name. A sum over nothing known is absent.
pub(super) type Sums = BTreeMap<&'static str, f64>;

/// Counted columns: 1 where it applies.
type Flag = (&'static str, fn(&Row) -> bool);
/// Summed columns.
type Amount = (&'static str, fn(&Row) -> Option<f64>);

const FLAGS: [Flag; 14] = [
    ("stops", Row::is_stop),
    ("stopped", Row::was_stopped),
    ("judged", Row::is_judged),
    ("judged_successes", |row| row.is_judged() && row.outcome == Outcome::Success),
    ("judged_failures", |row| row.is_judged() && row.outcome == Outcome::Failure),
    ("killed", |row| row.is_judged() && row.killed_low == 1),
    ("killed_at_most", |row| row.is_judged() && row.killed_high == 1),
    ("unknown", |row| !row.unknown.is_none()),
    ("runs_with_costs", |row| row.cost_usd_recorded.is_some()),
    ("unlabelled_runs", |row| row.unknown.unlabelled),
    ("diverged", |row| row.exactness == ExactnessName::Diverged),
    ("censored", |row| row.exactness == ExactnessName::Censored),
    ("runs_with_tokens", |row| row.tokens_recorded.is_some()),
    ("not_evaluable_runs", |row| row.unknown.unread),
];

const AMOUNTS: [Amount; 8] = [
    ("steps_recorded", |row| Some(row.steps_recorded as f64)),
    ("steps_at_stop", |row| Some(row.steps_at_stop as f64)),
    ("tokens_recorded", |row| row.tokens_recorded.map(|tokens| tokens as f64)),
    ("tokens_at_stop", |row| row.tokens_at_stop.map(|tokens| tokens as f64)),
    ("cost_usd_recorded", |row| row.cost_usd_recorded),
    ("cost_usd_at_stop", |row| row.cost_usd_at_stop),
    ("ms_recorded", |row| row.ms_recorded.map(|ms| ms as f64)),
    ("ms_at_stop", |row| row.ms_at_stop.map(|ms| ms as f64)),
];

/// Rows put into one data frame, unless a single group has more.
const FRAME_ROWS: usize = 1 << 16;

/// Counts and sums of every group, in group order. A frame holds a number for every row and column, so
/// few rows are put into one at a time.
pub(super) fn sums(groups: &[Group<'_>]) -> PolarsResult<Vec<Sums>> {
    let mut all = Vec::with_capacity(groups.len());
    while let Some(rest) = groups.get(all.len()..).filter(|rest| !rest.is_empty()) {
        let mut rows = 0;
        let fitting = rest.iter().take_while(|group| {
            rows += group.rows.len();
            rows <= FRAME_ROWS
        });
        let taken = fitting.count().max(1);
        all.extend(sums_in_frame(&rest[..taken])?);
    }
    Ok(all)
}

fn sums_in_frame(groups: &[Group<'_>]) -> PolarsResult<Vec<Sums>> {
    let mut columns = columns(groups);
    let names: Vec<String> = columns.iter().map(|column| column.name().to_string()).collect();
    let keys: Vec<u32> =
        groups.iter().zip(0_u32..).flat_map(|(group, index)| std::iter::repeat_n(index, group.rows.len())).collect();
    columns.insert(0, Series::new("group".into(), keys).into_column());
    let frame = DataFrame::new_infer_height(columns)?;
    #[expect(deprecated, reason = "the eager group_by is the one that needs no query engine")]
    let summed = frame.group_by_stable(["group"])?.select(names.iter().map(String::as_str)).sum()?;
    let counted = frame.group_by_stable(["group"])?.select(names.iter().map(String::as_str)).count()?;
    let mut all: Vec<Sums> = vec![Sums::new(); groups.len()];
    let places: Vec<usize> = summed.column("group")?.u32()?.into_no_null_iter().map(|index| index as usize).collect();
    for name in column_names() {
        let sums = summed.column(&format!("{name}_sum"))?.f64()?.clone();
        let counts = counted.column(&format!("{name}_count"))?.u32()?.clone();
        for (at, &place) in places.iter().enumerate() {
            if let (Some(sum), Some(1..)) = (sums.get(at), counts.get(at)) {
                all[place].insert(name, sum);
            }
        }
    }
    Ok(all)
}

fn column_names() -> impl Iterator<Item = &'static str> {
    let verdicts = Verdict::ALL.into_iter().map(Verdict::name);
    verdicts.chain(FLAGS.iter().map(|(name, _)| *name)).chain(AMOUNTS.iter().map(|(name, _)| *name))
}

fn columns(groups: &[Group<'_>]) -> Vec<Column> {
    let rows: Vec<&Row> = groups.iter().flat_map(|group| group.rows.iter().copied()).collect();
    let column = |name: &str, value: &dyn Fn(&Row) -> Option<f64>| {
        Series::new(name.into(), rows.iter().map(|row| value(row)).collect::<Vec<Option<f64>>>()).into_column()
    };
    let mut columns = Vec::new();
    for verdict in Verdict::ALL {
        columns.push(column(verdict.name(), &|row| Some(f64::from(u8::from(row.verdict == verdict)))));
    }
    for (name, flag) in FLAGS {
        columns.push(column(name, &|row| Some(f64::from(u8::from(flag(row))))));
    }
    for (name, amount) in AMOUNTS {
        columns.push(column(name, &amount));
    }
    columns
}
