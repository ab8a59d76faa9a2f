//! What `whenstop local` answers first: limits that would have cut none of these rounds short, what is known of how
//! often they will, and how to set them in the agents found here.

use std::fmt::Write as _;

use whenstop_hook::host::HostAgent;

use super::super::failure::CommandFailure;
use super::super::output::{Output, TableFormat};
use super::held::{DELTA, GOAL, HeldStacks, SessionOrigin, table};
use crate::compare::fuse::{ClauseRecord, Fuses, Session, boldest, known};
use crate::diagnostic::count;
use crate::export::{ExportedStack, find};
use crate::rule::Condition;
use crate::stack::Stack;
use crate::transcript::{Event, Instant, Run};
use crate::words::{counts, digits};

/// A session is closed when it has been silent for so long.
const SILENT_MS: i64 = 24 * 3600 * 1000;

/// The limits a machine's rounds are judged under: those of the fuse, and those the hook holds here already.
pub(super) struct Judges {
    fuse: Fuses,
    held: Vec<HeldStacks>,
    now: Instant,
}

/// A closed session under all of them.
pub(super) struct JudgedSession {
    fuse: Session,
    held: Vec<Session>,
    about: SessionOrigin,
}

impl Judges {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            fuse: Fuses::default(),
            held: HostAgent::ALL.into_iter().filter_map(HeldStacks::from_host).collect(),
            now,
        }
    }

    /// The session of which these are the rounds; `None` while it is open.
    pub(super) fn judge(&self, session: &Run, rounds: &[Run]) -> Option<JudgedSession> {
        let closed = session.events().iter().filter_map(Event::ts).max();
        if matches!(closed, Some(closed) if self.now.since(closed).0 < SILENT_MS) {
            return None;
        }
        let under = |fuses: &Fuses| Session {
            closed,
            id: session.header.run_id.clone(),
            rounds: rounds.iter().map(|round| fuses.judge(round)).collect(),
        };
        let mut fuse = under(&self.fuse);
        let mut held: Vec<Session> = self.held.iter().map(|held| under(&held.fuses)).collect();
        for (by, under_held) in self.held.iter().zip(&mut held) {
            by.correct(&mut fuse);
            by.correct(under_held);
        }
        Some(JudgedSession { fuse, held, about: SessionOrigin::from_session(session) })
    }
}

/// What the closed sessions tell of the limits of the fuse.
pub(super) struct Closed {
    n_sessions: usize,
    n_rounds: u64,
    /// By limit.
    all: Vec<ClauseRecord>,
}

impl Closed {
    pub(super) fn new(judges: &Judges, of_sessions: &[JudgedSession]) -> Self {
        let mut sessions: Vec<Session> = of_sessions.iter().map(|judged| judged.fuse.clone()).collect();
        let n_rounds = sessions.iter().map(|session| session.rounds.len() as u64).sum();
        let all = known(judges.fuse.clauses().len(), &mut sessions);
        Self { n_sessions: sessions.len(), n_rounds, all }
    }
}

/// What a limit on turns would have done: the lowest that would have ended no round, and the next below it. `None` if no
/// session is closed.
pub(super) fn turns_line(judges: &Judges, closed: &Closed) -> Option<String> {
    let Closed { n_rounds, all, .. } = closed;
    let mut limits: Vec<(f64, &ClauseRecord)> = Vec::new();
    for (clause, known) in judges.fuse.clauses().iter().zip(all) {
        if let Condition::Rule(rule) = &clause.condition
            && rule.signal.id == "steps"
        {
            limits.push((rule.limit, known));
        }
    }
    if *n_rounds == 0 {
        return None;
    }
    // The limits stand there from the highest to the lowest.
    let free = limits.iter().take_while(|(_, known)| known.ended == 0).last();
    let ending = limits.iter().find(|(_, known)| known.ended > 0);
    let of = format!("your {} in closed sessions", count(*n_rounds, "round"));
    let free_words = free.map(|(limit, _)| format!("{limit} turns a prompt would have ended none of {of}"));
    let ending_words = ending.map(|(limit, known)| {
        let (_, high) = known.cut;
        let them = if known.ended == 1 && high == 1 { "it" } else { "them" };
        let cut = if high == 0 { "none".to_owned() } else { counts(known.cut) };
        (limit, format!("{}, {cut} of {them} with work still to come", known.ended))
    });
    match (free_words, ending_words) {
        (Some(free), Some((limit, ended))) => Some(format!("{free}; {limit} would have ended {ended}.")),
        (Some(free), None) => Some(format!("{free}.")),
        (None, Some((limit, ended))) => Some(format!("{limit} turns a prompt would have ended {ended}, of {of}.")),
        (None, None) => None,
    }
}

/// Prints the fuse and how to set it.
pub(super) fn show(
    judges: &Judges,
    of_sessions: &[JudgedSession],
    closed: &Closed,
    agents: &[&str],
    accept: f64,
    output: &Output,
) -> Result<(), CommandFailure> {
    let Closed { n_sessions, n_rounds, all } = closed;
    if *n_sessions == 0 {
        output.paragraph("No session here is closed yet (silent for a day): there is nothing to fit a fuse to.");
        return Ok(());
    }
    let chosen = boldest(&judges.fuse, all, *n_rounds, accept);
    say_what(&chosen, all, *n_rounds, *n_sessions, accept, output);
    let level = DELTA / all.len() as f64;
    output.table(&table(&judges.fuse, all, &chosen, level), TableFormat::Table)?;
    output.paragraph(
        "cut short: work followed the stop, at least and at most; a round that lacks what the limit reads, and had work left to cut, counts as cut. \
         at most: the share of a session's rounds that the limit cuts, on average over all sessions so far, as is known now \
         (of later ones only while the work stays as it was); sure to 90 % for all limits tried together, however often you look.",
    );
    say_missing(all, &chosen, level, output);
    if !chosen.is_empty() {
        paste(&judges.fuse, &chosen, agents, output);
    }
    for (nth, held) in judges.held.iter().enumerate() {
        let sessions = of_sessions.iter().map(|judged| (&judged.about, &judged.held[nth]));
        held.show(held.evidence(sessions), output)?;
    }
    Ok(())
}

fn say_what(chosen: &[usize], all: &[ClauseRecord], n_rounds: u64, n_sessions: usize, accept: f64, output: &Output) {
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

fn say_missing(all: &[ClauseRecord], chosen: &[usize], level: f64, output: &Output) {
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
                writeln!(text, "  {{ signal = \"{}\", {} = {} }},", rule.signal.id, rule.comparator.name(), rule.limit);
        }
    }
    text += "]\n\n";
    for agent in agents {
        let id = agent.to_lowercase().replace(' ', "-");
        if HostAgent::named(&id).is_some() {
            let _ = writeln!(text, "{agent}: whenstop hook install {id} --stacks fuse.toml");
            continue;
        }
        let Some(export) =
            find(&id).ok().map(|host| ExportedStack::new(&stack, host, true)).filter(|it| it.n_held() > 0)
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
