//! How many tasks a certificate takes, beside one run a task by hand.

use whenstop::stats::certificate::Bound;
use whenstop::stats::distribution::binomial_cdf;
use whenstop::stats::gaffke::Surpluses;

use crate::study::random::Random;

const ALPHA: f64 = 0.05;
const DELTA: f64 = 0.1;
/// Correlation of runs of a task.
const ICC: f64 = 0.3;
/// More tasks are not tried.
const MOST: usize = 700;

/// The fewest tasks with which half, and four in five, of the corpora certify.
pub(crate) struct Power {
    pub(crate) method: &'static str,
    pub(crate) runs: u64,
    pub(crate) rate: f64,
    pub(crate) half: Option<usize>,
    pub(crate) most: Option<usize>,
}

/// From the runs of each task, those killed, and whether the one looked at by hand is.
type PValue = fn(&[(u64, u64, bool)]) -> f64;

/// For every method at `runs` runs a task and a true task-averaged rate of `rate`, over `corpora` growing corpora.
pub(crate) fn power(runs: u64, rate: f64, corpora: u64) -> Vec<Power> {
    let methods: [(&'static str, PValue); 3] = [
        ("clopper-pearson, one run a task", |tasks| {
            binomial_cdf(tasks.iter().map(|task| u64::from(task.2)).sum(), tasks.len() as u64, ALPHA)
        }),
        (Bound::Gaffke.name(), |tasks| Surpluses::from_losses(tasks.iter().map(|task| share(*task)), ALPHA).gaffke()),
        (Bound::Betting.name(), |tasks| Surpluses::from_losses(tasks.iter().map(|task| share(*task)), ALPHA).betting()),
    ];
    // Tasks at which p is looked at: every one up to 60, then ever fewer.
    let mut looks: Vec<usize> = (40..=60).collect();
    while let Some(last) = looks.last().filter(|last| **last < MOST) {
        looks.push(last + 1 + last / 40);
    }
    let mut certified = vec![vec![0_u64; looks.len()]; methods.len()];
    for corpus in 0..corpora {
        let mut random = Random::new(corpus ^ (runs << 32) ^ rate.to_bits());
        let tasks: Vec<(u64, u64, bool)> = (0..looks.last().copied().unwrap_or(MOST))
            .map(|_| {
                let own = if rate > 0.0 { random.task_rate(rate, ICC) } else { 0.0 };
                let killed = random.binomial(runs, own);
                // The one run of a task that is looked at by hand, picked by chance.
                let first = random.uniform() * (runs as f64) < killed as f64;
                (runs, killed, first)
            })
            .collect();
        for ((_, p), certified) in methods.iter().zip(&mut certified) {
            for (look, certified) in looks.iter().zip(certified.iter_mut()) {
                *certified += u64::from(p(&tasks[..*look]) <= DELTA);
            }
        }
    }
    let fewest = |certified: &[u64], share: f64| {
        let enough = |count: &&u64| **count as f64 >= share * corpora as f64;
        certified.iter().position(|count| enough(&count)).map(|at| looks[at])
    };
    methods
        .iter()
        .zip(&certified)
        .map(|((method, _), certified)| Power {
            method,
            runs,
            rate,
            half: fewest(certified, 0.5),
            most: fewest(certified, 0.8),
        })
        .collect()
}

fn share((runs, killed, _): (u64, u64, bool)) -> f64 {
    killed as f64 / runs as f64
}
