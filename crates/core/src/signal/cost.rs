use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Moments, PointView, Spend};

/// Dollars spent so far. A step without a cost adds nothing.
///
/// Unit: US dollars. Changes at: after-response. Not evaluable when: the run reports no cost (give a price
/// table to compute it from tokens).
///
/// ## Fires too early when
/// The recording's prices are from another date or tier.
/// ## Never fires when
/// Costs are reported only per run.
#[derive(Debug, Default)]
pub struct Cost(Spend);

impl Registered for Cost {
    const ID: &'static str = "cost";
    const SUMMARY: &'static str = "dollars spent so far";
    const UNIT: &'static str = "usd";
    const SOURCE: &'static str = "mini-swe-agent 2.4 cost_limit; SWE-agent per_instance_cost_limit";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const LOOKS_AT: Moments = Moments::NONE;
    const NEED: Option<Need> = Some(Need::Cost);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Cost {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        self.0.add_all(view.news());
        self.0.cost.map(|cost| decimal(cost.0))
    }
}

/// The sum in whole billionths of a dollar: ten calls at $0.10 are $1, which binary fractions miss.
fn decimal(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_dimes_are_a_dollar() {
        let sum: f64 = std::iter::repeat_n(0.1, 10).sum();
        assert!(sum < 1.0 && decimal(sum) >= 1.0);
        assert!(decimal(0.999_999_99) < 1.0);
    }
}
