//! Walks all stacks of a product over runs, with the result of each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::atom::{Atom, AtomColumn, AxisChoice, Join, UnreadSets};
use super::kernel::{FirstStop, Joins, Kernel, Last, Slice};
use super::plan::Plan;
use super::product::Product;
use super::runs::{LaneBlock, LaneKind, Runs};
use super::tally::{Base, BlockSums, Tally};
use crate::parallel;
use crate::transcript::Outcome;

/// Stacks walked at a time: small enough that their sums stay in the cache.
const CHUNK: u64 = 1 << 13;

/// A product prepared for walking over runs.
pub struct GridWalk<'p, 'e> {
    product: &'p Product,
    runs: &'p Runs<'e>,
    /// Columns by axis and choice.
    columns: Vec<Vec<AtomColumn>>,
    /// The column of no choice at all.
    neutral: AtomColumn,
    dark: UnreadSets,
    kernel: Kernel,
    /// The axes, ordered from the outermost to the innermost loop.
    order: Vec<usize>,
    /// How many of them are outside a chunk.
    outer: usize,
    bases: Mutex<HashMap<u128, Arc<ReadableLanes>>>,
}

/// What remains after excluding runs that cannot be read.
struct ReadableLanes {
    /// Lanes that cannot be read.
    dark: Vec<u64>,
    base: Base,
}

impl<'p, 'e> GridWalk<'p, 'e> {
    /// Builds the columns of `atoms`, which must come from [`GridWalk::plan`]. `None` without axes, or if runs lack too
    /// many different things.
    pub fn new(product: &'p Product, atoms: &[Vec<Option<Atom>>], runs: &'p Runs<'e>) -> Option<Self> {
        if product.axes.is_empty() {
            return None;
        }
        let mut dark = UnreadSets::default();
        let mut columns = Vec::with_capacity(atoms.len());
        for axis in atoms {
            let of = |atom: &Option<Atom>| match atom {
                Some(atom) => AtomColumn::from_atom(atom, runs, product.join),
                None => (AtomColumn::absent(runs, product.join), Vec::new()),
            };
            let made: Vec<(AtomColumn, Vec<u64>)> = parallel::map(axis, of);
            let settled =
                made.into_iter().map(|(column, unread)| Some(AtomColumn { dark: dark.bit(unread)?, ..column }));
            columns.push(settled.collect::<Option<Vec<AtomColumn>>>()?);
        }
        // The longest axis is innermost: what its stacks share is computed once.
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|axis| columns[*axis].len());
        let mut within = 1_u64;
        let mut outer = order.len();
        while let Some(axis) = outer.checked_sub(1).map(|at| order[at]) {
            let more = within.saturating_mul(columns[axis].len() as u64);
            if more > CHUNK && outer < order.len() {
                break;
            }
            (within, outer) = (more, outer - 1);
        }
        let (kernel, neutral) = (Kernel::new(runs.ceiling()), AtomColumn::absent(runs, product.join));
        Some(Self { product, runs, columns, neutral, dark, kernel, order, outer, bases: Mutex::default() })
    }

    /// Adds what the choices of `product` read to `plan`. `None` if a choice does more than stop.
    pub fn plan(product: &Product, plan: &mut Plan) -> Option<Vec<Vec<Option<Atom>>>> {
        let mut atom = |choice: &Option<AxisChoice>| match choice {
            None => Some(None),
            Some(choice) => Atom::from_choice(choice, plan).map(Some),
        };
        product.axes.iter().map(|axis| axis.iter().map(&mut atom).collect()).collect()
    }

    /// Number of chunks in the walk.
    pub fn n_chunks(&self) -> u64 {
        self.order[..self.outer].iter().map(|axis| self.columns[*axis].len() as u64).product()
    }

    /// The stacks of a chunk with their results.
    pub fn chunk(&self, nth: u64) -> Vec<(u64, Tally)> {
        match self.product.join {
            Join::Any => self.walk::<FirstStop>(nth),
            Join::Latched => self.walk::<Last>(nth),
        }
    }

    /// Chunks `from..to`, computed on all threads, in order.
    pub fn chunks(&self, from: u64, to: u64) -> Vec<(u64, Tally)> {
        let chunks: Vec<u64> = (from..to).collect();
        parallel::map(&chunks, |nth| self.chunk(*nth)).concat()
    }

    /// How much a stack's index increases with the next choice of an axis.
    fn stride(&self, axis: usize) -> u64 {
        self.product.axes[axis + 1..].iter().map(|axis| axis.len() as u64).product()
    }

    fn walk<J: Joins>(&self, nth: u64) -> Vec<(u64, Tally)> {
        let (mut rest, mut first, mut prefix) = (nth, 0, Vec::new());
        for &axis in self.order[..self.outer].iter().rev() {
            let n = self.columns[axis].len() as u64;
            let choice = rest % n;
            (rest, first) = (rest / n, first + choice * self.stride(axis));
            prefix.extend(usize::try_from(choice).ok().and_then(|choice| self.columns[axis].get(choice)));
        }
        let inner: Vec<&[AtomColumn]> = self.order[self.outer..].iter().map(|axis| &*self.columns[*axis]).collect();
        let n_leaves = inner.iter().map(|axis| axis.len()).product();
        let mut sums = vec![BlockSums::default(); n_leaves];
        let bits = prefix.iter().fold(0, |bits, column| bits | column.dark);
        for block in self.runs.blocks() {
            let mut descent = Descent { walk: self, block: *block, inner: &inner, sums: &mut sums };
            descent.begin::<J>(&prefix, bits);
        }
        let mut told = Vec::with_capacity(n_leaves);
        let mut at = 0;
        self.tell(&mut told, &sums, &mut at, 0, first, bits);
        told
    }

    /// The tallies of the leaves below a node of the inner axes, in the order in which they were summed.
    fn tell(
        &self,
        told: &mut Vec<(u64, Tally)>,
        sums: &[BlockSums],
        at: &mut usize,
        depth: usize,
        index: u64,
        dark: u128,
    ) {
        let Some(&axis) = self.order.get(self.outer + depth) else {
            if let Some(sums) = sums.get(*at) {
                told.push((index, self.lit(dark).base.with(sums)));
            }
            *at += 1;
            return;
        };
        let stride = self.stride(axis);
        for (choice, column) in (0_u64..).zip(&self.columns[axis]) {
            self.tell(told, sums, at, depth + 1, index + choice * stride, dark | column.dark);
        }
    }

    /// What remains if these sets of runs cannot be read.
    fn lit(&self, bits: u128) -> Arc<ReadableLanes> {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(self.make_lit(bits));
        Arc::clone(bases.entry(bits).or_insert_with(make))
    }

    fn make_lit(&self, bits: u128) -> ReadableLanes {
        let dark = self.dark.union(bits, self.runs.lanes().len() / 64);
        let mut base = Base::default();
        let excess = if self.product.join == Join::Any { 0 } else { u64::from(self.runs.ceiling()) };
        for block in self.runs.blocks() {
            for lane in block.start..block.start + block.len {
                let Some(on) = self.runs.lanes()[lane] else { continue };
                let is_success = on.shared().facts().outcome() == Outcome::Success;
                if dark[lane / 64] >> (lane % 64) & 1 == 1 {
                    match block.kind {
                        LaneKind::Failures => base.excess.0 += excess,
                        LaneKind::Successes => base.excess.1 += excess,
                        LaneKind::Others => {}
                    }
                    continue;
                }
                let recorded = u64::from(self.runs.recorded()[lane]);
                base.recorded += recorded;
                base.successes += u64::from(is_success);
                base.failures += u64::from(!is_success);
                base.recorded_successes += u64::from(is_success && block.is_recorded);
                base.recorded_on_successes += if is_success { recorded } else { 0 };
                base.recorded_on_failures += if block.kind == LaneKind::Failures { recorded } else { 0 };
            }
        }
        ReadableLanes { dark, base }
    }
}

/// Evaluates one block under all stacks of a chunk.
struct Descent<'w, 'p, 'e, 's> {
    walk: &'w GridWalk<'p, 'e>,
    block: LaneBlock,
    inner: &'w [&'w [AtomColumn]],
    sums: &'s mut [BlockSums],
}

/// The combined columns of the choices so far, on one block.
#[derive(Clone, Default)]
struct Prefix {
    spent: Vec<u32>,
    stops: Vec<u64>,
    places: Vec<u32>,
}

impl LaneBlock {
    /// The part of a column that is of these lanes.
    fn slice(self, column: &AtomColumn) -> Slice<'_> {
        let Self { start, len, .. } = self;
        Slice { spent: &column.spent[start..start + len], stops: &column.stops[start / 64..(start + len) / 64] }
    }
}

impl Descent<'_, '_, '_, '_> {
    fn begin<J: Joins>(&mut self, prefix: &[&AtomColumn], dark: u128) {
        let LaneBlock { start, len, .. } = self.block;
        let neutral = &self.walk.neutral;
        let slice = self.block.slice(neutral);
        let mut all = Prefix { spent: slice.spent.to_vec(), stops: slice.stops.to_vec(), places: Vec::new() };
        if self.block.kind == LaneKind::Others {
            all.places = neutral.places[start..start + len].to_vec();
        }
        for column in prefix {
            all = self.joined::<J>(&all, column);
        }
        self.descend::<J>(&all, 0, 0, dark);
    }

    fn joined<J: Joins>(&self, prefix: &Prefix, column: &AtomColumn) -> Prefix {
        let LaneBlock { start, len, kind, .. } = self.block;
        let mut all = Prefix { spent: vec![0; len], stops: vec![0; len / 64], places: Vec::new() };
        if kind == LaneKind::Others {
            let places = prefix.places.iter().zip(&column.places[start..start + len]);
            all.places = places.map(|(a, b)| J::amounts(*a, *b)).collect();
        } else {
            let before = Slice { spent: &prefix.spent, stops: &prefix.stops };
            self.walk.kernel.join::<J>(before, self.block.slice(column), &mut all.spent, &mut all.stops);
        }
        all
    }

    /// Sums up the leaves below a node; `leaf` is the first of them. Returns the one after the last.
    fn descend<J: Joins>(&mut self, prefix: &Prefix, depth: usize, leaf: usize, dark: u128) -> usize {
        let Some(axis) = self.inner.get(depth) else { return self.leaves::<J>(prefix, &[], leaf, dark) };
        if depth + 1 == self.inner.len() {
            return self.leaves::<J>(prefix, axis, leaf, dark);
        }
        let mut next = leaf;
        for column in *axis {
            let joined = self.joined::<J>(prefix, column);
            next = self.descend::<J>(&joined, depth + 1, next, dark | column.dark);
        }
        next
    }

    /// The innermost loop: joins one prefix with every column of the last axis.
    fn leaves<J: Joins>(&mut self, prefix: &Prefix, axis: &[AtomColumn], leaf: usize, dark: u128) -> usize {
        let mut next = leaf;
        for same in axis.chunk_by(|a, b| a.dark == b.dark) {
            let lit = self.walk.lit(dark | same[0].dark);
            if self.block.kind == LaneKind::Others {
                for (at, column) in (next..).zip(same) {
                    self.others::<J>(prefix, column, &lit, at);
                }
            } else {
                let block = self.block;
                let LaneBlock { start, len, kind, is_recorded } = block;
                let dark = &lit.dark[start / 64..(start + len) / 64];
                let slices = same.iter().map(|column| block.slice(column));
                let before = Slice { spent: &prefix.spent, stops: &prefix.stops };
                let sums = &mut self.sums[next..];
                self.walk.kernel.tally::<J>(before, dark, slices, |nth, spent, stops| {
                    let sums = &mut sums[nth];
                    if kind == LaneKind::Failures {
                        sums.spent_on_failures += spent;
                        sums.stopped_failures += stops;
                    } else {
                        sums.spent_on_successes += spent;
                        sums.stopped_successes += stops;
                        sums.unrecorded_killed += if is_recorded { 0 } else { stops };
                    }
                });
            }
            next += same.len();
        }
        next
    }

    /// Adds runs whose verdict depends on the point, one by one.
    fn others<J: Joins>(&mut self, prefix: &Prefix, column: &AtomColumn, lit: &ReadableLanes, leaf: usize) {
        let LaneBlock { start, len, is_recorded, .. } = self.block;
        let (runs, places) = (self.walk.runs, &column.places[start..start + len]);
        let dark = &lit.dark[start / 64..(start + len) / 64];
        let all_lit = dark.iter().all(|word| *word == 0);
        let (mut counts, mut spent, mut useful) = (0, 0, 0);
        for (at, (before, place)) in prefix.places.iter().zip(places).enumerate() {
            if !all_lit && dark[at / 64] >> (at % 64) & 1 == 1 {
                continue;
            }
            let ending = runs.ending_at(start + at, J::amounts(*before, *place));
            counts += ending.counts;
            spent += u64::from(ending.spent);
            useful += u64::from(ending.useful);
        }
        let count = |nth: u32| counts >> (16 * nth) & 0xffff;
        if !is_recorded {
            self.sums[leaf].unrecorded_killed += count(1);
            self.sums[leaf].unrecorded_rescued += count(3);
        }
        let sums = &mut self.sums[leaf].others;
        sums.stops += count(0);
        sums.killed += count(1);
        sums.true_stops += count(2);
        sums.rescued += count(3);
        sums.spent += spent;
        sums.useful += useful;
    }
}
