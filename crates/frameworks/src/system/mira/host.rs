//! What mira's configuration can hold of a stack.

use crate::host::{ClauseSlot, ExportTarget, ParameterPlace, Syntax};
use crate::transcript::Moment;

pub(super) const HOST: ExportTarget = ExportTarget::new(
    "the automation policy",
    Syntax::Json,
    "",
    &[
        ClauseSlot::new("tokens.total", Moment::EndOfRound, ParameterPlace::Is("maxTokens")).session(),
        ClauseSlot::new("experiments.completed", Moment::EndOfRound, ParameterPlace::Is("maxExperiments")).session(),
    ],
)
.quiet(&[("strictHeuristics", "false")])
.profile("published-0.5.0")
.also(&["a blocked task plan and an empty queue end the work, too, and follow-ups have a cap of 100"])
.cannot(&[
    ("metric", "a goal of its policy can say this: write it into `goals` by hand"),
    ("steps", "it counts follow-ups and experiments, no model calls"),
    ("", "its policy has goals, experiments and tokens, nothing else, and looks only between agent runs"),
]);
