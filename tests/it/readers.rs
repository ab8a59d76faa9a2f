//! Every format: good traces, broken traces, and the real corpora.
//!
//! Each file of `fixtures/readers/<format>/` is read by itself, and what came out is held against the
//! snapshot beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use whenstop::reader::{self, Corpus, CorpusReport, ReadError, ReadOptions};
use whenstop::transcript::{Event, Lane, Message, Point, Run, Text, ToolCall};

use crate::shared;

fn read(paths: &[PathBuf]) -> (Vec<Run>, CorpusReport) {
    Corpus::open(paths, ReadOptions::default()).unwrap().runs().unwrap()
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers")
}

/// Files of a fixture folder that are inputs, in order; `reports/` and labels belong to them.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.is_file()
                && path.extension().is_none_or(|ending| ending != "snap" && ending != "new" && ending != "csv")
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_fixture_reads_as_its_snapshot_says() {
    for folder in std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()) {
        let inputs = inputs(&folder);
        assert!(!inputs.is_empty(), "{} holds no input", folder.display());
        for input in inputs {
            let (runs, report) = read(std::slice::from_ref(&input));
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(&folder);
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            let name = input.file_name().unwrap().to_string_lossy().into_owned();
            settings.bind(|| insta::assert_snapshot!(name, outline(&runs, &report, &folder)));
        }
    }
}

#[test]
fn every_format_has_a_fixture_folder_and_recognises_its_good_files() {
    for format in reader::FORMATS {
        let folder = fixtures().join(format.id());
        let good: Vec<PathBuf> = inputs(&folder)
            .into_iter()
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("good"))
            .collect();
        let named_otherwise = format.id() == "intercode";
        assert!(!good.is_empty() || named_otherwise, "{} has no good fixture", format.id());
        for file in inputs(&folder) {
            let (_, report) = read(std::slice::from_ref(&file));
            assert_eq!(report.files.first().map(|read| read.format.as_str()), Some(format.id()), "{}", file.display());
        }
    }
}

/// What came out of a file, one line for each thing.
fn outline(runs: &[Run], report: &CorpusReport, folder: &Path) -> String {
    let mut out = String::new();
    for file in &report.files {
        writeln!(out, "{}: {}", file.format, file.why).unwrap();
    }
    for run in runs {
        let header = &run.header;
        let words = [
            ("task", &header.task_id),
            ("trial", &header.trial),
            ("suite", &header.suite),
            ("model", &header.model),
            ("agent", &header.agent),
        ];
        write!(out, "run {}", header.run_id).unwrap();
        for (name, word) in words.iter().filter_map(|(name, word)| Some((name, word.as_ref()?))) {
            write!(out, " {name}={word}").unwrap();
        }
        for (name, time) in [("from", header.started_at), ("to", header.ended_at)] {
            if let Some(time) = time {
                write!(out, " {name}={}", time.0).unwrap();
            }
        }
        let meta = header.meta.as_ref().map(|meta| format!(" meta={}", meta.get())).unwrap_or_default();
        writeln!(out, "{meta}").unwrap();
        for event in run.events() {
            writeln!(out, "  {}", event_line(event)).unwrap();
        }
        let points: Vec<String> = run.points().map(|point: Point| point.to_string()).collect();
        let grade = &run.grade;
        writeln!(
            out,
            "  = {} steps, {} points to {}; {} {} score {:?} end {} secured {:?} tokens {:?}",
            run.steps().len(),
            points.len(),
            points.last().map_or("-", String::as_str),
            grade.outcome,
            format!("{:?}", grade.source).replace(&format!("{}/", folder.display()), ""),
            grade.score,
            grade.end,
            run.secured(),
            reader::tokens(run).map(|tokens| tokens.0),
        )
        .unwrap();
    }
    for finding in &report.findings {
        let text = finding.diagnostic.render(finding.severity).replace(&format!("{}/", folder.display()), "");
        writeln!(out, "{text}").unwrap();
    }
    for (kind, n) in &report.unknown_kinds {
        writeln!(out, "unknown: {kind} x{n}").unwrap();
    }
    for skipped in &report.skipped {
        writeln!(out, "skipped: {}", skipped.reason).unwrap();
    }
    out
}

fn event_line(event: &Event) -> String {
    match event {
        Event::Message(message) => message_line(message),
        Event::Metrics(metrics) => {
            format!("metrics {:?} {:?} {:?}", metrics.experiment, metrics.status, metrics.values)
        }
        Event::Judge(judge) => {
            format!("judge {:?} {:?} {:?}", judge.reply, judge.error, judge.usage.and_then(|u| u.total()))
        }
        Event::Checkpoint(checkpoint) => format!("checkpoint {} {:?}", checkpoint.success, checkpoint.score),
        Event::Note(note) => format!("note {} {}", note.kind, note.body.get()),
    }
}

fn message_line(message: &Message) -> String {
    let mut line = message.role.name().to_owned();
    if message.lane != Lane::Main {
        write!(line, " {:?}", message.lane).unwrap();
    }
    let short = |text: &Text| {
        let text = text.as_str();
        if text.chars().count() > 60 {
            format!("{:?}…", text.chars().take(60).collect::<String>())
        } else {
            format!("{text:?}")
        }
    };
    if let Some(name) = &message.name {
        write!(line, " <{name}>").unwrap();
    }
    if let Some(content) = &message.content {
        write!(line, " {}", short(content)).unwrap();
    }
    if let Some(reasoning) = &message.reasoning {
        write!(line, " reasoning {}", short(reasoning)).unwrap();
    }
    for call in &message.tool_calls {
        write!(line, " call {}#{}({})", call.name, call.id.as_deref().unwrap_or("-"), call.arguments).unwrap();
    }
    if let Some(id) = &message.tool_call_id {
        write!(line, " answers {id}").unwrap();
    }
    if let Some(is_error) = message.is_error {
        line.push_str(if is_error { " failed" } else { " fine" });
    }
    if let Some(usage) = message.usage {
        let [input, read, written, output, reasoning] =
            [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning]
                .map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
        write!(line, " in {input} (read {read}, written {written}) out {output} (reasoning {reasoning})").unwrap();
    }
    if let Some(cost) = message.cost {
        write!(line, " ${}", cost.0).unwrap();
    }
    if let Some(ts) = message.ts {
        write!(line, " at {}", ts.0).unwrap();
    }
    for word in [&message.model, &message.finish_reason].into_iter().flatten() {
        write!(line, " {word}").unwrap();
    }
    if let Some(extra) = &message.extra {
        write!(line, " extra {}", extra.get()).unwrap();
    }
    line
}

#[test]
fn a_written_trace_reads_back_as_the_same_run() {
    for format in reader::FORMATS {
        for input in inputs(&fixtures().join(format.id())) {
            let (runs, _) = read(&[input]);
            for run in runs {
                assert_survives_writing(&run);
            }
        }
    }
}

fn assert_survives_writing(run: &Run) {
    let mut text = Vec::new();
    reader::trace::write(run, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let again = reader::trace::read_text(&text);
    assert_eq!(again.findings, [], "{text}");
    let [again] = &again.runs[..] else { panic!("not one run: {text}") };
    assert_eq!(run.steps(), again.steps(), "{text}");
    assert_eq!(run.points().collect::<Vec<_>>(), again.points().collect::<Vec<_>>());
    assert_eq!(run.secured(), again.secured());
    assert_eq!((run.grade.outcome, run.grade.end), (again.grade.outcome, again.grade.end));
    assert_eq!(run.events().len(), again.events().len());
    for (one, other) in run.events().iter().zip(again.events()) {
        assert_eq!(event_line(one), event_line(other));
        if let (Some(one), Some(other)) = (one.message(), other.message()) {
            assert_eq!(one.content_print(), other.content_print());
            let prints =
                |message: &Message| message.tool_calls.iter().map(ToolCall::canonical_print).collect::<Vec<_>>();
            assert_eq!(prints(one), prints(other));
        }
    }
}

#[test]
fn the_schema_accepts_good_lines_and_refuses_wrong_ones() {
    let schema: serde_json::Value = serde_json::from_str(reader::trace_schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (file, valid) in [("good.jsonl", true), ("bad-lines.jsonl", false)] {
        let text = std::fs::read_to_string(fixtures().join("trace").join(file)).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let refused: Vec<String> =
            lines.iter().filter(|line| !validator.is_valid(line)).map(ToString::to_string).collect();
        if valid {
            assert_eq!(refused, [] as [&str; 0]);
        } else {
            // Three lines are fine by themselves: a stray message, a run, and its first message.
            assert_eq!(refused.len(), lines.len() - 3, "{refused:#?}");
        }
    }
}

#[test]
fn real_corpora_agree_with_their_readme() {
    let Some(corpora) = shared::folder("corpora") else { return };
    // format, folder, runs, steps, successes, failures, runs with usage, tokens
    let cases = [
        ("tau2-sim", "tau2", 494, 6480, 295, 199, 330, None),
        ("intercode", "intercode", 2474, 11914, 1665, 809, 0, Some(0)),
        ("mini-swe-agent", "mini-swe-agent", 170, 6617, 132, 38, 170, Some(103_750_731)),
        ("tau-bench", "tau-bench", 200, 2454, 84, 116, 0, Some(0)),
    ];
    for (format, folder, runs, steps, successes, failures, with_usage, tokens) in cases {
        let (_, report) = read(&[corpora.join(folder)]);
        let counts = report.format(format).unwrap();
        assert_eq!(report.findings, [], "{format}");
        assert_eq!(
            (counts.runs, counts.steps, counts.successes, counts.failures, counts.with_usage),
            (runs, steps, successes, failures, with_usage),
            "{format}"
        );
        assert!(tokens.is_none_or(|tokens| tokens == counts.tokens), "{format}: {} tokens", counts.tokens);
    }
}

/// A corpus of one broken file between two good ones, and what is said about it.
#[test]
fn a_broken_file_gives_a_clear_message_and_loses_nothing_else() {
    let run = |id: &str| {
        format!(
            "{{\"type\":\"run\",\"run_id\":\"{id}\"}}\n{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}}\n"
        )
    };
    let good = run("g");
    let long_line = format!(
        "{}{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{}\"}}\n{}",
        run("before"),
        "y".repeat(100 << 20),
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"after\"}\n"
    );
    // name, bytes, runs of it, steps of them, a piece of what is said
    let cases: Vec<(&str, Vec<u8>, usize, usize, &str)> = vec![
        ("empty", Vec::new(), 0, 0, "empty"),
        ("blank", b"\n \n\r\n".to_vec(), 0, 0, "empty"),
        ("binary", (0..=255).cycle().take(4000).collect(), 0, 0, "not text"),
        ("prose", b"# Notes\nnothing here\n".to_vec(), 0, 0, "not JSON: it begins with `# Notes"),
        ("bom", [b"\xEF\xBB\xBF", run("bom").as_bytes()].concat(), 1, 1, ""),
        ("crlf", run("crlf").replace('\n', "\r\n").into_bytes(), 1, 1, ""),
        ("blank-lines", format!("\n\n{}\n\n", run("blanks").replace('\n', "\n\n")).into_bytes(), 1, 1, ""),
        ("cut", format!("{}{{\"type\":\"message\",\"role\":\"assi", run("cut")).into_bytes(), 1, 1, "cut.jsonl:3:"),
        ("garbage", format!("{}}}}}garbage\n{}", run("one"), run("two")).into_bytes(), 2, 2, "garbage.jsonl:3:1"),
        ("long", long_line.into_bytes(), 1, 2, "longer than 67108864 bytes"),
        (
            "surrogate",
            run("surrogate").replace("\"x\"", r#""half \ud83d!""#).into_bytes(),
            1,
            1,
            "half a surrogate pair",
        ),
        (
            "latin1",
            run("latin1")
                .replace('x', "caf\u{1}")
                .replace('\u{1}', "~")
                .into_bytes()
                .into_iter()
                .map(|b| if b == b'~' { 0xE9 } else { b })
                .collect(),
            1,
            1,
            "not UTF-8",
        ),
        (
            "types",
            run("types").replace("\"x\"", "\"x\",\"usage\":7,\"tool_calls\":\"none\"").into_bytes(),
            1,
            1,
            "`usage` should be an object, not `7`",
        ),
        (
            "nested",
            format!("{}{{\"type\":\"message\",\"role\":\"user\",\"content\":{}", run("nested"), "[".repeat(200_000))
                .into_bytes(),
            1,
            1,
            "nested.jsonl:3",
        ),
    ];
    for (name, bytes, n_runs, n_steps, said) in cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jsonl"), &good).unwrap();
        std::fs::write(folder.path().join(format!("{name}.jsonl")), bytes).unwrap();
        std::fs::write(folder.path().join("z.jsonl"), &good).unwrap();
        let (runs, report) = read(&[folder.path().to_path_buf()]);
        let of_it: Vec<&Run> =
            runs.iter().filter(|run| !run.header.run_id.contains('g') || run.header.run_id == "surrogate").collect();
        let others = runs.len() - of_it.len();
        assert_eq!((of_it.len(), others), (n_runs, 2), "{name}: {report:?}");
        assert_eq!(of_it.iter().map(|run| run.steps().len()).sum::<usize>(), n_steps, "{name}");
        let messages: Vec<String> = report
            .findings
            .iter()
            .filter(|finding| !finding.diagnostic.at.path.ends_with("z.jsonl"))
            .map(|finding| finding.diagnostic.render(finding.severity))
            .chain(report.skipped.iter().map(|skipped| skipped.reason.clone()))
            .collect();
        assert_eq!(messages.is_empty(), said.is_empty(), "{name}: {messages:?}");
        assert!(said.is_empty() || messages[0].contains(said), "{name}: {messages:?}");
    }
}

#[test]
fn the_same_for_any_number_of_threads() {
    let results: Vec<(Vec<String>, CorpusReport)> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let corpus = Corpus::open(&[fixtures()], ReadOptions::default()).unwrap();
                let mut ids = Vec::new();
                let report = corpus.process(|run| run.header.run_id, |id| ids.push(id)).unwrap();
                (ids, report)
            })
        })
        .collect();
    assert!(results[0].0.len() > 10);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn labels_join_by_run_id_and_must_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("r.jsonl"), "{\"type\":\"run\",\"run_id\":\"a\"}\n{\"type\":\"run\",\"run_id\":\"b\"}\n")
        .unwrap();
    std::fs::write(
        path("labels.csv"),
        "run_id,success,end,secured_step,score,task_id,colour\na,true,cap,2,0.5,t,red\nb,maybe,,,,,\n",
    )
    .unwrap();
    let (runs, report) = read(&[folder.path().to_path_buf()]);
    let grade = &runs[0].grade;
    assert_eq!(
        (grade.outcome.name(), grade.end.name(), grade.secured_step, grade.score),
        ("success", "cap", Some(2), Some(0.5))
    );
    assert_eq!(runs[0].header.task_id.as_deref(), Some("t"));
    assert_eq!(runs[1].grade.outcome.name(), "unknown");
    let said: Vec<&str> = report.findings.iter().map(|finding| finding.diagnostic.what.as_str()).collect();
    assert_eq!(said, ["unknown column `colour`", "`maybe` is no value of `success`"]);

    std::fs::write(path("labels.csv"), "run_id,success\nnobody,true\n").unwrap();
    let open = |options| Corpus::open(&[folder.path().to_path_buf()], options).unwrap().runs();
    assert!(matches!(open(ReadOptions::default()), Err(ReadError::UnmatchedLabels { others: 0, .. })));
    assert!(open(ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() }).is_ok());
}

#[test]
fn options_force_a_format_and_end_at_the_first_loss() {
    let bad = fixtures().join("trace/bad-lines.jsonl");
    let open = |options| Corpus::open(std::slice::from_ref(&bad), options);
    let strict = open(ReadOptions { strict: true, ..ReadOptions::default() }).unwrap().runs();
    assert!(matches!(strict, Err(ReadError::Strict(diagnostic)) if diagnostic.at.line == 1));
    let unknown = open(ReadOptions { format: Some("caht".into()), ..ReadOptions::default() }).unwrap_err();
    assert_eq!(unknown.help(), "did you mean `chat`?");
    let (_, report) =
        open(ReadOptions { format: Some("chat".into()), ..ReadOptions::default() }).unwrap().runs().unwrap();
    assert_eq!(report.files[0].format, "chat");
    assert!(matches!(Corpus::open(&["nowhere".into()], ReadOptions::default()), Err(ReadError::Unreadable { .. })));
}

#[test]
fn a_second_run_of_one_name_is_renamed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        std::fs::write(folder.path().join(name), "{\"type\":\"run\",\"run_id\":\"r\"}\n").unwrap();
    }
    let (runs, report) = read(&[folder.path().to_path_buf()]);
    let ids: Vec<&str> = runs.iter().map(|run| run.header.run_id.as_str()).collect();
    assert_eq!(ids, ["r", "b/r", "c/r"]);
    assert_eq!((report.errors, report.warnings), (0, 2));
}

#[test]
fn sessions_agree_with_their_readme() {
    let Some(corpora) = shared::folder("corpora") else { return };
    // Steps and tokens: least, twice the median, greatest. The README counts the entries of
    // `trajectory` for SWE-agent, of which a file of history alone has none: it says 0 there, not 5. For
    // Inspect it takes the run's totals, graders included, which two samples with calls do not have (66, not 67).
    let none = [0, 0, 0];
    let cases = [
        ("claude-code/regex-log/opus-raw.jsonl", "claude-code", 1, [3, 6, 3], [84_627, 169_254, 84_627]),
        (
            "claude-code/regex-log/haiku-testgen-v2.jsonl",
            "claude-code",
            1,
            [32, 64, 32],
            [2_232_795, 4_465_590, 2_232_795],
        ),
        ("claude-code/regex-log/subagents", "claude-code", 27, [0, 2, 5], [770, 2 * 898, 83_640]),
        ("claude-code/fixtures", "claude-code", 3, [3, 8, 5], [663, 2 * 793, 923]),
        ("claude-agent-sdk-log", "claude-agent-sdk", 50, [0, 16, 38], [96_219, 2 * 317_084, 2_513_434]),
        ("codex-rollout", "codex", 1, [2, 4, 2], [82_396, 164_792, 82_396]),
        ("inspect", "inspect", 23, [0, 2, 6], [57, 2 * 67, 15_516]),
        ("swe-agent", "swe-agent", 13, [5, 22, 14], none),
        ("atif/login-trace.trajectory.json", "atif", 1, [6, 12, 6], none),
        ("atif/regex-log.trajectory.json", "atif", 1, [3, 6, 3], none),
        ("who-and-when", "who-and-when", 118, [5, 20, 10], none),
    ];
    for (folder, format, n_runs, steps, tokens) in cases {
        let (runs, report) = read(&[corpora.join(folder)]);
        let counts = report.format(format).unwrap();
        assert_eq!(counts.runs, n_runs, "{folder}");
        assert_eq!(report.formats.len(), 1, "{folder}");
        // Three lines of one fixture there are no objects, on purpose.
        let broken = if folder == "claude-code/fixtures" { 3 } else { 0 };
        assert_eq!(report.errors, broken, "{folder}: {:?}", report.findings);
        assert_eq!(spread(runs.iter().map(|run| run.steps().len() as u64).collect()), steps, "{folder} steps");
        let found = spread(runs.iter().filter_map(|run| Some(reader::tokens(run)?.0)).collect());
        assert_eq!(found, tokens, "{folder} tokens");
        let graded = match folder {
            "who-and-when" => (0, 118),
            "claude-code/regex-log/opus-raw.jsonl" | "claude-code/regex-log/haiku-testgen-v2.jsonl" => (1, 0),
            "inspect" => (16, 6),
            _ if format == "atif" => (1, 0),
            _ => (0, 0),
        };
        assert_eq!((counts.successes, counts.failures), graded, "{folder}");
    }
}

/// Least, twice the median, greatest.
fn spread(mut values: Vec<u64>) -> [u64; 3] {
    values.sort_unstable();
    if values.is_empty() {
        return [0; 3];
    }
    let n = values.len();
    [values[0], values[(n - 1) / 2] + values[n / 2], values[n - 1]]
}

#[test]
fn every_file_of_the_real_corpora_is_read_or_named() {
    let Some(corpora) = shared::folder("corpora") else { return };
    let corpus = Corpus::open(&[corpora], ReadOptions::default()).unwrap();
    let report = corpus.process(|run| assert_survives_writing(&run), |()| ()).unwrap();
    let reports = report.skipped.iter().filter(|skipped| skipped.reason.starts_with("an outcome report")).count();
    let others: Vec<&str> = report
        .skipped
        .iter()
        .map(|skipped| skipped.reason.as_str())
        .filter(|reason| !reason.starts_with("an outcome"))
        .collect();
    assert_eq!((report.runs(), report.files.len(), reports), (3577, 415, 171));
    let odd: Vec<(&str, u64)> = report.hygiene.iter().map(|oddity| (oddity.check, oddity.runs)).collect();
    let expected = [
        // tau-bench gives later calls the ids of earlier ones.
        ("duplicate_call_ids", 77),
        ("calls_without_results", 2),
        ("results_without_calls", 1),
        ("falling_prompt", 2),
        ("time_steps_back", 2),
        ("steps_too_fast", 1),
        ("canned_messages", 454),
        ("duplicate_run", 5),
    ];
    assert_eq!(odd, expected);
    // The README, the list of sources, and one file of labels.
    assert_eq!(others.len(), 3, "{others:?}");
    assert_eq!((report.errors, report.warnings), (3, 3), "{:?}", report.findings);
}
