//! Every format: good traces, broken traces, and the real corpora.
//!
//! Each file of `fixtures/readers/<format>/` is read by itself, and what came out is held against the
//! snapshot beside it.

pub(crate) mod broken;
mod collections;
mod corpora;
mod harness;
mod kept;
mod one_session;
mod own_logs;
mod requests;
mod table;
mod wrappings;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use whenstop::reader::{self, Corpus, CorpusReport, NamedBy, ReadError, ReadOptions};
use whenstop::transcript::{Event, Lane, Message, Point, Run, Text, ToolCall};

fn read(paths: &[PathBuf]) -> (Vec<Run>, CorpusReport) {
    Corpus::open(paths, ReadOptions::default()).unwrap().runs().unwrap()
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers")
}

/// Does the file belong to a recording rather than being one? Labels, metadata, and the grade of the same name.
fn is_beside(path: &Path) -> bool {
    let graded = path.extension().is_some_and(|ending| ending == "json") && path.with_extension("md").is_file();
    path.file_name().is_some_and(|name| name == "metadata.json") || graded
}

/// Files of a fixture folder that are inputs, in order; `reports/`, `results/` and what lies beside belong to them.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.is_file()
                && !is_beside(path)
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
        for (name, time) in [("from", header.started_at), ("to", run.ended_at)] {
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
    if let Some(reasoning) = &message.reasoning() {
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
    if let Some(usage) = message.usage() {
        let [input, read, written, output, reasoning] =
            [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning]
                .map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
        write!(line, " in {input} (read {read}, written {written}) out {output} (reasoning {reasoning})").unwrap();
    }
    if let Some(cost) = message.cost() {
        write!(line, " ${}", cost.0).unwrap();
    }
    if let Some(ts) = message.ts {
        write!(line, " at {}", ts.0).unwrap();
    }
    for word in [&message.model(), &message.finish_reason()].into_iter().flatten() {
        write!(line, " {word}").unwrap();
    }
    if let Some(extra) = message.extra() {
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

/// All runs of one file are parsed by one thread, and the work on each may be long.
#[test]
fn a_thread_with_nothing_to_do_takes_over_runs_of_another() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (begun, n_begun) = (Mutex::new(0), Condvar::new());
    let work = |_: Run| {
        *begun.lock().unwrap() += 1;
        n_begun.notify_all();
        let both = n_begun.wait_timeout_while(begun.lock().unwrap(), Duration::from_secs(20), |begun| *begun < 2);
        !both.unwrap().1.timed_out()
    };
    let mut done = Vec::new();
    pool.install(|| {
        let corpus = Corpus::open(&[fixtures().join("trace")], ReadOptions::default()).unwrap();
        corpus.process(work, |together| done.push(together)).unwrap();
    });
    assert!(done.len() >= 2 && done.iter().all(|together| *together), "{done:?}");
}

#[test]
fn work_that_uses_the_pool_or_panics_ends() {
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let corpus = Corpus::open(&[fixtures()], ReadOptions::default()).unwrap();
        let mut sums = Vec::new();
        let work = |run: Run| (0..run.events().len()).into_par_iter().map(|_| std::thread::yield_now()).count();
        pool.install(|| corpus.process(work, |sum| sums.push(sum)).unwrap());
        let (runs, _) = corpus.runs().unwrap();
        assert_eq!(sums, runs.iter().map(|run| run.events().len()).collect::<Vec<_>>(), "{threads} threads");
        let panicking = |run: Run| assert_ne!(run.header.run_id, runs[7].header.run_id, "as it should");
        let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| corpus.process(panicking, |()| ()).is_ok())));
        assert!(ended.is_err(), "{threads} threads");
    }
}

/// A thread that finds nothing wrong does not read on past a loss that another has found.
#[test]
fn the_first_loss_ends_the_reading_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.jsonl");
    let run = |n: usize| {
        let broken = if n == 40 || n == 900 { "{\n" } else { "" };
        format!("{{\"type\":\"run\",\"run_id\":\"{n}\"}}\n{broken}{{\"type\":\"message\",\"role\":\"assistant\"}}\n")
    };
    std::fs::write(&path, (0..2000).map(run).collect::<String>()).unwrap();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..10 {
            let strict = ReadOptions { strict: true, ..ReadOptions::default() };
            let read = pool.install(|| Corpus::open(std::slice::from_ref(&path), strict).unwrap().runs());
            assert!(matches!(read, Err(ReadError::Strict(lost)) if lost.at.line == 82), "{threads} threads");
        }
    }
}

/// A session, one forked from it, a copy with another line at its end, an exact copy, and an unrelated one.
#[test]
fn copied_replies_count_once_in_a_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let line = |session: &str, n: usize| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u{n}\",\"sessionId\":\"{session}\",\"requestId\":\"req{n}\",\
             \"timestamp\":\"2026-01-05T10:00:0{n}Z\",\"message\":{{\"id\":\"msg{n}\",\"role\":\"assistant\",\"model\":\"m\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"{n}\"}}],\"usage\":{{\"input_tokens\":100,\"output_tokens\":{n}}}}}}}\n"
        )
    };
    let session = |id: &str, replies: &[usize]| replies.iter().map(|n| line(id, *n)).collect::<String>();
    for (name, text) in [
        ("a.jsonl", session("a", &[1, 2, 3])),
        ("b.jsonl", session("b", &[1, 2, 4])),
        ("c.jsonl", format!("{}\n", session("a", &[1, 2, 3]))),
        ("c-exact.jsonl", session("a", &[1, 2, 3])),
        ("d.jsonl", session("d", &[5])),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = ReadOptions { detail: reader::Detail::Runs, ..ReadOptions::default() };
    let (runs, report) = Corpus::open(&[folder.path().to_path_buf()], options).unwrap().runs().unwrap();
    let steps: Vec<(usize, Option<u64>)> =
        runs.iter().map(|run| (run.steps().len(), reader::tokens(run).map(|tokens| tokens.0))).collect();
    assert_eq!(steps, [(3, Some(306)), (1, Some(104)), (3, Some(306)), (1, Some(105))]);
    let told: Vec<String> = report.findings.iter().map(|finding| finding.diagnostic.what.clone()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("2 of 3 replies stand in other files already: 2 in `"), "{told:?}");
    let odd: Vec<(&str, u64)> = report.hygiene.iter().map(|odd| (odd.check, odd.runs)).collect();
    assert_eq!(odd, [("no_calls", 4), ("copied_replies", 1), ("duplicate_run", 1)]);
    let listed: Vec<String> = report.run_list.unwrap().iter().map(|run| run.hygiene.join(" ")).collect();
    assert_eq!(listed, ["", "copied_replies", "duplicate_run", ""]);
    let left_out: Vec<&str> =
        report.skipped.iter().filter(|skipped| skipped.twin.is_some()).map(|s| s.path.as_str()).collect();
    assert!(matches!(left_out[..], [path] if path.ends_with("c-exact.jsonl")), "{left_out:?}");
    assert!(report.notices[0].diagnostic.what.starts_with("a recording stands there twice, byte for byte"));
}

#[test]
fn a_copy_of_a_file_packed_in_several_members_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let step = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"some words, so that it is long enough\"}\n";
    let members = ["{\"type\":\"run\",\"run_id\":\"r\"}\n".to_owned() + step, step.repeat(2)];
    let packed: Vec<u8> = members.iter().flat_map(|member| broken::gzipped(member.as_bytes())).collect();
    for name in ["a.jsonl.gz", "b.jsonl.gz"] {
        std::fs::write(folder.path().join(name), &packed).unwrap();
    }
    let (runs, report) = read(&[folder.path().to_path_buf()]);
    assert_eq!(runs.iter().map(|run| run.steps().len()).collect::<Vec<_>>(), [3]);
    let left_out: Vec<&str> =
        report.skipped.iter().filter(|skipped| skipped.twin.is_some()).map(|s| s.path.as_str()).collect();
    assert!(matches!(left_out[..], [path] if path.ends_with("b.jsonl.gz")), "{left_out:?}");
}

#[test]
fn labels_join_by_run_id_and_must_match() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let step = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n";
    let run = |id: &str| format!("{{\"type\":\"run\",\"run_id\":\"{id}\"}}\n{}", step.repeat(3));
    std::fs::write(path("r.jsonl"), format!("{}{}", run("a"), run("b"))).unwrap();
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

    // The same step in both of its ways of counting: people write from 1.
    std::fs::write(path("labels.csv"), "run_id,success,secured_at\na,true,3\nb,true,0\n").unwrap();
    let (runs, report) = read(&[folder.path().to_path_buf()]);
    assert_eq!((runs[0].grade.secured_step, runs[1].grade.secured_step), (Some(2), None));
    assert_eq!(report.findings[0].diagnostic.what, "`0` is no value of `secured_at`");

    let open = |options| Corpus::open(&[folder.path().to_path_buf()], options).unwrap().runs();
    let strict = || ReadOptions { strict: true, ..ReadOptions::default() };
    let allowed = || ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
    // One stray label among others is told; labels of which none matches are an error.
    std::fs::write(path("labels.csv"), "run_id,success\na,true\nnobody,true\n").unwrap();
    let (_, report) = open(ReadOptions::default()).unwrap();
    assert_eq!(report.notices.len(), 1);
    assert!(report.notices[0].diagnostic.help.contains("--allow-unmatched-labels"));
    assert!(matches!(open(strict()), Err(ReadError::Strict(_))));
    assert!(open(allowed()).unwrap().1.notices.is_empty());
    std::fs::write(path("labels.csv"), "run_id,success\nnobody,true\n").unwrap();
    assert!(matches!(open(ReadOptions::default()), Err(ReadError::Labels(_))));
    assert!(open(allowed()).is_ok());
}

/// Formats without a place of their own for the outcome: it is looked for under a key.
#[test]
fn an_outcome_is_found_under_the_key_asked_for() {
    let cases = [
        ("awaken/good.ndjson", "task_success", "run-1 failure"),
        ("pydantic-ai/good-lines.jsonl", "passed", "a success, b failure, good-lines/2 unknown"),
        ("otel/good.jsonl", "resolved", "conv-1 success"),
        (
            "langsmith/good.jsonl",
            "correctness",
            "11111111-1111-4111-8111-000000000001 success, 11111111-1111-4111-8111-000000000020 failure",
        ),
        ("langfuse/good.json", "correct", "t1 failure"),
        ("smolagents/good-runs.jsonl", "is_correct", "good-runs/0 success, good-runs/1 failure"),
    ];
    for (file, key, expected) in cases {
        let outcomes = |outcome_key: Option<String>| {
            let options = ReadOptions { outcome_key, ..ReadOptions::default() };
            let (runs, _) = Corpus::open(&[fixtures().join(file)], options).unwrap().runs().unwrap();
            runs.iter().map(|run| format!("{} {}", run.header.run_id, run.grade.outcome)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(outcomes(Some(key.to_owned())), expected, "{file}");
        assert_ne!(outcomes(None), expected, "{file} tells its outcome without a key");
    }
}

#[test]
fn a_task_stands_where_it_is_said_to_stand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.jsonl");
    let run = |id: &str, meta: &str, asked: &str| {
        format!(
            "{{\"type\":\"run\",\"run_id\":\"{id}\",\"task_id\":\"own-{id}\"{meta}}}\n\
             {{\"type\":\"message\",\"role\":\"user\",\"content\":\"{asked}\"}}\n\
             {{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}}\n"
        )
    };
    let runs = [run("a", ",\"meta\":{\"issue\":7}", "one"), run("b", "", "one"), run("c", "", "two")];
    std::fs::write(&file, runs.concat()).unwrap();
    let read = |task: Option<&str>| {
        let task = task.map(|task| NamedBy::parse_task(task).unwrap());
        let options = ReadOptions { task, ..ReadOptions::default() };
        let (runs, report) = Corpus::open(std::slice::from_ref(&file), options).unwrap().runs().unwrap();
        let tasks: Vec<String> = runs.into_iter().map(|run| run.header.task_id.unwrap()).collect();
        let told: Vec<String> = report.notices.into_iter().map(|finding| finding.diagnostic.what).collect();
        (tasks, told)
    };
    assert_eq!(read(None).0, ["own-a", "own-b", "own-c"]);
    assert_eq!(read(Some("path:0")), (vec!["runs".to_owned(); 3], Vec::new()));
    let (tasks, told) = read(Some("first-message"));
    assert!(tasks[0] == tasks[1] && tasks[1] != tasks[2] && told.is_empty(), "{tasks:?}");
    let (tasks, told) = read(Some("issue"));
    assert_eq!((tasks[0].as_str(), tasks[1].as_str()), ("7", "own-b"));
    assert_eq!(told, ["`--task issue` is found in only 1 of 3 runs"]);
    assert_eq!(read(Some("isue")).1, ["`--task isue` is found in none of 3 runs"]);
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
