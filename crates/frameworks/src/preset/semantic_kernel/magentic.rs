//! Magentic: a manager whose progress ledgers say whether the work continues.

use serde_json::Value;

use super::super::frame::{Action, ActionSink, Machine, Settings, SettingsError};
use super::{MAGENTIC_LEDGER, MAGENTIC_LIMITS, param};
use crate::python;
use crate::transcript::{Event, Role};

#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Magentic {
    max_stalls: i64,
    max_resets: Option<i64>,
    max_rounds: Option<i64>,
    stalls: i64,
    resets: i64,
    /// Ledgers used.
    pub rounds: i64,
}

/// The answers of a ledger.
struct ProgressLedger {
    satisfied: bool,
    progress: bool,
    in_loop: bool,
}

impl ProgressLedger {
    /// Reads answers given as plain values or as `{reason, answer}`; `None` if the ledger cannot be read.
    fn read(reply: &str) -> Option<Self> {
        let table: Value = serde_json::from_str(reply).ok()?;
        let answer = |name: &str| {
            let value = table.get(name)?;
            Some(python::is_true(value.get("answer").unwrap_or(value)))
        };
        Some(Self {
            satisfied: answer("is_request_satisfied")?,
            progress: answer("is_progress_being_made")?,
            in_loop: answer("is_in_loop")?,
        })
    }
}

impl Magentic {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let max_stalls = settings.int(&param::MAX_STALL_COUNT)?;
        let max_resets = settings.opt_int(&param::MAX_RESET_COUNT)?;
        let max_rounds = settings.opt_int(&param::MAX_ROUND_COUNT)?;
        let refused = max_stalls < 0 || max_resets.is_some_and(|max| max < 0) || max_rounds.is_some_and(|max| max < 1);
        if refused {
            return Err(SettingsError::refused("ValidationError", "1 validation error for the manager"));
        }
        Ok(Self { max_stalls, max_resets, max_rounds, stalls: 0, resets: 0, rounds: 0 })
    }

    /// Checks the limits before each ledger.
    fn before_ledger(&self, acts: &mut ActionSink<'_, '_>) {
        let rounds = self.max_rounds.filter(|max| self.rounds >= *max).map(|max| ("round", self.rounds, max));
        let resets = self.max_resets.filter(|max| self.resets > *max).map(|max| ("reset", self.resets, max));
        if let Some((name, seen, limit)) = rounds.or(resets) {
            let act = acts.act(Action::Stop, MAGENTIC_LIMITS).code(format!("Max {name} count reached."));
            act.evidence(seen as f64, limit as f64);
        }
    }

    fn ledger(&mut self, ledger: &ProgressLedger, acts: &mut ActionSink<'_, '_>) {
        self.rounds += 1;
        if ledger.satisfied {
            acts.act(Action::Stop, MAGENTIC_LEDGER).code("is_request_satisfied");
            return;
        }
        let stalls = if !ledger.progress || ledger.in_loop { self.stalls + 1 } else { (self.stalls - 1).max(0) };
        self.stalls = stalls;
        if stalls > self.max_stalls {
            let act = acts.act(Action::Inject, MAGENTIC_LEDGER).code("replan");
            act.evidence(stalls as f64, self.max_stalls as f64);
            self.stalls = 0;
            self.resets += 1;
            self.before_ledger(acts);
        }
    }
}

impl Machine for Magentic {
    fn event(&mut self, event: &Event, acts: &mut ActionSink<'_, '_>) {
        match event {
            Event::Message(message) if message.role == Role::User => {
                (self.stalls, self.resets, self.rounds) = (0, 0, 0);
                self.before_ledger(acts);
            }
            Event::Message(message) if message.is_step() && message.tool_calls.is_empty() => self.before_ledger(acts),
            Event::Judge(judge) => {
                if let Some(reply) = &judge.reply
                    && let Some(ledger) = ProgressLedger::read(&reply.as_str())
                {
                    self.ledger(&ledger, acts);
                }
            }
            _ => {}
        }
    }
}
