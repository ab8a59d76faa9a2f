//! Counts and sums by stack or stratum.
//!
//! A row counts towards one of a few dozen combinations of properties, its class. One fold by class therefore yields
//! every count and every sum of a group.

use super::{ExactnessName, Group, RowView, Rows, Unit};
use crate::transcript::Outcome;
use crate::verdict::Verdict;

/// Declares the properties that rows are counted by, each with its column name.
macro_rules! counts {
    ($($(#[$doc:meta])* $variant:ident $name:literal: $holds:expr,)*) => {
        /// A property that rows are counted by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Count {
            $($(#[$doc])* $variant,)*
        }

        impl Count {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name of its column.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn holds(self, row: RowView<'_>) -> bool {
                let holds: fn(RowView<'_>) -> bool = match self {
                    $(Self::$variant => $holds,)*
                };
                holds(row)
            }
        }
    };
}

counts! {
    /// Runs that were stopped early.
    Stops "stops": |row| row.is_stop(),
    /// Runs that were certainly stopped early.
    Stopped "stopped": |row| row.was_stopped(),
    /// Graded runs with every rule evaluated.
    Judged "judged": |row| row.is_judged(),
    /// Successes among the judged runs.
    JudgedSuccesses "judged_successes": |row| row.is_judged() && row.outcome() == Outcome::Success,
    /// Failures among the judged runs.
    JudgedFailures "judged_failures": |row| row.is_judged() && row.outcome() == Outcome::Failure,
    /// Judged successes that were certainly lost.
    Killed "killed": |row| row.is_judged() && row.killed_low() == 1,
    /// Judged successes that may have been lost.
    KilledMax "killed_max": |row| row.is_judged() && row.killed_high() == 1,
    /// Runs of which something counted is unknown.
    Unknown "unknown": |row| !row.unknown().is_none(),
    /// Runs that record their cost.
    RunsWithCosts "runs_with_costs": |row| row.cost_usd_recorded().is_some(),
    /// Runs without a grade.
    UnlabelledRuns "unlabelled_runs": |row| row.unknown().unlabelled,
    /// Runs on which the stack left the recorded path.
    Diverged "diverged": |row| row.exactness() == ExactnessName::Diverged,
    /// Runs that ended before the stack was done.
    Censored "censored": |row| row.exactness() == ExactnessName::Censored,
    /// Runs that record their tokens.
    RunsWithTokens "runs_with_tokens": |row| row.tokens_recorded().is_some(),
    /// Runs on which a rule could not be evaluated.
    NotEvaluableRuns "not_evaluable_runs": |row| row.unknown().unread,
    /// Runs with a known saving in steps.
    StepsRuns "steps_runs": |row| Unit::Steps.saved(row).is_some(),
    /// Runs with a known saving in tokens.
    TokensRuns "tokens_runs": |row| Unit::Tokens.saved(row).is_some(),
    /// Runs with a known saving in dollars.
    CostUsdRuns "cost_usd_runs": |row| Unit::CostUsd.saved(row).is_some(),
    /// Runs that record how long they took.
    RunsWithTime "ms_recorded": |row| row.ms_recorded().is_some(),
    /// Runs that record how long they took to the stop.
    RunsWithTimeAtStop "ms_at_stop": |row| row.ms_at_stop().is_some(),
}

/// A sum over rows. Recorded and at-stop amounts of a unit count only runs that record both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// The amount of the whole recordings.
    Recorded(Unit),
    /// The amount by the stops.
    AtStop(Unit),
    /// The amount not spent because of the stops.
    Saved(Unit),
    /// Milliseconds recorded.
    Ms,
    /// Milliseconds by the stops.
    MsAtStop,
}

const AMOUNTS: [Sum; 11] = [
    Sum::Recorded(Unit::Steps),
    Sum::AtStop(Unit::Steps),
    Sum::Saved(Unit::Steps),
    Sum::Recorded(Unit::Tokens),
    Sum::AtStop(Unit::Tokens),
    Sum::Saved(Unit::Tokens),
    Sum::Recorded(Unit::CostUsd),
    Sum::AtStop(Unit::CostUsd),
    Sum::Saved(Unit::CostUsd),
    Sum::Ms,
    Sum::MsAtStop,
];

impl Sum {
    /// What a row adds; `None` if it does not record the amount.
    fn amount(self, row: RowView<'_>) -> Option<f64> {
        match self {
            Self::Recorded(unit) => unit.saved(row).and(unit.recorded(row)),
            Self::AtStop(unit) => unit.saved(row).and(unit.at_stop(row)),
            Self::Saved(unit) => unit.saved(row),
            Self::Ms => row.ms_recorded().map(|ms| ms as f64),
            Self::MsAtStop => row.ms_at_stop().map(|ms| ms as f64),
        }
    }
}

/// The properties of a row as bits: one for its verdict, and one for each count that it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u32);

impl Class {
    fn from_row(row: RowView<'_>) -> Self {
        let verdicts = Verdict::ALL.iter().map(|verdict| *verdict == row.verdict());
        let counts = Count::ALL.iter().map(|count| count.holds(row));
        Self(verdicts.chain(counts).zip(0_u32..).fold(0, |bits, (holds, bit)| bits | u32::from(holds) << bit))
    }

    /// Whether its rows are part of a count.
    fn has(self, count: Count) -> bool {
        self.0 >> (Verdict::ALL.len() + count as usize) & 1 == 1
    }

    /// The verdict shared by all rows of the class.
    pub(super) fn verdict(self) -> Verdict {
        let mut verdicts = Verdict::ALL.into_iter().zip(0_u32..);
        let (verdict, _) = verdicts.find(|(_, bit)| self.0 >> bit & 1 == 1).expect("a row has a verdict");
        verdict
    }
}

/// The rows of one class in a group.
#[derive(Clone, Debug)]
struct ClassSums {
    class: Class,
    rows: u64,
    amounts: [f64; AMOUNTS.len()],
}

/// What each row adds to the counts and sums of its group, by ending: many rows share one.
pub(super) struct Addends(Vec<(Class, [f64; AMOUNTS.len()])>);

impl Addends {
    /// Those of all rows of a comparison. An unknown amount adds nothing; the row's class marks it as unknown.
    pub(super) fn from_rows(rows: &Rows) -> Self {
        let of_ending =
            |row: RowView<'_>| (Class::from_row(row), AMOUNTS.map(|amount| amount.amount(row).unwrap_or_default()));
        Self(rows.endings().map(of_ending).collect())
    }
}

/// Counts and sums of one group of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums(Vec<ClassSums>);

impl Sums {
    /// The counts and sums of a group, added up in the order of its rows.
    pub(super) fn from_group(group: &Group<'_>, addends: &Addends) -> Self {
        let mut parts: Vec<ClassSums> = Vec::new();
        for row in group.rows() {
            let (class, amounts) = addends.0[row.ending()];
            let known = parts.iter().position(|part| part.class == class);
            let at = known.unwrap_or_else(|| {
                parts.push(ClassSums { class, rows: 0, amounts: [0.0; AMOUNTS.len()] });
                parts.len() - 1
            });
            let part = &mut parts[at];
            part.rows += 1;
            for (sum, amount) in part.amounts.iter_mut().zip(amounts) {
                *sum += amount;
            }
        }
        Self(parts)
    }

    /// Number of rows in a count.
    pub(super) fn count(&self, count: Count) -> u64 {
        self.0.iter().filter(|part| part.class.has(count)).map(|part| part.rows).sum()
    }

    /// Number of rows with a verdict.
    pub(super) fn with_verdict(&self, verdict: Verdict) -> u64 {
        self.0.iter().filter(|part| part.class.verdict() == verdict).map(|part| part.rows).sum()
    }

    /// A sum over the rows of the classes that `of` accepts.
    pub(super) fn amount(&self, sum: Sum, of: impl Fn(Class) -> bool) -> f64 {
        let place = AMOUNTS.iter().position(|amount| *amount == sum).expect("the list holds every sum");
        self.0.iter().filter(|part| of(part.class)).map(|part| part.amounts[place]).sum()
    }
}
