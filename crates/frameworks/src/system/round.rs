//! Defines what a round is, for systems that decide at the end of each round.

use serde_json::Value;

use crate::framework::{Parameter, Settings, SettingsError, positive};
use crate::transcript::{Moment, PointView};

/// What counts as a round in a recording. The choice matters because some systems decide once per round, and many
/// recordings contain only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundUnit {
    /// From a prompt to the reply that calls no tool, as in the systems themselves.
    #[default]
    Prompt,
    /// Every step.
    Step,
    /// This many steps (at least 1), or fewer if a reply calls no tool before.
    Steps(u32),
}

impl RoundUnit {
    /// Reads `"prompt"`, `"step"` or a number of steps; `None` for anything else.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "prompt" => Some(Self::Prompt),
            Value::String(word) if word == "step" => Some(Self::Step),
            _ => positive(value).map(Self::Steps),
        }
    }
}

impl RoundUnit {
    /// The value of a parameter that sets what a round is.
    pub fn from_settings(settings: &Settings, parameter: &Parameter) -> Result<Self, SettingsError> {
        let value = settings.in_force(parameter);
        let help = "`round` is \"prompt\", \"step\" or a number of steps from 1";
        Self::from_json(&value).ok_or_else(|| SettingsError::value(parameter, &value, help))
    }
}

impl std::fmt::Display for RoundUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Prompt => f.write_str("prompt"),
            Self::Step => f.write_str("step"),
            Self::Steps(steps) => write!(f, "{steps} steps"),
        }
    }
}

/// Reports at each point whether a round ends there. It must be given every point of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundClock {
    round: RoundUnit,
    /// Steps in the current round.
    steps: u32,
}

impl RoundClock {
    /// A clock at the start of a run.
    pub fn new(round: RoundUnit) -> Self {
        Self { round, steps: 0 }
    }

    /// Whether a round ends at this point. A round that ended after a step's tools is not ended a second time when its
    /// prompt ends.
    pub fn ends(&mut self, view: &PointView<'_>) -> bool {
        let ends = match (self.round, view.moment()) {
            (RoundUnit::Prompt, moment) => moment == Moment::EndOfRound,
            (RoundUnit::Step, moment) => moment == Moment::AfterTools,
            (RoundUnit::Steps(limit), Moment::AfterTools) => {
                self.steps += 1;
                self.steps >= limit || view.ends_round()
            }
            (RoundUnit::Steps(_), _) => false,
        };
        if ends {
            self.steps = 0;
        }
        ends
    }
}
