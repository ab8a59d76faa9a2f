//! The sentences of the answer.

use std::path::Path;

use super::answer::{BesideLine, Rival, TuneAnswer};
use crate::aggregate::{Candidate, CostOfSuccess};
use crate::answers::words::{in_dollars, passed_over, with_interval};
use crate::cli::ProgramExit;
use crate::stats::Estimate;
use crate::transcript::{EndCause, Outcome};
use crate::tune::{HeldOut, Shipped, Stratum, Study, StudyRun, TaskTotals, TuneQuestion};
use crate::words::{chosen_percent, digits};

/// Rates for which the answer says whether the tasks suffice.
pub(super) const ALPHAS: [f64; 3] = [0.10, 0.05, 0.02];

/// Everything the sentences are made from.
pub(super) struct TuneSentences<'a> {
    pub(super) study: &'a Study,
    pub(super) answer: &'a TuneAnswer,
    pub(super) question: &'a TuneQuestion,
}

/// Formats `; a success costs 12 % less`.
pub(super) fn cost_of_success(totals: &TaskTotals) -> String {
    let Some(change) = totals.cost_of_success() else { return String::new() };
    format!("; a success costs {} % {}", digits(change.abs()), if change > 0.0 { "more" } else { "less" })
}

/// Formats a sentence on how often something else was chosen, or nothing.
fn chosen(parts: usize, others: usize, none: usize, what: &str) -> String {
    let others = match others {
        0 => None,
        1 => Some(format!("1 of the {parts} choices is another {what}")),
        n => Some(format!("{n} of the {parts} choices are other {what}s")),
    };
    let none = match none {
        0 => None,
        1 => Some("1 chooses nothing, and its tasks are left out".to_owned()),
        n => Some(format!("{n} choose nothing, and their tasks are left out")),
    };
    let parts: Vec<String> = others.into_iter().chain(none).collect();
    if parts.is_empty() { String::new() } else { format!(" ({}.)", parts.join("; ")) }
}

impl TuneSentences<'_> {
    /// The first line of the comparison that is about this, if there is one.
    pub(super) fn beside(&self, rival: Rival) -> Option<&BesideLine> {
        self.answer.beside.iter().find(|line| line.rival == rival)
    }

    /// What is shipped, if anything is.
    pub(super) fn shipped(&self) -> Option<&Shipped> {
        self.answer.shipped.as_ref().ok().map(|(shipped, _)| shipped)
    }

    /// How the command ends.
    pub(super) fn exit(&self) -> ProgramExit {
        if self.answer.shipped.is_ok() { ProgramExit::Done } else { ProgramExit::GateFailed }
    }

    /// What to do with what was written to `out`.
    pub(super) fn to_ship(&self, out: &Path) -> String {
        match self.shipped() {
            Some(_) => format!("ship {}", out.join("tuned.toml").display()),
            None => "there is nothing to ship".to_owned(),
        }
    }

    /// What the certificate promises, in one clause.
    pub(super) fn promise(&self) -> String {
        if self.answer.is_estimate() {
            let alpha = chosen_percent(self.question.max_killed);
            format!("estimated, not certified: at most {alpha} of successes killed, averaged over tasks")
        } else {
            self.question.promise()
        }
    }

    /// The answer in two or three sentences.
    pub(super) fn verdict(&self) -> String {
        let (shipped, held_out) = match &self.answer.shipped {
            Ok(shipped) => shipped,
            Err(why) => return self.refusal(why),
        };
        let (alpha, confidence) = (chosen_percent(self.question.max_killed), chosen_percent(self.question.confidence));
        let promise = if self.answer.is_estimate() {
            format!("Estimated, not certified: it kills at most {alpha} of successes")
        } else {
            format!("Certified: it kills at most {alpha} of successes (averaged over tasks, {confidence} confidence)")
        };
        let own = self.own().map(|own| format!(" Here it {own}.")).unwrap_or_default();
        let tie = self.tie().unwrap_or_default();
        let apart = self.apart(held_out).unwrap_or_default();
        let left_out = self.left_out(shipped, held_out);
        format!("Ship it: stop when {}. {promise}.{own} {left_out}{tie}{apart}", shipped.condition(self.study))
    }

    /// What the rule named does to the runs it was chosen on: `stops 12 of 80 runs, kills 1 of 40 successes and …`.
    pub(super) fn own(&self) -> Option<String> {
        let rated = self.answer.rated.as_ref()?;
        let all = rated.totals.all();
        let (unit, saved) = (self.study.unit().noun(), rated.totals.saved());
        Some(format!(
            "stops {} of {} runs, kills {} of {} successes and saves {} of the {unit}{}",
            all.stops,
            self.study.runs().iter().filter(|run| run.outcome().grade().is_some()).count(),
            all.killed.high.hits,
            all.killed.high.of,
            with_interval(&saved),
            Self::cost(&rated.candidate),
        ))
    }

    /// Formats `; a success costs 21 % less (12–30)`, or what it is worth at a price.
    fn cost(candidate: &Candidate) -> String {
        if let Some(Estimate { value: Some(value), interval, .. }) = candidate.worth {
            return format!("; it is worth {} a run", in_dollars(value, interval));
        }
        CostOfSuccess { ratio: candidate.cost, p: None }.sentence()
    }

    /// What rules chosen the same way do to tasks left out.
    fn left_out(&self, shipped: &Shipped, held_out: &HeldOut) -> String {
        let what = if matches!(shipped, Shipped::Limit(_)) { "rule" } else { "stack" };
        if held_out.refused == held_out.parts {
            return format!(
                "What a {what} chosen this way does to tasks left out cannot be told: without a part of them nothing can be \
                 shipped."
            );
        }
        format!(
            "A {what} chosen this way, on tasks left out, killed {} and saved {}{}.{}",
            with_interval(&held_out.totals.killed()),
            with_interval(&held_out.totals.saved()),
            cost_of_success(&held_out.totals),
            chosen(held_out.parts, held_out.others(&shipped.name(self.study)), held_out.refused, what),
        )
    }

    /// The limit that was passed over although its numbers are the best, and why.
    fn tie(&self) -> Option<String> {
        let tuned = &self.answer.tuned;
        let Ok((Shipped::Limit(shipped), _)) = &self.answer.shipped else { return None };
        let (at, by) = tuned.decision.tie?;
        let rule = self.study.rule(tuned.choices.get(at)?.at);
        let but = passed_over(tuned.candidates.get(at)?, tuned.candidate(shipped)?, by);
        let is_priced = self.question.lost_success_costs.is_some();
        let as_good = if is_priced { "is worth as much" } else { "makes successes as cheap" };
        Some(format!(" `{rule}` {as_good}, within chance; {but}."))
    }

    /// A suite and model in which more is killed than promised, beyond chance: the promise covers all tasks together.
    fn apart(&self, held_out: &HeldOut) -> Option<String> {
        let strata = &held_out.strata;
        let rate = |stratum: &Stratum| stratum.totals.killed().low().unwrap_or(0.0);
        let worst = strata.iter().filter(|_| strata.len() > 1).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let named = [Some(worst.suite.as_str()).filter(|suite| !suite.is_empty()), worst.model.as_deref()];
        let named = named.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let is_told = rate(worst) > self.question.max_killed && !named.is_empty();
        if is_told {
            Some(format!(" But on {named} it killed {}.", with_interval(&worst.totals.killed())))
        } else {
            None
        }
    }

    /// What the recordings contain, and what they suffice for.
    pub(super) fn recordings(&self) -> String {
        let (study, there) = (self.study, self.answer.tuned.with_success);
        let count = |outcome| study.runs().iter().filter(|run| run.outcome() == outcome).count();
        let (successes, failures, ungraded) =
            (count(Outcome::Success), count(Outcome::Failure), count(Outcome::Unknown));
        let at_cap = |run: &&StudyRun| run.facts().end() == EndCause::Cap;
        let capped = study.runs().iter().filter(at_cap).count();
        let ungraded = if ungraded > 0 { format!(", {ungraded} ungraded") } else { String::new() };
        let capped = if capped > 0 { format!("; {capped} ended at their own cap") } else { String::new() };
        let carries = ALPHAS.map(|alpha| {
            let (budget, any) = self.needed(alpha);
            let percent = chosen_percent(alpha);
            if there >= any {
                format!("{percent} any rule")
            } else if there >= budget {
                format!("{percent} a budget (any rule from {any} on)")
            } else {
                format!("{percent} nothing (a budget from {budget} on)")
            }
        });
        format!(
            "{} {} of {} tasks: {successes} successes, {failures} failures{ungraded}{capped}. {there} tasks have a success; that \
             carries at {}.",
            study.runs().len(),
            self.question.noun,
            study.tasks().len(),
            carries.join(", at ")
        )
    }
}
