//! Quantiles over runs, with room for one task more.

use std::collections::BTreeSet;

/// Values in rising order, and the number of tasks they are from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortedSample {
    values: Vec<f64>,
    tasks: u64,
}

/// A sample, with what was measured of its intervals.
#[derive(Clone, Debug)]
pub(super) struct ForecastSpread {
    pub(super) sample: SortedSample,
    pub(super) runs: u64,
    pub(super) capped: u64,
    /// The measured coverage with a tenth, and with a fortieth, on either side.
    pub(super) covered: [Option<f64>; 2],
}

/// Numbers of runs differ from whole numbers by no more than this.
const ROUNDING: f64 = 1e-9;

impl SortedSample {
    /// From values with their tasks.
    pub(super) fn from_known(known: &[(u64, f64)]) -> Self {
        let tasks: BTreeSet<u64> = known.iter().map(|(task, _)| *task).collect();
        let mut values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        Self { values, tasks: tasks.len() as u64 }
    }

    /// How many tasks there are.
    pub(super) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The largest value with at most the share `tail` below it, where the runs of one more task, as many as others have,
    /// count as below; 0 if there is none, since nothing less than 0 can remain.
    pub(super) fn low(&self, tail: f64) -> f64 {
        let Some(room) = self.room(tail) else { return 0.0 };
        self.values.get(room).copied().unwrap_or(0.0)
    }

    /// The smallest value with at most the share `tail` above it, where the runs of one more task count as above; `None` if
    /// there is none.
    pub(super) fn high(&self, tail: f64) -> Option<f64> {
        let room = self.room(tail)?;
        self.values.iter().rev().nth(room).copied()
    }

    /// The median: half the runs are at most as large.
    pub(super) fn median(&self) -> f64 {
        self.values.get(self.values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    }

    /// How many recorded values may lie outside.
    fn room(&self, tail: f64) -> Option<usize> {
        let runs_a_task = self.values.len() as f64 / self.tasks as f64;
        let room = (tail * (self.tasks + 1) as f64 - 1.0) * runs_a_task + ROUNDING;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of values")]
        (room >= 0.0).then_some(room as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_counts_once_and_one_more_task_is_allowed_for() {
        let one_each: Vec<(u64, f64)> = (1..=9).map(|value| (value, value as f64)).collect();
        let sample = SortedSample::from_known(&one_each);
        assert_eq!((sample.low(0.1), sample.median(), sample.high(0.1)), (1.0, 5.0, Some(9.0)));
        assert_eq!((sample.low(0.2), sample.high(0.2)), (2.0, Some(8.0)));
        assert_eq!((sample.low(0.05), sample.high(0.05)), (0.0, None), "19 tasks would do");
        // The same with ten runs of each task: the places are those of the tasks.
        let many: Vec<(u64, f64)> = one_each.iter().flat_map(|one| std::iter::repeat_n(*one, 10)).collect();
        let of_many = SortedSample::from_known(&many);
        assert_eq!((of_many.low(0.2), of_many.median(), of_many.high(0.2)), (2.0, 5.0, Some(8.0)));
        // A task with most of the runs is most of what is to come.
        let one_large: Vec<(u64, f64)> =
            one_each.iter().flat_map(|one| std::iter::repeat_n(*one, if one.0 == 9 { 100 } else { 1 })).collect();
        assert_eq!(SortedSample::from_known(&one_large).median().to_bits(), 9.0_f64.to_bits());
    }
}
