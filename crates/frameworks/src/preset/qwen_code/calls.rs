//! Qwen Code's counts of tool calls within a prompt.

use std::collections::VecDeque;

use foldhash::HashMap;
use serde_json::Value;

use super::shell::is_overview;
use crate::preset::frame::counters::StreakCounter;
use crate::preset::frame::identity::{KeyOrder, arguments, js_text};
use crate::transcript::{Fingerprint, Message, Name, ToolCall};

/// Limits: the same call in a row; overviews in a row; the same call in one prompt; the same name in a row.
const SAME: u32 = 5;
const OVERVIEWS: u32 = 8;
pub(super) const DUPLICATES: u32 = 6;
const STAGNANT: u32 = 8;
/// How many of the last calls may be reads, and how many calls are considered.
const READS: usize = 8;
const READ_WINDOW: usize = 15;
/// Calls in the alternating pattern: A and B, three times.
const ALTERNATING: usize = 6;
/// Beyond this multiple of the cap, every call is stopped.
const HARD: f64 = 10.0;
/// A tool whose results are compared: the same call with a different result is progress.
const STATEFUL: &str = "task_list";

/// `maxToolCallsPerTurn`, and whether it was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallCap {
    pub(super) calls: f64,
    pub(super) is_set: bool,
}

impl CallCap {
    pub(super) fn is_passed(self, calls: u64, repeats: u32) -> bool {
        let calls = calls as f64;
        calls > self.calls && (self.is_set || calls > self.calls * HARD || repeats >= DUPLICATES)
    }
}

/// A call as the rules see it.
#[derive(Clone, Debug)]
pub(super) struct SeenCall {
    name: Name,
    key: Fingerprint,
    is_overview: bool,
    id: Option<Name>,
}

/// Maps a tool's former name to its current one.
fn canonical(name: &str) -> &str {
    match name {
        "search_file_content" => "grep_search",
        "replace" => "edit",
        "task" => "agent",
        other => other,
    }
}

/// The key by which two calls are considered the same.
pub(super) fn key_of(name: &str, given: &Value) -> Fingerprint {
    Fingerprint::from_text(&format!("{}:{}", canonical(name), js_text(given, KeyOrder::Sorted)))
}

impl SeenCall {
    /// A call through the bridge tool counts as the call it wraps.
    pub(super) fn from_call(call: &ToolCall) -> Self {
        let whole = arguments(call);
        let mut given = &*whole;
        let mut name = call.name.clone();
        if &*name == "tool_call"
            && let Some(target) = given["name"].as_str()
        {
            name = Name::from(canonical(target).to_lowercase().as_str());
            if given["arguments"].is_object() {
                given = &given["arguments"];
            }
        }
        let is_overview = &*name == "run_shell_command" && given["command"].as_str().is_some_and(is_overview);
        Self { key: key_of(&name, given), is_overview, name, id: call.id.clone() }
    }

    fn is_stateful(&self) -> bool {
        &*self.name == STATEFUL
    }

    fn is_read(&self) -> bool {
        &*self.name == "zoom_image" || self.name.starts_with("read_") || self.name.starts_with("list_")
    }
}

/// The results of a stateful read.
#[derive(Clone, Copy, Debug, Default)]
struct Results {
    observed: u32,
    unchanged: u32,
    last: Option<Fingerprint>,
    /// Equal results in a row, regardless of other calls in between.
    in_a_row: u32,
}

/// The counts of one prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptCounts {
    same: StreakCounter<Fingerprint>,
    overviews: u32,
    total: u64,
    /// The total when the last request was completed.
    committed: u64,
    by_key: HashMap<Fingerprint, u32>,
    most: u32,
    duplicates: HashMap<Fingerprint, u32>,
    last_keys: VecDeque<Fingerprint>,
    last_reads: VecDeque<bool>,
    seen_other: bool,
    same_name: StreakCounter<Name>,
    results: HashMap<Fingerprint, Results>,
    /// Stateful calls whose results have not arrived.
    awaited: Vec<SeenCall>,
}

impl PromptCounts {
    /// The rules that only the session's user can switch off: consecutive, shell, cap.
    pub(super) fn always(&mut self, call: &SeenCall, cap: CallCap) -> Option<(&'static str, u64, f64)> {
        if call.is_stateful() {
            self.awaited.push(call.clone());
        } else {
            let count = self.by_key.entry(call.key).or_default();
            *count += 1;
            self.most = self.most.max(*count);
        }
        if self.is_same(call) {
            return Some(("consecutive_identical_tool_calls", u64::from(self.same.count()), f64::from(SAME)));
        }
        self.overviews = if call.is_overview { self.overviews + 1 } else { 0 };
        if self.overviews >= OVERVIEWS {
            return Some(("shell_command_stagnation", u64::from(self.overviews), f64::from(OVERVIEWS)));
        }
        self.total += 1;
        if !cap.is_passed(self.total, self.most) {
            return None;
        }
        Some(("turn_tool_call_cap", self.total, cap.calls))
    }

    fn is_same(&mut self, call: &SeenCall) -> bool {
        let before = self.same.last().copied();
        let same = self.same.push(call.key);
        if same == 1 {
            for key in before.into_iter().chain([call.key]) {
                if let Some(results) = self.results.get_mut(&key) {
                    (results.observed, results.unchanged) = (0, 0);
                }
            }
        }
        if same < SAME {
            return false;
        }
        // If all results were seen and one of them differed, the same call made progress.
        let expected = same - 1;
        if call.is_stateful()
            && let Some(results) = self.results.get_mut(&call.key)
            && results.observed >= expected
            && results.unchanged + 1 < expected
        {
            self.same.restart();
            (results.observed, results.unchanged) = (0, 0);
            return false;
        }
        true
    }

    /// The opt-in rules: duplicate, alternating, reads, stagnation. All are counted; if several fire, the last one
    /// names the loop.
    pub(super) fn opt_in(&mut self, call: &SeenCall) -> Option<(&'static str, u64, f64)> {
        self.last_reads.push_back(call.is_read());
        if self.last_reads.len() > READ_WINDOW {
            self.last_reads.pop_front();
        }
        self.seen_other |= !call.is_read();
        let same_name = self.same_name.push(call.name.clone());
        let mut found = None;
        if !call.is_stateful() {
            let count = self.duplicates.entry(call.key).or_default();
            *count += 1;
            if *count >= DUPLICATES {
                found = Some(("global_tool_call_duplicate", u64::from(*count), f64::from(DUPLICATES)));
            }
        }
        self.last_keys.push_back(call.key);
        if self.last_keys.len() > ALTERNATING {
            self.last_keys.pop_front();
        }
        let alternates = self.last_keys.len() == ALTERNATING
            && self.last_keys[0] != self.last_keys[1]
            && self.last_keys.iter().enumerate().all(|(nth, key)| *key == self.last_keys[nth % 2]);
        if alternates {
            found = Some(("alternating_tool_call_pattern", ALTERNATING as u64, ALTERNATING as f64));
        }
        let reads = self.last_reads.iter().filter(|is_read| **is_read).count();
        if self.seen_other && reads >= READS {
            found = Some(("read_file_loop", reads as u64, READS as f64));
        }
        if same_name >= STAGNANT {
            found = Some(("action_stagnation", u64::from(same_name), f64::from(STAGNANT)));
        }
        found
    }

    /// Whether the result belongs to a call whose result is awaited.
    pub(super) fn awaits(&self, result: &Message) -> bool {
        self.awaited.iter().any(|call| call.id.is_some() && call.id == result.tool_call_id)
    }

    /// Takes in a call's result. True if it is at least the sixth equal one in a row and the opt-in rules are on.
    pub(super) fn result(&mut self, result: &Message, opted_in: bool) -> bool {
        let is_it = |call: &SeenCall| call.id.is_some() && call.id == result.tool_call_id;
        let Some(place) = self.awaited.iter().position(is_it) else { return false };
        let call = self.awaited.remove(place);
        let print = Fingerprint::from_text(&format!("{}{}", u8::from(result.is_error == Some(true)), result.text()));
        let results = self.results.entry(call.key).or_default();
        let is_first = results.last.is_none();
        let has_changed = !is_first && results.last != Some(print);
        if self.same.last() == Some(&call.key) {
            results.observed += 1;
            if has_changed {
                results.unchanged = 0;
            } else if !is_first {
                results.unchanged += 1;
            }
        }
        if has_changed && self.same_name.last() == Some(&call.name) {
            self.same_name.restart();
        }
        results.in_a_row = if results.in_a_row > 0 && !has_changed { results.in_a_row + 1 } else { 1 };
        results.last = Some(print);
        self.most = self.most.max(results.in_a_row);
        opted_in && results.in_a_row >= DUPLICATES
    }

    /// Records that a request was completed.
    pub(super) fn finished(&mut self) {
        self.committed = self.total;
    }

    /// Records that an attempt failed and is retried; if the opt-in rules are on, they reset.
    pub(super) fn retried(&mut self, opted_in: bool) {
        self.total = self.committed;
        self.same.clear();
        self.overviews = 0;
        self.by_key.clear();
        self.most = 0;
        #[expect(clippy::iter_over_hash_type, reason = "each is reset by itself")]
        for results in self.results.values_mut() {
            (results.observed, results.unchanged, results.in_a_row) = (0, 0, 0);
        }
        self.fell_back(opted_in);
    }

    /// Another model takes over; if the opt-in rules are on, they reset.
    pub(super) fn fell_back(&mut self, opted_in: bool) {
        if opted_in {
            self.duplicates.clear();
            self.last_keys.clear();
        }
    }
}
