//! One summary per stack: counts, rates with intervals, bounds, and sums.

use super::group::rows_of_all;
use super::ratios::net_benefit;
use super::sums::{Addends, Count, Sum, Sums};
use super::task_sums::by_task;
use super::tasks::Tasks;
use super::{
    Contest, CorrectedRate, Estimates, Group, LEVEL, Label, OutcomeBounds, Over, SavingRatios, Unit, corrected_fes_rate,
};
use crate::parallel;
use crate::stats::RangeEstimate;
use crate::stats::labels::ErrorRates;
use crate::verdict::Verdict;

/// The summary of one group.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The stack.
    pub stack: Label,
    /// The profile of the stack.
    pub profile: Label,
    /// The suite; `None` unless this is a stratum that names one.
    pub suite: Option<Label>,
    /// The model; `None` unless this is a stratum that names one.
    pub model: Option<Label>,
    /// Number of runs.
    pub runs: u64,
    /// Distinct tasks.
    pub tasks: u64,
    /// Rates with intervals.
    pub estimates: Estimates,
    /// The rate of false early stops corrected for label errors, if they are given.
    pub corrected: Option<CorrectedRate>,
    /// Bounds on success.
    pub outcomes: OutcomeBounds,
    /// What stopping is worth per run, if a lost success has a price.
    pub net_benefit: Option<NetBenefit>,
    /// The bound on what is killed as one of all stacks that were tried; `None` if it was not asked for.
    pub killed_at_most: Option<f64>,
    /// The confidence of this bound, inside (0, 1).
    pub confidence: Option<f64>,
    /// The number of chains of nested stacks that this bound allows for.
    pub chains_tried: Option<u64>,
    /// Savings as shares with intervals, in the order of [`Unit::ALL`], which is that of its declaration.
    pub ratios: [SavingRatios; 3],
    sums: Sums,
}

impl Summary {
    /// The rate of false early stops: corrected if label errors are given.
    pub fn fes_rate(&self) -> RangeEstimate {
        let corrected = self.corrected.as_ref().map(|corrected| RangeEstimate::exactly(corrected.estimate));
        corrected.unwrap_or(self.estimates.fes_rate)
    }

    /// True if no run could be judged by all of the stack's rules: there are then no rates, only what holds for all
    /// runs. The same if that is so of most runs, and nothing was seen of the stack on the others.
    pub fn is_unread(&self) -> bool {
        let unread = self.counted(Count::NotEvaluableRuns);
        unread == self.runs || (unread * 2 > self.runs && !self.has_acted())
    }

    /// True if no run has an outcome.
    pub fn is_ungraded(&self) -> bool {
        self.counted(Count::UnlabelledRuns) == self.runs
    }

    /// True if the stack did nothing on the runs that could be judged by all of its rules, and these are at least half of
    /// all.
    pub fn never_acted(&self) -> bool {
        !self.has_acted() && !self.is_unread()
    }

    /// True if it stopped a run or spoke to an agent.
    fn has_acted(&self) -> bool {
        self.stops() > 0 || self.counted(Count::Diverged) > 0
    }

    /// The number of runs that could be judged by all of the stack's rules.
    pub fn read_runs(&self) -> u64 {
        self.runs - self.counted(Count::NotEvaluableRuns)
    }

    /// Share of runs for which some counted value is unknown.
    pub fn unknown_share(&self) -> f64 {
        if self.runs == 0 { 1.0 } else { self.counted(Count::Unknown) as f64 / self.runs as f64 }
    }

    /// How many runs got `verdict`.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.sums.with_verdict(verdict)
    }

    /// Runs that were stopped early.
    pub fn stops(&self) -> u64 {
        self.counted(Count::Stops)
    }

    /// The number of runs in a count.
    pub fn counted(&self, count: Count) -> u64 {
        self.sums.count(count)
    }

    /// Milliseconds recorded, and elapsed by the stop, over the runs that record them; `None` if no run does.
    pub fn milliseconds(&self) -> [Option<f64>; 2] {
        [(Count::RunsWithTime, Sum::Ms), (Count::RunsWithTimeAtStop, Sum::MsAtStop)]
            .map(|(count, sum)| if self.counted(count) > 0 { Some(self.sums.amount(sum, |_| true)) } else { None })
    }

    /// The saving shares in `unit`.
    pub fn ratios_in(&self, unit: Unit) -> &SavingRatios {
        &self.ratios[unit as usize]
    }

    /// A sum of amounts in `unit`, over the verdicts that `of` accepts; `None` if no run records the unit.
    pub(super) fn amount(&self, sum: fn(Unit) -> Sum, unit: Unit, of: fn(Verdict) -> bool) -> Option<f64> {
        if self.counted(unit.known_runs()) == 0 {
            return None;
        }
        Some(self.sums.amount(sum(unit), |class| of(class.verdict())))
    }
}

/// What stopping is worth per run at a given price of a lost success.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetBenefit {
    /// The price.
    pub price: LostSuccess,
    /// Not spent, less the price of the successes killed, per run; over the judged runs.
    pub a_run: RangeEstimate,
}

/// What a lost success costs, in a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostSuccess {
    /// The unit.
    pub unit: Unit,
    /// The price, in `unit`.
    pub costs: f64,
}

/// Sets the net benefit of each summary at this price of a lost success; `summaries` must be in the order of `groups`.
pub fn price_lost_successes(summaries: &mut [Summary], groups: &[Group<'_>], price: LostSuccess) {
    for (summary, group) in summaries.iter_mut().zip(groups) {
        let a_run = net_benefit(group, &Tasks::from_group(group), price.unit, price.costs, LEVEL);
        summary.net_benefit = Some(NetBenefit { price, a_run });
    }
}

/// Sets the bound on what each stack kills as one of all that were tried; `summaries` must be in the order of the contest.
pub fn bound_kills(summaries: &mut [Summary], contest: &Contest<'_>) {
    let chains = contest.chains();
    for (summary, candidate) in summaries.iter_mut().zip(contest.candidates()) {
        summary.killed_at_most = candidate.killed_at_most;
        summary.confidence = Some(contest.confidence());
        summary.chains_tried = Some(chains);
    }
}

/// Summarises groups of one comparison, in their order; `errors` are the labels' error rates, if known.
///
/// # Panics
///
/// If the groups are of different [`Rows`](super::Rows).
pub fn summarise(groups: &[Group<'_>], errors: Option<ErrorRates>) -> Vec<Summary> {
    summarise_at(groups, errors, LEVEL)
}

/// As [`summarise`], with intervals at `level`.
pub fn summarise_at(groups: &[Group<'_>], errors: Option<ErrorRates>, level: f64) -> Vec<Summary> {
    let Some(rows) = rows_of_all(groups) else { return Vec::new() };
    let addends = Addends::from_rows(rows);
    let summarise = |group: &Group<'_>| {
        let sums = Sums::from_group(group, &addends);
        let tasks = Tasks::from_group(group);
        let in_steps = by_task(group, &tasks, Unit::Steps, Over::Judged);
        Summary {
            stack: group.stack.clone(),
            profile: group.profile.clone(),
            suite: group.suite.clone(),
            model: group.model.clone(),
            runs: group.len() as u64,
            tasks: tasks.len() as u64,
            estimates: Estimates::from_group(group, &tasks, &in_steps, level),
            corrected: errors.map(|errors| corrected_fes_rate(group, errors, level)),
            outcomes: OutcomeBounds::from_group(group, &tasks, level),
            ratios: [
                SavingRatios::from_sums(&in_steps, Unit::Steps, level),
                SavingRatios::from_group(group, &tasks, Unit::Tokens, level),
                SavingRatios::from_group(group, &tasks, Unit::CostUsd, level),
            ],
            net_benefit: None,
            killed_at_most: None,
            confidence: None,
            chains_tried: None,
            sums,
        }
    };
    parallel::map(groups, summarise)
}
