//! What Qwen Code's settings can hold of a stack.

use crate::host::{Does, Host, Place, Slot, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: Host = Host::new(
    ".qwen/settings.json",
    Syntax::Json,
    "",
    &[
        Slot::new("steps", Moment::BeforeRequest, Place::Is("model.maxSessionTurns"))
            .session()
            .does(Does::Fail("MaxSessionTurns")),
        Slot::new("tokens.context", Moment::BeforeRequest, Place::Is("model.sessionTokenLimit"))
            .session()
            .more_than()
            .does(Does::Fail("SessionTokenLimitExceeded")),
        Slot::new("tool_calls", Moment::AfterResponse, Place::Is("model.maxToolCallsPerTurn"))
            .more_than()
            .does(Does::Fail("LoopDetected")),
    ],
)
.quiet(&[("model.maxToolCallsPerTurn", "-1"), ("model.skipLoopDetection", "true")])
.also(&[
    "nothing switches this off: a turn ends at the 5th identical call in a row, and at the 8th git overview in a row",
])
.cannot(&[
    ("call", "its repeats are constants: the 5th identical call in a row always ends the turn"),
    ("tokens.", "it limits the tokens of the last prompt (`tokens.context`), not their sum"),
    ("", "its settings limit turns, calls of a turn, and the last prompt's tokens, nothing else"),
]);
