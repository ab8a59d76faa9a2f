//! What to ship from the recordings, or why nothing, beside what it is compared with.

use super::rated::{Elsewhere, RatedStack, elsewhere, rate};
use crate::aggregate::{Rows, Standing};
use crate::cli::inputs::undrawn_labels;
use crate::reader::LabelDraw;
use crate::transcript::named;
use crate::tune::{
    Appetite, HeldOut, Learned, Learner, ListOptions, Refusal, Shipped, Study, TaskTotals, TuneQuestion, Tuned, Tuner,
    Walk, tasks_for_list,
};

/// The recordings, read once.
pub(super) struct Recordings {
    pub(super) study: Study,
    /// Rows of the strategies shown for comparison: first what runs today, then the presets.
    pub(super) rows: Rows,
    pub(super) labels: LabelDraw,
}

/// Why nothing can be certified from the runs that have an outcome: they were picked, or nothing says that they were not.
pub(super) fn picked(study: &Study, labels: LabelDraw) -> Option<String> {
    let noticed = study.picked().map(|picked| format!("Nothing can be certified. {}", picked.sentence()));
    let known = study.runs().iter().filter(|run| run.outcome().grade().is_some()).count();
    noticed.or_else(|| undrawn_labels(labels, known, study.runs().len()))
}

/// The result of tuning.
pub(super) struct TuneAnswer {
    pub(super) appetite: Appetite,
    pub(super) tuned: Tuned,
    /// What to ship, and what the same tuning procedure does on tasks it has not seen.
    pub(super) shipped: Result<(Shipped, HeldOut), Why>,
    /// What is known about what is shipped, or is not worth it, on the tasks it was chosen on.
    pub(super) rated: Option<RatedStack>,
    /// If nothing is shipped: the walk that comes nearest to passing one more limit, and the tasks with a success, none of
    /// them killed, that it would take.
    pub(super) nearest: Option<(u64, Walk)>,
    /// What it is compared with, and what is shipped the last.
    pub(super) beside: Vec<BesideLine>,
}

impl TuneAnswer {
    /// Whether what is shipped was only estimated, not certified.
    pub(super) fn is_estimate(&self) -> bool {
        matches!(&self.shipped, Ok((Shipped::List(Learned { is_estimate: true, .. }), _)))
    }
}

named! {
    /// What a line of the comparison is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Rival {
        /// Nothing is stopped.
        NoStopping = "no stopping",
        /// A stack that runs today.
        Today = "today",
        /// The largest budget of steps that passes.
        Budget = "budget alone",
        /// The best of the presets.
        Preset = "best preset",
        /// One limit, chosen on half of the tasks.
        Halves = "chosen on half",
        /// The catalogue's own choice, if a list was learned.
        Catalogue = "without --learn",
        /// What is shipped.
        Tuned = "tuned",
    }
}

/// One line of the comparison.
pub(super) struct BesideLine {
    /// What it is.
    pub(super) rival: Rival,
    /// Its rule or name; `None` if there is none.
    pub(super) name: Option<String>,
    /// Whether it is certified at the requested rate.
    pub(super) certified: bool,
    /// Its totals on tasks it was not chosen on.
    pub(super) totals: TaskTotals,
    /// Number of parts for which nothing could be chosen, of how many. Their tasks are left out.
    pub(super) refused: (usize, usize),
}

/// Why nothing is shipped.
pub(super) enum Why {
    Catalogue(Refusal),
    /// A list needs this many tasks with a success.
    TooFewForList(u64),
    /// The runs with an outcome were picked, or nothing says that they were not.
    Picked(String),
    /// No certified list saves anything.
    NoList,
    /// It is certified, but not worth shipping.
    NotWorthIt(Shipped, Standing),
    /// The same, by what such choices do to tasks left out.
    FailsElsewhere(Shipped, Elsewhere),
}

/// What to ship, compared with nothing.
pub(super) fn decided(question: &TuneQuestion, tuner: &Tuner<'_>, labels: LabelDraw) -> TuneAnswer {
    let (study, appetite) = (tuner.study(), question.appetite());
    let tasks = study.all_tasks();
    let found = tuner.tune(&tasks, appetite);
    let shipped = match (&found.chosen, picked(study, labels)) {
        (Err(refusal @ (Refusal::Ungraded | Refusal::Unnamed { .. } | Refusal::NoCosts)), _) => {
            Err(Why::Catalogue(*refusal))
        }
        (_, Some(sentence)) => Err(Why::Picked(sentence)),
        _ if question.learn => learned(question, study, &tasks, &found),
        (Err(Refusal::NotWorthIt(choice, standing)), None) => Err(Why::NotWorthIt(Shipped::Limit(*choice), *standing)),
        (Err(refusal), None) => Err(Why::Catalogue(*refusal)),
        (Ok(choice), None) => Ok((Shipped::Limit(*choice), tuner.held_out(&tasks, appetite))),
    };
    let rated = match &shipped {
        Ok((shipped, _)) | Err(Why::NotWorthIt(shipped, _)) => Some(rate(shipped, study, &tasks, appetite)),
        Err(_) => None,
    };
    let shipped = match (shipped, &rated) {
        (Ok((shipped, held_out)), Some(rated)) => match rated.candidate.standing(appetite.terms()) {
            Standing::Allowed => match elsewhere(&held_out, appetite) {
                None => Ok((shipped, held_out)),
                Some(elsewhere) => Err(Why::FailsElsewhere(shipped, elsewhere)),
            },
            standing => Err(Why::NotWorthIt(shipped, standing)),
        },
        (shipped, _) => shipped,
    };
    let nearest = if shipped.is_err() { tuner.nearest(&found, &tasks, appetite.alpha) } else { None };
    TuneAnswer { appetite, tuned: found, shipped, rated, nearest, beside: Vec::new() }
}

#[expect(clippy::result_large_err, reason = "a command refuses at most once")]
fn learned(question: &TuneQuestion, study: &Study, tasks: &[usize], tuned: &Tuned) -> Result<(Shipped, HeldOut), Why> {
    let options = ListOptions { appetite: question.appetite(), cross_fit: question.cross_fit };
    let needed = tasks_for_list(question.max_killed);
    if !question.cross_fit && tuned.with_success < needed {
        return Err(Why::TooFewForList(needed));
    }
    let learner = Learner::new(study);
    let list = learner.learn(tasks, options).ok_or(Why::NoList)?;
    let held_out = learner.held_out(tasks, options);
    Ok((Shipped::List(list), held_out))
}
