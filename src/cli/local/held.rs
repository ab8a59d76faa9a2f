//! The monitor: what the hook holds for an agent, what it did, and whether its limits still are what they were thought to
//! be. The evidence is that of sessions that nobody had seen when the limits were chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use whenstop_hook::host::Host;
use whenstop_hook::log;
use whenstop_hook::settings::{Folders, Setup};

use super::super::failure::Failure;
use super::super::output::{Format, Output};
use super::fuse::{DELTA, GOAL, table};
use super::instant;
use crate::compare::fuse::{Effect, Fuses, Session, known};
use crate::diagnostic::{count, one_line};
use crate::stack::Stack;
use crate::transcript::{Event, Instant, Run};

/// The stacks that the hook holds for one agent.
pub(super) struct Held {
    host: Host,
    pub(super) fuses: Fuses,
    /// When its stack file was last changed.
    since: Option<Instant>,
    /// Rounds that it ended and that nobody continued: session and round, from 1.
    ended: BTreeSet<(String, u64)>,
    said: BTreeMap<String, u64>,
}

/// What decides whether a session is evidence for a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// The agent, with its version where it states one.
    agent: String,
    model: Option<String>,
    began: Option<Instant>,
}

/// The sessions that are evidence, and how many are not.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Evidence {
    sessions: Vec<Session>,
    model: Option<String>,
    /// Sessions that began before the stack file was last changed.
    n_older: u64,
    /// Sessions with another model than the latest one.
    n_other: u64,
}

impl About {
    pub(super) fn of(session: &Run) -> Self {
        Self {
            agent: session.header.agent.as_deref().unwrap_or_default().to_owned(),
            model: session.header.model.as_deref().map(str::to_owned),
            began: session.events().iter().filter_map(Event::ts).min(),
        }
    }

    /// Versions follow the agent's name; a sub-agent is another agent.
    fn is_of(&self, host: Host) -> bool {
        let mut words = self.agent.split(' ');
        words.next() == Some(host.id()) && words.next() != Some("subagent")
    }
}

impl Held {
    /// What the hook holds for an agent, if it is set up; rules of systems and presets are left out.
    pub(super) fn of(host: Host) -> Option<Self> {
        let folders = Folders::of(host)?;
        let setup = Setup::load(&folders).ok()?;
        let clauses =
            setup.rules.iter().filter_map(|rules| rules.own.as_deref()).flat_map(|stack| stack.clauses.clone());
        let stack = Stack { name: "held".to_owned(), clauses: clauses.collect(), cap: None };
        let changed = std::fs::metadata(folders.stacks()).and_then(|data| data.modified());
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
        Some(Self { host, fuses: Fuses::of(stack), since: changed.ok().map(instant), ended, said })
    }

    /// What the hook ended has no end of its own: nobody can judge what would have followed in those rounds.
    pub(super) fn doubt(&self, session: &mut Session) {
        let last = session.rounds.len().saturating_sub(1);
        for (_, round) in self.ended.iter().filter(|(id, _)| *id == session.id) {
            let at = usize::try_from(round.saturating_sub(1)).unwrap_or(last).min(last);
            for effect in session.rounds.get_mut(at).into_iter().flatten() {
                *effect = Effect { may_cut: true, spared: None, ..*effect };
            }
        }
    }

    /// The sessions that are evidence for these limits: those of this agent that began after the limits were chosen, so
    /// that they were not chosen by them, and with the model of the latest one, since another model works otherwise.
    pub(super) fn evidence<'s>(&self, all: impl Iterator<Item = (&'s About, &'s Session)>) -> Evidence {
        let (since, of_agent): (_, Vec<_>) = (self.since, all.filter(|(about, _)| about.is_of(self.host)).collect());
        let n_agent = of_agent.len();
        let recent: Vec<_> =
            of_agent.into_iter().filter(|(about, _)| since.is_some() && about.began >= since).collect();
        let latest = recent.iter().max_by_key(|(_, session)| (session.closed, &session.id));
        let model = latest.and_then(|(about, _)| about.model.clone());
        let sessions: Vec<Session> = recent
            .iter()
            .filter(|(about, _)| about.model == model)
            .map(|(_, session)| Session::clone(session))
            .collect();
        Evidence {
            n_older: (n_agent - recent.len()) as u64,
            n_other: (recent.len() - sessions.len()) as u64,
            sessions,
            model,
        }
    }

    /// Prints what the hook did here, and what is known of its limits.
    pub(super) fn show(&self, mut evidence: Evidence, output: &Output) -> Result<(), Failure> {
        output.data("\n");
        let said: Vec<String> = self.said.iter().map(|(did, n)| format!("{did} {}", count(*n, "time"))).collect();
        let said = if said.is_empty() { "has not acted yet".to_owned() } else { said.join(", ") };
        output.paragraph(&format!("The hook in {}: {said}. {}", self.host.name(), evidence.words()));
        if evidence.sessions.is_empty() {
            return Ok(());
        }
        let known = known(self.fuses.clauses().len(), &mut evidence.sessions);
        output.data("\n");
        let level = DELTA / known.len().max(1) as f64;
        let every: Vec<usize> = (0..known.len()).collect();
        output.table(&table(&self.fuses, &known, &every, level), Format::Table)?;
        for (clause, known) in self.fuses.clauses().iter().zip(&known) {
            if known.watched.alarm(GOAL, level).is_some() {
                output.paragraph(&format!(
                    "`{}` cuts more than 5 % of a session's rounds, as is now known: raise it or take it out.",
                    clause.name
                ));
            }
        }
        Ok(())
    }
}

impl Evidence {
    /// On what the bounds rest, and since when.
    fn words(&self) -> String {
        let n = self.sessions.len() as u64;
        let with = self.model.as_ref().map_or_else(String::new, |model| format!(" with `{}`", one_line(model)));
        let mut words = format!(
            "Evidence for its limits: {}{with} since its stack file was last changed.",
            if n == 0 { "no closed session".to_owned() } else { count(n, "closed session") }
        );
        if self.n_older > 0 {
            let _ = write!(
                words,
                " With that change it began anew: {} before it do not count.",
                count(self.n_older, "session")
            );
        }
        if self.n_other > 0 {
            let _ = write!(
                words,
                " With that model it began anew: {} with another do not count.",
                count(self.n_other, "session")
            );
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> Held {
        let (ended, said) = (BTreeSet::new(), BTreeMap::new());
        Held { host: Host::ClaudeCode, fuses: Fuses::default(), since: Some(Instant(100)), ended, said }
    }

    fn session(id: &str, agent: &str, model: &str, began: i64) -> (About, Session) {
        let about = About { agent: agent.to_owned(), model: Some(model.to_owned()), began: Some(Instant(began)) };
        (about, Session { closed: Some(Instant(began + 10)), id: id.to_owned(), rounds: vec![Vec::new()] })
    }

    /// The ids of the sessions that are evidence, and how it is put.
    fn evidence(all: &[(About, Session)]) -> (Vec<&str>, String) {
        let evidence = held().evidence(all.iter().map(|(about, session)| (about, session)));
        let ids = all.iter().map(|(_, session)| &*session.id);
        let counts = |id: &&str| evidence.sessions.iter().any(|session| session.id == *id);
        (ids.filter(counts).collect(), evidence.words())
    }

    #[test]
    fn another_stack_model_or_agent_begins_anew_and_says_so() {
        let mut all = vec![
            session("before", "claude-code 2.1.240", "opus", 99),
            session("first", "claude-code 2.1.240", "opus", 100),
            session("elsewhere", "codex 0.9", "opus", 120),
            session("helper", "claude-code subagent", "opus", 125),
            session("newer", "claude-code 2.1.241", "opus", 130),
        ];
        let (ids, words) = evidence(&all);
        assert_eq!(ids, ["first", "newer"]);
        assert_eq!(
            words,
            "Evidence for its limits: 2 closed sessions with `opus` since its stack file was last changed. \
             With that change it began anew: 1 session before it do not count."
        );
        all.push(session("changed", "claude-code 2.1.241", "sonnet", 140));
        let (ids, words) = evidence(&all);
        assert_eq!(ids, ["changed"]);
        assert!(words.ends_with("With that model it began anew: 2 sessions with another do not count."), "{words}");
        let (ids, words) = evidence(&all[..1]);
        assert!(ids.is_empty() && words.contains("no closed session since"), "{words}");
    }
}
