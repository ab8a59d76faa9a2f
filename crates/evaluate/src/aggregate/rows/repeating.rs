//! Compact storage for cells that repeat in a fixed order, as the stacks do for every run.

/// Stores one round of the cells, and verbatim everything after the order is first broken.
#[derive(Clone, Debug)]
pub(super) struct Repeating<T> {
    round: Vec<T>,
    /// Number of cells that follow the order.
    n_in_order: usize,
    /// The cells after those.
    rest: Vec<T>,
}

impl<T> Default for Repeating<T> {
    fn default() -> Self {
        Self { round: Vec::new(), n_in_order: 0, rest: Vec::new() }
    }
}

impl<T: Copy + PartialEq> Repeating<T> {
    pub(super) fn push(&mut self, cell: T) {
        // The first round ends where its first cell comes back.
        let is_first_round = self.n_in_order == self.round.len() && self.round.first() != Some(&cell);
        if !self.rest.is_empty() {
            self.rest.push(cell);
        } else if is_first_round {
            self.round.push(cell);
            self.n_in_order += 1;
        } else if self.round[self.n_in_order % self.round.len()] == cell {
            self.n_in_order += 1;
        } else {
            self.rest.push(cell);
        }
    }

    /// The cell at `at`, which is below the length.
    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        if at < self.n_in_order { self.round[at % self.round.len()] } else { self.rest[at - self.n_in_order] }
    }

    /// The positions of the cells for which `is` holds, in ascending order.
    pub(super) fn positions(&self, is: impl Fn(T) -> bool) -> impl Iterator<Item = usize> {
        let in_round: Vec<usize> = (0..self.round.len()).filter(|place| is(self.round[*place])).collect();
        let (length, n, end) = (self.round.len(), in_round.len(), self.n_in_order);
        let n_rounds = if n == 0 { 0 } else { end.div_ceil(length) };
        let rest = self.rest.iter().zip(end..).filter(move |(cell, _)| is(**cell)).map(|(_, at)| at);
        (0..n_rounds * n)
            .map(move |nth| nth / n * length + in_round[nth % n])
            .take_while(move |at| *at < end)
            .chain(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repeating(cells: &[u8]) -> Repeating<u8> {
        let mut kept = Repeating::default();
        for cell in cells {
            kept.push(*cell);
        }
        kept
    }

    #[test]
    fn a_round_is_kept_once_and_so_is_a_broken_one() {
        let kept = repeating(&[1, 2, 3, 1, 2, 3, 1, 2, 2, 1]);
        assert_eq!((kept.round.len(), kept.n_in_order, &kept.rest[..]), (3, 8, &[2, 1][..]));
        assert_eq!(repeating(&[7; 5]).round, [7]);
        assert_eq!(repeating(&[]).positions(|_| true).count(), 0);
    }

    proptest! {
        #[test]
        fn what_was_pushed_is_there(cells in prop::collection::vec(0_u8..4, 0..40)) {
            let kept = repeating(&cells);
            prop_assert_eq!((0..cells.len()).map(|at| kept.get(at)).collect::<Vec<_>>(), &cells[..]);
            let positions: Vec<usize> = (0..cells.len()).filter(|at| cells[*at] > 1).collect();
            prop_assert_eq!(kept.positions(|cell| cell > 1).collect::<Vec<_>>(), positions);
        }
    }
}
