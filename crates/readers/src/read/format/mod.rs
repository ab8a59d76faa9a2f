//! The recording formats. A new format takes one file here, one line in the list below, and one folder of fixtures.
//!
//! How to add a format `x`:
//!
//! 1. `src/read/format/x.rs`: a unit struct `X` with `impl Format`. Start from `webvoyager.rs`, the shortest.
//! 2. One line in `formats!` below, in the order of detection: a file is read by the first format that recognises it.
//! 3. `recognise` looks at the [`Probe`]'s sketch and gives its reason, in words that a person can check.
//! 4. `layout` says what one record is: the whole file, a line, a group of lines, or an element of a big array.
//!    The corpus cuts records out of the stream, in bounded memory, and hands them to `read` on many threads.
//! 5. `read` turns one record into drafts: `Node::line` parses an object, and `node.text("content", out)` reads a
//!    member only when called. A member of the wrong type is reported with its location, and only that field is lost.
//!    `out.run(draft)` delivers a run. Contents and arguments go into [`Text`](crate::transcript::Text) undecoded.
//! 6. `fixtures/readers/x/`: a good file `good.*`, and one `bad-*.*` for each error it can report.
//!
//! `CONTRIBUTING.md` has the whole recipe.

use std::fmt::Display;

use crate::open::inputs::add_input;
use crate::open::layout::RecordLayout;
use crate::open::probe::{Probe, Sketch};
use crate::record::node::{MemberNames, Node};
use crate::record::reading::{Reading, Record};
use crate::transcript::{Json, PromptedBy, Text};
use crate::value::json;

/// One format of recorded runs.
pub trait Format: Sync {
    /// The format's name, as used in reports and with `--as`.
    fn id(&self) -> &'static str;

    /// A one-line description.
    fn summary(&self) -> &'static str;

    /// The reason why this file is of this format; `None` if it is not.
    fn recognise(&self, probe: &Probe) -> Option<String>;

    /// What one record is, for a file of this format.
    fn layout(&self, probe: &Probe) -> RecordLayout;

    /// True if outcomes are in report files beside the recording. They are then read into `record.grades`.
    fn joins_reports(&self) -> bool {
        false
    }

    /// True if the format accepts messages from any recorder. More specific formats are then tried first, in every
    /// wrapping.
    fn takes_any_messages(&self) -> bool {
        false
    }

    /// Whether the lines of a file whose first line is `first` belong together. If so, the elements of an array do
    /// too; otherwise each line or element is treated like a separate file.
    fn joins_lines(&self, _first: &Sketch) -> bool {
        false
    }

    /// True if tokens are recorded once for all calls of a turn. A call without tokens is then no gap in the sum.
    fn counts_by_turn(&self) -> bool {
        false
    }

    /// True if the replies are those of an agent that acts by fenced blocks in its text, where no call is recorded.
    fn acts_in_texts(&self) -> bool {
        false
    }

    /// Who writes the prompts in these recordings, as far as the format tells.
    fn prompted_by(&self) -> PromptedBy {
        PromptedBy::Unknown
    }

    /// Where a run answers one prompt and all else in the user's name is the harness's: the beginnings of texts that are
    /// prompts nevertheless.
    fn later_prompts(&self) -> Option<&[&'static str]> {
        None
    }

    /// True if the benchmark checks every answer and ends the run at the first that is right: how a run ended then
    /// follows from its outcome.
    fn ends_on_success(&self) -> bool {
        false
    }

    /// The name of a neighbouring file that has more about the same run. If it exists, this file is skipped.
    fn superseded_by(&self) -> Option<&'static str> {
        None
    }

    /// True if the sessions of sub-agents are in files of their own, which name the session that started them.
    fn keeps_sub_agents_apart(&self) -> bool {
        false
    }

    /// True if each file of a folder holds the conversation up to some point, so that the latest file has all of it.
    fn latest_copy_counts(&self) -> bool {
        false
    }

    /// Reads one record: delivers its runs and reports its problems.
    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>);
}

/// The reason for which a format recognises a file, if it does.
fn reason_if(is_recognised: bool, reason: &str) -> Option<String> {
    if is_recognised { Some(reason.to_owned()) } else { None }
}

/// Whether the first element of an array fits.
fn first_is(list: &Sketch, fits: impl Fn(&Sketch) -> bool) -> bool {
    match list.elements().first() {
        Some(first) => fits(first),
        None => false,
    }
}

/// The elements of the member with one of these names, if it is an array.
fn elements_under<'a>(node: &Node<'a>, names: impl MemberNames) -> Option<Vec<Node<'a>>> {
    node.get(names)?.elements()
}

/// A text that was said in two pieces.
fn joined(before: Option<Text>, more: Option<Text>) -> Option<Text> {
    match (before, more) {
        (Some(before), Some(more)) => Some(Text::plain(format!("{}\n{}", before.as_str(), more.as_str()))),
        (before, more) => more.or(before),
    }
}

/// An object of those of the fields that are recorded, each with its value as JSON; `None` if none is.
fn object_of<const N: usize>(fields: [(&str, Option<impl Display>); N]) -> Option<Json> {
    let mut members = Vec::new();
    for (name, value) in fields {
        if let Some(value) = value {
            members.push(format!("\"{name}\":{value}"));
        }
    }
    if members.is_empty() { None } else { json::kept(&*format!("{{{}}}", members.join(","))) }
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
    specstory::SpecStory,
    exgentic::Exgentic,
    managed_agents::ManagedAgents,
    copilot_cli::CopilotCli,
    vscode_chat::VsCodeChat,
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
    droid::Droid,
    pi::Pi,
    opencode::OpenCode,
    qwen_code::QwenCode,
    claude_code::ClaudeCode,
    cursor::CursorCli,
    claude_agent_sdk::ClaudeAgentSdk,
    inspect::Inspect,
    openhands::OpenHands,
    swe_agent::SweAgent,
    atif::Atif,
    codex::Codex,
    codex_exec::CodexExec,
    who_and_when::WhoAndWhen,
    amp::Amp,
    goose::Goose,
    kimi_cli::KimiCli,
    gemini_contents::GeminiContents,
    anthropic_batch::AnthropicBatch,
    autogen::AutoGen,
    langchain_messages::LangChainMessages,
    vercel_ui::VercelUi,
    api_log::ApiLog,
    chat::Chat,
    parquet::Parquet,
}

mod mapped;

/// Our own format.
pub(crate) static TRACE: &dyn Format = &trace::Trace;

/// Logs that the user describes. It is none of the formats that are tried.
pub(crate) static MAPPED: &dyn Format = &mapped::Mapped;

pub(crate) use mapped::{ARGUMENTS as CALL_ARGUMENTS, ID as CALL_IDS, NAME as CALL_NAMES, RESULT as CALL_RESULTS};
pub(crate) use mapped::{fits as map_fits, joins_lines as map_joins_lines};
pub use trace::{write as write_trace, write_event as write_trace_event};

/// Size limit for files beside a recording that are read for information about the run, in bytes.
const LARGEST_BESIDE: u64 = 16 << 20;

/// The text of a file beside a recording, such as its metadata.
fn beside(record: &Record<'_>, name: &str) -> Option<String> {
    // A text that does not come from a file has no neighbours.
    let path = Some(record.file.folder.join(name)).filter(|_| !record.file.folder_name.is_empty())?;
    let size = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
    if size > LARGEST_BESIDE {
        return None;
    }
    let text = std::fs::read_to_string(&path).ok()?;
    add_input(&path);
    Some(text)
}

/// The format with that name.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id() == id)
}
