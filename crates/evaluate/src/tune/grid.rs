//! A stack of the user's own grid, chosen on one half of the tasks and certified on the other.
//!
//! The stacks on the frontier of the first half are tested on the second half from the one that kills least to the one
//! that kills most, each at the full delta, up to the first that does not pass. The order is fixed before the second
//! half is looked at, so the probability that any stack that passed is worse than promised is at most delta (Learn
//! then Test, arXiv 2110.01052; the frontier as the order: Pareto testing, arXiv 2210.07913).

use super::held_out::{HeldOut, folds};
use super::walk::p_value_of_picked;
use super::{Appetite, CROSS_FIT_PARTS, Effect, Study, clean_tasks_needed};
use crate::diagnostic::Diagnostics;
use crate::rule::Rule;
use crate::stack::Stack;
use crate::sweep::engine::{Atom, Extract, Formula, Plan, Runs, Walk};
use crate::sweep::{Combine, GridFile, Search, WideGrid};
use crate::transcript::{Moment, Outcome, Point};

/// Chunks of the walk held in memory at a time.
const CHUNKS: u64 = 64;

/// The readings of a grid's rules, with the study of the same runs.
pub struct GridStudy<'s> {
    study: &'s Study,
    file: &'s GridFile,
    plan: &'s Plan,
    /// In the order of the study's runs.
    extracts: Vec<&'s Extract>,
}

/// A stack of the grid that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct GridChoice {
    /// Its rules as text, in the order they are consulted.
    pub rules: Vec<String>,
    /// How they are combined.
    pub combine: Combine,
    /// Its `[[stack]]`, under the requested name.
    pub written: String,
    /// Number of stacks with a rule in the grid, all tried on the first half.
    pub tried: u64,
    /// How many of them were on the frontier and saved something.
    pub on_frontier: usize,
    /// How many of those passed on the second half.
    pub passed: usize,
    /// Its p-value on the second half.
    pub p: f64,
    /// Number of tasks with a success in the second half.
    pub judged_on: u64,
    /// The share of all runs that it stops.
    pub stopped: f64,
    /// For each of its signals, the lowest and the highest reading in these recordings.
    pub ranges: Vec<(String, f64, f64)>,
}

/// Why no stack of a grid can be recommended.
#[derive(Clone, Debug, PartialEq)]
pub enum GridRefusal {
    /// Too few tasks of the second half have a success, even if none of them were killed.
    TooFewTasks {
        /// Number of tasks with a success.
        there: u64,
        /// Number needed.
        needed: u64,
    },
    /// No stack saves anything on the first half.
    NothingToTry,
    /// The most cautious stack of the frontier did not pass: its p-value.
    NonePassed(f64),
    /// The limits could not be derived from the first half.
    Unreadable(Diagnostics),
}

/// A stack with its formula, ready for any run.
struct Ready {
    stack: Stack,
    formula: Formula,
}

/// The stacks to test on the second half, the most cautious first.
struct Sequence {
    grid: WideGrid,
    tried: u64,
    indices: Vec<u64>,
}

impl<'s> GridStudy<'s> {
    /// `extracts` must be made with `plan`, in the order in which the runs were read; see
    /// [`Track::place`](super::Track::place).
    pub fn new(study: &'s Study, file: &'s GridFile, plan: &'s Plan, extracts: &'s [Extract]) -> Self {
        let ordered = study.tracks().iter().filter_map(|track| extracts.get(track.place)).collect();
        Self { study, file, plan, extracts: ordered }
    }

    /// A plan for what each rule of the grid reads, and its readings after the tools, which `compare` checks against
    /// the certificate.
    pub fn plan(file: &GridFile) -> Plan {
        let mut plan = Plan::default();
        file.plan(&mut plan);
        let rules: Vec<Rule> = plan.features().iter().map(|feature| feature.rule.clone()).collect();
        for rule in &rules {
            plan.feature(rule, Moment::AfterTools);
        }
        plan
    }

    /// Chooses on one half of these tasks and certifies on the other.
    pub fn choose(&self, tasks: &[usize], appetite: Appetite) -> Result<GridChoice, GridRefusal> {
        let Ok([dev, test]) = <[Vec<usize>; 2]>::try_from(folds(self.study, tasks, 2)) else {
            return Err(GridRefusal::TooFewTasks {
                there: 0,
                needed: clean_tasks_needed(appetite.alpha, appetite.delta),
            });
        };
        let there = self.study.with_success(&test);
        let needed = clean_tasks_needed(appetite.alpha, appetite.delta);
        if there < needed {
            return Err(GridRefusal::TooFewTasks { there, needed });
        }
        let sequence = self.sequence(&dev).map_err(GridRefusal::Unreadable)?;
        let mut best: Option<(u64, f64, Ready)> = None;
        let (mut passed, mut first) = (0, None);
        for index in &sequence.indices {
            let Some(ready) = self.ready(sequence.grid.stack(*index)) else { continue };
            let p = self.p_value(&ready, &test, appetite);
            first = first.or(Some(p));
            if p > appetite.delta || p.is_nan() {
                break;
            }
            (best, passed) = (Some((*index, p, ready)), passed + 1);
        }
        let Some((index, p, ready)) = best else {
            return Err(first.map_or(GridRefusal::NothingToTry, GridRefusal::NonePassed));
        };
        let stops = self.extracts.iter().filter(|on| ready.stop(on).is_some()).count();
        Ok(GridChoice {
            rules: sequence.grid.rules_of(index),
            combine: sequence.grid.combine,
            written: sequence.grid.written_as(index, "tuned"),
            tried: sequence.tried,
            on_frontier: sequence.indices.len(),
            passed,
            p,
            judged_on: there,
            stopped: stops as f64 / self.extracts.len() as f64,
            ranges: self.ranges(&ready.stack),
        })
    }

    /// The effects of this way of choosing on tasks it has not seen.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        HeldOut::by_effect(self.study, tasks, CROSS_FIT_PARTS, |others| {
            let choice = self.choose(others, appetite).ok()?;
            let ready = self.ready(Self::stack_of(&choice)?)?;
            Some(move |run: usize| self.effect(&ready, run))
        })
    }

    /// The stack as it will be read back from its file, so that its reported results are those of the file.
    fn stack_of(choice: &GridChoice) -> Option<Stack> {
        let file = crate::stack::StackFile::parse("tuned.toml", &choice.written).ok()?;
        file.stack("tuned").map(|stack| Stack::clone(&stack))
    }

    /// Compiles a stack; `None` if it does more than stop, which no grid allows.
    fn ready(&self, stack: Stack) -> Option<Ready> {
        let mut plan = self.plan.clone();
        let formula = Formula::of(&stack, &mut plan)?;
        Some(Ready { stack, formula })
    }

    /// The frontier of all stacks on these tasks, restricted to those that save something.
    fn sequence(&self, dev: &[usize]) -> Result<Sequence, Diagnostics> {
        let of_dev = dev.iter().filter_map(|task| self.study.tasks().get(*task)).flat_map(|task| task.runs.clone());
        let extracts: Vec<&Extract> = of_dev.filter_map(|run| self.extracts.get(run).copied()).collect();
        let grid = self.file.grid(&extracts, self.plan)?;
        let mut plan = self.plan.clone();
        let atoms = Walk::plan(grid.product(), &mut plan).unwrap_or_default();
        let columns = Runs::of(extracts.iter().copied(), self.study.unit());
        let mut search = Search::new(&grid, 1.0, 0);
        if let Some(walk) = Walk::new(grid.product(), &atoms, &columns) {
            let mut next = 0;
            while next < walk.n_chunks() {
                let to = (next + CHUNKS).min(walk.n_chunks());
                walk.chunks(next, to).iter().for_each(|(index, tally)| search.take(*index, tally));
                next = to;
            }
        }
        let tried = search.tried();
        let indices = search.finds().into_iter().filter(|find| find.tally.useful > 0).map(|find| find.index).collect();
        drop(search);
        Ok(Sequence { grid, tried, indices })
    }

    fn p_value(&self, ready: &Ready, test: &[usize], appetite: Appetite) -> f64 {
        let tasks: Vec<_> = test.iter().filter_map(|task| self.study.tasks().get(*task)).collect();
        let loss = |task: &&super::TaskRuns| {
            let kills = |run: usize| self.extracts.get(run).is_some_and(|on| ready.kills(on));
            let is_success =
                |run: &usize| self.study.tracks().get(*run).is_some_and(|track| track.outcome == Outcome::Success);
            let picked = task.picked?;
            let successes: Vec<usize> = task.runs.clone().filter(is_success).collect();
            let killed = successes.iter().filter(|run| kills(**run)).count();
            Some((kills(picked), killed as f64 / successes.len() as f64))
        };
        let losses: Vec<(bool, f64)> = tasks.iter().filter_map(loss).collect();
        p_value_of_picked(&losses, appetite.alpha, appetite.bound)
    }

    fn effect(&self, ready: &Ready, run: usize) -> Effect {
        let Some((on, track)) = self.extracts.get(run).zip(self.study.tracks().get(run)) else {
            return Effect::default();
        };
        let unit = self.study.unit();
        let recorded = on.amount(None, unit);
        let stop = ready.stop(on).map(|stop| {
            let spent = recorded.zip(on.amount(Some(stop), unit)).map(|(recorded, spent)| (recorded - spent).max(0.0));
            (on.shared().course().verdict(Some(stop)).is_fes(), spent.unwrap_or(0.0))
        });
        Effect::of_run(track.outcome, recorded, stop)
    }

    /// The range of a stack's signals, where the first rule of each is consulted after the tools.
    fn ranges(&self, stack: &Stack) -> Vec<(String, f64, f64)> {
        let mut ranges: Vec<(String, f64, f64)> = Vec::new();
        for rule in stack.clauses.iter().flat_map(|clause| clause.condition.rules()) {
            let Some(place) = self.plan.place(rule, Moment::AfterTools) else { continue };
            if ranges.iter().any(|(id, ..)| id == rule.signal.id) {
                continue;
            }
            let readings =
                self.extracts.iter().flat_map(|on| on.early_readings(place)).filter(|reading| !reading.is_nan());
            let range = readings.fold(None, |range: Option<(f64, f64)>, reading| {
                Some(range.map_or((reading, reading), |(low, high)| (low.min(reading), high.max(reading))))
            });
            ranges.extend(range.map(|(low, high)| (rule.signal.id.to_owned(), low, high)));
        }
        ranges.sort_by(|a, b| a.0.cmp(&b.0));
        ranges
    }
}

impl Ready {
    /// Where it ends a run early.
    fn stop(&self, on: &Extract) -> Option<Point> {
        on.early(self.formula.replay(on).stop.map(|stop| stop.point))
    }

    fn kills(&self, on: &Extract) -> bool {
        self.stop(on).is_some_and(|stop| on.shared().course().verdict(Some(stop)).is_fes())
    }
}

/// For each run, whatever its outcome, whether all rules of the grid can be evaluated on it; and the rules that cannot
/// be on some run, at one of their limits, with the number of such runs.
pub fn readable(file: &GridFile, plan: &Plan, extracts: &[Extract]) -> (Vec<bool>, Vec<(String, usize)>) {
    let mut plan = plan.clone();
    let mut all = vec![true; extracts.len()];
    let mut unread = Vec::new();
    for choice in file.samples() {
        let Some(atom) = Atom::of(&choice, &mut plan) else { continue };
        let mut lack = 0;
        for (is_readable, on) in all.iter_mut().zip(extracts) {
            let is_read = atom.is_read(on);
            *is_readable &= is_read;
            lack += usize::from(!is_read);
        }
        if lack > 0 {
            unread.push((choice.name().to_string(), lack));
        }
    }
    (all, unread)
}
