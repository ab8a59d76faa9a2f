//! The formats. A new one is one file here, one line in the list below, and one folder of fixtures.
//!
//! How to add a format `x`:
//!
//! 1. `src/reader/format/x.rs`: a unit struct `X` with `impl Format`. Start from `webvoyager.rs`, the shortest.
//! 2. One line in `formats!` below, in the order of detection: the first format that recognises a file has it.
//! 3. `recognise` looks at the [`Probe`]'s sketch and says why, in words a person can check.
//! 4. `layout` says what one record is: the whole file, a line, a group of lines, or an element of a big array.
//!    The corpus cuts records out of the stream, in bounded memory, and hands them to `read` on many threads.
//! 5. `read` turns one record into drafts: `Node::line` is the object it is, `node.text("content", out)` a member, unread
//!    until then; one of the wrong type is reported with its place and costs that field. `out.run(draft)` hands over a run.
//!    Contents and arguments go into [`Text`](crate::transcript::Text) undecoded.
//! 6. `fixtures/readers/x/`: a good file `good.*`, and one `bad-*.*` for each error it can report, each with
//!    its findings in `tests/it/readers.rs`.

use super::layout::Layout;
use super::probe::{Probe, Sketch};
use super::reading::{Reading, Record};
use crate::transcript::PromptedBy;

/// One format of recorded runs.
pub trait Format: Sync {
    /// Its name, as in reports and after `--as`.
    fn id(&self) -> &'static str;

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// Why this file is of this format; `None` when it is not.
    fn recognise(&self, probe: &Probe) -> Option<String>;

    /// What one record of this file is, when it is of this format.
    fn layout(&self, probe: &Probe) -> Layout;

    /// Does its outcome lie in report files beside it? Then they are read, and `record.grades` has them.
    fn joins_reports(&self) -> bool {
        false
    }

    /// Does it take messages of any recorder? Then formats that know more are asked first, in every wrapping.
    fn takes_any_messages(&self) -> bool {
        false
    }

    /// Do the lines of a file belong together, when the first is `first`? Then the elements of an array do
    /// too; otherwise each is what a file is elsewhere.
    fn joins_lines(&self, _first: &Sketch) -> bool {
        false
    }

    /// Are tokens stated once for all calls of a turn? Then a call without any is no gap in the sum.
    fn counts_by_turn(&self) -> bool {
        false
    }

    /// Who prompts in its recordings, as far as the format tells.
    fn prompted_by(&self) -> PromptedBy {
        PromptedBy::Unknown
    }

    /// The name of a file beside it that says more of the same run; if it is there, this one is left out.
    fn superseded_by(&self) -> Option<&'static str> {
        None
    }

    /// Does each file of a folder hold the conversation up to some moment, so that the latest holds all of it?
    fn latest_copy_counts(&self) -> bool {
        false
    }

    /// Reads one record: hands over its runs, and reports what is wrong with it.
    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>);
}

macro_rules! formats {
    ($($module:ident::$format:ident,)*) => {
        $(mod $module;)*
        /// Every format, in the order of detection.
        pub static FORMATS: &[&dyn Format] = &[$(&$module::$format,)*];
    };
}

formats! {
    trace::Trace,
    tau2::Tau2,
    tau_bench::TauBench,
    mini_swe_agent::MiniSweAgent,
    intercode::InterCode,
    gemini_cli::GeminiCli,
    adk::Adk,
    agentdojo::AgentDojo,
    bashkit::Bashkit,
    mint::Mint,
    aider::Aider,
    copilot_cli::CopilotCli,
    cline::Cline,
    cline_ui::ClineUi,
    gemini_stream::GeminiStream,
    browser_use::BrowserUse,
    verifiers::Verifiers,
    letta::Letta,
    swebench_trajectory::SweBenchTrajectory,
    webvoyager::WebVoyager,
    ko_agentbench::KoAgentBench,
    openhands_completions::OpenHandsCompletions,
    openclaw::OpenClaw,
    agentica::Agentica,
    agentao::Agentao,
    awaken::Awaken,
    pydantic_ai::PydanticAi,
    otel::Otel,
    langsmith::LangSmith,
    openai_agents::OpenAiAgents,
    langfuse::Langfuse,
    smolagents::Smolagents,
    pi::Pi,
    opencode::OpenCode,
    claude_code::ClaudeCode,
    claude_agent_sdk::ClaudeAgentSdk,
    inspect::Inspect,
    openhands::OpenHands,
    swe_agent::SweAgent,
    atif::Atif,
    codex::Codex,
    codex_exec::CodexExec,
    who_and_when::WhoAndWhen,
    api_log::ApiLog,
    chat::Chat,
    parquet::Parquet,
}

pub use trace::{read_text as read_trace_text, write as write_trace};

/// Largest file beside a recording that is read for what it says of the run, in bytes.
const LARGEST_BESIDE: u64 = 16 << 20;

/// The text of a file beside a recording, such as its metadata.
fn beside(record: &Record<'_>, name: &str) -> Option<String> {
    // A text that is in no file has nothing beside it.
    let path = Some(record.file.folder.join(name)).filter(|_| !record.file.folder_name.is_empty())?;
    let size = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
    (size <= LARGEST_BESIDE).then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// The format of that name.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id() == id)
}

/// The first format that recognises the file, as it stands or in another wrapping, and why.
pub fn detect(probe: &Probe) -> Option<(&'static dyn Format, String)> {
    super::forms::detect(probe).map(|form| (form.format, form.why))
}
