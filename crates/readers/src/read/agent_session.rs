//! A session that is read line by line, as the programs of several agents write it.

use crate::read::turns::Turns;
use crate::transcript::{Draft, EndCause, Grade, Header};

/// A session being read: its conversation, what is known about it, and how it ended.
#[derive(Default)]
pub(crate) struct AgentSession {
    /// The conversation so far.
    pub(crate) turns: Turns,
    /// What is known about it so far.
    pub(crate) header: Header,
    /// How it ended, as far as the lines so far tell.
    pub(crate) end: EndCause,
}

impl AgentSession {
    /// Calls the session by this name if its recording gives it no id.
    pub(crate) fn name_if_unnamed(&mut self, name: &str) {
        if self.header.run_id.is_empty() {
            name.clone_into(&mut self.header.run_id);
        }
    }

    /// The run.
    pub(crate) fn into_draft(self) -> Draft {
        self.turns.into_draft(self.header, Grade { end: self.end, ..Grade::default() })
    }
}
