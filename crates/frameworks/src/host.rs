//! What a framework's own configuration can express of a stack, as data next to the framework's rules.
//!
//! A [`ClauseSlot`] is one parameter and the clause it can hold: the signal, the moment the framework checks it, the
//! comparison, and what happens on a hit. This module knows nothing of stacks; [`crate::export`] brings the two
//! together.

use crate::transcript::Moment;

/// A framework as an export target for stacks.
#[derive(Clone, Copy, Debug)]
pub struct ExportTarget {
    /// Where the snippet belongs: a file name, or a place in a program.
    pub file: &'static str,
    /// The language of the snippet.
    pub syntax: Syntax,
    /// The snippet. `<<name>>` is replaced by the value of a parameter, and a line that names an unset one is omitted;
    /// `<<?name>>` only names it; `<<*name*, >>` is replaced by the items of a list, joined by the text after the second
    /// star. Empty means that the settings themselves are written as a nested table.
    pub template: &'static str,
    /// Parameters whose path in the host's file differs from their name in the manual, as pairs (name, path).
    pub paths: &'static [(&'static str, &'static str)],
    /// The clauses it can hold.
    pub slots: &'static [ClauseSlot],
    /// Parameters that switch off the framework's own rules, with their values as JSON. Only an export that asks for it
    /// sets them, and a slot's own value takes precedence.
    pub quiet: &'static [(&'static str, &'static str)],
    /// What still acts or is not seen, as sentences: rows are the same only on runs where this does not matter.
    pub also: &'static [&'static str],
    /// Why clauses on signals with this name prefix cannot be held; the empty prefix matches all others.
    pub cannot: &'static [(&'static str, &'static str)],
    /// The profile of our rules that corresponds to this host.
    pub profile: Option<&'static str>,
    /// What the reader of the snippet should know.
    pub note: &'static str,
    /// When it tells its agent of a limit on steps, and where in its source that was seen; `None` if nobody looked.
    pub tells: Option<(&'static str, &'static str)>,
    /// Whether its settings are read from a native file (JSON) instead of a stack file's `set`.
    pub reads_file: bool,
    /// Additional parameters a stack file needs to replay it, with values as JSON; not part of the snippet.
    pub options: &'static [(&'static str, &'static str)],
}

/// One parameter and the clause it can hold.
#[derive(Clone, Copy, Debug)]
pub struct ClauseSlot {
    /// The signal it limits, by its name in stack files.
    pub signal: &'static str,
    /// The moment at which the framework checks it.
    pub at: Moment,
    /// When the count resets.
    pub counts: CountReset,
    /// How the reading is compared with the parameter.
    pub fires: Fires,
    /// Where the parameter is in the settings.
    pub place: ParameterPlace,
    /// The parameter is the clause's limit plus this.
    pub plus: i64,
    /// Its least and greatest value.
    pub range: (f64, f64),
    /// Whether it must be a whole number.
    pub whole: bool,
    /// What happens when it fires.
    pub does: Does,
    /// How it differs from the clause, as a sentence; such a slot is never exact.
    pub differs: Option<&'static str>,
    /// Other settings without which it would not hold the clause.
    pub with: &'static [(&'static str, &'static str)],
}

/// When a framework's count resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountReset {
    /// Never: it counts over the whole session.
    Session,
    /// At each prompt.
    Prompt,
}

/// How a reading is compared with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fires {
    /// `reading >= parameter`
    AtLeast,
    /// `reading > parameter`
    MoreThan,
    /// The parameter is a tool's name, and the reading is 1 if that tool was called.
    Named,
}

/// Where a parameter is in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterPlace {
    /// Under its own name.
    Is(&'static str),
    /// As an item of the list with that name: the item as JSON, then as written in the snippet, with `$` for the value.
    Item(&'static str, &'static str, &'static str),
}

/// What happens to the run when a slot fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Ends it normally.
    Stop,
    /// Ends it with this error.
    Fail(&'static str),
    /// Asks the model for one last answer.
    LastAnswer,
    /// Refuses the call; the run goes on.
    Refuse,
}

/// The language of a snippet.
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

/// Any value from 1 on.
pub const POSITIVE: (f64, f64) = (1.0, f64::INFINITY);
/// Any value from 0 on.
pub const FROM_ZERO: (f64, f64) = (0.0, f64::INFINITY);

impl ExportTarget {
    /// A host that can hold no clause, and why.
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
            tells: None,
            reads_file: false,
            options: &[],
        }
    }

    /// When it tells its agent of a limit on steps, as a sentence with its source.
    pub fn tells_of_limit(&self) -> String {
        match self.tells {
            Some((when, source)) => format!("tells its agent of a limit on steps: {when} ({source})"),
            None => "tells its agent of a limit on steps: not known here".to_owned(),
        }
    }

    /// Why a clause on `signal` cannot be held, in the framework's terms; `None` if no reason is recorded.
    pub fn why_not(&self, signal: &str) -> Option<&'static str> {
        let named = self.cannot.iter().find(|(name, _)| !name.is_empty() && signal.starts_with(name));
        named.or_else(|| self.cannot.iter().find(|(name, _)| name.is_empty())).map(|(_, why)| *why)
    }
}

impl ClauseSlot {
    /// A count per prompt that ends the run once `reading >= parameter`; the parameter is a whole number from 1 on.
    pub const fn new(signal: &'static str, at: Moment, parameter: &'static str) -> Self {
        Self {
            signal,
            at,
            counts: CountReset::Prompt,
            fires: Fires::AtLeast,
            place: ParameterPlace::Is(parameter),
            plus: 0,
            range: POSITIVE,
            whole: true,
            does: Does::Stop,
            differs: None,
            with: &[],
        }
    }

    /// The name of its parameter, or of the list that holds it.
    pub const fn parameter(&self) -> &'static str {
        match self.place {
            ParameterPlace::Is(name) | ParameterPlace::Item(name, ..) => name,
        }
    }
}
