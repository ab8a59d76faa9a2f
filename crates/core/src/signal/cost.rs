use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{PointView, Spend};

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
    const NEED: Option<Need> = Some(Need::Cost);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for Cost {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for event in view.news() {
            self.0.add(event);
        }
        self.0.cost.map(|cost| cost.0)
    }
}
