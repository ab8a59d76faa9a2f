//! Reads the `framework.toml` of a preset or system: everything about it that is no code.
//!
//! `manual.md` beside it is its manual. A framework whose rules are caps has `[run]`, `[[cap]]` and `[[tool_stop]]` in
//! it, too, and needs no code.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::frame::caps::{CapEntry, Caps, RunEntry, ToolStopEntry};
use crate::diagnostic::{Diagnostic, nearest};
use crate::framework::{Framework, Holds, Parameter, Profile, Trap};
use crate::host::{ClauseSlot, CountReset, Does, ExportTarget, FROM_ZERO, Fires, POSITIVE, ParameterPlace, Syntax};
use crate::transcript::Moment;

/// A text that lives as long as the program: the files are embedded in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StaticText(pub(super) &'static str);

impl<'de> Deserialize<'de> for StaticText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.leak()))
    }
}

/// A closed list of words, each with what it stands for.
pub(super) trait Keyword: Copy + 'static {
    /// What the words name, for messages: `action`.
    const WHAT: &'static str;
    /// The words.
    const ALL: &'static [(&'static str, Self)];
}

/// Reads one of the words; the error names the nearest one.
pub(super) fn word<'de, W: Keyword, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    let asked = String::deserialize(deserializer)?;
    for (word, value) in W::ALL {
        if *word == asked {
            return Ok(*value);
        }
    }
    let known: Vec<&str> = W::ALL.iter().map(|(word, _)| *word).collect();
    let near = match nearest(&asked, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    Err(D::Error::custom(format!("unknown {} `{asked}`; {near}known: {}", W::WHAT, known.join(", "))))
}

impl Keyword for Moment {
    const WHAT: &'static str = "moment";
    const ALL: &'static [(&'static str, Self)] = &[
        ("before_request", Self::BeforeRequest),
        ("after_response", Self::AfterResponse),
        ("after_tools", Self::AfterTools),
        ("end_of_round", Self::EndOfRound),
    ];
}

impl Keyword for Syntax {
    const WHAT: &'static str = "language";
    const ALL: &'static [(&'static str, Self)] = &[
        ("python", Self::Python),
        ("javascript", Self::JavaScript),
        ("json", Self::Json),
        ("toml", Self::Toml),
        ("yaml", Self::Yaml),
        ("shell", Self::Shell),
    ];
}

impl Keyword for Fires {
    const WHAT: &'static str = "comparator";
    const ALL: &'static [(&'static str, Self)] =
        &[("at_least", Self::AtLeast), ("more_than", Self::MoreThan), ("named", Self::Named)];
}

impl Keyword for CountReset {
    const WHAT: &'static str = "scope";
    const ALL: &'static [(&'static str, Self)] = &[("session", Self::Session), ("prompt", Self::Prompt)];
}

/// What a slot does to the run, by the action's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotAction {
    #[default]
    Stop,
    Fail,
    ForceFinal,
    Deny,
}

impl Keyword for SlotAction {
    const WHAT: &'static str = "action";
    const ALL: &'static [(&'static str, Self)] =
        &[("stop", Self::Stop), ("fail", Self::Fail), ("force_final", Self::ForceFinal), ("deny", Self::Deny)];
}

/// Pairs of a name and a value, in order.
type Pairs = Vec<[StaticText; 2]>;

fn pairs(pairs: &Pairs) -> &'static [(&'static str, &'static str)] {
    pairs.iter().map(|[name, value]| (name.0, value.0)).collect::<Vec<_>>().leak()
}

fn texts(texts: &[StaticText]) -> &'static [&'static str] {
    texts.iter().map(|text| text.0).collect::<Vec<_>>().leak()
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    id: StaticText,
    version: StaticText,
    source: StaticText,
    summary: StaticText,
    rules: Vec<StaticText>,
    #[serde(default)]
    config: StaticText,
    #[serde(default)]
    profile: Vec<ProfileEntry>,
    #[serde(default)]
    parameter: Vec<ParameterEntry>,
    host: HostEntry,
    run: Option<RunEntry>,
    #[serde(default)]
    cap: Vec<CapEntry>,
    #[serde(default)]
    tool_stop: Vec<ToolStopEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    name: StaticText,
    doc: StaticText,
    #[serde(default)]
    also: Vec<StaticText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterEntry {
    name: StaticText,
    default: StaticText,
    #[serde(default)]
    off: StaticText,
    doc: StaticText,
    #[serde(default)]
    trap: Vec<TrapEntry>,
}

/// A trap for numbers up to a maximum.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrapEntry {
    at_most: f64,
    words: StaticText,
}

/// What the framework can hold of a stack; the fields are those of [`ExportTarget`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    #[serde(default)]
    file: StaticText,
    #[serde(default = "python", deserialize_with = "word")]
    syntax: Syntax,
    #[serde(default)]
    template: StaticText,
    #[serde(default)]
    paths: Pairs,
    #[serde(default)]
    quiet: Pairs,
    #[serde(default)]
    also: Vec<StaticText>,
    #[serde(default)]
    cannot: Pairs,
    profile: Option<StaticText>,
    #[serde(default)]
    note: StaticText,
    tells: Option<[StaticText; 2]>,
    #[serde(default)]
    reads_file: bool,
    #[serde(default)]
    options: Pairs,
    #[serde(default)]
    slot: Vec<SlotEntry>,
}

fn python() -> Syntax {
    Syntax::Python
}

/// One parameter and the clause it can hold; the fields are those of [`ClauseSlot`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlotEntry {
    signal: StaticText,
    #[serde(deserialize_with = "word")]
    at: Moment,
    parameter: StaticText,
    /// The item to put into the parameter's list: as JSON, and as written in the snippet.
    item: Option<[StaticText; 2]>,
    #[serde(default = "prompt", deserialize_with = "word")]
    counts: CountReset,
    #[serde(default = "at_least", deserialize_with = "word")]
    fires: Fires,
    #[serde(default)]
    plus: i64,
    range: Option<(f64, f64)>,
    /// Whether the limit need not be whole.
    #[serde(default)]
    amount: bool,
    #[serde(default, deserialize_with = "word")]
    action: SlotAction,
    /// The error of an action `fail`.
    #[serde(default)]
    error: StaticText,
    differs: Option<StaticText>,
    #[serde(default)]
    with: Pairs,
}

fn prompt() -> CountReset {
    CountReset::Prompt
}

fn at_least() -> Fires {
    Fires::AtLeast
}

impl File {
    /// Reads the file with this path and text.
    ///
    /// # Errors
    /// A key or word that does not exist, or a name that is no parameter: with its line, and the nearest known one.
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let help = "`agno/framework.toml` is a short example";
            Diagnostic::in_text(path, text, error.span().unwrap_or(0..0), error.message(), help)
        })?;
        let known: Vec<&str> = file.parameter.iter().map(|parameter| parameter.name.0).collect();
        for name in file.named() {
            if !known.contains(&name) {
                let at = text.find(&format!("\"{name}\"")).unwrap_or(0);
                let help = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "declare it under `[[parameter]]`".to_owned(),
                };
                return Err(Diagnostic::in_text(path, text, at..at, format!("unknown parameter `{name}`"), help));
            }
        }
        Ok(file)
    }

    /// The parameters that its caps name.
    fn named(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if let Some(run) = &self.run {
            names.extend(run.parameters());
        }
        for cap in &self.cap {
            names.extend(cap.parameters());
        }
        for stop in &self.tool_stop {
            names.extend(stop.parameters());
        }
        names
    }

    /// The framework as far as it is no code.
    pub(crate) fn framework(&self, manual: &'static str) -> Framework {
        let profile = |entry: &ProfileEntry| Profile { name: entry.name.0, doc: entry.doc.0, also: texts(&entry.also) };
        Framework {
            id: self.id.0,
            version: self.version.0,
            source: self.source.0,
            summary: self.summary.0,
            manual: manual.trim_end(),
            parameters: self.parameters(),
            profiles: self.profile.iter().map(profile).collect::<Vec<_>>().leak(),
            config: self.config.0,
            host: self.host.target(),
            rules: texts(&self.rules),
            ..Framework::PRESET
        }
    }

    /// The parameters that are declared in it.
    fn parameters(&self) -> &'static [Parameter] {
        self.parameter.iter().map(ParameterEntry::declared).collect::<Vec<_>>().leak()
    }

    /// Its caps; `None` if its rules are code.
    pub(super) fn caps(self, parameters: &'static [Parameter]) -> Option<Caps> {
        Some(Caps { parameters, run: self.run?, cap: self.cap, tool_stop: self.tool_stop })
    }
}

impl HostEntry {
    fn target(&self) -> ExportTarget {
        ExportTarget {
            file: self.file.0,
            syntax: self.syntax,
            template: self.template.0,
            paths: pairs(&self.paths),
            slots: self.slot.iter().map(SlotEntry::slot).collect::<Vec<_>>().leak(),
            quiet: pairs(&self.quiet),
            also: texts(&self.also),
            cannot: pairs(&self.cannot),
            profile: self.profile.map(|profile| profile.0),
            note: self.note.0,
            tells: self.tells.map(|[when, source]| (when.0, source.0)),
            reads_file: self.reads_file,
            options: pairs(&self.options),
        }
    }
}

impl ParameterEntry {
    fn declared(&self) -> Parameter {
        let about = self.name.0;
        let trap = |trap: &TrapEntry| Trap { about, holds: Holds::AtMost(trap.at_most), words: trap.words.0 };
        Parameter {
            name: self.name.0,
            default: self.default.0,
            cases: &[],
            off: self.off.0,
            doc: self.doc.0,
            traps: self.trap.iter().map(trap).collect::<Vec<_>>().leak(),
        }
    }
}

impl SlotEntry {
    fn slot(&self) -> ClauseSlot {
        let place = match self.item {
            Some([json, written]) => ParameterPlace::Item(self.parameter.0, json.0, written.0),
            None => ParameterPlace::Is(self.parameter.0),
        };
        let usual = if self.amount { FROM_ZERO } else { POSITIVE };
        let does = match self.action {
            SlotAction::Stop => Does::Stop,
            SlotAction::Fail => Does::Fail(self.error.0),
            SlotAction::ForceFinal => Does::LastAnswer,
            SlotAction::Deny => Does::Refuse,
        };
        ClauseSlot {
            signal: self.signal.0,
            at: self.at,
            counts: self.counts,
            fires: self.fires,
            place,
            plus: self.plus,
            range: self.range.unwrap_or(usual),
            whole: !self.amount,
            does,
            differs: self.differs.map(|differs| differs.0),
            with: pairs(&self.with),
        }
    }
}
