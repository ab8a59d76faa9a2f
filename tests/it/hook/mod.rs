//! The hook's program against the replay: each session as the events that its host would have sent, one process each.

mod made;
mod render;
mod setup;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use whenstop::catalog;
use whenstop::catalog::Strategies;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::replay::trail;
use whenstop::transcript::Run;
use whenstop_hook::host::HostAgent;
use whenstop_hook::log::{self, LogLine};
use whenstop_hook::settings::Folders;

use crate::shared;
use render::{Session, Usage};

/// The hook's program, built if it is not there or is older than its sources. With the whole workspace and a test that needs
/// it, so that what `cargo test --workspace` built is used as it is, not compiled again with other features.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tool = Path::new(env!("CARGO_BIN_EXE_whenstop"));
        let mut build = Command::new(env!("CARGO"));
        build.args(["test", "--quiet", "--no-run", "--workspace", "--test", "states"]);
        if tool.parent().unwrap().ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
        tool.with_file_name("whenstop-hook")
    })
}

/// Rules on all that the hook reads: each in a stack of its own, named after it.
const LIMITS: [(&str, &[f64]); 8] = [
    ("steps", &[2.0, 5.0, 20.0, 50.0, 100.0]),
    ("tokens.total", &[3_000.0, 100_000.0, 500_000.0, 2_000_000.0, 5_000_000.0]),
    ("tokens.output", &[5_000.0]),
    ("call.streak", &[2.0, 3.0]),
    ("call_result.count", &[2.0, 3.0, 5.0]),
    ("call_result.streak", &[2.0, 3.0]),
    ("errors.streak", &[1.0, 2.0, 3.0]),
    ("active", &[60.0, 300.0, 1800.0]),
];

fn stacks() -> String {
    let mut text = String::new();
    for (signal, limits) in LIMITS {
        for limit in limits {
            let _ = write!(
                text,
                "[[stack]]\nname = \"{signal} {limit}\"\nany = [{{ signal = \"{signal}\", at_least = {limit} }}]\n"
            );
        }
    }
    text
}

/// A hook with a home of its own.
pub(crate) struct Home {
    pub(crate) folder: tempfile::TempDir,
    host: HostAgent,
}

impl Home {
    pub(crate) fn new(host: HostAgent, mode: &str, stacks: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), host };
        let config = home.folders().config;
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.toml"), format!("mode = \"{mode}\"\n")).unwrap();
        std::fs::write(config.join("stacks.toml"), stacks).unwrap();
        home
    }

    pub(crate) fn folders(&self) -> Folders {
        let place = |base: &str| self.folder.path().join(base).join("whenstop/hook").join(self.host.id());
        Folders { config: place("config"), state: place("state") }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.arg(self.host.id()).stdin(Stdio::piped()).stdout(Stdio::piped()).env_remove("CLAUDE_CODE_ENTRYPOINT");
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        command
    }

    /// Sends one event and returns the answer.
    pub(crate) fn send(&self, payload: &serde_json::Value) -> serde_json::Value {
        let mut child = self.command().spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn log(&self) -> Vec<LogLine> {
        log::read(&self.folders().log())
    }
}

/// Where a rule stops a round: the point, the reading and the step after which it was acted upon.
#[derive(Clone, Debug, PartialEq)]
struct Stop {
    point: String,
    observed: Option<f64>,
    acted_after: u32,
    late: bool,
}

type Stops = BTreeMap<(usize, String), Stop>;

/// Where each stack stops each round in the replay.
fn replayed(run: Run, strategies: &Strategies) -> Stops {
    let mut stops = Stops::new();
    for (round, run) in run.into_rounds().iter().enumerate() {
        for strategy in strategies {
            let decisions = trail(run, strategy);
            let Some(stop) = decisions.iter().find(|decision| decision.action.is_terminal()) else { continue };
            let acted_after = stop.point.step;
            let stop =
                Stop { point: stop.point.to_string(), observed: stop.evidence.observed, acted_after, late: false };
            stops.insert((round, strategy.name().to_owned()), stop);
        }
    }
    stops
}

/// Where the hook's program acted, by its log.
fn lived(session: &Session, usage: Usage) -> Stops {
    let home = Home::new(HostAgent::ClaudeCode, "observe", &stacks());
    let transcript = home.folder.path().join("transcript.jsonl");
    std::fs::write(&transcript, "").unwrap();
    for event in session.events(&transcript, usage) {
        if let Some(written) = event.transcript {
            std::fs::write(&transcript, &session.text[..written]).unwrap();
        }
        assert_eq!(home.send(&event.payload), serde_json::json!({}));
    }
    let mut stops = Stops::new();
    for line in home.log() {
        assert_eq!(line.did, "observed", "{line:?}");
        // A session that does not begin with a prompt has a round before the first one.
        let round = usize::try_from(line.round).unwrap() - usize::from(session.begins_with_prompt);
        let stop = Stop { point: line.point, observed: line.observed, acted_after: line.step, late: line.late };
        assert_eq!(stops.insert((round, line.stack.clone()), stop), None, "{} acts twice in a round", line.stack);
    }
    stops
}

/// How the stops of the hook differ from those of the replay, by signal.
#[derive(Debug, Default, PartialEq, Eq)]
struct Differences {
    rounds: usize,
    events: usize,
    /// Stops of the replay.
    stops: BTreeMap<String, usize>,
    /// Stops at the same point, on the same reading, acted upon at once.
    equal: BTreeMap<String, usize>,
    /// The same, acted upon one step later and marked.
    late: BTreeMap<String, usize>,
    /// Everything else, by signal and cause.
    other: BTreeMap<(String, &'static str), usize>,
}

impl Differences {
    fn add(&mut self, session: &Session, replayed: &Stops, lived: &Stops, usage: Usage) {
        self.rounds += session.n_rounds;
        let signal = |stack: &str| stack.split(' ').next().unwrap_or_default().to_owned();
        let count = |counts: &mut BTreeMap<String, usize>, stack: &str| *counts.entry(signal(stack)).or_default() += 1;
        for (key @ (round, stack), stop) in replayed {
            count(&mut self.stops, stack);
            match lived.get(key) {
                Some(live) if live == stop => count(&mut self.equal, stack),
                Some(live)
                    if (&live.point, live.observed) == (&stop.point, stop.observed)
                        && live.late
                        && live.acted_after == stop.acted_after + 1 =>
                {
                    count(&mut self.late, stack);
                }
                live => {
                    let cause = session.cause(*round, stack, usage, Some(stop.acted_after)).unwrap_or("unexplained");
                    if std::env::var_os("WHENSTOP_SHOW").is_some() {
                        eprintln!("{} round {round} {stack}: {cause}\n  {stop:?}\n  {live:?}", session.name);
                    }
                    *self.other.entry((signal(stack), cause)).or_default() += 1;
                }
            }
        }
        for (round, stack) in lived.keys().filter(|key| !replayed.contains_key(key)) {
            let cause = session.cause(*round, stack, usage, None).unwrap_or("unexplained, extra");
            if std::env::var_os("WHENSTOP_SHOW").is_some() {
                eprintln!("{} round {round} {stack}: extra, {cause}", session.name);
            }
            *self.other.entry((signal(stack), cause)).or_default() += 1;
        }
    }
}

/// Sends every session of the paths, with the transcript written in time or one event late.
fn compare(paths: &[PathBuf], usage: Usage) -> Differences {
    let (_, strategies) = catalog::load("stacks.toml", &stacks()).unwrap();
    let mut differences = Differences::default();
    for path in paths {
        let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
        let mut runs = Vec::new();
        Corpus::open(std::slice::from_ref(path), options).unwrap().process(|run| run, |run| runs.push(run)).unwrap();
        for run in runs {
            let Some(session) = Session::from_path(path, &run) else { continue };
            let lived = lived(&session, usage);
            differences.events += session.n_events();
            differences.add(&session, &replayed(run, &strategies), &lived, usage);
        }
    }
    differences
}

/// Files of Claude Code sessions in a folder.
fn sessions_in(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let is_session = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    files.map(walkdir::DirEntry::into_path).filter(is_session).collect()
}

/// The causes that are known, and named in `render`.
fn unexplained(differences: &Differences) -> usize {
    differences.other.iter().filter(|((_, cause), _)| cause.starts_with("unexplained")).map(|(_, n)| n).sum()
}

#[test]
fn a_session_stops_where_the_replay_stops() {
    let mut paths = sessions_in(Path::new("fixtures/readers/claude-code"));
    paths.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("good"));
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.jsonl");
    std::fs::write(&made, made::session()).unwrap();
    paths.push(made);
    let in_time = compare(&paths, Usage::InTime);
    assert_eq!((in_time.late.len(), in_time.other.len()), (0, 0), "{in_time:#?}");
    assert_eq!(in_time.stops, in_time.equal);
    for signal in ["steps", "tokens.total", "call.streak", "call_result.count", "errors.streak", "active"] {
        assert!(in_time.equal.get(signal).is_some_and(|n| *n >= 3), "{signal}: {in_time:#?}");
    }
    let late = compare(&paths, Usage::OneEventLate);
    assert!(late.late["tokens.total"] >= 3 && unexplained(&late) == 0, "{late:#?}");
    assert_eq!(late.equal["steps"], in_time.equal["steps"]);
}

#[test]
#[ignore = "thousands of processes, for minutes: cargo test --test it hook -- --ignored --nocapture"]
fn every_session_of_the_corpora_stops_where_the_replay_stops() {
    let folders = ["sessions/entire", "corpora/claude-code", "corpora-2/claude-code-2026"].map(shared::folder);
    let paths: Vec<PathBuf> = folders.iter().flat_map(|folder| sessions_in(folder)).collect();
    for usage in [Usage::InTime, Usage::OneEventLate] {
        let differences = compare(&paths, usage);
        eprintln!("{usage:?}: {differences:#?}");
        assert_eq!(unexplained(&differences), 0);
    }
}
