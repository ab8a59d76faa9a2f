//! One task: the results of its calls, and what is remembered of them.

use std::collections::BTreeMap;

use crate::preset::frame::arguments;
use crate::python;
use crate::transcript::ToolCall;
use crate::transcript::fingerprint::canonical_json;

/// On the text path, every third use adds a reminder of the format.
const REMINDER_EVERY: u64 = 3;
/// How often a failing call on the text path is tried.
const ATTEMPTS: u32 = 3;

/// Why a call is not run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CallRefusal {
    SameInput,
    Uses,
}

/// A call of the current reply.
#[derive(Clone, Debug)]
pub(super) struct TaskCall {
    pub(super) id: Option<String>,
    pub(super) written_name: String,
    /// The name as the framework compares it.
    pub(super) name: String,
    /// Arguments as JSON, in their original order.
    written: String,
    /// A key that is the same for arguments that Python considers equal.
    equality: String,
    /// Arguments as JSON with sorted keys.
    sorted: String,
    empty: bool,
    pub(super) refusal: Option<CallRefusal>,
    pub(super) content: Option<String>,
    pub(super) failed: bool,
    pub(super) unknown: bool,
}

impl TaskCall {
    pub(super) fn new(call: &ToolCall) -> Self {
        let value = arguments(call);
        Self {
            id: call.id.as_deref().map(str::to_owned),
            written_name: call.name.to_string(),
            name: sanitized(&call.name),
            written: value.to_string(),
            equality: python::value_key(&value),
            sorted: canonical_json(&value),
            empty: !python::is_true(&value),
            refusal: None,
            content: None,
            failed: false,
            unknown: false,
        }
    }

    /// The key compared with the last tool used.
    pub(super) fn input(&self) -> (String, String) {
        (self.name.clone(), self.equality.clone())
    }

    /// The key of the tool cache, in which the order of arguments matters.
    pub(super) fn cache_key(&self) -> (String, String) {
        (self.name.clone(), self.written.clone())
    }
}

/// The result of a call as it is counted. Texts that only the framework writes are separate variants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountedResult {
    Result { content: String, reminder: bool },
    Failed { content: String },
    LimitInTheMiddle,
    Unknown,
    SameInput { reminder: bool },
    Uses { reminder: bool },
}

/// What a call came to.
#[derive(Clone, Debug)]
pub(super) struct TaskCallOutcome {
    pub(super) text: CountedResult,
    /// How often the tool's code ran.
    pub(super) runs: u64,
    /// Whether the usage limit was reached by this call's own retries.
    pub(super) refused_midway: bool,
}

type Cache = BTreeMap<(String, String), String>;

#[derive(Clone, Debug, Default)]
pub(super) struct CrewTask {
    pub(super) text: String,
    pub(super) iterations: i64,
    /// Name and arguments of the last tool that was used successfully.
    pub(super) last: Option<(String, String)>,
    pub(super) uses: BTreeMap<String, i64>,
    used_tools: u64,
    tally: BTreeMap<(String, String, CountedResult), u32>,
}

impl CrewTask {
    pub(super) fn new(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Counts a call with its result and returns how often it has occurred.
    pub(super) fn count(&mut self, call: &TaskCall, react: bool, text: CountedResult) -> u32 {
        let key = if react {
            (call.written_name.clone(), call.written.clone(), text)
        } else {
            (call.name.clone(), call.sorted.clone(), text)
        };
        let count = self.tally.entry(key).or_insert(0);
        *count = count.saturating_add(1);
        *count
    }

    /// Formats a text for the model; true if the reminder is added, which only the text path does.
    fn formats(&mut self, react: bool) -> bool {
        if !react {
            return false;
        }
        self.used_tools += 1;
        self.used_tools.is_multiple_of(REMINDER_EVERY)
    }

    /// Runs a call, on the text path if `react`.
    pub(super) fn run(
        &mut self,
        call: &TaskCall,
        content: &str,
        react: bool,
        limit: Option<i64>,
        cache: Option<&mut Cache>,
    ) -> TaskCallOutcome {
        let quiet = |text| TaskCallOutcome { text, runs: 0, refused_midway: false };
        match call.refusal {
            Some(CallRefusal::SameInput) => return quiet(CountedResult::SameInput { reminder: self.formats(react) }),
            Some(CallRefusal::Uses) => return quiet(CountedResult::Uses { reminder: self.formats(react) }),
            None if call.unknown => return quiet(CountedResult::Unknown),
            None => {}
        }
        if let Some(cache) = &cache
            && let Some(content) = cache.get(&call.cache_key()).cloned()
        {
            return quiet(CountedResult::Result { content, reminder: self.formats(react) });
        }
        if call.failed && react {
            return self.retries(call, content, limit);
        }
        if call.failed {
            let text = CountedResult::Failed { content: content.to_owned() };
            return TaskCallOutcome { text, runs: 1, refused_midway: false };
        }
        if react {
            *self.uses.entry(call.name.clone()).or_insert(0) += 2;
            self.last = Some(call.input());
        }
        if let Some(cache) = cache {
            cache.insert(call.cache_key(), content.to_owned());
        }
        let text = CountedResult::Result { content: content.to_owned(), reminder: self.formats(react) };
        TaskCallOutcome { text, runs: 1, refused_midway: false }
    }

    /// Retries a failing call three times, each time with up to two runs if it has arguments; every run counts as a
    /// use.
    fn retries(&mut self, call: &TaskCall, content: &str, limit: Option<i64>) -> TaskCallOutcome {
        let is_used_up = |uses: i64| limit.is_some_and(|limit| uses >= limit);
        let mut runs = 0;
        let mut text = CountedResult::Failed { content: content.to_owned() };
        for _ in 0..ATTEMPTS {
            let uses = self.uses.entry(call.name.clone()).or_insert(0);
            if is_used_up(*uses) {
                return TaskCallOutcome {
                    text: CountedResult::Uses { reminder: self.formats(true) },
                    runs,
                    refused_midway: true,
                };
            }
            for _ in 0..if call.empty { 1 } else { 2 } {
                if is_used_up(*uses) {
                    text = CountedResult::LimitInTheMiddle;
                } else {
                    *uses += 1;
                    runs += 1;
                    text = CountedResult::Failed { content: content.to_owned() };
                }
            }
        }
        TaskCallOutcome { text, runs, refused_midway: false }
    }
}

/// A tool's name as the framework compares it: camel case split into words, lower case, all other characters replaced
/// by single underscores.
pub(super) fn sanitized(name: &str) -> String {
    let letters: Vec<char> = name.chars().filter(char::is_ascii).collect();
    let mut out = String::with_capacity(name.len());
    let mut previous = None;
    for (place, &letter) in letters.iter().enumerate() {
        let next_is_lower = letters.get(place + 1).is_some_and(char::is_ascii_lowercase);
        let new_word = letter.is_ascii_uppercase()
            && previous.is_some_and(|p: char| p.is_ascii_lowercase() || (p.is_ascii_uppercase() && next_is_lower));
        previous = Some(letter);
        if letter == '\'' || letter == '"' {
            continue;
        }
        if (new_word || !letter.is_ascii_alphanumeric()) && !out.ends_with('_') {
            out.push('_');
        }
        if letter.is_ascii_alphanumeric() {
            out.push(letter.to_ascii_lowercase());
        }
    }
    out.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sanitised_as_the_framework_does() {
        for (name, expected) in
            [("AA", "aa"), ("readFile", "read_file"), ("HTTPServer v2", "http_server_v2"), ("_it's--ok_", "its_ok")]
        {
            assert_eq!(sanitized(name), expected, "{name}");
        }
    }
}
