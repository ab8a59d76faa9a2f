//! What awaken's configuration can hold of a stack.

use crate::host::{ClauseSlot, ExportTarget, ParameterPlace, Syntax};
use crate::transcript::Moment;

/// Why awaken's limits never match a clause exactly.
const LOST: &str = "a final answer on which the limit is passed is not kept";

pub(super) const HOST: ExportTarget = ExportTarget::new(
    "the agent's stop conditions",
    Syntax::Json,
    "",
    &[
        ClauseSlot::new(
            "steps",
            Moment::AfterResponse,
            ParameterPlace::Item("stop_conditions", r#"{"type": "max_rounds", "rounds": $}"#, ""),
        )
        .session()
        .plus(1)
        .differs(LOST),
        ClauseSlot::new(
            "tokens.total",
            Moment::AfterResponse,
            ParameterPlace::Item("stop_conditions", r#"{"type": "token_budget", "max_total": $}"#, ""),
        )
        .session()
        .more_than()
        .differs(LOST),
        ClauseSlot::new(
            "elapsed",
            Moment::AfterResponse,
            ParameterPlace::Item("stop_conditions", r#"{"type": "timeout", "seconds": $}"#, ""),
        )
        .session()
        .more_than()
        .differs(LOST),
        ClauseSlot::new(
            "tool.named",
            Moment::AfterResponse,
            ParameterPlace::Item("stop_conditions", r#"{"type": "stop_on_tool", "tool_name": "$"}"#, ""),
        )
        .session()
        .named(),
    ],
)
.quiet(&[("max_rounds", "0")])
.reading_file()
.cannot(&[
    ("call", "loop_detection compares the texts of replies, not calls"),
    ("cost", "it has no condition on money"),
    ("errors.", "consecutive_errors counts failed model calls, not tools"),
    ("", "its stop conditions count rounds, seconds and tokens, and look at tools and texts; nothing else"),
]);
