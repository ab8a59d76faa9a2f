//! Atoms: where one condition first fires on every run.

use std::collections::HashMap;

use super::extract::Extract;
use super::formula::FormulaPart;
use super::plan::Plan;
use super::runs::{LaneKind, Runs};
use crate::decision::{Need, Requirement, RuleName, Strategy};
use crate::replay::Holding;
use crate::stack::{Cap, Clause, Stack};
use crate::transcript::Point;

/// One of the choices on an axis of a grid: a clause that stops, or a cap at which nobody is asked.
#[derive(Clone, Debug)]
pub enum AxisChoice {
    /// A clause.
    Clause(Clause),
    /// A cap.
    Cap(Cap),
}

impl AxisChoice {
    /// The name that its stops are attributed to.
    pub fn name(&self) -> RuleName {
        match self {
            Self::Clause(clause) => clause.name.clone(),
            Self::Cap(_) => self.stack().rules().pop().expect("a stack with a cap names it"),
        }
    }

    /// The stack that consists of this choice alone.
    pub fn stack(&self) -> Stack {
        let (clauses, cap) = match self {
            Self::Clause(clause) => (vec![clause.clone()], None),
            Self::Cap(cap) => (Vec::new(), Some(cap.clone())),
        };
        Stack { name: String::new(), clauses, cap }
    }
}

/// A choice compiled for evaluation on extracts.
#[derive(Clone, Debug)]
pub struct Atom {
    part: FormulaPart,
    needs: Vec<Need>,
}

impl Atom {
    /// Compiles a choice and adds what it reads to `plan`. `None` for a choice that does more than stop.
    pub fn from_choice(choice: &AxisChoice, plan: &mut Plan) -> Option<Self> {
        let stack = choice.stack();
        let formula = super::Formula::from_stack(&stack, plan)?;
        let needs = stack.requirements().into_iter().map(|Requirement { need, .. }| need).collect();
        Some(Self { part: formula.into_part()?, needs })
    }

    /// Whether everything it needs can be read from the recording.
    fn is_read(&self, on: &Extract) -> bool {
        self.needs.iter().all(|need| on.holding(*need) == Holding::Throughout)
    }

    /// Where it first fires; `None` also if a redacted recording would mislead it.
    pub(super) fn first(&self, on: &Extract) -> Option<Point> {
        let misled = self.needs.iter().any(|need| on.holding(*need) == Holding::TakenOut);
        if misled { None } else { self.part.first(on) }
    }
}

/// One atom evaluated on all lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct AtomColumn {
    /// Amount spent by the point where it fires; the whole recorded amount if it does not fire early. Where it cannot
    /// be read, the neutral element of the join.
    pub(super) spent: Vec<u32>,
    /// One bit per lane: whether it stops the lane's run early.
    pub(super) stops: Vec<u64>,
    /// The index of its point among all points of the run, if there are lanes of [`LaneKind::Others`]; not used otherwise.
    pub(super) places: Vec<u32>,
    /// The sets of runs on which it cannot be read: bits of [`UnreadSets`].
    pub(super) dark: u128,
}

/// Sets of lanes on which some atom cannot be read, each represented by one bit.
#[derive(Clone, Debug, Default)]
pub(super) struct UnreadSets {
    sets: Vec<Vec<u64>>,
    places: HashMap<Vec<u64>, u32>,
}

impl UnreadSets {
    /// The bit of a set; 0 for the empty set.
    ///
    /// `None` if there are more than 128 different sets.
    pub(super) fn bit(&mut self, set: Vec<u64>) -> Option<u128> {
        if set.iter().all(|word| *word == 0) {
            return Some(0);
        }
        let next = u32::try_from(self.sets.len()).ok()?;
        let sets = &mut self.sets;
        let place = *self.places.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            next
        });
        1_u128.checked_shl(place)
    }

    /// All lanes of the sets with the given bits.
    pub(super) fn union(&self, bits: u128, words: usize) -> Vec<u64> {
        let mut all = vec![0; words];
        for (_, set) in self.sets.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1) {
            all.iter_mut().zip(set).for_each(|(word, of)| *word |= of);
        }
        all
    }
}

/// How columns are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The first to fire stops the run.
    Any,
    /// The run stops once all have fired, at the last of them.
    Latched,
}

impl AtomColumn {
    /// The column of an atom, and the lanes on which it cannot be read.
    pub(super) fn from_atom(atom: &Atom, runs: &Runs<'_>, join: Join) -> (Self, Vec<u64>) {
        let lanes = runs.lanes();
        let mut column = Self { spent: runs.recorded().to_vec(), stops: vec![0; lanes.len() / 64], ..Self::default() };
        let mut unread = vec![0_u64; lanes.len() / 64];
        let neutral = if join == Join::Any { 0 } else { runs.ceiling() };
        if runs.blocks().iter().any(|block| block.kind == LaneKind::Others) {
            column.places = never(runs);
        }
        for (lane, on) in lanes.iter().enumerate() {
            let Some(on) = on else { continue };
            if !atom.is_read(on) {
                unread[lane / 64] |= 1 << (lane % 64);
                column.spent[lane] = neutral;
                continue;
            }
            let Some(point) = atom.first(on) else { continue };
            let (spent, is_stopped) = runs.spent(on, Some(point));
            column.spent[lane] = spent;
            column.stops[lane / 64] |= u64::from(is_stopped) << (lane % 64);
            if let Some(place) = column.places.get_mut(lane) {
                *place = Runs::place(on, Some(point));
            }
        }
        (column, unread)
    }

    /// The neutral column, of a rule that is left out.
    pub(super) fn absent(runs: &Runs<'_>, join: Join) -> Self {
        let lanes = runs.lanes().len();
        let (spent, stops) = match join {
            Join::Any => (runs.recorded().to_vec(), 0),
            Join::Latched => (vec![0; lanes], u64::MAX),
        };
        let has_others = runs.blocks().iter().any(|block| block.kind == LaneKind::Others);
        let places = match join {
            _ if !has_others => Vec::new(),
            Join::Any => never(runs),
            Join::Latched => vec![0; lanes],
        };
        Self { spent, stops: vec![stops; lanes / 64], places, dark: 0 }
    }
}

/// For each lane, the index beyond its last point.
fn never(runs: &Runs<'_>) -> Vec<u32> {
    runs.lanes().iter().map(|on| on.map_or(0, |on| Runs::place(on, None))).collect()
}
