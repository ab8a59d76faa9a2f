//! The recorded run: events, steps, points, outcome. This module knows nothing of file formats or rules, and reads no
//! files.

mod event;
#[doc(hidden)]
pub mod fingerprint;
mod layout;
mod named;
mod numbers;
mod outcome;
#[doc(hidden)]
pub mod placeholder;
mod point;
mod recorder;
mod round;
mod run;
#[doc(hidden)]
pub mod sketch;
mod spend;
mod step;
mod text;
mod truth;
mod units;
mod view;
mod written;

#[doc(hidden)]
pub use event::messages;
pub use event::{Carries, Checkpoint, Event, Json, JudgeReply, Lane, Message, Metrics, Name, Note, Role, ToolCall};
pub use fingerprint::Fingerprint;
#[doc(hidden)]
pub use fingerprint::Identity;
#[doc(hidden)]
pub use named::{NamedEnum, named};
#[doc(hidden)]
pub use numbers::RunNumbers;
pub use outcome::{EndCause, Outcome, OutcomeSource, Secured};
#[doc(hidden)]
pub use placeholder::{JUDGE_TAKEN_OUT, PLAN_TAKEN_OUT, TOLD_COMMAND, is_public_name, is_replacement};
pub use point::{Moment, Moments, Point};
pub use recorder::Recorder;
pub use round::{INTERRUPTED, Origin, PromptedBy, Round, RoundEnd};
pub use run::{Draft, Grade, Header, Requests, Run};
pub use spend::{Spend, Totals};
pub use step::Step;
pub use text::Text;
pub use truth::Truth;
pub use units::{Instant, Millis, Tokens, Usage, Usd};
pub use view::PointView;
#[doc(hidden)]
pub use written::{is_dense, is_json, json_value};
