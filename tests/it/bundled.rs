//! The bundled recordings and the example stacks: made as their README says, true to their labels, and
//! telling what they are there to tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use whenstop::aggregate::{Firing, Firings, Row, RowView, Rows};
use whenstop::answers::RunEvidence;
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::framework::ConfigText;
use whenstop::reader::{Corpus, CorpusReport, ReadOptions, trace, trace_schema};
use whenstop::report::{Manifest, Publication};
use whenstop::snapshot::StopSnapshot;
use whenstop::stack::StackFile;
use whenstop::transcript::{EndCause, Outcome, Run};
use whenstop::verdict::{Assumptions, Verdict};
use whenstop_dev::synth::{Behaviour, Suite, Synthesis};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> (Vec<Run>, CorpusReport) {
    Corpus::open(&[path(name)], ReadOptions::default()).unwrap().runs().unwrap()
}

/// The stacks of `fixtures/stacks/example.toml`.
pub(crate) fn example() -> Strategies {
    let file =
        StackFile::parse("example.toml", &std::fs::read_to_string(path("fixtures/stacks/example.toml")).unwrap());
    let read_config = |name: &str| {
        let text = std::fs::read_to_string(path("fixtures/stacks").join(name)).unwrap();
        Ok(ConfigText { path: name.to_owned(), text })
    };
    catalog::strategies(&file.unwrap(), &read_config).unwrap()
}

/// A comparison of the example stacks.
fn compared(runs: &[Run]) -> (Publication, Vec<Row>) {
    let strategies = example();
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let (mut rows, mut firings): (Vec<Row>, Vec<Firing>) = Default::default();
    for run in runs {
        let (more_rows, more_firings) = comparison.rows_of(run);
        rows.extend(more_rows);
        firings.extend(more_firings);
    }
    let columns: Rows = rows.iter().cloned().collect();
    let firings = firings.into_iter().collect();
    let evidence = RunEvidence { rows: columns, firings, ..RunEvidence::default() };
    (Publication::new(evidence, Manifest::new(comparison.infos().to_vec())), rows)
}

/// The behaviour a synthetic run plays.
pub(crate) fn behaviour(run: &Run) -> Behaviour {
    let meta: serde_json::Value = serde_json::from_str(run.header.meta.as_ref().unwrap().get()).unwrap();
    meta["behaviour"].as_str().unwrap().parse().unwrap()
}

#[test]
fn the_bundled_recordings_are_read_whole_and_written_back_as_they_are() {
    let (runs, report) = read("traces");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(runs.len() >= 240, "{} runs", runs.len());
    for suite in Suite::ALL {
        let mut written = Vec::new();
        for run in runs.iter().filter(|run| run.header.suite.as_deref() == Some(suite.name())) {
            trace::write(run, &mut written).unwrap();
        }
        assert!(written == std::fs::read(path(&format!("traces/synthetic/{suite}.jsonl"))).unwrap(), "{suite}");
    }
}

/// All files under a folder with this ending, in path order.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![path(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == ending) {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_line_of_the_bundled_recordings_and_fixtures_meets_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(trace_schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for file in [files("traces", "jsonl"), files("fixtures/signals", "jsonl")].concat() {
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let error = validator.validate(&line).err();
            assert!(error.is_none(), "{}:{}: {error:?}", file.display(), number + 1);
        }
    }
}

#[test]
fn every_behaviour_is_there_and_ends_as_it_says() {
    let (runs, _) = read("traces/synthetic");
    let mut seen: BTreeMap<Behaviour, usize> = BTreeMap::new();
    for run in &runs {
        let behaviour = behaviour(run);
        *seen.entry(behaviour).or_default() += 1;
        if let Some(succeeds) = behaviour.succeeds() {
            assert_eq!(run.grade.outcome.grade(), Some(succeeds), "{}", run.header.run_id);
        }
        let unlabelled = behaviour == Behaviour::Unlabelled;
        assert_eq!(run.grade.outcome == Outcome::Unknown, unlabelled, "{}", run.header.run_id);
        assert_ne!(run.grade.end, EndCause::Unknown, "{}", run.header.run_id);
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), Behaviour::ALL, "a behaviour is missing");
}

#[test]
fn more_runs_do_not_change_the_first_ones_and_trials_are_alike() {
    let few = Synthesis::new(Suite::Code, 3);
    let text = |run: &Run| {
        let mut written = Vec::new();
        trace::write(run, &mut written).unwrap();
        String::from_utf8(written).unwrap()
    };
    let first: Vec<String> = few.runs(6).map(|run| text(&run)).collect();
    assert_eq!(few.runs(9).take(6).map(|run| text(&run)).collect::<Vec<_>>(), first);
    let only = Synthesis { kinds: vec![Behaviour::Polling], ..few };
    assert!(only.runs(5).all(|run| behaviour(&run) == Behaviour::Polling));

    let runs: Vec<Run> = Synthesis::new(Suite::Service, 3).runs(400).collect();
    let alike = |apart: usize| {
        let pairs = runs.iter().zip(&runs[apart..]).step_by(4);
        pairs.filter(|(one, other)| behaviour(one) == behaviour(other)).count()
    };
    assert!(alike(1) > 2 * alike(4), "trials of a task: {}, of different tasks: {}", alike(1), alike(4));
}

#[test]
fn each_hand_written_run_has_the_verdict_its_file_is_named_for() {
    for verdict in Verdict::ALL {
        let (runs, _) = read(&format!("traces/verdicts/{verdict}.jsonl"));
        let (_, rows) = compared(&runs);
        let row = rows.iter().find(|row| &*row.stack == "same-call").unwrap();
        assert_eq!(row.verdict, verdict);
    }
}

#[test]
fn rows_and_firings_come_back_from_their_columns() {
    let (runs, _) = read("traces");
    let strategies = example();
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let (rows, firings): (Vec<Vec<Row>>, Vec<Vec<Firing>>) = runs.iter().map(|run| comparison.rows_of(run)).unzip();
    let (rows, firings) = (rows.concat(), firings.concat());
    let columns: Rows = rows.iter().cloned().collect();
    assert_eq!(columns.iter().map(RowView::to_row).collect::<Vec<_>>(), rows);
    // In another order runs are met again and again.
    let mut shuffled = rows;
    shuffled.sort_by(|a, b| (&a.stack, &a.rule, &a.run_id).cmp(&(&b.stack, &b.rule, &b.run_id)));
    let columns: Rows = shuffled.iter().cloned().collect();
    assert_eq!(columns.iter().map(RowView::to_row).collect::<Vec<_>>(), shuffled);
    let columns: Firings = firings.iter().cloned().collect();
    assert_eq!(columns.iter().collect::<Vec<_>>(), firings);
    assert!(shuffled.len() > 3000 && firings.len() > 500, "{} rows, {} firings", shuffled.len(), firings.len());
}

#[test]
fn stop_points_of_the_example_on_the_hand_written_runs() {
    let (runs, _) = read("traces/verdicts");
    insta::assert_snapshot!(StopSnapshot::from_rows(&compared(&runs).1.into_iter().collect()).to_text());
}

#[test]
fn overview_of_the_example_on_all_bundled_runs() {
    let (runs, _) = read("traces");
    let (publication, _) = compared(&runs);
    let overview = publication.overview().to_markdown();
    insta::assert_snapshot!(format!("{}\n\n{overview}", publication.headline_words()));
}

#[test]
fn the_example_stacks_stop_what_they_are_written_for() {
    let (runs, _) = read("traces/synthetic");
    let (_, rows) = compared(&runs);
    let by_id: BTreeMap<&str, Behaviour> =
        runs.iter().map(|run| (run.header.run_id.as_str(), behaviour(run))).collect();
    let verdicts = |stack: &str, behaviour: Behaviour| -> BTreeSet<Verdict> {
        let chosen = rows.iter().filter(|row| &*row.stack == stack && by_id[&*row.run_id] == behaviour);
        chosen.map(|row| row.verdict).collect()
    };
    let only = |verdict: Verdict| BTreeSet::from([verdict]);
    let (caught, missed, clean) = (only(Verdict::TrueStop), only(Verdict::MissedStop), only(Verdict::CleanPass));
    for (stack, behaviour, expected) in [
        ("same-call", Behaviour::LoopSame, &caught),
        ("same-call", Behaviour::LoopChanging, &caught),
        ("same-call", Behaviour::LoopAlternating, &missed),
        ("same-call-and-result", Behaviour::LoopSame, &caught),
        ("same-call-and-result", Behaviour::LoopChanging, &missed),
        ("errors", Behaviour::ErrorsFatal, &caught),
        ("mixed", Behaviour::LoopAlternating, &caught),
        ("mixed", Behaviour::LoopThree, &caught),
        ("mixed", Behaviour::WrongAnswer, &missed),
        ("openhands", Behaviour::LoopAlternating, &caught),
    ] {
        assert_eq!(&verdicts(stack, behaviour), expected, "{stack} on {behaviour}");
    }
    for stack in ["loose-budget", "same-call", "same-call-and-result", "errors", "mixed", "openhands"] {
        assert_eq!(verdicts(stack, Behaviour::Healthy), clean, "{stack} on healthy runs");
    }
}
