//! Reads the `framework.toml` of a preset or system: everything about it that is no code.
//!
//! `manual.md` beside it is its manual. A framework whose rules are caps has `[run]`, `[[cap]]` and `[[tool_stop]]` in
//! it, too, and needs no code.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::frame::caps::{CapEntry, Caps, RunEntry, ToolStopEntry};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::framework::{Framework, FrameworkCode, FrameworkKind, Holds, Parameter, Profile, Settings, Trap};
use crate::host::ExportTarget;

/// A text that lives as long as the program: the files are embedded in it.
#[derive(Clone, Copy, Debug, Default)]
struct StaticText(&'static str);

impl<'de> Deserialize<'de> for StaticText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.leak()))
    }
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
    golden_cases: Option<u64>,
    #[serde(default)]
    config: StaticText,
    #[serde(default)]
    profile: Vec<ProfileEntry>,
    #[serde(default)]
    parameter: Vec<ParameterEntry>,
    host: ExportTarget,
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

impl File {
    /// Reads the file with this path and text.
    ///
    /// # Errors
    /// A key or word that does not exist, or a name that is no parameter: with its line, and the nearest known one.
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |at: usize, what: &str| {
            Diagnostic::in_text(path, text, at..at, what, "`agno/framework.toml` is a short example")
        };
        // By way of a JSON value, because TOML's own deserializer compiles three copies of each type.
        let file: Value =
            toml::from_str(text).map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
        let file: Self = serde_json::from_value(file).map_err(|error| {
            let what = error.to_string();
            wrong(place_of_unknown(&what, text), &what)
        })?;
        let known: Vec<&str> = file.parameter.iter().map(|parameter| parameter.name.0).collect();
        for name in file.named() {
            if !known.contains(&name) {
                let what = format!("unknown parameter `{name}`");
                let at = place_of_unknown(&what, text);
                let help = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "declare it under `[[parameter]]`".to_owned(),
                };
                return Err(Diagnostic::in_text(path, text, at..at, what, help));
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

    /// The framework. Its rules are `code`; without any, they are the caps in this file.
    ///
    /// # Errors
    /// If there are neither, or if a system counts golden cases; `path` is the file's.
    pub(crate) fn framework(
        self,
        path: &str,
        kind: FrameworkKind,
        manual: &'static str,
        code: Option<FrameworkCode>,
    ) -> Result<Framework, Diagnostic> {
        if kind == FrameworkKind::System && self.golden_cases.is_some() {
            let what = "`golden_cases` in the file of a system";
            return Err(Diagnostic::new(Location::file(path), what, "leave it out: it counts the answers of presets"));
        }
        let code = match (code, self.run) {
            (Some(code), _) => code,
            (None, Some(run)) => {
                let parameters = self.parameter.iter().map(ParameterEntry::declared).collect::<Vec<_>>().leak();
                let caps = Caps { parameters, run, cap: self.cap, tool_stop: self.tool_stop };
                let caps: &'static Caps = Box::leak(Box::new(caps));
                FrameworkCode::machine(parameters, Box::leak(Box::new(|settings: &Settings| caps.build(settings))))
            }
            (None, None) => {
                return Err(Diagnostic::new(Location::file(path), "no `[run]`, and no code", "write either"));
            }
        };
        let profile = |entry: &ProfileEntry| Profile { name: entry.name.0, doc: entry.doc.0, also: texts(&entry.also) };
        Ok(Framework {
            kind,
            id: self.id.0,
            version: self.version.0,
            source: self.source.0,
            summary: self.summary.0,
            manual: manual.trim_end(),
            parameters: code.parameters,
            profiles: self.profile.iter().map(profile).collect::<Vec<_>>().leak(),
            config: self.config.0,
            traps: code.traps,
            host: self.host,
            rules: texts(&self.rules),
            golden_cases: self.golden_cases,
            build: code.build,
        })
    }
}

/// Where the word stands of which a message says that it is unknown; the beginning, if it says something else.
fn place_of_unknown(what: &str, text: &str) -> usize {
    let Some(word) = what.strip_prefix("unknown ").and_then(|rest| rest.split('`').nth(1)) else { return 0 };
    text.find(&format!("\"{word}\"")).or_else(|| text.find(word)).unwrap_or(0)
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
