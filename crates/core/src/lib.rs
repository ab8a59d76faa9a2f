//! The core of `whenstop`: recorded runs of AI agents, the rules that could have stopped them, and what a stop would
//! have cost or saved.
//!
//! [`transcript`] holds a recorded run; [`decision`] defines what a strategy decides at a point of it; [`mod@signal`]
//! has the numbers that rules watch; a [`stack`] is a set of rules read from a stack file. [`mod@replay`] applies one
//! strategy to one run, and [`verdict`] judges the result. This crate reads no files and draws nothing.
//!
//! The types needed to run a stack are re-exported at the crate root. The documented API follows Cargo's semantic
//! versioning; hidden items are shared with the other `whenstop` crates and may change in any release.
//!
//! # Running a stack beside a live agent
//!
//! A stack tuned on recordings can run inside the agent and makes the same decisions there: [`Live`] takes events as
//! they happen. Call [`request`](Live::request) before each model call, so that a stop comes before that call is paid
//! for.
//!
//! ```
//! use whenstop_core::{Event, Header, Live, Message, Role, StackFile, ToolCall};
//!
//! let text = r#"
//! [[stack]]
//! name = "careful"
//! any = [{ signal = "errors.streak", at_least = 3 }]
//! "#;
//! let stack = StackFile::parse("stacks.toml", text)?.stack("careful").expect("it is in the file");
//! let mut live = Live::start(&stack, Header::named("run-1"));
//! let mut calls = 0;
//! while !live.has_ended() && calls < 10 {
//!     for decision in live.request() {
//!         assert_eq!(decision.rule.as_str(), "errors.streak >= 3");
//!     }
//!     if !live.has_ended() {
//!         calls += 1;
//!         let mut reply = Message::saying(Role::Assistant, "let me look");
//!         reply.tool_calls.push(ToolCall::new(Some("1"), "read_file", r#"{"path": "notes.txt"}"#));
//!         live.push(Event::Message(reply));
//!         let mut result = Message::saying(Role::Tool, "no such file");
//!         result.is_error = Some(true);
//!         live.push(Event::Message(result));
//!     }
//! }
//! assert_eq!(calls, 3);
//! # Ok::<(), whenstop_core::diagnostic::Diagnostics>(())
//! ```
//!
//! # Defining your own signal
//!
//! A signal is given one point at a time and returns a number; rules and limits stay in the stack file.
//!
//! ```
//! use whenstop_core::signal::{Options, Reads, Registered, Signal, SignalInfo};
//! use whenstop_core::{Draft, Event, Message, PointView, Role, Run, StackFile, replay};
//!
//! /// Replies so far in which the agent says that it is sorry.
//! struct Apologies(u32);
//!
//! impl Signal for Apologies {
//!     fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
//!         let replies = view.news().iter().filter_map(Event::message).filter(|message| message.is_step());
//!         self.0 += u32::try_from(replies.filter(|reply| reply.text().contains("sorry")).count()).ok()?;
//!         Some(f64::from(self.0))
//!     }
//! }
//!
//! impl Registered for Apologies {
//!     const ID: &'static str = "apologies";
//!     const SUMMARY: &'static str = "replies so far that say sorry";
//!     const UNIT: &'static str = "replies";
//!     const SOURCE: &'static str = "our own runs";
//!     const READS: Reads = Reads::Replies;
//!     const TAKES_STEPS: bool = true;
//!     const ACCUMULATES: bool = false;
//!
//!     fn start(_: &Options) -> Self {
//!         Self(0)
//!     }
//! }
//!
//! static OWN: &[SignalInfo] = &[SignalInfo::new::<Apologies>("Counts replies with the word sorry in them.")];
//!
//! let text = "[[stack]]\nname = \"s\"\nany = [{ signal = \"apologies\", at_least = 2 }]";
//! let stack = StackFile::parse_with("stacks.toml", text, OWN)?.stack("s").expect("it is in the file");
//! let says = |text: &str| Event::Message(Message::saying(Role::Assistant, text));
//! let events = ["sorry", "fixed", "so sorry", "done"].map(says).to_vec();
//! let stop = replay(&Run::new(Draft { events, ..Draft::default() }), &stack).stop.expect("it stops");
//! assert_eq!(stop.point.to_string(), "2:after_tools");
//! # Ok::<(), whenstop_core::diagnostic::Diagnostics>(())
//! ```

use whenstop_json_text as json_text;

pub mod bailout;
pub mod decision;
pub mod diagnostic;
pub mod effect;
pub mod judge;
pub mod replay;
pub mod rule;
pub mod signal;
pub mod stack;
#[doc(hidden)]
pub mod text;
pub mod transcript;
pub mod verdict;

pub use decision::{Action, Decision, Strategy, Watch};
pub use diagnostic::Diagnostics;
pub use replay::{Live, Replay, replay};
pub use stack::{Stack, StackFile};
pub use transcript::{Draft, Event, Grade, Header, Message, Outcome, Point, PointView, Role, Run, ToolCall, Usage};
