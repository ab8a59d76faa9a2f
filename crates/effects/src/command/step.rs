//! What a command comes down to.

use std::borrow::Cow;

use crate::parts::CallEffect;
use crate::scripts::ScriptEffects;
use crate::words::CommandWord;
use crate::{Effect, EffectTable};

/// What is known before a command runs.
#[derive(Clone, Copy)]
pub(crate) struct CommandContext<'k> {
    /// The effects of a stack file.
    pub(crate) table: &'k EffectTable,
    /// Scripts that the run has written so far.
    pub(crate) scripts: &'k ScriptEffects,
}

/// What a command receives besides its words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandInput<'n> {
    /// Text on its standard input, if the command line contains it.
    pub(crate) input: Option<&'n str>,
    /// True if something is piped into it.
    pub(crate) piped: bool,
}

/// A part of what a command does.
pub(crate) enum CommandStep<'w> {
    Effect(CallEffect),
    /// It runs a script for a shell.
    Script(Cow<'w, str>),
    /// It runs another command.
    Command(&'w [CommandWord], CommandInput<'w>),
}

impl<'w> CommandStep<'w> {
    pub(crate) fn effect(effect: Effect, why: impl Into<String>) -> Self {
        Self::Effect(CallEffect::new(effect, why))
    }

    /// The command in `words`, if there is one.
    pub(crate) fn command(words: &'w [CommandWord], given: CommandInput<'w>) -> Self {
        if words.is_empty() {
            Self::effect(Effect::Unknown, "a shell without a command")
        } else {
            Self::Command(words, given)
        }
    }
}
