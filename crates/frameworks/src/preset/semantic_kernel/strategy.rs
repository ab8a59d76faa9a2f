//! Termination strategies, which decide when a chat is over.

use serde_json::{Map, Value};

use super::super::frame::{SettingsError, wrong_kind};
use crate::python::{self, Dict};

/// A termination strategy.
#[derive(Clone, Debug)]
pub(super) struct ChatTermination {
    kind: TerminationKind,
    /// Only messages of these agents are tested; if empty, all are.
    agents: Vec<String>,
    pub(super) maximum_iterations: i64,
    pub(super) automatic_reset: bool,
}

#[derive(Clone, Debug)]
enum TerminationKind {
    Never,
    Contains(String),
    MinMessages(i64),
}

impl ChatTermination {
    /// Reads a configured strategy; null is the default one.
    pub(super) fn read(value: &Value) -> Result<Self, SettingsError> {
        let empty = Map::new();
        let table = match value {
            Value::Null => &empty,
            Value::Object(table) => table,
            other => return Err(wrong_kind("termination_strategy", "a table", other)),
        };
        let (kind, maximum) = match table.text("type").unwrap_or("default") {
            "default" => (TerminationKind::Never, 5),
            "never" => (TerminationKind::Never, 99),
            "contains" => (TerminationKind::Contains(table.text("word").unwrap_or_default().to_owned()), 99),
            "min_messages" => (TerminationKind::MinMessages(table.whole("n").unwrap_or(0)), 99),
            other => return Err(wrong_kind("termination_strategy.type", "a known type", &Value::from(other))),
        };
        Ok(Self {
            kind,
            agents: table.items("agents").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            maximum_iterations: table.whole("maximum_iterations").unwrap_or(maximum),
            automatic_reset: table.flag("automatic_reset").unwrap_or(false),
        })
    }

    /// Whether the chat ends after this message of `agent`, the `n_messages`-th over all agents.
    pub(super) fn ends(&self, agent: &str, text: &str, n_messages: i64) -> bool {
        let in_scope = self.agents.is_empty() || self.agents.iter().any(|name| name == agent);
        in_scope
            && match &self.kind {
                TerminationKind::Never => false,
                TerminationKind::Contains(word) => python::lower(text).contains(word.as_str()),
                TerminationKind::MinMessages(n) => n_messages >= *n,
            }
    }
}
