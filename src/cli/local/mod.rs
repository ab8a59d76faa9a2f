//! `whenstop local`: finds the sessions that agents keep on this machine, and what the starter stacks would have
//! stopped.

mod fuse;
mod held;
mod spend;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use spend::{By, Sum, by_group, group_of, in_words};

use super::Exit;
use super::compare::show_answer;
use super::destination::Destination;
use super::failure::Failure;
use super::inputs::{Tell, process_telling, read_text};
use super::output::{Format, Output};
use crate::answers::tables::{Cell, Table};
use crate::answers::{FollowedReport, RunEvidence};
use crate::catalog;
use crate::compare::{Evaluation, Evaluator, Options};
use crate::reader::{Corpus, Detail, PriceTable, ReadOptions};
use crate::report::{FolderFormat, Manifest, Publication};
use crate::transcript::{Instant, Run, Spend};

/// Arguments of `local`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only files changed in the last N days.
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: u64,
    /// Prices to use instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    price: Option<PathBuf>,
    /// The share of the rounds that a fuse may cut short, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    accept: f64,
    /// Also list sessions, rounds and spend by project or by agent, the most expensive first.
    #[arg(long, value_enum, value_name = "project|agent")]
    by: Option<By>,
    /// Folder for the page `report.html`, rows and tables.
    #[arg(long, value_name = "DIR")]
    out: Option<Destination>,
}

/// A number from 0 to 100.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "give a percentage from 0 to 100".to_owned())
}

/// The built-in prices.
const PRICES: &str = include_str!("prices.toml");
/// The date they were looked up.
const PRICED_ON: &str = "2026-11-22";
/// The stacks that are tried.
pub(super) const STARTER: &str = include_str!("stacks.toml");

/// Where an agent keeps its sessions.
struct Place {
    agent: &'static str,
    /// An environment variable that overrides `base`.
    variable: Option<&'static str>,
    /// Relative to the home folder.
    base: &'static str,
    /// Relative to `base`.
    folder: &'static str,
    /// File name endings of sessions.
    endings: &'static [&'static str],
}

const fn place(
    agent: &'static str,
    variable: Option<&'static str>,
    base: &'static str,
    folder: &'static str,
    endings: &'static [&'static str],
) -> Place {
    Place { agent, variable, base, folder, endings }
}

/// All locations that are searched.
const PLACES: &[Place] = &[
    place("Claude Code", Some("CLAUDE_CONFIG_DIR"), ".claude", "projects", &[".jsonl"]),
    place("Codex", Some("CODEX_HOME"), ".codex", "sessions", &[".jsonl", ".jsonl.zst"]),
    place("Gemini CLI", None, ".gemini", "tmp", &[".json", ".jsonl"]),
    place("Copilot CLI", None, ".copilot", "session-state", &["events.jsonl", ".jsonl"]),
    place("OpenCode", Some("XDG_DATA_HOME"), ".local/share", "opencode", &[".json"]),
    place("goose", Some("XDG_DATA_HOME"), ".local/share", "goose/sessions", &[".jsonl"]),
    place(
        "Cline",
        Some("XDG_CONFIG_HOME"),
        ".config",
        "Code/User/globalStorage/saoudrizwan.claude-dev/tasks",
        &["api_conversation_history.json"],
    ),
    place(
        "Cline",
        None,
        "Library/Application Support",
        "Code/User/globalStorage/saoudrizwan.claude-dev/tasks",
        &["api_conversation_history.json"],
    ),
    place(
        "Roo Code",
        Some("XDG_CONFIG_HOME"),
        ".config",
        "Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
        &["api_conversation_history.json"],
    ),
    place(
        "Kilo Code",
        Some("XDG_CONFIG_HOME"),
        ".config",
        "Code/User/globalStorage/kilocode.kilo-code/tasks",
        &["api_conversation_history.json"],
    ),
    place("pi", None, ".pi", "agent/sessions", &[".jsonl"]),
    place("Qwen Code", Some("QWEN_HOME"), ".qwen", "projects", &[".jsonl"]),
    place("OpenHands", None, ".openhands", "sessions", &[".json", ".jsonl"]),
];

impl Place {
    /// The folder, if it exists.
    fn path(&self, home: &Path) -> Option<PathBuf> {
        let named = self.variable.and_then(std::env::var_os).filter(|value| !value.is_empty()).map(PathBuf::from);
        let path = named.unwrap_or_else(|| home.join(self.base)).join(self.folder);
        path.is_dir().then_some(path)
    }

    /// Its files changed since `since`, ordered by path.
    fn files(&self, folder: &Path, since: Option<SystemTime>) -> Vec<PathBuf> {
        let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
        let is_new = |entry: &walkdir::DirEntry| {
            let changed = entry.metadata().ok().and_then(|data| data.modified().ok());
            since.zip(changed).is_none_or(|(since, changed)| changed >= since)
        };
        let is_named = |entry: &walkdir::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            self.endings.iter().any(|ending| name.ends_with(ending))
        };
        let files = entries.filter(|entry| entry.file_type().is_file() && is_named(entry) && is_new(entry));
        files.map(walkdir::DirEntry::into_path).collect()
    }
}

/// The home folder.
fn home() -> Option<PathBuf> {
    ["HOME", "USERPROFILE"].into_iter().find_map(std::env::var_os).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The agents that have sessions on this machine; opens no file.
pub(super) fn agents_here() -> Vec<&'static str> {
    let Some(home) = home() else { return Vec::new() };
    let mut agents: Vec<&str> =
        PLACES.iter().filter(|place| place.path(&home).is_some()).map(|place| place.agent).collect();
    agents.dedup();
    agents
}

/// The session files of the agents on this machine that changed since `since`.
pub(super) fn agent_files(since: Option<SystemTime>) -> Vec<PathBuf> {
    let Some(home) = home() else { return Vec::new() };
    let found = PLACES.iter().filter_map(|place| Some(place.files(&place.path(&home)?, since)));
    found.flatten().collect()
}

/// `whenstop local`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let Some(home) = home() else {
        return Err(Failure::nothing(
            "no home folder is known",
            "set `HOME`, or name the files: `whenstop compare PATH`",
        ));
    };
    let since = now().checked_sub(Duration::from_secs(args.days.saturating_mul(86_400)));
    let mut rows = Vec::new();
    let mut files = Vec::new();
    let mut agents = Vec::new();
    for place in PLACES {
        let Some(folder) = place.path(&home) else { continue };
        let found = place.files(&folder, since);
        rows.push(vec![
            Cell::Text(place.agent.to_owned()),
            Cell::Count(found.len() as u64),
            Cell::Text(folder.display().to_string()),
        ]);
        files.extend(found);
        agents.push(place.agent);
    }
    agents.dedup();
    if rows.is_empty() {
        let known: Vec<String> = PLACES.iter().map(|place| format!("~/{}/{}", place.base, place.folder)).collect();
        return Err(Failure::nothing(
            "no agent of those known keeps sessions on this machine",
            format!(
                "looked at {}; name the files yourself: `whenstop compare PATH --unit round --stacks FILE`",
                known.join(", ")
            ),
        ));
    }
    let columns = ["agent", "files", "where"].map(str::to_owned).to_vec();
    output.table(&Table { columns, rows }, Format::Table)?;
    output.data("\n");
    if files.is_empty() {
        return Err(Failure::nothing(
            format!("none of these files was changed in the last {} days", args.days),
            "look further back with `--days`",
        ));
    }
    let options = ReadOptions {
        detail: Detail::Counts,
        sealed: true,
        prices: Some(Arc::new(prices(args)?)),
        ..ReadOptions::default()
    };
    let corpus = Corpus::open(&files, options)?;
    compare(&corpus, &agents, args, output)
}

/// The requested prices, or the built-in ones.
fn prices(args: &Args) -> Result<PriceTable, Failure> {
    let (name, text) = match &args.price {
        Some(path) => {
            let text = read_text(path, "give a file of prices, TOML or JSON").map_err(Failure::usage)?;
            (path.display().to_string(), text)
        }
        None => ("the shipped prices".to_owned(), PRICES.to_owned()),
    };
    PriceTable::parse(&name, &text).map_err(Failure::usage)
}

#[expect(clippy::disallowed_methods, reason = "the last so many days are those of this machine; only `local` asks")]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}

/// Milliseconds since the epoch.
fn instant(time: SystemTime) -> Instant {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn compare(corpus: &Corpus, agents: &[&str], args: &Args, output: &Output) -> Result<Exit, Failure> {
    let (_, strategies) = catalog::load("the starter stacks", STARTER).map_err(Failure::usage)?;
    let evaluator = Evaluator::new(&strategies, Options::default());
    let mut gathered = evaluator.gather();
    let mut sum = Sum::default();
    let (mut groups, home): (BTreeMap<String, Sum>, _) = (BTreeMap::new(), home().unwrap_or_default());
    let judges = fuse::Judges::new(instant(now()));
    let mut of_sessions = Vec::new();
    let work = |run: Run| {
        let spend = Spend::of(run.events());
        // What a sub-agent spent belongs to its session; it has no prompts of its own.
        let rounds = if run.header.parent.is_some() { Vec::new() } else { run.clone().into_rounds() };
        let n = rounds.len() as u64;
        let session = if n > 0 { judges.judge(&run, &rounds) } else { None };
        let group = args.by.map(|by| group_of(run.header.file.as_deref(), &home, by));
        (spend, n, session, group, rounds.iter().map(|round| evaluator.of(round)).collect::<Vec<_>>())
    };
    process_telling(Tell::Lost, corpus, output, work, |(spend, n, session, group, replayed)| {
        of_sessions.extend(session);
        sum.add(&spend, n);
        if let Some(group) = group {
            groups.entry(group).or_default().add(&spend, n);
        }
        for round in replayed {
            gathered.take(round);
        }
    })?;
    if sum.rounds == 0 {
        return Err(Failure::nothing(
            "these files hold no round: no prompt that was answered",
            "look further back with `--days`",
        ));
    }
    output.paragraph(&in_words(&sum, args));
    output.data("\n");
    if let Some(by) = args.by {
        output.table(&by_group(&groups, by), Format::Table)?;
        output.data("\n");
    }
    let Evaluation { rows, firings, followed, stacks, .. } = gathered.finish();
    let report = FollowedReport::new(followed, "rounds");
    let evidence = RunEvidence { rows, firings, followed: Some(report.clone()), stories: Vec::new() };
    let publication = Publication::new(evidence, Manifest::new(stacks));
    show_answer(&report.answer(publication.headline()), output)?;
    if let Some(out) = &args.out {
        let format = FolderFormat { csv: output.csv_style(), ..FolderFormat::default() };
        publication.write(&publication.summaries(), out, format).map_err(Failure::input)?;
        output.note(&format!("written to {}; open {}", out.display(), out.join("report.html").display()));
    }
    fuse::show(&judges, &of_sessions, agents, args.accept / 100.0, output)?;
    output.data(
        "\nGo on with\n\n  whenstop corpus ~/.claude/projects --rounds            every round as CSV\n  \
         whenstop compare PATH --unit round --stacks FILE       your own stacks on them\n  \
         whenstop labels PATH --template labels.csv             grade those that decide most\n",
    );
    Ok(Exit::Done)
}
