//! The shipped stop rules of other frameworks, run over our own recordings.
//!
//! A preset is one file and one line in [`presets!`]: a state machine over events and points, or,
//! where the axes suffice, data for the generic one. Settings go by the framework's own names.

pub mod frame;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use crate::decision::Strategy;
use crate::diagnostic::nearest;
use crate::framework;
use crate::framework::{Parameter, Trap};
use crate::host::Host;
pub use frame::{COMBINED, PresetStrategy, Recipe, Settings, SettingsError};

/// One version of the same rules, where documented and shipped behaviour differ.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What is different about it.
    pub doc: &'static str,
}

/// A framework's shipped stop rules.
#[derive(Clone)]
pub struct Preset {
    /// Its name in stack files, for example `roo-code`.
    pub id: &'static str,
    /// The version whose behaviour this is.
    pub version: &'static str,
    /// Where the rules live in that version.
    pub source: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Rule, comparator, counter, window, identity, reset, off-value and traps, in Markdown.
    pub manual: &'static str,
    /// What can be set, under the framework's own names.
    pub parameters: &'static [Parameter],
    /// Its variants, the default first; empty where there is only one.
    pub variants: &'static [Variant],
    /// The rules its golden tables drive, by the tables' names.
    pub tables: &'static [&'static str],
    /// What its own configuration can hold of a stack.
    pub host: Host,
    /// Makes the machine.
    pub build: fn(&Settings) -> Result<Recipe, SettingsError>,
    /// Reads a golden case's input (`config` and the driver's devices) for the rule it drives, or for all
    /// of them at once ([`COMBINED`]); an error says why the case does not apply.
    pub case: fn(rule: &str, input: &Map<String, Value>) -> Result<Settings, String>,
}

impl std::fmt::Debug for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Preset({})", self.id)
    }
}

/// The usual reading of a golden case: its configuration, and only the rule it drives.
#[expect(clippy::unnecessary_wraps, reason = "the shape of `Preset::case`, where other presets can refuse")]
pub(crate) fn plain_case(rule: &str, input: &Map<String, Value>) -> Result<Settings, String> {
    Ok(Settings::of_case(rule, input))
}

impl Preset {
    /// The traps that these settings step into, in the order of the parameters.
    pub fn traps(&self, settings: &Settings) -> Vec<Trap> {
        framework::traps(self.parameters, settings)
    }

    /// The strategy called `name` with these settings.
    pub fn strategy(&self, name: &str, settings: &Settings) -> Result<PresetStrategy, SettingsError> {
        settings.check_names(self.parameters)?;
        let profile = self.variant(settings)?;
        let recipe = (self.build)(settings)?;
        Ok(PresetStrategy { name: name.to_owned(), profile, recipe })
    }

    /// The variant asked for, the first one when none is.
    fn variant(&self, settings: &Settings) -> Result<&'static str, SettingsError> {
        let Some(wanted) = &settings.variant else {
            return Ok(self.variants.first().map_or("", |variant| variant.name));
        };
        match self.variants.iter().find(|variant| variant.name == wanted) {
            Some(variant) => Ok(variant.name),
            None => Err(SettingsError::Variant {
                name: wanted.clone(),
                near: nearest(wanted, self.variants.iter().map(|variant| variant.name)).map(str::to_owned),
            }),
        }
    }
}

macro_rules! presets {
    ($($module:ident,)*) => {
        $(mod $module;)*
        const MACHINES: &[fn() -> Preset] = &[$($module::preset,)*];
    };
}

/// Presets that are data only: a caps file each.
macro_rules! caps {
    ($($module:ident = $file:literal,)*) => {
        $(mod $module {
            use std::sync::LazyLock;

            use super::Preset;
            use super::frame::caps::CapsFile;

            static FILE: LazyLock<CapsFile> = LazyLock::new(|| CapsFile::embedded(include_str!($file)));

            pub(super) fn preset() -> Preset {
                FILE.preset(|settings| FILE.build(settings))
            }
        })*
        const CAPS: &[fn() -> Preset] = &[$($module::preset,)*];
    };
}

presets! {
    ag2,
    agent_framework,
    autogen,
    browser_use,
    camel_ai,
    cline,
    crewai,
    deerflow,
    gemini_cli,
    google_adk,
    goose,
    haystack,
    hermes_agent,
    inspect_ai,
    kilo_code,
    langchain,
    letta,
    litellm,
    llama_index,
    mastra,
    openclaw,
    opencode,
    openhands,
    qwen_code,
    roo_code,
    semantic_kernel,
    smolagents,
    strands_agents,
    tau2_bench,
    vercel_ai,
}

caps! {
    agno = "agno.toml",
    mini_swe_agent = "mini-swe-agent.toml",
    openai_agents = "openai-agents.toml",
    pydantic_ai = "pydantic-ai.toml",
}

/// Every preset, in name order.
pub static ALL: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let mut all: Vec<Preset> = MACHINES.iter().chain(CAPS).map(|preset| preset()).collect();
    all.sort_by_key(|preset| preset.id);
    all
});

/// The preset of that name.
pub fn find(id: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.id == id)
}

/// The preset of that name, or the variant of one whose name stands behind it: `openclaw-2026.7`.
pub fn find_with_variant(name: &str) -> Option<(&'static Preset, Option<&'static str>)> {
    let of = |preset: &'static Preset| {
        let variant = name.strip_prefix(preset.id)?.strip_prefix('-')?;
        let known = preset.variants.iter().find(|known| known.name == variant)?;
        Some((preset, Some(known.name)))
    };
    find(name).map(|preset| (preset, None)).or_else(|| ALL.iter().find_map(of))
}

/// Every preset at its shipped defaults, one strategy for each variant, for `--stacks preset:all`.
pub fn all_strategies() -> Vec<Arc<dyn Strategy>> {
    ALL.iter().flat_map(default_strategies).collect()
}

fn default_strategies(preset: &'static Preset) -> Vec<Arc<dyn Strategy>> {
    let mut variants: Vec<Option<String>> = preset.variants.iter().map(|v| Some(v.name.to_owned())).collect();
    if variants.is_empty() {
        variants.push(None);
    }
    variants
        .into_iter()
        .enumerate()
        .filter_map(|(index, variant)| {
            let name = match &variant {
                Some(variant) if index > 0 => format!("{} ({variant})", preset.id),
                _ => preset.id.to_owned(),
            };
            let settings = Settings { variant, ..Settings::default() };
            let strategy = preset.strategy(&name, &settings).ok()?;
            Some(Arc::new(strategy) as Arc<dyn Strategy>)
        })
        .collect()
}
