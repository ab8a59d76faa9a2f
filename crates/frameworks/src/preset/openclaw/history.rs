//! OpenClaw's history of calls, and the counts taken from it.

use serde_json::Value;

use super::config::{LoopDetection, Release};
use super::outcome::CallOutcome;
use crate::transcript::{Fingerprint, Name};

/// A call in the history.
#[derive(Clone, Debug)]
pub(super) struct CallRecord {
    pub(super) tool: Name,
    /// Fingerprint of the tool and its arguments.
    pub(super) call: Fingerprint,
    pub(super) id: Option<Name>,
    /// Its outcome; not known yet if it has no fingerprint and was not refused.
    pub(super) outcome: CallOutcome,
}

/// A requested call, before and while it runs.
#[derive(Clone, Debug)]
pub(super) struct RequestedCall {
    pub(super) tool: Name,
    pub(super) call: Fingerprint,
    pub(super) id: Option<Name>,
    pub(super) arguments: Value,
    pub(super) is_poll: bool,
}

/// A detector's finding on a call.
#[derive(Clone, Debug)]
pub(super) struct DetectorFinding {
    pub(super) critical: bool,
    pub(super) detector: &'static str,
    pub(super) count: usize,
    pub(super) limit: usize,
    pub(super) words: String,
    /// Under the same key, a warning is given once per ten counts.
    pub(super) key: WarningKey,
}

/// The key by which warnings are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WarningKey {
    Call(Fingerprint),
    Poll(Fingerprint, Option<Fingerprint>),
    Pair(Fingerprint, Fingerprint),
    Tool(Name),
}

/// Equal results in a row.
#[derive(Clone, Copy, Debug)]
struct OutcomeStreak {
    count: usize,
    /// The latest result; `None` if there is none, for example if only refused calls were counted.
    latest: Option<Fingerprint>,
}

/// The last calls of a run, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct CallHistory(Vec<CallRecord>);

/// The fewest calls of each variant in a churn.
const OF_EACH_VARIANT: usize = 3;

impl CallHistory {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a call without trimming, so that a reply's later calls are judged with its earlier ones in the history.
    pub(super) fn foresee(&mut self, entry: CallRecord) {
        self.0.push(entry);
    }

    pub(super) fn push(&mut self, entry: CallRecord, size: usize) {
        self.0.push(entry);
        if self.0.len() > size {
            self.0.drain(..self.0.len() - size);
        }
    }

    /// Records a call's outcome. A call that has already left the history is added again as a new entry.
    pub(super) fn settle(&mut self, done: CallRecord, size: usize) {
        if done.outcome.print.is_none() && !done.outcome.refused {
            return;
        }
        let is_it = |entry: &&mut CallRecord| {
            (done.id.is_none() || entry.id == done.id)
                && entry.tool == done.tool
                && entry.call == done.call
                && entry.outcome.print.is_none()
                && !entry.outcome.refused
        };
        match self.0.iter_mut().rev().find(is_it) {
            Some(entry) => entry.outcome = done.outcome,
            None => self.push(done, size),
        }
    }

    /// The first detector that fires on the requested call.
    pub(super) fn judge(&self, asked: &RequestedCall, limits: &LoopDetection) -> Option<DetectorFinding> {
        let streak = self.streak(asked, limits.release == Release::Constants);
        self.missing_tool(asked, limits)
            .or_else(|| stuck(asked, limits, streak))
            .or_else(|| self.alternation(asked, limits))
            .or_else(|| self.repetition(asked, limits, streak))
    }

    /// Fires on calls of a tool that does not exist.
    fn missing_tool(&self, asked: &RequestedCall, limits: &LoopDetection) -> Option<DetectorFinding> {
        let (count, missing) = self.unknown(&asked.tool);
        let limit = limits.unknown;
        if count < limit {
            return None;
        }
        let words = format!(
            "CRITICAL: attempted unavailable tool {missing} {count} times. \
             Stop retrying that missing tool and answer without it."
        );
        let key = WarningKey::Tool(asked.tool.clone());
        Some(DetectorFinding { critical: true, detector: "unknown_tool_repeat", count, limit, words, key })
    }

    /// Fires on two calls in turn.
    fn alternation(&self, asked: &RequestedCall, limits: &LoopDetection) -> Option<DetectorFinding> {
        let (count, other, has_one_result) = self.ping_pong(asked.call).filter(|_| limits.ping_pong)?;
        let key = WarningKey::Pair(asked.call.min(other), asked.call.max(other));
        let detector = "ping_pong";
        if count >= limits.critical && has_one_result {
            let words = format!(
                "CRITICAL: You are alternating between repeated tool-call patterns ({count} consecutive calls) with no \
                 progress. This appears to be a stuck ping-pong loop. Session execution blocked to prevent resource waste."
            );
            return Some(DetectorFinding { critical: true, detector, count, limit: limits.critical, words, key });
        }
        if count < limits.warning {
            return None;
        }
        let words = format!(
            "WARNING: You are alternating between repeated tool-call patterns ({count} consecutive calls). \
             This looks like a ping-pong loop; stop retrying and report the task as failed."
        );
        Some(DetectorFinding { critical: false, detector, count, limit: limits.warning, words, key })
    }

    /// Fires on the same call again, and on a tool's calls that change nothing.
    fn repetition(
        &self,
        asked: &RequestedCall,
        limits: &LoopDetection,
        streak: OutcomeStreak,
    ) -> Option<DetectorFinding> {
        let tool = &asked.tool;
        let constants = limits.release == Release::Constants;
        let watches_repeats = !asked.is_poll && limits.generic;
        if watches_repeats && streak.count >= limits.critical {
            let (count, limit) = (streak.count, limits.critical);
            let arguments = if constants { "" } else { "identical arguments and " };
            let words = format!(
                "CRITICAL: Called {tool} with {arguments}identical outcomes {count} times. \
                 Session execution blocked to prevent runaway loops."
            );
            let (detector, key) = ("generic_repeat", WarningKey::Poll(asked.call, streak.latest));
            return Some(DetectorFinding { critical: true, detector, count, limit, words, key });
        }
        let limit = limits.warning;
        let (churned, variants) = if constants { self.churn(asked) } else { (0, 0) };
        if churned >= limit {
            let words = format!(
                "WARNING: {tool} has cycled through {variants} repeated argument patterns with the same stable outcome \
                 {churned} times. Continued churn is treated as stalled run activity, but this tool call remains allowed."
            );
            let key = WarningKey::Tool(tool.clone());
            let detector = "argument_churn";
            return Some(DetectorFinding { critical: false, detector, count: churned, limit, words, key });
        }
        let repeats = self.0.iter().filter(|entry| entry.call == asked.call).count();
        if !watches_repeats || repeats < limit {
            return None;
        }
        let words = format!(
            "WARNING: You have called {tool} {repeats} times with identical arguments. \
             If this is not making progress, stop retrying and report the task as failed."
        );
        let key = WarningKey::Call(asked.call);
        let detector = "generic_repeat";
        Some(DetectorFinding { critical: false, detector, count: repeats, limit, words, key })
    }

    /// How many of this tool's latest consecutive entries had an error that names the same missing tool, and its name.
    fn unknown(&self, tool: &Name) -> (usize, &str) {
        let of_tool = self.0.iter().rev().take_while(|entry| entry.tool == *tool);
        let mut named = of_tool.map_while(|entry| entry.outcome.missing.as_deref()).peekable();
        let Some(first) = named.peek().copied() else { return (0, "") };
        (named.take_while(|name| *name == first).count(), first)
    }

    /// The equal results in a row, up to the latest one.
    fn streak(&self, asked: &RequestedCall, constants: bool) -> OutcomeStreak {
        let same_call = self.same_results(asked);
        if !constants || &*asked.tool != "exec" {
            return same_call;
        }
        let same_failure = self.same_failures(asked);
        if same_failure.count > same_call.count { same_failure } else { same_call }
    }

    /// Counts backwards over entries of this call, skipping other calls, for as long as the result equals the latest
    /// one. A refused call counts with the equal result before it; if there are no results, only refused calls are
    /// counted.
    fn same_results(&self, asked: &RequestedCall) -> OutcomeStreak {
        let (mut count, mut refused, mut latest) = (0, 0, None);
        for entry in self.0.iter().rev().filter(|entry| entry.call == asked.call) {
            if entry.outcome.refused {
                refused += 1;
                continue;
            }
            let Some(print) = entry.outcome.print else { continue };
            if latest.is_some_and(|latest| latest != print) {
                break;
            }
            latest = Some(print);
            count += std::mem::take(&mut refused) + 1;
        }
        OutcomeStreak { count: if latest.is_some() { count } else { refused }, latest }
    }

    /// For `exec`: consecutive failures with the same result or the same shape, whatever the command. Once an entry
    /// with another command has been passed, an entry with the requested command ends the count.
    fn same_failures(&self, asked: &RequestedCall) -> OutcomeStreak {
        let (mut count, mut refused, mut passed_another) = (0, 0, false);
        let mut latest: Option<(Fingerprint, Fingerprint)> = None;
        for entry in self.0.iter().rev().take_while(|entry| entry.tool == asked.tool) {
            if entry.outcome.refused {
                refused += 1;
                continue;
            }
            let Some(print) = entry.outcome.print else { continue };
            let Some(shape) = entry.outcome.failure else { break };
            let is_other = entry.call != asked.call;
            if let Some((first_print, first_shape)) = latest {
                if passed_another && !is_other {
                    break;
                }
                passed_another |= is_other;
                if print != first_print && shape != first_shape {
                    break;
                }
            } else {
                latest = Some((print, shape));
                passed_another = is_other;
            }
            count += std::mem::take(&mut refused) + 1;
        }
        OutcomeStreak { count, latest: latest.map(|(print, _)| print) }
    }

    /// The tail of the history that alternates between the last call and the latest other one, if the other one is
    /// requested again. Returns its length including the requested call, the last call, and whether each side always
    /// had the same result.
    fn ping_pong(&self, asked: Fingerprint) -> Option<(usize, Fingerprint, bool)> {
        let last = self.0.last()?.call;
        let other = self.0.iter().rev().find(|entry| entry.call != last)?.call;
        let expected = [last, other];
        let tail = self.0.iter().rev().enumerate().take_while(|(nth, entry)| entry.call == expected[nth % 2]).count();
        if tail < 2 || asked != other {
            return None;
        }
        let tail_entries = &self.0[self.0.len() - tail..];
        let one_result = |call: Fingerprint| {
            let mut prints = tail_entries.iter().filter(|entry| entry.call == call).map(|entry| entry.outcome.print);
            let first = prints.next().flatten();
            first.is_some() && prints.all(|print| print == first)
        };
        Some((tail + 1, last, one_result(last) && one_result(other)))
    }

    /// The tool's latest consecutive entries that made no progress: their number, and how many variants of arguments
    /// they have. Both are 0 unless there are at least two variants, each occurs often enough, all have the same
    /// result, and the requested call is one of them.
    fn churn(&self, asked: &RequestedCall) -> (usize, usize) {
        let mut variants: Vec<(Fingerprint, Fingerprint, usize)> = Vec::new();
        for entry in self.0.iter().rev().take_while(|entry| entry.tool == asked.tool) {
            let Some(print) = entry.outcome.print else { continue };
            if !entry.outcome.no_progress {
                break;
            }
            match variants.iter_mut().find(|(call, _, _)| *call == entry.call) {
                Some((_, known, _)) if *known != print => break,
                Some((_, _, count)) => *count += 1,
                None => variants.push((entry.call, print, 1)),
            }
        }
        let one_result = variants.iter().all(|(_, print, _)| *print == variants[0].1);
        let often = variants.iter().all(|(_, _, count)| *count >= OF_EACH_VARIANT);
        let is_one = variants.iter().any(|(call, _, _)| *call == asked.call);
        if variants.len() < 2 || !one_result || !often || !is_one {
            return (0, 0);
        }
        (variants.iter().map(|(_, _, count)| count).sum(), variants.len())
    }
}

/// Fires on a call whose results stay the same: on any call at the breaker's limit, and before that on one that polls.
fn stuck(asked: &RequestedCall, limits: &LoopDetection, streak: OutcomeStreak) -> Option<DetectorFinding> {
    let tool = &asked.tool;
    let OutcomeStreak { count, latest } = streak;
    let key = WarningKey::Poll(asked.call, latest);
    if count >= limits.breaker {
        let has = if limits.release == Release::Constants { "" } else { "has " };
        let words = format!(
            "CRITICAL: {tool} {has}repeated identical no-progress outcomes {count} times. \
             Session execution blocked by global circuit breaker to prevent runaway loops."
        );
        let (detector, limit) = ("global_circuit_breaker", limits.breaker);
        return Some(DetectorFinding { critical: true, detector, count, limit, words, key });
    }
    // No count at the critical limit is below the warning's: `LoopDetection` keeps `warning <= critical`.
    if !(asked.is_poll && limits.polls) || count < limits.warning {
        return None;
    }
    let critical = count >= limits.critical;
    let words = if critical {
        format!(
            "CRITICAL: Called {tool} with identical arguments and no progress {count} times. \
             This appears to be a stuck polling loop. Session execution blocked to prevent resource waste."
        )
    } else {
        format!(
            "WARNING: You have called {tool} {count} times with identical arguments and no progress. \
             Stop polling and either (1) increase wait time between checks, or (2) report the task as failed if the \
             process is stuck."
        )
    };
    let limit = if critical { limits.critical } else { limits.warning };
    Some(DetectorFinding { critical, detector: "known_poll_no_progress", count, limit, words, key })
}
