//! What adaptive's configuration can hold of a stack.

use crate::host::{Host, Place, Slot, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: Host = Host::new(
    "config.yaml",
    Syntax::Yaml,
    "agent:\n  search:\n    max_iterations: <<max_iterations>>\n",
    &[Slot::new("steps", Moment::AfterResponse, Place::Is("max_iterations"))
        .session()
        .plus(1)
        .differs("the prompt of the last iteration asks for the conclusion, and its experiment is not run")],
)
.options(&[("strategies", "[]")])
.also(&["nothing switches this off: a reply without an experiment ends the work"])
.cannot(&[("", "it counts iterations, nothing else")]);
