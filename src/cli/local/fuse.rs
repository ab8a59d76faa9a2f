//! The fuse at the end of `whenstop local`: limits that would have cut none of these rounds short, what is known of how
//! often they will, and how to set them in the agents found here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use whenstop_hook::host::Host;
use whenstop_hook::log;
use whenstop_hook::settings::{Folders, Setup};

use super::super::failure::Failure;
use super::super::output::{Format, Output};
use crate::compare::fuse::{Effect, Fuses, Known, Session, boldest, known};
use crate::diagnostic::count;
use crate::export::{Export, find};
use crate::report::table::{Cell, Table};
use crate::rule::Condition;
use crate::stack::Stack;
use crate::transcript::{Event, Instant, Run};
use crate::words::digits;

/// One minus how sure all bounds together are.
const DELTA: f64 = 0.1;
/// The share of a session's rounds that a fuse may cut before it is worth naming how many sessions are missing.
const GOAL: f64 = 0.05;
/// A session is closed when it has been silent for so long.
const SILENT_MS: i64 = 24 * 3600 * 1000;

/// The limits a machine's rounds are judged under: those of the fuse, and those the hook holds here already.
pub(super) struct Judges {
    fuse: Fuses,
    held: Vec<Held>,
    now: Instant,
}

/// The stacks that the hook holds for one agent.
struct Held {
    host: Host,
    fuses: Fuses,
    /// Rounds that it ended and that nobody continued: session and round, from 1.
    ended: BTreeSet<(String, u64)>,
    said: BTreeMap<String, u64>,
}

/// A session under all of them; the first is the fuse.
pub(super) struct Judged(Vec<Session>);

impl Judges {
    pub(super) fn new(now: Instant) -> Self {
        Self { fuse: Fuses::default(), held: Host::ALL.into_iter().filter_map(held).collect(), now }
    }

    /// The session of which these are the rounds; `None` while it is open.
    pub(super) fn judge(&self, session: &Run, rounds: &[Run]) -> Option<Judged> {
        let closed = session.events().iter().filter_map(Event::ts).max();
        if closed.is_some_and(|closed| self.now.since(closed).0 < SILENT_MS) {
            return None;
        }
        let under = |fuses: &Fuses| Session {
            closed,
            id: session.header.run_id.clone(),
            rounds: rounds.iter().map(|round| fuses.judge(round)).collect(),
        };
        let mut all = vec![under(&self.fuse)];
        all.extend(self.held.iter().map(|held| under(&held.fuses)));
        // What the hook ended has no end of its own: nobody can judge what would have followed.
        for (host, session_id, round) in self.ended() {
            if *session_id != session.header.run_id {
                continue;
            }
            for (nth, session) in
                all.iter_mut().enumerate().filter(|(nth, _)| *nth == 0 || self.held[nth - 1].host == host)
            {
                let _ = nth;
                let last = session.rounds.len().saturating_sub(1);
                let at = usize::try_from(round.saturating_sub(1)).unwrap_or(last).min(last);
                for effect in session.rounds.get_mut(at).into_iter().flatten() {
                    *effect = Effect { may_cut: true, spared: None, ..*effect };
                }
            }
        }
        Some(Judged(all))
    }

    fn ended(&self) -> impl Iterator<Item = (Host, &String, u64)> {
        self.held.iter().flat_map(|held| held.ended.iter().map(|(session, round)| (held.host, session, *round)))
    }
}

/// What the hook holds for an agent, if it is set up; rules of systems and presets are left out.
fn held(host: Host) -> Option<Held> {
    let folders = Folders::of(host)?;
    let setup = Setup::load(&folders).ok()?;
    let clauses = setup.rules.iter().filter_map(|rules| rules.own.as_deref()).flat_map(|stack| stack.clauses.clone());
    let stack = Stack { name: "held".to_owned(), clauses: clauses.collect(), cap: None };
    let (mut ended, mut said) = (BTreeSet::new(), BTreeMap::new());
    for line in log::read(&folders.log()) {
        let round = (line.session, line.round);
        match &*line.did {
            "stopped" | "asked" => drop(ended.insert(round)),
            "went on" => drop(ended.remove(&round)),
            _ => {}
        }
        *said.entry(line.did).or_insert(0) += 1;
    }
    Some(Held { host, fuses: Fuses::of(stack), ended, said })
}

/// Prints the fuse and how to set it.
pub(super) fn show(
    judges: &Judges,
    of_sessions: Vec<Judged>,
    agents: &[&str],
    accept: f64,
    output: &Output,
) -> Result<(), Failure> {
    let mut by_judge: Vec<Vec<Session>> = vec![Vec::new(); 1 + judges.held.len()];
    for Judged(sessions) in of_sessions {
        for (all, session) in by_judge.iter_mut().zip(sessions) {
            all.push(session);
        }
    }
    let mut by_judge = by_judge.into_iter();
    let mut sessions = by_judge.next().unwrap_or_default();
    output.data("\n");
    if sessions.is_empty() {
        output.paragraph("No session here is closed yet (silent for a day): there is nothing to fit a fuse to.");
        return Ok(());
    }
    let n_rounds = sessions.iter().map(|session| session.rounds.len() as u64).sum();
    let all = known(judges.fuse.clauses().len(), &mut sessions);
    let chosen = boldest(&judges.fuse, &all, n_rounds, accept);
    say_what(&chosen, &all, n_rounds, sessions.len(), accept, output);
    let level = DELTA / all.len() as f64;
    output.table(&table(&judges.fuse, &all, &chosen, level), Format::Table)?;
    output.paragraph(
        "cut short: work followed the stop, at least and at most; a round that lacks what the limit reads, and had work left to cut, counts as cut. \
         at most: of a session's rounds, on average over sessions like these; sure to 90 % for all limits tried together, \
         however often you look.",
    );
    say_missing(&all, &chosen, level, output);
    if !chosen.is_empty() {
        paste(&judges.fuse, &chosen, agents, output);
    }
    for (held, mut sessions) in judges.held.iter().zip(by_judge) {
        show_held(held, &mut sessions, output)?;
    }
    Ok(())
}

fn say_what(chosen: &[usize], all: &[Known], n_rounds: u64, n_sessions: usize, accept: f64, output: &Output) {
    let of = format!("{} in {}", count(n_rounds, "round"), count(n_sessions as u64, "closed session"));
    let how = if accept > 0.0 { format!("at most {} % of these", digits(accept)) } else { "none of these".to_owned() };
    if chosen.is_empty() {
        let tried = count(all.len() as u64, "limit");
        output.paragraph(&format!(
            "No fuse: each of {tried} would have cut some of these {of} short, or nobody can tell."
        ));
    } else {
        output.paragraph(&format!("A fuse that would have cut {how} {of} short:"));
    }
    output.data("\n");
}

fn table(fuses: &Fuses, all: &[Known], chosen: &[usize], level: f64) -> Table {
    let columns =
        ["limit, by round", "would have ended", "cut short", "tokens after", "at most", "sessions missing for 5 %"];
    let row = |nth: &usize| {
        let known = &all[*nth];
        let (low, high) = known.cut;
        let cut = if low == high { low.to_string() } else { format!("{low}–{high}") };
        let missing = known.watched.clean_needed(GOAL, level);
        vec![
            Cell::Text(fuses.clauses()[*nth].name.to_string()),
            Cell::Count(known.ended),
            Cell::Text(cut),
            known.spared.map_or(Cell::Missing, Cell::Count),
            Cell::Text(format!("{} %", digits(known.watched.upper(level)))),
            missing.map_or(Cell::Missing, Cell::Count),
        ]
    };
    Table { columns: columns.map(str::to_owned).to_vec(), rows: chosen.iter().map(row).collect() }
}

fn say_missing(all: &[Known], chosen: &[usize], level: f64, output: &Output) {
    let missing = chosen.iter().filter_map(|nth| all[*nth].watched.clean_needed(GOAL, level)).max().unwrap_or(0);
    if missing > 0 {
        let sessions = count(missing, "more session");
        output.paragraph(&format!(
            "Too little evidence for \"at most 5 %\" of all of them: {sessions} without a cut would do."
        ));
    }
}

/// How to set the fuse in each agent that was found.
fn paste(fuses: &Fuses, chosen: &[usize], agents: &[&str], output: &Output) {
    let clauses = || chosen.iter().map(|nth| fuses.clauses()[*nth].clone());
    let stack = Stack { name: "fuse".to_owned(), clauses: clauses().collect(), cap: None };
    let mut text = "\n# fuse.toml\n[[stack]]\nname = \"fuse\"\nscope = \"round\"\nany = [\n".to_owned();
    for clause in clauses() {
        if let Condition::Rule(rule) = &clause.condition {
            let _ =
                writeln!(text, "  {{ signal = \"{}\", {} = {} }},", rule.signal.id, rule.comparator.key(), rule.limit);
        }
    }
    text += "]\n\n";
    for agent in agents {
        let id = agent.to_lowercase().replace(' ', "-");
        if Host::named(&id).is_some() {
            let _ = writeln!(text, "{agent}: whenstop hook install {id} --stacks fuse.toml");
            continue;
        }
        let Some(export) = find(&id).ok().map(|host| Export::new(&stack, host, true)).filter(|it| it.n_held() > 0)
        else {
            let _ = writeln!(text, "{agent}: no setting for any of these limits is known");
            continue;
        };
        let _ = writeln!(
            text,
            "{agent}: {} of {} limits, `whenstop export fuse.toml --to {id} --nearest`:",
            export.n_held(),
            chosen.len()
        );
        for line in export.body().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    output.data(&text);
}

/// What the hook did here, and whether its limits still are what they were thought to be.
fn show_held(held: &Held, sessions: &mut [Session], output: &Output) -> Result<(), Failure> {
    let known = known(held.fuses.clauses().len(), sessions);
    output.data("\n");
    let said: Vec<String> = held.said.iter().map(|(did, n)| format!("{did} {n} times")).collect();
    let said = if said.is_empty() { "has not acted yet".to_owned() } else { said.join(", ") };
    output.paragraph(&format!("The hook in {}: {said}. Its limits on the sessions above:", held.host.name()));
    output.data("\n");
    let level = DELTA / known.len().max(1) as f64;
    let every: Vec<usize> = (0..known.len()).collect();
    output.table(&table(&held.fuses, &known, &every, level), Format::Table)?;
    for (clause, known) in held.fuses.clauses().iter().zip(&known) {
        if known.watched.alarm(GOAL, level).is_some() {
            output.paragraph(&format!(
                "`{}` cuts more than 5 % of a session's rounds, as is now known: raise it or take it out.",
                clause.name
            ));
        }
    }
    Ok(())
}
