//! The inner loops, compiled for several vector units; the machine's own is chosen at run time.
//!
//! They are plain loops over slices of equal length, compiled once for each kind of machine by `pulp`.
#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for the machine found")]

/// How two columns are combined.
pub(super) trait Joins: Copy + Send + Sync {
    fn amounts(a: u32, b: u32) -> u32;
    fn bits(a: u64, b: u64) -> u64;
}

/// The first to fire stops.
#[derive(Clone, Copy)]
pub(super) struct FirstStop;
/// The last to fire stops.
#[derive(Clone, Copy)]
pub(super) struct Last;

impl Joins for FirstStop {
    #[inline(always)]
    fn amounts(a: u32, b: u32) -> u32 {
        a.min(b)
    }

    #[inline(always)]
    fn bits(a: u64, b: u64) -> u64 {
        a | b
    }
}

impl Joins for Last {
    #[inline(always)]
    fn amounts(a: u32, b: u32) -> u32 {
        a.max(b)
    }

    #[inline(always)]
    fn bits(a: u64, b: u64) -> u64 {
        a & b
    }
}

/// Amounts below this can be summed in 32 bits over a block: 32 sums of at most 64 amounts each.
pub(super) const NARROW: u32 = 1 << 26;
/// Sums per vector; there are four such vectors.
const WIDTH: usize = 8;

/// Joins two columns into a third.
#[inline(always)]
fn join<J: Joins>(a: &[u32], b: &[u32], into: &mut [u32]) {
    for ((into, a), b) in into.iter_mut().zip(a).zip(b) {
        *into = J::amounts(*a, *b);
    }
}

/// The sum of two joined columns with amounts below [`NARROW`].
#[inline(always)]
fn narrow_sum<J: Joins>(a: &[u32], b: &[u32]) -> u64 {
    let mut sums = [[0_u32; WIDTH]; 4];
    let (a, a_rest) = a.as_chunks::<{ 4 * WIDTH }>();
    let (b, b_rest) = b.as_chunks::<{ 4 * WIDTH }>();
    for (a, b) in a.iter().zip(b) {
        for part in 0..4 {
            for at in 0..WIDTH {
                sums[part][at] = sums[part][at].wrapping_add(J::amounts(a[part * WIDTH + at], b[part * WIDTH + at]));
            }
        }
    }
    let rest: u64 = a_rest.iter().zip(b_rest).map(|(a, b)| u64::from(J::amounts(*a, *b))).sum();
    sums.iter().flatten().map(|sum| u64::from(*sum)).sum::<u64>() + rest
}

/// The sum of two joined columns of any amounts.
#[inline(always)]
fn wide_sum<J: Joins>(a: &[u32], b: &[u32]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from(J::amounts(*a, *b))).sum()
}

/// The number of bits set in two joined columns, excluding those of `dark`.
#[inline(always)]
fn count<J: Joins>(a: &[u64], b: &[u64], dark: &[u64]) -> u64 {
    a.iter().zip(b).zip(dark).map(|((a, b), dark)| u64::from((J::bits(*a, *b) & !dark).count_ones())).sum()
}

/// A block of a column: amounts and bits.
#[derive(Clone, Copy)]
pub(super) struct Slice<'c> {
    pub(super) spent: &'c [u32],
    pub(super) stops: &'c [u64],
}

/// The machine's vector unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    arch: pulp::Arch,
    narrow: bool,
}

impl Kernel {
    /// A kernel for amounts of at most `ceiling`.
    pub(super) fn new(ceiling: u32) -> Self {
        Self { arch: pulp::Arch::new(), narrow: ceiling < NARROW }
    }

    /// A kernel for machines without vectors, to compare with the other.
    #[cfg(test)]
    pub(super) fn portable(ceiling: u32) -> Self {
        Self { arch: pulp::Arch::Scalar, narrow: ceiling < NARROW }
    }

    /// Joins two blocks into a third.
    pub(super) fn join<J: Joins>(self, a: Slice<'_>, b: Slice<'_>, spent: &mut [u32], stops: &mut [u64]) {
        self.arch.dispatch(
            #[inline(always)]
            || join::<J>(a.spent, b.spent, spent),
        );
        for ((into, a), b) in stops.iter_mut().zip(a.stops).zip(b.stops) {
            *into = J::bits(*a, *b);
        }
    }

    /// Joins a block with each of several: for each, the sum of the amounts and the number of stops outside `dark`.
    pub(super) fn tally<'c, J: Joins>(
        self,
        prefix: Slice<'_>,
        dark: &[u64],
        leaves: impl Iterator<Item = Slice<'c>>,
        mut each: impl FnMut(usize, u64, u64),
    ) {
        let narrow = self.narrow;
        self.arch.dispatch(
            #[inline(always)]
            move || {
                for (nth, leaf) in leaves.enumerate() {
                    let sum = if narrow {
                        narrow_sum::<J>(prefix.spent, leaf.spent)
                    } else {
                        wide_sum::<J>(prefix.spent, leaf.spent)
                    };
                    each(nth, sum, count::<J>(prefix.stops, leaf.stops, dark));
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers below 2^23, shifted.
    fn numbers(n: usize, seed: u32, shift: u32) -> Vec<u32> {
        let number = |at: u32| (at.wrapping_mul(2_654_435_761) ^ seed.rotate_left(at % 31)) >> 9 << shift;
        (0..u32::try_from(n).unwrap()).map(number).collect()
    }

    #[test]
    fn every_machine_adds_up_the_same() {
        for (len, shift) in [(2048, 0), (64, 0), (192, 0), (2048, 8)] {
            let spent = [3, 77].map(|seed| numbers(len, seed, shift));
            let stops = [5, 9].map(|seed| numbers(len / 64, seed, 0).into_iter().map(u64::from).collect::<Vec<_>>());
            let [one, other] = [0, 1].map(|at| Slice { spent: &spent[at], stops: &stops[at] });
            let sum: u64 = spent[0].iter().zip(&spent[1]).map(|(one, other)| u64::from(*one.min(other))).sum();
            let bits: u32 = stops[0].iter().zip(&stops[1]).map(|(one, other)| (one | other).count_ones()).sum();
            let ceiling = spent.iter().flatten().copied().max().unwrap();
            for kernel in [Kernel::new(ceiling), Kernel::portable(ceiling)] {
                let (mut told, dark) = (Vec::new(), vec![0; len / 64]);
                kernel.tally::<FirstStop>(one, &dark, [other].into_iter(), |nth, sum, n| told.push((nth, sum, n)));
                assert_eq!(told, [(0, sum, u64::from(bits))], "{kernel:?}");
                let (mut greatest, mut both) = (vec![0; len], vec![0; len / 64]);
                kernel.join::<Last>(one, other, &mut greatest, &mut both);
                assert!(greatest.iter().zip(one.spent).zip(other.spent).all(|((of, a), b)| of == a.max(b)));
                assert!(both.iter().zip(one.stops).zip(other.stops).all(|((of, a), b)| *of == a & b));
            }
        }
    }
}
