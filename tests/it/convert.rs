//! `whenstop convert`: what is written in the own format replays as the original does.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use whenstop::aggregate::{Firing, Row};
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, ReadOptions, trace};
use whenstop::signal;
use whenstop::stack::StackFile;
use whenstop::transcript::{Event, Fingerprint, Grade, Header, Run};
use whenstop::verdict::Assumptions;

use crate::scratch::Scratch;
use crate::shared;

/// Stacks that between them read all there is in a run: every signal at several limits, calls under every identity,
/// bailouts at a small cap, texts.
fn probing_stacks() -> String {
    let mut file = String::new();
    for identity in ["\"name\"", "\"raw\"", "\"canonical\"", "{ fields = [\"path\", \"command\", \"id\"] }"] {
        let rules = signal::REGISTRY.iter().filter(|signal| signal.options.contains(&"identity")).flat_map(|signal| {
            [2, 3].map(|limit| format!("{{ signal = \"{}\", at_least = {limit}, identity = {identity} }}", signal.id))
        });
        let rules = rules.collect::<Vec<_>>().join(",\n  ");
        let name = identity.replace(|c: char| !c.is_ascii_alphabetic(), "");
        writeln!(file, "[[stack]]\nname = \"same-{name}\"\nany = [\n  {rules}\n]").unwrap();
    }
    let mut rules = Vec::new();
    for signal in signal::REGISTRY {
        let option = match signal.id {
            "tool.named" => ", tool = \"bash\"",
            "metric" => ", metric = \"score\"",
            "text.match" => ", phrases = [\"error\", \"done\"]",
            _ => "",
        };
        for limit in [0.01, 0.5, 2.0, 3.0, 10.0, 1000.0, 100_000.0] {
            rules.push(format!("{{ signal = \"{}\", at_least = {limit:?}{option} }}", signal.id));
        }
    }
    writeln!(file, "[[stack]]\nname = \"every-signal\"\nany = [\n  {}\n]", rules.join(",\n  ")).unwrap();
    for signal in signal::REGISTRY.iter().filter(|signal| !["metric", "tool.named", "text.match"].contains(&signal.id))
    {
        let id = signal.id;
        writeln!(file, "[[stack]]\nname = \"only-{id}\"\nany = [{{ signal = \"{id}\", at_least = 2 }}]").unwrap();
    }
    for of in ["reply", "results"] {
        let rule =
            format!("{{ signal = \"text.match\", at_least = 1, regex = \"(?i)error|traceback\", of = \"{of}\" }}");
        writeln!(file, "[[stack]]\nname = \"text-{of}\"\nany = [{rule}]").unwrap();
    }
    for bailout in ["stop\"", "conditional_continue\"", "smart\"", "token_budget\", budget = 5000"] {
        let on_hit = format!("{{ bailout = \"{bailout} }}");
        let name = bailout.split('"').next().unwrap();
        writeln!(file, "[[stack]]\nname = \"cap-{name}\"\ncap = {{ steps = 4, on_hit = {on_hit} }}").unwrap();
    }
    file
}

/// The probing stacks, every framework's shipped rules, every seed system.
pub(crate) fn strategies() -> Strategies {
    let file = StackFile::parse("probing.toml", &probing_stacks()).unwrap();
    let mut all = catalog::strategies(&file, &|_| unreachable!("no configuration is named")).unwrap();
    all.extend(catalog::all(FrameworkKind::Preset));
    all.extend(catalog::all(FrameworkKind::System));
    all
}

/// One of several runs, told by its name, so that the choice is the same everywhere.
pub(crate) fn is_chosen(run: &Run, one_of: u64) -> bool {
    let Fingerprint(print) = Fingerprint::from_text(&run.header.run_id);
    print % one_of == 0
}

/// What a run comes to, and the run in the own format.
struct Replayed {
    run_id: String,
    rows: Vec<Row>,
    firings: Vec<Firing>,
    /// All there is in the run, whether or not a strategy reads it.
    model: String,
    lines: Vec<u8>,
}

/// Everything a run holds but where its outcome came from and what was repaired. A native record may stand on
/// several lines of its file, and on one of ours.
fn model(run: &Run) -> String {
    for message in run.events().iter().filter_map(Event::message) {
        // What is worked out once and kept shows in the picture: let it be worked out in both.
        message.content_print();
        message.tool_calls.iter().for_each(|call| _ = call.canonical_print());
    }
    let Grade { outcome, score, end, secured_step, .. } = &run.grade;
    // The copy is another file.
    let header = Header { file: None, ..run.header.clone() };
    let all = format!("{header:?} {:?} {outcome} {score:?} {end} {secured_step:?}", run.events());
    all.replace(['\n', '\r'], " ")
}

/// Reads `path` and replays one of `one_of` of its runs.
fn replayed(path: &Path, comparison: &Comparison<'_>, one_of: u64) -> Vec<Replayed> {
    let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
    let mut all = Vec::new();
    let work = |run: Run| {
        is_chosen(&run, one_of).then(|| {
            let (rows, firings) = comparison.rows_of(&run);
            let mut lines = Vec::new();
            trace::write(&run, &mut lines).unwrap();
            Replayed { model: model(&run), run_id: run.header.run_id, rows, firings, lines }
        })
    };
    Corpus::open(&[path.to_path_buf()], options).unwrap().process(work, |replayed| all.extend(replayed)).unwrap();
    all
}

/// Converts the runs of `path`, replays them again, and gives the number of runs and every difference.
fn differences(path: &Path, comparison: &Comparison<'_>, one_of: u64) -> (usize, Vec<String>) {
    let originals = replayed(path, comparison, one_of);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("converted.jsonl");
    let lines: Vec<u8> = originals.iter().flat_map(|original| original.lines.iter().copied()).collect();
    std::fs::write(&file, lines).unwrap();
    let again = if originals.is_empty() { Vec::new() } else { replayed(&file, comparison, 1) };
    let mut found = Vec::new();
    let ids = |all: &[Replayed]| all.iter().map(|replayed| replayed.run_id.clone()).collect::<Vec<_>>();
    if ids(&originals) != ids(&again) {
        found.push(format!("{}: the runs are {:?} and then {:?}", path.display(), ids(&originals), ids(&again)));
    }
    for (original, again) in originals.iter().zip(&again) {
        let at = format!("{} {}", path.display(), original.run_id);
        for (before, after) in original.rows.iter().zip(&again.rows).filter(|(before, after)| before != after) {
            found.push(format!("{at}: before {before:?}\n  after {after:?}"));
        }
        if original.firings != again.firings {
            let (before, after) = (&original.firings, &again.firings);
            let first = before.iter().zip(after).find(|(before, after)| before != after);
            found.push(format!("{at}: {} and {} firings, first {first:?}", before.len(), after.len()));
        }
        if original.model != again.model {
            let (before, after) = (original.model.chars(), again.model.chars());
            let same = before.clone().zip(after.clone()).take_while(|(before, after)| before == after).count();
            let from = |model: std::str::Chars<'_>| model.skip(same.saturating_sub(60)).take(160).collect::<String>();
            found.push(format!("{at}: the run read back is another:\n  {}\n  {}", from(before), from(after)));
        }
        if original.lines != again.lines {
            let (before, after) = (String::from_utf8_lossy(&original.lines), String::from_utf8_lossy(&again.lines));
            let first = before.lines().zip(after.lines()).find(|(before, after)| before != after);
            found.push(format!("{at}: written again it is different: {first:?}"));
        }
    }
    (originals.len(), found)
}

/// Every file under a folder, in path order.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { folders.push(entry) } else { files.push(entry) }
        }
    }
    files.sort();
    files
}

/// Holds convert-then-replay against replay; `one_of` of a file's runs, by its path.
fn check(paths: &[PathBuf], one_of: impl Fn(&Path) -> u64) -> usize {
    let strategies = strategies();
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let (mut runs, mut found) = (0, Vec::new());
    for path in paths {
        let (more, differences) = differences(path, &comparison, one_of(path));
        runs += more;
        found.extend(differences);
    }
    assert!(found.is_empty(), "{} differences, the first:\n{}", found.len(), found[..found.len().min(5)].join("\n"));
    runs
}

#[test]
fn a_converted_fixture_replays_as_the_original() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = std::fs::read_dir(fixtures.join("readers")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = folders.chain([fixtures.join("signals"), fixtures.join("zoo/endless")]).collect();
    paths.sort();
    let runs = check(&paths, |_| 1);
    assert!(runs > 100, "{runs} runs");
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn a_converted_corpus_replays_as_the_original() {
    let mut paths = shared::corpora();
    if shared::takes_all_runs() {
        let files: Vec<PathBuf> = paths.iter().flat_map(|folder| files_under(folder)).collect();
        paths.extend(files);
    }
    let runs = check(&paths, shared::one_of);
    eprintln!("{runs} runs converted");
    assert!(runs > 60, "{runs} runs");
}

/// Two chats and a label for one of them.
pub(crate) fn two_chats() -> Scratch {
    let call = r#"{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \"src\"}"}}"#;
    let chat = format!(
        r#"[{{"role":"user","content":"List the files."}},{{"role":"assistant","content":null,"tool_calls":[{call}]}},
{{"role":"tool","tool_call_id":"c1","content":"main.rs"}},{{"role":"assistant","content":"There is one: main.rs"}}]"#
    );
    Scratch::with(&[
        ("runs/a.json", &chat),
        ("runs/b.json", &chat.replace("main.rs", "lib.rs")),
        ("runs/labels.csv", "run_id,success,end\na,true,self_finish\n"),
    ])
}

#[test]
fn convert_writes_to_stdout_to_a_file_or_to_a_folder() {
    let scratch = two_chats();
    let (code, all, stderr) = scratch.run("convert runs --to trace");
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!("convert_two_chats", all);

    let (code, stdout, stderr) = scratch.run("convert runs --out all.jsonl");
    assert_eq!((code, stdout.as_str(), stderr.trim()), (0, "", "2 runs written to all.jsonl"));
    assert_eq!(scratch.read("all.jsonl"), all);

    let (code, _, stderr) = scratch.run("convert runs --out each");
    assert_eq!((code, stderr.trim()), (0, "2 runs written to each, a file each"));
    assert_eq!(scratch.read("each/a.jsonl") + &scratch.read("each/b.jsonl"), all);

    let (_, one, _) = scratch.run("convert runs --threads 1");
    assert_eq!(one, all, "the same for any number of threads");
    let (_, again, _) = scratch.run("convert all.jsonl");
    assert_eq!(again, all, "what is converted twice is the same");
}

#[test]
fn convert_writes_over_no_input_and_leaves_nothing_half_done() {
    let scratch = two_chats();
    scratch.run("convert runs --out runs/b.jsonl");
    for (arguments, code, message) in [
        ("convert runs/b.jsonl --out runs/b.jsonl", 2, "this command reads this file"),
        ("convert runs --as trace --out runs/a.json", 3, "this command reads this file"),
        ("convert runs/b.jsonl --out runs", 3, "this command reads this file"),
        ("convert runs --out packed.zst", 2, "call the file `.jsonl`"),
        ("convert runs/labels.csv --allow-unmatched-labels --out none.jsonl", 4, "no recorded run"),
        ("convert runs --to traec", 2, "trace"),
    ] {
        let (found, _, stderr) = scratch.run(arguments);
        assert!(found == code && stderr.contains(message), "{arguments}: {found} {stderr}");
    }
    assert_eq!(scratch.names("."), ["runs"], "nothing else was written");
}
