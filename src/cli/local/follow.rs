//! `whenstop local --follow`: the sessions that are growing, and their readings against the limits. It only reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{STARTER, agent_files, now};
use crate::catalog::{self, Strategies};
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{ByArg, KeptForecasts, load_stack_file, to_come};
use crate::cli::output::Output;
use crate::decision::RuleReading;
use crate::diagnostic::{Diagnostic, Location, count};
use crate::forecast::Forecast;
use crate::reader::{Corpus, Detail, ReadOptions};
use crate::replay::replay_seen;
use crate::snapshot::known_or;
use crate::transcript::Run;

/// A session is growing if its file changed in the last so many minutes.
const MINUTES: u64 = 10;
/// Files are looked at again after so long.
const EVERY: Duration = Duration::from_secs(1);

/// Arguments of `local --follow`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Follow the sessions that are growing: their readings against the limits, a line each time one grows. Folders or
    /// files of sessions; by default those of the agents on this machine. It only reads.
    #[arg(long, value_name = "PATH", num_args = 0.., conflicts_with_all = ["days", "price", "accept", "by", "out"])]
    follow: Option<Vec<PathBuf>>,
    /// With `--follow`: the stack file with the limits; by default the starter stacks.
    #[arg(long, value_name = "FILE", requires = "follow")]
    stacks: Option<PathBuf>,
    /// With `--follow`: look once.
    #[arg(long, requires = "follow")]
    once: bool,
    /// With `--follow`: also what is still to come, from a file that `corpus --forecast --out` wrote.
    #[arg(long, value_name = "FILE", requires = "follow")]
    forecast: Option<PathBuf>,
    /// With `--follow`: how to print a session that grew.
    #[arg(long, value_enum, default_value_t, requires = "follow")]
    format: FollowFormat,
}

impl Args {
    pub(super) fn is_given(&self) -> bool {
        self.follow.is_some()
    }
}

/// How a session is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum FollowFormat {
    /// One line for people.
    #[default]
    Line,
    /// One JSON object a line.
    Json,
}

/// What the rules read in the latest round of a session.
struct RoundReading {
    session: String,
    agent: String,
    round: usize,
    steps: usize,
    /// By stack.
    rules: Vec<(String, RuleReading)>,
    /// Where a stack would have stopped the round: stack, rule and step.
    stopped: Vec<(String, String, u32)>,
    /// What is still to come.
    forecast: Vec<Forecast>,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let strategies = match &args.stacks {
        Some(path) => load_stack_file(path).map_err(CommandFailure::usage)?.1,
        None => catalog::load("the starter stacks", STARTER).map_err(CommandFailure::usage)?.1,
    };
    let forecasts = KeptForecasts::read(args.forecast.as_deref()).map_err(CommandFailure::input)?;
    let mut seen: BTreeMap<PathBuf, (u64, SystemTime)> = BTreeMap::new();
    let mut unread = BTreeSet::new();
    loop {
        let (growing, lost) = growing(args);
        for diagnostic in lost {
            tell_once(&diagnostic, &mut unread, output);
        }
        if growing.is_empty() && args.once {
            let what = format!("no session grew in the last {MINUTES} minutes");
            return Err(CommandFailure::nothing(what, "ask again while an agent is at work, or name a PATH"));
        }
        for (path, state) in growing {
            // A file that did not change says nothing new.
            if seen.insert(path.clone(), state) != Some(state) {
                match readings(&path, &strategies, &forecasts) {
                    Ok(readings) => readings.iter().for_each(|reading| show(reading, args.format, output)),
                    Err(what) => tell_once(&unreadable(&path, what), &mut unread, output),
                }
            }
        }
        if args.once || output.is_closed() {
            return Ok(ProgramExit::Done);
        }
        std::thread::sleep(EVERY);
    }
}

fn unreadable(path: &Path, what: impl std::fmt::Display) -> Diagnostic {
    let at = Location::file(path.display().to_string());
    Diagnostic::new(at, format!("cannot read: {what}"), "it is not followed: check the path and its permissions")
}

/// Tells what cannot be read, once for each path.
fn tell_once(diagnostic: &Diagnostic, told: &mut BTreeSet<String>, output: &Output) {
    if told.insert(diagnostic.at.path.clone()) {
        output.warning(diagnostic);
    }
}

/// The files that changed lately, by path, with their size and time; and what cannot be read.
fn growing(args: &Args) -> (BTreeMap<PathBuf, (u64, SystemTime)>, Vec<Diagnostic>) {
    let mut lost = Vec::new();
    let since = now().checked_sub(Duration::from_secs(MINUTES * 60));
    let files = match args.follow.as_deref() {
        None | Some([]) => agent_files(since),
        Some(paths) => paths.iter().flat_map(|path| within(path, &mut lost)).collect(),
    };
    let state = |path: PathBuf| {
        let data = std::fs::metadata(&path).ok()?;
        let changed = data.modified().ok()?;
        if matches!(since, Some(since) if changed < since) {
            return None;
        }
        Some((path, (data.len(), changed)))
    };
    (files.into_iter().filter_map(state).collect(), lost)
}

fn within(path: &Path, lost: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(_) => {}
            Err(error) => {
                let at = error.path().unwrap_or(path).to_path_buf();
                let why = match error.io_error() {
                    Some(reason) => reason.to_string(),
                    None => error.to_string(),
                };
                lost.push(unreadable(&at, why));
            }
        }
    }
    files
}

/// The readings of the runs in a file; none while a line of it is being written.
///
/// # Errors
/// If it cannot be read at all.
fn readings(path: &Path, strategies: &Strategies, forecasts: &KeptForecasts) -> Result<Vec<RoundReading>, String> {
    let class = ByArg::place(forecasts.by().as_ref());
    let options = ReadOptions { detail: Detail::Counts, sealed: true, class, ..ReadOptions::default() };
    let mut all = Vec::new();
    let corpus = Corpus::open(&[path.to_path_buf()], options).map_err(|error| error.to_string())?;
    let report = corpus.process(|run: Run| reading(run, strategies, forecasts), |reading| all.extend(reading));
    let report = report.map_err(|error| error.to_string())?;
    match report.skipped.iter().find(|skipped| skipped.unreadable) {
        Some(skipped) => Err(skipped.reason.clone()),
        None => Ok(all),
    }
}

/// What the rules read in a run's latest round.
fn reading(run: Run, strategies: &Strategies, forecasts: &KeptForecasts) -> Option<RoundReading> {
    if run.header.parent.is_some() {
        return None;
    }
    let (session, agent) = (run.header.run_id.clone(), run.header.agent.clone().unwrap_or_default());
    let rounds = run.into_rounds();
    let latest = rounds.last()?;
    let mut reading = RoundReading {
        session,
        agent,
        round: rounds.len(),
        steps: latest.steps().len(),
        rules: Vec::new(),
        stopped: Vec::new(),
        forecast: forecasts.reached(latest, latest.steps().len()).to_vec(),
    };
    for strategy in strategies {
        let mut rules = Vec::new();
        let replayed = replay_seen(latest, strategy, |_, watch| rules = watch.readings());
        let name = strategy.name();
        reading.rules.extend(rules.into_iter().map(|rule| (name.to_owned(), rule)));
        let ended = replayed.trail.iter().find(|decision| decision.action.is_terminal());
        reading.stopped.extend(ended.map(|end| (name.to_owned(), end.rule.to_string(), end.point.step)));
    }
    Some(reading)
}

fn show(reading: &RoundReading, shape: FollowFormat, output: &Output) {
    if shape == FollowFormat::Json {
        let rules = reading.rules.iter().map(|(stack, rule)| {
            serde_json::json!({
                "stack": stack, "rule": rule.rule.as_str(), "observed": rule.observed, "limit": rule.limit,
                "passes": rule.passes,
            })
        });
        let stopped = reading
            .stopped
            .iter()
            .map(|(stack, rule, step)| serde_json::json!({ "stack": stack, "rule": rule, "step": step }));
        let line = serde_json::json!({
            "session": reading.session, "agent": reading.agent, "round": reading.round, "steps": reading.steps,
            "rules": rules.collect::<Vec<_>>(), "stopped": stopped.collect::<Vec<_>>(), "forecast": reading.forecast,
        });
        return output.bytes(format!("{line}\n").as_bytes());
    }
    let number = |number: f64| if number >= 1e5 { format!("{:.1}M", number / 1e6) } else { number.to_string() };
    let mut parts = vec![format!("round {}, {}", reading.round, count(reading.steps as u64, "step"))];
    // The readings of a stack end where it stops the round, while the steps go on: they stand with the stop.
    let mut at_stop: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (stack, _, _) in &reading.stopped {
        at_stop.insert(stack, Vec::new());
    }
    for (stack, rule) in &reading.rules {
        let observed = known_or("?", rule.observed.map(number));
        let text = match rule.limit {
            Some(limit) => format!("{} {observed}/{}", rule.what, number(limit)),
            None => format!("{} {observed}", rule.what),
        };
        match at_stop.get_mut(stack.as_str()) {
            Some(readings) => readings.push(text),
            None => parts.push(text),
        }
    }
    for (stack, _, step) in &reading.stopped {
        let readings = at_stop[stack.as_str()].join(", ");
        let there = if readings.is_empty() { String::new() } else { format!(" ({readings} there)") };
        parts.push(format!("`{stack}` stops at step {step}{there}"));
    }
    if !reading.forecast.is_empty() {
        parts.push(to_come(&reading.forecast));
    }
    output.data(&format!("{} {}: {}\n", reading.agent, reading.session, parts.join(", ")));
}
