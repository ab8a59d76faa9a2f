//! Atoms: where one condition first fires, on every run.

use std::collections::HashMap;

use super::extract::Extract;
use super::formula::Part;
use super::plan::Plan;
use super::runs::{Kind, Runs};
use crate::decision::{Need, Requirement, RuleName, Strategy};
use crate::replay::Holding;
use crate::stack::{Cap, Clause, Stack};
use crate::transcript::Point;

/// A clause that stops, or a cap at which nobody is asked: what a grid has several of to choose from.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A clause.
    Clause(Clause),
    /// A cap.
    Cap(Cap),
}

impl Choice {
    /// The name its stops are credited to.
    pub fn name(&self) -> RuleName {
        match self {
            Self::Clause(clause) => clause.name.clone(),
            Self::Cap(_) => self.stack().rules().pop().unwrap_or(RuleName::fixed("cap")),
        }
    }

    /// The stack that has nothing else.
    pub fn stack(&self) -> Stack {
        let (clauses, cap) = match self {
            Self::Clause(clause) => (vec![clause.clone()], None),
            Self::Cap(cap) => (Vec::new(), Some(cap.clone())),
        };
        Stack { name: String::new(), clauses, cap }
    }
}

/// A choice, ready to be read off extracts.
#[derive(Clone, Debug)]
pub struct Atom {
    part: Part,
    needs: Vec<Need>,
}

impl Atom {
    /// Takes a choice apart; what it reads is added to `plan`. `None` for one that does more than stop.
    pub fn of(choice: &Choice, plan: &mut Plan) -> Option<Self> {
        let stack = choice.stack();
        let formula = super::Formula::of(&stack, plan)?;
        let needs = stack.requirements().into_iter().map(|Requirement { need, .. }| need).collect();
        Some(Self { part: formula.into_part()?, needs })
    }

    /// Can all it needs be read off the recording?
    pub fn is_read(&self, on: &Extract) -> bool {
        self.needs.iter().all(|need| on.holding(*need) == Holding::Throughout)
    }

    /// Where it first fires; `None` also where a redacted recording would mislead it.
    pub(super) fn first(&self, on: &Extract) -> Option<Point> {
        let misled = self.needs.iter().any(|need| on.holding(*need) == Holding::TakenOut);
        if misled { None } else { self.part.first(on) }
    }
}

/// One atom on all lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Spent by then; all that was recorded where it does not fire early. What cannot be read is at the neutral end.
    pub(super) spent: Vec<u32>,
    /// A bit for each lane it stops early.
    pub(super) stops: Vec<u64>,
    /// The place of the point among all of its run, where there are lanes of [`Kind::Others`]; elsewhere it is not asked for.
    pub(super) places: Vec<u32>,
    /// Which sets of runs it cannot be read on: bits of [`Dark`].
    pub(super) dark: u128,
}

/// Sets of lanes on which some atom cannot be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Dark {
    sets: Vec<Vec<u64>>,
    places: HashMap<Vec<u64>, u32>,
}

impl Dark {
    /// The bit of a set; none of the empty one.
    ///
    /// `None` where there are more than 128 different sets.
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

    /// All lanes of the sets whose bits are given.
    pub(super) fn union(&self, bits: u128, words: usize) -> Vec<u64> {
        let mut all = vec![0; words];
        for (_, set) in self.sets.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1) {
            all.iter_mut().zip(set).for_each(|(word, of)| *word |= of);
        }
        all
    }
}

/// How a column is to be joined with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The first that fires stops.
    Any,
    /// The last that fires stops, when all have.
    Latched,
}

impl Column {
    /// The column of an atom, and the lanes on which it cannot be read.
    pub(super) fn of(atom: &Atom, runs: &Runs<'_>, join: Join) -> (Self, Vec<u64>) {
        let lanes = runs.lanes();
        let mut column = Self { spent: runs.recorded().to_vec(), stops: vec![0; lanes.len() / 64], ..Self::default() };
        let mut unread = vec![0_u64; lanes.len() / 64];
        let neutral = if join == Join::Any { 0 } else { runs.ceiling() };
        if runs.blocks().iter().any(|block| block.kind == Kind::Others) {
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

    /// The column of a rule that is left out: it changes nothing.
    pub(super) fn absent(runs: &Runs<'_>, join: Join) -> Self {
        let lanes = runs.lanes().len();
        let (spent, stops) = match join {
            Join::Any => (runs.recorded().to_vec(), 0),
            Join::Latched => (vec![0; lanes], u64::MAX),
        };
        let has_others = runs.blocks().iter().any(|block| block.kind == Kind::Others);
        let places = match join {
            _ if !has_others => Vec::new(),
            Join::Any => never(runs),
            Join::Latched => vec![0; lanes],
        };
        Self { spent, stops: vec![stops; lanes / 64], places, dark: 0 }
    }
}

/// The places beyond the last point of each lane.
fn never(runs: &Runs<'_>) -> Vec<u32> {
    runs.lanes().iter().map(|on| on.map_or(0, |on| Runs::place(on, None))).collect()
}
