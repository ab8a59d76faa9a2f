//! What the kept stacks of a grid do, and which to ship: decided and said as for any other comparison.

use std::sync::Arc;

use super::{Sweep, Walked};
use crate::aggregate::{
    Contest, Entrant, FrontierSpread, Label, Premises, Rows, Summary, Whole, by_stack, frontier_spread, summarise,
};
use crate::answers::{ComparedStacks, FirstTable, SplitChoice, Tolerances, words};
use crate::cli::configurations::hosts_of;
use crate::cli::inputs::SplitPart;
use crate::sweep::{Candidates, Find};

/// The results of the kept stacks.
pub(super) struct GridResults {
    pub(super) rows: Rows,
    pub(super) summaries: Vec<Summary>,
    pub(super) spread: FrontierSpread,
    /// The answer in a few sentences.
    pub(super) verdict: String,
    /// The stack that was chosen, by its index: on the dev tasks, if the tasks were split.
    pub(super) chosen: Option<usize>,
    /// The same as a comparison has it, if the tasks were split.
    pub(super) choice: Option<SplitChoice>,
    /// The stack to ship: the one chosen, unless the test tasks contradict it.
    pub(super) ship: Option<String>,
}

impl GridResults {
    /// The stack to ship, where it stands in the grid and what it did.
    pub(super) fn shipped<'r>(&'r self, walked: &'r Walked) -> Option<(&'r Find, &'r Summary)> {
        let ship = self.ship.as_deref()?;
        walked.finds.iter().zip(&self.summaries).find(|(_, summary)| &*summary.stack == ship)
    }
}

impl Sweep<'_> {
    /// What the stacks that were kept do to the recordings reported, and which of them to ship.
    pub(super) fn judge(&self, walked: &Walked) -> GridResults {
        let appetite = Tolerances {
            max_killed: self.question.max_killed,
            confidence: self.question.confidence,
            ..Tolerances::default()
        };
        let stacks = walked.finds.iter().map(|find| Arc::new(self.grid.stack(find.index)));
        let candidates = Candidates::new(stacks, &mut self.plan.clone());
        let rows = candidates.rows(&self.recordings.reported);
        let chosen_on = self.recordings.chosen_on.as_ref().map(|on| candidates.rows(on));
        let entrant = |find: &Find| Entrant {
            hosts: hosts_of(&self.grid.stack(find.index)).len(),
            rules: self.grid.rules_of(find.index).len(),
            place: Some(self.grid.place(find.index)),
        };
        let entrants: Vec<Entrant> = walked.finds.iter().map(entrant).collect();
        let whole = Whole { stacks: walked.tried, chains: self.grid.n_chains() };
        let premises = Premises { confidence: appetite.confidence, ..Premises::new(walked.unit) };
        let contest = |rows| Contest::new(by_stack(rows), premises, &entrants, Some(whole));
        let own = contest(&rows);
        let apart = chosen_on.as_ref().map(contest);
        let mut summaries = summarise(own.groups(), None);
        let spread = frontier_spread(own.groups(), walked.unit);
        let chosen = apart.as_ref().unwrap_or(&own).decide(appetite.terms()).ship;
        let name: Option<Label> = chosen.and_then(|at| own.groups().get(at)).map(|group| group.stack.clone());
        let unmade = self.split.choice(appetite.max_killed);
        let choice = match (self.split.split, &apart) {
            (SplitPart::None, _) => None,
            (_, None) => Some(unmade.made(name, &summaries, None, walked.unit)),
            (_, Some(apart)) => {
                Some(unmade.made(name, &summarise(apart.groups(), None), Some(&summaries), walked.unit))
            }
        };
        let own = if apart.is_some() { own.chosen_elsewhere() } else { own };
        let killed_at_most: Vec<Option<f64>> = own.candidates().iter().map(|of| of.killed_at_most).collect();
        let compared = ComparedStacks::new(&rows, own, None);
        let first = FirstTable::new(&summaries, &compared, walked.unit, appetite, choice.as_ref());
        let verdict = words::verdict(&first.verdict());
        let ship = first.ship().map(|summary| summary.stack.to_string());
        drop((first, compared));
        for (summary, most) in summaries.iter_mut().zip(killed_at_most) {
            summary.killed_at_most = most;
        }
        GridResults { rows, summaries, spread, verdict, chosen, choice, ship }
    }
}
