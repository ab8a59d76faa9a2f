//! The recording formats. A new format takes one file here, one line in the list below, and one folder of fixtures.
//!
//! How to add a format `x`:
//!
//! 1. `src/read/format/x.rs`: a `static FORMAT`, which says what the format is like, and the functions that it names.
//!    Start from `webvoyager.rs`, the shortest.
//! 2. One line in `formats!` below, in the order of detection: a file is read by the first format that recognises it.
//! 3. `recognise` looks at the [`Probe`]'s sketch and gives its reason, in words that a person can check.
//! 4. `layout` says what one record is, unless it is the whole file: a line, a group of lines, or an element of a big array.
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
use crate::open::probe::{Probe, Shape, Sketch};
use crate::record::node::{MemberNames, Node};
use crate::record::reading::{Reading, Record};
use crate::transcript::{Json, PromptedBy, Text};
use crate::value::json;

/// One format of recorded runs.
#[expect(clippy::struct_excessive_bools, reason = "each is a property by itself")]
pub struct Format {
    /// The format's name, as used in reports and with `--as`.
    id: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// The reason why this file is of this format; `None` if it is not.
    pub recognise: fn(&Probe) -> Option<String>,
    /// What one record is, for a file of this format.
    pub layout: fn(&Probe) -> RecordLayout,
    /// True if the format accepts messages from any recorder. More specific formats are then tried first, in every
    /// wrapping.
    pub(crate) takes_any_messages: bool,
    /// Whether the lines of a file with this first line belong together. If so, the elements of an array do too;
    /// otherwise each line or element is treated like a separate file.
    pub(crate) joins_lines: fn(&Sketch) -> bool,
    /// True if tokens are recorded once for all calls of a turn. A call without tokens is then no gap in the sum.
    pub(crate) counts_by_turn: bool,
    /// True if the replies are those of an agent that acts by fenced blocks in its text, where no call is recorded.
    pub(crate) acts_in_texts: bool,
    /// Who writes the prompts in these recordings, as far as the format tells.
    pub prompted_by: PromptedBy,
    /// Where a run answers one prompt and all else in the user's name is the harness's: the beginnings of texts that are
    /// prompts nevertheless.
    pub(crate) later_prompts: Option<&'static [&'static str]>,
    /// True if the benchmark checks every answer and ends the run at the first that is right: how a run ended then
    /// follows from its outcome.
    pub(crate) ends_on_success: bool,
    /// The name of a neighbouring file that has more about the same run. If it exists, this file is skipped.
    pub(crate) superseded_by: Option<&'static str>,
    /// True if the sessions of sub-agents are in files of their own, which name the session that started them.
    pub(crate) keeps_sub_agents_apart: bool,
    /// True if each file of a folder holds the conversation up to some point, so that the latest file has all of it.
    pub(crate) latest_copy_counts: bool,
    /// Reads one record: delivers its runs and reports its problems.
    pub(crate) read: fn(&Record<'_>, &mut Reading<'_>),
}

impl Format {
    /// A format without a name that recognises no file by itself, and of which each file is one record.
    const fn reading(read: fn(&Record<'_>, &mut Reading<'_>)) -> Self {
        Self {
            id: "",
            summary: "",
            recognise: |_| None,
            layout: |_| RecordLayout::Whole,
            takes_any_messages: false,
            joins_lines: |_| false,
            counts_by_turn: false,
            acts_in_texts: false,
            prompted_by: PromptedBy::Unknown,
            later_prompts: None,
            ends_on_success: false,
            superseded_by: None,
            keeps_sub_agents_apart: false,
            latest_copy_counts: false,
            read,
        }
    }

    /// The format's name, as used in reports and with `--as`.
    pub fn id(&self) -> &'static str {
        self.id
    }
}

/// The reason for which a format recognises a file, if it does.
fn reason_if(is_recognised: bool, reason: &str) -> Option<String> {
    if is_recognised { Some(reason.to_owned()) } else { None }
}

/// Lines, if the first two each have that member and so are whole runs; otherwise the file is one record.
fn lines_with(member: &str, probe: &Probe) -> RecordLayout {
    let whole = probe.values.iter().take(2).filter(|value| value.has(&[member])).count();
    if probe.shape == Shape::Lines && whole == 2 { RecordLayout::Lines } else { RecordLayout::Whole }
}

/// Whether the first element of an array fits.
fn first_is(list: &Sketch, fits: impl Fn(&Sketch) -> bool) -> bool {
    match list.elements().first() {
        Some(first) => fits(first),
        None => false,
    }
}

/// Calls `push` for each list in the record, with what is around it and a name for its run: a list by itself, one that
/// `list_in` finds in an object, and the objects that have none together.
fn each_list<'r>(
    record: &Record<'r>,
    thing: &str,
    list_in: impl Fn(&Node<'r>, &mut Reading<'_>) -> Option<Vec<Node<'r>>>,
    out: &mut Reading<'_>,
    push: impl Fn(&Node<'r>, String, Vec<Node<'r>>, &mut Reading<'_>),
) {
    let stem = &record.file.stem;
    let values = Node::values(record, out);
    let many = values.len() > 1;
    let mut loose = Vec::new();
    for (index, value) in values.enumerate() {
        let key = if many { format!("{stem}/{index}") } else { stem.clone() };
        if let Some(list) = value.elements() {
            push(&Node::default(), key, list, out);
            continue;
        }
        let Some(value) = value.into_object(thing, out) else { continue };
        match list_in(&value, out) {
            Some(list) => push(&value, key, list, out),
            None => loose.push(value),
        }
    }
    if !loose.is_empty() {
        push(&Node::default(), stem.clone(), loose, out);
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
    if fields.iter().all(|(_, value)| value.is_none()) {
        return None;
    }
    let mut members = Vec::new();
    for (name, value) in fields {
        if let Some(value) = value {
            members.push(format!("\"{name}\":{value}"));
        }
    }
    json::kept(&*format!("{{{}}}", members.join(",")))
}

macro_rules! formats {
    ($($module:ident,)*) => {
        $(mod $module;)*
        /// Every format, in the order of detection.
        pub static FORMATS: &[&Format] = &[$(&$module::FORMAT,)*];
    };
}

formats! {
    trace,
    tau2,
    tau_bench,
    mini_swe_agent,
    intercode,
    gemini_cli,
    adk,
    agentdojo,
    bashkit,
    mint,
    aider,
    specstory,
    exgentic,
    managed_agents,
    copilot_cli,
    vscode_chat,
    cline,
    cline_ui,
    gemini_stream,
    browser_use,
    verifiers,
    letta,
    swebench_trajectory,
    webvoyager,
    ko_agentbench,
    openhands_completions,
    openclaw,
    agentica,
    agentao,
    awaken,
    pydantic_ai,
    otel,
    langsmith,
    openai_agents,
    langfuse,
    smolagents,
    droid,
    pi,
    opencode,
    qwen_code,
    claude_code,
    cursor,
    claude_agent_sdk,
    inspect,
    openhands,
    swe_agent,
    atif,
    codex,
    codex_exec,
    who_and_when,
    amp,
    goose,
    kimi_cli,
    gemini_contents,
    anthropic_batch,
    autogen,
    langchain_messages,
    vercel_ui,
    api_log,
    chat,
    parquet,
}

mod mapped;

/// Our own format.
pub(crate) static TRACE: &Format = &trace::FORMAT;

/// Logs that the user describes. It is none of the formats that are tried.
pub(crate) static MAPPED: &Format = &mapped::FORMAT;

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
pub fn by_id(id: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.id == id)
}
