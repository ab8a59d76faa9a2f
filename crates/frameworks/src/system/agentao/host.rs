//! What agentao's configuration can hold of a stack.

use crate::host::{ClauseSlot, ExportTarget, FROM_ZERO, OUT_OF_REACH, ParameterPlace, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: ExportTarget = ExportTarget::new(
    "where the agent is asked",
    Syntax::Python,
    "answer = agent.chat(\n    message,\n    max_iterations=<<max_iterations>>,\n)\n",
    &[ClauseSlot::new("steps", Moment::BeforeRequest, ParameterPlace::Is("max_iterations")).range(FROM_ZERO)],
)
.quiet(&[("max_iterations", OUT_OF_REACH)])
.reading_file()
.also(&[
    "nothing switches this off: the third equal call of a chat (and of other broken replies) ends it before the cap",
])
.cannot(&[("", "it has a cap on iterations, and guards with constants; nothing else")]);
