//! The answer of a comparison in a few sentences.

use std::fmt::Write as _;

use super::first::{FirstTable, apart};
use super::known::too_little;

use crate::aggregate::{Candidate, Count, NetBenefit, Standing, Summary, TieBreak, Unit};
use crate::stats::Estimate;
use crate::transcript::Outcome;
use crate::words::{chosen_percent, digits, dollars};

impl FirstTable<'_> {
    /// The answer in a few sentences.
    pub fn verdict(&self) -> String {
        if let Some(tuned) = &self.field.tuned {
            return tuned.verdict.clone();
        }
        if self.is_ungraded() {
            return "Nothing can be said about successes: no run has an outcome. `whenstop labels PATH --template \
                    labels.csv` lists the runs to grade, in an order drawn at random."
                .to_owned();
        }
        if self.rows.iter().all(|row| row.outcome() != Outcome::Success) {
            return "Nothing can be said about the successes a stack kills: none of these runs succeeded. Add runs that did."
                .to_owned();
        }
        let answer = match self.ship() {
            Some(summary) => self.ship_sentence(summary),
            None => self.refusal(),
        };
        match &self.field.picked {
            Some(picked) => format!("{answer} {}", picked.sentence()),
            None => answer,
        }
    }

    fn candidate(&self, summary: &Summary) -> Option<&Candidate> {
        self.field.contest.candidates().get(self.place(&summary.stack)?)
    }

    /// The number of stacks that were tried: those that acted and could be judged.
    fn tried(&self) -> usize {
        self.summaries.len() - self.idle.len() - self.unread.len()
    }

    /// Formats `4.6 % of successes (95 %, as the best of 8 tried)`.
    fn promise(&self, summary: &Summary) -> String {
        let most = self.candidate(summary).and_then(|candidate| candidate.killed_at_most);
        let limit = self.appetite.max_killed;
        let most = match most {
            None => "an unknown share".to_owned(),
            // Not in the words of the limit that it exceeds.
            Some(most) if most > limit && digits(most) == digits(limit) => {
                format!("just over {}", chosen_percent(limit))
            }
            Some(most) => format!("{} %", digits(most)),
        };
        let tried = (self.tried() as u64).max(self.field.contest.tried());
        let of = if self.is_test() || tried < 2 { String::new() } else { format!(", as the best of {tried} tried") };
        let is_partly_known = summary.counted(Count::Judged) < summary.runs && summary.corrected.is_none();
        let worst = if is_partly_known { ", unknowns at their worst" } else { "" };
        format!("{most} of successes (95 %{of}{worst})")
    }

    /// Formats `26 % of the cost (20–33)`.
    fn saved(&self, summary: &Summary) -> String {
        let useful = summary.ratios_in(self.unit).useful;
        let interval = useful
            .interval()
            .map_or_else(String::new, |interval| format!(" ({}–{})", digits(interval.low), digits(interval.high)));
        let saved = useful.low.value.map_or_else(|| "an unknown share".to_owned(), |low| format!("{} %", digits(low)));
        format!("{saved} of the {}{interval}", self.unit.noun())
    }

    /// Up to which price of a lost success the stack pays, if the unit is money.
    fn break_even(&self, summary: &Summary) -> String {
        let range = &summary.ratios_in(self.unit).break_even;
        let (Unit::CostUsd, Some(price)) = (self.unit, range.low.value) else { return String::new() };
        let interval = range
            .interval()
            .filter(|interval| interval.low > 0.0 && interval.high < 30.0 * interval.low)
            .map_or_else(String::new, |interval| format!(" ({}–{})", dollars(interval.low), dollars(interval.high)));
        format!(" It pays while a lost success costs less than ${}{interval}.", dollars(price))
    }

    fn ship_sentence(&self, summary: &Summary) -> String {
        let (promise, saved) = (self.promise(summary), self.saved(summary));
        let mut text = if let Some(benefit) = &summary.net_benefit {
            format!(
                "Ship `{}`: at ${} for a lost success it is worth {} a run. It kills at most {promise}, {} of {} here, and \
                 saves {saved}.",
                summary.stack,
                dollars(benefit.price.costs),
                worth(benefit),
                summary.counted(Count::KilledAtMost),
                summary.counted(Count::JudgedSuccesses),
            )
        } else {
            let cost = summary.ratios_in(self.unit).cost_of_success.sentence();
            format!("Ship `{}`: it kills at most {promise}, saves {saved}{cost}.", summary.stack)
        };
        if summary.net_benefit.is_none() {
            text += &self.break_even(summary);
        }
        let judged = summary.counted(Count::Judged);
        if judged < summary.runs {
            let _ = write!(text, " Judged on the {judged} of {} runs that tell.", summary.runs);
        }
        text += &self.tie(summary);
        if let Some(worse) = self.pooling().filter(|worse| worse.stack == summary.stack) {
            let _ = write!(text, " But it {}: look at strata.csv first.", apart(&worse));
        }
        if self.is_test() {
            text += " It was chosen on other tasks than these.";
        } else if self.tried() > 1 {
            text += " The savings do not allow for the choice; `--split test` looks at other tasks.";
        }
        text
    }

    /// The stack that was passed over although its numbers are the best, and why.
    fn tie(&self, ship: &Summary) -> String {
        let Some((at, by)) = self.decision.tie.filter(|_| !self.is_test()) else { return String::new() };
        let candidates = self.field.contest.candidates();
        let (Some(other), Some(candidate), Some(own)) =
            (self.summaries.get(at), candidates.get(at), self.candidate(ship))
        else {
            return String::new();
        };
        let as_good = if ship.net_benefit.is_some() { "is worth as much" } else { "makes successes as cheap" };
        let but = tie_words(candidate, own, by);
        format!(" `{}` {as_good}, within chance; {but}.", other.stack)
    }

    /// The answer if nothing was chosen on the dev tasks, or if the choice does not hold on these.
    fn not_upheld(&self, limit: &str) -> String {
        let Some(chosen) = self.tested() else {
            return format!("Nothing to ship: on the dev tasks no stack was safe at {limit} and worth it.");
        };
        let why = match self.standing(&chosen.stack) {
            Some(standing) if standing.is_not_worth_it() => {
                format!("it is safe at {limit}, but {}", self.not_worth(chosen, standing))
            }
            Some(Standing::Unknown) => self.unknown(chosen),
            _ => format!("it may kill up to {}, and {limit} is tolerated", self.promise(chosen)),
        };
        format!("`{}`, chosen on the dev tasks, does not hold on these: {why}.", chosen.stack)
    }

    fn refusal(&self) -> String {
        let limit = chosen_percent(self.appetite.max_killed);
        if self.appetite.lost_success_costs.is_some()
            && self.summaries.iter().all(|summary| summary.counted(Count::RunsWithCosts) == 0)
        {
            return "Nothing can be said in dollars: no run has a cost. `--price FILE` computes it from tokens."
                .to_owned();
        }
        if self.is_test() {
            return self.not_upheld(&limit);
        }
        if self.tried() == 0 {
            return match (self.idle.len(), self.unread.len()) {
                (_, 0) => {
                    "None of these stacks acted on any run: there is nothing to ship, and nothing to fear.".to_owned()
                }
                (0, _) => {
                    "None of these stacks can be judged on these recordings: their rules need what is not recorded."
                        .to_owned()
                }
                _ => "None of these stacks acted on any run it could be judged on.".to_owned(),
            };
        }
        let nearest =
            self.decision.nearest.and_then(|at| Some((self.summaries.get(at)?, self.decision.standings.get(at)?)));
        let Some((nearest, standing)) = nearest else { return format!("Nothing to ship at {limit}.") };
        if standing.is_not_worth_it() {
            return self.safe_only(nearest, *standing, &limit);
        }
        let why = if *standing == Standing::Unknown { self.unknown(nearest) } else { self.may_kill(nearest) };
        match self.tried() {
            1 => format!("`{}` cannot be shipped at {limit}: {why}.", nearest.stack),
            n => format!("None of these {n} can be shipped at {limit}: `{}` comes nearest, but {why}.", nearest.stack),
        }
    }

    /// The answer if something is safe, but nothing that is safe is worth it.
    fn safe_only(&self, nearest: &Summary, standing: Standing, limit: &str) -> String {
        let safe = self.decision.standings.iter().filter(|standing| standing.is_not_worth_it()).count();
        let best = match safe {
            1 => format!(", all that is safe at {limit},"),
            n => format!(", the best of {n} that are safe at {limit},"),
        };
        let best = if self.tried() > 1 { best } else { String::new() };
        format!("Safe, but not worth shipping: `{}`{best} {}.", nearest.stack, self.not_worth(nearest, standing))
    }

    /// What a safe stack does, and what is missing: `stops 2 of 100 runs and saves 0.1 % …`.
    fn not_worth(&self, summary: &Summary, standing: Standing) -> String {
        let does = format!("stops {} of {} runs and saves {}", summary.stops(), summary.runs, self.saved(summary));
        match standing {
            Standing::DoesNotPay => {
                let benefit = summary.net_benefit.as_ref();
                let price = benefit.map(|benefit| dollars(benefit.price.costs)).unwrap_or_default();
                let worth = benefit.map_or_else(|| "an unknown amount".to_owned(), worth);
                format!("{does}: at ${price} for a lost success it is worth {worth} a run")
            }
            Standing::Dearer => {
                let cost = self.candidate(summary).map(|candidate| candidate.cost);
                format!("{does}, and {}", dearer(cost.as_ref()))
            }
            _ => format!("{does}, which is not shown to be more than 1 %"),
        }
    }

    /// `known on 76 % of the runs, …`.
    fn unknown(&self, summary: &Summary) -> String {
        let known = self.candidate(summary).map_or(0.0, |candidate| candidate.known);
        format!("it is {}", too_little(known, self.appetite.min_known, summary, self.unit))
    }

    fn may_kill(&self, summary: &Summary) -> String {
        let rate = summary.fes_rate();
        match rate.upper() {
            Some(_) if rate.lower().is_some_and(|low| low > self.appetite.max_killed) => {
                format!("it kills at least {} % of successes", digits(rate.lower().unwrap_or_default()))
            }
            Some(_) => format!("it may kill up to {}", self.promise(summary)),
            None => "it has been tried on too few tasks to say".to_owned(),
        }
    }
}

/// Why `other` was passed over for `own`, in words.
pub fn tie_words(other: &Candidate, own: &Candidate, by: TieBreak) -> String {
    let kills = |candidate: &Candidate| candidate.killed.map(digits).unwrap_or_default();
    match by {
        TieBreak::Kills => format!("it kills {} %, this {} %", kills(other), kills(own)),
        TieBreak::Settings if other.hosts == 0 => "no framework has a setting for it".to_owned(),
        TieBreak::Settings if other.hosts == 1 => format!("1 framework has a setting for it, {} for this", own.hosts),
        TieBreak::Settings => format!("{} frameworks have a setting for it, {} for this", other.hosts, own.hosts),
        TieBreak::Rules => format!("it has {} rules, this {}", other.rules, own.rules),
    }
}

/// Formats `each success left costs 6 % more (2–9)`.
pub fn dearer(cost: Option<&Estimate>) -> String {
    let Some((cost, value)) = cost.and_then(|cost| Some((cost, cost.value?))) else {
        return "nothing limits what each success left may cost".to_owned();
    };
    let more = |ratio: f64| digits((ratio - 1.0).max(0.0));
    let interval =
        cost.interval.map_or_else(String::new, |interval| format!(" ({}–{})", more(interval.low), more(interval.high)));
    format!("each success left costs {} % more{interval}", more(value))
}

/// Formats `$0.02 (0.01 to 0.04)`.
fn worth(benefit: &NetBenefit) -> String {
    let value = benefit.a_run.low.value.unwrap_or_default();
    let interval = benefit.a_run.interval();
    let interval = interval
        .map_or_else(String::new, |interval| format!(" ({} to {})", dollars(interval.low), dollars(interval.high)));
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}${}{interval}", dollars(value.abs()))
}
