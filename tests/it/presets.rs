//! The presets: golden cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use whenstop::catalog;
use whenstop::decision::Strategy;
use whenstop::framework::{FrameworkKind, Settings};
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::replay::replay;
use whenstop::transcript::{Fingerprint, Run};
use whenstop_dev::conformance::{self, TableFile};

use crate::golden::{self, show};

#[test]
fn presets_agree_with_our_own_cases() {
    let report = conformance::run(&golden::tables(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets")));
    assert!(report.all_agreed() && report.not_applicable.is_empty(), "{}", show(&report));
}

/// The runs of a corpus.
fn recordings(corpus: &str) -> Vec<Run> {
    let folder = crate::shared::folder("corpora");
    let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
    Corpus::open(&[folder.join(corpus)], options).unwrap().runs().unwrap().0
}

/// The benchmark's own rules, run over its own recordings, end every run where and why it ended. Nine ended at an empty
/// message as `agent_error`; the release that is reproduced raises an error there.
#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn tau2_bench_ends_its_own_recordings_as_they_ended() {
    let runs = recordings("tau2");
    let strategy = catalog::find("tau2-bench").unwrap().strategy(&Settings::named("tau2-bench")).unwrap();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for run in &runs {
        let replay = replay(run, &strategy);
        assert_eq!(replay.stop, None, "{} was not stopped early by its own harness", run.header.run_id);
        let code = replay.trail.last().and_then(|decision| decision.code.as_deref()).unwrap_or("none");
        *ends.entry(code.to_owned()).or_default() += 1;
    }
    let recorded =
        [("ValueError", 9), ("agent_stop", 40), ("max_steps", 10), ("too_many_errors", 3), ("user_stop", 432)];
    assert_eq!(ends, recorded.map(|(code, n)| (code.to_owned(), n)).into());
}

fn decides_in_order(run: &Run, strategy: &Arc<dyn Strategy>) {
    let trail = replay(run, strategy).trail;
    let rules = strategy.rules();
    for decision in &trail {
        assert!(decision.event.is_none_or(|event| event < run.events().len()), "{}", strategy.name());
        assert!(rules.contains(&decision.rule), "{}: {} is not among its rules", strategy.name(), decision.rule);
    }
    assert!(trail.is_sorted_by_key(|decision| decision.point), "{}: {trail:#?}", strategy.name());
}

/// Settings a person may write: found, refused with the nearest name, or refused by the framework.
#[test]
fn settings_go_by_the_frameworks_names() {
    let check = |preset: &str, set: &str, wanted: Result<(), &str>| {
        let settings = Settings { set: serde_json::from_str(set).unwrap(), ..Settings::default() };
        let built = catalog::find(preset).unwrap().strategy(&settings);
        assert_eq!(built.map(|_| ()).map_err(|error| error.to_string()), wanted.map_err(str::to_owned), "{set}");
    };
    check("roo-code", r#"{"consecutiveMistakeLimit": 5}"#, Ok(()));
    check("vercel-ai", r#"{"stopWhen": {"isStepCount": 5}}"#, Ok(()));
    check("cline", r#"{"execution": {"loopDetection": {"hardThreshold": 9}}}"#, Ok(()));
    check("roo-code", r#"{"consecutiveMistakesLimit": 5}"#, Err("unknown parameter `consecutiveMistakesLimit`"));
    check(
        "deerflow",
        r#"{"hard_limit": 0}"#,
        Err("the framework refuses this configuration: ValidationError: hard_limit must be greater than or equal to 1"),
    );
}

/// Every preset has a name of its own, a manual and a version, and runs at its defaults.
#[test]
fn every_preset_has_a_manual_and_runs_at_its_defaults() {
    let strategies = catalog::all(FrameworkKind::Preset);
    let names: BTreeSet<&str> = strategies.iter().map(|strategy| strategy.name()).collect();
    assert_eq!(names.len(), strategies.len(), "names are keys of tables");
    for preset in catalog::by_kind(FrameworkKind::Preset) {
        let of_it = |name: &&&str| **name == preset.id || name.starts_with(&format!("{} (", preset.id));
        assert!(names.iter().any(|name| of_it(&name)), "{} runs at its defaults", preset.id);
        assert!(preset.manual.len() > 200 && !preset.summary.is_empty(), "{}", preset.id);
        assert!(preset.version.chars().any(|c| c.is_ascii_digit()) && !preset.source.is_empty(), "{}", preset.id);
    }
}

/// Every preset, at its defaults and in every profile, runs on whatever was recorded.
#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn every_preset_runs_on_real_recordings_and_decides_in_order() {
    let strategies = catalog::all(FrameworkKind::Preset);
    let corpora = crate::shared::folder("corpora");
    for folder in ["tau2", "mini-swe-agent", "intercode", "tau-bench"] {
        let corpus = Corpus::open(&[corpora.join(folder)], ReadOptions::default()).unwrap();
        // One run in ten: the whole corpora are for `compare`.
        let checked = |run: Run| {
            let is_sampled = Fingerprint::from_text(&run.header.run_id).0.is_multiple_of(10);
            strategies.iter().filter(|_| is_sampled).for_each(|strategy| decides_in_order(&run, strategy));
            is_sampled
        };
        let mut n_runs = 0;
        corpus.process(checked, |is_sampled| n_runs += usize::from(is_sampled)).unwrap();
        assert!(n_runs > 0, "{folder}");
    }
}

/// The check can fail: a moved action, a missing one, a framework nobody knows.
#[test]
fn a_wrong_table_is_told_apart() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/presets/cline/boundary.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let check = |path: &str, text: String| conformance::run(&[TableFile { path: path.to_owned(), text }]);
    let right = check("cline/boundary.jsonl", text.clone());
    assert!(right.all_agreed(), "{}", show(&right));
    let moved = check("cline/boundary.jsonl", text.replace("\"at\": 9", "\"at\": 7"));
    assert_eq!(moved.disagreed.len(), 1, "{}", show(&moved));
    assert_eq!(moved.disagreed[0].field, "expected.actions[1].at");
    let unknown = check("nobody/boundary.jsonl", text);
    assert_eq!((unknown.cases, unknown.unknown_tables.len()), (0, 1));
}
