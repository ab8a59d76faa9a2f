//! The stop rules that agent frameworks ship.
//!
//! [`system`] holds the five seed systems and [`preset`] the other frameworks; [`catalog`] looks them all up by name.
//! [`host`] describes what their configurations can express and [`export`] writes a stack in those terms. [`python`]
//! reproduces the Python behaviour that some decisions depend on.
//!
//! # A preset beside a live agent
//!
//! [`catalog::load`] reads a stack file that may name presets (`use = "..."`); each of its strategies runs in
//! [`Live`](whenstop_core::Live) like a stack of your own.
//!
//! ```
//! use whenstop_core::{Event, Header, Live, Message, Role, ToolCall};
//!
//! let text = "[[stack]]\nname = \"stuck\"\nuse = \"openhands\"";
//! let (_, strategies) = whenstop_frameworks::catalog::load("stacks.toml", text)?;
//! let mut live = Live::start(&strategies[0], Header::named("run-1"));
//! live.push(Event::Message(Message::saying(Role::User, "what is in notes.txt?")));
//! while live.stopped_by().is_none() && live.events().len() < 50 {
//!     live.request();
//!     let mut reply = Message::saying(Role::Assistant, "let me look");
//!     reply.tool_calls.push(ToolCall::new(Some("1"), "read_file", r#"{"path": "notes.txt"}"#));
//!     live.push(Event::Message(reply));
//!     live.push(Event::Message(Message::saying(Role::Tool, "no such file")));
//! }
//! let stop = live.stopped_by().expect("the agent repeats itself");
//! assert_eq!(stop.rule.as_str(), "stuck_detector.action_observation");
//! # Ok::<(), whenstop_core::diagnostic::Diagnostics>(())
//! ```

#[cfg(test)]
pub(crate) use whenstop_core::replay;
pub(crate) use whenstop_core::{bailout, decision, diagnostic, judge, rule, signal, stack, text, transcript};

pub mod catalog;
pub mod export;
pub mod framework;
pub mod host;
mod keyword;
pub mod preset;
pub mod python;
pub mod system;
