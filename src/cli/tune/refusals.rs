//! The sentences that say why nothing is shipped.

use super::answer::Why;
use super::rated::Elsewhere;
use super::words::{ALPHAS, TuneSentences};
use crate::aggregate::{LEAST_SAVED, MIN_KNOWN, Standing};
use crate::answers::words::{dearer, more_tasks};
use crate::cli::inputs::unnamed_tasks;
use crate::diagnostic::count;
use crate::transcript::Outcome;
use crate::tune::{Refusal, Shipped, clean_tasks_needed};
use crate::words::{chosen_percent, dollars, percent};

impl TuneSentences<'_> {
    /// Why nothing can be shipped, the reason first.
    pub(super) fn refusal(&self, why: &Why) -> String {
        let alpha = chosen_percent(self.question.max_killed);
        let there = self.answer.tuned.with_success;
        let besides = |text: String| match &self.answer.tuned.chosen {
            Ok(choice) => {
                let rule = self.study.rule(choice.at);
                format!("{text} Without `--learn`, `{rule}` can be shipped.")
            }
            Err(_) => text,
        };
        match why {
            Why::Catalogue(Refusal::Unnamed { without, runs }) => unnamed_tasks(*without, *runs).unwrap_or_default(),
            Why::Catalogue(Refusal::Ungraded) => {
                "Nothing can be recommended: no run has an outcome. `whenstop labels PATH \
                --template labels.csv` lists the runs to grade, in an order drawn at random."
                    .to_owned()
            }
            Why::Catalogue(Refusal::TooFewTasks { there, needed }) => {
                let carried = match self.carried() {
                    Some(alpha) => format!(" They carry {}: `--max-killed {alpha}`.", chosen_percent(alpha)),
                    None => String::new(),
                };
                format!(
                    "Nothing can be recommended at {alpha}: {} a success, and a certificate takes {needed}, none of them killed: \
                     {} more.{carried}",
                    if *there == 1 { "1 task has".to_owned() } else { format!("{there} tasks have") },
                    needed - there
                )
            }
            Why::Catalogue(Refusal::StopsNothing | Refusal::NotWorthIt(..)) | Why::NotWorthIt(..)
                if self.study.runs().iter().all(|run| run.outcome() != Outcome::Failure) =>
            {
                "Nothing can be recommended: no run failed, so there is nothing to save.".to_owned()
            }
            Why::Catalogue(Refusal::StopsNothing) => format!(
                "Nothing can be recommended at {alpha}: what is certified on these {there} tasks with a success is so cautious \
                 that it stops nothing.{}",
                self.first_refused()
            ),
            Why::Catalogue(Refusal::NoCosts) => {
                "Nothing can be said in dollars: too few runs have a cost. `--price FILE` \
                computes it from tokens (TOML: for each model `input` and `output`, in dollars for a million tokens)."
                    .to_owned()
            }
            Why::Catalogue(Refusal::NotWorthIt(choice, standing)) => {
                self.not_worth_it(&Shipped::Limit(*choice), *standing)
            }
            Why::Picked(sentence) => sentence.clone(),
            Why::NotWorthIt(shipped, standing) => self.not_worth_it(shipped, *standing),
            Why::FailsElsewhere(shipped, elsewhere) => self.fails_elsewhere(shipped, elsewhere),
            Why::TooFewForList(needed) => besides(format!(
                "No list of rules can be recommended at {alpha}: one takes about {needed} tasks with a success, half to learn \
                 and half to certify, and {there} have one: {} more.",
                needed - there
            )),
            Why::NoList => besides(format!(
                "No list of rules can be recommended at {alpha}: what is certified on the half of the tasks it was not learned \
                 from saves nothing."
            )),
        }
    }

    /// The best of what is certified, which does not save enough.
    fn not_worth_it(&self, shipped: &Shipped, standing: Standing) -> String {
        let alpha = chosen_percent(self.question.max_killed);
        let condition = shipped.condition(self.study);
        let own = self.own().unwrap_or_default();
        let candidate = self.answer.rated.as_ref().map(|rated| rated.candidate);
        match standing {
            Standing::Unknown => format!(
                "Nothing can be recommended at {alpha}: the best of what is certified, {condition}, is known on {} of the graded \
                 runs only, and {} is asked for.",
                percent(candidate.map_or(0.0, |candidate| candidate.known)),
                percent(MIN_KNOWN),
            ),
            Standing::Unsafe => format!(
                "Nothing can be recommended at {alpha}: {condition} is certified, but it {own}, which is more than is tolerated."
            ),
            _ => {
                let why = match standing {
                    Standing::DoesNotPay => {
                        let missing = candidate.and_then(|candidate| candidate.worth?.clusters_missing(0.0));
                        format!(
                            ", at ${} for a lost success{}",
                            dollars(self.question.lost_success_costs.unwrap_or_default()),
                            more_tasks(missing, "that it pays")
                        )
                    }
                    Standing::Dearer => String::new(),
                    _ => {
                        let missing = candidate.and_then(|candidate| candidate.saved.clusters_missing(LEAST_SAVED));
                        let more = more_tasks(missing, "a saving of more than that");
                        format!(", which is not shown to be more than 1 %{more}")
                    }
                };
                let nearest = if standing == Standing::SavesNothing { self.first_refused() } else { String::new() };
                let found = if standing == Standing::Dearer { "dearer" } else { "not shown to pay" };
                format!("Safe, but {found}: {condition}, {} at {alpha}, {own}{why}.{nearest}", self.best_of())
            }
        }
    }

    /// `the best of 12 certified limits`, or what else it is.
    fn best_of(&self) -> String {
        match self.answer.tuned.choices.len() {
            _ if self.question.learn => "the list that is certified".to_owned(),
            1 => "all that is certified".to_owned(),
            n => format!("the best of {n} limits that are certified"),
        }
    }

    /// A rule that is worth it here, but not on tasks left out.
    fn fails_elsewhere(&self, shipped: &Shipped, elsewhere: &Elsewhere) -> String {
        let own = self.own().unwrap_or_default();
        let told = match elsewhere {
            Elsewhere::SavesLittle(saved) => format!("saved {} of the {}", percent(*saved), self.study.unit().noun()),
            Elsewhere::Dearer(cost) => format!("made it so that {}", dearer(Some(cost))),
        };
        format!(
            "Safe, but not shown to pay: {} {own}, but it was chosen on these tasks. A rule chosen this way, on tasks left \
             out, {told}.",
            shipped.condition(self.study)
        )
    }

    /// The limit that came nearest to passing, with the tasks that it would need.
    fn first_refused(&self) -> String {
        let Some((missing, walk)) = self.answer.nearest else { return String::new() };
        let rule = self.study.families()[walk.family].rule(walk.passed);
        // If not even the most cautious limit passed, its value is nothing that anybody would set.
        let rule = if walk.passed == 0 { format!("a limit on `{}`", rule.signal.id) } else { format!("`{rule}`") };
        let tasks = count(missing, "task");
        format!(" The nearest is {rule}: {tasks} more with a success, none of them killed, would certify it.")
    }

    /// The strictest of a few rates for which the tasks suffice.
    fn carried(&self) -> Option<f64> {
        let there = self.answer.tuned.with_success;
        ALPHAS.into_iter().rev().find(|alpha| *alpha > self.question.max_killed && there >= self.needed(*alpha).0)
    }

    /// Tasks with a success, none killed, needed for the budget and for any other family.
    pub(super) fn needed(&self, alpha: f64) -> (u64, u64) {
        let of = |share: f64| clean_tasks_needed(alpha, self.answer.appetite.delta * share);
        (of(0.5), of(0.1))
    }
}
