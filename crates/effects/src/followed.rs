//! What the recording shows after a stop: evidence of what the stop would have cost, without any label.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use crate::parts::CallEffect;
use crate::reader::EffectReader;
use crate::transcript::{Message, Moment, Point, PromptedBy, RoundEnd, Run, Tokens, ToolCall};
use crate::verdict::Ledger;
use crate::{Effect, EffectTable};

/// A count known within bounds, because calls with an unknown effect may or may not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountBounds {
    /// The certain count.
    pub low: u64,
    /// The possible count.
    pub high: u64,
}

impl CountBounds {
    fn add(&mut self, certain: bool, possible: bool) {
        self.low += u64::from(certain);
        self.high += u64::from(certain || possible);
    }

    /// Whether the count is above 0: certainly, and possibly.
    pub fn any(self) -> (bool, bool) {
        (self.low > 0, self.high > 0)
    }
}

/// Whether one of these counts is above 0: certainly, and possibly.
fn any(counts: [CountBounds; 3]) -> (bool, bool) {
    (counts.iter().any(|count| count.low > 0), counts.iter().any(|count| count.high > 0))
}

/// What one step of a run did.
#[derive(Clone, Copy, Debug, Default)]
struct StepWork {
    step: usize,
    edits: CountBounds,
    handovers: CountBounds,
    /// Checks that went from failing to passing.
    greens: CountBounds,
}

impl StepWork {
    /// Whether it did anything: certainly, and possibly.
    fn any(&self) -> (bool, bool) {
        any([self.edits, self.handovers, self.greens])
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// With a reply that hands control back.
    Reply,
    /// With a call that submits the work.
    Submission,
    /// With any other work: the recording breaks off.
    Work,
}

/// What a run did, step by step, and the tokens it had spent by then.
#[derive(Clone, Debug)]
pub struct Work {
    /// The steps that did something, certainly or possibly.
    steps: Vec<StepWork>,
    /// Tokens spent by the end of each step; `None` if unknown.
    tokens: Vec<Option<Tokens>>,
    whole: Option<Tokens>,
    /// How it ends.
    closing: Closing,
    /// True if its last round was interrupted.
    interrupted: bool,
    /// True if somebody waits for its reply.
    awaited: bool,
}

/// Tokens spent after the last effect of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailTokens {
    /// After its last possible effect.
    pub least: u64,
    /// After its last certain effect.
    pub most: u64,
    /// The total of the run.
    pub whole: u64,
}

/// What the recording shows after a stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Calls that edit.
    pub edits: CountBounds,
    /// Calls that hand work over.
    pub handovers: CountBounds,
    /// Checks that went from failing to passing.
    pub greens: CountBounds,
    /// True if the run ends with a closing reply.
    pub reply: bool,
    /// Tokens spent after the last effect, or after the stop if no effect followed; `None` if unknown.
    pub tokens_after_last_effect: Option<u64>,
}

impl Followed {
    /// Whether the stop cut work short: certainly, and possibly.
    pub fn cut_short(&self) -> (bool, bool) {
        any([self.edits, self.handovers, self.greens])
    }
}

impl Work {
    /// Derives it from a run.
    pub fn from_run(run: &Run, table: &EffectTable, ledger: &Ledger) -> Self {
        let mut reader = EffectReader::new(table);
        let told: Vec<Vec<CallEffect>> =
            (0..run.steps().len()).map(|step| run.calls(step).iter().map(|call| reader.tell(call)).collect()).collect();
        let scratch = Scratch::from_calls(&told);
        let delivered = Delivered::from_run(run);
        let mut checks = Checks::default();
        let mut steps = Vec::new();
        for (step, calls) in told.iter().enumerate() {
            let mut work = StepWork { step, ..StepWork::default() };
            let flags = LazyCell::new(|| StepErrorFlags::from_step(run, step));
            for (nth, told) in calls.iter().enumerate() {
                match told.effect {
                    Effect::Edit => match delivered.as_ref().map(|files| files.changed_by(told)) {
                        Some((certain, possible)) => work.edits.add(certain, possible),
                        None => work.edits.add(!scratch.holds(told, step), true),
                    },
                    Effect::Handover => work.handovers.add(true, true),
                    Effect::Check => {
                        let (certain, possible) = checks.take(flags.call_failed(nth));
                        work.greens.add(certain, possible);
                        work.edits.add(false, told.may_change);
                    }
                    _ => work.edits.add(false, told.may_change),
                }
            }
            if work.any().1 {
                steps.push(work);
            }
        }
        let tokens = (0..told.len()).map(|step| ledger.until(Point::new(step, Moment::EndOfRound)).tokens).collect();
        let last = run.steps().len().checked_sub(1);
        let hands_over = run.header.delivered.is_some()
            && matches!(steps.last(), Some(work) if Some(work.step) == last && work.handovers.low > 0);
        let last = last.and_then(|last| run.reply(last));
        let closing = match last {
            Some(reply) if reply.tool_calls.is_empty() => Closing::Reply,
            Some(reply) if reply.submits() || hands_over => Closing::Submission,
            _ => Closing::Work,
        };
        let awaited = matches!(run.header.prompted_by, PromptedBy::Person | PromptedBy::SimulatedUser);
        let interrupted = matches!(run.rounds().last(), Some(round) if round.end == RoundEnd::Interrupted);
        Self { steps, tokens, whole: ledger.whole().tokens, closing, interrupted, awaited }
    }

    /// What follows a stop at `point`; for `None`, the whole run.
    pub fn after(&self, point: Option<Point>) -> Followed {
        // A step's tools run after its reply.
        let from = match point {
            Some(point) => point.step as usize + usize::from(point.moment >= Moment::AfterTools),
            None => 0,
        };
        let rest = &self.steps[self.steps.partition_point(|work| work.step < from)..];
        let mut followed =
            Followed { reply: self.closing == Closing::Reply && from < self.tokens.len(), ..Followed::default() };
        for step in rest {
            for (sum, part) in [
                (&mut followed.edits, step.edits),
                (&mut followed.handovers, step.handovers),
                (&mut followed.greens, step.greens),
            ] {
                sum.low += part.low;
                sum.high += part.high;
            }
        }
        let last = rest.last().map(|work| work.step).or(from.checked_sub(1));
        let spent = if let Some(last) = last { self.tokens.get(last).copied().flatten() } else { Some(Tokens(0)) };
        followed.tokens_after_last_effect = self.whole.zip(spent).map(|(whole, spent)| whole.0.saturating_sub(spent.0));
        followed
    }

    /// The earliest and the latest possible step from which on the files were as at the end. `None` means from the
    /// start of the run.
    pub fn standing(&self) -> (Option<usize>, Option<usize>) {
        let last = |counts: fn(CountBounds) -> u64| self.steps.iter().rfind(|work| counts(work.edits) > 0);
        (last(|bound| bound.low).map(|work| work.step), last(|bound| bound.high).map(|work| work.step))
    }

    /// True if the run's last round was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// True if a person or a simulated user waits for the run's reply, so that the run is worthless without it.
    pub fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// The last step that changed something, handed work over or made a check pass, certainly or possibly.
    pub fn last_effect(&self) -> Option<usize> {
        self.steps.last().map(|work| work.step)
    }

    /// Tokens spent after the run's last effect: what a stop chosen in hindsight could save. A final step that only
    /// submits does not count as an effect. `None` if the tokens are unknown.
    pub fn tail(&self) -> Option<TailTokens> {
        let whole = self.whole?.0;
        let open = self.tokens.len() - usize::from(self.closing == Closing::Submission);
        let after = |works: fn(&StepWork) -> bool| {
            let last = self.steps.iter().rfind(|work| work.step < open && works(work));
            let spent = if let Some(last) = last { self.tokens[last.step] } else { Some(Tokens(0)) };
            spent.map(|spent| whole.saturating_sub(spent.0))
        };
        Some(TailTokens { least: after(|work| work.any().1)?, most: after(|work| work.any().0)?, whole })
    }
}

/// The files of the patch that a run submitted.
struct Delivered<'r> {
    files: HashSet<&'r str>,
    /// Their paths without the first folders: a call may have been made from within one.
    endings: HashSet<&'r str>,
}

impl<'r> Delivered<'r> {
    fn from_run(run: &'r Run) -> Option<Self> {
        let files = run.header.delivered.as_ref()?;
        Some(Self {
            files: files.iter().map(String::as_str).collect(),
            endings: files.iter().flat_map(|file| endings(file)).collect(),
        })
    }

    /// Whether an edit changed one of them: certainly, and possibly.
    fn changed_by(&self, told: &CallEffect) -> (bool, bool) {
        let is_one = |touched: &String| {
            let touched = name(touched);
            self.files.contains(touched.as_str())
                || self.endings.contains(touched.as_str())
                || endings(&touched).any(|ending| self.files.contains(ending))
        };
        let certain = told.touched.iter().any(is_one);
        (certain, certain || told.blind || told.may_change)
    }
}

/// A path without its first folder, without its first two, and so on; of a path of more than 64 folders, the shortest.
fn endings(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').take(64).map(|(at, _)| &path[at + 1..])
}

/// The error flags of the results of a step's calls.
struct StepErrorFlags<'r> {
    calls: &'r [ToolCall],
    results: Vec<&'r Message>,
    /// The first result of each call that a result names.
    named: HashMap<&'r str, &'r Message>,
}

impl<'r> StepErrorFlags<'r> {
    fn from_step(run: &'r Run, step: usize) -> Self {
        let events = if let Some(at) = run.steps().get(step) { &run.events()[at.reply..at.end] } else { &[] };
        let messages = events.iter().filter_map(|event| event.message());
        let results: Vec<&Message> = messages.filter(|message| message.is_result()).collect();
        let mut named = HashMap::default();
        for result in &results {
            if let Some(id) = result.tool_call_id.as_deref() {
                named.entry(id).or_insert(*result);
            }
        }
        Self { calls: run.calls(step), results, named }
    }

    /// Whether the call at `nth` of the step failed, by the flag of its result.
    fn call_failed(&self, nth: usize) -> Option<bool> {
        let id = self.calls.get(nth)?.id.as_deref();
        let named = id.and_then(|id| self.named.get(id));
        named.or_else(|| self.results.get(nth).filter(|result| id.is_none() || result.tool_call_id.is_none()))?.is_error
    }
}

/// Tracks whether the checks so far failed.
#[derive(Default)]
struct Checks {
    red: bool,
    /// True if a check without a flag came after the last flagged one.
    unflagged: bool,
}

impl Checks {
    /// Adds a check; returns whether it went from failing to passing: certainly, and possibly.
    fn take(&mut self, failed: Option<bool>) -> (bool, bool) {
        match failed {
            Some(true) => {
                *self = Self { red: true, unflagged: false };
                (false, false)
            }
            Some(false) => {
                let Self { red, unflagged } = std::mem::take(self);
                (red && !unflagged, red || unflagged)
            }
            None => {
                let turns = self.red || self.unflagged;
                self.unflagged = true;
                (false, turns)
            }
        }
    }
}

/// Temporary files: created and removed by the run itself, or in a directory for such files.
struct Scratch {
    /// The step in which each file was first changed.
    made: BTreeMap<String, usize>,
    /// The step in which each file was last removed.
    removed: BTreeMap<String, usize>,
}

impl Scratch {
    fn from_calls(told: &[Vec<CallEffect>]) -> Self {
        let (mut made, mut removed) = (BTreeMap::new(), BTreeMap::new());
        for (step, told) in told.iter().enumerate().flat_map(|(step, calls)| calls.iter().map(move |told| (step, told)))
        {
            let taken: HashSet<&String> = told.removed.iter().collect();
            for file in told.touched.iter().filter(|file| !taken.contains(file)) {
                made.entry(name(file)).or_insert(step);
            }
            for file in &told.removed {
                removed.insert(name(file), step);
            }
        }
        Self { made, removed }
    }

    /// True if the call changes only temporary files.
    fn holds(&self, told: &CallEffect, step: usize) -> bool {
        let is_scratch = |file: &String| {
            let life = (self.made.get(&name(file)), self.removed.get(&name(file)));
            file.starts_with("/tmp/") || matches!(life, (Some(made), Some(end)) if (*made..=*end).contains(&step))
        };
        !told.blind && !told.touched.is_empty() && told.touched.iter().all(is_scratch)
    }
}

/// Normalises a path for comparison: without a leading `./`.
fn name(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}
