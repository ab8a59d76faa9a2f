//! The guards of the published loop that end a chat before its cap: repeated calls, empty tool names, unreadable
//! arguments, and replies cut off at the token limit.

use foldhash::{HashMap, HashSet};
use serde_json::Value;

use crate::decision::RuleName;
use crate::python::{self, Strictness, loads, strip};
use crate::transcript::{Fingerprint, Identity, named};

/// How often the same call, an empty name, unreadable arguments or a cut-off reply is needed to end the chat.
pub(super) const LIMIT: u32 = 3;

/// A call as the model wrote it.
#[derive(Clone, Copy, Debug)]
pub struct WrittenCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments, unparsed.
    pub arguments: &'a str,
    /// Whether the arguments should be JSON; those of a text protocol are not.
    pub is_json: bool,
    /// Whether the tool may change anything. A new call of such a tool clears the counts of the other calls.
    pub writes: bool,
}

named! {
    /// Which guard ended the chat; the rule's name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tripped {
        /// The same name and arguments, for the third time.
        SameCall = "same call x3" => "same call",
        /// An empty tool name, for the third time.
        EmptyName = "empty tool name x3" => "empty names",
        /// Unreadable arguments of the same tool, three times in a row.
        BadArguments = "unreadable arguments x3" => "unreadable in a row",
        /// The third reply in a row whose calls were cut off at the token limit.
        CutReplies = "cut replies x3" => "cut in a row",
    }

    /// What the guard counts.
    pub(super) fn counts() -> &'static str;
}

impl Tripped {
    /// The rule.
    pub(super) fn rule(self) -> RuleName {
        RuleName::fixed(self.name())
    }

    /// agentao's reason for the incomplete turn.
    pub fn reason(self) -> &'static str {
        match self {
            Self::CutReplies => "length_truncated",
            Self::SameCall | Self::EmptyName | Self::BadArguments => "doom_loop",
        }
    }

    /// What the chat returns if the reply has no text.
    pub fn notice(self) -> &'static str {
        match self {
            Self::CutReplies => {
                "Tool calls were repeatedly cut off at the output-token limit and could not be completed."
            }
            Self::SameCall | Self::EmptyName | Self::BadArguments => "Tool execution halted by doom-loop detection.",
        }
    }
}

/// The counts of one chat. Granting more iterations at the cap does not clear them.
#[derive(Clone, Debug, Default)]
pub struct ChatGuard {
    same: HashMap<Fingerprint, u32>,
    /// Calls of tools that write; none clears the counts of others a second time, even if its own was cleared since.
    writes: HashSet<Fingerprint>,
    empty_names: u32,
    unreadable: HashMap<String, u32>,
    cut: u32,
}

/// Whether the reply was cut off at the token limit, in any provider's spelling, ignoring case.
pub fn is_cut(finish_reason: Option<&str>) -> bool {
    let reason = python::lower(strip(finish_reason.unwrap_or_default()));
    ["length", "max_tokens", "model_length"].contains(&reason.as_str())
}

/// The guard, if its count has reached the limit.
fn at_limit(count: u32, guard: Tripped) -> Option<Tripped> {
    if count >= LIMIT { Some(guard) } else { None }
}

impl ChatGuard {
    /// Takes in a reply; `Some` if the chat ends with it. A cut-off reply's calls are never run, so they are not
    /// counted.
    pub fn take_in<'a>(&mut self, cut: bool, calls: impl Iterator<Item = WrittenCall<'a>>) -> Option<Tripped> {
        let mut calls = calls.peekable();
        if cut && calls.peek().is_some() {
            self.cut += 1;
            return at_limit(self.cut, Tripped::CutReplies);
        }
        self.cut = 0;
        calls.find_map(|call| self.plan(call))
    }

    /// The guard's count; the highest if it keeps several.
    pub(super) fn count(&self, guard: Tripped) -> u32 {
        match guard {
            Tripped::SameCall => self.same.values().copied().max().unwrap_or(0),
            Tripped::EmptyName => self.empty_names,
            Tripped::BadArguments => self.unreadable.values().copied().max().unwrap_or(0),
            Tripped::CutReplies => self.cut,
        }
    }

    fn plan(&mut self, call: WrittenCall<'_>) -> Option<Tripped> {
        if strip(call.name).is_empty() {
            self.empty_names += 1;
            return at_limit(self.empty_names, Tripped::EmptyName);
        }
        let print = Fingerprint::from_call(&Identity::Raw, call.name, call.arguments);
        let count = self.same.entry(print).or_default();
        *count += 1;
        if *count >= LIMIT {
            return Some(Tripped::SameCall);
        }
        if call.is_json && !is_readable(call.arguments) {
            let failures = self.unreadable.entry(call.name.to_owned()).or_default();
            *failures += 1;
            return at_limit(*failures, Tripped::BadArguments);
        }
        self.unreadable.remove(call.name);
        if call.writes && self.writes.insert(print) {
            self.same.retain(|known, _| *known == print);
        }
        None
    }
}

/// Whether agentao can read these arguments as an object.
fn is_readable(arguments: &str) -> bool {
    why_unreadable(arguments).is_none()
}

/// agentao's message if it cannot read these arguments as an object. It repairs code fences, doubly encoded objects,
/// control characters, trailing commas and Python literals.
pub fn why_unreadable(arguments: &str) -> Option<String> {
    let text = strip(arguments);
    if text.is_empty() || ["none", "null"].contains(&python::lower(text).as_str()) {
        return None;
    }
    let text = unfenced(text);
    if text.is_empty() {
        return None;
    }
    match repaired(text) {
        None => Some("could not parse tool arguments as JSON or Python literal".to_owned()),
        Some(value) if python::dict(&value).is_some() => None,
        Some(value) => Some(format!("tool arguments must parse to an object, got {}", python::type_name(&value))),
    }
}

/// The value of the text, by the first way of reading it that works.
fn repaired(text: &str) -> Option<Value> {
    match loads(text, Strictness::Strict) {
        Some(Value::String(inner)) => Some(loads(&inner, Strictness::Strict).unwrap_or(Value::String(inner))),
        Some(value) => Some(value),
        None => loads(text, Strictness::Lenient)
            .or_else(|| loads(&without_trailing_commas(text), Strictness::Lenient))
            .or_else(|| python::literal(text)),
    }
}

fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    let Some(inner) = inner.strip_suffix("```") else { return text };
    match inner.split_at_checked(4) {
        Some((tag, rest)) if tag.eq_ignore_ascii_case("json") => strip(rest),
        _ => strip(inner),
    }
}

/// Removes `,` before a closing bracket, also inside strings, as agentao does.
fn without_trailing_commas(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(',') {
        mended.push_str(before);
        if !strip(after).starts_with(['}', ']']) {
            mended.push(',');
        }
        rest = after;
    }
    mended.push_str(rest);
    mended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &'static str, arguments: &'static str) -> WrittenCall<'static> {
        WrittenCall { name, arguments, is_json: true, writes: name == "edit" }
    }

    fn check(replies: &[&[(&'static str, &'static str)]], expected: Option<(usize, Tripped)>) {
        let mut guard = ChatGuard::default();
        let tripped = replies.iter().enumerate().find_map(|(index, calls)| {
            let calls = calls.iter().map(|(name, arguments)| call(name, arguments));
            Some((index, guard.take_in(false, calls)?))
        });
        assert_eq!(tripped, expected, "{replies:?}");
    }

    #[test]
    fn the_third_identical_call_trips_wherever_it_stands() {
        let ls: &[_] = &[("ls", "{}")];
        check(&[ls, ls, ls], Some((2, Tripped::SameCall)));
        check(&[&[("ls", "{}"), ("ls", "{}"), ("ls", "{}")]], Some((0, Tripped::SameCall)));
        check(&[ls, &[("ls", "{ }")], &[("cat", "{}")], ls], None);
        check(&[ls, ls, &[("edit", "{}")], ls, ls], None);
        check(&[&[("", "{}")], &[(" ", "{}")], &[("\t", "{}")]], Some((2, Tripped::EmptyName)));
    }

    #[test]
    fn arguments_are_mended_before_they_count_as_unreadable() {
        for arguments in ["", "null", "{\"a\":1,}", "```json\n{}\n```", "\"{}\"", "{'a': True}", "{\"a\":\"x\ny\"}"] {
            assert!(is_readable(arguments), "{arguments}");
        }
        for arguments in ["{\"a\":", "[1]", "7", "ls -l", "\"text\""] {
            assert!(!is_readable(arguments), "{arguments}");
        }
        check(&[&[("run", "a")], &[("run", "b")], &[("run", "c")]], Some((2, Tripped::BadArguments)));
        check(&[&[("run", "a")], &[("run", "{}")], &[("run", "b")], &[("run", "c")]], None);
    }
}
