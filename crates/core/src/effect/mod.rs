//! What a tool call does to the world: changes something, hands it over, checks it, or only looks.
//!
//! One table of tool names (`tools.rs`) and one of command words (`words.rs`); shell commands are parsed, code given to an
//! interpreter is searched for what writes. What cannot be told from the call is [`Effect::Unknown`], never a guess.
//! This module knows no result, no outcome and no stop.

mod arguments;
mod cloud;
mod code;
mod command;
mod git;
mod marks;
mod packages;
mod parts;
mod path;
mod powershell;
mod programs;
mod reader;
mod shell;
mod sql;
mod table;
mod tools;
mod verbs;
mod words;

#[cfg(test)]
mod tests;

pub use marks::{Mark, Marks};
#[doc(hidden)]
pub use parts::Told;
pub use reader::EffectReader;
pub use table::EffectTable;
#[doc(hidden)]
pub use table::manual;

/// What a tool call does.
///
/// The order is the strength: a compound command has the strongest effect of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// Looks, and changes nothing.
    Read,
    /// Keeps the agent's own list, thinks, or asks.
    Plan,
    /// Cannot be told from the call.
    Unknown,
    /// Runs tests, builds, linters, or a program.
    Check,
    /// Starts a sub-agent, whose effects are its own.
    Delegate,
    /// Changes files or state that someone keeps.
    Edit,
    /// Gives the work to others: a commit, a pull request, a submission, a deployment, a booking.
    Handover,
}

impl Effect {
    /// All effects, the weakest first.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Plan, Self::Unknown, Self::Check, Self::Delegate, Self::Edit, Self::Handover];

    /// The name used in tables and stack files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Plan => "plan",
            Self::Unknown => "unknown",
            Self::Check => "check",
            Self::Delegate => "delegate",
            Self::Edit => "edit",
            Self::Handover => "handover",
        }
    }

    /// True where something was changed or handed over.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Edit | Self::Handover)
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Effect {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|effect| effect.name() == name).ok_or(())
    }
}
