//! awaken's native configuration: a list of stop conditions in JSON, read as strictly as awaken reads it.

use serde::{Deserialize, Serialize};

/// A declarative stop condition, following the JSON rules of `awaken-runtime-contract` 0.6.0: the tag is `type` in
/// snake case, every field is required, unknown and duplicate fields are rejected, and numbers are unsigned integers.
/// An invalid regular expression is accepted here and fails at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum StopConditionSpec {
    /// Limits model replies.
    MaxRounds {
        /// The limit; 0 switches it off.
        rounds: usize,
    },
    /// Limits wall-clock time.
    Timeout {
        /// The limit in seconds; 0 switches it off.
        seconds: u64,
    },
    /// Limits input and output tokens together.
    TokenBudget {
        /// The limit; 0 switches it off.
        max_total: usize,
    },
    /// Limits failed model calls in a row.
    ConsecutiveErrors {
        /// The limit, of which only the lowest 32 bits count; 0 switches it off.
        max: usize,
    },
    /// Stops if this reply calls a tool.
    StopOnTool {
        /// Its exact name; empty switches it off.
        tool_name: String,
    },
    /// Stops if this reply's text matches a pattern.
    ContentMatch {
        /// A regular expression that may match anywhere in the text; empty switches it off.
        pattern: String,
    },
    /// Stops if the same reply text is repeated.
    LoopDetection {
        /// How many equal texts in a row; below 2 switches it off.
        window: usize,
    },
}

impl StopConditionSpec {
    /// awaken's name of the policy it becomes.
    pub fn policy_id(&self) -> &'static str {
        match self {
            Self::MaxRounds { .. } => "max_rounds",
            Self::Timeout { .. } => "timeout",
            Self::TokenBudget { .. } => "token_budget",
            Self::ConsecutiveErrors { .. } => "consecutive_errors",
            Self::StopOnTool { .. } => "stop_on_tool",
            Self::ContentMatch { .. } => "content_match",
            Self::LoopDetection { .. } => "loop_detection",
        }
    }
}

/// The part of an agent's configuration that decides when it stops; other fields are not read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "struct AgentSpec")]
pub struct AgentStops {
    /// The round guard that every agent has; 0 switches it off.
    pub max_rounds: usize,
    /// The conditions checked after it, in order.
    #[serde(rename = "stop_conditions")]
    pub conditions: Vec<StopConditionSpec>,
}

/// awaken's round guard if the agent's configuration sets none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number above 0")]
const DEFAULT_MAX_ROUNDS: usize = super::param::MAX_ROUNDS.whole() as usize;

impl Default for AgentStops {
    fn default() -> Self {
        Self { max_rounds: DEFAULT_MAX_ROUNDS, conditions: Vec::new() }
    }
}

impl AgentStops {
    /// Reads the native file: the bare list of conditions, or an agent's configuration with `max_rounds` and
    /// `stop_conditions` among other fields.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        if text.trim_start().starts_with('[') {
            return Ok(Self { conditions: serde_json::from_str(text)?, ..Self::default() });
        }
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_list_keeps_the_guard_and_an_agent_may_move_it() {
        let list = AgentStops::read(r#"[{"type":"timeout","seconds":300}]"#).unwrap();
        assert_eq!((list.max_rounds, list.conditions.len()), (16, 1));
        let agent = AgentStops::read(r#"{"id":"a","max_rounds":0,"stop_conditions":[]}"#).unwrap();
        assert_eq!(agent, AgentStops { max_rounds: 0, conditions: Vec::new() });
        assert!(AgentStops::read(r#"[{"type":"timeout","seconds":1.5}]"#).is_err());
    }
}
