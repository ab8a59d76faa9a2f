//! Which task each of many rows belongs to, found out once for all the sums over them.

use std::collections::HashMap;

use super::Row;

/// The tasks of a list of rows, in name order.
pub(super) struct Tasks {
    /// For each row, the place of its task.
    places: Vec<usize>,
    len: usize,
}

impl Tasks {
    /// The tasks of `rows`.
    pub(super) fn of(rows: &[&Row]) -> Self {
        let mut found: HashMap<(&str, &str), usize> = HashMap::new();
        let mut names = Vec::new();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            places.push(*found.entry(row.cluster()).or_insert_with(|| {
                names.push(row.cluster());
                names.len() - 1
            }));
        }
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_unstable_by_key(|at| names[*at]);
        let mut ranks = vec![0; order.len()];
        for (rank, at) in order.into_iter().enumerate() {
            ranks[at] = rank;
        }
        for place in &mut places {
            *place = ranks[*place];
        }
        Self { places, len: ranks.len() }
    }

    /// For each row the place of its task, in name order.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Sums by task, in name order, over the rows for which `parts` gives something. `rows` are those the tasks were
    /// made of; a task without a part has no sum.
    pub(super) fn sums<T: Default, P>(
        &self,
        rows: &[&Row],
        parts: impl Fn(&Row) -> Option<P>,
        add: impl Fn(&mut T, P),
    ) -> Vec<T> {
        let mut sums: Vec<Option<T>> = (0..self.len).map(|_| None).collect();
        for (row, place) in rows.iter().zip(&self.places) {
            if let Some(part) = parts(row) {
                add(sums[*place].get_or_insert_with(T::default), part);
            }
        }
        sums.into_iter().flatten().collect()
    }
}
