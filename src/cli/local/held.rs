//! The monitor: what the hook holds for an agent, what it did, and whether its limits still are what they were thought to
//! be. The evidence is that of sessions that nobody had seen when the limits were chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use whenstop_hook::host::HostAgent;
use whenstop_hook::log;
use whenstop_hook::settings::{Folders, HookMode, Setup};

use super::super::failure::CommandFailure;
use super::super::output::{Output, TableFormat};
use super::super::values::shell_path;
use super::instant;
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::compare::fuse::{ClauseRecord, Fuses, RoundEffect, Session, known};
use crate::diagnostic::{count, one_line};
use crate::stack::Stack;
use crate::transcript::{Event, Instant, Run};
use crate::words::{counts, digits};

/// One minus how sure all bounds together are.
pub(super) const DELTA: f64 = 0.1;
/// The share of a session's rounds that a fuse may cut before it is worth naming how many sessions are missing.
pub(super) const GOAL: f64 = 0.05;
/// How many sessions it takes on average until one of the limits is reported that cut no more than they may.
const SESSIONS_TO_A_FALSE_ALARM: f64 = 100.0;

/// The stacks that the hook holds for one agent.
pub(super) struct HeldStacks {
    host: HostAgent,
    /// What its decisions lead to.
    mode: HookMode,
    pub(super) fuses: Fuses,
    /// Its stack file.
    stacks: PathBuf,
    /// When its stack file was last changed.
    since: Option<Instant>,
    /// Rounds that it ended and that nobody continued: session and round, from 1.
    ended: BTreeSet<(String, u64)>,
    /// Rounds in which a person was asked and said to go on.
    continued: BTreeSet<(String, u64)>,
    said: BTreeMap<String, u64>,
}

/// What decides whether a session is evidence for a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionOrigin {
    /// The agent, with its version where it states one.
    agent: String,
    model: Option<String>,
    began: Option<Instant>,
}

/// The sessions that are evidence, and how many are not.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SessionEvidence {
    sessions: Vec<Session>,
    model: Option<String>,
    /// The agent's versions, the oldest and the latest.
    versions: Vec<String>,
    /// Sessions that began before the stack file was last changed.
    n_older: u64,
    /// Sessions of another series of versions than the latest one.
    n_other_version: u64,
    /// Sessions with another model than the latest one.
    n_other: u64,
}

impl SessionOrigin {
    pub(super) fn from_session(session: &Run) -> Self {
        Self {
            agent: session.header.agent.as_deref().unwrap_or_default().to_owned(),
            model: session.header.model.as_deref().map(str::to_owned),
            began: session.events().iter().filter_map(Event::ts).min(),
        }
    }

    /// Versions follow the agent's name; a sub-agent is another agent.
    fn is_of(&self, host: HostAgent) -> bool {
        let mut words = self.agent.split(' ');
        words.next() == Some(host.id()) && words.next() != Some("subagent")
    }

    fn version(&self) -> Option<&str> {
        self.agent.split(' ').nth(1)
    }

    /// The first two numbers of the version. Agents release a third one daily, and if each began anew, evidence would never
    /// add up.
    fn series(&self) -> Option<(&str, &str)> {
        let mut numbers = self.version()?.splitn(3, '.');
        Some((numbers.next()?, numbers.next()?))
    }
}

impl HeldStacks {
    /// What the hook holds for an agent, if it is set up; rules of systems and presets are left out.
    pub(super) fn from_host(host: HostAgent) -> Option<Self> {
        let folders = Folders::from_host(host)?;
        let setup = Setup::load(&folders).ok()?;
        let clauses =
            setup.rules.iter().filter_map(|rules| rules.own.as_deref()).flat_map(|stack| stack.clauses.clone());
        let stack = Stack { name: "held".to_owned(), clauses: clauses.collect(), cap: None };
        let changed = std::fs::metadata(folders.stacks()).and_then(|data| data.modified());
        let (mut ended, mut continued, mut said) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        for line in log::read(&folders.log()) {
            let round = (line.session, line.round);
            match &*line.did {
                "stopped" | "asked" => drop(ended.insert(round)),
                // The round was not ended: what followed is in its recording.
                log::NOT_OBEYED => drop(ended.remove(&round)),
                "went on" => {
                    ended.remove(&round);
                    continued.insert(round);
                }
                _ => {}
            }
            *said.entry(line.did).or_insert(0) += 1;
        }
        Some(Self {
            host,
            mode: setup.settings.mode,
            fuses: Fuses::from_stack(stack),
            stacks: folders.stacks(),
            since: changed.ok().map(instant),
            ended,
            continued,
            said,
        })
    }

    /// Corrects what the recording says by what the log says. What the hook ended has no end of its own: nobody can judge
    /// what would have followed in those rounds. Where a person said to go on, a limit that would have ended the round was
    /// a mistake, whatever followed.
    pub(super) fn correct(&self, session: &mut Session) {
        let last = session.rounds.len().saturating_sub(1);
        let Session { id, rounds, .. } = session;
        let mut each = |logged: &BTreeSet<(String, u64)>, change: fn(&mut RoundEffect)| {
            for (_, round) in logged.iter().filter(|(of, _)| of == id) {
                let at = usize::try_from(round.saturating_sub(1)).unwrap_or(last).min(last);
                rounds.get_mut(at).into_iter().flatten().for_each(change);
            }
        };
        each(&self.ended, |effect| *effect = RoundEffect { may_cut: true, spared: None, ..*effect });
        each(&self.continued, |effect| {
            *effect = RoundEffect { cuts: effect.ends, may_cut: effect.may_cut || effect.ends, ..*effect }
        });
    }

    /// The sessions that are evidence for these limits: those of this agent that began after the limits were chosen, so
    /// that they were not chosen by them, and with the model and the series of versions of the latest one, since others
    /// work otherwise.
    pub(super) fn evidence<'s>(&self, all: impl Iterator<Item = (&'s SessionOrigin, &'s Session)>) -> SessionEvidence {
        let of_agent: Vec<_> = all.filter(|(about, _)| about.is_of(self.host)).collect();
        let n_agent = of_agent.len();
        let is_recent = |about: &SessionOrigin| self.since.is_some() && about.began >= self.since;
        let mut kept: Vec<_> = of_agent.into_iter().filter(|(about, _)| is_recent(about)).collect();
        kept.sort_by_key(|(_, session)| (session.closed, &session.id));
        let mut evidence = SessionEvidence { n_older: (n_agent - kept.len()) as u64, ..SessionEvidence::default() };
        let Some((latest, _)) = kept.last().copied() else { return evidence };
        let n_recent = kept.len();
        kept.retain(|(about, _)| about.series() == latest.series());
        let n_series = kept.len();
        kept.retain(|(about, _)| about.model == latest.model);
        evidence.n_other_version = (n_recent - n_series) as u64;
        evidence.n_other = (n_series - kept.len()) as u64;
        evidence.model.clone_from(&latest.model);
        evidence.versions = kept.iter().filter_map(|(about, _)| Some(about.version()?.to_owned())).collect();
        evidence.versions.dedup();
        evidence.sessions = kept.iter().map(|(_, session)| Session::clone(session)).collect();
        evidence
    }

    /// Prints what the hook did here, and what is known of its limits.
    pub(super) fn show(&self, mut evidence: SessionEvidence, output: &Output) -> Result<(), CommandFailure> {
        output.data("\n");
        let said: Vec<String> = self.said.iter().map(|(did, n)| format!("{did} {}", count(*n, "time"))).collect();
        let said = if said.is_empty() { "has not acted yet".to_owned() } else { said.join(", ") };
        output.paragraph(&format!("The hook in {}: {said}. {}", self.host.name(), evidence.words()));
        if evidence.sessions.is_empty() {
            return Ok(());
        }
        let known = known(self.fuses.clauses().len(), &mut evidence.sessions);
        output.data("\n");
        let all_limits = known.len().max(1) as f64;
        let level = DELTA / all_limits;
        let every: Vec<usize> = (0..known.len()).collect();
        output.table(&table(&self.fuses, &known, &every, level), TableFormat::Table)?;
        for (clause, known) in self.fuses.clauses().iter().zip(&known) {
            if let Some(words) = alarm(clause.name.as_str(), known, all_limits) {
                output.paragraph(&words);
            }
        }
        if let Some(words) = self.advice(&known, level) {
            output.paragraph(&words);
        }
        Ok(())
    }

    /// That its limits may stop the agent, where they only advise and each is shown to cut little enough.
    fn advice(&self, known: &[ClauseRecord], level: f64) -> Option<String> {
        let only_advises = matches!(self.mode, HookMode::Observe | HookMode::Nudge);
        let are_shown = !known.is_empty() && known.iter().all(|known| known.watched.upper(level) <= GOAL);
        if !only_advises || !are_shown {
            return None;
        }
        Some(format!(
            "Each limit cuts at most 5 % of a session's rounds: they may stop the agent now. \
            `whenstop hook install {} --stacks {} --mode stop`",
            self.host.id(),
            shell_path(&self.stacks)
        ))
    }
}

/// What is said of a limit that lately cut too much, though it may not have done so before.
fn alarm(limit: &str, known: &ClauseRecord, all_limits: f64) -> Option<String> {
    let rang = known.watched.alarm(GOAL, 1.0 / (SESSIONS_TO_A_FALSE_ALARM * all_limits))?;
    Some(format!(
        "`{limit}` began to cut more than 5 % of a session's rounds, as was noticed after session {rang} of {}: raise it or \
         take it out. (Of limits that do not, one is reported in {SESSIONS_TO_A_FALSE_ALARM} sessions at most, on average.)",
        known.watched.len()
    ))
}

impl SessionEvidence {
    /// On what the bounds rest, and since when.
    fn words(&self) -> String {
        let n = self.sessions.len() as u64;
        let with = self.model.as_ref().map(|model| format!(" with `{}`", one_line(model))).unwrap_or_default();
        let versions = match &self.versions[..] {
            [] => String::new(),
            [only] => format!(", version {}", one_line(only)),
            [first, .., last] => format!(", versions {} to {}", one_line(first), one_line(last)),
        };
        let mut words = format!(
            "Evidence for its limits: {}{with}{versions} since its stack file was last changed.",
            if n == 0 { "no closed session".to_owned() } else { count(n, "closed session") }
        );
        let mut anew = |n: u64, by: &str, which: &str| {
            if n > 0 {
                let (sessions, verb) = (count(n, "session"), if n == 1 { "does" } else { "do" });
                let _ = write!(words, " With that {by} it began anew: {sessions} {which} {verb} not count.");
            }
        };
        anew(self.n_older, "change", "before it");
        anew(self.n_other_version, "version", "with another");
        anew(self.n_other, "model", "with another");
        words
    }
}

/// The limits chosen, with what each would have done.
pub(super) fn table(fuses: &Fuses, all: &[ClauseRecord], chosen: &[usize], level: f64) -> DataTable {
    let columns: TableColumns<'_, usize> = &[
        ("limit, by round", &|nth| TableCell::Text(fuses.clauses()[*nth].name.to_string())),
        ("would have ended", &|nth| TableCell::Count(all[*nth].ended)),
        ("cut short", &|nth| TableCell::Text(counts(all[*nth].cut))),
        ("tokens after", &|nth| TableCell::count(all[*nth].spared)),
        ("at most", &|nth| TableCell::Text(format!("{} %", digits(all[*nth].watched.upper(level))))),
        ("sessions missing for 5 %", &|nth| TableCell::count(all[*nth].watched.clean_needed(GOAL, level))),
    ];
    DataTable::by_column(chosen, columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::anytime::Watched;

    fn held() -> HeldStacks {
        let (ended, continued, said) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let (mode, fuses, stacks) = (HookMode::Observe, Fuses::default(), PathBuf::from("stacks.toml"));
        HeldStacks {
            host: HostAgent::ClaudeCode,
            mode,
            fuses,
            stacks,
            since: Some(Instant(100)),
            ended,
            continued,
            said,
        }
    }

    fn session(id: &str, agent: &str, model: &str, began: i64) -> (SessionOrigin, Session) {
        let about =
            SessionOrigin { agent: agent.to_owned(), model: Some(model.to_owned()), began: Some(Instant(began)) };
        (about, Session { closed: Some(Instant(began + 10)), id: id.to_owned(), rounds: vec![Vec::new()] })
    }

    /// The ids of the sessions that are evidence, and how it is put.
    fn evidence(all: &[(SessionOrigin, Session)]) -> (Vec<&str>, String) {
        let evidence = held().evidence(all.iter().map(|(about, session)| (about, session)));
        let ids = all.iter().map(|(_, session)| &*session.id);
        let counts = |id: &&str| evidence.sessions.iter().any(|session| session.id == *id);
        (ids.filter(counts).collect(), evidence.words())
    }

    #[test]
    fn another_stack_version_model_or_agent_begins_anew_and_says_so() {
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
            "Evidence for its limits: 2 closed sessions with `opus`, versions 2.1.240 to 2.1.241 since its stack file was \
             last changed. With that change it began anew: 1 session before it does not count."
        );
        all.push(session("changed", "claude-code 2.1.241", "sonnet", 140));
        let (ids, words) = evidence(&all);
        assert_eq!(ids, ["changed"]);
        assert!(words.ends_with("With that model it began anew: 2 sessions with another do not count."), "{words}");
        all.push(session("rebuilt", "claude-code 2.2.0", "sonnet", 150));
        let (ids, words) = evidence(&all);
        assert_eq!(ids, ["rebuilt"]);
        assert!(words.contains("`sonnet`, version 2.2.0 since"), "{words}");
        assert!(words.ends_with("With that version it began anew: 3 sessions with another do not count."), "{words}");
        let (ids, words) = evidence(&all[..1]);
        assert!(ids.is_empty() && words.contains("no closed session since"), "{words}");
    }

    #[test]
    fn a_limit_that_begins_to_cut_is_reported_whatever_came_before() {
        let mut known = ClauseRecord { ended: 0, cut: (0, 0), spared: None, watched: Watched::new() };
        (0..80).for_each(|_| known.watched.push(0.0));
        assert_eq!(alarm("steps >= 30", &known, 3.0), None);
        (0..5).for_each(|_| known.watched.push(0.3));
        let words = alarm("steps >= 30", &known, 3.0).unwrap_or_default();
        assert!(words.starts_with("`steps >= 30` began to cut more than 5 %") && words.contains("84 of 85"), "{words}");
    }

    #[test]
    fn limits_that_advise_may_stop_once_each_is_shown_to_cut_little() {
        let mut known = vec![ClauseRecord { ended: 0, cut: (0, 0), spared: None, watched: Watched::new() }];
        let mut held = held();
        let (mut n, level) = (0, DELTA);
        while held.advice(&known, level).is_none() {
            known[0].watched.push(0.0);
            n += 1;
        }
        assert_eq!(n, Watched::new().clean_needed(GOAL, level).unwrap());
        assert!(held.advice(&known, level).unwrap().ends_with("claude-code --stacks stacks.toml --mode stop`"));
        known.push(ClauseRecord { ended: 0, cut: (0, 0), spared: None, watched: Watched::new() });
        assert_eq!(held.advice(&known, level), None, "one of them is not known");
        known.pop();
        held.mode = HookMode::Stop;
        assert_eq!(held.advice(&known, level), None, "it stops already");
    }

    #[test]
    fn a_go_on_makes_the_limit_a_mistake_and_a_stop_leaves_it_open() {
        let mut held = held();
        held.continued.insert(("s".to_owned(), 1));
        held.ended.insert(("s".to_owned(), 2));
        let idle = RoundEffect { ends: true, spared: Some(10), ..RoundEffect::default() };
        let free = RoundEffect { spared: Some(0), ..RoundEffect::default() };
        let (_, mut session) = session("s", "claude-code 2.1.240", "opus", 100);
        session.rounds = vec![vec![idle, free], vec![idle, free], vec![idle, free]];
        held.correct(&mut session);
        let mistaken = RoundEffect { cuts: true, may_cut: true, ..idle };
        let open = |effect| RoundEffect { may_cut: true, spared: None, ..effect };
        assert_eq!(session.rounds, [vec![mistaken, free], vec![open(idle), open(free)], vec![idle, free]]);
    }
}
