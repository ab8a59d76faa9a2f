//! Maps each row to its task, once for all sums over a group.

use super::{Group, RowView};

/// The tasks of a group's rows, in name order.
pub(super) struct Tasks {
    /// For each row, the index of its task.
    places: Vec<u32>,
    len: usize,
}

impl Tasks {
    /// Finds the tasks of `group`.
    pub(super) fn of(group: &Group<'_>) -> Self {
        let n_tasks = group.all_rows().tasks().len();
        let mut is_present = vec![false; n_tasks];
        group.rows().for_each(|row| is_present[row.task()] = true);
        let mut len = 0;
        let place_of: Vec<u32> = is_present
            .into_iter()
            .map(|is_present| {
                let place = len;
                len += u32::from(is_present);
                place
            })
            .collect();
        Self { places: group.rows().map(|row| place_of[row.task()]).collect(), len: len as usize }
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
        self.sums_of(group.rows().zip(self.places()).map(|(row, place)| (place, parts(row))), add)
    }

    /// Sums by task, in name order, of parts with the indices of their tasks. Tasks without any part are left out.
    pub(super) fn sums_of<T: Default, P>(
        &self,
        parts: impl Iterator<Item = (usize, Option<P>)>,
        add: impl Fn(&mut T, P),
    ) -> Vec<T> {
        let mut sums: Vec<Option<T>> = (0..self.len).map(|_| None).collect();
        for (place, part) in parts {
            if let Some(part) = part {
                add(sums[place].get_or_insert_with(T::default), part);
            }
        }
        sums.into_iter().flatten().collect()
    }
}
