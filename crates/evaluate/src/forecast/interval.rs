//! Conformal quantiles over tasks.

use std::collections::BTreeMap;

/// Values in rising order, each with its weight: the runs of a task share a weight of 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    values: Vec<(f64, f64)>,
    tasks: u64,
}

/// A sample, with what was measured of its intervals.
#[derive(Clone, Debug)]
pub(super) struct ForecastSpread {
    pub(super) sample: Sample,
    pub(super) runs: u64,
    pub(super) capped: u64,
    /// The measured coverage with a tenth, and with a fortieth, on either side.
    pub(super) covered: [Option<f64>; 2],
}

/// Sums of weights differ from whole numbers by no more than this.
const ROUNDING: f64 = 1e-9;

impl Sample {
    /// From values with their tasks.
    pub(super) fn of(known: &[(u64, f64)]) -> Self {
        let mut runs: BTreeMap<u64, f64> = BTreeMap::new();
        for (task, _) in known {
            *runs.entry(*task).or_default() += 1.0;
        }
        let mut values: Vec<(f64, f64)> = known.iter().map(|(task, value)| (*value, 1.0 / runs[task])).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Self { values, tasks: runs.len() as u64 }
    }

    /// How many tasks there are.
    pub(super) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The largest value with a weight of at most `tail` below it, where the new task counts as one below; 0 if there is
    /// none, since nothing less than 0 can remain.
    pub(super) fn low(&self, tail: f64) -> f64 {
        edge(self.values.iter(), self.room(tail)).unwrap_or(0.0)
    }

    /// The smallest value with a weight of at most `tail` above it, where the new task counts as one above; `None` if
    /// there is none.
    pub(super) fn high(&self, tail: f64) -> Option<f64> {
        edge(self.values.iter().rev(), self.room(tail))
    }

    /// The median: half the weight is at most as large.
    pub(super) fn median(&self) -> f64 {
        let mut below = 0.0;
        for (value, weight) in &self.values {
            below += weight;
            if below >= 0.5 * self.tasks as f64 - ROUNDING {
                return *value;
            }
        }
        f64::NAN
    }

    /// The weight of recorded values that may lie outside.
    fn room(&self, tail: f64) -> f64 {
        tail * (self.tasks + 1) as f64 - 1.0 + ROUNDING
    }
}

/// The last value, from the outside in, with no more than `room` further outside.
fn edge<'v>(values: impl Iterator<Item = &'v (f64, f64)>, room: f64) -> Option<f64> {
    let (mut outside, mut edge) = (0.0, None);
    if room < 0.0 {
        return None;
    }
    for (value, weight) in values {
        if outside > room {
            break;
        }
        edge = Some(*value);
        outside += weight;
    }
    edge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_counts_once_whatever_its_runs() {
        let one_each: Vec<(u64, f64)> = (1..=9).map(|value| (value, value as f64)).collect();
        let sample = Sample::of(&one_each);
        assert_eq!((sample.low(0.1), sample.median(), sample.high(0.1)), (1.0, 5.0, Some(9.0)));
        assert_eq!((sample.low(0.2), sample.high(0.2)), (2.0, Some(8.0)));
        assert_eq!((sample.low(0.05), sample.high(0.05)), (0.0, None), "19 tasks would do");
        let many: Vec<(u64, f64)> =
            one_each.iter().flat_map(|one| std::iter::repeat_n(*one, if one.0 == 9 { 100 } else { 1 })).collect();
        let of_many = Sample::of(&many);
        assert_eq!((of_many.low(0.2), of_many.median(), of_many.high(0.2)), (2.0, 5.0, Some(8.0)));
    }
}
