//! The cells of the study: every experiment and world, with the corpora it is run on.

use super::study::worlds::{self, Sizes};
use super::study::{
    Corpus, Row, bounds, certificates, chosen, intervals, seldom, small, spent, sweeps, tests, tuning, unknowns,
};

const TASKS: [usize; 7] = [8, 12, 20, 30, 50, 100, 200];
/// Runs per task: one; always five; one to six.
const SHAPES: [(u64, bool); 3] = [(1, true), (5, true), (6, false)];
const CORRELATIONS: [f64; 3] = [0.0, 0.3, 0.7];

/// A name and what it runs.
type Experiment = (&'static str, fn(Corpus) -> Vec<Row>, &'static [f64]);

/// Every experiment with the effect sizes it is run at.
const EXPERIMENTS: [Experiment; 11] = [
    ("intervals-rate", |corpus| intervals::rate(corpus, 2000, 200), &[0.02, 0.05, 0.1, 0.3, 0.5]),
    ("intervals-stops", |corpus| intervals::stops(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    ("intervals-tokens", |corpus| intervals::tokens(corpus, 2000, 200), &[0.05, 0.1, 0.3, 0.5]),
    ("intervals-free-ratios", |corpus| intervals::free_ratios(corpus, 2000), &[0.1, 0.3, 0.5]),
    ("intervals-budget", |corpus| intervals::budget(corpus, 200), &[0.3, 1.0]),
    ("tests-yes-no", |corpus| tests::yes_no(corpus, 2000), &[0.05, 0.1, 0.3, 0.5]),
    ("tests-costs", |corpus| tests::costs(corpus, 2000), &[0.1, 0.3, 0.5]),
    ("sweeps-rates", |corpus| sweeps::rates(corpus, 200, 400, false), &[0.05, 0.2]),
    ("sweeps-rates", |corpus| sweeps::rates(corpus, 200, 400, true), &[0.05, 0.2]),
    ("certificates-walk", |corpus| certificates::walk(corpus, 2000), &[0.05, 0.1, 0.2]),
    ("bounds-outcomes", |corpus| bounds::outcomes(corpus, 400), &[0.1, 0.3]),
];

/// The worlds: every experiment with the effect sizes and corpora it is run at.
type World = (&'static str, fn(Corpus, u64) -> Vec<Row>, &'static [f64], u64);
type SizedWorld = (&'static str, fn(Sizes, Corpus, u64) -> Vec<Row>, &'static [f64], u64);

/// Worlds with tasks of unequal size.
const SIZED: [SizedWorld; 6] = [
    ("rate", worlds::rate, &[0.05, 0.3], 1000),
    ("difference", worlds::difference, &[0.05, 0.3], 1000),
    ("budget", worlds::budget, &[0.3], 300),
    ("costs", worlds::costs, &[0.7, 1.2, 1.6], 1000),
    ("limit", worlds::limit, &[0.02, 0.05, 0.2], 1000),
    ("alike", worlds::alike, &[8.0, 30.0], 200),
];

/// Worlds of other kinds.
const WORLDS: [World; 7] = [
    ("checked-labels", worlds::checked_labels, &[0.05, 0.1, 0.2], 1000),
    ("given-up", worlds::given_up, &[0.3, 0.8], 500),
    ("missing-labels", worlds::missing_labels, &[0.3], 1000),
    ("limited", spent::limited, &[0.02, 0.05, 0.2], 1000),
    ("worth", worlds::worth, &[0.1, 0.3], 1000),
    ("sparse-checkpoints", worlds::sparse_checkpoints, &[0.3], 1000),
    ("seldom", seldom::alike, &[0.02, 0.05, 0.1, 0.2], 1000),
];

/// A world at one shape: so many tasks with so many runs each (or one to so many), at an effect; on how many corpora, and
/// on how many by `--quick`.
struct Placed(&'static str, fn(Corpus, u64) -> Vec<Row>, (usize, u64, bool), f64, (u64, u64));

const PLACED: [Placed; 21] = [
    Placed("recorders", tuning::recorders, (140, 4, true), 0.05, (400, 1)),
    Placed("unnamed", tuning::unnamed, (40, 6, true), 0.1, (400, 3)),
    Placed("models", tuning::models, (80, 4, true), 0.1, (200, 0)),
    Placed("unlike", tuning::unlike, (70, 4, true), 0.1, (200, 2)),
    Placed("listed", tuning::listed, (330, 3, true), 0.1, (200, 0)),
    Placed("cost-unseen", spent::unseen, (40, 1, true), 0.02, (1000, 60)),
    Placed("cost-unlike", spent::unlike, (60, 50, false), 20.0, (2000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 50, false), 2.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (200, 50, false), 20.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 4, true), 20.0, (1000, 0)),
    Placed("cost-unlike", spent::unlike, (60, 4, true), 2.0, (1000, 0)),
    Placed("best-of-many", chosen::best_of_many, (100, 3, true), 0.055, (400, 2)),
    Placed("labels-misstated", unknowns::misstated, (60, 5, true), 0.05, (400, 10)),
    Placed("labels-misstated", unknowns::misstated, (60, 5, true), -0.05, (400, 0)),
    Placed("labels-unseen", unknowns::unseen, (60, 4, true), 0.02, (400, 20)),
    Placed("labels-unseen", unknowns::unseen, (60, 4, true), 0.05, (400, 0)),
    Placed("refused", small::refused, (0, 0, true), 0.05, (400, 50)),
    Placed("giant-session", small::giant_session, (20, 10, false), 0.2, (400, 20)),
    Placed("budget-two-caps", unknowns::two_caps, (60, 4, true), 0.2, (1000, 40)),
    Placed("keeps", unknowns::kept_work, (60, 4, true), 0.0, (400, 15)),
    Placed("keeps", unknowns::kept_work, (60, 4, true), 0.5, (400, 0)),
];

/// A cell of the study, ready to run: of which experiment, and how.
pub(crate) type Job = (&'static str, Box<dyn Fn() -> Vec<Row> + Send + Sync>);

/// At most so many corpora of a cell are drawn by `--quick`.
const FEW: u64 = 100;

/// The regular corpora, then the worlds. `quick`: few cells and few corpora.
pub(crate) fn jobs(quick: bool) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let corpora = |n: u64| if quick { n.min(FEW) } else { n };
    if !quick {
        for (name, experiment, effects) in EXPERIMENTS {
            for tasks in TASKS {
                for (trials, even) in SHAPES {
                    // With one run per task there is nothing to correlate.
                    for icc in CORRELATIONS.into_iter().filter(|icc| trials > 1 || *icc == 0.0) {
                        jobs.extend(effects.iter().map(|&effect| -> Job {
                            (name, Box::new(move || experiment(Corpus { tasks, trials, even, icc, effect })))
                        }));
                    }
                }
            }
        }
    }
    for Placed(name, world, (tasks, trials, even), effect, (n, few)) in PLACED {
        let n = if quick { few } else { n };
        let corpus = Corpus { tasks, trials, even, icc: 0.3, effect };
        if n > 0 {
            jobs.push((name, Box::new(move || world(corpus, n))));
        }
    }
    let correlations: &[f64] = if quick { &[0.3] } else { &CORRELATIONS };
    for &icc in correlations {
        for sizes in Sizes::ALL {
            for (name, world, effects, n) in SIZED {
                let n = corpora(n);
                jobs.extend(effects.iter().take(if quick { 1 } else { effects.len() }).map(|&effect| -> Job {
                    (
                        name,
                        Box::new(move || world(sizes, Corpus { tasks: 60, trials: 30, even: false, icc, effect }, n)),
                    )
                }));
            }
        }
        let sizes: &[usize] = if quick { &[60] } else { &[30, 60, 200] };
        for &tasks in sizes {
            for (name, world, effects, n) in WORLDS {
                let n = corpora(n);
                jobs.extend(effects.iter().map(|&effect| -> Job {
                    (name, Box::new(move || world(Corpus { tasks, trials: 4, even: true, icc, effect }, n)))
                }));
            }
        }
    }
    jobs
}

/// Whether an experiment is among those named, separated by commas: `worlds` are those at one shape, and nothing means all.
pub(crate) fn is_wanted(wanted: &str, name: &str) -> bool {
    let is_placed = || PLACED.iter().any(|world| world.0 == name);
    wanted.is_empty() || wanted.split(',').any(|wanted| wanted == name || (wanted == "worlds" && is_placed()))
}
