//! Signals: numbers that rules watch over the points of a run.
//!
//! A signal sees one point at a time and cannot look ahead. It is started afresh for each run and only measures; rules
//! decide what to do about the number. A built-in signal is one file and one line in `signals!`.

mod calls;
mod flags;
mod grams;
mod latest;
#[doc(hidden)]
pub mod number;
mod streak;
mod tally;
mod text_of;

use crate::decision::{Need, NumberOf};
use crate::transcript::{Identity, Moment, Moments, PointView};

pub use crate::text::TextPart;
pub use text_of::TextOf;

/// The state of a signal for one run.
pub trait Signal: Send {
    /// Takes the next point and returns the current reading. It is called for every point of the run, in order, or at
    /// least for those at which it must be shown ([`Registered::LOOKS_AT`]). `None`
    /// means there is nothing to read yet (no usage reported, no flagged result); no comparator passes then.
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64>;
}

/// What a signal must declare: its name, its documentation and how to start it.
pub trait Registered: Signal + Sized + 'static {
    /// Its name in stack files and tables. It says what is measured, not what to do about it.
    const ID: &'static str;
    /// A one-line description.
    const SUMMARY: &'static str;
    /// The unit of its readings.
    const UNIT: &'static str;
    /// The source of the idea: a framework and version, or a paper.
    const SOURCE: &'static str;
    /// Which words it reads, beside calls, results, usage and times. Without a default, so that each signal states it.
    const READS: Reads;
    /// True if a reading of n takes at least n steps. Without a default, so that each signal states it.
    const TAKES_STEPS: bool;
    /// True if it counts from the beginning of the run: in a session of many rounds, a limit on it is reached during a later
    /// one. Without a default, so that each signal states it.
    const ACCUMULATES: bool;
    /// The options it accepts, by their names in stack files. Any other option is an error.
    const OPTIONS: &'static [&'static str] = &[];
    /// What it needs from a recording to be evaluated; `None` if every recording has it.
    const NEED: Option<Need> = None;
    /// The contents it reads or compares, which some recorders leave out.
    const CONTENTS: &'static [Need] = &[];
    /// The moment at which a rule on it is checked, unless the stack file names another.
    const AT: Moment = Moment::AfterTools;

    /// The moments at which it must be shown the run. A sum of what is new needs none: what is new at a point came since
    /// the point that was shown last.
    const LOOKS_AT: Moments = Moments::ALL;

    /// Starts it for one run.
    fn start(options: &Options) -> Self;
}

/// Which words a signal reads, beside calls, results, usage and times. A program that asks for rules while an agent works
/// may not be shown all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// None, or only those of calls and results.
    Calls,
    /// What the agent writes.
    Replies,
    /// What the option `of` names: replies or results.
    RepliesOrResults,
    /// Messages of everybody, those that the host writes itself included.
    Messages,
}

/// Options a stack file can give to a signal. Each signal declares which of them it accepts ([`Registered::OPTIONS`]).
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What makes two calls equal.
    pub identity: Identity,
    /// Tools to ignore, by name.
    pub exempt_tools: Vec<String>,
    /// The only tools to look at, by name; empty for all.
    pub only_tools: Vec<String>,
    /// Whether the order of the calls of one reply is of no matter.
    pub any_order: bool,
    /// How many seconds to look back.
    pub seconds: Option<u64>,
    /// How many of the latest steps, calls or results to look at.
    pub window: Option<usize>,
    /// A tool's name.
    pub tool: Option<String>,
    /// A metric's name.
    pub metric: Option<String>,
    /// A regular expression to search for in the text.
    pub regex: Option<regex::Regex>,
    /// Phrases to find as substrings of the lower-cased text.
    pub phrases: Vec<String>,
    /// Which texts to read.
    pub of: TextOf,
    /// Which part of a text to read.
    pub part: TextPart,
    /// Whether the time before a prompt counts.
    pub between_rounds: bool,
    /// The guard whose number is read.
    #[doc(hidden)]
    pub number: NumberOf,
}

/// A registered signal. [`Self::new`] registers one of your own.
#[derive(Clone, Copy)]
pub struct SignalInfo {
    /// See [`Registered::ID`].
    pub id: &'static str,
    /// See [`Registered::SUMMARY`].
    pub summary: &'static str,
    /// See [`Registered::UNIT`].
    pub unit: &'static str,
    /// See [`Registered::SOURCE`].
    pub source: &'static str,
    /// See [`Registered::READS`].
    pub reads: Reads,
    /// See [`Registered::TAKES_STEPS`].
    pub takes_steps: bool,
    /// See [`Registered::ACCUMULATES`].
    pub accumulates: bool,
    /// See [`Registered::OPTIONS`].
    pub options: &'static [&'static str],
    /// See [`Registered::NEED`].
    pub need: Option<Need>,
    /// See [`Registered::CONTENTS`].
    pub contents: &'static [Need],
    /// See [`Registered::AT`].
    pub at: Moment,
    /// See [`Registered::LOOKS_AT`].
    pub looks_at: Moments,
    /// Its manual page, or the source file that contains the page as the doc comment of its type.
    manual: Manual,
    /// Starts it for one run.
    pub start: fn(&Options) -> Box<dyn Signal>,
}

/// Where a signal's manual page is.
#[derive(Clone, Copy)]
enum Manual {
    SourceFile(&'static str),
    Text(&'static str),
}

impl std::fmt::Debug for SignalInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SignalInfo({})", self.id)
    }
}

impl SignalInfo {
    /// Registers a signal of your own, so that stack files can name it
    /// ([`StackFile::parse_with`](crate::stack::StackFile::parse_with)). `manual` should say what it reads and when
    /// that is misleading.
    pub const fn new<S: Registered>(manual: &'static str) -> Self {
        Self::from_manual::<S>(Manual::Text(manual))
    }

    const fn from_manual<S: Registered>(manual: Manual) -> Self {
        Self {
            id: S::ID,
            summary: S::SUMMARY,
            unit: S::UNIT,
            source: S::SOURCE,
            reads: S::READS,
            takes_steps: S::TAKES_STEPS,
            accumulates: S::ACCUMULATES,
            options: S::OPTIONS,
            need: S::NEED,
            contents: S::CONTENTS,
            at: S::AT,
            looks_at: S::LOOKS_AT,
            manual,
            start: |options| Box::new(S::start(options)),
        }
    }

    /// The manual page in Markdown. For a built-in signal it is the doc comment of its type.
    pub fn manual(&self) -> String {
        let file = match self.manual {
            Manual::SourceFile(file) => file,
            Manual::Text(text) => return text.to_owned(),
        };
        let (head, _) = file.split_once("\npub struct ").unwrap_or((file, ""));
        let comment: Vec<&str> = head
            .lines()
            .rev()
            .skip_while(|line| line.starts_with("#["))
            .map_while(|line| line.strip_prefix("///"))
            .collect();
        comment.into_iter().rev().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }
}

macro_rules! signals {
    ($($module:ident::$signal:ident,)*) => {
        $(mod $module; pub use $module::$signal;)*
        /// Every built-in signal, in manual order.
        pub static REGISTRY: &[SignalInfo] =
            &[$(SignalInfo::from_manual::<$signal>(Manual::SourceFile(include_str!(concat!(stringify!($module), ".rs")))),)*];
    };
}

signals! {
    steps::Steps,
    rounds::Rounds,
    messages::Messages,
    tool_calls::ToolCalls,
    tool_calls_recent::RecentToolCalls,
    tokens_total::TotalTokens,
    tokens_input::InputTokens,
    tokens_output::OutputTokens,
    tokens_uncached::UncachedTokens,
    tokens_context::ContextTokens,
    context_growth::ContextGrowth,
    cost::Cost,
    active::Active,
    elapsed::Elapsed,
    idle::Idle,
    errors_streak::ErrorsStreak,
    errors_rounds::ErrorsRounds,
    errors_share::ErrorsShare,
    errors_count::ErrorsCount,
    call_streak::CallStreak,
    call_result_streak::CallResultStreak,
    call_count::CallCount,
    call_result_count::CallResultCount,
    call_cycle::CallCycle,
    call_repeated::CallRepeated,
    result_streak::ResultStreak,
    result_count::ResultCount,
    novelty::Novelty,
    reply_streak::ReplyStreak,
    reply_repeats::ReplyRepeats,
    tool_share::ToolShare,
    no_text_streak::NoTextStreak,
    tool_named::ToolNamed,
    text_match::TextMatch,
    metric::Metric,
    experiments_completed::ExperimentsCompleted,
    compactions::Compactions,
}

/// The signal of that name: a built-in one, or the number of a guard.
pub fn find(id: &str) -> Option<&'static SignalInfo> {
    REGISTRY.iter().find(|signal| signal.id == id).or_else(|| number::info(id))
}
