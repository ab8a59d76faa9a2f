//! Runs as columns: what every stack of a grid is judged on.

use super::extract::Extract;
use crate::aggregate::Unit;
use crate::transcript::{Outcome, Point, Secured};
use crate::verdict::{Amounts, Verdict};

/// Lanes of a block: its columns fit into the first-level cache, those of a whole grid into the second.
pub(super) const BLOCK: usize = 2048;
/// A point as a number, in the order of points; no stop.
pub(super) const NEVER: u32 = u32::MAX;

/// A point as a number that is in the order of points.
pub(super) fn code(point: Point) -> u32 {
    point.step.min(NEVER / 4 - 1) * 4 + point.moment as u32
}

/// How the lanes of a section are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Failures that nothing was graded on along the way: every early stop is a true stop.
    Failures,
    /// Successes of which nothing tells since when: every early stop kills.
    Successes,
    /// Graded runs of which checkpoints or labels tell more: the verdict depends on the point.
    Others,
}

/// Lanes that lie side by side and are of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// The first lane, a multiple of 64.
    pub(super) start: usize,
    /// How many lanes, a multiple of 64: those at the end may be of no run.
    pub(super) len: usize,
}

/// What stopping a run at one of its points comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) spent: u32,
    pub(super) stopped: bool,
    pub(super) verdict: Verdict,
}

/// Runs that are graded, in columns, with what they spent in one unit as whole numbers.
pub struct Runs<'e> {
    unit: Unit,
    /// So many whole numbers are one of the unit.
    scale: f64,
    blocks: Vec<Block>,
    /// The run of each lane.
    lanes: Vec<Option<&'e Extract>>,
    /// Recorded in all; 0 where the recording does not tell.
    recorded: Vec<u32>,
    /// Runs that nobody graded.
    ungraded: u64,
    /// For the lanes of [`Kind::Others`], what a stop at each point comes to, and what none does.
    endings: Vec<Vec<(u32, Ending)>>,
}

impl<'e> Runs<'e> {
    /// Puts `extracts` side by side. Amounts are counted in `unit`.
    pub fn of(extracts: &'e [Extract], unit: Unit) -> Self {
        let scale = scale(extracts, unit);
        let kind = |on: &Extract| match kind_of(on) {
            Some(Kind::Failures | Kind::Successes) if !spends_upwards(on, unit, scale) => Some(Kind::Others),
            kind => kind,
        };
        let kinds: Vec<Option<Kind>> = extracts.iter().map(kind).collect();
        let mut all = Self {
            unit,
            scale,
            blocks: Vec::new(),
            lanes: Vec::new(),
            recorded: Vec::new(),
            ungraded: 0,
            endings: Vec::new(),
        };
        all.ungraded = kinds.iter().filter(|kind| kind.is_none()).count() as u64;
        for section in [Kind::Failures, Kind::Successes, Kind::Others] {
            let of: Vec<&Extract> =
                extracts.iter().zip(&kinds).filter(|(_, kind)| **kind == Some(section)).map(|(on, _)| on).collect();
            for chunk in of.chunks(BLOCK) {
                let len = chunk.len().next_multiple_of(64);
                all.blocks.push(Block { kind: section, start: all.lanes.len(), len });
                all.lanes.extend(chunk.iter().copied().map(Some));
                all.recorded.extend(chunk.iter().map(|on| whole(on.shared().ledger().whole(), unit, scale)));
                all.lanes.resize(all.lanes.len().next_multiple_of(64), None);
                all.recorded.resize(all.lanes.len(), 0);
            }
        }
        all.endings = vec![Vec::new(); all.lanes.len()];
        for block in all.blocks.iter().filter(|block| block.kind == Kind::Others) {
            for lane in block.start..block.start + block.len {
                let Some(on) = all.lanes[lane] else { continue };
                let stops = on.points().iter().map(|(point, _)| (code(*point), all.ending(on, Some(*point))));
                all.endings[lane] = stops.chain([(NEVER, all.ending(on, None))]).collect();
            }
        }
        all
    }

    /// What amounts are counted in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// So many of the whole numbers of a tally are one of the unit.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Runs that nobody graded: in no tally.
    pub fn ungraded(&self) -> u64 {
        self.ungraded
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(super) fn lanes(&self) -> &[Option<&'e Extract>] {
        &self.lanes
    }

    pub(super) fn recorded(&self) -> &[u32] {
        &self.recorded
    }

    /// Below which all amounts are.
    pub(super) fn ceiling(&self) -> u32 {
        self.recorded.iter().copied().max().unwrap_or(0)
    }

    /// What a stop at the point of a code comes to, on a lane of [`Kind::Others`].
    pub(super) fn ending_at(&self, lane: usize, at: u32) -> Option<Ending> {
        let endings = &self.endings[lane];
        let place = endings.partition_point(|(code, _)| *code < at);
        endings.get(place).map(|(_, ending)| *ending)
    }

    /// What it comes to that a run is stopped at a point, or not.
    pub(super) fn ending(&self, on: &Extract, stop: Option<Point>) -> Ending {
        let stop = stop.filter(|stop| on.end().last_point.is_some_and(|end| *stop < end));
        let ledger = on.shared().ledger();
        let amounts = stop.map_or_else(|| ledger.whole(), |stop| ledger.until(stop));
        let verdict = on.shared().course().verdict(stop);
        Ending { spent: whole(amounts, self.unit, self.scale), stopped: stop.is_some(), verdict }
    }
}

/// `None` for a run that nobody graded.
fn kind_of(on: &Extract) -> Option<Kind> {
    let course = on.shared().course();
    match on.shared().outcome() {
        Outcome::Unknown => None,
        _ if course.has_checkpoints() => Some(Kind::Others),
        Outcome::Failure => Some(Kind::Failures),
        Outcome::Success if course.secured() == Secured::Unverified => Some(Kind::Successes),
        Outcome::Success => Some(Kind::Others),
    }
}

/// Is what was spent by a point never less than by an earlier one?
fn spends_upwards(on: &Extract, unit: Unit, scale: f64) -> bool {
    let ledger = on.shared().ledger();
    let points = on.points().iter().map(|(point, _)| ledger.until(*point)).chain([ledger.whole()]);
    points.map(|amounts| whole(amounts, unit, scale)).is_sorted()
}

fn amount(amounts: Amounts, unit: Unit) -> Option<f64> {
    match unit {
        Unit::Steps => Some(amounts.steps as f64),
        Unit::Tokens => amounts.tokens.map(|tokens| tokens.0 as f64),
        Unit::CostUsd => amounts.cost.map(|cost| cost.0),
    }
}

/// The amount as a whole number, 0 where it is not known.
fn whole(amounts: Amounts, unit: Unit, scale: f64) -> u32 {
    let amount = (amount(amounts, unit).unwrap_or(0.0) * scale).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held within the range before")]
    let whole = amount.clamp(0.0, f64::from(u32::MAX - 1)) as u32;
    whole
}

/// So that the dearest run stays below 2^31: steps and tokens are whole numbers as they are, unless a run has thousands of
/// millions of them; dollars have as many digits as there is room for.
fn scale(extracts: &[Extract], unit: Unit) -> f64 {
    let amounts = extracts.iter().filter_map(|on| amount(on.shared().ledger().whole(), unit));
    let largest = amounts.fold(0.0, f64::max);
    let limit = f64::from(1_u32 << 31);
    let finest = if unit == Unit::CostUsd { 9 } else { 0 };
    let scales = (-320..=finest).rev().map(|digits| 10_f64.powi(digits));
    scales.into_iter().find(|scale| largest * scale < limit).unwrap_or(0.0)
}
