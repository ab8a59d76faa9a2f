//! How the calls and results of a run belong together: what replies asked for, what the host ran on its own, and results
//! that answer nothing, or what was answered before.

use std::collections::HashMap;

use serde::Serialize;

use crate::transcript::{Message, Name, Requests, Run, messages};

/// The calls and results of runs, by how they belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallCounts {
    /// Replies with calls of their own.
    pub replies_with_calls: u64,
    /// Calls of the agent.
    pub calls: u64,
    /// Calls of the agent in runs whose replies do not record what they ask for: some may be the host's.
    pub calls_without_requests: u64,
    /// The runs with such calls.
    pub runs_without_requests: u64,
    /// Calls that the host made on its own.
    pub host_calls: u64,
    /// Results that answer no call.
    pub results_without_call: u64,
    /// Results of a call that had one already.
    pub second_results: u64,
}

impl CallCounts {
    /// The counts of one run. A result belongs to the call with its id; without an id, to a call without a result of the
    /// reply before it.
    pub fn from_run(run: &Run) -> Self {
        let mut counts = Self::default();
        // How many calls with each id have no result yet.
        let mut open: HashMap<&Name, u64> = HashMap::new();
        let mut of_step: u64 = 0;
        for message in messages(run.events()) {
            if message.is_step() {
                of_step = message.tool_calls.len() as u64;
                counts.calls += of_step;
                counts.replies_with_calls += u64::from(of_step > 0);
                for id in message.tool_calls.iter().filter_map(|call| call.id.as_ref()) {
                    *open.entry(id).or_default() += 1;
                }
            } else if message.is_host_call() {
                counts.host_calls += message.tool_calls.len() as u64;
            } else if message.is_result() {
                counts.count_result(message, &mut open, &mut of_step);
            }
        }
        if run.header.requests == Requests::OnlyRuns {
            (counts.runs_without_requests, counts.calls_without_requests) = (1, counts.calls);
        }
        counts
    }

    fn count_result<'r>(&mut self, result: &'r Message, open: &mut HashMap<&'r Name, u64>, of_step: &mut u64) {
        let Some(id) = &result.tool_call_id else {
            self.results_without_call += u64::from(*of_step == 0);
            *of_step = of_step.saturating_sub(1);
            return;
        };
        match open.get_mut(id) {
            None => self.results_without_call += 1,
            Some(0) => self.second_results += 1,
            Some(calls) => *calls -= 1,
        }
    }

    /// Adds the counts of other runs.
    pub fn add(&mut self, other: Self) {
        self.replies_with_calls += other.replies_with_calls;
        self.calls += other.calls;
        self.calls_without_requests += other.calls_without_requests;
        self.runs_without_requests += other.runs_without_requests;
        self.host_calls += other.host_calls;
        self.results_without_call += other.results_without_call;
        self.second_results += other.second_results;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::trace::read_text;

    fn counts(lines: &[&str]) -> CallCounts {
        let read = read_text(&format!("{{\"type\":\"run\",\"run_id\":\"r\"}}\n{}\n", lines.join("\n")));
        assert!(read.findings.is_empty(), "{:?}", read.findings);
        CallCounts::from_run(&read.runs[0])
    }

    #[test]
    fn results_belong_to_calls_by_id_or_else_to_the_reply_before_them() {
        let two = r#"{"type":"message","role":"assistant","content":"","tool_calls":[{"id":"a","name":"t","arguments":{}},{"id":"b","name":"t","arguments":{}}]}"#;
        let one = r#"{"type":"message","role":"assistant","content":"","tool_calls":[{"name":"t","arguments":{}}]}"#;
        let of = |id: &str| format!(r#"{{"type":"message","role":"tool","tool_call_id":"{id}","content":"x"}}"#);
        let bare = r#"{"type":"message","role":"tool","content":"x"}"#;
        let host = r#"{"type":"message","role":"assistant","lane":"host","content":null,"tool_calls":[{"name":"t","arguments":{}}]}"#;
        let hosts = r#"{"type":"message","role":"tool","lane":"host","content":"x"}"#;
        let (a, b, c) = (of("a"), of("b"), of("c"));
        let two_calls = CallCounts { replies_with_calls: 1, calls: 2, ..CallCounts::default() };
        assert_eq!(counts(&[two, &b, &a]), two_calls);
        assert_eq!(counts(&[two, &a, &a, &c]), CallCounts { second_results: 1, results_without_call: 1, ..two_calls });
        assert_eq!(counts(&[two, host, hosts, &a]), CallCounts { host_calls: 1, ..two_calls });
        let one_call = CallCounts { replies_with_calls: 1, calls: 1, ..CallCounts::default() };
        assert_eq!(counts(&[one, bare]), one_call);
        assert_eq!(counts(&[one, bare, bare]), CallCounts { results_without_call: 1, ..one_call });
        assert_eq!(counts(&[bare]), CallCounts { results_without_call: 1, ..CallCounts::default() });
    }
}
