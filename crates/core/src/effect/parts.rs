//! The effects of the parts of one call, gathered.

use super::Effect;

/// What a call does, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The strongest effect of its parts.
    pub effect: Effect,
    /// What in the call says so, for example "`git push`". Holds words of the recording.
    pub why: String,
    /// A part of the call may change something, and nothing tells whether it does.
    pub may_change: bool,
    /// The files it is seen to change, as written.
    pub touched: Vec<String>,
    /// Those among them that it removes.
    pub removed: Vec<String>,
    /// It changes things that it does not name.
    pub blind: bool,
    /// Files and folders whose changes it throws away; `.` for all there are.
    pub discards: Vec<String>,
}

impl Told {
    /// A call with this effect.
    pub(super) fn new(effect: Effect, why: impl Into<String>) -> Self {
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

    /// The same, where `files` are all it changes.
    pub(super) fn touching(mut self, files: Vec<String>) -> Self {
        self.blind = self.effect.is_work() && files.is_empty();
        self.touched = files;
        self
    }
}

/// What the parts of a call come to.
#[derive(Debug, Default)]
pub(super) struct Parts(Option<Told>);

impl Parts {
    /// Adds a part. Of two equally strong ones the first says why.
    pub(super) fn add(&mut self, part: Told) {
        let Some(all) = &mut self.0 else {
            self.0 = Some(part);
            return;
        };
        all.may_change |= part.may_change;
        all.blind |= part.blind;
        for file in part.touched {
            if !all.touched.contains(&file) {
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

    /// Adds a part that has this effect.
    pub(super) fn push(&mut self, effect: Effect, why: impl Into<String>) {
        self.add(Told::new(effect, why));
    }

    /// What it comes to; nothing at all is a call that looks.
    pub(super) fn told(self) -> Told {
        self.0.unwrap_or_else(|| Told::new(Effect::Read, "nothing is run"))
    }
}
