//! The shipped stop rules of other frameworks, replayed on our recordings.
//!
//! Each framework is one folder and one line in `presets!`: `framework.toml` and `manual.md` hold what is no code, and
//! `mod.rs` is a state machine over events and points, with its parameters in `params!` and a function `build`. A
//! framework whose rules are caps has no code. Settings use the framework's own names.

pub(crate) mod file;
pub mod frame;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;
use crate::framework::{Framework, FrameworkCode, FrameworkKind};

use file::File;

/// A framework as it is embedded in the program; its file is read when it is first asked for.
struct Preset {
    /// Its folder: the framework's name with `_` for `-`.
    folder: &'static str,
    text: &'static str,
    manual: &'static str,
    /// Its rules; `None` if they are caps.
    code: Option<FrameworkCode>,
    framework: OnceLock<Framework>,
}

macro_rules! presets {
    (code { $($module:ident,)* } caps { $($folder:ident,)* }) => {
        $(#[doc(hidden)] pub mod $module;)*
        const N_PRESETS: usize = [$(stringify!($module),)* $(stringify!($folder),)*].len();
        static PRESETS: [Preset; N_PRESETS] = [
            $(presets!(@one $module, Some(FrameworkCode::machine($module::param::ALL, &$module::build))),)*
            $(presets!(@one $folder, None),)*
        ];
    };
    (@one $folder:ident, $code:expr) => {
        Preset {
            folder: stringify!($folder),
            text: include_str!(concat!(stringify!($folder), "/framework.toml")),
            manual: include_str!(concat!(stringify!($folder), "/manual.md")),
            code: $code,
            framework: OnceLock::new(),
        }
    };
}

presets! {
    code {
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
    caps {
        agno,
        mini_swe_agent,
        openai_agents,
        pydantic_ai,
    }
}

impl Preset {
    fn is_called(&self, id: &str) -> bool {
        self.folder.len() == id.len()
            && self.folder.chars().zip(id.chars()).all(|(a, b)| a == b || (a == '_' && b == '-'))
    }

    fn framework(&'static self) -> &'static Framework {
        self.framework.get_or_init(|| self.read().expect("a test reads the file of every preset"))
    }

    fn read(&self) -> Result<Framework, Diagnostic> {
        let path = format!("crates/frameworks/src/preset/{}/framework.toml", self.folder);
        File::read(&path, self.text)?.framework(&path, FrameworkKind::Preset, self.manual, self.code)
    }
}

/// Every preset, in name order.
pub fn all() -> Vec<&'static Framework> {
    let mut all: Vec<&Framework> = PRESETS.iter().map(Preset::framework).collect();
    all.sort_by_key(|framework| framework.id);
    all
}

/// The preset with this name.
pub fn find(id: &str) -> Option<&'static Framework> {
    PRESETS.iter().find(|preset| preset.is_called(id)).map(Preset::framework)
}
