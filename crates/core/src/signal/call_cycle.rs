use super::calls::{Asked, asked};
use super::latest::Latest;
use super::{Options, Reads, Registered, Signal};
use crate::decision::Need;
use crate::transcript::{Fingerprint, Moment, Moments, PointView};

/// How many times in a row the latest steps with calls went through the same cycle of 1 to `window` (default 5) steps.
/// The cycle length with the most repeats counts. `A B A B A B` reads 3.
///
/// Unit: times. Changes at: after-tools. Options: `identity`, `exempt_tools`, `only_tools`, `any_order` (of parallel
/// calls), `window` (longest cycle). Always evaluable; a step without calls resets it.
///
/// ## Fires too early when
/// A legitimate edit-test-edit-test rhythm with equal arguments.
/// ## Never fires when
/// The cycle is longer than the window, or one argument in it changes.
#[derive(Debug)]
pub struct CallCycle {
    options: Options,
    history: Latest<Fingerprint>,
    /// For each cycle length k: how many consecutive steps equalled the step k before.
    matched: Vec<u32>,
}

impl Registered for CallCycle {
    const ID: &'static str = "call.cycle";
    const SUMMARY: &'static str = "how often the latest steps repeat one cycle of calls";
    const UNIT: &'static str = "times";
    const SOURCE: &'static str =
        "Gemini CLI 0.61 cycle detection (k <= 5, 5 repeats); OpenHands SDK 1.58 alternating_pattern";
    const READS: Reads = Reads::Calls;
    const TAKES_STEPS: bool = false;
    const ACCUMULATES: bool = false;
    const LOOKS_AT: Moments = Moments::only(Moment::AfterTools);
    const OPTIONS: &'static [&'static str] = &["identity", "exempt_tools", "only_tools", "window", "any_order"];
    const CONTENTS: &'static [Need] = &[Need::CallArguments];

    fn start(options: &Options) -> Self {
        let longest = options.window.unwrap_or(5).clamp(1, 1000);
        Self { options: options.clone(), history: Latest::over(longest), matched: vec![0; longest] }
    }
}

impl Signal for CallCycle {
    fn observe(&mut self, view: &PointView<'_>) -> Option<f64> {
        if let (Moment::AfterTools, Some(reply)) = (view.moment(), view.reply()) {
            match asked(reply, &self.options) {
                Asked::Nothing => {
                    self.history.items.clear();
                    self.matched.fill(0);
                }
                Asked::OnlyExempt => {}
                Asked::Calls(print) => self.take(print),
            }
        }
        Some(f64::from(self.repeats()))
    }
}

impl CallCycle {
    fn take(&mut self, print: Fingerprint) {
        for (index, matched) in self.matched.iter_mut().enumerate() {
            let before = self.history.items.iter().nth_back(index);
            *matched = if before == Some(&print) { *matched + 1 } else { 0 };
        }
        self.history.push(print);
    }

    /// Every k matches complete one more repeat of a cycle of length k.
    fn repeats(&self) -> u32 {
        let cycles = self.matched.iter().zip(1u32..).map(|(&matched, length)| matched / length + 1);
        if self.history.items.is_empty() { 0 } else { cycles.max().unwrap_or(0) }
    }
}
