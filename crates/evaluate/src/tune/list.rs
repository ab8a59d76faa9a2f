//! A short list of rules, any of which stops a run: chosen on one half of the tasks, certified on the other.
//!
//! The list is found by a greedy search that maximises savings less a price for kills; the price is chosen by 4-fold
//! cross-fitted kills. The nested family that is walked is the list armed from step s, with s from the longest run
//! down to 0.

use super::held_out::{Chosen, HeldOut, folds, halves, n_leading, without};
use super::study::EndIx;
use super::{Appetite, Fate, LimitIx, Study, StudyRun};
use crate::stats::distribution::binomial_cdf;
use crate::stats::gaffke::Surpluses;
use crate::transcript::Outcome;

/// Maximum rules in a list.
const MOST_RULES: usize = 3;
/// Limits examined per family.
const LIMITS: usize = 24;
/// Prices of the killed share, in shares of the cost.
const PRICES: [f64; 17] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0, 23.0, 32.0, 45.0, 64.0];
/// Parts of the learning half, for cross-fitted kills.
const PARTS: usize = 4;
/// The targeted kills, as a share of those the certificate has room for.
const AIM: f64 = 0.9;
/// Number of tasks with a success at which a list was seen to pay, at alpha 10 %, and how it grows as alpha falls: 700
/// at 5 %.
const TASKS_AT_TENTH: f64 = 250.0;
const GROWTH: f64 = 1.485;
/// Number of parts the tasks are split into for `--cross-fit`.
const CROSS_FIT_PARTS: usize = 5;

/// The limits of a list, in the order their rules are consulted.
type Rules = Vec<LimitIx>;

/// A list of rules, any of which stops, armed from a step on.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleList {
    /// The limits of its rules.
    pub rules: Rules,
    /// It does not fire while fewer steps are paid for.
    pub from_step: u64,
}

impl RuleList {
    /// Its rules and the step from which it is armed, to see whether two lists are the same.
    pub fn name(&self, study: &Study) -> String {
        let rule = |at: &LimitIx| study.rule(*at).to_string();
        let rules: Vec<String> = self.rules.iter().map(rule).collect();
        format!("{} from step {}", rules.join(", "), self.from_step)
    }

    /// The end at which it stops a run, as far as its rules can be evaluated.
    fn end(&self, study: &Study, run: usize) -> Option<EndIx> {
        self.rules.iter().filter_map(|at| study.end_from(*at, run, self.from_step)).min()
    }

    /// What becomes of a run.
    pub fn fate(&self, study: &Study, run: usize) -> Fate {
        if self.rules.iter().any(|at| study.is_unread(at.family, run)) {
            return Fate::Unread;
        }
        Fate::from_end(self.end(study, run))
    }
}

/// How a list is to be learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListOptions {
    /// The requirements; delta is spent on the list alone.
    pub appetite: Appetite,
    /// Learn on all tasks, and estimate each fifth with the list learned without it. This proves nothing.
    pub cross_fit: bool,
}

/// A learned list with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The list to ship.
    pub list: RuleList,
    /// The p-value at its step; with `cross_fit`, the p-value of the same test, but no proof.
    pub p: f64,
    /// Number of tasks with a success that it was certified or estimated on.
    pub judged_on: u64,
    /// True if it was cross-fitted.
    pub is_estimate: bool,
    /// True if only one rule was shipped because more rules saved less than one standard error more.
    pub is_single: bool,
}

/// The number of tasks with a success below which a list of rules was never seen to pay.
pub fn tasks_for_list(alpha: f64) -> u64 {
    let needed = TASKS_AT_TENTH * (0.1 / alpha).powf(GROWTH);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of tasks")]
    if needed < 1e15 { (needed / 10.0).round() as u64 * 10 } else { u64::MAX }
}

impl Study {
    /// Where the limit with that index first fires with at least `from_step` steps paid for.
    fn end_from(&self, at: LimitIx, run: usize, from_step: u64) -> Option<EndIx> {
        let first = self.end_at(at, run)?;
        let of = &self.runs()[run];
        if of.steps_paid(first) >= from_step {
            return Some(first);
        }
        let family = &self.families()[at.family];
        let (comparator, limit) = (family.first_rule().comparator, family.limits()[at.limit]);
        let readings = (0..).map(EndIx::new).zip(self.readings(at.family, run).iter().copied());
        let mut later = readings.skip_while(|(end, _)| of.steps_paid(*end) < from_step);
        later.find(|(_, reading)| comparator.passes(*reading, limit)).map(|(end, _)| end)
    }

    /// Learns a list on these tasks. `None` if no certified list saves anything.
    pub fn learn(&self, tasks: &[usize], options: ListOptions) -> Option<Learned> {
        Learner::new(self).learn(tasks, options)
    }
}

/// Where a rule stops a run; the earlier stop is the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ListStop {
    At(EndIx),
    Never,
}

/// Precomputed tables for the search.
pub struct Learner<'s> {
    study: &'s Study,
    /// Every examined limit of every family, with the end at which it stops each run.
    atoms: Vec<(LimitIx, Vec<ListStop>)>,
}

/// The value of one list on some tasks: the mean over tasks of the killed share, the saved share, and both by task.
#[derive(Clone, Debug, Default)]
struct Worth {
    killed: f64,
    saved: f64,
    by_task: Vec<f64>,
}

/// The runs of some tasks with the result of stopping each.
struct ListRuns {
    /// Indices of runs, with their weight in the mean of killed shares.
    runs: Vec<(usize, f64)>,
    recorded: f64,
}

impl<'s> Learner<'s> {
    /// Precomputes what every limit does.
    pub fn new(study: &'s Study) -> Self {
        let mut atoms = Vec::new();
        for family in 0..study.families().len() {
            atoms.extend(atoms_of(study, family));
        }
        Self { study, atoms }
    }

    /// See [`Study::learn`].
    pub fn learn(&self, tasks: &[usize], options: ListOptions) -> Option<Learned> {
        let ListOptions { appetite, cross_fit } = options;
        if cross_fit {
            return self.cross_fitted(tasks, appetite);
        }
        let [dev, test] = halves(self.study, tasks);
        let (rules, is_single) = self.choose(&dev, self.study.with_success(&test), appetite);
        let judged_on = self.study.with_success(&test);
        let (from_step, p) = self.armed(appetite, &[(rules.clone(), test)])?;
        let list = RuleList { rules, from_step };
        Some(Learned { list, p, judged_on, is_estimate: false, is_single })
    }

    /// The held-out totals of learning a list.
    pub fn held_out(&self, tasks: &[usize], options: ListOptions) -> HeldOut {
        let study = self.study;
        let list = |tasks: &Vec<usize>| Some(self.learn(tasks, options)?.list);
        HeldOut::by_part(
            study,
            tasks,
            |sets| sets.iter().map(list).collect(),
            |list| Chosen::new(list.name(study), study.totals(tasks, |run| list.fate(study, run))),
            Some(&|list: &RuleList, run| list.fate(study, run)),
        )
    }

    /// Learns on all tasks, and finds the step from the losses of each fifth under the list learned without it.
    fn cross_fitted(&self, tasks: &[usize], appetite: Appetite) -> Option<Learned> {
        let judged_on = self.study.with_success(tasks);
        let parts: Vec<(Rules, Vec<usize>)> = folds(self.study, tasks, CROSS_FIT_PARTS)
            .into_iter()
            .map(|fold| (self.choose(&without(tasks, &fold), judged_on, appetite).0, fold))
            .collect();
        let (from_step, p) = self.armed(appetite, &parts)?;
        let (rules, is_single) = self.choose(tasks, judged_on, appetite);
        Some(Learned { list: RuleList { rules, from_step }, p, judged_on, is_estimate: true, is_single })
    }

    /// Walks s from the longest run down to 0 and returns the last step at which the lists, each on its own tasks,
    /// pass.
    fn armed(&self, appetite: Appetite, parts: &[(Rules, Vec<usize>)]) -> Option<(u64, f64)> {
        let longest_of = |run: &StudyRun| run.last_end().map(|end| run.steps_paid(end));
        let steps = self.study.runs().iter().filter_map(longest_of);
        let longest = steps.max().unwrap_or(0) + 1;
        let mut passed = None;
        for from_step in (0..=longest).rev() {
            let mut losses = Vec::new();
            for (rules, tasks) in parts {
                let list = RuleList { rules: rules.clone(), from_step };
                let totals = self.study.totals(tasks, |run| list.fate(self.study, run));
                losses.extend(totals.tasks.iter().filter_map(|(_, sums)| sums.killed_rate()));
            }
            let p = appetite.bound.p_value(&Surpluses::from_losses(losses, appetite.alpha));
            if p > appetite.delta || p.is_nan() {
                break;
            }
            passed = Some((from_step, p));
        }
        let (from_step, p) = passed?;
        let stops_something = parts.iter().any(|(rules, tasks)| {
            let list = RuleList { rules: rules.clone(), from_step };
            self.study.totals(tasks, |run| list.fate(self.study, run)).all().useful.low.numerator > 0.0
        });
        if stops_something { Some((from_step, p)) } else { None }
    }

    /// The rules to ship from these tasks, to be certified on `judged_on` others; and whether a single rule is just as
    /// good.
    fn choose(&self, tasks: &[usize], judged_on: u64, appetite: Appetite) -> (Rules, bool) {
        let room = room_for(judged_on, appetite) * AIM;
        let (list, worth) = self.priced(tasks, room, MOST_RULES);
        if list.len() < 2 {
            return (list, true);
        }
        let (single, of_single) = self.priced(tasks, room, 1);
        // The gain of the list over the single rule by task, and its standard error.
        let n = worth.by_task.len() as f64;
        let gains: Vec<f64> =
            worth.by_task.iter().zip(&of_single.by_task).map(|(list, single)| list - single).collect();
        let mean = gains.iter().sum::<f64>() / n;
        let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        if mean < (variance / n).sqrt() { (single, true) } else { (list, false) }
    }

    /// The list that saves most among the prices at which its cross-fitted kills stay within `room`; with its
    /// cross-fitted value.
    fn priced(&self, tasks: &[usize], room: f64, most: usize) -> (Rules, Worth) {
        let parts = self.parts(tasks);
        let cross_fitted = PRICES.map(|price| {
            let mut worth = Worth::default();
            let (mut losses, mut saved, mut recorded) = (Vec::new(), 0.0, 0.0);
            for part in &parts {
                let list = RuleList { rules: self.search(&without(tasks, part), price, most), from_step: 0 };
                let totals = self.study.totals(part, |run| list.fate(self.study, run));
                losses.extend(totals.tasks.iter().filter_map(|(_, totals)| totals.killed_rate()));
                worth.by_task.extend(totals.tasks.iter().map(|(_, totals)| totals.useful.low.numerator));
                let all = totals.all();
                saved += all.useful.low.numerator;
                recorded += all.useful.low.denominator;
            }
            worth.killed = losses.iter().sum::<f64>() / (losses.len() as f64).max(1.0);
            worth.saved = if recorded > 0.0 { saved / recorded } else { 0.0 };
            (price, worth)
        });
        let fits = |worth: &Worth| worth.killed <= room;
        let best = cross_fitted.iter().filter(|(_, worth)| fits(worth)).max_by(|a, b| a.1.saved.total_cmp(&b.1.saved));
        // If no price is high enough, the highest.
        let (price, worth) = best.or(cross_fitted.last()).cloned().unwrap_or_default();
        (self.search(tasks, price, most), worth)
    }

    /// The tasks in parts. A task is always in the same part, as in [`halves`].
    fn parts(&self, tasks: &[usize]) -> [Vec<usize>; PARTS] {
        let part = |task: &usize| self.study.tasks()[*task].rank / 2 % PARTS;
        std::array::from_fn(|nth| tasks.iter().copied().filter(|task| part(task) == nth).collect())
    }

    fn runs_of(&self, tasks: &[usize]) -> ListRuns {
        let n = self.study.with_success(tasks).max(1) as f64;
        let mut runs = Vec::new();
        let mut recorded = 0.0;
        for task in tasks.iter().map(|task| &self.study.tasks()[*task]) {
            let outcome = |run: usize| self.study.runs()[run].outcome();
            let is_success = |run: &usize| outcome(*run) == Outcome::Success;
            let successes = task.runs.clone().filter(is_success).count();
            for run in task.runs.clone().filter(|run| outcome(*run) != Outcome::Unknown) {
                runs.push((run, if is_success(&run) { 1.0 / (n * successes as f64) } else { 0.0 }));
                // Runs that do not record the amount can save nothing of it.
                recorded += self.study.runs()[run].recorded(self.study.unit()).unwrap_or(0.0);
            }
        }
        ListRuns { runs, recorded: recorded.max(f64::MIN_POSITIVE) }
    }

    /// The value of stops at these ends: saved share less the price of the killed share.
    fn value(&self, runs: &ListRuns, price: f64, stop: impl Fn(usize) -> ListStop) -> f64 {
        let (mut killed, mut saved) = (0.0, 0.0);
        for (run, weight) in &runs.runs {
            let ListStop::At(end) = stop(*run) else { continue };
            let of = &self.study.runs()[*run];
            if of.kills(end) {
                killed += weight;
            } else {
                saved += of.saved(end, self.study.unit());
            }
        }
        saved / runs.recorded - price * killed
    }

    /// Greedy search: adds the best rule, up to `most` of them; then reconsiders each in turn.
    fn search(&self, tasks: &[usize], price: f64, most: usize) -> Rules {
        let runs = self.runs_of(tasks);
        let none = vec![ListStop::Never; self.study.runs().len()];
        let stops_of = |chosen: &[usize]| {
            let mut stops = none.clone();
            for stop in chosen.iter().map(|at| &self.atoms[*at]) {
                stops.iter_mut().zip(&stop.1).for_each(|(least, stop)| *least = (*least).min(*stop));
            }
            stops
        };
        let best_beside = |chosen: &[usize], least: f64| {
            let stops = stops_of(chosen);
            let mut best = (None, least);
            for (at, (_, atom)) in self.atoms.iter().enumerate() {
                let value = self.value(&runs, price, |run| stops[run].min(atom[run]));
                if value > best.1 + 1e-9 {
                    best = (Some(at), value);
                }
            }
            best
        };
        let (mut chosen, mut value): (Vec<usize>, f64) = (Vec::new(), 0.0);
        while chosen.len() < most {
            let (Some(at), better) = best_beside(&chosen, value) else { break };
            chosen.push(at);
            value = better;
        }
        for nth in 0..chosen.len() {
            let others: Vec<usize> =
                chosen.iter().enumerate().filter(|(at, _)| *at != nth).map(|(_, atom)| *atom).collect();
            if let (Some(at), better) = best_beside(&others, value)
                && let Some(place) = chosen.get_mut(nth)
            {
                *place = at;
                value = better;
            }
        }
        chosen.into_iter().map(|at| self.atoms[at].0).collect()
    }
}

/// The killed share that a certificate on this many tasks has room for.
fn room_for(tasks: u64, appetite: Appetite) -> f64 {
    let passes = |killed: &u64| binomial_cdf(*killed, tasks, appetite.alpha) <= appetite.delta;
    (0..tasks).take_while(passes).last().unwrap_or(0) as f64 / tasks.max(1) as f64
}

/// The limits of a family at which something changes, thinned by how many runs they stop.
fn atoms_of(study: &Study, family: usize) -> Vec<(LimitIx, Vec<ListStop>)> {
    let limits = study.families()[family].limits().len();
    let all = study.runs().len();
    let end = |limit: usize, run: usize| study.end_at(LimitIx { family, limit }, run);
    let stops = |limit: usize| (0..all).map(|run| end(limit, run).map_or(ListStop::Never, ListStop::At)).collect();
    let stopped = |limit: usize| (0..all).filter(|run| end(limit, *run).is_some()).count();
    let mut found: Vec<usize> = Vec::new();
    for nth in 1..=LIMITS {
        // Denser where few runs are stopped: the rules of a list are found there.
        let share = (nth as f64 / LIMITS as f64).powi(2);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of runs")]
        let wanted = ((share * all as f64) as usize).max(1);
        let first = n_leading(limits, |limit| stopped(limit) < wanted);
        if first < limits && found.last() != Some(&first) {
            found.push(first);
        }
    }
    found.into_iter().map(|limit| (LimitIx { family, limit }, stops(limit))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Bound;

    #[test]
    fn a_list_takes_hundreds_of_tasks() {
        assert_eq!([0.1, 0.05].map(tasks_for_list), [250, 700]);
        assert!(tasks_for_list(0.02) > 2_500);
    }

    #[test]
    fn there_is_room_for_as_many_kills_as_the_binomial_allows() {
        let appetite = Appetite { alpha: 0.1, delta: 0.1, bound: Bound::Gaffke, lost_success_costs: None };
        let most = (0..125).take_while(|killed| binomial_cdf(*killed, 125, 0.1) <= 0.1).last().unwrap();
        assert!((room_for(125, appetite) * 125.0 - most as f64).abs() < 1e-9);
        assert!(room_for(5, appetite).abs() < 1e-9);
    }
}
