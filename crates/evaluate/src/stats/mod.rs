//! Statistics over plain numbers; this module knows nothing of runs, files or figures.
//!
//! The unit of replication is the task: runs of one task are a cluster, and every interval and every test here counts
//! tasks, not runs. [`task_rate()`] is the entry point for a share of runs, [`estimate::ratio_estimate`] for amounts: sum
//! over sum (a share of tokens, a mean). What cannot be computed is `None` with a reason, never 0. Nothing reads a clock;
//! randomness comes from a seed.

pub mod anytime;
pub mod bootstrap;
pub mod bounds;
pub mod certificate;
pub mod cluster;
pub mod cost;
pub mod difference;
pub mod distribution;
pub mod estimate;
mod exponential_sums;
pub mod frontier;
pub mod gaffke;
pub mod incidence;
pub mod interval;
pub mod label_rate;
pub mod labels;
mod lost;
mod method;
pub mod multiplicity;
pub mod paired;
pub mod range;
pub mod residual;
mod seldom;
pub mod shares;
pub mod split;
pub mod task_rate;
pub mod worth;

pub use bootstrap::{Replicates, Resamples, cluster_key};
pub use bounds::{BoundSums, bound_difference, bound_mean};
pub use certificate::{Bound, error_at};
pub use cluster::{ClusterSums, Spread};
pub use cost::{CostSums, cost_estimate, cost_of_success, worth_at_cost};
pub use difference::{DifferenceEstimate, PairedSums, RatioDifference, ratio_difference};
pub use estimate::{Estimate, Method, Warning, positive_ratio_estimate, ratio_estimate};
pub use interval::Interval;
pub use multiplicity::{Adjustment, Contrast, SweepTest, adjust_sweep};
pub use paired::PairedCounts;
pub use range::RangeEstimate;
pub use shares::{ShareDifference, difference_of_shares};
pub use task_rate::{loss_rate, task_rate};
pub use worth::{WorthSums, break_even, net_worth};
