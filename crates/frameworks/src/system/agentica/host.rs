//! What agentica's configuration can hold of a stack.

use crate::host::{ClauseSlot, ExportTarget, OUT_OF_REACH, ParameterPlace, Syntax};
use crate::transcript::Moment;

/// How reaching a budget differs from a stop.
const WRAP_UP: &str = "a budget that is used up is followed by one more turn, to wrap up";

pub(super) const HOST: ExportTarget = ExportTarget::new("where the goal is set", Syntax::Python, "goal = manager.set(\n    objective=objective,\n    turn_budget=<<turn_budget>>,\n    token_budget=<<token_budget>>,\n)\n", &[
    ClauseSlot::new("rounds", Moment::EndOfRound, ParameterPlace::Is("turn_budget")).session().differs(WRAP_UP),
    ClauseSlot::new("tokens.total", Moment::EndOfRound, ParameterPlace::Is("token_budget")).session().differs(WRAP_UP),
])
.quiet(&[("turn_budget", OUT_OF_REACH)])
.options(&[("round", "\"prompt\""), ("judge", "\"none\"")])
.profile("published-1.5")
.reading_file()
.also(&["nothing switches this off: three turns in a row in which every tool call failed pause the goal"])
.cannot(&[
    ("steps", "it counts turns, each a whole agent run, and looks only between them"),
    ("", "a goal has budgets of turns, tokens and seconds, nothing else, and looks only between turns"),
]);
