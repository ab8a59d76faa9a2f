//! The tests behind a certificate: that the rate of killed successes is at most alpha, with confidence 1 - delta over new
//! tasks of the same kind.
//!
//! Angelopoulos, Bates, Candes, Jordan & Lei (2021), Learn then test, arXiv 2110.01052.

use super::gaffke::Surpluses;

/// The probability of error at a confidence, without the last bits of a difference.
pub fn error_at(confidence: f64) -> f64 {
    (1e12 * (1.0 - confidence)).round() / 1e12
}

/// The test behind the p-values of a certificate. Chosen before the recordings are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// Gaffke's statistic over task losses in [0, 1]; with one successful run a task it is the exact binomial tail.
    #[default]
    Gaffke,
    /// A mixture of bets: less powerful, but may be checked after every task, and rests on Ville's inequality alone.
    Betting,
}

impl Bound {
    /// The name on the certificate.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaffke => "gaffke",
            Self::Betting => "betting",
        }
    }

    /// The theorem that the certificate rests on.
    pub fn theorem(self) -> &'static str {
        match self {
            Self::Gaffke => "Gaffke's statistic (2005), valid by Vlassis & Thomas, arXiv 2607.08415, theorem 1 (2026)",
            Self::Betting => "Ville's inequality (1939) for a mixture of bets (Waudby-Smith & Ramdas 2024)",
        }
    }

    /// The p-value of "the mean loss is too high" from the surplus of each task; 1 without tasks. With one run per task the losses are 0
    /// or 1, and Gaffke's statistic is the exact binomial tail.
    pub fn p_value(self, surpluses: &Surpluses) -> f64 {
        if surpluses.values.is_empty() {
            return 1.0;
        }
        match self {
            Self::Gaffke => surpluses.gaffke(),
            Self::Betting => surpluses.betting(),
        }
    }
}
