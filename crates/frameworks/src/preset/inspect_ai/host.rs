//! What Inspect AI's settings can hold of a stack.

use crate::host::{FROM_ZERO, Host, Place, Slot, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: Host = Host::new(
    "the task",
    Syntax::Python,
    r"task = Task(
    dataset=dataset,
    solver=solver,
    message_limit=<<message_limit>>,
    token_limit=<<token_limit>>,
    cost_limit=<<cost_limit>>,
    turn_limit=<<turn_limit>>,
)
",
    &[
        Slot::new("messages", Moment::BeforeRequest, Place::Is("message_limit")).session().differs(
            "results that would pass the limit are refused after their tools have run, and the run ends there",
        ),
        Slot::new("tokens.total", Moment::BeforeRequest, Place::Is("token_limit"))
            .session()
            .differs("a reply that passes the limit ends the run before its tools, and is lost"),
        Slot::new("tokens.total", Moment::AfterResponse, Place::Is("token_limit"))
            .session()
            .more_than()
            .differs("a final answer that passes the limit is lost"),
        Slot::new("cost", Moment::BeforeRequest, Place::Is("cost_limit"))
            .session()
            .amount()
            .differs("a reply that passes the limit ends the run before its tools, and is lost"),
        Slot::new("cost", Moment::AfterResponse, Place::Is("cost_limit"))
            .session()
            .more_than()
            .amount()
            .differs("a final answer that passes the limit is lost"),
        Slot::new("steps", Moment::AfterResponse, Place::Is("turn_limit"))
            .session()
            .range(FROM_ZERO)
            .differs("one more request than the limit is paid for, and its reply is thrown away"),
    ],
)
.quiet(&[("solver", r#""generate""#)])
.cannot(&[
    ("call", "it has no repetition rule"),
    ("errors.", "it has no rule on failures"),
    ("elapsed", "time_limit cuts off whatever is under way, and loses it"),
    ("", "its limits count messages, tokens, turns, dollars and seconds, nothing else"),
]);
