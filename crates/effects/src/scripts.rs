//! What the scripts do that a run has written so far.

use std::collections::BTreeMap;

use crate::parts::CallEffect;
use crate::path;

/// The effects of scripts, by file name.
#[derive(Debug, Default)]
pub(crate) struct ScriptEffects(BTreeMap<String, CallEffect>);

impl ScriptEffects {
    /// Records what running `file` does.
    pub(crate) fn record(&mut self, file: &str, effect: CallEffect) {
        self.0.insert(path::file_name(file).to_owned(), effect);
    }

    /// The effect of running `file`; `None` if the run did not write it.
    pub(crate) fn effect(&self, file: &str) -> Option<&CallEffect> {
        self.0.get(path::file_name(file))
    }
}
