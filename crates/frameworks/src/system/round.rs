//! Defines what a round is, for systems that decide at the end of each round.

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
    /// The value of a parameter that sets what a round is: `"prompt"`, `"step"` or a number of steps.
    pub fn from_settings(settings: &Settings, parameter: &Parameter) -> Result<Self, SettingsError> {
        let value = settings.in_force(parameter);
        match value.as_str() {
            Some("prompt") => return Ok(Self::Prompt),
            Some("step") => return Ok(Self::Step),
            _ => {}
        }
        let help = "`round` is \"prompt\", \"step\" or a number of steps from 1";
        positive(&value).map(Self::Steps).ok_or_else(|| SettingsError::value(parameter, &value, help))
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
