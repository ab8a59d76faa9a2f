//! Making a part of a recording unknown never makes anything look better known: no bound narrows, no printed rate moves
//! without its n, and no gate passes that failed for what was missing.

use std::sync::OnceLock;

use proptest::prelude::{ProptestConfig, proptest};

use whenstop::aggregate::{Contest, Measured, Premises, Row, Rows, Summary, Unit, by_stack, named, summarise};
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::snapshot::{Gate, MIN_KNOWN};
use whenstop::transcript::{Draft, Event, Outcome, Run};
use whenstop::verdict::Assumptions;

/// What is taken from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Nothing,
    Tokens,
    TokensOfOneStep,
    Cost,
    Label,
    Flags,
    Times,
    Checkpoints,
    LastCheckpoint,
}

const LOSSES: [Loss; 9] = [
    Loss::Nothing,
    Loss::Tokens,
    Loss::TokensOfOneStep,
    Loss::Cost,
    Loss::Label,
    Loss::Flags,
    Loss::Times,
    Loss::Checkpoints,
    Loss::LastCheckpoint,
];

fn without(run: &Run, loss: Loss) -> Run {
    let mut draft = Draft {
        header: run.header.clone(),
        events: run.events().to_vec(),
        grade: run.grade.clone(),
        ..Draft::default()
    };
    let steps: Vec<usize> = run.steps().iter().map(|step| step.reply).collect();
    let last = run.events().iter().rposition(|event| matches!(event, Event::Checkpoint(_)));
    for (at, event) in draft.events.iter_mut().enumerate() {
        let Event::Message(message) = event else { continue };
        match loss {
            Loss::Tokens => message.set_usage(None),
            Loss::TokensOfOneStep if steps.get(steps.len() / 2) == Some(&at) => message.set_usage(None),
            Loss::Cost => message.set_cost(None),
            Loss::Flags => message.is_error = None,
            Loss::Times => message.ts = None,
            _ => {}
        }
    }
    match loss {
        Loss::Label => {
            draft.grade.outcome = Outcome::Unknown;
            draft.grade.secured_step = None;
        }
        Loss::Checkpoints => draft.events.retain(|event| !matches!(event, Event::Checkpoint(_))),
        Loss::LastCheckpoint => {
            if let Some(at) = last {
                draft.events.remove(at);
            }
        }
        _ => {}
    }
    Run::new(draft)
}

fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let traces = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
        Corpus::open(&[traces], ReadOptions::default()).unwrap().runs().unwrap().0
    })
}

/// The example stacks, and presets that warn, refuse and force an answer.
fn strategies() -> &'static Strategies {
    static STRATEGIES: OnceLock<Strategies> = OnceLock::new();
    STRATEGIES.get_or_init(|| {
        let mut all = crate::bundled::example();
        let wanted = ["cline", "roo-code", "smolagents", "hermes-agent"];
        all.extend(
            catalog::all(FrameworkKind::Preset).into_iter().filter(|strategy| wanted.contains(&strategy.name())),
        );
        assert_eq!(all.len(), 12);
        all
    })
}

fn rows(runs: &[Run]) -> Vec<Row> {
    let comparison = Comparison::new(strategies(), Assumptions::default());
    runs.iter().flat_map(|run| comparison.rows_of(run).0).collect()
}

/// `[low, high]` within `[low, high]`; no upper end is no limit.
fn holds<T: PartialOrd>(inner: (T, Option<T>), outer: (T, Option<T>)) -> bool {
    let above = match (inner.1, outer.1) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(inner), Some(outer)) => inner <= outer,
    };
    outer.0 <= inner.0 && above
}

/// What is known of one run under one stack may only widen.
fn check_row(before: &Row, after: &Row, loss: Loss) {
    let at = format!("{} under {} without {loss:?}\n{before:?}\n{after:?}", before.run_id, before.stack);
    assert!(
        holds((before.stopped_low, Some(before.stopped_high)), (after.stopped_low, Some(after.stopped_high))),
        "{at}"
    );
    assert!(
        holds((before.outcome_low, Some(before.outcome_high)), (after.outcome_low, Some(after.outcome_high))),
        "{at}"
    );
    assert!(holds((before.steps_low, before.steps_high), (after.steps_low, after.steps_high)), "{at}");
    if let (Some(before_low), Some(after_low)) = (before.tokens_low, after.tokens_low) {
        assert!(holds((before_low, before.tokens_high), (after_low, after.tokens_high)), "{at}");
    }
    if matches!(loss, Loss::Checkpoints | Loss::LastCheckpoint) {
        // By definition a success that nothing tells of counts as killed: the verdict may only get worse.
        assert!(before.killed_low <= after.killed_low && before.killed_high <= after.killed_high, "{at}");
        return;
    }
    assert!(holds((before.killed_low, Some(before.killed_high)), (after.killed_low, Some(after.killed_high))), "{at}");
    let stops = |row: &Row| (row.true_stop_low, Some(row.true_stop_high));
    assert!(holds(stops(before), stops(after)), "{at}");
}

fn measured(summary: &Summary, name: &str) -> Measured {
    named(name).unwrap_or_else(|| panic!("no metric `{name}`")).metric.read_from(summary)
}

fn n(measured: &Measured) -> Option<u64> {
    measured.made.map(|made| made.n)
}

fn check_rates(before: &[Row], after: &[Row], losses: &[Loss]) {
    let columns = |rows: &[Row]| rows.iter().cloned().collect::<Rows>();
    let summaries = |rows: &[Row]| summarise(&by_stack(&columns(rows)), None);
    let verdicts_move = losses.iter().any(|loss| matches!(loss, Loss::Checkpoints | Loss::LastCheckpoint));
    for (was, is) in summaries(before).iter().zip(&summaries(after)) {
        for name in ["killed_rate", "failures_stopped_rate", "stop_rate", "steps_saved_share", "tokens_saved_share"] {
            let (old, new) = (measured(was, name), measured(is, name));
            if n(&old) != n(&new) || (verdicts_move && name != "stop_rate") {
                continue;
            }
            let (low, least) = (new.min.unwrap_or(f64::NEG_INFINITY), old.min.unwrap_or(f64::NEG_INFINITY));
            assert!(low <= least + 1e-6, "{name}: {was:?} {is:?}");
            let (high, most) = (new.max.unwrap_or(f64::INFINITY), old.max.unwrap_or(f64::INFINITY));
            assert!(high >= most - 1e-6, "{name}: {was:?} {is:?}");
        }
        let (old, new) = (measured(was, "killed_rate"), measured(is, "killed_rate"));
        if !verdicts_move {
            assert!(new.min.zip(old.min).is_none_or(|(new, old)| new <= old + 1e-6), "{was:?} {is:?}");
        }
        assert!(new.max.zip(old.max).is_none_or(|(new, old)| new >= old - 1e-6), "{was:?} {is:?}");
    }
}

fn check_gates(before: &[Row], after: &[Row]) {
    let [before, after]: [Rows; 2] = [before, after].map(|rows| rows.iter().cloned().collect());
    let stacks: Vec<String> = by_stack(&before).iter().map(|group| group.stack.to_string()).collect();
    let [old, new] = [&before, &after].map(|rows| summarise(&by_stack(rows), None));
    for text in [
        "killed_rate_high>0.9",
        "killed_rate>0.9",
        "stops>10000",
        "tokens_saved_share<-9",
        "failures_stopped_rate<0.0001",
    ] {
        let gate = Gate::parse(text, &stacks).unwrap();
        let name = text.split(['<', '>']).next().unwrap();
        let hold = |rows| gate.hold(&Contest::new(by_stack(rows), Premises::new(Unit::Steps), &[], None), MIN_KNOWN);
        let (was, is) = (hold(&before), hold(&after));
        for ((was, is), (old, new)) in was.iter().zip(&is).zip(old.iter().zip(&new)) {
            // A run that loses its grade leaves the rate, and takes with it what was open about it.
            if n(&measured(old, name)) != n(&measured(new, name)) {
                continue;
            }
            let for_being_unknown = was.failed && (was.why.starts_with("unknown") || was.why.starts_with("known on"));
            assert!(!for_being_unknown || is.failed, "{text}: {was:?} {is:?}");
        }
    }
}

/// A number from 0 to `n`, the same for the same seed and place.
fn drawn(seed: u64, place: usize, n: usize) -> usize {
    let mixed = (seed ^ (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    usize::try_from((mixed >> 33) % n as u64).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_taken_away_is_never_known_better(seed: u64) {
        let all = runs();
        let picked: Vec<&Run> = (0..40).map(|place| &all[drawn(seed, place, all.len())]).collect();
        // Some of what the recordings lack is lacking from the start.
        let first: Vec<Run> =
            picked.iter().enumerate().map(|(at, run)| without(run, LOSSES[drawn(seed, 1000 + at, 30).min(8)])).collect();
        let first: Vec<Run> = if seed % 2 == 0 { picked.iter().map(|run| (*run).clone()).collect() } else { first };
        let losses: Vec<Loss> = (0..first.len())
            .map(|at| if drawn(seed, 2000 + at, 3) == 0 { LOSSES[drawn(seed, 3000 + at, LOSSES.len())] } else { Loss::Nothing })
            .collect();
        let second: Vec<Run> = first.iter().zip(&losses).map(|(run, loss)| without(run, *loss)).collect();
        let (before, after) = (rows(&first), rows(&second));
        let stacks = strategies().len();
        for (at, (was, is)) in before.iter().zip(&after).enumerate() {
            check_row(was, is, losses[at / stacks]);
        }
        check_rates(&before, &after, &losses);
        check_gates(&before, &after);
    }
}
