//! What stops saved, split by the run's outcome: a success stopped early saves nothing.

use super::RowView;
use super::sums::{Count, Sum, Sums};
use crate::verdict::{Amounts, Verdict};

/// What a cost or a saving is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Model calls.
    Steps,
    /// Input plus output tokens.
    Tokens,
    /// US dollars.
    CostUsd,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 3] = [Self::Steps, Self::Tokens, Self::CostUsd];

    /// The prefix of the unit's column names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::CostUsd => "cost_usd",
        }
    }

    /// The unit as a noun for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::CostUsd => "cost",
        }
    }

    /// The unit itself, for the documentation of columns.
    pub fn words(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::CostUsd => "US dollars",
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
    pub fn of_amounts(self, amounts: Amounts) -> Option<f64> {
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

/// What a group's stops saved in one unit: sums on the recorded path, over every run with a known amount.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Savings {
    /// Runs with a known amount.
    pub runs: u64,
    /// Total recorded.
    pub recorded: f64,
    /// Total spent by the stops.
    pub at_stop: f64,
    /// Total not spent, over all verdicts.
    pub saved: f64,
    /// The part saved on failed runs.
    pub on_failures: f64,
    /// The part saved after a success was secured.
    pub after_success: f64,
    /// The part saved on runs without a known outcome.
    pub unlabelled: f64,
    /// The part from false early stops: forfeited work, not a saving.
    pub forfeited: f64,
}

impl Savings {
    /// Reads the totals of `unit` from `sums`. `None` if no run records it.
    pub(super) fn from_sums(sums: &Sums, unit: Unit) -> Option<Self> {
        let runs = sums.count(match unit {
            Unit::Steps => Count::StepsRuns,
            Unit::Tokens => Count::TokensRuns,
            Unit::CostUsd => Count::CostUsdRuns,
        });
        let saved = |of: fn(Verdict) -> bool| sums.amount(Sum::Saved(unit), |class| of(class.verdict()));
        if runs == 0 {
            return None;
        }
        Some(Self {
            runs,
            recorded: sums.amount(Sum::Recorded(unit), |_| true),
            at_stop: sums.amount(Sum::AtStop(unit), |_| true),
            saved: saved(|_| true),
            on_failures: saved(|verdict| matches!(verdict, Verdict::TrueStop | Verdict::Rescued)),
            after_success: saved(|verdict| verdict == Verdict::GoodTrim),
            unlabelled: saved(|verdict| verdict == Verdict::Unlabelled),
            forfeited: saved(Verdict::is_fes),
        })
    }
}
