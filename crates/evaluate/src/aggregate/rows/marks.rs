//! Packs a row's verdict, outcome, exactness, doubts and eight bits into one number.

use crate::aggregate::{ExactnessName, Row};
use crate::transcript::Outcome;
use crate::verdict::{Doubts, Verdict};

/// The packed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedMarks(pub(super) u32);

/// A named bit of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bit {
    OutcomeLow = 16,
    OutcomeHigh,
    StoppedLow,
    StoppedHigh,
    KilledLow,
    KilledHigh,
    TrueStopLow,
    TrueStopHigh,
}

const OUTCOMES: [Outcome; 3] = [Outcome::Success, Outcome::Failure, Outcome::Unknown];
const EXACTNESS: [ExactnessName; 3] = [ExactnessName::Exact, ExactnessName::Diverged, ExactnessName::Censored];

impl PackedMarks {
    /// Packs the marks of `row`.
    pub(super) fn from_row(row: &Row) -> Self {
        let Doubts { unread, diverged, unlabelled } = row.unknown;
        let doubts = [unread, diverged, unlabelled].into_iter().zip(8..).map(|(holds, at)| u32::from(holds) << at);
        let bits = [
            (Bit::OutcomeLow, row.outcome_low),
            (Bit::OutcomeHigh, row.outcome_high),
            (Bit::StoppedLow, row.stopped_low),
            (Bit::StoppedHigh, row.stopped_high),
            (Bit::KilledLow, row.killed_low),
            (Bit::KilledHigh, row.killed_high),
            (Bit::TrueStopLow, row.true_stop_low),
            (Bit::TrueStopHigh, row.true_stop_high),
        ];
        let bits = bits.into_iter().map(|(bit, value)| u32::from(value != 0) << bit as u32);
        let names = place(&Verdict::ALL, row.verdict) | place(&OUTCOMES, row.outcome) << 4;
        Self(names | place(&EXACTNESS, row.exactness) << 6 | doubts.chain(bits).sum::<u32>())
    }

    #[inline]
    pub(super) fn verdict(self) -> Verdict {
        at(&Verdict::ALL, self.0 & 15)
    }

    #[inline]
    pub(super) fn outcome(self) -> Outcome {
        at(&OUTCOMES, self.0 >> 4 & 3)
    }

    #[inline]
    pub(super) fn exactness(self) -> ExactnessName {
        at(&EXACTNESS, self.0 >> 6 & 3)
    }

    #[inline]
    pub(super) fn unknown(self) -> Doubts {
        Doubts { unread: self.0 >> 8 & 1 == 1, diverged: self.0 >> 9 & 1 == 1, unlabelled: self.0 >> 10 & 1 == 1 }
    }

    /// The bit as 0 or 1.
    #[inline]
    pub(super) fn bit(self, bit: Bit) -> u8 {
        u8::from(self.0 >> bit as u32 & 1 == 1)
    }
}

/// The index of a value in the list of all values.
pub(super) fn place<T: PartialEq + Copy>(all: &[T], value: T) -> u32 {
    let (_, place) = all.iter().zip(0..).find(|(one, _)| **one == value).expect("the list holds every variant");
    place
}

/// The value at an index that [`place`] returned.
pub(super) fn at<T: Copy>(all: &[T], place: u32) -> T {
    all[place as usize]
}
