//! A stack of the user's own grid, chosen on one half of the tasks and certified on the other.
//!
//! The stacks on the frontier of the first half are tested on the second half from the one that kills least to the one
//! that kills most, each at the full delta, up to the first that does not pass. The order is fixed before the second
//! half is looked at, so the probability that any stack that passed is worse than promised is at most delta (Learn
//! then Test, arXiv 2110.01052; the frontier as the order: Pareto testing, arXiv 2210.07913).

use super::held_out::{Chosen, HeldOut, halves};
use super::{Appetite, Fate, Study, clean_tasks_needed};
use crate::diagnostic::Diagnostics;
use crate::rule::Rule;
use crate::stack::Stack;
use crate::sweep::engine::{Atom, Extract, Formula, GridWalk, Plan, Runs};
use crate::sweep::{Combine, GridFile, Search, WideGrid};
use crate::transcript::Moment;

/// Chunks of the walk held in memory at a time.
const CHUNKS: u64 = 64;

/// The readings of a grid's rules, with the study of the same runs.
pub struct GridStudy<'s> {
    study: &'s Study,
    file: &'s GridFile,
    plan: &'s Plan,
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
    /// The runs on which some of its rules cannot be evaluated, by index.
    pub unread: Vec<usize>,
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
    /// The study's extracts must be made with `plan`; see [`Self::plan`].
    pub fn new(study: &'s Study, file: &'s GridFile, plan: &'s Plan) -> Self {
        Self { study, file, plan }
    }

    /// Adds to a plan what each rule of the grid reads, and its readings after the tools, which `compare` checks against
    /// the certificate.
    pub fn plan(file: &GridFile, plan: &mut Plan) {
        file.plan(plan);
        let rules: Vec<Rule> = plan.features().iter().map(|feature| feature.rule.clone()).collect();
        for rule in &rules {
            plan.feature(rule, Moment::AfterTools);
        }
    }

    /// Chooses on one half of these tasks and certifies on the other.
    pub fn choose(&self, tasks: &[usize], appetite: Appetite) -> Result<GridChoice, GridRefusal> {
        let [dev, test] = halves(self.study, tasks);
        let there = self.study.with_success(&test);
        let needed = clean_tasks_needed(appetite.alpha, appetite.delta);
        if there < needed {
            return Err(GridRefusal::TooFewTasks { there, needed });
        }
        let sequence = self.sequence(&dev).map_err(GridRefusal::Unreadable)?;
        let mut best: Option<(u64, f64, Ready)> = None;
        let (mut passed, mut first) = (0, None);
        for index in &sequence.indices {
            let ready = self.ready(sequence.grid.stack(*index));
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
        let fates: Vec<Fate> = (0..self.study.runs().len()).map(|run| self.fate(&ready, run)).collect();
        let stops = fates.iter().filter(|fate| matches!(fate, Fate::Stopped(_))).count();
        Ok(GridChoice {
            rules: sequence.grid.rules_of(index),
            combine: sequence.grid.combine,
            written: sequence.grid.written_as(index, "tuned"),
            tried: sequence.tried,
            on_frontier: sequence.indices.len(),
            passed,
            p,
            judged_on: there,
            stopped: stops as f64 / fates.len() as f64,
            ranges: self.ranges(&ready.stack),
            unread: (0..fates.len()).filter(|run| fates[*run] == Fate::Unread).collect(),
        })
    }

    /// The effects of this way of choosing on tasks it has not seen.
    pub fn held_out(&self, tasks: &[usize], appetite: Appetite) -> HeldOut {
        HeldOut::by_part(self.study, tasks, |others| {
            let choice = self.choose(others, appetite).ok()?;
            let ready = self.ready(Self::stack_of(&choice));
            Some(Chosen::from_study(self.study, tasks, choice.written, |run| self.fate(&ready, run)))
        })
    }

    /// What becomes of each run of the study under a choice.
    pub fn fates(&self, choice: &GridChoice) -> Vec<Fate> {
        let ready = self.ready(Self::stack_of(choice));
        (0..self.study.runs().len()).map(|run| self.fate(&ready, run)).collect()
    }

    /// The stack as it will be read back from its file, so that its reported results are those of the file.
    fn stack_of(choice: &GridChoice) -> Stack {
        let file = crate::stack::StackFile::parse("tuned.toml", &choice.written).expect("what is written can be read");
        Stack::clone(&file.stack("tuned").expect("it is written under this name"))
    }

    /// Compiles a stack.
    fn ready(&self, stack: Stack) -> Ready {
        let mut plan = self.plan.clone();
        let formula = Formula::from_stack(&stack, &mut plan).expect(ONLY_STOPS);
        Ready { stack, formula }
    }

    /// The frontier of all stacks on these tasks, restricted to those that save something.
    fn sequence(&self, dev: &[usize]) -> Result<Sequence, Diagnostics> {
        let of_dev = dev.iter().flat_map(|task| self.study.tasks()[*task].runs.clone());
        let extracts: Vec<&Extract> = of_dev.map(|run| self.study.runs()[run].extract()).collect();
        let grid = self.file.grid(&extracts, self.plan)?;
        let mut plan = self.plan.clone();
        let atoms = GridWalk::plan(grid.product(), &mut plan).expect(ONLY_STOPS);
        let columns = Runs::from_extracts(extracts.iter().copied(), self.study.unit());
        let mut search = Search::new(&grid, 1.0, 0);
        if let Some(walk) = GridWalk::new(grid.product(), &atoms, &columns) {
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
        self.study.p_value(test, appetite, |run| self.fate(ready, run))
    }

    /// What becomes of a run under a stack.
    fn fate(&self, ready: &Ready, run: usize) -> Fate {
        let on = self.study.runs()[run].extract();
        let replay = ready.formula.replay(on);
        if !replay.not_evaluable.is_empty() {
            return Fate::Unread;
        }
        on.early(replay.stop.map(|stop| stop.point)).map_or(Fate::Untouched, Fate::Stopped)
    }

    /// The range of a stack's signals, where the first rule of each is consulted after the tools.
    fn ranges(&self, stack: &Stack) -> Vec<(String, f64, f64)> {
        let mut ranges: Vec<(String, f64, f64)> = Vec::new();
        for rule in stack.clauses.iter().flat_map(|clause| clause.condition.rules()) {
            let Some(place) = self.plan.place(rule, Moment::AfterTools) else { continue };
            if ranges.iter().any(|(id, ..)| id == rule.signal.id) {
                continue;
            }
            let readings = self.study.runs().iter().flat_map(|run| run.extract().early_readings(place));
            let readings = readings.filter(|reading| !reading.is_nan());
            let range = readings.fold(None, |range: Option<(f64, f64)>, reading| {
                Some(range.map_or((reading, reading), |(low, high)| (low.min(reading), high.max(reading))))
            });
            ranges.extend(range.map(|(low, high)| (rule.signal.id.to_owned(), low, high)));
        }
        ranges.sort_by(|a, b| a.0.cmp(&b.0));
        ranges
    }
}

/// Why every stack of a grid can be compiled.
const ONLY_STOPS: &str = "a grid is refused if a rule does more than stop";

/// The rules of a grid that cannot be evaluated on some run, at one of their limits, with the number of such runs; and
/// the number of runs on which any of them cannot be.
pub fn unread_rules(file: &GridFile, plan: &Plan, study: &Study) -> (Vec<(String, usize)>, usize) {
    let mut plan = plan.clone();
    let mut is_unread = vec![false; study.runs().len()];
    let mut rules = Vec::new();
    for choice in file.samples() {
        let atom = Atom::from_choice(&choice, &mut plan).expect(ONLY_STOPS);
        let mut lack = 0;
        for (is_unread, run) in is_unread.iter_mut().zip(study.runs()) {
            let is_read = atom.is_read(run.extract());
            *is_unread |= !is_read;
            lack += usize::from(!is_read);
        }
        if lack > 0 {
            rules.push((choice.name().to_string(), lack));
        }
    }
    (rules, is_unread.into_iter().filter(|is_unread| *is_unread).count())
}
