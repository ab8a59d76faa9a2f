use super::{Options, Reads, Registered, Signal};
use std::collections::BTreeSet;

use crate::decision::Need;
use crate::transcript::{Event, Name, PointView};

/// Experiments reported as completed so far. Each name counts once; unnamed ones count each time.
///
/// Unit: experiments. Changes at: whenever reported. Not evaluable when: the run reports no metrics.
///
/// ## Fires too early when
/// Trivial experiments count as much as real ones.
/// ## Never fires when
/// The status is spelt `finished` or `done`.
#[derive(Debug, Default)]
pub struct ExperimentsCompleted {
    named: BTreeSet<Name>,
    unnamed: usize,
    reported: bool,
}

impl Registered for ExperimentsCompleted {
    const ID: &'static str = "experiments.completed";
    const SUMMARY: &'static str = "experiments reported as completed so far";
    const UNIT: &'static str = "experiments";
    const SOURCE: &'static str = "mira 0.3 maxExperiments";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = true;
    const NEED: Option<Need> = Some(Need::Metrics);

    fn start(_: &Options) -> Self {
        Self::default()
    }
}

impl Signal for ExperimentsCompleted {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        for event in view.news() {
            let Event::Metrics(metrics) = event else { continue };
            self.reported = true;
            if metrics.status.as_deref() != Some("completed") {
                continue;
            }
            match &metrics.experiment {
                Some(name) => {
                    self.named.insert(name.clone());
                }
                None => self.unnamed += 1,
            }
        }
        if self.reported { Some((self.named.len() + self.unnamed) as f64) } else { None }
    }
}
