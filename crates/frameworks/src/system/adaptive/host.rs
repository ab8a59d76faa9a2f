//! What adaptive's configuration can hold of a stack.

use crate::host::{ClauseSlot, ExportTarget, ParameterPlace, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: ExportTarget = ExportTarget::new(
    "config.yaml",
    Syntax::Yaml,
    "agent:\n  search:\n    max_iterations: <<max_iterations>>\n",
    &[ClauseSlot::new("steps", Moment::AfterResponse, ParameterPlace::Is("max_iterations"))
        .session()
        .plus(1)
        .differs("the prompt of the last iteration asks for the conclusion, and its experiment is not run")],
)
.options(&[("strategies", "[]")])
.also(&["nothing switches this off: a reply without an experiment ends the work"])
.cannot(&[("", "it counts iterations, nothing else")]);
