//! What is asked of the catalogue.

use serde::{Deserialize, Serialize};

use super::{Appetite, Family, KeptReadings, catalogue, pool};
use crate::stats::{Bound, error_at};
use crate::words::chosen_percent;

/// What is asked of the catalogue: everything that the answer depends on besides the recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneQuestion {
    /// The share of successes that may be killed, averaged over tasks.
    pub max_killed: f64,
    /// How sure the certificate is.
    pub confidence: f64,
    /// Whether the certificate is to hold whenever it is looked at.
    pub anytime: bool,
    /// What a lost success costs, in dollars.
    pub lost_success_costs: Option<f64>,
    /// What the budget counts, one of [`BUDGETS`](super::BUDGETS).
    pub budget: String,
    /// Whether a list of rules is learned.
    pub learn: bool,
    /// Whether it is learned on all tasks.
    pub cross_fit: bool,
    /// What a run is called: `runs` or `rounds`.
    pub noun: String,
    /// How many of the strategies shown for comparison run today; the others are presets.
    pub n_today: usize,
}

impl TuneQuestion {
    /// What is required of what is shipped.
    pub fn appetite(&self) -> Appetite {
        Appetite {
            alpha: self.max_killed,
            delta: error_at(self.confidence),
            bound: if self.anytime { Bound::Betting } else { Bound::Gaffke },
            lost_success_costs: self.lost_success_costs,
        }
    }

    /// The families that are walked, or that a list is made of.
    pub fn families(&self) -> Vec<Family> {
        if self.learn { pool(&self.budget) } else { catalogue(&self.budget) }
    }

    /// The readings that are needed of each run.
    pub fn kept(&self) -> KeptReadings {
        if self.learn { KeptReadings::All } else { KeptReadings::Records }
    }

    /// What is promised, in one clause.
    pub fn promise(&self) -> String {
        promise(self.max_killed, self.confidence)
    }
}

/// What is promised of a killed share and with what confidence, in one clause.
pub fn promise(max_killed: f64, confidence: f64) -> String {
    let (alpha, confidence) = (chosen_percent(max_killed), chosen_percent(confidence));
    format!("at most {alpha} of successes killed, averaged over tasks, with {confidence} confidence")
}
