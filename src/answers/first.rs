//! The first table: which stack to ship, and in which order the stacks are listed. What it says is in [`super::verdict`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::choice::SplitChoice;
use serde::{Deserialize, Serialize};

use crate::aggregate::{
    BestUnit, Candidate, Contest, LEVEL, Label, LostSuccess, MIN_KNOWN, PassedOver, Picked, Rows, ShipDecision,
    ShipTerms, Standing, Summary, Unit, WorseStratum, worse_stratum,
};

/// Maximum stacks in the table unless all are asked for.
const SHOWN: usize = 8;

/// How a comparison is shown: what is tolerated and how much is listed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerances {
    /// The largest tolerated share of killed successes, compared with the end of a bound that allows for all stacks
    /// tried.
    pub max_killed: f64,
    /// The confidence of that bound, inside (0, 1).
    #[serde(default = "confidence")]
    pub confidence: f64,
    /// What a lost success costs, in dollars; if given, worth decides between what is tolerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_success_costs: Option<f64>,
    /// The least share of the runs on which kills and savings have to be known.
    #[serde(default = "min_known")]
    pub min_known: f64,
    /// Show every stack in the table.
    #[serde(skip)]
    pub all: bool,
}

fn confidence() -> f64 {
    LEVEL
}

fn min_known() -> f64 {
    MIN_KNOWN
}

impl Tolerances {
    /// 5 % of the successes.
    pub const DEFAULT_MAX_KILLED: f64 = 0.05;

    /// What it asks of a stack.
    pub fn terms(&self) -> ShipTerms {
        ShipTerms { max_killed: self.max_killed, min_known: self.min_known }
    }

    /// The price of a lost success, if there is one.
    pub fn price(&self) -> Option<LostSuccess> {
        self.lost_success_costs.map(|costs| LostSuccess { unit: Unit::CostUsd, costs })
    }
}

impl Default for Tolerances {
    fn default() -> Self {
        Self {
            max_killed: Self::DEFAULT_MAX_KILLED,
            confidence: LEVEL,
            lost_success_costs: None,
            min_known: MIN_KNOWN,
            all: false,
        }
    }
}

/// A stack that tuning chose, with its answer: nothing is decided anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedAnswer {
    /// The stack to ship; `None` if there is none.
    pub stack: Option<String>,
    /// The answer in a few sentences.
    pub verdict: String,
}

/// The stacks of a comparison, rated: what all tables over the same rows share, whatever is tolerated.
pub struct ComparedStacks<'r> {
    pub(crate) contest: Contest<'r>,
    pub(super) tuned: Option<TunedAnswer>,
    pub(super) picked: Option<Picked>,
    pub(super) passed_over: Option<PassedOver>,
    rows: &'r Rows,
    /// In which suite or model each stack does far worse than elsewhere, as far as anybody asked: it takes a pass over
    /// the rows of a stack.
    strata: RefCell<BTreeMap<Label, Option<WorseStratum>>>,
}

impl<'r> ComparedStacks<'r> {
    /// The stacks in `rows`.
    pub fn new(rows: &'r Rows, contest: Contest<'r>, tuned: Option<TunedAnswer>) -> Rc<Self> {
        let picked = Picked::from_groups(contest.groups());
        let passed_over = BestUnit::from_groups(contest.groups()).passed_over;
        Rc::new(Self { contest, tuned, picked, passed_over, rows, strata: RefCell::default() })
    }

    /// Whether tuning chose the stack.
    pub fn is_tuned(&self) -> bool {
        self.tuned.is_some()
    }

    /// What to ship at the given terms, by the stacks themselves.
    pub fn decided(&self, terms: ShipTerms) -> Option<usize> {
        self.contest.decide(terms).ship
    }

    /// What to ship at the given appetite: what tuning chose, or else what the stacks themselves decide.
    fn decide(&self, summaries: &[Summary], appetite: Tolerances) -> ShipDecision {
        let decision = self.contest.decide(appetite.terms());
        let Some(tuned) = &self.tuned else { return decision };
        let is_tuned = |of: &Summary| Some(&*of.stack) == tuned.stack.as_deref();
        let Some(at) = summaries.iter().position(is_tuned) else {
            return ShipDecision { ship: None, tie: None, nearest: None, ..decision };
        };
        let mut standings = decision.standings;
        if let Some(standing) = standings.get_mut(at) {
            *standing = Standing::Allowed;
        }
        ShipDecision { ship: Some(at), tie: None, standings, nearest: None }
    }

    fn stratum(&self, stack: &Label) -> Option<WorseStratum> {
        if let Some(known) = self.strata.borrow().get(stack) {
            return known.clone();
        }
        let found = worse_stratum(self.contest.groups().iter().find(|group| group.stack == *stack)?);
        self.strata.borrow_mut().insert(stack.clone(), found.clone());
        found
    }
}

/// The stacks of a comparison, sorted for a reader.
pub struct FirstTable<'s> {
    pub(super) summaries: &'s [Summary],
    pub(super) unit: Unit,
    pub(super) appetite: Tolerances,
    pub(super) choice: Option<&'s SplitChoice>,
    pub(super) rows: &'s Rows,
    pub(super) field: Rc<ComparedStacks<'s>>,
    pub(super) decision: ShipDecision,
    /// Stacks in the table, in order.
    pub shown: Vec<&'s Summary>,
    /// Stacks left out to keep the table short.
    pub folded: Vec<&'s Summary>,
    /// Stacks that did nothing on the runs they could be judged on.
    pub idle: Vec<&'s Summary>,
    /// Stacks for which no run could be judged by all of their rules, or so few that nothing is known.
    pub unread: Vec<&'s Summary>,
}

impl<'s> FirstTable<'s> {
    /// Sorts the stacks at the given appetite: first the one to ship, then those that could be shipped too, by merit,
    /// then the others, the least dangerous first. With `choice`, the tasks were split and a stack was chosen on one
    /// part. The summaries are in the order of the field.
    pub fn new(
        summaries: &'s [Summary],
        field: &Rc<ComparedStacks<'s>>,
        unit: Unit,
        appetite: Tolerances,
        choice: Option<&'s SplitChoice>,
    ) -> Self {
        let field = Rc::clone(field);
        let decision = field.decide(summaries, appetite);
        let unread: Vec<&Summary> = summaries.iter().filter(|summary| summary.is_unread()).collect();
        let idle: Vec<&Summary> = summaries.iter().filter(|summary| summary.never_acted()).collect();
        let acted = summaries.iter().enumerate().filter(|(_, summary)| !summary.is_unread() && !summary.never_acted());
        let mut shown: Vec<(usize, &Summary)> = acted.collect();
        let candidates = field.contest.candidates();
        let merit = |at: usize| candidates.get(at).map_or(f64::NEG_INFINITY, Candidate::merit);
        let is_allowed = |at: usize| decision.standings.get(at) == Some(&Standing::Allowed);
        let saved = |summary: &Summary| summary.ratios_in(unit).useful.low.value.unwrap_or(f64::NEG_INFINITY);
        let killed = |summary: &Summary| {
            let rate = summary.fes_rate();
            rate.upper().or(rate.high.value).unwrap_or(f64::INFINITY)
        };
        shown.sort_by(|(at, a), (bt, b)| {
            let first = |at: usize| (decision.ship != Some(at), !is_allowed(at));
            let within = if is_allowed(*at) && is_allowed(*bt) {
                merit(*bt).total_cmp(&merit(*at))
            } else {
                killed(a).total_cmp(&killed(b))
            };
            first(*at).cmp(&first(*bt)).then(within).then(saved(b).total_cmp(&saved(a)))
        });
        let mut shown: Vec<&Summary> = shown.into_iter().map(|(_, summary)| summary).collect();
        let keep = if appetite.all { shown.len() } else { SHOWN.min(shown.len()) };
        let folded = shown.split_off(keep);
        let rows = field.rows;
        Self { summaries, unit, appetite, choice, rows, field, decision, shown, folded, idle, unread }
    }

    /// All stacks, in the order of every table and figure: those that are shown, those left out, then the idle ones and
    /// those that could not be judged.
    pub fn in_order(&self) -> impl Iterator<Item = &'s Summary> {
        self.shown.iter().chain(&self.folded).chain(&self.idle).chain(&self.unread).copied()
    }

    /// The stack to ship, if there is one. If a stack was chosen on other tasks, it is that one or none.
    pub fn ship(&self) -> Option<&'s Summary> {
        if self.is_test() {
            return self.tested().filter(|summary| self.standing(&summary.stack) == Some(Standing::Allowed));
        }
        self.summaries.get(self.decision.ship?)
    }

    /// How a stack stands at this appetite; `None` if there is no such stack.
    pub fn standing(&self, stack: &str) -> Option<Standing> {
        self.decision.standings.get(self.place(stack)?).copied()
    }

    /// How every stack stands, in the order of the summaries.
    pub fn standings_in_order(&self) -> &[Standing] {
        &self.decision.standings
    }

    /// How every stack stands, by name, for programs.
    pub fn standings(&self) -> BTreeMap<String, &'static str> {
        let named = self.summaries.iter().zip(&self.decision.standings);
        named.map(|(summary, standing)| (summary.stack.to_string(), standing.name())).collect()
    }

    /// The index of a stack among the summaries.
    pub(crate) fn place(&self, stack: &str) -> Option<usize> {
        self.summaries.iter().position(|summary| *summary.stack == *stack)
    }

    /// Whether a stack was to be chosen on tasks that are not shown here.
    pub(super) fn is_test(&self) -> bool {
        self.choice.is_some_and(SplitChoice::is_apart)
    }

    /// The stack chosen on tasks that are not shown here; `None` if none was.
    pub(super) fn tested(&self) -> Option<&'s Summary> {
        let chosen = self.choice.filter(|_| self.is_test())?.chosen.as_ref()?;
        self.summaries.iter().find(|summary| summary.stack == *chosen)
    }

    /// True if no run has an outcome.
    pub fn is_ungraded(&self) -> bool {
        self.summaries.iter().all(Summary::is_ungraded)
    }

    /// A stack with a suite or model that does far worse than the average: the stack to ship, else the first such
    /// stack in the table.
    pub(super) fn pooling(&self) -> Option<WorseStratum> {
        for summary in self.ship().into_iter().chain(self.shown.iter().copied()) {
            if let Some(stratum) = self.field.stratum(&summary.stack) {
                return Some(stratum);
            }
        }
        None
    }
}

/// What a stack's rules could not read, most frequent first.
pub fn lacks(summary: &Summary, rows: &Rows) -> Vec<String> {
    let mut lacks: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows.for_stack(&summary.stack) {
        for part in row.not_evaluable().split("; ").filter(|part| !part.is_empty()) {
            *lacks.entry(part).or_default() += 1;
        }
    }
    let mut lacks: Vec<(&str, u64)> = lacks.into_iter().collect();
    lacks.sort_by_key(|(part, runs)| (std::cmp::Reverse(*runs), *part));
    lacks.into_iter().map(|(part, _)| part.to_owned()).collect()
}
