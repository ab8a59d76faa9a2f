//! Combines the effects of the parts of one call.

use foldhash::HashSet;

use crate::Effect;

/// The effect of a call, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEffect {
    /// The strongest effect of its parts.
    pub effect: Effect,
    /// The part of the call that shows it, for example "`git push`". Contains text from the recording.
    pub why: String,
    /// True if a part of the call may change something, but does not show whether it does.
    pub may_change: bool,
    /// The files it is known to change, as written in the call.
    pub touched: Vec<String>,
    /// The files among them that it removes.
    pub removed: Vec<String>,
    /// True if it changes things that it does not name.
    pub blind: bool,
    /// Files and directories whose changes it discards; `.` for all of them.
    pub discards: Vec<String>,
}

impl CallEffect {
    /// A call with this effect.
    pub(crate) fn new(effect: Effect, why: impl Into<String>) -> Self {
        Self {
            effect,
            why: why.into(),
            may_change: effect == Effect::Unknown,
            touched: Vec::new(),
            removed: Vec::new(),
            blind: effect.is_work(),
            discards: Vec::new(),
        }
    }

    /// The same call, with `files` as everything it changes.
    pub(crate) fn touching(mut self, files: Vec<String>) -> Self {
        self.blind = self.effect.is_work() && files.is_empty();
        self.touched = files;
        self
    }
}

/// The effects of the parts of a call, combined.
#[derive(Debug, Default)]
pub(crate) struct CombinedEffect {
    combined: Option<CallEffect>,
    /// The files in `combined.touched`: one command can name a hundred thousand.
    touched: HashSet<String>,
}

impl CombinedEffect {
    /// Adds a part. Of two equally strong parts, the first gives the reason.
    pub(crate) fn add(&mut self, part: CallEffect) {
        let Some(all) = &mut self.combined else {
            self.touched.extend(part.touched.iter().cloned());
            self.combined = Some(part);
            return;
        };
        all.may_change |= part.may_change;
        all.blind |= part.blind;
        for file in part.touched {
            if self.touched.insert(file.clone()) {
                all.touched.push(file);
            }
        }
        all.removed.extend(part.removed);
        all.discards.extend(part.discards);
        if part.effect > all.effect {
            all.effect = part.effect;
            all.why = part.why;
        }
    }

    /// Adds a part with this effect.
    pub(crate) fn push(&mut self, effect: Effect, why: impl Into<String>) {
        self.add(CallEffect::new(effect, why));
    }

    /// The combined effect; [`Effect::Read`] if there are no parts.
    pub(crate) fn combined(self) -> CallEffect {
        match self.combined {
            Some(combined) => combined,
            None => CallEffect::new(Effect::Read, "nothing is run"),
        }
    }
}
