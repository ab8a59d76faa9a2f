//! Starter stacks, for recordings that nobody has named stacks for.

use super::RecordedRuns;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::transcript::Spend;

/// The starter stacks, with limits for recordings that nobody has looked at.
const TEMPLATE: &str = include_str!("starter.toml");
/// Its lines with limits that the recordings decide.
const TOKENS: &str = "{ signal = \"tokens.total\", at_least = 300_000 },";
const STEPS: &str = "{ signal = \"steps\", at_least = 40 },";
const CAP: &str = "cap = { steps = 60 }";

/// The starter stacks as a stack file. Their budgets are what the longest tenth of the recordings went beyond; without
/// token counts there is no budget of tokens.
pub(in crate::cli) fn starter(runs: &RecordedRuns<'_>) -> Result<String, CommandFailure> {
    let (mut steps, mut tokens) = (Vec::new(), Vec::new());
    // What cannot be read is reported when the recordings are compared.
    runs.each(
        &Output::keeping(),
        |run| (run.steps().len() as u64, Spend::from_events(run.events()).total),
        |(n_steps, total)| {
            steps.push(n_steps);
            tokens.extend(total.map(|total| total.0));
        },
    )?;
    let mut text = TEMPLATE.to_owned();
    if let Some(limit) = longest_tenth(&mut steps) {
        text = text.replace(STEPS, &STEPS.replace("40", &limit.to_string()));
        text = text.replace(CAP, &CAP.replace("60", &(limit + limit / 2).to_string()));
    }
    let tokens = longest_tenth(&mut tokens).map(|limit| TOKENS.replace("300_000", &limit.to_string()));
    Ok(text.replace(TOKENS, tokens.as_deref().unwrap_or("# These recordings hold no token counts.")))
}

/// The value that a tenth of them exceed, rounded up to two digits.
fn longest_tenth(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    let value = (*values.get(values.len() * 9 / 10)?).max(2);
    let unit = 10_u64.pow(value.ilog10().saturating_sub(1));
    Some(value.div_ceil(unit) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_the_lines_that_are_filled_in() {
        for line in [TOKENS, STEPS, CAP] {
            assert_eq!(TEMPLATE.matches(line).count(), 1, "{line}");
        }
    }

    #[test]
    fn a_tenth_is_longer_than_the_limit() {
        assert_eq!(longest_tenth(&mut []), None);
        assert_eq!(longest_tenth(&mut [1]), Some(2));
        let mut counts: Vec<u64> = (1..=20).collect();
        assert_eq!(longest_tenth(&mut counts), Some(19));
        assert_eq!(longest_tenth(&mut [123_456]), Some(130_000));
    }
}
