//! Points: the moments at which a framework can consult its rules, in a total order within a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::named;

named! {
    /// The moment within a step at which a rule is consulted. Variants are in the order of time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Moment {
        /// The request of this step is about to be sent; nothing of this step has been paid for.
        BeforeRequest = "before_request",
        /// The reply has arrived and is paid for; the tools it calls have not run yet.
        AfterResponse = "after_response",
        /// The tools have run. A step without calls also has this point, directly after the reply.
        AfterTools = "after_tools",
        /// The reply called no tool, so the round is over.
        EndOfRound = "end_of_round",
    }
}

/// A set of moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments(u8);

impl Moments {
    /// None.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(0b1111);

    /// One moment.
    pub const fn only(moment: Moment) -> Self {
        Self(1 << moment as u8)
    }

    /// Those of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a moment is one of them.
    pub const fn contains(self, moment: Moment) -> bool {
        self.0 & Self::only(moment).0 != 0
    }
}

/// A decision point: a step and a moment within it. Every stop is at a point.
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

    /// The number of steps paid for at this point. The current step counts from its reply on.
    pub fn steps_paid(self) -> usize {
        self.step as usize + usize::from(self.moment > Moment::BeforeRequest)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.step, self.moment)
    }
}

impl FromStr for Point {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (step, moment) = text.split_once(':').ok_or(())?;
        Ok(Self { step: step.parse().map_err(|_| ())?, moment: moment.parse()? })
    }
}

/// A point is serialised as text: `12:after_tools`.
impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom(format!("`{text}` is not a point such as `12:after_tools`")))
    }
}
