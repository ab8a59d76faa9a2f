//! What a framework's own configuration can hold of a stack, as data beside the framework's rules.
//!
//! A [`Slot`] is one parameter and the clause it stands for: the signal, the moment the framework looks, the comparator,
//! and what happens on a hit. It knows no stack: [`crate::export`] puts the two together.

use crate::transcript::Moment;

/// A framework as a place to ship a stack to.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Where the snippet belongs: a file's name, or a place in a program.
    pub file: &'static str,
    /// What the snippet is written in.
    pub syntax: Syntax,
    /// The snippet. `<<name>>` is the value of a parameter, and a line that names one that is not set is left out;
    /// `<<*name*, >>` are the items put into a list, joined by what follows the second star. Empty: the settings themselves, as a
    /// nested table.
    pub template: &'static str,
    /// Parameters that go by another path in the host's file than in its manual here.
    pub paths: &'static [(&'static str, &'static str)],
    /// What can be held.
    pub slots: &'static [Slot],
    /// Parameters that switch the framework's other rules off, with their values as JSON; a slot's own value goes before them.
    pub quiet: &'static [(&'static str, &'static str)],
    /// What acts all the same, or is not seen, as sentences: the rows are the same on runs where it does not matter.
    pub also: &'static [&'static str],
    /// Why clauses on the signals whose names begin so cannot be held; the empty name is for all others.
    pub cannot: &'static [(&'static str, &'static str)],
    /// The profile of the rules here that this is.
    pub profile: Option<&'static str>,
    /// What a reader should know of the snippet.
    pub note: &'static str,
    /// Are its settings read from a native file (JSON), rather than from a stack file's `set`?
    pub reads_file: bool,
    /// What a stack file says beside the settings to replay it, with values as JSON; no part of the snippet.
    pub options: &'static [(&'static str, &'static str)],
}

/// One parameter and the clause it holds.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The signal it limits, by its name in stack files.
    pub signal: &'static str,
    /// The moment at which the framework looks.
    pub at: Moment,
    /// When the count begins anew.
    pub counts: Counts,
    /// How the reading is held against the parameter.
    pub fires: Fires,
    /// Where the parameter stands.
    pub place: Place,
    /// The parameter is the limit plus this.
    pub plus: i64,
    /// Its least and its greatest value.
    pub range: (f64, f64),
    /// Is it a whole number?
    pub whole: bool,
    /// What a hit does.
    pub does: Does,
    /// In what it is not the clause, as a sentence; such a slot is never exact.
    pub differs: Option<&'static str>,
    /// What else is set with it, in place of what [`Host::quiet`] says.
    pub with: &'static [(&'static str, &'static str)],
}

/// When a framework's count begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Never: over the whole session.
    Session,
    /// With each prompt.
    Prompt,
}

/// How a reading is held against a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fires {
    /// `reading >= parameter`
    AtLeast,
    /// `reading > parameter`
    MoreThan,
    /// The parameter is a tool's name, and the reading 1 when it was called.
    Named,
}

/// Where a parameter stands among the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Under its own name.
    Is(&'static str),
    /// As an item of the list of that name: the item as JSON, and as it is written in the snippet, `$` being the value.
    Item(&'static str, &'static str, &'static str),
}

/// What a hit does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Ends it, in order.
    Stop,
    /// Ends it with this error.
    Fail(&'static str),
    /// Asks for one last answer.
    LastAnswer,
    /// Refuses the call; the run goes on.
    Refuse,
}

/// What a snippet is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Python.
    Python,
    /// JavaScript or TypeScript.
    JavaScript,
    /// JSON, which has no comments.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// A command line.
    Shell,
}

/// A parameter that never comes into reach: larger than any recording.
pub const OUT_OF_REACH: &str = "1000000";

/// No limit on a parameter's value but its sign.
pub const POSITIVE: (f64, f64) = (1.0, f64::INFINITY);
/// Any value from 0 on.
pub const FROM_ZERO: (f64, f64) = (0.0, f64::INFINITY);

impl Host {
    /// A host that can hold nothing, and why.
    pub const fn none(why: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            file: "",
            syntax: Syntax::Json,
            template: "",
            paths: &[],
            slots: &[],
            quiet: &[],
            also: &[],
            cannot: why,
            profile: None,
            note: "",
            reads_file: false,
            options: &[],
        }
    }

    /// A host with a snippet and the parameters it can hold.
    pub const fn new(file: &'static str, syntax: Syntax, template: &'static str, slots: &'static [Slot]) -> Self {
        let nothing = Self::none(&[]);
        Self { file, syntax, template, slots, ..nothing }
    }

    /// With other rules switched off.
    #[must_use]
    pub const fn quiet(self, quiet: &'static [(&'static str, &'static str)]) -> Self {
        Self { quiet, ..self }
    }

    /// With what acts all the same.
    #[must_use]
    pub const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// With reasons.
    #[must_use]
    pub const fn cannot(self, cannot: &'static [(&'static str, &'static str)]) -> Self {
        Self { cannot, ..self }
    }

    /// With the profile it is.
    #[must_use]
    pub const fn profile(self, profile: &'static str) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// With other paths in its own file.
    #[must_use]
    pub const fn paths(self, paths: &'static [(&'static str, &'static str)]) -> Self {
        Self { paths, ..self }
    }

    /// With a note.
    #[must_use]
    pub const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Its settings are a native file.
    #[must_use]
    pub const fn reading_file(self) -> Self {
        Self { reads_file: true, ..self }
    }

    /// With what a stack file says beside the settings.
    #[must_use]
    pub const fn options(self, options: &'static [(&'static str, &'static str)]) -> Self {
        Self { options, ..self }
    }

    /// Can it hold anything at all?
    pub const fn holds_something(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Why a clause on `signal` cannot be held, in the framework's terms.
    pub fn why_not(&self, signal: &str) -> Option<&'static str> {
        let named = self.cannot.iter().find(|(name, _)| !name.is_empty() && signal.starts_with(name));
        named.or_else(|| self.cannot.iter().find(|(name, _)| name.is_empty())).map(|(_, why)| *why)
    }
}

impl Slot {
    /// A count of a prompt's run, `reading >= parameter`, from 1 on, which ends the run.
    pub const fn new(signal: &'static str, at: Moment, place: Place) -> Self {
        Self {
            signal,
            at,
            counts: Counts::Prompt,
            fires: Fires::AtLeast,
            place,
            plus: 0,
            range: POSITIVE,
            whole: true,
            does: Does::Stop,
            differs: None,
            with: &[],
        }
    }

    /// Counted over the whole session.
    #[must_use]
    pub const fn session(self) -> Self {
        Self { counts: Counts::Session, ..self }
    }

    /// `reading > parameter`
    #[must_use]
    pub const fn more_than(self) -> Self {
        Self { fires: Fires::MoreThan, ..self }
    }

    /// The parameter is a tool's name.
    #[must_use]
    pub const fn named(self) -> Self {
        Self { fires: Fires::Named, ..self }
    }

    /// The parameter is the limit plus this.
    #[must_use]
    pub const fn plus(self, plus: i64) -> Self {
        Self { plus, ..self }
    }

    /// With these least and greatest values.
    #[must_use]
    pub const fn range(self, range: (f64, f64)) -> Self {
        Self { range, ..self }
    }

    /// An amount that need not be whole.
    #[must_use]
    pub const fn amount(self) -> Self {
        Self { whole: false, range: FROM_ZERO, ..self }
    }

    /// With what a hit does.
    #[must_use]
    pub const fn does(self, does: Does) -> Self {
        Self { does, ..self }
    }

    /// Never exact: in what it differs.
    #[must_use]
    pub const fn differs(self, differs: &'static str) -> Self {
        Self { differs: Some(differs), ..self }
    }

    /// With these settings beside it.
    #[must_use]
    pub const fn with(self, with: &'static [(&'static str, &'static str)]) -> Self {
        Self { with, ..self }
    }

    /// The name of its parameter.
    pub const fn parameter(&self) -> &'static str {
        match self.place {
            Place::Is(name) | Place::Item(name, ..) => name,
        }
    }
}
