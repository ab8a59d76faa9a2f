//! Contents that a recorder left out: the arguments of calls, the texts of results, the texts of replies. What was not
//! recorded equals nothing, so the rules that compare it cannot be evaluated.

use crate::diagnostic::{Diagnostic, Location, count};
use crate::transcript::{Message, Run, ToolCall, messages};

/// One kind of content in the runs read so far.
#[derive(Debug, Default)]
struct Contents {
    /// Runs in which more than half of it was not recorded.
    runs: u64,
    /// In these runs: how much was not recorded.
    missing: u64,
    /// In these runs: how much there should be.
    all: u64,
}

impl Contents {
    fn enter(&mut self, missing: usize, all: usize) {
        if 2 * missing > all {
            self.runs += 1;
            self.missing += missing as u64;
            self.all += all as u64;
        }
    }
}

/// What was not recorded in the runs of a corpus.
#[derive(Debug, Default)]
pub(crate) struct UnrecordedContents {
    runs: u64,
    arguments: Contents,
    results: Contents,
    replies: Contents,
}

impl UnrecordedContents {
    /// Adds a run.
    pub(crate) fn enter(&mut self, run: &Run) {
        self.runs += 1;
        let (mut calls, mut calls_without) = (0, 0);
        let (mut results, mut results_without) = (0, 0);
        let (mut replies, mut replies_without) = (0, 0);
        for message in messages(run.events()) {
            calls += message.tool_calls.len();
            calls_without += message.tool_calls.iter().filter(|call| ToolCall::are_arguments_unknown(call)).count();
            if message.is_result() {
                results += 1;
                results_without += usize::from(message.is_text_unknown());
            }
            // A reply that calls a tool may have had no text.
            if message.is_step() && (message.tool_calls.is_empty() || !Message::is_text_unknown(message)) {
                replies += 1;
                replies_without += usize::from(message.is_text_unknown() && message.reasoning().is_none());
            }
        }
        self.arguments.enter(calls_without, calls);
        self.results.enter(results_without, results);
        self.replies.enter(replies_without, replies);
    }

    /// The warning about them, in one line.
    pub(crate) fn notice(&self) -> Option<Diagnostic> {
        let kinds = [
            (&self.arguments, "the arguments of", "call", "equal calls"),
            (&self.results, "the texts of", "result", "equal results"),
            (&self.replies, "the texts of", "reply", "words"),
        ];
        let mut missing = Vec::new();
        let mut rules = Vec::new();
        let mut runs = 0;
        for (contents, what, thing, rule) in kinds {
            if contents.runs == 0 {
                continue;
            }
            let things = if thing == "reply" {
                if contents.all == 1 { "1 reply".to_owned() } else { format!("{} replies", contents.all) }
            } else {
                count(contents.all, thing)
            };
            missing.push(if contents.missing == contents.all {
                format!("{what} {things}")
            } else {
                format!("{what} {} of {things}", contents.missing)
            });
            rules.push(rule);
            runs = runs.max(contents.runs);
        }
        if missing.is_empty() {
            return None;
        }
        let what = format!("not recorded, in {runs} of {}: {}", count(self.runs, "run"), listed(&missing));
        let effects = if self.arguments.runs > 0 { ", and what those calls did is unknown" } else { "" };
        let help = format!(
            "rules on {} are not evaluable there{effects}; have the recorder keep contents if you need them",
            listed(&rules)
        );
        Some(Diagnostic::new(Location::default(), what, help))
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::trace::read_text;

    fn notice(lines: &str) -> Option<(String, String)> {
        let mut contents = UnrecordedContents::default();
        for run in read_text(lines).runs {
            contents.enter(&run);
        }
        contents.notice().map(|notice| (notice.what, notice.help))
    }

    #[test]
    fn what_was_not_recorded_is_said_with_the_rules_it_takes_away() {
        let none = r#"{"type":"run","run_id":"r"}
{"type":"message","role":"assistant","tool_calls":[{"id":"a","name":"ls","arguments":null}]}
{"type":"message","role":"tool","tool_call_id":"a","content":null}
{"type":"message","role":"assistant","content":null}
"#;
        let (what, help) = notice(none).unwrap();
        assert_eq!(
            what,
            "not recorded, in 1 of 1 run: the arguments of 1 call, the texts of 1 result and the texts of 1 reply"
        );
        assert_eq!(
            help,
            "rules on equal calls, equal results and words are not evaluable there, and what those calls did is unknown; \
             have the recorder keep contents if you need them"
        );
        let all = r#"{"type":"run","run_id":"r"}
{"type":"message","role":"assistant","tool_calls":[{"id":"a","name":"ls","arguments":{}}]}
{"type":"message","role":"tool","tool_call_id":"a","content":""}
{"type":"message","role":"assistant","content":"done"}
"#;
        assert_eq!(notice(all), None);
    }
}
