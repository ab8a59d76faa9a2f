//! Maps each row to its task, once for all sums over a group.

use std::collections::BTreeSet;

use super::group::rows_of_all;
use super::rows::in_order;
use super::{Group, RowView};
use crate::stats::bootstrap::REPLICATES;
use crate::stats::{Resamples, cluster_key};

/// The tasks with a row in any of `groups`, as indices in name order.
pub(super) fn present_tasks(groups: &[Group<'_>]) -> BTreeSet<usize> {
    groups.iter().flat_map(Group::rows).map(RowView::task).collect()
}

/// Resamples of the tasks of `groups`, in name order. A task's draws depend on its suite and name alone, so that every
/// command draws the same for the same tasks.
pub fn resample_tasks(groups: &[Group<'_>], seed: u64) -> Resamples {
    let mut keys = Vec::new();
    if let Some(rows) = rows_of_all(groups) {
        let present = present_tasks(groups);
        for (task, (suite, name)) in rows.tasks().enumerate() {
            if present.contains(&task) {
                keys.push(cluster_key(&format!("{suite}\u{0}{name}")));
            }
        }
    }
    Resamples::new(&keys, REPLICATES, seed)
}

/// The tasks of a group's rows, in name order.
pub(super) struct Tasks {
    /// For each row, the index of its task.
    places: Vec<u32>,
    len: usize,
}

impl Tasks {
    /// Finds the tasks of `group`.
    pub(super) fn from_group(group: &Group<'_>) -> Self {
        let of_all: Vec<u32> =
            group.rows().map(|row| u32::try_from(row.task()).expect("fewer than 2^32 tasks fit into memory")).collect();
        let n_tasks = group.all_rows().tasks().len();
        // Most groups have all tasks, and need no sorting.
        if of_all.len() >= n_tasks {
            let mut is_present = vec![false; n_tasks];
            for task in &of_all {
                is_present[*task as usize] = true;
            }
            if is_present.into_iter().all(|is_present| is_present) {
                return Self { places: of_all, len: n_tasks };
            }
        }
        let (present, places) = in_order(&of_all);
        Self { places, len: present.len() }
    }

    /// For each row, the index of its task in name order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| *place as usize)
    }

    /// The number of tasks.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Sums by task, in name order, over the rows for which `parts` is `Some`. `group` must be the one this was made
    /// from. Tasks without any part are left out.
    pub(super) fn sums<T: Default, P>(
        &self,
        group: &Group<'_>,
        parts: impl Fn(RowView<'_>) -> Option<P>,
        add: impl Fn(&mut T, P),
    ) -> Vec<T> {
        let mut sums: Vec<Option<T>> = (0..self.len).map(|_| None).collect();
        for (row, place) in group.rows().zip(self.places()) {
            if let Some(part) = parts(row) {
                add(sums[place].get_or_insert_with(T::default), part);
            }
        }
        sums.into_iter().flatten().collect()
    }
}
