//! Which stack of a grid to ship: decided and said as for any other comparison.

use crate::aggregate::{Contest, Entrant, Label, Premises, Rows, Unit, Whole, by_stack, summarise};
use crate::answers::{ComparedStacks, FirstTable, Tolerances, words};
use crate::cli::inputs::{SplitArgs, SplitPart};

/// The answer of a sweep.
pub(super) struct GridAnswer {
    /// The answer in a few sentences.
    pub(super) verdict: String,
    /// The stack that was chosen, by its index: on the dev tasks, if the tasks were split.
    pub(super) chosen: Option<usize>,
    /// The most that each stack kills, as one of all that were tried.
    pub(super) killed_at_most: Vec<Option<f64>>,
    /// The stack to ship: the one chosen, unless the test tasks contradict it.
    pub(super) ship: Option<String>,
}

impl GridAnswer {
    /// The answer from the rows reported and, if they are others, those to choose on. These are the best of `whole`.
    pub(super) fn from_reported(
        reported: &Rows,
        chosen_on: Option<&Rows>,
        split: &SplitArgs,
        unit: Unit,
        appetite: Tolerances,
        entrants: &[Entrant],
        whole: Whole,
    ) -> Self {
        let premises = Premises { confidence: appetite.confidence, ..Premises::new(unit) };
        let contest = |rows| Contest::new(by_stack(rows), premises, entrants, Some(whole));
        let own = contest(reported);
        let decided = chosen_on.map(contest);
        let chosen = decided.as_ref().unwrap_or(&own).decide(appetite.terms()).ship;
        let name: Option<Label> = chosen.and_then(|at| own.groups().get(at)).map(|group| group.stack.clone());
        let summaries = summarise(own.groups(), None);
        let mut choice = None;
        if split.split != SplitPart::None {
            let unmade = split.choice(appetite.max_killed);
            choice = Some(match &decided {
                Some(contest) => unmade.made(name, &summarise(contest.groups(), None), Some(&summaries), unit),
                None => unmade.made(name, &summaries, None, unit),
            });
        }
        let own = if decided.is_some() { own.chosen_elsewhere() } else { own };
        let killed_at_most = own.candidates().iter().map(|candidate| candidate.killed_at_most).collect();
        let first =
            FirstTable::new(&summaries, &ComparedStacks::new(reported, own, None), unit, appetite, choice.as_ref());
        let ship = first.ship().map(|summary| summary.stack.to_string());
        Self { verdict: words::verdict(&first.verdict()), chosen, killed_at_most, ship }
    }
}
