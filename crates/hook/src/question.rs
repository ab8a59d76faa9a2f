//! The question that `ask` puts to the person: whether to go on, before the next call, and what the answer was.

use serde_json::Value;

use super::answer;
use super::call::HookCall;
use super::log::LogLine;
use super::payload::BatchCall;
use super::record::{Flag, RecordKind, SessionRecord, id_of};

impl HookCall<'_> {
    /// Puts the question of this round, if there is one that was not put yet.
    pub(super) fn before_tool(&mut self) -> Result<Value, String> {
        let current = self.counted();
        let last = current.iter().rev().find(|record| {
            matches!(record.kind, RecordKind::Asked | RecordKind::WentOn)
                || (record.kind == RecordKind::Acted && record.flags.has(Flag::ASK))
        });
        let Some(open) = last.filter(|record| record.kind == RecordKind::Acted).cloned() else {
            return Ok(answer::nothing());
        };
        let id = id_of(&self.payload.call_id());
        let mut record = SessionRecord::new(RecordKind::Asked, self.time).id(id).named(open.name.clone());
        record.a = open.a;
        self.add(vec![record])?;
        Ok(answer::ask(&format!("{}. Go on? The limit is then doubled for this round.", open.words())))
    }

    /// If the question of this round was put at one of these calls and the person did not refuse it, the agent may go
    /// on: the limit was a mistake here.
    pub(super) fn went_on(&mut self, calls: &[BatchCall<'_>]) -> Result<(), String> {
        let current = self.counted();
        let asked = current.iter().rev().find(|record| matches!(record.kind, RecordKind::Asked | RecordKind::WentOn));
        let Some(asked) = asked.filter(|record| record.kind == RecordKind::Asked).cloned() else { return Ok(()) };
        let Some(call) = calls.iter().find(|call| id_of(&call.id()) == asked.id) else { return Ok(()) };
        if call.is_refused() {
            return Ok(());
        }
        let mut record = SessionRecord::new(RecordKind::WentOn, self.time).named(asked.name.clone());
        record.a = asked.a;
        self.add(vec![record])?;
        let line = LogLine { stack: asked.name.to_string(), did: "went on".to_owned(), ..self.line() };
        self.lines.push(line);
        Ok(())
    }

    /// After each "go on", the same rule may act again at its higher limit.
    pub(super) fn asks_so_far(&self, stack: &str) -> u64 {
        let current = self.counted();
        let stack = id_of(stack);
        current.iter().filter(|record| record.kind == RecordKind::WentOn && record.a == stack).count() as u64
    }
}
