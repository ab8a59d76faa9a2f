//! Evaluates a condition at all points of a run at once: bitsets of where it certainly holds and where it certainly
//! does not.

/// One bit per point, packed in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    fn none(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    fn all(n: usize) -> Self {
        let mut words = vec![u64::MAX; n.div_ceil(64)];
        if let Some(last) = words.last_mut().filter(|_| !n.is_multiple_of(64)) {
            *last = (1 << (n % 64)) - 1;
        }
        Self(words)
    }

    /// All of the `n` points from `first` on.
    fn from_on(first: Option<usize>, n: usize) -> Self {
        let Some(first) = first else { return Self::none(n) };
        let mut bits = Self::all(n);
        for (at, word) in bits.0.iter_mut().enumerate() {
            let below = first.saturating_sub(at * 64);
            *word &= u64::MAX.checked_shl(u32::try_from(below).unwrap_or(u32::MAX)).unwrap_or(0);
        }
        bits
    }

    fn set(&mut self, nth: usize) {
        self.0[nth / 64] |= 1 << (nth % 64);
    }

    pub(super) fn has(&self, nth: usize) -> bool {
        self.0.get(nth / 64).is_some_and(|word| word >> (nth % 64) & 1 == 1)
    }

    /// Indices of the set bits, in order.
    pub(super) fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.checked_sub(1)?;
                Some(at * 64 + bit)
            })
        })
    }

    /// The last set bit at or before `nth`.
    pub(super) fn last_until(&self, nth: usize) -> Option<usize> {
        (0..=nth).rev().find(|at| self.has(*at))
    }

    fn and(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    fn or(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// Where a condition holds, and where it does not; at all other points it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TruthByPoint {
    pub(super) yes: Bits,
    pub(super) no: Bits,
    n: usize,
}

impl TruthByPoint {
    /// From `holds`, the value at each of `n` points.
    pub(super) fn from_n(n: usize, holds: impl Iterator<Item = Option<bool>>) -> Self {
        let mut truth = Self { yes: Bits::none(n), no: Bits::none(n), n };
        for (nth, holds) in holds.take(n).enumerate() {
            match holds {
                Some(true) => truth.yes.set(nth),
                Some(false) => truth.no.set(nth),
                None => {}
            }
        }
        truth
    }

    /// Holds where any part holds; it is known not to hold only where no part is unread.
    pub(super) fn any(n: usize, parts: impl Iterator<Item = Self>) -> Self {
        let mut all = Self { yes: Bits::none(n), no: Bits::all(n), n };
        for part in parts {
            all.yes.or(&part.yes);
            all.no.and(&part.no);
        }
        all
    }

    /// Holds where all parts hold at the same point.
    pub(super) fn all(n: usize, parts: impl Iterator<Item = Self>) -> Self {
        Self::any(n, parts.map(Self::not)).not()
    }

    /// Holds once each part has held at some point so far: from the latest of their first points on. It is always
    /// known, as in the fold.
    pub(super) fn latched(n: usize, parts: impl Iterator<Item = Self>) -> Self {
        let mut first = Some(0);
        for part in parts {
            first = first.zip(part.yes.ones().next()).map(|(a, b)| a.max(b));
        }
        let yes = Bits::from_on(first, n);
        let mut no = Bits::all(n);
        no.0.iter_mut().zip(&yes.0).for_each(|(word, yes)| *word &= !yes);
        Self { yes, no, n }
    }

    /// Holds where at least `least` parts hold at the same point; counts the parts bitwise.
    pub(super) fn some(n: usize, least: usize, parts: &[Self]) -> Self {
        let at_least = |of: fn(&Self) -> &Bits, least: usize| {
            // `sums[k]`: more than k of the parts so far.
            let mut sums = vec![Bits::none(n); least.max(1)];
            for part in parts {
                for k in (0..sums.len()).rev() {
                    let mut carried = of(part).clone();
                    if let Some(below) = k.checked_sub(1) {
                        carried.and(&sums[below]);
                    }
                    sums[k].or(&carried);
                }
            }
            sums.pop().unwrap_or_else(|| Bits::none(n))
        };
        match (least, (parts.len() + 1).checked_sub(least)) {
            (0, _) => Self { yes: Bits::all(n), no: Bits::none(n), n },
            (_, Some(too_few @ 1..)) => {
                Self { yes: at_least(|part| &part.yes, least), no: at_least(|part| &part.no, too_few), n }
            }
            // More parts required than there are: known not to hold if one part is known not to hold, or without any
            // parts.
            _ => Self { yes: Bits::none(n), no: at_least(|part| &part.no, 1), n },
        }
    }

    pub(super) fn not(self) -> Self {
        Self { yes: self.no, no: self.yes, n: self.n }
    }

    /// Holds where the condition held at one of the last `within` steps; `step` gives the step of each point.
    pub(super) fn lately(self, within: u32, step: impl Fn(usize) -> u32) -> Self {
        let (mut held, mut unread) = (None, None);
        let holds: Vec<Option<bool>> = (0..self.n)
            .map(|nth| {
                let now = step(nth);
                if self.yes.has(nth) {
                    held = Some(now);
                } else if !self.no.has(nth) {
                    unread = Some(now);
                }
                let is_recent = |at: Option<u32>| matches!(at, Some(at) if now.saturating_sub(at) < within);
                match (is_recent(held), is_recent(unread)) {
                    (true, _) => Some(true),
                    (false, false) => Some(false),
                    (false, true) => None,
                }
            })
            .collect();
        Self::from_n(self.n, holds.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses `1` holds, `0` does not, `?` cannot be read.
    fn truth(text: &str) -> TruthByPoint {
        let holds = |c: char| match c {
            '1' => Some(true),
            '0' => Some(false),
            _ => None,
        };
        TruthByPoint::from_n(text.len(), text.chars().map(holds))
    }

    fn told(truth: &TruthByPoint) -> String {
        (0..truth.n)
            .map(|nth| {
                if truth.yes.has(nth) {
                    '1'
                } else if truth.no.has(nth) {
                    '0'
                } else {
                    '?'
                }
            })
            .collect()
    }

    #[test]
    fn three_values_combine_as_in_the_fold() {
        let (a, b) = ("1 1 1 0 0 0 ? ? ?".replace(' ', ""), "1 0 ? 1 0 ? 1 0 ?".replace(' ', ""));
        let parts = || [truth(&a), truth(&b)].into_iter();
        assert_eq!(told(&TruthByPoint::any(9, parts())), "11110?1??");
        assert_eq!(told(&TruthByPoint::all(9, parts())), "10?000?0?");
        assert_eq!(told(&truth(&a).not()), "000111???");
        let parts: Vec<TruthByPoint> = parts().collect();
        assert_eq!(TruthByPoint::some(9, 1, &parts), TruthByPoint::any(9, parts.clone().into_iter()));
        assert_eq!(TruthByPoint::some(9, 2, &parts), TruthByPoint::all(9, parts.clone().into_iter()));
        let three = [truth("110?"), truth("1011"), truth("0?11")];
        assert_eq!(told(&TruthByPoint::some(4, 2, &three)), "1?11");
    }

    #[test]
    fn latched_holds_from_the_greatest_first_point_on() {
        let long = "0".repeat(70) + "1";
        let latched = TruthByPoint::latched(75, [truth("0100?"), truth(&long)].into_iter());
        assert_eq!(latched.yes.ones().collect::<Vec<_>>(), [70, 71, 72, 73, 74]);
        assert_eq!(told(&TruthByPoint::latched(3, [truth("???")].into_iter())), "000");
        assert_eq!(told(&TruthByPoint::latched(3, std::iter::empty())), "111");
    }

    #[test]
    fn lately_looks_back_so_many_steps() {
        assert_eq!(told(&truth("0100?000").lately(3, |nth| u32::try_from(nth).unwrap())), "0111???0");
    }
}
