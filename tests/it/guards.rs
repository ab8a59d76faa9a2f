//! Guards: what they are sent, that they decide as a stack does, and that a bad one harms nobody else. The guards here
//! are written in `sh`, so that no other language is needed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use whenstop::decision::{Need, Program, Strategy};
use whenstop::guard::process::Launch;
use whenstop::guard::{EXAMPLES, EventWriter, Guard, NUMBER_EXAMPLES, SCHEMA};
use whenstop::reader::{Corpus, ReadOptions, trace, trace_schema};
use whenstop::replay::{Live, Replay, replay};
use whenstop::stack::{Guards, Stack, StackFile};
use whenstop::sweep::engine::{Extract, Formula, Plan};
use whenstop::transcript::{Moment, Run};
use whenstop::verdict::Assumptions;

const WRITE_EVENT: EventWriter = |event, to| trace::write_event(event, to);

/// A guard in `sh`. `hello` is the rest of the answer to the handshake; `run`, `event`, `point` and `end` are what it
/// does then. `say` answers the question.
struct Sh {
    hello: &'static str,
    run: &'static str,
    event: &'static str,
    point: &'static str,
    end: &'static str,
}

const CONTINUES: Sh = Sh {
    hello: r#""answers":["stop"]"#,
    run: ":",
    event: ":",
    point: r#"say '"answer":"continue"'"#,
    end: r#"say '"answer":"continue"'"#,
};

impl Sh {
    fn script(&self) -> String {
        let Self { hello, run, event, point, end } = self;
        format!(
            r#"say() {{ echo "{{\"id\":\"$id\",$1}}"; }}
n=0; runs=0
while IFS= read -r line; do
  case $line in
    '{{"id":"'*) id=${{line#'{{"id":"'}}; id=${{id%%'"'*}};;
    '{{"type":"run"'*) n=0; runs=$((runs + 1)); {run}; continue;;
    *) {event}; continue;;
  esac
  case $id in
    hello) say '"protocol":1,{hello}';;
    *-end) {end};;
    *) n=$((n + 1)); {point};;
  esac
done
"#
        )
    }

    fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(format!("{name}.sh"));
        std::fs::write(&path, self.script()).unwrap();
        path
    }

    /// The guard as a strategy, called `name`.
    fn start(&self, folder: &Path, name: &str) -> Arc<Guard> {
        let path = self.write(folder, name);
        let command = vec!["sh".to_owned(), path.display().to_string()];
        let launch = Launch { command, folder: None, time_limit: 60 };
        Arc::new(Guard::new(name, Program::default(), Box::new(move || launch.start()), WRITE_EVENT))
    }
}

fn bundled(name: &str) -> Vec<Run> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    Corpus::open(&[path], ReadOptions::default()).unwrap().runs().unwrap().0
}

fn whenstop(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whenstop")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_guard_that_counts_stops_where_the_stack_does() {
    let folder = tempfile::tempdir().unwrap();
    let point = r#"if [ $n -ge 4 ]; then say "\"answer\":\"stop\",\"reading\":$n,\"limit\":4"
        else say "\"answer\":\"continue\",\"reading\":$n"; fi"#;
    let guard = Sh { point, ..CONTINUES }.start(folder.path(), "steps >= 4");
    let text = "[[stack]]\nname = \"steps\"\nany = [{ signal = \"steps\", at_least = 4 }]";
    let stack = StackFile::parse("stacks.toml", text).unwrap().stack("steps").unwrap();
    let mut stops = 0;
    for run in bundled("traces/verdicts").iter().chain(&bundled("traces/synthetic/service.jsonl")) {
        let (here, there) = (replay(run, &stack), replay(run, &guard));
        assert_eq!((&here.trail, &here.stop), (&there.trail, &there.stop), "{}", run.header.run_id);
        assert_eq!((here.exactness, &here.not_evaluable), (there.exactness, &there.not_evaluable));
        stops += usize::from(here.stop.is_some());
    }
    assert!(stops > 100, "{stops}");
    assert_eq!(guard.troubles(), []);
}

/// Answers with the number of points asked about so far, and no number at the first.
const COUNTS: Sh = Sh {
    hello: r#""answers":["reading"]"#,
    point: r#"if [ $n = 1 ]; then say '"answer":"continue"'; else say "\"answer\":\"reading\",\"reading\":$n"; fi"#,
    ..CONTINUES
};

/// A stack of these clauses, which read the guard's number.
fn reading(guard: &Arc<Guard>, clauses: &str) -> Arc<Stack> {
    let mut guards = Guards::default();
    guards.add(&(Arc::clone(guard) as Arc<dyn Strategy>));
    let text = format!("[[stack]]\nname = \"reads\"\nany = [{clauses}]");
    let (mut file, errors) = StackFile::parse_partly("stacks.toml", &text);
    assert_eq!((errors, file.seat(&guards)), (vec![], vec![]));
    file.stack("reads").unwrap()
}

#[test]
fn a_number_at_a_limit_decides_as_the_guard_that_stops_there_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let counts = COUNTS.start(folder.path(), "mine");
    let runs = bundled("traces/verdicts").into_iter().chain(bundled("traces/synthetic/service.jsonl"));
    let runs: Vec<Run> = runs.collect();
    let (mut stops, mut points) = (0, 0);
    for limit in [2, 4, 7] {
        let point = format!(
            r#"if [ $n -ge {limit} ]; then say "\"answer\":\"stop\",\"reading\":$n,\"limit\":{limit}"
            else say '"answer":"continue"'; fi"#
        );
        let own = Sh { point: point.leak(), ..CONTINUES }.start(folder.path(), "own");
        let rule = format!("{{ signal = \"guard:mine.score\", at_least = {limit} }}");
        let reads = reading(&counts, &rule);
        let mut plan = Plan::default();
        let formula = Formula::from_stack(&reads, &mut plan).unwrap();
        for run in &runs {
            let (there, here) = (replay(run, &own), replay(run, &reads));
            let act = |replay: &Replay| replay.trail.first().map(|it| (it.point, it.action, it.evidence));
            assert_eq!(act(&here), act(&there), "{} at {limit}", run.header.run_id);
            let stop = |replay: &Replay| replay.stop.as_ref().map(|it| (it.point, it.action, it.evidence));
            assert_eq!((stop(&here), here.exactness), (stop(&there), there.exactness), "{}", run.header.run_id);
            assert_eq!(here.not_evaluable, []);
            assert_eq!(formula.replay(&Extract::from_run(run, &plan, Assumptions::default())), here);
            stops += usize::from(here.stop.is_some());
            points += run.points().filter(|point| point.moment == Moment::AfterTools).count() as u64;
        }
    }
    assert!(stops > 200, "{stops}");
    assert_eq!((counts.asked(), counts.troubles()), (points, vec![]), "asked once about each run by each stack");
}

#[test]
fn all_rules_of_a_stack_and_all_stacks_ask_about_a_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let counts = COUNTS.start(folder.path(), "mine");
    let rule = |limit: u32| format!("{{ signal = \"guard:mine.score\", more_than = {limit} }}");
    let reads = reading(&counts, &format!("{}, {{ all = [{}, {}], latched = true }}", rule(9), rule(3), rule(5)));
    let bolder = Arc::new(Stack { name: "bolder".to_owned(), ..(*reads).clone() });
    let mut points = 0;
    for run in bundled("traces/verdicts") {
        let (one, two) = (replay(&run, &reads), replay(&run, &bolder));
        assert_eq!(one, two);
        points += run.points().filter(|point| point.moment == Moment::AfterTools).count() as u64;
    }
    assert_eq!(counts.asked(), points);
    // Live, nobody has asked before.
    for run in bundled("traces/verdicts") {
        let mut live = Live::start(&reads, run.header.clone());
        let mut trail: Vec<_> = run.events().iter().flat_map(|event| live.push(event.clone())).collect();
        trail.extend(live.end());
        assert_eq!(trail.first(), replay(&run, &reads).trail.first(), "{}", run.header.run_id);
    }
}

#[test]
fn a_guard_that_fails_leaves_the_rules_that_read_it_unknown_on_that_run() {
    let folder = tempfile::tempdir().unwrap();
    let point = r#"if [ $n = 9 ]; then echo nonsense; else say "\"answer\":\"reading\",\"reading\":$n"; fi"#;
    let guard = Sh { point, ..COUNTS }.start(folder.path(), "mine");
    let reads = reading(&guard, "{ signal = \"guard:mine.score\", at_least = 2 }");
    let mut plan = Plan::default();
    let formula = Formula::from_stack(&reads, &mut plan).unwrap();
    let (mut known, mut unknown) = (0, 0);
    for run in bundled("traces/synthetic/service.jsonl") {
        let replay = replay(&run, &reads);
        let asked = run.points().filter(|point| point.moment == Moment::AfterTools).count();
        if asked < 9 {
            known += 1;
            assert_eq!(replay.not_evaluable, [], "{}", run.header.run_id);
        } else {
            unknown += 1;
            assert_eq!(replay.trail, []);
            assert_eq!(replay.not_evaluable[0].need, Need::Number("guard:mine.score"));
        }
        assert_eq!(formula.replay(&Extract::from_run(&run, &plan, Assumptions::default())), replay);
    }
    assert!(known > 3 && unknown > 3, "{known} {unknown}");
    assert_eq!(guard.troubles().len(), 1);
}

#[test]
fn a_number_is_tuned_by_its_limits_and_in_a_grid_and_read_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sh { run: "echo >> $0.runs", ..COUNTS }.write(folder.path(), "mine");
    let n_runs = || std::fs::read_to_string(format!("{}.runs", file.display())).map_or(0, |text| text.lines().count());
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/synthetic/service.jsonl");
    let (runs, guard) = (runs.to_str().unwrap(), format!("mine=sh {}", file.display()));
    let tune = |rest: &[&str]| {
        let output = whenstop(folder.path(), &[&["tune", runs, "--guard", &guard], rest].concat());
        assert!(matches!(output.status.code(), Some(0 | 100)), "{}", text(&output.stderr));
        output
    };
    let output = tune(&["--signal", "guard:mine.score", "--limits", "2..40", "--max-killed", "0.5"]);
    assert!(text(&output.stdout).contains("As detectors"), "{}", text(&output.stdout));
    let once = n_runs();
    assert!(once > 100, "{once}");
    tune(&["--signal", "guard:mine.score", "--limits", "3"]);
    assert_eq!(n_runs(), 2 * once, "a run is asked about once, whatever the number of limits");
    let grid = "[[axis]]\nsignal = \"guard:mine.score\"\nat_least = { quantiles = 5 }\n[[axis]]\ncap = [10, 20]\n";
    std::fs::write(folder.path().join("grid.toml"), grid).unwrap();
    let first = tune(&["--grid", "grid.toml", "--cache", "cache"]);
    assert!(text(&first.stdout).contains("guard:mine.score >= "), "{}", text(&first.stdout));
    assert_eq!(n_runs(), 3 * once);
    let again = tune(&["--grid", "grid.toml", "--cache", "cache"]);
    assert_eq!((text(&first.stdout), n_runs()), (text(&again.stdout), 3 * once), "nothing is asked again");
    // Another text of the guard is another guard.
    std::fs::write(&file, format!("{}\n# changed\n", std::fs::read_to_string(&file).unwrap())).unwrap();
    tune(&["--grid", "grid.toml", "--cache", "cache"]);
    assert_eq!(n_runs(), 4 * once);
    // Whoever puts parts together needs no guard.
    let limits = ["--signal", "guard:mine.score", "--limits", "2..40", "--max-killed", "0.5"];
    tune(&[&limits[..], &["--out", "whole"]].concat());
    for (shard, part) in [("1/2", "parts/1"), ("2/2", "parts/2")] {
        tune(&[&limits[..], &["--shard", shard, "--out", part]].concat());
    }
    whenstop(folder.path(), &["report", "parts", "--out", "merged"]);
    let shipped = |from: &str| std::fs::read_to_string(folder.path().join(from).join("tuned.toml")).unwrap();
    assert!(shipped("whole").contains("Its guard `mine` is"), "{}", shipped("whole"));
    assert_eq!(shipped("merged"), shipped("whole"));
}

#[test]
fn what_is_wrong_with_a_rule_that_reads_a_guard_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let counts = COUNTS.write(folder.path(), "mine");
    let stops = CONTINUES.write(folder.path(), "stops");
    let before = Sh { hello: r#""answers":["reading"],"points":["before_request"]"#, ..COUNTS };
    let before = before.write(folder.path(), "before");
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/verdicts");
    let asked = |signal: &str| {
        let named = [("mine", &counts), ("stops", &stops), ("before", &before)];
        let mut guards = String::new();
        for (name, file) in named {
            writeln!(guards, "[[stack]]\nname = \"{name}\"\ncommand = [\"sh\", \"{}\"]", file.display()).unwrap();
        }
        let stack = format!("[[stack]]\nname = \"reads\"\nany = [{{ signal = \"{signal}\", at_least = 3 }}]\n");
        std::fs::write(folder.path().join("stacks.toml"), stack + &guards).unwrap();
        let output = whenstop(folder.path(), &["compare", runs.to_str().unwrap(), "--stacks", "stacks.toml"]);
        (output.status.code(), text(&output.stderr))
    };
    for (signal, said) in [
        ("guard:mien.score", "did you mean `mine`?"),
        ("guard:mine.scores", "write `guard:mine.score`"),
        ("guard:stops.score", "the guard `stops` decides, and answers with no number"),
        ("guard:before.score", "add `at = \"before_request\"`"),
        ("guard:mine.score", "the guard `before` answers with a number, and no rule reads it"),
        ("guard:mine", "unknown signal `guard:mine`"),
    ] {
        let (code, stderr) = asked(signal);
        assert!(code == Some(2) && stderr.contains(said), "{signal}: {stderr}");
    }
    std::fs::write(folder.path().join("grid.toml"), "[[axis]]\nsignal = \"guard:mine.score\"\nat_least = [3, 5]\n")
        .unwrap();
    let in_parts = ["--guard", "mine=sh mine.sh", "--grid", "grid.toml", "--shard", "1/2", "--out", "part"];
    for (arguments, said) in [
        (&in_parts[..], "a grid with the number of a guard is not divided"),
        (&["--guard", "mine=sh mine.sh"], "`--guard` without a rule that reads its number"),
        (&["--guard", "mine=sh stops.sh", "--signal", "steps", "--limits", "3"], "decides, and answers with no number"),
        (&["--signal", "guard:mine.score", "--limits", "3"], "no guard is called `mine`"),
    ] {
        let output = whenstop(folder.path(), &[&["tune", runs.to_str().unwrap()], arguments].concat());
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(said), "{arguments:?}: {stderr}");
    }
    for (hello, said) in [
        (r#""answers":["reading","stop"]"#, "answers nothing else"),
        (r#""answers":["reading"],"rules":["a","b"]"#, "has one number"),
    ] {
        let file = Sh { hello, ..COUNTS }.write(folder.path(), "wrong");
        let output = whenstop(folder.path(), &["rules", "test", "sh", file.to_str().unwrap()]);
        assert!(text(&output.stdout).contains(said), "{}", text(&output.stdout));
    }
    let (code, said) = {
        let output = whenstop(folder.path(), &["rules", "test", "sh", counts.to_str().unwrap()]);
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("numbers from 2 to "), "{said}");
}

#[test]
fn a_guard_decides_live_as_in_the_replay() {
    let folder = tempfile::tempdir().unwrap();
    let point =
        r#"if [ $n = 2 ]; then say '"answer":"warn","message":"slow down"'; else say '"answer":"continue"'; fi"#;
    let guard = Sh { hello: r#""answers":["warn"]"#, point, ..CONTINUES }.start(folder.path(), "warns");
    for run in bundled("traces/verdicts") {
        let mut live = Live::start(&guard, run.header.clone());
        let mut trail: Vec<_> = run.events().iter().flat_map(|event| live.push(event.clone())).collect();
        trail.extend(live.end());
        // The link of a run that nobody concluded is used for the next one.
        drop(live);
        assert_eq!(trail, replay(&run, &guard).trail, "{}", run.header.run_id);
        assert!(trail.iter().all(|decision| decision.detail.as_deref() == Some("slow down")));
    }
    assert_eq!(guard.troubles(), []);
}

/// Everything that was sent, and everything that was answered.
fn lines(folder: &Path, hello: &'static str, runs: &[Run]) -> Vec<serde_json::Value> {
    let seen = folder.join("seen.jsonl");
    let script = Sh { hello, ..CONTINUES }.write(folder, "seen");
    let tee = format!("tee -a {0} | sh {1} | tee -a {0}", seen.display(), script.display());
    let launch = Launch { command: vec!["sh".to_owned(), "-c".to_owned(), tee], folder: None, time_limit: 60 };
    let guard = Arc::new(Guard::new("seen", Program::default(), Box::new(move || launch.start()), WRITE_EVENT));
    for run in runs {
        assert_eq!(replay(run, &guard).stop, None);
    }
    drop(guard);
    let text = std::fs::read_to_string(seen).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_guard_is_sent_what_it_reads_and_no_grade_or_task() {
    let schema = |text: &str| jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let (ours, traces) = (schema(SCHEMA), schema(trace_schema()));
    let mut runs = bundled("traces/verdicts");
    runs.truncate(6);
    assert!(runs.iter().any(|run| run.header.task_id.is_some() && !run.checkpoints().is_empty()));
    let hidden = ["usage", "cost_usd", "ts", "is_error", "started_at", "finish_reason"];
    for (hello, sends) in [
        (r#""reads":[]"#, &[][..]),
        (r#""reads":["tokens","times"]"#, &["usage", "ts"]),
        (r#""rules":[{"name":"r","reads":["cost"]}]"#, &["cost_usd"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let all = lines(folder.path(), hello, &runs);
        assert!(all.len() > 60, "{}", all.len());
        let mut seen: Vec<&str> = Vec::new();
        for line in &all {
            let errors: Vec<String> = ours.iter_errors(line).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
            if line.get("id").is_none() {
                assert!(traces.is_valid(line), "{line}");
            }
            for secret in ["task_id", "trial", "suite", "meta", "delivered", "native", "success", "score"] {
                assert!(line.get(secret).is_none(), "{line}");
            }
            assert!(!["outcome", "checkpoint"].contains(&line["type"].as_str().unwrap_or_default()), "{line}");
            seen.extend(hidden.iter().filter(|field| line.get(**field).is_some()));
        }
        seen.sort_unstable();
        seen.dedup();
        assert!(sends.iter().all(|field| seen.contains(field)), "{hello} is sent {seen:?}");
        assert!(seen.iter().all(|field| sends.contains(field) || *field == "started_at" && sends.contains(&"ts")));
        let runs = all.iter().filter(|line| line["type"] == "run");
        assert!(runs.clone().count() == 6 && runs.into_iter().all(|run| run["run_id"].as_str().unwrap().len() == 16));
    }
}

#[test]
fn what_a_guard_reads_and_a_run_lacks_is_not_evaluable() {
    let folder = tempfile::tempdir().unwrap();
    let hello = r#""answers":["stop"],"rules":["steps",{"name":"budget","reads":["tokens"]}]"#;
    let guard = Sh { hello, ..CONTINUES }.start(folder.path(), "two");
    let text = r#"{"type":"run","run_id":"a"}
{"type":"message","role":"assistant","content":"done"}
"#;
    let replayed = replay(&trace::read_text(text).runs[0], &guard);
    let unread: Vec<String> = replayed.not_evaluable.iter().map(ToString::to_string).collect();
    assert_eq!(unread, ["budget: no usage"]);
    assert!(!replayed.path_in_doubt, "a guard that only stops leaves no path");
}

/// Recordings for the bad guards; the page replays each once more.
const FEW: usize = 4;

/// How a guard is bad, what is said about it, and on how many of these runs it is unknown (`None`: it depends on
/// how many processes there are).
const BAD: [(&str, Sh, &str, Option<usize>); 14] = [
    ("silent", Sh { point: "sleep 1000", ..CONTINUES }, "gave no answer within 1 s", Some(FEW)),
    (
        "slow",
        Sh { point: r#"[ $n = 2 ] && sleep 3; say '"answer":"continue"'"#, ..CONTINUES },
        "gave no answer within 1 s",
        None,
    ),
    (
        "crashes",
        Sh { run: "[ $runs = 7 ] && { echo oh no >&2; exit 3; }", ..CONTINUES },
        "ended (exit status 3) and wrote to stderr `oh no`",
        None,
    ),
    (
        "twice",
        Sh { point: r#"say '"answer":"continue"'; say '"answer":"continue"'"#, ..CONTINUES },
        "which answers something it was not asked",
        Some(FEW),
    ),
    (
        "logs",
        Sh { point: r#"echo point $n; say '"answer":"continue"'"#, ..CONTINUES },
        "wrote `point 1`, which is not an answer",
        Some(FEW),
    ),
    (
        "list",
        Sh { point: "echo []", ..CONTINUES },
        "wrote `[]`, which is not an answer: an answer is one JSON object",
        Some(FEW),
    ),
    (
        "ahead",
        Sh {
            point: r#"printf '{"id":"%s","answer":"continue"}\n{"id":"%s","answer":"stop"}\n' "$id" "${id%-*}-$((n + 1))""#,
            ..CONTINUES
        },
        "which answers something it was not asked",
        Some(FEW),
    ),
    (
        "late-logs",
        Sh { end: r#"echo over; say '"answer":"continue"'"#, ..CONTINUES },
        "wrote `over`, which is not an answer",
        Some(FEW),
    ),
    (
        "long",
        Sh { point: r#"head -c 10000000 /dev/zero | tr '\0' x; say '"answer":"continue"'"#, ..CONTINUES },
        "answered with more than 65536 bytes",
        Some(FEW),
    ),
    ("version", Sh { hello: r#""protocol":2"#, ..CONTINUES }, "speaks version 2 of the protocol", Some(FEW)),
    ("killed", Sh { point: "kill -9 $$", ..CONTINUES }, "ended (signal 9)", Some(FEW)),
    (
        "torn",
        Sh { point: r#"printf '{"id":"%s","ans' "$id"; exit 0"#, ..CONTINUES },
        "ended (exit status 0)",
        Some(FEW),
    ),
    (
        "foreign",
        Sh { point: r#"say '"answer":"warn"'"#, ..CONTINUES },
        "does not list `warn` among its `answers`",
        Some(FEW),
    ),
    ("nan", Sh { point: r#"say '"answer":"stop","reading":NaN'"#, ..CONTINUES }, "which is not an answer", Some(FEW)),
];

/// Stacks beside the bad guards: the user's own, and a framework's.
const OTHERS: &str = "[[stack]]
name = \"good\"
any = [{ signal = \"steps\", at_least = 3 }]
[[stack]]
name = \"repeats\"
any = [{ signal = \"call_result.streak\", at_least = 2, then = \"warn\" }]
[[stack]]
use = \"openhands\"
";

/// The stack file entry of a guard in this folder.
fn entry(sh: &Sh, folder: &Path, name: &str) -> String {
    let file = sh.write(folder, name);
    let command = format!("[\"sh\", \"{}\"]", file.file_name().unwrap().display());
    format!("[[stack]]\nname = \"{name}\"\ncommand = {command}\ntime_limit = 1\n")
}

/// Copies [`FEW`] recordings into the folder `runs`.
fn copy_few(folder: &Path) {
    let verdicts = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/verdicts");
    std::fs::create_dir(folder.join("runs")).unwrap();
    for name in ["let_be", "killed_verified", "good_trim", "missed"] {
        let name = format!("{name}.jsonl");
        std::fs::copy(verdicts.join(&name), folder.join("runs").join(&name)).unwrap();
    }
}

fn rows_of(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("out/rows.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a bound on waiting, far above what is needed")]
fn a_bad_guard_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let stacks: String = BAD.iter().map(|(name, sh, ..)| entry(sh, folder.path(), name)).collect();
    std::fs::write(folder.path().join("stacks.toml"), stacks).unwrap();
    copy_few(folder.path());
    let begin = Instant::now();
    let output =
        whenstop(folder.path(), &["--threads", "1", "compare", "runs", "--stacks", "stacks.toml", "--out", "out"]);
    assert!(begin.elapsed() < Duration::from_mins(2), "{:?}", begin.elapsed());
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let rows = rows_of(folder.path());
    for (name, _, said, unknown) in &BAD {
        let errors: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("error: ") && line.contains(&format!("guard `{name}`")))
            .collect();
        assert!(errors.len() == 1 && errors[0].contains(said), "{name}: {errors:?}\n{stderr}");
        let no_answers = |row: &&BTreeMap<String, String>| {
            row["stack"] == *name && row["not_evaluable"].contains("no answers from the guard")
        };
        let n = rows.iter().filter(no_answers).count();
        assert!(unknown.is_none_or(|unknown| n == unknown) && n > 0, "{name} is unknown on {n} runs");
        assert!(
            rows.iter().filter(no_answers).all(|row| row["stop_point"].is_empty() && row["stopped_low"] == "0"),
            "{name}"
        );
    }
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out/manifest.json")).unwrap()).unwrap();
    let guard = &manifest["stacks"][0]["guard"];
    assert_eq!(guard["command"], serde_json::json!(["sh", "silent.sh"]));
    assert!(guard["files"][0][0] == "silent.sh" && guard["files"][0][1].as_str().unwrap().len() == 64, "{guard}");
}

#[test]
fn a_bad_guard_changes_no_row_of_another_stack() {
    let folder = tempfile::tempdir().unwrap();
    copy_few(folder.path());
    let others_beside = |bad: &str| {
        std::fs::write(folder.path().join("stacks.toml"), format!("{OTHERS}{bad}")).unwrap();
        let out = ["--threads", "2", "compare", "runs", "--stacks", "stacks.toml", "--out", "out"];
        let output = whenstop(folder.path(), &out);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let rows = rows_of(folder.path());
        let (ours, theirs): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| !BAD.iter().any(|(name, ..)| row["stack"] == *name));
        (ours, theirs.len())
    };
    let (alone, _) = others_beside("");
    assert!(alone.len() == 3 * FEW && alone.iter().any(|row| !row["stop_point"].is_empty()));
    for (name, sh, ..) in &BAD {
        let (beside, theirs) = others_beside(&entry(sh, folder.path(), name));
        assert_eq!(theirs, FEW, "{name}");
        assert_eq!(beside, alone, "beside {name}");
    }
}

/// A run of so many steps.
fn run_of(nth: usize, steps: usize) -> String {
    let step = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n".repeat(steps);
    format!("{{\"type\":\"run\",\"run_id\":\"r{nth:02}\"}}\n{step}")
}

/// What a guard fails on is unknown, and nothing else, in whatever order the runs come to it, and however long another
/// guard takes.
#[test]
fn rows_do_not_depend_on_the_threads_where_a_guard_fails_often() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = String::new();
    for nth in 0..60 {
        runs += &run_of(nth, if nth < 24 || nth % 7 == 0 { 5 } else { 2 });
    }
    std::fs::write(folder.path().join("runs.jsonl"), runs).unwrap();
    // It fails on runs of more than three steps: on the first 24 in a row, and on every seventh after them.
    let point = "[ $n -gt 3 ] && exit 3; say '\"answer\":\"continue\"'";
    let fails = entry(&Sh { point, ..CONTINUES }, folder.path(), "fails");
    let point = "[ $n -gt 4 ] && sleep 0.05; say '\"answer\":\"continue\"'";
    let slow = entry(&Sh { point, ..CONTINUES }, folder.path(), "slow");
    std::fs::write(folder.path().join("stacks.toml"), fails + &slow).unwrap();
    let rows = ["1", "2", "4", "8"].map(|threads| {
        let command = ["--threads", threads, "compare", "runs.jsonl", "--stacks", "stacks.toml", "--out", "out"];
        let output = whenstop(folder.path(), &command);
        assert!(output.status.success(), "{}", text(&output.stderr));
        rows_of(folder.path())
    });
    let unknown = |row: &&BTreeMap<String, String>| !row["not_evaluable"].is_empty();
    assert_eq!(rows[0].iter().filter(unknown).count(), 24 + 5);
    assert!(rows.iter().all(|other| *other == rows[0]));
}

/// Which run gets which process depends on the threads: rows that come of one process only, or one error.
#[test]
fn a_guard_whose_processes_shake_hands_differently_is_an_error_or_never_asked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("runs.jsonl"), (0..20).map(|nth| run_of(nth, 3)).collect::<String>()).unwrap();
    let hello = "\"answers\":[\"stop\"],\"version\":\"'$$'\"";
    let point = "sleep 0.02; say '\"answer\":\"continue\"'";
    let differs = entry(&Sh { hello, point, ..CONTINUES }, folder.path(), "differs");
    std::fs::write(folder.path().join("stacks.toml"), differs).unwrap();
    let exits = ["1", "2", "4", "8"].map(|threads| {
        let out = format!("out-{threads}");
        let command = ["--threads", threads, "compare", "runs.jsonl", "--stacks", "stacks.toml", "--out", &out];
        let output = whenstop(folder.path(), &command);
        let said = text(&output.stderr);
        if output.status.success() {
            assert!(!said.contains("guard `differs`"), "{said}");
        } else {
            assert!(said.contains("guard `differs` shook hands with `version ") && said.contains("given up"), "{said}");
            assert!(!folder.path().join(out).exists());
        }
        output.status.code()
    });
    assert_eq!(exits[0], Some(0));
    assert_eq!(exits[3], Some(3), "{exits:?}");
}

#[test]
fn a_guard_that_is_silent_on_ten_runs_is_given_up_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let silent = Sh { point: "echo >> $0.seen; sleep 9", ..CONTINUES };
    std::fs::write(folder.path().join("stacks.toml"), entry(&silent, folder.path(), "silent")).unwrap();
    for (n, exit) in [(9, 0), (30, 3)] {
        std::fs::write(folder.path().join("runs.jsonl"), (0..n).map(|nth| run_of(nth, 1)).collect::<String>()).unwrap();
        let _ = std::fs::remove_file(folder.path().join("silent.sh.seen"));
        let command =
            ["--threads", "4", "compare", "runs.jsonl", "--stacks", "stacks.toml", "--out", &format!("out-{n}")];
        let output = whenstop(folder.path(), &command);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{said}");
        assert!(said.contains("gave no answer within 1 s"), "{said}");
        let asked = std::fs::read_to_string(folder.path().join("silent.sh.seen")).unwrap().lines().count();
        // Four threads ask about at most three more than ten; a page asks once more about the runs that it shows.
        assert!(asked <= 2 * 13, "{asked}");
        assert_eq!(folder.path().join(format!("out-{n}")).exists(), exit == 0);
        assert_eq!(said.contains("given up after"), exit == 3, "{said}");
    }
}

/// A program made for one run ends after it; that is no failure. One that ends without an answer has failed.
#[test]
fn a_guard_that_ends_between_two_runs_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut runs = bundled("traces/synthetic/service.jsonl");
    runs.truncate(12);
    let hello = r#""answers":["stop"],"rules":["third"]"#;
    let point = r#"if [ $n -ge 3 ]; then say "\"answer\":\"stop\",\"reading\":$n"; else say '"answer":"continue"'; fi"#;
    let whole = Sh { hello, point, ..CONTINUES }.start(folder.path(), "lasts");
    for (name, end, is_known) in [
        ("ends", r#"say '"answer":"continue"'; exit 0"#, true),
        ("fails", r#"say '"answer":"continue"'; exit 3"#, false),
        ("unconfirmed", "exit 0", false),
    ] {
        let guard = Sh { hello, point, end, ..CONTINUES }.start(folder.path(), name);
        let unknown = runs.iter().filter(|run| {
            let (here, there) = (replay(run, &guard), replay(run, &whole));
            assert!(!is_known || (&here.trail, &here.stop) == (&there.trail, &there.stop), "{}", run.header.run_id);
            !here.not_evaluable.is_empty()
        });
        assert_eq!((unknown.count() == 0, guard.troubles().is_empty()), (is_known, is_known), "{name}");
    }
}

/// Whether a process with this number runs.
fn runs(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = text(&state.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[expect(clippy::disallowed_methods, reason = "a bound on waiting, far above what is needed")]
fn waits_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether this process, and so every one it starts, ignores a signal; false where that cannot be told.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn no_process_stays_behind() {
    let folder = tempfile::tempdir().unwrap();
    // It waits for a child of its own, and neither ends when stdin does.
    let point = "sleep 1000 & echo $! > child.tmp; mv child.tmp child; echo $$ > guard.tmp; mv guard.tmp guard; wait";
    let file = Sh { point, ..CONTINUES }.write(folder.path(), "waits");
    let command = format!("waits=sh {}", file.display());
    let runs_at = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/verdicts");
    for (signal, number) in [("-INT", 2), ("-QUIT", 3), ("-TERM", 15), ("-HUP", 1)] {
        // A job in the background of a shell, and all it starts, ignore INT.
        if is_ignored(number) {
            eprintln!("not tried: {signal} is ignored here");
            continue;
        }
        let _ = std::fs::remove_file(folder.path().join("guard"));
        let mut compare = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        compare.args(["--threads", "1", "compare", runs_at.to_str().unwrap(), "--guard", &command]);
        compare.current_dir(folder.path());
        let mut compare = compare.stderr(std::process::Stdio::null()).spawn().unwrap();
        waits_for("the guard is asked", || folder.path().join("guard").exists());
        let pid = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap().trim().to_owned();
        let (guard, child) = (pid("guard"), pid("child"));
        assert!(runs(&guard) && runs(&child));
        Command::new("kill").args([signal, &compare.id().to_string()]).status().unwrap();
        assert!(!compare.wait().unwrap().success());
        waits_for("both have ended", || !runs(&guard) && !runs(&child));
    }
}

#[test]
fn a_project_file_starts_no_guard_unless_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sh { run: "touch started", ..CONTINUES }.write(folder.path(), "mine");
    let stack = format!("[[stack]]\nname = \"mine\"\ncommand = [\"sh\", \"{}\"]\n", file.display());
    std::fs::write(folder.path().join("stacks.toml"), stack).unwrap();
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/verdicts");
    let project = format!("recordings = [{recordings:?}]\nstacks = [\"stacks.toml\"]\nsnapshot = \"stops.snap\"\n");
    std::fs::write(folder.path().join("whenstop.toml"), project).unwrap();
    let refused = whenstop(folder.path(), &["ci", "check"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("stacks.toml:3:1") && said.contains("add `--allow-commands`"), "{said}");
    assert!(!folder.path().join("started").exists());
    let accepted = Command::new(env!("CARGO_BIN_EXE_whenstop"))
        .args(["ci", "accept", "--allow-commands"])
        .current_dir(folder.path())
        .env_remove("CI")
        .output()
        .unwrap();
    assert!(accepted.status.success(), "{}", text(&accepted.stderr));
    assert!(folder.path().join("started").exists());
    let held = whenstop(folder.path(), &["ci", "check", "--allow-commands"]);
    assert!(held.status.success(), "{}{}", text(&held.stdout), text(&held.stderr));
    // Another text of the guard is another rule set, even with the same stops.
    std::fs::write(&file, format!("{}\n# changed\n", std::fs::read_to_string(&file).unwrap())).unwrap();
    let changed = whenstop(folder.path(), &["ci", "check", "--allow-commands", "--format", "json"]);
    assert!(text(&changed.stdout).contains("\"rules_changed\": true"), "{}", text(&changed.stdout));
}

#[test]
fn guard_test_finds_state_and_what_never_happens() {
    let folder = tempfile::tempdir().unwrap();
    let test = |name: &str, sh: Sh| {
        let file = sh.write(folder.path(), name);
        let output = whenstop(folder.path(), &["rules", "test", "sh", file.to_str().unwrap()]);
        (output.status.code(), text(&output.stdout))
    };
    let (code, said) = test("good", CONTINUES);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("in another order: yes") && said.contains("never answers `stop`"), "{said}");
    let stops = r#"[ $runs -gt 40 ] && say '"answer":"stop"' || say '"answer":"continue"'"#;
    let (code, said) = test("counts-runs", Sh { point: stops, ..CONTINUES });
    assert_eq!(code, Some(100), "{said}");
    assert!(said.contains("asked again: yes") && said.contains("in another order: no"), "{said}");
    let chance =
        r#"say "\"answer\":\"continue\",\"reading\":1"; [ $(($(date +%N | tr -d 0 | tail -c 2) % 2)) = 0 ] && exit"#;
    let (code, said) = test("fails", Sh { point: chance, ..CONTINUES });
    assert_eq!(code, Some(100), "{said}");
    assert!(said.contains("mend: "), "{said}");
}

#[test]
fn the_examples_are_short() {
    for (examples, number) in [(EXAMPLES, None), (NUMBER_EXAMPLES, Some("--number"))] {
        for (language, file, text) in examples {
            assert!(text.lines().count() < 35, "{file}");
            let asked = ["rules", "new", "--language", language];
            let printed = whenstop(Path::new("."), &asked.into_iter().chain(number).collect::<Vec<_>>());
            assert_eq!(printed.stdout, text.as_bytes());
        }
    }
}

#[test]
fn a_wrong_guard_is_an_error_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/verdicts");
    let compare = |rest: &[&str]| whenstop(folder.path(), &[&["compare", runs.to_str().unwrap()], rest].concat());
    for (guard, said) in [
        ("mine=no-such-program", "cannot be started: no-such-program"),
        ("mine=", "the command is empty"),
        ("mine='sh", "a quote is not closed"),
        ("sh guard.sh", "give a name and a command"),
    ] {
        let output = compare(&["--guard", guard]);
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(said), "{guard}: {stderr}");
    }
    let keys = "[[stack]]\nname = \"a\"\ncommand = []\n[[stack]]\ncommand = [\"sh\"]\n[[stack]]\nname = \"c\"\ncommand = [\"sh\"]\nany = []\ntimeout = 3\n";
    std::fs::write(folder.path().join("stacks.toml"), keys).unwrap();
    let output = compare(&["--stacks", "stacks.toml"]);
    let stderr = text(&output.stderr);
    for said in
        ["`command` is empty", "a guard without a `name`", "`any` beside `command`", "did you mean `time_limit`"]
    {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

/// The rules of the example stacks, written in Python, against our own.
#[test]
#[ignore = "needs python3: cargo test --test it guards -- --ignored"]
fn the_rules_of_the_example_stacks_in_python_stop_as_ours_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ours = crate::bundled::example();
    let (mut pairs, mut stops) = (0, 0);
    let runs = bundled("traces");
    for name in ["tight-budget", "loose-budget", "same-call", "same-call-and-result", "errors", "mixed"] {
        let stack = ours.iter().find(|stack| stack.name() == name).unwrap();
        let script = root.join("tests/guards/signals.py").display().to_string();
        let launch =
            Launch { command: vec!["python3".to_owned(), script, name.to_owned()], folder: None, time_limit: 60 };
        let guard = Arc::new(Guard::new(name, Program::default(), Box::new(move || launch.start()), WRITE_EVENT));
        for run in &runs {
            let (here, there) = (replay(run, stack), replay(run, &guard));
            assert_eq!(here.stop, there.stop, "{} under {name}", run.header.run_id);
            assert_eq!(here.not_evaluable, there.not_evaluable, "{} under {name}", run.header.run_id);
            pairs += 1;
            stops += usize::from(here.stop.is_some());
        }
        assert_eq!(guard.troubles(), []);
    }
    assert!(pairs > 3_000 && stops > 400, "{pairs} {stops}");
}
