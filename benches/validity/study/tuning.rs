//! What `tune` promises and estimates: certificates, and what its way of tuning does to tasks left out. The truth is what
//! the shipped rule does to many more tasks of the same world.

use std::fmt::Write as _;
use whenstop::stats::Bound;
use whenstop::transcript::sketch::draft;
use whenstop::transcript::{Outcome, Run};
use whenstop::tune::{
    Appetite, Family, Fate, HeldOut, KeptReadings, Learner, LimitIx, ListOptions, Study, StudyRun, TaskTotals, Tuner,
    catalogue, pool,
};

use super::random::Random;
use super::{Corpus, Row, repeat};

/// Tasks that the truth is taken from.
const TRUTH: usize = 1500;

/// A kind of corpus.
#[derive(Clone, Copy, Debug, PartialEq)]
struct World {
    /// How much tasks differ in length, on the logarithm.
    spread: f64,
    /// The share of runs by a second recorder, without flags of errors and 2.5 times as long.
    other_recorder: f64,
    /// Whether the runs name their tasks.
    is_named: bool,
    /// Whether all runs of a task are of one length and end alike.
    is_alike: bool,
    /// Whether each task has its own model, of four, with its own lengths.
    has_models: bool,
}

const PLAIN: World = World { spread: 0.4, other_recorder: 0.0, is_named: true, is_alike: false, has_models: false };

impl World {
    /// The runs of one task.
    fn task(self, name: &str, trials: u64, random: &mut Random) -> Vec<Run> {
        let model = usize::try_from(random.one_to(4)).unwrap_or(1) - 1;
        let pace = if self.has_models { [0.6, 0.9, 1.2, 1.8][model] } else { 1.0 };
        let length = pace * 9.0 * (self.spread * random.normal()).exp();
        let rate = random.task_rate(0.55, if self.is_alike { 0.9 } else { 0.3 });
        let own = random.normal();
        let alike = random.uniform();
        (0..trials)
            .map(|trial| {
                let is_success = if self.is_alike { alike < rate } else { random.chance(rate) };
                let noise = if self.is_alike { own } else { random.normal() };
                let other = random.chance(self.other_recorder);
                let longer = if is_success { 1.0 } else { 1.7 } * if other { 2.5 } else { 1.0 };
                let steps = (length * longer * (0.35 * noise).exp()).round().clamp(2.0, 150.0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 150")]
                let steps = steps as usize;
                let failing = if is_success { 0.06 } else { 0.22 };
                let repeating = if is_success { 0.03 } else { 0.15 };
                let mut text = String::new();
                for step in 0..steps - 1 {
                    let error = if other {
                        "?"
                    } else if random.chance(failing) {
                        "!"
                    } else {
                        ""
                    };
                    let call = if random.chance(repeating) { 0 } else { step + 1 };
                    let _ = write!(text, "look({call})=seen{call}{error} ");
                }
                let mut run = draft(&(text + "-done"));
                run.header.run_id = format!("{name}-{trial}");
                run.header.task_id = self.is_named.then(|| name.to_owned());
                run.header.model = self.has_models.then(|| format!("model-{model}"));
                run.grade.outcome = if is_success { Outcome::Success } else { Outcome::Failure };
                Run::new(run)
            })
            .collect()
    }

    fn runs(self, tasks: usize, trials: u64, random: &mut Random) -> Vec<Run> {
        // Names differ from corpus to corpus: the picked runs and the parts are hashes of them.
        let salt = random.bits();
        (0..tasks).flat_map(|nth| self.task(&format!("{salt:x}-{nth}"), trials, random)).collect()
    }
}

/// A study with the families that lists may use.
fn study(runs: &[Run]) -> Study {
    study_of(runs, pool("steps"))
}

/// The same with the catalogue alone.
fn catalogued(runs: &[Run]) -> Study {
    study_of(runs, catalogue("steps"))
}

fn study_of(runs: &[Run], families: Vec<Family>) -> Study {
    let plan = Study::plan(&families);
    let runs = runs.iter().map(|run| StudyRun::from_run(run, &families, &plan, KeptReadings::All)).collect();
    Study::new(runs, families)
}

/// What a shipped rule does to the truth: killed by task, killed of all, saved.
type Truth = [Option<f64>; 3];

fn true_rates(truth: &Study, fate: impl Fn(usize) -> Fate) -> Truth {
    let totals = truth.totals(&truth.all_tasks(), fate);
    [totals.killed().value, totals.killed().value, totals.saved().value]
}

fn appetite(alpha: f64) -> Appetite {
    Appetite { alpha, delta: 0.1, bound: Bound::Gaffke, lost_success_costs: None }
}

/// One of the answers of `tune`, against the truth.
fn note(tally: &mut super::Tally, method: &str, alpha: f64, answer: Option<(Truth, &HeldOut)>) {
    let Some(([by_task, killed, saved], held_out)) = answer else {
        for measure in ["broken", "killed", "saved"] {
            tally.note(method, measure, None);
        }
        return;
    };
    tally.note(method, "broken", by_task.map(|rate| rate > alpha));
    tally.interval(method, "killed", held_out.totals.killed().interval, killed);
    tally.interval(method, "saved", held_out.totals.saved().interval, saved);
}

/// Whether the intervals of what tuning gives elsewhere contain those of the shipped rule here.
fn contains(held_out: &HeldOut, here: &TaskTotals) -> bool {
    let pairs = [(held_out.totals.killed(), here.killed()), (held_out.totals.saved(), here.saved())];
    pairs.iter().all(|(elsewhere, here)| {
        let is_in = |end: f64| elsewhere.interval.is_some_and(|interval| interval.contains(end));
        here.interval.is_none_or(|own| is_in(own.low.max(0.0)) && is_in(own.high.min(elsewhere.high().unwrap_or(1.0))))
    })
}

/// Walks the catalogue on corpora of a world.
fn walked(experiment: &'static str, world: World, corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let truth = catalogued(&World { is_named: true, ..world }.runs(TRUTH, 3, &mut Random::new(77)));
    repeat(experiment, corpus, repetitions, |random, tally| {
        let study = catalogued(&world.runs(corpus.tasks, corpus.trials, random));
        let (tuner, tasks) = (Tuner::new(&study), study.all_tasks());
        let found = tuner.tune(&tasks, appetite(corpus.effect));
        tally.note("catalogue", "certified", Some(found.chosen.is_ok()));
        let answer = found.chosen.ok().map(|choice| {
            let rule = study.rule(choice.at);
            let families = truth.families().iter();
            let family = families.clone().position(|of| of.first_rule().signal.id == rule.signal.id);
            let held_out = tuner.held_out(&tasks, appetite(corpus.effect));
            // A family that the truth lacks kills nothing there that anybody could see.
            let fate = |run| family.map_or(Fate::Unread, |family| truth.fate(LimitIx { family, ..choice.at }, run));
            let here = study.totals(&tasks, |run| study.fate(choice.at, run));
            tally.note("catalogue", "contains-own", Some(contains(&held_out, &here)));
            (true_rates(&truth, fate), held_out)
        });
        note(tally, "catalogue", corpus.effect, answer.as_ref().map(|(truth, of)| (*truth, of)));
    })
}

/// Runs of two recorders, one of which records no flags of errors and whose runs are longer.
pub(crate) fn recorders(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    walked("recorders", World { other_recorder: 0.045, ..PLAIN }, corpus, repetitions)
}

/// Trials of one task that do not say so.
pub(crate) fn unnamed(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    walked("unnamed", World { is_named: false, is_alike: true, ..PLAIN }, corpus, repetitions)
}

/// Tasks of several models, each with its own lengths.
pub(crate) fn models(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    walked("models", World { has_models: true, ..PLAIN }, corpus, repetitions)
}

/// Tasks that differ much.
pub(crate) fn unlike(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    walked("unlike", World { spread: 0.8, ..PLAIN }, corpus, repetitions)
}

/// Lists of rules, learned on one half and certified on the other.
pub(crate) fn listed(corpus: Corpus, repetitions: u64) -> Vec<Row> {
    let truth = study(&PLAIN.runs(TRUTH, 3, &mut Random::new(78)));
    repeat("listed", corpus, repetitions, |random, tally| {
        let study = study(&PLAIN.runs(corpus.tasks, corpus.trials, random));
        let tasks = study.all_tasks();
        let options = ListOptions { appetite: appetite(corpus.effect), cross_fit: false };
        let lists = Learner::new(&study);
        let learned = lists.learn(&tasks, options).map(|learned| {
            let fate = |run| learned.list.fate(&truth, run);
            (true_rates(&truth, fate), lists.held_out(&tasks, options))
        });
        note(tally, "list", corpus.effect, learned.as_ref().map(|(truth, of)| (*truth, of)));
    })
}
