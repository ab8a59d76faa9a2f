//! Parquet files of others: the collections in `../shared/parquet`, made and counted by a script that knows nothing of
//! this reader, are read as `expected.json` says.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    reason = "tests: stop loudly, skip loudly, and never hang"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use whenstop_core::transcript::{Outcome, Run};
use whenstop_readers::reader::{Corpus, CorpusReport, Detail, ReadOptions};

/// The collections, where they are at hand.
fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/parquet");
    let there = folder.join("expected.json").is_file();
    if !there {
        println!("skipped: ../shared/parquet is not here");
    }
    there.then_some(folder)
}

fn read(paths: &[PathBuf]) -> (Vec<Run>, CorpusReport) {
    let options = ReadOptions { detail: Detail::Counts, ..ReadOptions::default() };
    Corpus::open(paths, options).unwrap().runs().unwrap()
}

/// What a run came to, as `expected.json` spells it.
fn counted(run: &Run) -> [u64; 2] {
    let replies = run.events().iter().filter_map(|event| event.message()).filter(|message| message.is_step());
    [run.steps().len() as u64, replies.map(|reply| reply.tool_calls.len() as u64).sum()]
}

fn outcome(run: &Run) -> &'static str {
    match run.grade.outcome {
        Outcome::Success => "success",
        Outcome::Failure => "failure",
        Outcome::Unknown => "unlabelled",
    }
}

/// Input and output tokens: of the calls, or those that the row states for the whole run.
fn tokens(run: &Run) -> Value {
    let totals: Value =
        run.header.meta.as_ref().and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default();
    let stated = |name: &str| totals["run_totals"][name].as_f64();
    if let (Some(input), Some(output)) = (stated("input_tokens"), stated("output_tokens")) {
        return serde_json::json!({"input": input.round() as u64, "output": output.round() as u64});
    }
    if let Some(total) = stated("total_tokens") {
        return serde_json::json!({"total": total.round() as u64});
    }
    let usages = run.events().iter().filter_map(|event| event.message()?.usage());
    let (mut input, mut output, mut any) = (0, 0, false);
    for usage in usages {
        input += usage.input.unwrap_or(0);
        output += usage.output.unwrap_or(0);
        any = true;
    }
    if any { serde_json::json!({"input": input, "output": output}) } else { Value::Null }
}

/// Tables with runs whose calls are written in the texts of replies, and the number of all calls; `expected.json` counts
/// calls in fields of their own alone. In the last, two runs are of that kind, with 12 and 11 actions.
const IN_TEXTS: [(&str, u64); 4] = [
    ("nebius-swe-agent-train-00000-of-00012.parquet", 860),
    ("swe-smith-ticks-00000-of-00001.parquet", 579),
    ("swe-smith-xml-00000-of-00001.parquet", 521),
    ("open-swe-traces-sweagent-qwen35_122b.parquet", 552 + 12 + 11),
];

fn check(name: &str, runs: &[Run], expected: &Value) {
    let in_texts = IN_TEXTS.into_iter().find(|(file, _)| *file == name).map(|(_, calls)| calls);
    let number = |field: &str| expected[field].as_u64().unwrap_or(0);
    assert_eq!(runs.len() as u64, number("runs"), "{name}: runs");
    for (field, wanted) in [("success", "successes"), ("failure", "failures"), ("unlabelled", "unlabelled")] {
        let n = runs.iter().filter(|run| outcome(run) == field).count() as u64;
        assert_eq!(n, number(wanted), "{name}: {wanted}");
    }
    let [steps, calls] = runs.iter().map(counted).fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    assert_eq!(steps, number("assistant_steps"), "{name}: steps");
    assert_eq!(calls, in_texts.unwrap_or_else(|| number("tool_calls")), "{name}: calls");
    let tasks: BTreeSet<_> = runs.iter().map(|run| run.header.task_id.clone()).collect();
    assert_eq!(tasks.len() as u64, number("tasks"), "{name}: tasks");
    let by_id: BTreeMap<&str, &Run> = runs.iter().map(|run| (run.header.run_id.as_str(), run)).collect();
    for one in expected["per_run"].as_array().into_iter().flatten() {
        let id = one["id"].as_str().unwrap();
        let run = by_id.get(id).copied().or_else(|| {
            by_id
                .iter()
                .find(|(name, _)| id.starts_with("row ") && name.ends_with(&format!("/{id}")))
                .map(|(_, run)| *run)
        });
        let run = run.unwrap_or_else(|| panic!("{name}: no run {id}"));
        let [steps, calls] = counted(run);
        let has_none = one["tool_calls"] == 0;
        let calls = if in_texts.is_some() && has_none { 0 } else { calls };
        let found = serde_json::json!([outcome(run), run.header.task_id, steps, calls, tokens(run)]);
        let wanted =
            serde_json::json!([one["outcome"], one["task"], one["assistant_steps"], one["tool_calls"], one["tokens"]]);
        assert_eq!(found, wanted, "{name}: {id}");
    }
}

#[test]
fn collections_of_others_are_counted_as_their_makers_counted_them() {
    let Some(folder) = shared() else { return };
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    for (name, expected) in expected.as_object().unwrap() {
        if expected.get("per_run").is_some() && Path::new(name).extension().is_some_and(|ending| ending == "parquet") {
            let (runs, report) = read(&[folder.join(name)]);
            assert_eq!(report.unreadable, 0, "{name}: {:?}", report.findings);
            check(name, &runs, expected);
        }
    }
    let (runs, _) = read(&[folder.join("langfuse")]);
    check("langfuse", &runs, &expected["langfuse/ as one export"]);
}

#[test]
fn splits_that_overlap_are_read_once() {
    let Some(folder) = shared() else { return };
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    let splits = ["SWE_Rebench", "R2E_Gym", "filtered_reward1"];
    let paths = splits.map(|split| folder.join(format!("coderforge-{split}-00000-of-00001.parquet")));
    let (runs, report) = read(&paths);
    check("coderforge", &runs, &expected["coderforge-*.parquet, each trajectory_id once"]);
    let told = report.notices.iter().any(|notice| notice.diagnostic.what.contains("61 rows"));
    assert!(told, "{:?}", report.notices);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

#[test]
fn a_langfuse_export_is_one_run_a_trace_over_all_its_files() {
    let (runs, report) = read(&[fixtures().join("parquet/langfuse")]);
    let told: Vec<_> = runs
        .iter()
        .map(|run| {
            let texts: Vec<String> =
                run.events().iter().filter_map(|e| Some(e.message()?.text().into_owned())).collect();
            (run.header.run_id.as_str(), run.header.task_id.as_deref(), outcome(run), texts.join(" "), tokens(run))
        })
        .collect();
    let used = |input: u64, output: u64| serde_json::json!({"input": input, "output": output});
    // B and C name no task but the trace's; C was not scored, and the score `politeness` of A grades nothing.
    assert_eq!(
        told,
        [
            ("B", Some("n"), "failure", "Go. Hello.".to_owned(), used(10, 2)),
            ("A", Some("t1"), "success", "Go. One, corrected. Two.".to_owned(), used(20, 4)),
            ("C", Some("n"), "unlabelled", "Go. Alone.".to_owned(), used(10, 2)),
        ]
    );
    let reasons: Vec<&str> = report.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert!(
        reasons.len() == 2 && reasons[0].contains("read together with") && reasons[1].contains("scores"),
        "{reasons:?}"
    );
}

/// A fixed sequence of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// Damages a file as disks, networks and people do.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    match random.below(5) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            // The footer is where sizes, counts and offsets are.
            for _ in 0..=random.below(3) {
                let at = bytes.len() - 1 - random.below(bytes.len().min(2000));
                bytes[at] = u8::try_from(random.below(256)).unwrap();
            }
        }
        2 => {
            let (at, n) = (random.below(bytes.len()), random.below(64));
            bytes.iter_mut().skip(at).take(n).for_each(|byte| *byte = 0xff);
        }
        3 => {
            let (at, n) = (random.below(bytes.len()), random.below(200));
            bytes.drain(at..(at + n).min(whole.len()));
        }
        _ => {
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_cost_rows_and_never_a_panic_or_much_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(18);
    let tables = std::fs::read_dir(fixtures().join("readers/parquet")).unwrap().map(|entry| entry.unwrap().path());
    let exports = [fixtures().join("parquet/langfuse/observations_v2/2026-01-01.parquet")];
    let (mut read_well, mut told) = (0, 0);
    for path in tables.chain(exports).filter(|path| path.extension().is_some_and(|ending| ending == "parquet")) {
        let whole = std::fs::read(&path).unwrap();
        for n in 0..250 {
            let damaged = damaged(&whole, &mut random);
            let to = folder.path().join("damaged.parquet");
            std::fs::write(&to, &damaged).unwrap();
            let begun = std::time::Instant::now();
            let (runs, report) = read(std::slice::from_ref(&to));
            assert!(begun.elapsed() < Duration::from_secs(10), "{} number {n} takes long", path.display());
            read_well += u64::from(!runs.is_empty());
            let losses = report.findings.iter().chain(&report.notices).count() + report.skipped.len();
            told += u64::from(losses > 0);
            for finding in &report.findings {
                assert!(!finding.diagnostic.what.is_empty() && !finding.diagnostic.help.is_empty());
            }
        }
    }
    assert!(read_well > 250 && told > 300, "{read_well} {told}");
}

#[test]
fn truncated_files_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixtures().join("readers/parquet/good-list.parquet")).unwrap();
    let to = folder.path().join("cut.parquet");
    for keep in [4, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&to, &whole[..keep]).unwrap();
        let (runs, report) = read(std::slice::from_ref(&to));
        assert!(runs.is_empty() && report.unreadable == 1, "{keep}");
        let what = &report.findings[0].diagnostic.what;
        assert!(what.contains("not whole Parquet") || what.contains("footer"), "{what}");
    }
}
