//! The counters awaken keeps over a run, and the snapshot of them that its policies see.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::transcript::Fingerprint;

/// How many reply texts are kept; a longer loop window can never be full.
pub(super) const HISTORY: usize = 64;

/// The result of a step's model call.
#[derive(Clone, Debug)]
pub enum Boundary<'r> {
    /// A reply.
    Reply {
        /// Its text; left empty if no policy searches it.
        text: Cow<'r, str>,
        /// Fingerprint of its text; `None` if the text is empty.
        print: Option<Fingerprint>,
        /// The tools it calls, in order.
        tools: Vec<Cow<'r, str>>,
        /// Input tokens; 0 if not reported.
        input: u64,
        /// Output tokens; 0 if not reported.
        output: u64,
    },
    /// The call failed.
    Failed,
    /// There was no call.
    Nothing,
}

/// The counters of one run.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Model calls, including failed and missing ones.
    pub step_count: u32,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Failed calls in a row; a missing reply leaves the count unchanged.
    pub errors: u32,
    /// Fingerprints of the latest non-empty reply texts, oldest first.
    pub recent: VecDeque<Fingerprint>,
}

impl Counters {
    /// Takes a step in.
    pub fn take_in(&mut self, boundary: &Boundary<'_>) {
        self.step_count = self.step_count.saturating_add(1);
        match boundary {
            Boundary::Reply { print, input, output, .. } => {
                self.input = self.input.saturating_add(*input);
                self.output = self.output.saturating_add(*output);
                self.recent.extend(*print);
                if self.recent.len() > HISTORY {
                    self.recent.pop_front();
                }
                self.errors = 0;
            }
            Boundary::Failed => self.errors = self.errors.saturating_add(1),
            Boundary::Nothing => {}
        }
    }

    /// What the policies see after `boundary`, `elapsed_ms` into the run (`None` if not recorded).
    pub fn snapshot<'a>(&'a self, boundary: &'a Boundary<'_>, elapsed_ms: Option<u64>) -> RunStatistics<'a> {
        let (text, tools): (&str, &[Cow<'_, str>]) = match boundary {
            Boundary::Reply { text, tools, .. } => (text, tools),
            Boundary::Failed | Boundary::Nothing => ("", &[]),
        };
        RunStatistics {
            counters: self,
            elapsed_ms,
            // A missing reply reports no streak, although the streak continues internally.
            errors: if matches!(boundary, Boundary::Failed) { self.errors } else { 0 },
            tools,
            text,
        }
    }
}

/// The statistics on which a policy decides.
#[derive(Clone, Copy, Debug)]
pub struct RunStatistics<'a> {
    /// The counters so far.
    pub counters: &'a Counters,
    /// Milliseconds since the run began; `None` if the recording has no times.
    pub elapsed_ms: Option<u64>,
    /// Failed model calls in a row.
    pub errors: u32,
    /// Tools called in this reply.
    pub tools: &'a [Cow<'a, str>],
    /// Text of this reply.
    pub text: &'a str,
}
