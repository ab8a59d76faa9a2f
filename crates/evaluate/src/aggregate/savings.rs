//! What costs and savings are measured in.

use super::RowView;
use super::sums::Count;
use crate::transcript::named;
use crate::verdict::Amounts;

named! {
    /// What a cost or a saving is measured in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Unit {
        /// Model calls.
        Steps = "steps" => "steps",
        /// Input plus output tokens.
        Tokens = "tokens" => "tokens",
        /// US dollars.
        CostUsd = "cost_usd" => "cost",
    }

    /// The unit as a noun for messages.
    pub fn noun() -> &'static str;
}

impl Unit {
    /// The unit itself, for the documentation of columns.
    pub fn words(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::CostUsd => "US dollars",
        }
    }

    /// The runs with a known amount.
    pub(super) fn known_runs(self) -> Count {
        match self {
            Self::Steps => Count::StepsRuns,
            Self::Tokens => Count::TokensRuns,
            Self::CostUsd => Count::CostUsdRuns,
        }
    }

    /// The amount of the whole recording; `None` if the recording does not tell.
    #[inline]
    pub fn recorded(self, row: RowView<'_>) -> Option<f64> {
        match self {
            Self::Steps => Some(row.steps_recorded() as f64),
            Self::Tokens => row.tokens_recorded().map(|tokens| tokens as f64),
            Self::CostUsd => row.cost_usd_recorded(),
        }
    }

    /// The amount spent up to the stop.
    #[inline]
    pub fn at_stop(self, row: RowView<'_>) -> Option<f64> {
        match self {
            Self::Steps => Some(row.steps_at_stop() as f64),
            Self::Tokens => row.tokens_at_stop().map(|tokens| tokens as f64),
            Self::CostUsd => row.cost_usd_at_stop(),
        }
    }

    /// This unit of some amounts; `None` if it is not recorded.
    pub fn amount_in(self, amounts: Amounts) -> Option<f64> {
        match self {
            Self::Steps => Some(amounts.steps as f64),
            Self::Tokens => amounts.tokens.map(|tokens| tokens.0 as f64),
            Self::CostUsd => amounts.cost.map(|cost| cost.0),
        }
    }

    /// The amount spent after the success was secured: 0 if no such point is known, `None` if the recording does not
    /// tell.
    pub fn after_success(self, row: RowView<'_>) -> Option<f64> {
        // Steps are always recorded: without them there is no such point.
        let Some(steps) = row.steps_after_secured() else { return Some(0.0) };
        match self {
            Self::Steps => Some(steps as f64),
            Self::Tokens => row.tokens_after_secured().map(|tokens| tokens as f64),
            Self::CostUsd => row.cost_usd_after_secured(),
        }
    }

    /// The amount not spent because of the stop, on the recorded path.
    #[inline]
    pub fn saved(self, row: RowView<'_>) -> Option<f64> {
        Some((self.recorded(row)? - self.at_stop(row)?).max(0.0))
    }

    /// The amount spent under the stack: at least, and at most (`None` if nothing limits it).
    #[inline]
    pub(super) fn spent_range(self, row: RowView<'_>) -> Option<(f64, Option<f64>)> {
        self.recorded(row)?;
        match self {
            Self::Steps => Some((row.steps_low() as f64, row.steps_high().map(|steps| steps as f64))),
            Self::Tokens => Some((row.tokens_low()? as f64, row.tokens_high().map(|tokens| tokens as f64))),
            Self::CostUsd => Some((row.cost_usd_low()?, row.cost_usd_high())),
        }
    }
}
