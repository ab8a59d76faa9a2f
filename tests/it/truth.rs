//! Making a part of a recording unknown never makes anything look better known: no bound narrows, no printed rate moves
//! without its n, and no gate passes that failed for what was missing.

use std::sync::OnceLock;

use proptest::prelude::{ProptestConfig, proptest};

use whenstop::aggregate::{Row, Rows, by_stack, summarise};
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::framework::Kind;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::report::table;
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
            Loss::Tokens => message.usage = None,
            Loss::TokensOfOneStep if steps.get(steps.len() / 2) == Some(&at) => message.usage = None,
            Loss::Cost => message.cost = None,
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
        all.extend(catalog::all(Kind::Preset).into_iter().filter(|strategy| wanted.contains(&strategy.name())));
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

/// The numbers of a table line by column.
fn line(columns: &[String], cells: &[table::Cell], name: &str) -> Option<f64> {
    match cells.get(columns.iter().position(|column| column == name)?)? {
        table::Cell::Number(number) => Some(*number),
        table::Cell::Count(count) => Some(*count as f64),
        _ => None,
    }
}

fn check_rates(before: &[Row], after: &[Row], losses: &[Loss]) {
    let columns = |rows: &[Row]| rows.iter().cloned().collect::<Rows>();
    let summary = |rows: &[Row]| table::summary(&summarise(&by_stack(&columns(rows)), None));
    let (old, new) = (summary(before), summary(after));
    let verdicts_move = losses.iter().any(|loss| matches!(loss, Loss::Checkpoints | Loss::LastCheckpoint));
    for (old_cells, new_cells) in old.rows.iter().zip(&new.rows) {
        let (was, is) =
            (|name: &str| line(&old.columns, old_cells, name), |name: &str| line(&new.columns, new_cells, name));
        for name in ["fes_rate", "stop_recall", "stop_rate", "steps_useful_saved_ratio", "tokens_useful_saved_ratio"] {
            let of = |get: &dyn Fn(&str) -> Option<f64>| {
                (get(&format!("{name}_min")), get(&format!("{name}_max")), get(&format!("{name}_n")))
            };
            let ((old_low, old_high, old_n), (low, high, n)) = (of(&was), of(&is));
            if old_n != n || (verdicts_move && name != "stop_rate") {
                continue;
            }
            assert!(
                low.unwrap_or(f64::NEG_INFINITY) <= old_low.unwrap_or(f64::NEG_INFINITY) + 1e-6,
                "{name}: {old_cells:?} {new_cells:?}"
            );
            assert!(
                high.unwrap_or(f64::INFINITY) >= old_high.unwrap_or(f64::INFINITY) - 1e-6,
                "{name}: {old_cells:?} {new_cells:?}"
            );
        }
        let of_all = |get: &dyn Fn(&str) -> Option<f64>| (get("fes_rate_all_min"), get("fes_rate_all_max"));
        let ((old_low, old_high), (low, high)) = (of_all(&was), of_all(&is));
        if !verdicts_move {
            assert!(low.zip(old_low).is_none_or(|(new, old)| new <= old + 1e-6), "{old_cells:?} {new_cells:?}");
        }
        assert!(high.zip(old_high).is_none_or(|(new, old)| new >= old - 1e-6), "{old_cells:?} {new_cells:?}");
    }
}

fn check_gates(before: &[Row], after: &[Row]) {
    let [before, after]: [Rows; 2] = [before, after].map(|rows| rows.iter().cloned().collect());
    let stacks: Vec<String> = by_stack(&before).iter().map(|group| group.stack.to_string()).collect();
    let [old, new] = [&before, &after].map(|rows| table::summary(&summarise(&by_stack(rows), None)));
    for text in
        ["fes_rate_high>0.9", "fes_rate>0.9", "stops>10000", "tokens_useful_saved_ratio<-9", "stop_recall<0.0001"]
    {
        let gate = Gate::parse(text, &table::summary_columns(), &stacks).unwrap();
        let n = format!("{}_n", text.split(['<', '>']).next().unwrap().trim_end_matches("_high"));
        let (was, is) = (gate.hold(&before, MIN_KNOWN), gate.hold(&after, MIN_KNOWN));
        for ((was, is), (old_cells, new_cells)) in was.iter().zip(&is).zip(old.rows.iter().zip(&new.rows)) {
            // A run that loses its grade leaves the rate, and takes with it what was open about it.
            if line(&old.columns, old_cells, &n) != line(&new.columns, new_cells, &n) {
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
