//! `whenstop local`: finds the sessions that agents keep on this machine, and what the starter stacks would have
//! stopped.

mod follow;
mod fuse;
mod held;
mod name;
mod spend;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use spend::{SpendGrouping, SpendTotals, by_group, group_of, in_words};

use super::ProgramExit;
use super::compare::show_answer;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{has_runs, process, read_prices};
use super::output::{Output, TableFormat};
use crate::answers::tables::{DataTable, TableCell};
use crate::answers::{FollowedReport, RunEvidence};
use crate::catalog;
use crate::compare::{Evaluation, EvaluationOptions, Evaluator};
use crate::diagnostic::count;
use crate::reader::{Corpus, Detail, PLACES, Place, PriceTable, ReadOptions, SessionStorage, database_refused};
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
    by: Option<SpendGrouping>,
    /// Folder for the page `report.html`, rows and tables.
    #[arg(long, value_name = "DIR")]
    out: Option<Destination>,
    #[command(flatten)]
    follow: follow::Args,
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
const STARTER: &str = include_str!("stacks.toml");

/// The home folder.
pub(super) fn home() -> Option<PathBuf> {
    ["HOME", "USERPROFILE"].into_iter().find_map(std::env::var_os).filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// What an agent keeps in one place on this machine.
struct AgentFiles {
    place: &'static Place,
    folder: PathBuf,
    /// The files that changed in the time asked for.
    files: Vec<PathBuf>,
    /// The number of older files.
    older: u64,
}

/// The places on this machine, each folder once for each kind of file; opens no file.
fn places_here(since: Option<SystemTime>) -> Vec<AgentFiles> {
    let Some(home) = home() else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for place in PLACES {
        let Some(folder) = place.path(&home, variable) else { continue };
        if !seen.insert((folder.clone(), place.endings())) {
            continue;
        }
        let (mut files, mut older) = (Vec::new(), 0);
        for (file, is_new) in place.files(&folder, since) {
            if is_new {
                files.push(file);
            } else {
                older += 1;
            }
        }
        found.push(AgentFiles { place, folder, files, older });
    }
    found
}

/// The agents that have sessions on this machine; opens no file.
pub(super) fn agents_here() -> Vec<&'static str> {
    agents(&places_here(None))
}

fn agents(found: &[AgentFiles]) -> Vec<&'static str> {
    let mut agents: Vec<&str> = found.iter().filter(|found| found.is_read()).map(|found| found.place.agent).collect();
    agents.dedup();
    agents
}

/// The session files of the agents on this machine that changed since `since`.
fn agent_files(since: Option<SystemTime>) -> Vec<PathBuf> {
    places_here(since).into_iter().filter(AgentFiles::is_read).flat_map(|found| found.files).collect()
}

impl AgentFiles {
    fn is_read(&self) -> bool {
        !matches!(self.place.kept, SessionStorage::Unread(..))
    }

    /// Why its files are not read.
    fn unread(&self) -> Option<String> {
        let file = self.files.first()?;
        let why = match self.place.kept {
            SessionStorage::Unread(_, why) => why.to_owned(),
            SessionStorage::Databases(_) => {
                let why = database_refused(file)?;
                format!("sessions in an SQLite database, of which none is read: {why}; export them as JSON")
            }
            SessionStorage::Files(_) => return None,
        };
        Some(format!("{}: {why} ({})", self.place.agent, file.display()))
    }

    fn row(&self) -> Vec<TableCell> {
        let is_database = matches!(self.place.kept, SessionStorage::Databases(_));
        let place = self.files.first().filter(|_| is_database).unwrap_or(&self.folder);
        vec![
            TableCell::Text(self.place.agent.to_owned()),
            TableCell::Count(self.files.len() as u64),
            TableCell::Text(place.display().to_string()),
        ]
    }
}

/// `whenstop local`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if args.follow.is_given() {
        return follow::run(&args.follow, output);
    }
    if home().is_none() {
        return Err(CommandFailure::nothing(
            "no home folder is known",
            "set `HOME`, or name the files: `whenstop compare PATH`",
        ));
    }
    let since = now().checked_sub(Duration::from_secs(args.days.saturating_mul(86_400)));
    let found = places_here(since);
    let rows: Vec<Vec<TableCell>> = found.iter().filter(|found| found.is_read()).map(AgentFiles::row).collect();
    let unread: Vec<String> = found.iter().filter_map(AgentFiles::unread).collect();
    let places = DataTable::new(["agent", "files", "where"], rows);
    let tell_places = || -> Result<(), CommandFailure> {
        if !places.rows.is_empty() {
            output.table(&places, TableFormat::Table)?;
            output.data("\n");
        }
        for unread in &unread {
            output.paragraph(unread);
        }
        Ok(())
    };
    let agents = agents(&found);
    let found: Vec<AgentFiles> =
        found.into_iter().filter(|found| found.is_read() && found.unread().is_none()).collect();
    if found.is_empty() {
        tell_places()?;
        return Err(nothing_here(unread.len()));
    }
    let older: u64 = found.iter().map(|found| found.older).sum();
    let files: Vec<PathBuf> = found.into_iter().flat_map(|found| found.files).collect();
    if files.is_empty() {
        tell_places()?;
        if older == 0 && !unread.is_empty() {
            return Err(nothing_here(unread.len()));
        }
        return Err(CommandFailure::nothing(
            format!("no session was changed in the last {} days", args.days),
            further(older),
        ));
    }
    let prices = match &args.price {
        Some(path) => read_prices(path)?,
        None => PriceTable::parse("the shipped prices", PRICES).map_err(CommandFailure::usage)?,
    };
    let options =
        ReadOptions { detail: Detail::Counts, sealed: true, prices: Some(Arc::new(prices)), ..ReadOptions::default() };
    let corpus = Corpus::open(&files, options)?;
    compare(&corpus, &agents, older, args, output)?;
    output.data("\n");
    tell_places()?;
    output.data(
        "\nGo on with\n\n  whenstop corpus ~/.claude/projects --rounds            every round as CSV\n  \
         whenstop compare PATH --unit round --stacks FILE       your own stacks on them\n  \
         whenstop labels PATH --template labels.csv             grade those that decide most\n",
    );
    Ok(ProgramExit::Done)
}

/// No agent keeps sessions here that can be read.
fn nothing_here(n_unread: usize) -> CommandFailure {
    if n_unread > 0 {
        return CommandFailure::nothing(
            "the sessions of the agents found here are not read",
            "export them as said above, and name the files: `whenstop compare PATH --unit round --stacks FILE`",
        );
    }
    let known: Vec<String> = PLACES.iter().map(|place| format!("~/{}/{}", place.base, place.folder)).collect();
    CommandFailure::nothing(
        "no agent of those known keeps sessions on this machine",
        format!(
            "looked at {}; name the files yourself: `whenstop compare PATH --unit round --stacks FILE`",
            known.join(", ")
        ),
    )
}

/// How to get at more sessions, where `older` files were left out.
fn further(older: u64) -> String {
    match older {
        0 => "nothing older is there either: name the files yourself, `whenstop corpus PATH --why`".to_owned(),
        _ => format!("look further back with `--days`: {} changed before that", count(older, "file")),
    }
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

/// Answers: first what a limit on turns would have done, then a fuse, then what was spent and what stacks would have
/// stopped.
fn compare(corpus: &Corpus, agents: &[&str], older: u64, args: &Args, output: &Output) -> Result<(), CommandFailure> {
    let (_, strategies) = catalog::load("the starter stacks", STARTER).map_err(CommandFailure::usage)?;
    let evaluator = Evaluator::new(&strategies, EvaluationOptions::default());
    let mut gathered = evaluator.gather();
    let mut sum = SpendTotals::default();
    let (mut groups, home): (BTreeMap<String, SpendTotals>, _) = (BTreeMap::new(), home().unwrap_or_default());
    let judges = fuse::Judges::new(instant(now()));
    let mut of_sessions = Vec::new();
    let work = |run: Run| {
        let spend = Spend::from_events(run.events());
        // What a sub-agent spent belongs to its session; it has no prompts of its own.
        let rounds = if run.header.parent.is_some() { Vec::new() } else { run.clone().into_rounds() };
        let n = rounds.len() as u64;
        let session = if n > 0 { judges.judge(&run, &rounds) } else { None };
        let group = args.by.map(|by| group_of(run.header.file.as_deref(), &home, by));
        let mut replayed = Vec::new();
        for mut round in rounds {
            // Nobody knows a round by its session's id.
            round.header.run_id = name::round_name(&round, &home);
            replayed.push(evaluator.evaluate(&round));
        }
        (spend, n, session, group, replayed)
    };
    let report = process(corpus, output, work, |(spend, n, session, group, replayed)| {
        of_sessions.extend(session);
        let spent = SpendTotals::from_session(&spend, n);
        sum.add(&spent);
        if let Some(group) = group {
            groups.entry(group).or_default().add(&spent);
        }
        for round in replayed {
            gathered.take(round);
        }
    })?;
    if report.errors > 0 {
        let lost =
            if report.errors == 1 { "1 line or file".to_owned() } else { format!("{} lines or files", report.errors) };
        output.note(&format!("{lost} could not be read; `whenstop corpus PATH` says which, and why"));
    }
    has_runs(&report)?;
    if sum.rounds == 0 {
        return Err(CommandFailure::nothing("these files hold no round: no prompt that was answered", further(older)));
    }
    let closed = fuse::Closed::new(&judges, &of_sessions);
    let turns = fuse::turns_line(&judges, &closed);
    if let Some(turns) = &turns {
        output.paragraph(turns);
        output.data("\n");
    }
    fuse::show(&judges, &of_sessions, &closed, agents, args.accept / 100.0, output)?;
    output.data("\n");
    output.paragraph(&in_words(&sum, args));
    output.data("\n");
    if let Some(by) = args.by {
        output.table(&by_group(&groups, by), TableFormat::Table)?;
        output.data("\n");
    }
    let Evaluation { rows, firings, followed, stacks, .. } = gathered.finish();
    let report = FollowedReport::new(followed, "rounds");
    let evidence = RunEvidence { rows, firings, followed: Some(report.clone()), stories: Vec::new() };
    let publication = Publication::new(evidence, Manifest { lead: turns, ..Manifest::new(stacks) });
    show_answer(&report.answer(publication.headline()), output)?;
    if let Some(out) = &args.out {
        let format = FolderFormat { csv: output.csv, ..FolderFormat::default() };
        publication.write(out, format).map_err(CommandFailure::input)?;
        output.wrote_page(out);
    }
    Ok(())
}
