//! The shipped stop rules of other frameworks, replayed on our recordings.
//!
//! Each framework is one file and one line in `presets!`: either a state machine over events and points, or a caps
//! file for the generic machine. Settings use the framework's own names.

pub mod frame;

use std::sync::LazyLock;

use crate::framework::Framework;

macro_rules! presets {
    ($($module:ident,)*) => {
        $(#[doc(hidden)] pub mod $module;)*
        const MACHINES: &[fn() -> Framework] = &[$($module::framework,)*];
    };
}

/// Frameworks that are pure data: one caps file each.
macro_rules! caps {
    ($($module:ident = $file:literal,)*) => {
        $(mod $module {
            use std::sync::LazyLock;

            use super::Framework;
            use super::frame::caps::CapsFile;

            static FILE: LazyLock<CapsFile> = LazyLock::new(|| CapsFile::embedded(include_str!($file)));

            pub(super) fn framework() -> Framework {
                FILE.framework(|settings| FILE.build(settings))
            }
        })*
        const CAPS: &[fn() -> Framework] = &[$($module::framework,)*];
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
pub static ALL: LazyLock<Vec<Framework>> = LazyLock::new(|| {
    let mut all: Vec<Framework> = MACHINES.iter().chain(CAPS).map(|framework| framework()).collect();
    all.sort_by_key(|framework| framework.id);
    all
});
