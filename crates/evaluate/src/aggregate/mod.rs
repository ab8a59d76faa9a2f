//! Computes tables from rows: one row per run and stack in, counts, rates and intervals out. Column names are defined
//! only here; they are a contract.

mod beaten;
mod budget;
mod chains;
mod columns;
mod contest;
mod corrected;
mod detector;
mod estimates;
mod firing;
mod followed;
mod forward;
mod frontier;
mod further;
mod group;
mod label;
mod measure;
mod metrics;
mod outcomes;
mod pairs;
mod period;
mod picked;
mod print;
mod ratios;
mod row;
mod rows;
mod rules;
mod run_effect;
mod savings;
mod ship;
mod strata;
mod summary;
mod sums;
mod tail;
mod task_sums;
mod tasks;

pub use beaten::beaten;
pub use budget::{BudgetCurve, budget_curves};
pub use chains::{ChainPlace, KillBound, Tried, bounds_together, chain_places};
pub use columns::{CellKind, ColumnSpec, FileLine, RecordCell};
pub use contest::{Contest, Entrant, Premises, Rated, Refused, Whole};
pub use corrected::{CorrectedRate, corrected_fes_rate};
pub use detector::Detector;
pub use estimates::Estimates;
pub use firing::{Firing, firings};
pub use followed::{Agreement, FollowedRow, FollowedSummary, agreement, followed_by_stack};
pub use forward::{Forward, ForwardFinding, ForwardPeriod, Held};
pub use frontier::{FrontierPoint, FrontierSpread, REFERENCE, frontier, frontier_spread, frontier_volume};
pub use further::{
    ChosenElsewhere, OracleShare, WorstStratum, chosen_elsewhere, oracle_share, saved_at, stopped_by, worst_stratum,
};
pub use group::{Group, by_stack, by_stratum};
pub use label::Label;
pub use measure::{BestUnit, MeasuredRun, PassedOver, unit_of};
pub use metrics::{
    Made, Measure, Measured, MetricPart, Named, Needs, SUMMARY_VERSION, Shown, SummaryMetric, metric_names, metrics,
    named,
};
pub use outcomes::OutcomeBounds;
pub use pairs::{Difference, Pair, SEED, differences, paired, pairs};
pub use period::{Period, PeriodLength};
pub use picked::Picked;
pub use print::{PrintedRun, fingerprint};
pub use ratios::{CostOfSuccess, SavingRatios};
pub use row::{ExactnessName, RecordedRun, Row, RunRows};
pub use rows::{Firings, FollowedBuilder, FollowedRows, RowView, Rows, RowsBuilder};
pub use rules::{RuleShare, rule_shares};
pub use run_effect::{Ends, RunEffect, Saving, Spending, killed_parts, useful_parts};
pub use savings::Unit;
pub use ship::{
    Candidate, LEAST_SAVED, MIN_KNOWN, ShipDecision, ShipTerms, Standing, TieBreak, allowed, best_allowed, decide,
    is_open,
};
pub use strata::{WorseStratum, worse_stratum};
pub use summary::{LostSuccess, NetBenefit, Summary, bound_kills, price_lost_successes, summarise, summarise_at};
pub use sums::Count;
pub use tail::{Tail, Tails};
pub use task_sums::{
    LEVEL, Over, Share, TaskSums, cost_at_worst, killed_of_all, killed_rate, known_share, saved_at_worst,
};
pub use tasks::resample_tasks;
