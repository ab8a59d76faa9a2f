//! `pairs.csv`: every stack against the baseline, on the same runs.

use super::FileColumns;
use crate::aggregate::{Difference, Pair};
use crate::stats::bounds::Dominance;

/// The columns of `pairs.csv`: the comparisons with the baseline.
pub fn pair_columns() -> FileColumns<'static, Pair> {
    let adjusted_by = |difference: &Difference| difference.adjusted_by.name().to_owned();
    let adjusted = "The same, adjusted for the number of stacks compared.";
    FileColumns::new()
        .text("stack", "The stack.", |pair: &Pair| pair.stack.to_string())
        .text("baseline", "The stack it is compared with.", |pair| pair.baseline.to_string())
        .count("stacks_compared", "How many stacks are compared with that one.", |pair| pair.stacks_compared)
        .count("successes", "Successful runs that both could be judged on.", |pair| pair.successes)
        .count("killed_only_here", "Successes that only the stack kills.", |pair| pair.killed_here)
        .count("killed_only_baseline", "Successes that only the other kills.", |pair| pair.killed_there)
        .difference(
            "killed_rate_difference",
            "tasks with a success",
            "The share of successes killed, minus that of the other.",
            |pair| &pair.fes_rate.comparison,
        )
        .text("killed_test", "How `killed_p` was computed.", |pair| pair.fes_rate.comparison.method.name().to_owned())
        .number("killed_p", "The p-value of no difference in the share killed.", |pair| pair.fes_rate.comparison.p)
        .number("killed_p_adjusted", adjusted, |pair| pair.fes_rate.p_adjusted)
        .text("killed_p_adjusted_by", "How it was adjusted.", move |pair| adjusted_by(&pair.fes_rate))
        .number("killed_sign_flip_p", "The p-value of the sign-flip test over tasks, as a check.", |pair| {
            pair.fes_sign_flip_p
        })
        .text("saved_unit", "What is saved.", |pair| pair.unit.name().to_owned())
        .difference(
            "saved_share_difference",
            "tasks",
            "The share saved on failures and after success, minus that of the other.",
            |pair| &pair.saved_ratio.comparison,
        )
        .number("saved_share_p", "The p-value of no difference in the share saved.", |pair| {
            pair.saved_ratio.comparison.p
        })
        .number("saved_share_p_adjusted", adjusted, |pair| pair.saved_ratio.p_adjusted)
        .text("saved_share_p_adjusted_by", "How it was adjusted.", move |pair| adjusted_by(&pair.saved_ratio))
        .bounds(
            "success_difference_bound",
            "runs",
            "the difference in the share of runs that succeed, whatever the unknown outcomes were",
            |pair| &pair.success,
        )
        .text("dominates", "Whether the stack is better whatever the unknown outcomes were.", |pair| {
            dominates(pair.dominance).to_owned()
        })
}

fn dominates(dominance: Dominance) -> &'static str {
    match dominance {
        Dominance::No => "no",
        Dominance::OnTheseRuns => "on these runs",
        Dominance::Confident => "yes",
    }
}
