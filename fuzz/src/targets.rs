//! The targets: each takes any bytes, and panics where the program is wrong about them.
//!
//! The fuzzer runs them guided by coverage; `tests/it/hostile/mutated.rs` runs the same functions on the fixtures, mutated
//! by a seeded generator, as part of the ordinary tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use whenstop::aggregate::{Row, RowView};
use whenstop::answers::{RunEvidence, words};
use whenstop::catalog::{self, Strategies};
use whenstop::diagnostic::{Diagnostic, is_hostile};
use whenstop::effects::{Effect, EffectReader, EffectTable};
use whenstop::explain::{Explanation, Extent};
use whenstop::framework::FrameworkKind;
use whenstop::reader::{self, Corpus, FORMATS, PriceTable, Probe, ReadOptions, ReadText, trace};
use whenstop::redact::redact;
use whenstop::replay::replay;
use whenstop::report::{CsvStyle, Publication, Saved, read_saved};
use whenstop::review::{ChangeReview, CheckResult, markdown};
use whenstop::snapshot::StopSnapshot;
use whenstop::stack::StackFile;
use whenstop::transcript::{Run, ToolCall};
use whenstop::{compare, verdict};

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Target; 13] = [
    ("reader", reader),
    ("corpus", corpus),
    ("archive", archive),
    ("stack", stack),
    ("labels", labels),
    ("prices", prices),
    ("snapshot", snapshot),
    ("rows", rows),
    ("redact", redacted),
    ("convert", convert),
    ("replay", replayed),
    ("effects", effects),
    ("repeated", repeated),
];

/// The format of the first byte reads the rest, as one record.
pub fn reader(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let format = FORMATS[usize::from(*first) % FORMATS.len()];
    let text = String::from_utf8_lossy(rest);
    if let Ok(probe) = Probe::from_name("x.json", text.as_bytes()) {
        let _ = ((format.recognise)(&probe), (format.layout)(&probe));
    }
    let ReadText { runs, findings } = reader::read_text(format, &text);
    for run in &runs {
        derived(run);
        assert_eq!(shape(&through_lines(run)), shape(run), "the copy in the own format is a copy");
    }
    for finding in &findings {
        told(&finding.diagnostic);
    }
}

/// A file with these bytes, detected, decoded, cut and read as any file is; the first byte is its name.
pub fn corpus(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let names = ["x.json", "x.jsonl", "x.json.gz", "x.jsonl.zst", "x.traj", "x", "x.eval", "x.log"];
    in_file(names[usize::from(*first) % names.len()], rest, |path| read(&[path.to_path_buf()], ReadOptions::default()));
}

/// An archive with these bytes.
pub fn archive(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let names = ["x.zip", "x.tar", "x.tar.gz", "x.tgz", "x.tar.zst", "x.eval"];
    in_file(names[usize::from(*first) % names.len()], rest, |path| read(&[path.to_path_buf()], ReadOptions::default()));
}

/// A stack file: what it says can be named and asked, and a run replays under it.
pub fn stack(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let none = |path: &str| Err(Diagnostic::new(whenstop::diagnostic::Location::file(path), "none", ""));
    match StackFile::parse("stacks.toml", &text).and_then(|file| catalog::strategies(&file, &none)) {
        Ok(strategies) => {
            for strategy in strategies.iter().take(8) {
                let _ = (strategy.name(), strategy.profile(), strategy.rules(), strategy.requirements());
                let _ = replay(sample(), strategy);
            }
        }
        Err(errors) => errors.iter().for_each(told),
    }
}

/// A file of labels beside a recording.
pub fn labels(data: &[u8]) {
    in_file("labels.csv", data, |path| {
        let run = path.with_file_name("run.jsonl");
        std::fs::write(&run, SAMPLE).expect("the scratch folder can be written to");
        let options = ReadOptions { labels: vec![path.to_path_buf()], ..ReadOptions::default() };
        read(&[run], options);
    });
}

/// A file of prices.
pub fn prices(data: &[u8]) {
    match PriceTable::parse("prices.toml", &String::from_utf8_lossy(data)) {
        Ok(table) => {
            for model in ["m", "gpt-4o", "openai/gpt-4o-2024-08-06", "claude-3.7-sonnet:beta", ""] {
                let _ = table.price_for(model);
            }
        }
        Err(error) => told(&error),
    }
}

/// A snapshot: what is read is written and read back as the same, and any two texts differ by their differences.
pub fn snapshot(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match StopSnapshot::parse("s", &text) {
        Ok(read) => {
            let written = read.to_text();
            let again = StopSnapshot::parse("s", &written).expect("what is written can be read");
            assert_eq!(again, read, "{written:?}");
            assert!(!ChangeReview::between(&read, &again, BTreeMap::new()).has_changes());
            let review = ChangeReview::between(&StopSnapshot::default(), &read, BTreeMap::new());
            assert_eq!((review.corpus.added.len(), review.stacks.len()), (read.runs().len(), read.stacks.len()));
            let told = markdown(&CheckResult { review: Some(review), ..CheckResult::default() }, true);
            assert!(!told.contains(|c| c != '\n' && is_hostile(c)), "{told:?}");
        }
        Err(error) => told(&error),
    }
}

/// A folder of results; the parts of the data, apart by 0, are its files.
pub fn rows(data: &[u8]) {
    let folder = scratch();
    let files = ["rows.csv", "firings.csv", "manifest.json"];
    for (name, part) in files.iter().zip(data.split(|byte| *byte == 0)) {
        std::fs::write(folder.path().join(name), part).expect("the scratch folder can be written to");
    }
    match read_saved(folder.path()) {
        Ok(saved) => {
            same_in_both_styles(&saved, folder.path());
            let Saved { evidence, manifest, .. } = saved;
            let publication = Publication::new(RunEvidence { followed: None, ..evidence }, manifest);
            let overview = publication.overview().to_terminal(80);
            assert!(!overview.contains(|c| c != '\n' && is_hostile(c)), "{overview:?}");
            let answer = publication.answer();
            let _ = (words::headline(answer.headline.as_ref()), words::notes(&answer.notes));
        }
        Err(error) => told(&error),
    }
}

/// Rows written in either style read back as they were.
fn same_in_both_styles(saved: &Saved, folder: &Path) {
    let plain = folder.join("plain.csv");
    let written = whenstop::report::write_rows(&plain, saved.evidence.rows.iter());
    written.expect("the scratch folder can be written to");
    let text = std::fs::read(&plain).expect("it was just written");
    for style in [CsvStyle::Plain, CsvStyle::Spreadsheet] {
        std::fs::write(&plain, style.styled(text.clone()).expect("our own CSV")).expect("it can be written to");
        let rows: Vec<Row> = whenstop::report::read_rows(&plain).expect("our own rows");
        // As text: what is no number equals nothing.
        let before: Vec<Row> = saved.evidence.rows.iter().map(RowView::to_row).collect();
        assert_eq!(format!("{rows:?}"), format!("{before:?}"), "{style:?}");
    }
}

/// A trace, redacted: it reads back as a redacted run of the same shape, without a word of the texts.
pub fn redacted(data: &[u8]) {
    for run in trace::read_text(&String::from_utf8_lossy(data)).runs {
        let copy = redact(&run, "salt");
        assert!(copy.header.redacted);
        assert_eq!(copy.events().len(), run.events().len());
        let back = through_lines(&copy);
        assert_eq!(shape(&back), shape(&copy));
        assert_eq!(shape(&redact(&run, "salt")), shape(&copy), "the same salt gives the same copy");
        derived(&copy);
    }
}

/// A trace, converted: it reads back as it was.
pub fn convert(data: &[u8]) {
    for run in trace::read_text(&String::from_utf8_lossy(data)).runs {
        assert_eq!(shape(&through_lines(&run)), shape(&run));
    }
}

/// A trace under every shipped rule.
pub fn replayed(data: &[u8]) {
    static ALL: OnceLock<Strategies> = OnceLock::new();
    let strategies = ALL.get_or_init(|| {
        let mut all = catalog::all(FrameworkKind::Preset);
        all.extend(catalog::all(FrameworkKind::System));
        all
    });
    let comparison = compare::Comparison::new(strategies, verdict::Assumptions::default());
    let table = EffectTable::default();
    for run in trace::read_text(&String::from_utf8_lossy(data)).runs.iter().take(2) {
        let _ = comparison.rows_of(run);
        for around in [None, Some(1)] {
            let story = Explanation::from_run(run, &strategies[..3], Extent { text: 60, columns: 80, around }, &table)
                .to_string();
            assert!(!story.contains(|c| c != '\n' && is_hostile(c)), "{story:?}");
        }
    }
}

/// A tool and its arguments, apart by a line end: what the call does is one of the effects, for a reason that can be
/// shown. The same as a command of each shell.
pub fn effects(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (tool, arguments) = text.split_once('\n').unwrap_or(("bash", &text));
    let command = serde_json::json!({ "command": arguments }).to_string();
    let table = EffectTable::default();
    let mut reader = EffectReader::new(&table);
    for (tool, arguments) in [(tool, arguments), ("bash", &command), ("powershell", &command), ("action", arguments)] {
        let told = reader.tell(&ToolCall::new(None, tool, arguments));
        assert!(!told.why.is_empty(), "{told:?}");
        assert!(told.effect != Effect::Unknown || told.may_change, "{told:?}");
    }
}

/// Its input again and again, up to a megabyte, as a command, a script, and a text: nothing overflows, and nothing takes
/// longer than its length allows. The first byte says how often.
pub fn repeated(data: &[u8]) {
    const LONGEST: usize = 1 << 20;
    let Some((often, part)) = data.split_first().filter(|(_, part)| !part.is_empty()) else { return };
    let times = (1_usize << (often % 21)).min(LONGEST / part.len());
    let text = String::from_utf8_lossy(part).repeat(times);
    effects(text.as_bytes());
    let call = serde_json::json!({ "id": "1", "name": "bash", "arguments": { "command": text } });
    let message = serde_json::json!({ "type": "message", "role": "assistant", "content": text, "tool_calls": [call] });
    let lines = format!("{{\"type\":\"run\",\"run_id\":\"a\"}}\n{message}\n");
    replayed(lines.as_bytes());
    redacted(lines.as_bytes());
    stack(text.as_bytes());
    snapshot(text.as_bytes());
    prices(text.as_bytes());
}

/// What a run is, but for what was repaired while it was read.
fn shape(run: &Run) -> String {
    for message in run.events().iter().filter_map(|event| event.message()) {
        // What is worked out once and kept shows in the picture: let it be worked out in both.
        message.content_print();
        message.tool_calls.iter().for_each(|call| _ = call.canonical_print());
    }
    // A native record may stand on several lines of its file, and on one of ours.
    format!("{:?} {:?} {:?}", run.header, run.grade.outcome, run.events()).replace(['\n', '\r'], " ")
}

fn through_lines(run: &Run) -> Run {
    let mut lines = Vec::new();
    trace::write(run, &mut lines).expect("a run can be written");
    let text = String::from_utf8(lines).expect("lines are text");
    let ReadText { mut runs, findings } = trace::read_text(&text);
    assert!(findings.is_empty(), "{findings:?} in {text}");
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0)
}

/// Everything that is derived from a run can be asked for.
fn derived(run: &Run) {
    let _ = (run.secured(), run.last_point(), run.points().count(), reader::tokens(run), run.steps().len());
    let _ = (verdict::Course::from_run(run), verdict::Ledger::from_run(run));
}

/// A message has something to say, and shows nothing a terminal would obey.
fn told(diagnostic: &Diagnostic) {
    assert!(!diagnostic.what.is_empty());
    let shown = diagnostic.render(whenstop::diagnostic::Severity::Error);
    assert!(!shown.contains(|c| c != '\n' && is_hostile(c)), "{shown:?}");
}

fn read(paths: &[PathBuf], options: ReadOptions) {
    let options = ReadOptions { limit: 1 << 20, ..options };
    match Corpus::open(paths, options).and_then(|corpus| corpus.process(|run| derived(&run), |()| ())) {
        Ok(report) => report.findings.iter().for_each(|finding| told(&finding.diagnostic)),
        Err(error) => assert!(!error.to_string().is_empty() && !error.help().is_empty()),
    }
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder can be made")
}

fn in_file(name: &str, bytes: &[u8], check: impl FnOnce(&Path)) {
    let folder = scratch();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("the scratch folder can be written to");
    check(&path);
}

/// A run that calls a tool three times.
const SAMPLE: &str = r#"{"type":"run","run_id":"a","task_id":"t","model":"m"}
{"type":"message","role":"user","content":"List the files."}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"1","name":"ls","arguments":{}}],"usage":{"input":9,"output":1},"ts":"2026-01-01T00:00:00Z"}
{"type":"message","role":"tool","tool_call_id":"1","content":"a.txt","is_error":false}
{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"2","name":"ls","arguments":{}}],"usage":{"input":9,"output":1},"ts":"2026-01-01T00:00:02Z"}
{"type":"message","role":"tool","tool_call_id":"2","content":"Error: no","is_error":true}
{"type":"message","role":"assistant","content":"done","usage":{"input":9,"output":1},"finish_reason":"stop"}
{"type":"outcome","success":true,"end":"self_finish"}
"#;

fn sample() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| trace::read_text(SAMPLE).runs.remove(0))
}
