//! Every signal on every fixture; names agree everywhere; and what holds of all rules on generated runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use whenstop::catalog;
use whenstop::compare::Comparison;
use whenstop::decision::{Decision, Strategy as StopStrategy};
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::replay::{replay, replay_seen, trail};
use whenstop::rule::{Comparator, Condition, Rule};
use whenstop::signal::{self, REGISTRY};
use whenstop::snapshot::StopSnapshot;
use whenstop::stack::{Cap, Clause, Entry, OnHit, Scope, Stack, StackFile};
use whenstop::transcript::{Draft, EndCause, Moment, Point, Run};
use whenstop::verdict::Assumptions;
use whenstop_dev::synth::{Suite, Synthesis};

use super::bundled;

/// For each signal a clause that is sensible at the size of its fixtures: healthy runs stay clear of it.
const LIMITS: &[(&str, &str)] = &[
    ("steps", "signal = \"steps\", at_least = 6"),
    ("rounds", "signal = \"rounds\", at_least = 4, at = \"end_of_round\""),
    ("messages", "signal = \"messages\", at_least = 10"),
    ("tool_calls", "signal = \"tool_calls\", at_least = 6"),
    ("tool_calls.recent", "signal = \"tool_calls.recent\", at_least = 6"),
    ("tokens.total", "signal = \"tokens.total\", at_least = 50_000"),
    ("tokens.input", "signal = \"tokens.input\", at_least = 40_000"),
    ("tokens.output", "signal = \"tokens.output\", at_least = 5_000"),
    ("tokens.uncached", "signal = \"tokens.uncached\", at_least = 20_000"),
    ("tokens.context", "signal = \"tokens.context\", at_least = 100_000"),
    ("context.growth", "signal = \"context.growth\", at_least = 10"),
    ("cost", "signal = \"cost\", at_least = 1.00"),
    ("active", "signal = \"active\", at_least = 60"),
    ("elapsed", "signal = \"elapsed\", at_least = 600"),
    ("idle", "signal = \"idle\", at_least = 120"),
    ("errors.streak", "signal = \"errors.streak\", at_least = 3"),
    ("errors.rounds", "signal = \"errors.rounds\", at_least = 3, at = \"end_of_round\""),
    ("errors.share", "signal = \"errors.share\", at_least = 0.6, window = 4"),
    ("errors.count", "signal = \"errors.count\", at_least = 3"),
    ("call.streak", "signal = \"call.streak\", at_least = 3"),
    ("call_result.streak", "signal = \"call_result.streak\", at_least = 3"),
    ("call.count", "signal = \"call.count\", at_least = 3"),
    ("call_result.count", "signal = \"call_result.count\", at_least = 3"),
    ("call.cycle", "signal = \"call.cycle\", at_least = 3"),
    ("call.repeated", "signal = \"call.repeated\", at_least = 0.6, window = 5"),
    ("result.streak", "signal = \"result.streak\", at_least = 3"),
    ("result.count", "signal = \"result.count\", at_least = 3"),
    ("novelty", "signal = \"novelty\", at_most = 0.2"),
    ("reply.streak", "signal = \"reply.streak\", at_least = 3"),
    ("reply.repeats", "signal = \"reply.repeats\", at_least = 3"),
    (
        "tool.share",
        "all = [{ signal = \"tool.share\", at_least = 0.8, window = 5 }, { signal = \"tool_calls\", at_least = 5 }]",
    ),
    ("no_text.streak", "signal = \"no_text.streak\", at_least = 4"),
    ("tool.named", "signal = \"tool.named\", tool = \"submit\""),
    ("text.match", "signal = \"text.match\", regex = '\\bDONE\\b'"),
    ("metric", "signal = \"metric\", metric = \"accuracy\", at_least = 0.9"),
    ("experiments.completed", "signal = \"experiments.completed\", at_least = 3"),
    ("compactions", "signal = \"compactions\", at_least = 3"),
];

/// The clause of `LIMITS` for a signal.
fn clause_of(id: &str) -> Clause {
    let (_, limit) = LIMITS.iter().find(|(signal, _)| *signal == id).unwrap_or_else(|| panic!("`{id}` has no limit"));
    let text = format!("[[stack]]\nname = \"{id}\"\nany = [{{ {limit} }}]");
    let mut entries = StackFile::parse(id, &text).unwrap().entries;
    let Some(Entry::Own(stack)) = entries.pop() else { panic!() };
    stack.clauses[0].clone()
}

/// The rule of that clause that watches the signal.
fn limit_of(id: &str) -> Rule {
    clause_of(id).condition.rules().into_iter().find(|rule| rule.signal.id == id).unwrap().clone()
}

fn stack_of(name: &str, rules: Vec<Rule>) -> Stack {
    let clauses = rules.into_iter().map(|rule| Clause::stop_on(Condition::Rule(Box::new(rule)))).collect();
    Stack { name: name.to_owned(), clauses, cap: None }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/signals")
}

/// All fixture runs, in the order of the registry and then by name.
fn fixture_runs() -> Vec<Run> {
    let folders = REGISTRY.iter().map(|info| fixtures().join(info.id));
    let runs = folders.flat_map(|folder| {
        let (runs, report) = Corpus::open(&[folder], ReadOptions::default()).unwrap().runs().unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        runs
    });
    runs.collect()
}

/// The highest reading of a rule's signal over a run.
fn highest(rule: &Rule, run: &Run) -> Option<f64> {
    let mut signal = rule.start();
    run.views().filter_map(|view| signal.observe(&view)).reduce(f64::max)
}

#[test]
fn every_signal_on_every_fixture() {
    let rules: Vec<Rule> = REGISTRY.iter().map(|info| limit_of(info.id)).collect();
    let parts: Vec<(&str, &str)> =
        REGISTRY.iter().map(|info| info.id.split_once('.').unwrap_or((info.id, ""))).collect();
    let width = |&(first, second): &(&str, &str)| first.len().max(second.len()).max(5);
    let mut matrix =
        String::from("highest reading of each signal, with the options of its limit in tests/it/signals.rs\n\n");
    let mut line = |label: &str, cells: Vec<String>| {
        let cells = cells.iter().zip(&parts).map(|(cell, part)| format!("{cell:>width$}", width = width(part)));
        let _ = writeln!(matrix, "{label:<38} {}", cells.collect::<Vec<_>>().join(" ").trim_end());
    };
    line("", parts.iter().map(|part| part.0.to_owned()).collect());
    line("", parts.iter().map(|part| part.1.to_owned()).collect());
    for run in fixture_runs() {
        let shown = |reading: f64| format!("{}", (reading * 100.0).round() / 100.0);
        let cells = rules.iter().map(|rule| highest(rule, &run).map_or_else(|| "-".to_owned(), shown));
        line(&run.header.run_id, cells.collect());
    }
    insta::assert_snapshot!(matrix);
}

#[test]
fn each_limit_on_its_own_fixtures() {
    let mut rows = Vec::new();
    for info in REGISTRY {
        let strategies: catalog::Strategies =
            vec![Arc::new(Stack { clauses: vec![clause_of(info.id)], ..stack_of("own limit", Vec::new()) })];
        let comparison = Comparison::new(&strategies, Assumptions::default());
        let own: Vec<Run> =
            fixture_runs().into_iter().filter(|run| run.header.run_id.starts_with(&format!("{}/", info.id))).collect();
        let of_signal: Vec<_> = own.iter().flat_map(|run| comparison.rows_of(run).0).collect();
        let healthy = of_signal.iter().find(|row| row.run_id.ends_with("/healthy"));
        let healthy = healthy.unwrap_or_else(|| panic!("`{}` has no healthy.jsonl", info.id));
        assert_eq!(healthy.stop_point, None, "`{}` fires on its healthy run", info.id);
        assert!(of_signal.iter().any(|row| row.stop_point.is_some()), "`{}` never fires on its fixtures", info.id);
        rows.extend(of_signal);
    }
    insta::assert_snapshot!(StopSnapshot::from_rows(&rows.into_iter().collect()).to_text());
}

#[test]
fn a_stack_decides_alike_at_the_moments_that_it_needs_and_at_all() {
    let generated = Suite::ALL.into_iter().flat_map(|suite| (0..6).map(move |nth| Synthesis::new(suite, 3).run(nth)));
    // Of every run also what was recorded before its last reply, so that a request is owed.
    let with_beginning = |run: Run| {
        let mut draft = run.to_draft();
        draft.events.truncate(run.steps().last().map_or(0, |last| last.reply));
        draft.grade.end = EndCause::Cap;
        [run, Run::new(draft)]
    };
    let runs: Vec<Run> = fixture_runs().into_iter().chain(generated).flat_map(with_beginning).collect();
    let mut n_stops = 0;
    for info in REGISTRY {
        for (limit, at) in [0.3, 1.0, 2.0, 1000.0].into_iter().flat_map(|limit| Moment::ALL.map(|at| (limit, at))) {
            let rule = Rule { limit, ..limit_of(info.id) };
            let clause = Clause { at, ..Clause::stop_on(Condition::Rule(Box::new(rule))) };
            let stack: Arc<Stack> = Arc::new(Stack { clauses: vec![clause], ..stack_of("one", Vec::new()) });
            for run in &runs {
                let needed = replay(run, &stack);
                n_stops += usize::from(needed.stop.is_some());
                assert_eq!(
                    needed,
                    replay_seen(run, &stack, |_, _| {}),
                    "{} {limit} {at} {}",
                    info.id,
                    run.header.run_id
                );
            }
        }
    }
    assert!(n_stops > 5000, "{n_stops}");
}

#[test]
fn a_reading_of_n_takes_n_steps_where_the_signal_says_so() {
    let generated = Suite::ALL.into_iter().flat_map(|suite| (0..10).map(move |nth| Synthesis::new(suite, 1).run(nth)));
    let mut n_firings = 0;
    for run in fixture_runs().into_iter().chain(generated) {
        for info in REGISTRY.iter().filter(|info| info.takes_steps) {
            for n in 2..=6_u8 {
                let rule = Rule { limit: n.into(), comparator: Comparator::AtLeast, ..limit_of(info.id) };
                let trail = trail(&run, &Arc::new(stack_of("one", vec![rule])));
                let Some(stop) = ending(&trail) else { continue };
                n_firings += 1;
                assert!(stop.point.step + 1 >= n.into(), "{} {n} on {}: {}", info.id, run.header.run_id, stop.point);
            }
        }
    }
    assert!(n_firings > 100, "{n_firings} firings");
}

#[test]
fn a_fixture_is_named_for_its_file() {
    for info in REGISTRY {
        let folder = fixtures().join(info.id);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for file in files {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(&format!("\"run_id\":\"{}/{stem}\"", info.id)), "{}", file.display());
        }
    }
}

/// Words of a name in snake case, dotted or camel case, sorted.
fn words(name: &str) -> Vec<String> {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    let mut words: Vec<String> = snake.split(['_', '.']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.sort();
    words
}

#[test]
fn ids_files_types_and_fixture_folders_agree() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/core/src/signal");
    let mut registered = BTreeSet::new();
    for info in REGISTRY {
        let file = format!("{}.rs", info.id.replace('.', "_"));
        let text =
            std::fs::read_to_string(sources.join(&file)).unwrap_or_else(|_| panic!("crates/core/src/signal/{file}"));
        assert!(text.contains(&format!("const ID: &'static str = \"{}\";", info.id)), "{file}");
        let name = text.split_once("impl Registered for ").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0;
        assert_eq!(words(name), words(info.id), "{file}");
        assert!(text.contains(&format!("pub struct {name}")), "{file}");
        registered.insert(file);
    }
    let mut written = BTreeSet::new();
    for entry in std::fs::read_dir(sources).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && std::fs::read_to_string(&path).unwrap().contains("impl Registered for ") {
            written.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(written, registered, "a signal is left out of the list");
    let folders = std::fs::read_dir(fixtures()).unwrap();
    let folders: BTreeSet<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(folders, REGISTRY.iter().map(|info| info.id.to_owned()).collect());
    assert_eq!(LIMITS.iter().map(|(id, _)| *id).collect::<Vec<_>>(), REGISTRY.iter().map(|i| i.id).collect::<Vec<_>>());
}

#[test]
fn every_manual_page_says_when_it_fires_too_early_and_when_never() {
    for info in REGISTRY {
        let manual = info.manual();
        for heading in ["## Fires too early when\n", "## Never fires when\n"] {
            let (_, text) = manual.split_once(heading).unwrap_or_else(|| panic!("`{}` lacks {heading:?}", info.id));
            assert!(text.lines().next().is_some_and(|line| !line.trim().is_empty()), "`{}`: {heading:?}", info.id);
        }
        for field in [info.summary, info.unit, info.source] {
            assert!(!field.is_empty(), "{}", info.id);
        }
        assert!(manual.contains("Unit: "), "{}", info.id);
    }
}

/// Any generated run.
fn any_run() -> impl Strategy<Value = Run> {
    (0..3_usize, 0..1_000_u64, 0..40_usize)
        .prop_map(|(suite, seed, index)| Synthesis::new(Suite::ALL[suite], seed).run(index))
}

/// A few plain rules with limits of all sizes, and perhaps a cap.
fn any_stack() -> impl Strategy<Value = Arc<Stack>> {
    let scale = prop_oneof![1.0..6.0, 5.0..50.0, 1_000.0..400_000.0_f64];
    let rules = prop::collection::vec((0..REGISTRY.len(), scale), 1..5);
    (rules, prop::option::of(1..30_u32)).prop_map(|(rules, cap)| {
        let rules = rules.into_iter().map(|(signal, limit)| Rule { limit, ..limit_of(REGISTRY[signal].id) });
        let cap = cap.map(|steps| Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run });
        Arc::new(Stack { cap, ..stack_of("any", rules.collect()) })
    })
}

/// The decision at which a strategy ends the run.
fn ending(trail: &[Decision]) -> Option<&Decision> {
    trail.iter().find(|decision| decision.action.is_terminal())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lower_limit_never_stops_later(run in any_run(), factor in 0.05..1.0_f64) {
        for info in REGISTRY {
            let rule = limit_of(info.id);
            let high = highest(&rule, &run).unwrap_or(1.0);
            let firing = |limit: f64| {
                let rule = Rule { limit, comparator: Comparator::AtLeast, ..limit_of(info.id) };
                ending(&trail(&run, &Arc::new(stack_of("one", vec![rule])))).map(|decision| decision.point)
            };
            let (lower, higher) = (firing(high * factor), firing(high));
            prop_assert!(higher.is_none() || lower.is_some_and(|lower| lower <= higher.unwrap()), "{}", info.id);
        }
    }

    #[test]
    fn first_firings_tell_what_the_fold_does(run in any_run(), stack in any_stack()) {
        let examples = bundled::example();
        let own = examples.iter().cloned().chain([Arc::clone(&stack) as Arc<dyn StopStrategy>]);
        for strategy in own {
            let Some(firings) = replay(&run, &strategy).first_firings else { continue };
            let rules = strategy.rules();
            let first = firings.into_iter().zip(&rules).filter_map(|(firing, rule)| Some((firing?, rule)));
            let first = first.reduce(|best, next| if next.0.0 < best.0.0 { next } else { best });
            let trail = trail(&run, &strategy);
            let told = first.map(|((point, evidence), rule)| (point, rule, evidence));
            prop_assert_eq!(told, ending(&trail).map(|d| (d.point, &d.rule, d.evidence)), "{}", strategy.name());
        }
        // Each rule acts where a stack of it alone does.
        if let Some(firings) = replay(&run, &stack).first_firings {
            let clauses = stack.clauses.iter().map(|clause| (vec![clause.clone()], None));
            let alone = clauses.chain(stack.cap.iter().map(|cap| (Vec::new(), Some(cap.clone()))));
            for (firing, (clauses, cap)) in firings.into_iter().zip(alone) {
                let trail = trail(&run, &Arc::new(Stack { name: "alone".into(), clauses, cap }));
                prop_assert_eq!(firing, ending(&trail).map(|d| (d.point, d.evidence)));
            }
        }
    }

    #[test]
    fn what_comes_later_never_changes_an_earlier_decision(run in any_run(), stack in any_stack(), cut in 0..1_000_usize) {
        let step = cut % run.steps().len();
        let cut = Draft {
            header: run.header.clone(),
            events: run.events()[..run.steps()[step].end].to_vec(),
            grade: run.grade.clone(),
            warnings: Vec::new(),
        };
        let (cut, last) = (Run::new(cut), Point::new(step, Moment::EndOfRound));
        let mut all: catalog::Strategies = vec![stack];
        all.extend(bundled::example());
        all.extend(catalog::all(FrameworkKind::System));
        all.extend(catalog::all(FrameworkKind::Preset));
        for strategy in &all {
            let until = |run: &Run| -> Vec<Decision> {
                trail(run, strategy).into_iter().filter(|decision| decision.point <= last).collect()
            };
            prop_assert_eq!(until(&cut), until(&run), "{} {}", strategy.name(), strategy.profile());
        }
    }
}

#[test]
fn a_registered_signal_is_found_by_its_id_and_by_no_other() {
    let ids: BTreeMap<&str, usize> = REGISTRY.iter().map(|info| (info.id, 1)).collect();
    assert_eq!(ids.len(), REGISTRY.len(), "two signals of one name");
    assert!(REGISTRY.iter().all(|info| signal::find(info.id).is_some_and(|found| found.id == info.id)));
    assert!(signal::find("steps ").is_none());
}
