//! The tables of one case.

use std::collections::BTreeMap;

use whenstop::stats::Bound;
use whenstop::sweep::engine::Extract;
use whenstop::tune::{
    Appetite, Contenders, Fate, Learner, LimitIx, ListOptions, Shipped, Study, TaskTotals, Tuner, catalogue,
    tasks_for_list,
};

use super::{Recordings, study_of};

const ALPHAS: [f64; 3] = [0.02, 0.05, 0.1];

/// A list takes long to learn, so it is learned on one draw in so many; cross-fitted, where it was seen to pay.
const LIST_DRAWS: u64 = 5;

/// What a way of tuning shipped on one draw, judged on the tasks left out.
#[derive(Clone, Copy)]
struct Drawn {
    /// The mean over tasks of the killed share.
    killed: f64,
    saved: f64,
    refused: bool,
}

pub(super) fn tell(recordings: &Recordings, n_draws: u64) {
    let Recordings { study, pool, presets, .. } = recordings;
    let presets = Contenders::new(presets, study);
    let tasks = study.all_tasks();
    println!(
        "{} runs, {} tasks, {} with a success; families without data: {:?}; oracle {:.1} %\n",
        study.runs().len(),
        tasks.len(),
        study.with_success(&tasks),
        study.unread(),
        100.0 * study.oracle().unwrap_or(f64::NAN)
    );
    let tuner = Tuner::new(study);
    println!(
        "| alpha | way | ships | killed, mean over tasks, held out | saved, held out (95 %) | draws: saved | refused | true rate above alpha |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for alpha in ALPHAS {
        let appetite = Appetite { alpha, delta: 0.1, bound: Bound::Gaffke, lost_success_costs: None };
        let name =
            |choice: Option<LimitIx>| choice.map_or_else(|| "refused".to_owned(), |at| format!("`{}`", study.rule(at)));
        let found = tuner.tune(&tasks, appetite).chosen.ok().map(|choice| choice.at);
        let budget = tuner.budget(&tasks, appetite).map(|limit| LimitIx { family: 0, limit });
        let single = tuner.single(&tasks, appetite);
        let ways: [(&str, String, TaskTotals, Way<'_>); 3] = [
            (
                "budget",
                name(budget),
                tuner.held_out_budget(&tasks, appetite).totals,
                Box::new(|on| tuner.budget(on, appetite).map(|limit| LimitIx { family: 0, limit })),
            ),
            (
                "catalogue",
                name(found),
                tuner.held_out(&tasks, appetite).totals,
                Box::new(|on| tuner.tune(on, appetite).chosen.ok().map(|choice| choice.at)),
            ),
            (
                "single, 50/50",
                name(single),
                tuner.held_out_single(&tasks, appetite).totals,
                Box::new(|on| tuner.single(on, appetite)),
            ),
        ];
        for (way, ships, effects, learn) in &ways {
            let drawn = draws(study, n_draws, |on, rest| {
                let learned = learn(on);
                let fate = |run| learned.map_or(Fate::Untouched, |at| study.fate(at, run));
                judged(&study.totals(rest, fate), learned.is_none())
            });
            line(alpha, way, ships, effects, &drawn);
        }
        let best = presets.best(&tasks, appetite);
        let drawn = draws(study, n_draws, |on, rest| match presets.best(on, appetite) {
            Some(at) => judged(&presets.contender(at).totals(rest), false),
            None => Drawn { killed: 0.0, saved: 0.0, refused: true },
        });
        let effects = presets.held_out(&tasks, appetite).totals;
        let ships = best.map_or_else(|| "none".to_owned(), |at| format!("`{}`", presets.name(at)));
        line(alpha, "preset", &ships, &effects, &drawn);
        lists(pool, appetite, n_draws / LIST_DRAWS);
    }
}

/// How often what is certified on tasks drawn with replacement kills more than alpha of all recordings, from which they are
/// drawn: here the truth is known, and has no noise of its own.
pub(super) fn broken(recordings: &Recordings, n_draws: u64) {
    let Recordings { study, extracts, plan, budget, .. } = recordings;
    let all = study.all_tasks();
    let mut tasks: BTreeMap<(&str, &str), Vec<&Extract>> = BTreeMap::new();
    for extract in extracts {
        tasks.entry(extract.shared().facts().cluster()).or_default().push(extract);
    }
    let tasks: Vec<Vec<&Extract>> = tasks.into_values().collect();
    let mut counts: BTreeMap<(usize, &str), (u64, f64)> = BTreeMap::new();
    for draw in 0..n_draws {
        let mut drawn = Vec::new();
        for nth in 0..tasks.len() as u64 {
            let task = &tasks[usize::try_from(hash(draw + 1_000, nth) % tasks.len() as u64).unwrap_or(0)];
            let name = |extract: &Extract| format!("{}#{nth}", extract.shared().facts().cluster().1);
            drawn.extend(task.iter().map(|extract| Extract::clone(extract).with_task(&name(extract))));
        }
        let sample = study_of(&drawn, catalogue(budget), plan).in_unit(study.unit());
        let tuner = Tuner::new(&sample);
        for only_budget in [true, false] {
            for (at, alpha) in ALPHAS.into_iter().enumerate() {
                let appetite = Appetite { alpha, delta: 0.1, bound: Bound::Gaffke, lost_success_costs: None };
                let choice = if only_budget {
                    tuner.budget(&sample.all_tasks(), appetite).map(|limit| LimitIx { family: 0, limit })
                } else {
                    tuner.tune(&sample.all_tasks(), appetite).chosen.ok().map(|choice| choice.at)
                };
                let truth = choice.map_or(0.0, |at| {
                    let rule = sample.rule(at);
                    let family =
                        study.families().iter().position(|other| other.first_rule().signal.id == rule.signal.id);
                    let limit = |family: &usize| {
                        let limits = study.families()[*family].limits();
                        limits
                            .iter()
                            .position(|limit| limit.total_cmp(&rule.limit).is_eq())
                            .map(|limit| LimitIx { family: *family, limit })
                    };
                    let place = family.as_ref().and_then(limit);
                    let fate = |run| place.map_or(Fate::Untouched, |at| study.fate(at, run));
                    study.totals(&all, fate).killed().value.unwrap_or(0.0)
                });
                let way = if only_budget { "budget" } else { "catalogue" };
                let count = counts.entry((at, way)).or_default();
                count.0 += u64::from(truth > alpha);
                count.1 += truth;
            }
        }
    }
    println!("\nOf {n_draws} draws of {} tasks with replacement, all recordings the truth:\n", tasks.len());
    println!("| alpha | way | true rate above alpha | mean true rate |\n|---|---|---|---|");
    for ((at, way), (broken, sum)) in counts {
        let (alpha, mean) = (100.0 * ALPHAS[at], 100.0 * sum / n_draws as f64);
        println!("| {alpha:.0} % | {way} | {broken} | {mean:.1} % |");
    }
}

/// Lists of rules, certified by halves and cross-fitted, where the tasks carry one.
fn lists(study: &Study, appetite: Appetite, n_draws: u64) {
    let tasks = study.all_tasks();
    let learner = Learner::new(study);
    for cross_fit in [false, true] {
        let options = ListOptions { appetite, cross_fit };
        let way = if cross_fit { "list, cross-fitted (estimated)" } else { "list, 50/50" };
        let needed = tasks_for_list(appetite.alpha);
        if cross_fit && appetite.alpha < 0.1 {
            continue;
        }
        if !cross_fit && study.with_success(&tasks) < needed {
            println!(
                "| {:.0} % | {way} | refused below {needed} tasks with a success | | | | | |",
                100.0 * appetite.alpha
            );
            continue;
        }
        let shipped = learner.learn(&tasks, options);
        let ships = shipped.map_or_else(|| "refused".to_owned(), |learned| Shipped::List(learned).condition(study));
        let held_out = learner.held_out(&tasks, options);
        let drawn = draws(study, n_draws, |on, rest| {
            let list = learner.learn(on, options).map(|learned| learned.list);
            let fate = |run| list.as_ref().map_or(Fate::Untouched, |list| list.fate(study, run));
            judged(&study.totals(rest, fate), list.is_none())
        });
        line(appetite.alpha, way, &ships.replace('|', "or"), &held_out.totals, &drawn);
    }
}

type Way<'t> = Box<dyn Fn(&[usize]) -> Option<LimitIx> + 't>;

fn judged(effects: &TaskTotals, refused: bool) -> Drawn {
    Drawn { killed: effects.killed().value.unwrap_or(0.0), saved: effects.saved().value.unwrap_or(0.0), refused }
}

/// Draws of 70 % of the tasks, and what comes of the rest.
fn draws(study: &Study, n: u64, learn: impl Fn(&[usize], &[usize]) -> Drawn) -> Vec<Drawn> {
    (0..n)
        .map(|draw| {
            let mut order: Vec<(u64, usize)> =
                study.all_tasks().into_iter().map(|task| (hash(draw, task as u64), task)).collect();
            order.sort_unstable();
            let (on, rest) = order.split_at(order.len() * 7 / 10);
            let sorted = |part: &[(u64, usize)]| {
                let mut tasks: Vec<usize> = part.iter().map(|(_, task)| *task).collect();
                tasks.sort_unstable();
                tasks
            };
            learn(&sorted(on), &sorted(rest))
        })
        .collect()
}

/// Steele, Lea & Flood (2014), splitmix64.
fn hash(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(at).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn line(alpha: f64, way: &str, ships: &str, effects: &TaskTotals, drawn: &[Drawn]) {
    let n = drawn.len() as f64;
    let mean = drawn.iter().map(|drawn| drawn.saved).sum::<f64>() / n;
    let refused = drawn.iter().filter(|drawn| drawn.refused).count();
    let broken = drawn.iter().filter(|drawn| drawn.killed > alpha).count();
    let (killed, saved) = (effects.killed(), effects.saved());
    let percent = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}", 100.0 * value));
    let interval =
        saved.interval.map_or_else(String::new, |i| format!(" ({:.1}–{:.1})", 100.0 * i.low, 100.0 * i.high));
    println!(
        "| {:.0} % | {way} | {ships} | {} | {}{interval} | {:.1} | {refused} | {broken} of {n} |",
        100.0 * alpha,
        percent(killed.value),
        percent(saved.value),
        100.0 * mean,
    );
}
