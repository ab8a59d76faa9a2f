//! How an estimate was made, and why to read it with care.

use std::fmt;

/// How an interval was computed. The name is printed in the `method` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The denominators sum to 0: there is no estimate.
    Undefined,
    /// An estimate without an interval: too few tasks, or no spread to estimate one from.
    EstimateOnly,
    /// The exact one-sided bounds of a mean over tasks of shares: Gaffke's.
    Gaffke,
    /// Linearised cluster-robust standard error on the logit scale, with t quantiles over tasks.
    LogitT,
    /// Linearised cluster-robust standard error with t quantiles over tasks, corrected for skewness.
    SkewnessCorrectedT,
    /// The same on the logarithm, with the change when a task is left out as its residual.
    LogT,
    /// MOVER: combined from the ends of two intervals.
    Mover,
    /// All values that a t test over tasks does not reject, corrected for label errors.
    FiellerT,
}

impl Method {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::EstimateOnly => "estimate-only",
            Self::Gaffke => "gaffke",
            Self::LogitT => "logit-t",
            Self::SkewnessCorrectedT => "skewness-corrected-t",
            Self::LogT => "log-t",
            Self::Mover => "mover",
            Self::FiellerT => "fieller-t",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an estimate should be read with care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// Too few tasks for an interval.
    TooFewClusters {
        /// Number of tasks.
        clusters: u64,
        /// Tasks needed for an interval of this kind.
        needed: u64,
    },
    /// The interval is approximate: it may cover less often than its level.
    FewClusters {
        /// Number of tasks.
        clusters: u64,
        /// Tasks from which on the interval is trusted.
        needed: u64,
    },
    /// A few large tasks dominate the estimate: the interval rests on them, or on how the small ones differ.
    Dominated {
        /// Share of the largest task, in percent.
        largest: u64,
        /// Effective number of tasks: as many tasks of equal size would have the same weight.
        effective: u64,
    },
    /// Few tasks carry the amount: the interval allows for one more of them, and is approximate.
    FewCarry {
        /// Effective number of tasks that carry the amount.
        tasks: u64,
    },
    /// Every task has the same ratio, so the spread between tasks cannot be estimated.
    NoSpread,
}

impl Warning {
    /// A short form without counts for the `method` column, so that equal methods can be grouped.
    pub fn brief(self) -> String {
        match self {
            Self::TooFewClusters { needed, .. } => format!("below {needed} tasks"),
            Self::FewClusters { needed, .. } => format!("rough below {needed} tasks"),
            Self::Dominated { .. } => "rough: few large tasks".to_owned(),
            Self::FewCarry { .. } => "rough: few tasks carry it".to_owned(),
            Self::NoSpread => "no spread between tasks".to_owned(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewClusters { clusters, needed } => {
                write!(f, "only {clusters} task{}: no interval (at least {needed})", plural(*clusters))
            }
            Self::FewClusters { clusters, needed } => {
                write!(f, "only {clusters} tasks: the interval is rough (at least {needed})")
            }
            Self::Dominated { largest, effective } => write!(
                f,
                "the largest task is {largest} % of the data: the interval is rough (as with {effective} tasks of equal size)"
            ),
            Self::FewCarry { tasks } => write!(
                f,
                "few tasks carry it (as {tasks} with equal amounts would): the interval is rough, and allows for one more such task"
            ),
            Self::NoSpread => f.write_str("all tasks have the same ratio: no interval"),
        }
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
