//! The seven policies, each of which checks one stop condition on one snapshot.

use regex::Regex;

use super::AwakenProfile;
use super::counters::RunStatistics;
use super::spec::StopConditionSpec;
use crate::decision::{Evidence, Need};
use crate::transcript::Fingerprint;

/// A stop condition ready to be checked.
#[derive(Debug)]
pub struct StopPolicy {
    condition: StopConditionSpec,
    /// For a content match, the compiled pattern or its error.
    pattern: Option<Result<Regex, String>>,
}

/// A policy's reason to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyStop {
    /// awaken's code; the run's status reason is `stopped:` followed by it.
    pub code: &'static str,
    /// awaken's message.
    pub detail: String,
    /// The observed value and the limit.
    pub evidence: Evidence,
}

impl StopPolicy {
    /// Compiles the condition. An invalid pattern is kept: it stops the run at the first step.
    pub fn new(condition: StopConditionSpec) -> Self {
        let pattern = match &condition {
            StopConditionSpec::ContentMatch { pattern } => Some(Regex::new(pattern).map_err(|error| error.to_string())),
            _ => None,
        };
        Self { condition, pattern }
    }

    /// awaken's name of the policy.
    pub fn id(&self) -> &'static str {
        self.condition.policy_id()
    }

    /// The rule's name in tables.
    pub fn rule(&self, profile: AwakenProfile) -> String {
        let over = if profile == AwakenProfile::Documented { ">" } else { ">=" };
        match &self.condition {
            StopConditionSpec::MaxRounds { rounds } => format!("max_rounds {over} {rounds}"),
            StopConditionSpec::Timeout { seconds } => format!("timeout > {seconds}s"),
            StopConditionSpec::TokenBudget { max_total } => format!("token_budget > {max_total}"),
            StopConditionSpec::ConsecutiveErrors { max } => format!("consecutive_errors >= {max}"),
            StopConditionSpec::StopOnTool { tool_name } => format!("stop_on_tool {tool_name}"),
            StopConditionSpec::ContentMatch { pattern } => format!("content_match {pattern}"),
            StopConditionSpec::LoopDetection { window } => format!("loop_detection {window}"),
        }
    }

    /// What it needs from a recording.
    pub fn needs(&self) -> &'static [Need] {
        match &self.condition {
            StopConditionSpec::Timeout { seconds: 1.. } => &[Need::Times],
            StopConditionSpec::TokenBudget { max_total: 1.. } => &[Need::Usage],
            StopConditionSpec::ConsecutiveErrors { max } if low_32_bits(*max) > 0 => &[Need::FinishReasons],
            StopConditionSpec::ContentMatch { .. } => &[Need::Texts, Need::ReplyTexts],
            StopConditionSpec::StopOnTool { .. } => &[Need::Calls],
            StopConditionSpec::LoopDetection { .. } => &[Need::Calls, Need::CallArguments, Need::ReplyTexts],
            _ => &[],
        }
    }

    /// True when it searches the reply's text.
    pub fn reads_text(&self) -> bool {
        matches!(self.pattern, Some(Ok(_)))
    }

    /// What it counts, the count and its limit; `None` if it counts nothing.
    pub fn reading(&self, seen: &RunStatistics<'_>) -> Option<(&'static str, Option<f64>, f64)> {
        match &self.condition {
            StopConditionSpec::MaxRounds { rounds: rounds @ 1.. } => {
                Some(("rounds", Some(f64::from(seen.counters.step_count)), *rounds as f64))
            }
            StopConditionSpec::Timeout { seconds: seconds @ 1.. } => {
                Some(("elapsed ms", seen.elapsed_ms.map(|ms| ms as f64), seconds.saturating_mul(1000) as f64))
            }
            StopConditionSpec::TokenBudget { max_total: max @ 1.. } => {
                Some(("tokens", Some(seen.counters.input.wrapping_add(seen.counters.output) as f64), *max as f64))
            }
            StopConditionSpec::ConsecutiveErrors { max } if low_32_bits(*max) > 0 => {
                Some(("errors in a row", Some(f64::from(seen.errors)), f64::from(low_32_bits(*max))))
            }
            _ => None,
        }
    }

    /// Checks it. The published profile stops at the round limit, the documented one only beyond it. Each check below gives
    /// awaken's message and what it compared.
    pub fn evaluate(&self, profile: AwakenProfile, seen: &RunStatistics<'_>) -> Option<PolicyStop> {
        let (detail, evidence) = match &self.condition {
            StopConditionSpec::MaxRounds { rounds } => max_rounds(*rounds, profile, seen),
            StopConditionSpec::Timeout { seconds } => timeout(seconds.saturating_mul(1000), seen),
            StopConditionSpec::TokenBudget { max_total } => token_budget(*max_total as u64, seen),
            StopConditionSpec::ConsecutiveErrors { max } => consecutive_errors(low_32_bits(*max), seen),
            StopConditionSpec::StopOnTool { tool_name } => stop_on_tool(tool_name, seen),
            StopConditionSpec::ContentMatch { pattern } => content_match(pattern, self.pattern.as_ref(), seen),
            StopConditionSpec::LoopDetection { window } => loop_detection(*window, seen),
        }?;
        let is_invalid = matches!(self.pattern, Some(Err(_)));
        let code = if is_invalid { "content_match_invalid_regex" } else { self.id() };
        Some(PolicyStop { code, detail, evidence })
    }
}

/// awaken keeps only 32 bits of this limit, so 4294967296 becomes 0, which is off.
fn low_32_bits(max: usize) -> u32 {
    u32::try_from(max & 0xFFFF_FFFF).unwrap_or(u32::MAX)
}

fn max_rounds(rounds: usize, profile: AwakenProfile, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    let count = seen.counters.step_count as usize;
    let hit = match profile {
        AwakenProfile::Documented => count > rounds,
        AwakenProfile::Published06 => count >= rounds,
    };
    if rounds == 0 || !hit {
        return None;
    }
    let evidence = Evidence::new(count as f64, rounds as f64);
    Some((format!("reached {rounds} rounds"), evidence))
}

fn timeout(limit_ms: u64, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    let elapsed = seen.elapsed_ms.filter(|elapsed| limit_ms > 0 && *elapsed > limit_ms)?;
    let detail = format!("elapsed {elapsed}ms exceeds limit {limit_ms}ms");
    Some((detail, Evidence::new(elapsed as f64, limit_ms as f64)))
}

fn token_budget(max_total: u64, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    // awaken adds without a check, so a released build wraps around.
    let total = seen.counters.input.wrapping_add(seen.counters.output);
    if max_total == 0 || total <= max_total {
        return None;
    }
    let detail = format!("token usage {total} exceeds budget {max_total}");
    Some((detail, Evidence::new(total as f64, max_total as f64)))
}

fn consecutive_errors(max: u32, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    if max == 0 || seen.errors < max {
        return None;
    }
    let detail = format!("{} consecutive inference errors (limit {max})", seen.errors);
    Some((detail, Evidence::new(f64::from(seen.errors), f64::from(max))))
}

fn stop_on_tool(tool: &str, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    if tool.is_empty() || !seen.tools.iter().any(|name| name == tool) {
        return None;
    }
    Some((format!("tool {tool} was requested before execution"), Evidence::NONE))
}

fn content_match(
    pattern: &str,
    compiled: Option<&Result<Regex, String>>,
    seen: &RunStatistics<'_>,
) -> Option<(String, Evidence)> {
    if pattern.is_empty() {
        return None;
    }
    match compiled? {
        Ok(regex) if !regex.is_match(seen.text) => None,
        Ok(_) => Some((format!("response matched stop regex {pattern}"), Evidence::NONE)),
        Err(error) => {
            let detail = format!("content_match stop condition has invalid regex {pattern}: {error}");
            Some((detail, Evidence::NONE))
        }
    }
}

fn loop_detection(window: usize, seen: &RunStatistics<'_>) -> Option<(String, Evidence)> {
    if window < 2 {
        return None;
    }
    let from = seen.counters.recent.len().checked_sub(window)?;
    let mut latest = seen.counters.recent.iter().skip(from);
    let first = latest.next().filter(|first| **first != Fingerprint::from_text(""))?;
    if !latest.all(|print| print == first) {
        return None;
    }
    let detail = format!("same response repeated for {window} steps");
    Some((detail, Evidence::new(window as f64, window as f64)))
}
