//! Runs as columns, on which every stack of a grid is evaluated.

use super::extract::Extract;
use super::kernel::NARROW;
use crate::aggregate::{BestUnit, MeasuredRun, Unit};
use crate::transcript::{Outcome, Point, Secured};
use crate::verdict::{Amounts, Verdict};

/// Lanes of a block: a block's columns fit into the first-level cache, those of a whole grid into the second.
pub(super) const BLOCK: usize = 2048;
/// How the lanes of a section are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneKind {
    /// Failures without grades along the way: every early stop is a true stop.
    Failures,
    /// Successes with no known secured point: every early stop kills.
    Successes,
    /// Graded runs with checkpoints or labels: the verdict depends on the stop's point.
    Others,
}

/// Adjacent lanes of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneBlock {
    pub(super) kind: LaneKind,
    /// Whether its runs record the unit.
    pub(super) is_recorded: bool,
    /// The first lane, a multiple of 64.
    pub(super) start: usize,
    /// Number of lanes, a multiple of 64: the last ones may hold no run.
    pub(super) len: usize,
}

/// The result of stopping a run at one of its points, encoded so that it can be summed over a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneEnding {
    /// Four flags, 0 or 1 each, sixteen bits apart: stopped, killed, true stop, rescued. A block has fewer than 2^16
    /// lanes.
    pub(super) counts: u64,
    pub(super) spent: u32,
    pub(super) useful: u32,
}

/// Graded runs in columns, with what they spent in one unit as whole numbers.
pub struct Runs<'e> {
    unit: Unit,
    /// Number of whole numbers per unit.
    scale: f64,
    blocks: Vec<LaneBlock>,
    /// The run of each lane.
    lanes: Vec<Option<&'e Extract>>,
    /// Total recorded amount; 0 if the recording does not tell.
    recorded: Vec<u32>,
    /// Number of ungraded runs.
    ungraded: u64,
    /// For the lanes of [`LaneKind::Others`], consecutively: the result of a stop at each point, then of no stop.
    endings: Vec<LaneEnding>,
    /// Where the endings of each lane begin.
    begins: Vec<usize>,
}

impl<'e> Runs<'e> {
    /// Arranges `extracts` in columns, with amounts in `unit`.
    pub fn from_extracts(extracts: impl IntoIterator<Item = &'e Extract>, unit: Unit) -> Self {
        let extracts: Vec<&Extract> = extracts.into_iter().collect();
        let scale = scale(&extracts, unit);
        let kind = |on: &Extract| match kind_of(on) {
            Some(LaneKind::Failures | LaneKind::Successes) if !spends_upwards(on, unit, scale) => {
                Some(LaneKind::Others)
            }
            kind => kind,
        };
        let kinds: Vec<Option<LaneKind>> = extracts.iter().copied().map(kind).collect();
        let mut all = Self {
            unit,
            scale,
            blocks: Vec::new(),
            lanes: Vec::new(),
            recorded: Vec::new(),
            ungraded: 0,
            endings: Vec::new(),
            begins: Vec::new(),
        };
        all.ungraded = kinds.iter().filter(|kind| kind.is_none()).count() as u64;
        let sections = [LaneKind::Failures, LaneKind::Successes, LaneKind::Others];
        for (section, is_recorded) in sections.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
            let is_of = |on: &Extract, kind: Option<LaneKind>| {
                kind == Some(section) && on.amount(None, unit).is_some() == is_recorded
            };
            let of: Vec<&Extract> =
                extracts.iter().zip(&kinds).filter(|(on, kind)| is_of(on, **kind)).map(|(on, _)| *on).collect();
            for chunk in of.chunks(BLOCK) {
                let len = chunk.len().next_multiple_of(64);
                all.blocks.push(LaneBlock { kind: section, is_recorded, start: all.lanes.len(), len });
                all.lanes.extend(chunk.iter().copied().map(Some));
                all.recorded.extend(chunk.iter().map(|on| whole(on.shared().ledger().whole(), unit, scale)));
                all.lanes.resize(all.lanes.len().next_multiple_of(64), None);
                all.recorded.resize(all.lanes.len(), 0);
            }
        }
        // The first entry is for lanes without a run.
        all.endings.push(LaneEnding::default());
        all.begins = vec![0; all.lanes.len()];
        for block in all.blocks.iter().filter(|block| block.kind == LaneKind::Others) {
            for lane in block.start..block.start + block.len {
                let Some(on) = all.lanes[lane] else { continue };
                all.begins[lane] = all.endings.len();
                let stops = on.points().iter().map(|(point, _)| Some(*point)).chain([None]);
                let endings: Vec<LaneEnding> = stops.map(|stop| all.ending(on, stop)).collect();
                all.endings.extend(endings);
            }
        }
        all
    }

    /// The unit that suits these recordings best, equal to [`crate::aggregate::unit_of`] on their rows.
    pub fn unit_of(extracts: &[Extract]) -> Unit {
        let measured: Vec<MeasuredRun> = extracts.iter().map(|on| MeasuredRun::from_run(on.shared())).collect();
        BestUnit::from_runs(&measured).unit
    }

    /// The unit of the amounts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// How many of a tally's whole numbers make one unit.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Number of ungraded runs, which are in no tally.
    pub fn ungraded(&self) -> u64 {
        self.ungraded
    }

    pub(super) fn blocks(&self) -> &[LaneBlock] {
        &self.blocks
    }

    pub(super) fn lanes(&self) -> &[Option<&'e Extract>] {
        &self.lanes
    }

    pub(super) fn recorded(&self) -> &[u32] {
        &self.recorded
    }

    /// An upper bound: all amounts are below it.
    pub(super) fn ceiling(&self) -> u32 {
        self.recorded.iter().copied().max().unwrap_or(0)
    }

    /// The result of a stop at the `nth` of all points, on a lane of [`LaneKind::Others`]; the index beyond the last point
    /// means no stop.
    pub(super) fn ending_at(&self, lane: usize, nth: u32) -> LaneEnding {
        self.endings[self.begins[lane] + nth as usize]
    }

    /// The index of a point among all points of a run; without a point, the index beyond the last.
    pub(super) fn place(on: &Extract, stop: Option<Point>) -> u32 {
        let points = on.points();
        let place = stop.map_or(points.len(), |stop| points.partition_point(|(point, _)| *point < stop));
        u32::try_from(place).expect("a run has fewer than 2^32 points")
    }

    /// The amount spent by a point, and whether a stop there is early. Without a point, the total recorded amount.
    pub(super) fn spent(&self, on: &Extract, stop: Option<Point>) -> (u32, bool) {
        let stop = on.early(stop);
        (whole(on.shared().ledger().paid_by(stop), self.unit, self.scale), stop.is_some())
    }

    /// The result of stopping a run at a point, or of not stopping it.
    fn ending(&self, on: &Extract, stop: Option<Point>) -> LaneEnding {
        let (spent, is_stopped) = self.spent(on, stop);
        let verdict = on.shared().course().verdict(on.early(stop));
        let recorded = whole(on.shared().ledger().whole(), self.unit, self.scale);
        let counts = [is_stopped, verdict.is_fes(), verdict == Verdict::TrueStop, verdict == Verdict::Rescued];
        LaneEnding {
            counts: counts.into_iter().rev().fold(0, |bits, is| bits << 16 | u64::from(is)),
            spent,
            useful: if verdict.is_fes() { 0 } else { recorded.saturating_sub(spent) },
        }
    }
}

/// The kind of a run; `None` if it is ungraded.
fn kind_of(on: &Extract) -> Option<LaneKind> {
    let course = on.shared().course();
    match on.shared().facts().outcome() {
        Outcome::Unknown => None,
        _ if course.has_checkpoints() => Some(LaneKind::Others),
        Outcome::Failure => Some(LaneKind::Failures),
        Outcome::Success if course.secured() == Secured::Unverified => Some(LaneKind::Successes),
        Outcome::Success => Some(LaneKind::Others),
    }
}

/// Whether the amount spent never decreases from one point to the next.
fn spends_upwards(on: &Extract, unit: Unit, scale: f64) -> bool {
    let ledger = on.shared().ledger();
    let points = on.points().iter().map(|(point, _)| ledger.until(*point)).chain([ledger.whole()]);
    points.map(|amounts| whole(amounts, unit, scale)).is_sorted()
}

/// The amount as a whole number; 0 if it is unknown.
fn whole(amounts: Amounts, unit: Unit, scale: f64) -> u32 {
    let amount = (unit.amount_in(amounts).unwrap_or(0.0) * scale).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held within the range before")]
    let whole = amount.clamp(0.0, f64::from(u32::MAX - 1)) as u32;
    whole
}

/// The scale that keeps the most expensive run in range: steps and tokens stay as they are unless a run has billions
/// of them; dollars get as many digits as the fast sums have room for.
fn scale(extracts: &[&Extract], unit: Unit) -> f64 {
    let amounts = extracts.iter().filter_map(|on| on.amount(None, unit));
    let largest = amounts.fold(0.0, f64::max);
    let (limit, finest) = if unit == Unit::CostUsd { (NARROW, 9) } else { (1 << 31, 0) };
    let scales = (-320..=finest).rev().map(|digits| 10_f64.powi(digits));
    scales.into_iter().find(|scale| largest * scale < f64::from(limit)).unwrap_or(0.0)
}
