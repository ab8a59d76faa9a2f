//! What the signals of a catalogue read at the ends of one run.

use crate::replay::Holding;
use crate::rule::Comparator;
use crate::sweep::engine::{Extract, Plan};
use crate::transcript::Moment;
use crate::tune::Family;

/// An end of a run: the index of a step after which a stop would be early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndIx(u32);

impl EndIx {
    /// The end after the step with that index.
    pub(in crate::tune) fn new(at: usize) -> Self {
        Self(u32::try_from(at).expect("a run has fewer than 2^32 steps"))
    }

    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Which readings of a run are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReadings {
    /// Those that exceed all earlier ones: enough for limits.
    Records,
    /// All: lists of rules that are armed from a step on need them.
    All,
}

/// What the signals of all families read at the ends of a run. Tens of thousands of runs are held at a time, so the
/// readings of all families lie in one piece.
#[derive(Clone)]
pub(super) struct Readings {
    families: Box<[OfFamily]>,
    /// Readings that exceed all earlier ones of their family, by family.
    records: Box<[f64]>,
    /// The end of each of these.
    ends: Box<[EndIx]>,
    /// All readings, by family, NaN where there is none; nothing unless they were asked for.
    all: Box<[f64]>,
}

/// What the signal of one family reads.
#[derive(Clone, Copy)]
struct OfFamily {
    /// The reading from which the limits are farthest; NaN without readings.
    farthest: f64,
    /// Where the records of the next family begin.
    records_end: u32,
    /// Whether the rules of the family cannot be evaluated.
    is_unread: bool,
}

impl Readings {
    /// Of a run from which `plan` was extracted.
    pub(super) fn from_extract(on: &Extract, families: &[Family], plan: &Plan, kept: KeptReadings) -> Self {
        let (mut of_families, mut records, mut ends, mut all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for family in families {
            let rule = family.first_rule();
            let feature = plan.place(rule, Moment::AfterTools).expect("the plan reads the signals of the families");
            let mut is_unread = false;
            rule.each_need(&mut |need| is_unread |= on.holding(need) != Holding::Throughout);
            let falls = matches!(rule.comparator, Comparator::AtMost | Comparator::LessThan);
            let exceeds = |reading: f64, other: f64| if falls { reading < other } else { reading > other };
            let (mut farthest, mut last) = (f64::NAN, f64::NAN);
            for (reading, at) in on.early_readings(feature).zip((0..).map(EndIx::new)) {
                let reading = if is_unread { f64::NAN } else { reading };
                if kept == KeptReadings::All {
                    all.push(reading);
                }
                if reading.is_nan() {
                    continue;
                }
                if last.is_nan() || exceeds(reading, last) {
                    records.push(reading);
                    ends.push(at);
                    last = reading;
                }
                if farthest.is_nan() || exceeds(farthest, reading) {
                    farthest = reading;
                }
            }
            let records_end = u32::try_from(records.len()).expect("a run has fewer than 2^32 readings");
            of_families.push(OfFamily { farthest, records_end, is_unread });
        }
        Self { families: of_families.into(), records: records.into(), ends: ends.into(), all: all.into() }
    }

    /// Whether the rules of a family cannot be evaluated.
    pub(super) fn is_unread(&self, family: usize) -> bool {
        self.families[family].is_unread
    }

    /// Readings of a family that exceed all earlier ones, in order.
    pub(super) fn records(&self, family: usize) -> &[f64] {
        &self.records[self.records_of(family)]
    }

    /// The end of the first reading of a family for which `is` holds, which holds for all that exceed it.
    pub(super) fn first_end(&self, family: usize, is: impl Fn(f64) -> bool) -> Option<EndIx> {
        let records = self.records_of(family);
        let nth = self.records[records.clone()].partition_point(|reading| !is(*reading));
        self.ends[records].get(nth).copied()
    }

    /// The lowest and the highest reading of a family.
    pub(super) fn range(&self, family: usize) -> Option<(f64, f64)> {
        let nearest = *self.records(family).last()?;
        let farthest = self.families[family].farthest;
        Some((nearest.min(farthest), nearest.max(farthest)))
    }

    /// The readings of a family at each end, NaN where it has none; nothing unless all were kept.
    pub(super) fn all(&self, family: usize) -> &[f64] {
        let n = self.all.len() / self.families.len().max(1);
        &self.all[family * n..][..n]
    }

    fn records_of(&self, family: usize) -> std::ops::Range<usize> {
        let start = if family == 0 { 0 } else { self.families[family - 1].records_end };
        start as usize..self.families[family].records_end as usize
    }
}
