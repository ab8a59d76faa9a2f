use foldhash::HashSet;

use super::calls::{is_exempt, print_of};
use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Fingerprint, Moment, Moments, PointView};

/// Share of the latest `window` (default 10) calls that repeat an earlier call of the run. Until there are that many
/// calls, the missing ones count as new: 2 repeated calls of 4 read 0.2, not 0.5.
///
/// Unit: share, 0 to 1. Changes at: after-tools. Options: `window`, `identity`, `exempt_tools`, `only_tools`. Always
/// evaluable.
///
/// ## Fires too early when
/// The agent re-runs its tests and re-reads its files after each of many edits.
/// ## Never fires when
/// An argument contains a counter or a timestamp.
#[derive(Debug)]
pub struct CallRepeated {
    options: Options,
    seen: HashSet<Fingerprint>,
    /// For each of the latest calls, whether it was a repeat.
    latest: Latest<bool>,
}

impl Registered for CallRepeated {
    const ID: &'static str = "call.repeated";
    const SUMMARY: &'static str = "share of the latest calls that repeat an earlier call of the run";
    const UNIT: &'static str = "share";
    const SOURCE: &'static str = "browser-use 0.13 loop_detector (equal actions among the latest)";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["window", "identity", "exempt_tools", "only_tools"];
    const CONTENTS: &'static [Need] = &[Need::CallArguments];

    fn start(options: &Options) -> Self {
        let latest = Latest::over(options.window.unwrap_or(10));
        Self { options: options.clone(), seen: HashSet::default(), latest }
    }
}

impl Signal for CallRepeated {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            for call in reply.tool_calls.iter().filter(|call| !is_exempt(&call.name, &self.options)) {
                self.latest.push(!self.seen.insert(print_of(call, &self.options.identity)));
            }
        }
        let repeated = self.latest.items.iter().filter(|repeated| **repeated).count();
        Some(repeated as f64 / self.latest.window as f64)
    }
}
