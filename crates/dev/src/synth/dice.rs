//! Seeded random numbers that are the same on every machine: splitmix64, integers only.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    /// The stream of `seed` that belongs to `name`. Streams of different names are independent, so a run
    /// does not change when more runs are asked for.
    pub(super) fn named(seed: u64, name: &str) -> Self {
        // FNV-1a: short, exactly specified, and mixed further by the first draw.
        let hash = name
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        let mut dice = Self { state: seed ^ hash };
        dice.next();
        dice
    }

    /// The next 64 bits (Steele, Lea and Flood 2014, splitmix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included; `low` when the range is empty.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        let size = high.saturating_sub(low).saturating_add(1);
        // Takes the upper half of a 128-bit product; the bias is negligible for the small ranges used here.
        let scaled = (u128::from(self.next()) * u128::from(size)) >> 64;
        low + u64::try_from(scaled).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// A place in a list of `length`; 0 when it is empty.
    pub(super) fn place(&mut self, length: usize) -> usize {
        let last = u64::try_from(length.saturating_sub(1)).unwrap_or(0);
        usize::try_from(self.between(0, last)).unwrap_or(0)
    }

    /// One of `items`, which must not be empty.
    pub(super) fn pick<'a>(&mut self, items: &'a [String]) -> &'a str {
        &items[self.place(items.len())]
    }

    /// The items in another order (Fisher and Yates).
    pub(super) fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            items.swap(last, self.place(last + 1));
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // Reference values of splitmix64 for the seed 1234567.
        let mut dice = Dice { state: 1_234_567 };
        assert_eq!([dice.next(), dice.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut dice = Dice::named(1, "range");
        let drawn: std::collections::BTreeSet<u64> = (0..200).map(|_| dice.between(3, 6)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!(dice.between(5, 2), 5);
    }
}
