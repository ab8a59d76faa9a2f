//! The seed systems: golden cases and the bundled text benchmark.

use std::path::Path;

use whenstop::catalog;
use whenstop::framework::{ConfigText, Settings};
use whenstop::reader::{Corpus, ReadOptions, unpacked_text};
use whenstop::replay::replay;
use whenstop::system::benchmark;
use whenstop::system::mira::plan::MetricsScope;
use whenstop::system::mira::rules::{MiraProfile, MiraRules, Replan};
use whenstop::transcript::{Draft, Event, Grade, Message, Outcome, Role, Run};
use whenstop_dev::conformance;

use crate::golden;

/// The folder of bundled cases and native configurations of a system.
fn bundled(system: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/systems").join(system)
}

#[test]
fn bundled_cases_agree() {
    for system in ["mira", "agentica", "adaptive", "awaken", "agentao"] {
        let report = conformance::run(&golden::tables(&bundled(system)));
        assert!(report.all_agreed(), "{}", golden::show(&report));
    }
}

#[test]
fn a_stop_that_throws_the_final_answer_away_counts_and_is_flagged() {
    let answer = Event::Message(Message::saying(Role::Assistant, "the answer"));
    let grade = Grade { outcome: Outcome::Success, ..Grade::default() };
    let run = Run::new(Draft { events: vec![answer], grade, ..Draft::default() });
    let awaken = |profile: &str| {
        let set = serde_json::Map::from_iter([("max_rounds".to_owned(), 1.into())]);
        let settings = Settings { profile: Some(profile.to_owned()), set, ..Settings::named("awaken") };
        catalog::find("awaken").unwrap().strategy(&settings).unwrap()
    };
    let dropped = replay(&run, &awaken("published-0.6")).stop;
    assert!(dropped.is_some_and(|stop| stop.drops_reply));
    assert_eq!(replay(&run, &awaken("documented")).stop, None);
}

/// The stop of agentica's goal loop on a session its own log recorded: step and code.
fn stop_on_session(log: &Path, profile: &str, config: &str) -> String {
    let corpus = Corpus::open(&[log.to_path_buf()], ReadOptions::default()).unwrap();
    let (runs, _) = corpus.runs().unwrap();
    let settings = Settings {
        profile: Some(profile.to_owned()),
        config: Some(ConfigText { path: "goal.toml".to_owned(), text: config.to_owned() }),
        ..Settings::named("agentica")
    };
    let strategy = catalog::find("agentica").unwrap().strategy(&settings).unwrap();
    let last = replay(&runs[0], &strategy).trail.pop();
    last.map_or("nothing said".to_owned(), |said| format!("{} {}", said.point, said.code.unwrap_or_default()))
}

#[test]
fn a_recorded_session_carries_its_own_verdicts_and_spending() {
    let log = bundled("agentica").join("session_log.jsonl");
    assert_eq!(stop_on_session(&log, "published-1.4", ""), "2:end_of_round complete");
    assert_eq!(stop_on_session(&log, "published-1.4", "token_budget = 500"), "1:end_of_round budget_limited:budget");
    assert_eq!(stop_on_session(&log, "published-1.4", "turn_budget = 1"), "1:end_of_round budget_limited:budget");
    assert_eq!(stop_on_session(&log, "published-1.5", "turn_budget = 1"), "2:end_of_round budget_limited:budget");
    let log = golden::path("systems/agentica/session_log_1.4.6.jsonl.gz");
    // The second turn's judge could not be read, which lets the turn cap pass.
    assert_eq!(stop_on_session(&log, "published-1.4", "turn_budget = 2"), "5:end_of_round complete");
    assert_eq!(stop_on_session(&log, "published-1.4", "token_budget = 2100"), "3:end_of_round budget_limited:budget");
}

#[test]
fn native_configurations_are_read_in_every_profile() {
    let files = [
        ("mira", "automation-policy.json", 7),
        ("mira", "project.json", 4),
        ("adaptive", "config.yaml", 3),
        ("awaken", "stop-conditions.json", 8),
        ("agentao", "cap.toml", 1),
        ("agentao", "cap.json", 1),
        ("agentica", "goal.toml", 6),
        ("agentica", "goal.json", 3),
    ];
    for (id, file, fewest_rules) in files {
        let text = std::fs::read_to_string(bundled(id).join(file)).unwrap();
        let system = catalog::find(id).unwrap();
        for profile in system.profile_names() {
            let settings = Settings {
                profile: Some(profile.to_owned()),
                config: Some(ConfigText { path: file.to_owned(), text: text.clone() }),
                ..Settings::named(id)
            };
            let strategy = system.strategy(&settings).unwrap();
            assert_eq!((strategy.name(), strategy.profile()), (id, profile));
            assert!(strategy.rules().len() >= fewest_rules, "{id} {profile} {file}: {:?}", strategy.rules());
            let known: Vec<_> = strategy.rules();
            assert!(strategy.requirements().iter().all(|need| known.contains(&need.rule)), "{id} {profile}");
        }
    }
}

/// The cases of one mira table.
fn mira_cases(table: &str) -> Vec<serde_json::Value> {
    golden::cases(&format!("systems/mira/{table}"))
}

#[test]
fn mira_answers_for_its_other_releases_too() {
    let tables = [
        ("user_input_request", "match"),
        ("failure_response", "match"),
        ("provider_error", "match"),
        ("replan", "replan"),
    ];
    // What the repository had before 0.3: as 0.2.0, but an empty queue is filled again within the budget.
    let before = MiraRules { replan: Replan::WithinBudget, ..MiraRules::from_profile(MiraProfile::Published020) };
    let releases = [("v0_2", before), ("later", MiraRules::from_profile(MiraProfile::Published050))];
    for ((table, field), (key, rules)) in tables.into_iter().flat_map(|t| releases.map(|r| (t, r))) {
        for case in mira_cases(table) {
            let answer = conformance::mira_answer(rules, table, &case["input"]).unwrap();
            assert_eq!(answer[field], case["also"][key], "{table} {} {key}", case["id"]);
        }
    }
}

#[test]
fn mira_knows_the_reason_of_the_documented_order() {
    let documented = MiraRules::from_profile(MiraProfile::Documented);
    let rules = MiraRules { metrics: MetricsScope::Merged, ..documented };
    for case in mira_cases("round_decision") {
        let answer = conformance::mira_answer(rules, "round_decision", &case["input"]).unwrap();
        assert_eq!(answer["stop_reason"], case["by_documented_order"]["stop_reason"], "{}", case["id"]);
    }
}

/// Precision and recall of each test on a labelled table, one line a test.
fn scores(scores: &[benchmark::Score]) -> String {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
    let line = |score: &benchmark::Score| {
        let (counts, question) = (score.counts, score.question.name());
        let shares = format!("precision {} recall {}", percent(counts.precision()), percent(counts.recall()));
        format!("{question}: {}: n {} {shares}", score.test, counts.n())
    };
    scores.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn text_tests_score_on_the_bundled_texts() {
    insta::assert_snapshot!(scores(&benchmark::score_bundled()));
}

#[test]
fn text_tests_score_on_the_golden_texts() {
    for table in ["user_input_request", "failure_response"] {
        let text = unpacked_text(&golden::path(&format!("systems/mira/{table}.jsonl.gz"))).unwrap();
        let found = benchmark::score(&text);
        eprintln!("{}", scores(&found));
        assert!(found.len() >= 4 && found.iter().all(|score| score.counts.n() > 60), "{table}");
    }
}
