//! Keeps the best of a walk over many stacks: those that no other beats, and the best by each objective.

use std::collections::BTreeMap;

use super::WideGrid;
use super::engine::Tally;
use crate::transcript::named;

named! {
    /// Criteria by which stacks are ranked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Objective {
        /// Saves most on failures and after success, among stacks within the tolerated share of killed successes.
        Saved = "saved",
        /// Stops most failures, among the same stacks.
        Failures = "failures_stopped",
        /// Has the lowest cost per success.
        CostOfSuccess = "cost_of_success",
    }
}

impl Objective {
    /// The value to maximise; `None` for a stack that does not qualify.
    fn worth(self, tally: &Tally, max_killed: f64) -> Option<f64> {
        let tolerated = matches!(tally.killed_rate(), Some(rate) if rate <= max_killed);
        match self {
            Self::Saved => tally.useful_ratio().filter(|_| tolerated),
            Self::Failures => tally.stop_recall().filter(|_| tolerated),
            Self::CostOfSuccess => tally.cost_of_success().map(|ratio| -ratio),
        }
    }
}

/// One kept stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Find {
    /// Its index in the grid.
    pub index: u64,
    /// Its results.
    pub tally: Tally,
    /// How many stacks have exactly the same results; this is the one with the fewest rules, and the first of those.
    pub alike: u64,
    /// True if no other stack kills no more and saves no less, with one of them strictly better. Point estimates only.
    pub on_frontier: bool,
    /// The objectives by which it is among the best.
    pub best_by: Vec<Objective>,
}

/// A stack being considered for a list.
#[derive(Clone, Copy, Debug)]
struct FoundStack {
    index: u64,
    n_rules: usize,
    tally: Tally,
    alike: u64,
}

impl FoundStack {
    /// Merges another stack with the same results.
    fn merge(&mut self, other: &Self) {
        self.alike += other.alike;
        if (other.n_rules, other.index) < (self.n_rules, self.index) {
            (self.index, self.n_rules) = (other.index, other.n_rules);
        }
    }
}

/// Collects the stacks of a walk one by one.
#[derive(Clone, Debug)]
pub struct Search<'g> {
    grid: &'g WideGrid,
    max_killed: f64,
    best: usize,
    tried: u64,
    /// In ascending order of the killed rate, and therefore of the saving.
    frontier: Vec<FoundStack>,
    /// The best stacks for each objective, in order.
    lists: [Vec<FoundStack>; 3],
}

impl<'g> Search<'g> {
    /// A search that keeps the `best` stacks by each objective, in addition to the frontier.
    pub fn new(grid: &'g WideGrid, max_killed: f64, best: usize) -> Self {
        Self { grid, max_killed, best, tried: 0, frontier: Vec::new(), lists: Default::default() }
    }

    /// Number of stacks with a rule considered so far.
    pub fn tried(&self) -> u64 {
        self.tried
    }

    /// Considers one stack. Stacks without any rule are ignored.
    pub fn take(&mut self, index: u64, tally: &Tally) {
        let is_wanted = self.may_be_on_frontier(tally) || Objective::ALL.iter().any(|of| self.may_be_best(*of, tally));
        if !is_wanted {
            self.tried += u64::from(self.has_rules(index));
            return;
        }
        let n_rules = self.grid.choices(index).into_iter().flatten().count();
        if n_rules == 0 {
            return;
        }
        self.tried += 1;
        let candidate = FoundStack { index, n_rules, tally: *tally, alike: 1 };
        self.place(candidate);
        for objective in Objective::ALL {
            self.rank(objective, candidate);
        }
    }

    /// Stack 0 takes the first choice of every axis, which leaves the axis out if that is allowed: no other stack can
    /// be without rules.
    fn has_rules(&self, index: u64) -> bool {
        index != 0 || self.grid.choices(0).iter().any(Option::is_some)
    }

    /// Where the stacks of the frontier begin that kill more.
    fn place_after(&self, killed: f64) -> usize {
        self.frontier.partition_point(|of| matches!(axes(&of.tally), Some((k, _)) if k <= killed))
    }

    fn may_be_on_frontier(&self, tally: &Tally) -> bool {
        let Some((killed, saved)) = axes(tally) else { return false };
        let after = self.place_after(killed);
        let before = after.checked_sub(1).and_then(|at| axes(&self.frontier[at].tally));
        before.is_none_or(|(k, s)| s < saved || (s.total_cmp(&saved).is_eq() && k.total_cmp(&killed).is_eq()))
    }

    fn place(&mut self, candidate: FoundStack) {
        let Some((killed, saved)) = axes(&candidate.tally).filter(|_| self.may_be_on_frontier(&candidate.tally)) else {
            return;
        };
        let same = |of: &FoundStack| of.tally == candidate.tally;
        if let Some(same) = self.frontier.iter_mut().find(|of| same(of)) {
            same.merge(&candidate);
            return;
        }
        self.frontier.retain(|of| {
            let (k, s) = axes(&of.tally).unwrap_or((f64::INFINITY, 0.0));
            !(killed <= k && saved >= s && (killed < k || saved > s))
        });
        let at = self.place_after(killed);
        self.frontier.insert(at, candidate);
    }

    fn may_be_best(&self, objective: Objective, tally: &Tally) -> bool {
        let Some(worth) = objective.worth(tally, self.max_killed) else { return false };
        let kept = &self.lists[objective as usize];
        let least = kept.get(self.best.saturating_sub(1)).and_then(|of| objective.worth(&of.tally, self.max_killed));
        self.best > 0 && least.is_none_or(|least| worth >= least)
    }

    fn rank(&mut self, objective: Objective, candidate: FoundStack) {
        let max_killed = self.max_killed;
        let Some(worth) = objective.worth(&candidate.tally, max_killed) else { return };
        let list = &mut self.lists[objective as usize];
        if let Some(same) = list.iter_mut().find(|of| of.tally == candidate.tally) {
            same.merge(&candidate);
            return;
        }
        // Among equals, the one that kills less; then the first.
        let key =
            |of: &FoundStack| (objective.worth(&of.tally, max_killed).unwrap_or(f64::NEG_INFINITY), of.tally.killed);
        let at = list.partition_point(|of| {
            let (other, killed) = key(of);
            other > worth || (other.total_cmp(&worth).is_eq() && killed <= candidate.tally.killed)
        });
        list.insert(at, candidate);
        list.truncate(self.best);
    }

    /// The kept stacks: the frontier in ascending order of kills, then the best by each objective.
    pub fn finds(&self) -> Vec<Find> {
        let mut finds: Vec<Find> = Vec::new();
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        let frontier = self.frontier.iter().map(|candidate| (None, candidate));
        let best = Objective::ALL.into_iter().zip(&self.lists);
        let best = best.flat_map(|(of, list)| list.iter().map(move |candidate| (Some(of), candidate)));
        for (objective, candidate) in frontier.chain(best) {
            let FoundStack { index, tally, alike, .. } = *candidate;
            let place = *places.entry(index).or_insert_with(|| {
                finds.push(Find { index, tally, alike, on_frontier: false, best_by: Vec::new() });
                finds.len() - 1
            });
            let find = &mut finds[place];
            find.alike = find.alike.max(alike);
            match objective {
                None => find.on_frontier = true,
                Some(objective) => find.best_by.push(objective),
            }
        }
        finds
    }
}

/// Killed rate and useful ratio; `None` unless both are known.
fn axes(tally: &Tally) -> Option<(f64, f64)> {
    tally.killed_rate().zip(tally.useful_ratio())
}
