//! Points: the moments at which some framework consults its rules, totally ordered within a run.

use std::fmt;
use std::str::FromStr;

/// Where within a step a rule is consulted. The order of the variants is the order in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// The request of this step is about to be sent; nothing of the step has been paid for.
    BeforeRequest,
    /// The reply is known and paid for; the tools it asks for have not run.
    AfterResponse,
    /// The tools have run. A step without calls has this point too, directly after the reply.
    AfterTools,
    /// The reply asked for no tool, so the round is over.
    EndOfRound,
}

impl Moment {
    /// All moments in order.
    pub const ALL: [Self; 4] = [Self::BeforeRequest, Self::AfterResponse, Self::AfterTools, Self::EndOfRound];

    /// The name used in stack files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeRequest => "before_request",
            Self::AfterResponse => "after_response",
            Self::AfterTools => "after_tools",
            Self::EndOfRound => "end_of_round",
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Moment {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|moment| moment.name() == name).ok_or(())
    }
}

/// One decision point: a step (from 0) and a moment within it. A stop is one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Index of the step, from 0.
    pub step: u32,
    /// The moment within the step.
    pub moment: Moment,
}

impl Point {
    /// The point of `step` at `moment`.
    pub fn new(step: usize, moment: Moment) -> Self {
        Self { step: u32::try_from(step).unwrap_or(u32::MAX), moment }
    }

    /// How many steps have been paid for at this point: the current one counts from its reply on.
    pub fn steps_paid(self) -> usize {
        self.step as usize + usize::from(self.moment > Moment::BeforeRequest)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.step, self.moment)
    }
}
