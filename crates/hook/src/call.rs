//! One call of the hook: an event comes in, its records are appended, and an answer goes out.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::answer;
use super::files;
use super::host::HostAgent;
use super::log::{self, LogLine};
use super::payload::{BatchCall, Payload, PayloadEvent};
use super::record::{Flag, RecordKind, SessionRecord, id_of};
use super::round::{self, StackDecisions, id_of_decision};
use super::settings::{Folders, HookMode, Setup};
use super::state::{self, SessionHeader, SessionState};
use super::tail;
use crate::decision::{Action, Decision, Need};
use crate::stack::Scope;
use crate::transcript::{Fingerprint, Instant};

/// How long a decision waits for the tokens of the batch to reach the transcript.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long after the end of a sub-agent its transcript is read on, in milliseconds.
const LAG: i64 = 60_000;
/// How a prompt begins that comes from the host: a background task or sub-agent is done.
const NOTIFICATIONS: [&str; 2] = ["<task-notification>", "[SYSTEM NOTIFICATION"];

/// Answers one event. `now` is the time for a host that states none.
pub fn answer(host: HostAgent, folders: &Folders, text: &str, now: SystemTime) -> Result<Value, String> {
    let Some(payload) = Payload::parse(text) else { return Err("the event is not a JSON object".to_owned()) };
    let (Some(event), Some(session)) = (payload.event(), payload.text("session_id")) else {
        return Ok(answer::nothing());
    };
    if payload.is_side() && event != PayloadEvent::SubagentStop {
        return Ok(answer::nothing());
    }
    note_fields(folders, event, &payload);
    if event == PayloadEvent::SessionStart {
        state::remove_unused(&folders.state, now);
    }
    let setup = Setup::load(folders).map_err(|error| error.to_string())?;
    let path = SessionState::path(&folders.state, &session);
    let state = SessionState::open(&path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let time = state.not_before(payload.time().unwrap_or(now));
    let texts = round::reads_texts(&setup.rules);
    let mut call = HookCall { host, setup, payload: &payload, session, time, texts, state, lines: Vec::new() };
    let answer = call.take(event);
    log::append(&folders.log(), &call.lines);
    answer
}

/// Keeps the names of the fields that the host sends, for `doctor`; written only when they change.
fn note_fields(folders: &Folders, event: PayloadEvent, payload: &Payload<'_>) {
    let path = folders.state.join("fields").join(event.name());
    let fields = payload.field_names().join(" ");
    if !files::read_text(&path).is_ok_and(|known| known == fields) {
        files::try_write(OpenOptions::new().write(true).create(true).truncate(true), &path, &fields);
    }
}

/// A call that holds its session's lock.
pub(super) struct HookCall<'c> {
    host: HostAgent,
    pub(super) setup: Setup,
    pub(super) payload: &'c Payload<'c>,
    session: String,
    pub(super) time: i64,
    /// True if records hold texts.
    texts: bool,
    pub(super) state: SessionState,
    pub(super) lines: Vec<LogLine>,
}

impl HookCall<'_> {
    fn take(&mut self, event: PayloadEvent) -> Result<Value, String> {
        if self.state.replaced {
            self.log("the state of another version was put aside; counts begin here");
        }
        self.note_damage()?;
        let salt = self.begin()?;
        match event {
            PayloadEvent::UserPromptSubmit => return self.prompt(salt),
            PayloadEvent::PreToolUse => return self.before_tool(),
            PayloadEvent::PostToolUseFailure => self.failure()?,
            PayloadEvent::PostToolBatch => return self.batch(salt),
            PayloadEvent::Stop => return self.close(),
            PayloadEvent::StopFailure => self.add(vec![self.note("failed reply")])?,
            PayloadEvent::SubagentStop => self.sub_agent()?,
            PayloadEvent::SessionStart => self.start()?,
            PayloadEvent::SessionEnd => {
                let mut records = self.read_transcript().unwrap_or_default();
                records.push(SessionRecord::new(RecordKind::End, self.time));
                self.add(records)?;
            }
        }
        Ok(answer::nothing())
    }

    pub(super) fn add(&mut self, records: Vec<SessionRecord>) -> Result<(), String> {
        self.state.append(records).map_err(|error| format!("cannot write the session's state: {error}"))
    }

    fn note(&self, what: &str) -> SessionRecord {
        SessionRecord::new(RecordKind::Note, self.time).named(what)
    }

    /// Says once of each damage that records of the session were lost: what is counted from here on is less than what was.
    fn note_damage(&mut self) -> Result<(), String> {
        let n = self.state.damaged;
        if n > 0 {
            self.log_once(&format!(
                "damaged: {n} bytes of the session's state could not be read, and are not counted"
            ))?;
        }
        Ok(())
    }

    /// Writes a header if there is none, or if the rules have changed; returns the session's salt.
    fn begin(&mut self) -> Result<u64, String> {
        let known = state::header(self.state.records());
        let stacks = self.setup.print;
        if let Some(known) = known.as_ref().filter(|known| known.stacks == stacks) {
            return Ok(known.salt);
        }
        let salt = match known {
            Some(known) => known.salt,
            None => std::hash::RandomState::new().build_hasher().finish(),
        };
        let header = SessionHeader { host: self.host.id().to_owned(), session: self.session.clone(), salt, stacks };
        let mut record = SessionRecord::new(RecordKind::Header, self.time);
        record.text = serde_json::to_vec(&header).unwrap_or_default();
        self.add(vec![record])?;
        Ok(salt)
    }

    /// What a record keeps of a text: its fingerprint and, if a rule reads texts, the text.
    fn keep(&self, mut record: SessionRecord, print: Fingerprint, text: &str, salt: u64) -> SessionRecord {
        record.a = print.salted(salt).0;
        if self.texts {
            record.flags = record.flags.with(Flag::TEXT);
            record.text = text.as_bytes().to_vec();
        }
        record
    }

    /// Reads on in the transcript; `None` if there is none.
    fn read_transcript(&self) -> Option<Vec<SessionRecord>> {
        let path = self.payload.text("transcript_path").filter(|path| !path.is_empty())?;
        let news = tail::read_on(Path::new(&path), self.state.records(), self.time, false)?;
        let mut records = news.records;
        records.extend(self.read_sub_agents());
        for (name, value) in [("version", news.version), ("model", news.model)] {
            let Some(value) = value.filter(|value| self.fact(name).as_ref() != Some(value)) else { continue };
            let mut record = self.note(name);
            record.text = value.into_bytes();
            records.push(record);
        }
        Some(records)
    }

    /// Reads on in the transcripts of sub-agents that ended a moment ago: their last lines may come after the event.
    fn read_sub_agents(&self) -> Vec<SessionRecord> {
        let known = self.state.records();
        let late = known.iter().rev().take_while(|record| self.time - record.time <= LAG);
        let read = late.filter(|record| record.kind == RecordKind::Transcript && record.flags.has(Flag::SIDE));
        let paths: BTreeSet<&[u8]> = read.map(|record| record.text.as_slice()).collect();
        let mut records = Vec::new();
        for path in paths {
            let path = String::from_utf8_lossy(path);
            if let Some(news) = tail::read_on(Path::new(&*path), known, self.time, true) {
                records.extend(news.records);
            }
        }
        records
    }

    /// The records of the current round.
    fn round(&self) -> &[SessionRecord] {
        round::current(self.state.records(), Scope::Round)
    }

    /// The records that count, from the latest prompt or the beginning of the session.
    pub(super) fn counted(&self) -> &[SessionRecord] {
        round::current(self.state.records(), self.setup.settings.unit())
    }

    /// The latest note of that name.
    fn fact(&self, name: &str) -> Option<String> {
        let is = |record: &&SessionRecord| record.kind == RecordKind::Note && record.name == name;
        self.state.records().iter().rev().find(is).map(SessionRecord::words)
    }

    /// A text comes in. It begins a round unless it comes while the agent works (then it steers), or from the host: a
    /// notification, or no text at all, with which Qwen Code announces each request.
    fn prompt(&mut self, salt: u64) -> Result<Value, String> {
        let mut records = self.read_transcript().unwrap_or_default();
        let text = self.payload.text("prompt").unwrap_or_default();
        let id = id_of(&self.payload.text("prompt_id").unwrap_or_default());
        let current = self.round();
        let is_this_prompt = |first: &SessionRecord| first.kind == RecordKind::Prompt && first.id == id;
        let same_prompt = id != 0 && current.first().is_some_and(is_this_prompt);
        let is_notification = NOTIFICATIONS.iter().any(|begin| text.starts_with(begin));
        let is_of_host = is_notification || (text.is_empty() && (same_prompt || id == 0));
        if is_notification || !is_of_host {
            let kind = match (is_notification, same_prompt) {
                (true, _) => RecordKind::Notification,
                (false, true) => RecordKind::Steering,
                (false, false) => RecordKind::Prompt,
            };
            let record =
                self.keep(SessionRecord::new(kind, self.time).id(id), Fingerprint::from_text(&text), &text, salt);
            // Installed twice, the hook hears of each prompt twice.
            let has_begun = current.iter().any(|record| matches!(record.kind, RecordKind::Reply | RecordKind::Close));
            if has_begun || !same_prompt || current[0].a != record.a {
                records.push(record);
            }
        }
        self.add(records)?;
        // A stop holds until a person says something: a host that did not end the round is told again.
        let stop = if is_of_host { self.stop_of_round() } else { None };
        Ok(if let Some(words) = stop { answer::stop(&words) } else { answer::nothing() })
    }

    /// The words of the stop that the agent was told in this round.
    fn stop_of_round(&self) -> Option<String> {
        let is_stop = |record: &&SessionRecord| record.kind == RecordKind::Acted && record.flags.has(Flag::STOP);
        self.round().iter().rev().find(is_stop).map(SessionRecord::words)
    }

    /// The batch of another reply after a stop in the same round proves that the host did not obey it. Said once a round.
    fn note_disobedience(&mut self) -> Result<(), String> {
        const NAME: &str = "stop not obeyed";
        let Some(words) = self.stop_of_round() else { return Ok(()) };
        let current = self.round();
        let is_noted = current.iter().any(|record| record.kind == RecordKind::Note && record.name == NAME);
        if is_noted || round::is_of_earlier_reply(current) {
            return Ok(());
        }
        self.add(vec![self.note(NAME)])?;
        let did = log::NOT_OBEYED.to_owned();
        self.lines.push(LogLine { rule: words, did, ..self.line() });
        Ok(())
    }

    fn failure(&mut self) -> Result<(), String> {
        let id = self.payload.call_id();
        if id.is_empty() || self.payload.flag("is_interrupt") {
            return Ok(());
        }
        self.add(vec![SessionRecord::new(RecordKind::Failure, self.time).id(id_of(&id))])
    }

    fn start(&mut self) -> Result<(), String> {
        match self.payload.text("source").as_deref() {
            Some("clear" | "fork" | "branch") => self.add(vec![SessionRecord::new(RecordKind::Reset, self.time)]),
            Some(source @ ("resume" | "compact")) => self.add(vec![self.note(source)]),
            _ => Ok(()),
        }
    }

    fn sub_agent(&mut self) -> Result<(), String> {
        // Qwen Code names the session's own transcript, in which a sub-agent's tokens are not.
        let own = self.payload.text("transcript_path");
        let path = self.payload.text("agent_transcript_path").filter(|path| !path.is_empty());
        let Some(path) = path.filter(|path| own.as_ref() != Some(path)) else { return Ok(()) };
        let news = tail::read_on(Path::new(&path), self.state.records(), self.time, true);
        self.add(news.unwrap_or_default().records)
    }

    /// The records of a batch.
    fn step(&self, calls: &[BatchCall<'_>], salt: u64) -> Vec<SessionRecord> {
        let record = |kind, call: &BatchCall<'_>| SessionRecord::new(kind, self.time).id(id_of(&call.id()));
        let mut records = vec![SessionRecord::new(RecordKind::Reply, self.time)];
        for call in calls {
            let kept = record(RecordKind::Call, call).named(call.name());
            records.push(self.keep(kept, call.print(), call.arguments(), salt));
        }
        for call in calls {
            let result = call.result();
            let mut kept = record(RecordKind::Result, call);
            if let Some(failed) = call.failed(result.as_deref()) {
                kept.flags = if failed { Flag::FLAGGED.with(Flag::FAILED) } else { Flag::FLAGGED };
            }
            let text = result.unwrap_or_default();
            records.push(self.keep(kept, Fingerprint::from_text(&text), &text, salt));
        }
        records.push(SessionRecord::new(RecordKind::Batch, self.time));
        records
    }

    fn batch(&mut self, salt: u64) -> Result<Value, String> {
        let calls = self.payload.calls();
        let ids: Vec<u64> = calls.iter().map(|call| id_of(&call.id())).collect();
        if calls.is_empty() || self.is_known(&ids) {
            return Ok(answer::nothing());
        }
        let mut records = self.read_transcript();
        if self.setup.settings.mode == HookMode::Stop && records.is_some() && self.reads_usage() {
            records = self.wait_for(&ids, records);
        }
        let has_transcript = records.is_some();
        let mut records = records.unwrap_or_default();
        records.extend(self.step(&calls, salt));
        // What cannot be kept is not acted upon: it would be acted upon again, or never.
        self.add(records)?;
        self.note_disobedience()?;
        self.went_on(&calls)?;
        let answer = self.decide();
        if has_transcript || !self.reads_usage() {
            return Ok(answer);
        }
        self.say_once(answer, "no transcript: rules on tokens cannot be evaluated in this session")
    }

    /// True if the batch was recorded before: by a second installation of the hook.
    fn is_known(&self, ids: &[u64]) -> bool {
        let current = round::current(self.state.records(), Scope::Run);
        ids.iter()
            .any(|id| *id != 0 && current.iter().any(|record| record.kind == RecordKind::Call && record.id == *id))
    }

    fn reads_usage(&self) -> bool {
        let needs = self.setup.rules.iter().flat_map(|rules| rules.strategy.requirements());
        needs.into_iter().any(|requirement| requirement.need == Need::Usage)
    }

    /// Waits a moment for the tokens of this batch.
    fn wait_for(&self, ids: &[u64], mut records: Option<Vec<SessionRecord>>) -> Option<Vec<SessionRecord>> {
        let has = |records: &Option<Vec<SessionRecord>>| {
            let all = records.iter().flatten().chain(self.state.records());
            all.filter(|record| record.kind == RecordKind::Usage).any(|record| ids.contains(&record.b))
        };
        let mut waited = Duration::ZERO;
        while !has(&records) && waited < PATIENCE {
            let nap = Duration::from_millis(5);
            std::thread::sleep(nap);
            waited += nap;
            records = self.read_transcript();
        }
        records
    }

    pub(super) fn n_rounds(&self) -> u64 {
        self.state.records().iter().filter(|record| record.kind == RecordKind::Prompt).count() as u64
    }

    /// Shows the round to the rules and acts on what is new.
    fn decide(&mut self) -> Value {
        let unit = self.setup.settings.unit();
        let verdicts = round::judge(self.counted(), &self.setup.rules, unit, self.texts);
        let mut answer = answer::nothing();
        for verdict in verdicts {
            for decision in &verdict.decisions {
                let id = id_of_decision(&verdict.stack, decision) ^ self.asks_so_far(&verdict.stack);
                if self.counted().iter().any(|record| record.kind == RecordKind::Acted && record.id == id) {
                    continue;
                }
                let acted = self.act(&verdict, decision, id);
                // The first stack of the file that has something to say is the one that says it.
                if answer == answer::nothing() {
                    answer = acted;
                }
            }
        }
        answer
    }

    fn act(&mut self, verdict: &StackDecisions, decision: &Decision, id: u64) -> Value {
        let mode = self.setup.settings.mode;
        let words = answer::words(decision);
        let ends = decision.action.ends_path();
        let asks = decision.action == Action::Ask || ends;
        let speaks = ends || matches!(decision.action, Action::Warn | Action::Inject | Action::Ask);
        let (did, answer) = match mode {
            HookMode::Ask if asks && is_unattended() => ("stopped", answer::stop(&words)),
            HookMode::Ask if asks => ("asked", answer::nothing()),
            HookMode::Stop if ends => ("stopped", answer::stop(&words)),
            HookMode::Nudge | HookMode::Ask | HookMode::Stop if speaks => ("nudged", answer::nudge(&words)),
            _ => ("observed", answer::nothing()),
        };
        let late = self.rests_on_usage(verdict, decision) && decision.point.step + 1 < verdict.n_steps;
        let mut record = SessionRecord::new(RecordKind::Acted, self.time).id(id).named(verdict.stack.clone());
        record.a = id_of(&verdict.stack);
        record.flags = match did {
            "asked" => Flag::ASK,
            "stopped" => Flag::STOP,
            _ => Flag::default(),
        };
        record.flags = if late { record.flags.with(Flag::LATE) } else { record.flags };
        record.text = words.into_bytes();
        let _ = self.add(vec![record]);
        let line = LogLine {
            stack: verdict.stack.clone(),
            rule: decision.rule.to_string(),
            point: decision.point.to_string(),
            step: verdict.n_steps.saturating_sub(1),
            observed: decision.evidence.observed,
            limit: decision.evidence.limit,
            did: did.to_owned(),
            late,
            ..self.line()
        };
        self.lines.push(line);
        answer
    }

    fn rests_on_usage(&self, verdict: &StackDecisions, decision: &Decision) -> bool {
        let Some(rules) = self.setup.rules.get(verdict.nth) else { return false };
        let requirements = rules.strategy.requirements();
        requirements.iter().any(|requirement| requirement.rule == decision.rule && requirement.need == Need::Usage)
    }

    pub(super) fn line(&self) -> LogLine {
        LogLine {
            time: Instant(self.time).to_rfc3339(),
            session: self.session.clone(),
            round: self.n_rounds(),
            mode: self.setup.settings.mode.name().to_owned(),
            version: self.fact("version").unwrap_or_default(),
            model: self.fact("model").unwrap_or_default(),
            stacks: format!("{:016x}", self.setup.print),
            ..LogLine::default()
        }
    }

    fn log(&mut self, did: &str) {
        self.lines.push(LogLine { did: did.to_owned(), ..self.line() });
    }

    fn say_once(&mut self, answer: Value, text: &str) -> Result<Value, String> {
        Ok(if self.log_once(text)? { answer::saying(answer, &format!("whenstop: {text}")) } else { answer })
    }

    /// Logs `text`; false if it was logged in this session before.
    fn log_once(&mut self, text: &str) -> Result<bool, String> {
        let id = id_of(text);
        if self.state.records().iter().any(|record| record.kind == RecordKind::Said && record.id == id) {
            return Ok(false);
        }
        self.log(text);
        self.add(vec![SessionRecord::new(RecordKind::Said, self.time).id(id)])?;
        Ok(true)
    }

    /// The agent hands back. A round whose calls are in the transcript, but in no batch, is one of a host too old to
    /// announce batches.
    fn close(&mut self) -> Result<Value, String> {
        let mut records = self.read_transcript().unwrap_or_default();
        let current = self.round();
        // A hook that keeps the agent at work, or a second installation of this one.
        let is_closed = matches!(current.last(), Some(last) if last.kind == RecordKind::Close);
        let calls_seen = current.iter().chain(&records).any(|record| {
            record.kind == RecordKind::Failure
                || (record.kind == RecordKind::Usage && record.b != 0 && !record.flags.has(Flag::SIDE))
        });
        let has_batch = self.state.records().iter().any(|record| record.kind == RecordKind::Batch);
        if !is_closed || !records.is_empty() {
            records.push(SessionRecord::new(RecordKind::Close, self.time));
        }
        self.add(records)?;
        // The agent has handed back: there is nothing to end, and nothing to add to its next request.
        self.decide();
        if calls_seen && !has_batch {
            let text = "this version of the agent announces no batches of calls: nothing can be counted";
            return self.say_once(answer::nothing(), text);
        }
        Ok(answer::nothing())
    }
}

/// True if nobody is there to be asked: Claude Code says how it was started.
fn is_unattended() -> bool {
    std::env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|entry| entry.starts_with("sdk"))
}
