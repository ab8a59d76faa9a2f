//! A mapping is tried on the file before it is suggested.

use std::collections::HashSet;

use crate::open::probe::Probe;
use crate::read::format::MAPPED;
use crate::read::{in_memory, wrappings};
use crate::record::field_map::FieldMap;
use crate::record::options::ReadOptions;
use crate::survey::unread_parts;
use crate::transcript::{Draft, Event, Fingerprint, Message, Role, Run, ToolCall, messages};

/// What a mapping makes of the file.
#[derive(Debug, Default)]
pub(super) struct MappingTrial {
    runs: Vec<Draft>,
    /// Entries that hold a part of the run and could not be read.
    n_unread: u64,
    /// Why a record would be refused although it was read.
    refused: Option<String>,
}

/// Reads the text by the mapping; `None` if it does not fit.
pub(super) fn read(map: &FieldMap, probe: &Probe, text: &str) -> Option<MappingTrial> {
    let form = wrappings::mapped(MAPPED, map, probe)?;
    let options = ReadOptions { columns: Some(map.clone()), ..ReadOptions::default() };
    let reshaped = wrappings::reshaped(text, form.reshape);
    let text = match &reshaped {
        Some(reshaped) => &reshaped.text,
        None => text,
    };
    let (cuts, _, _) = wrappings::cut(text, form.layout, "");
    let mut trial = MappingTrial::default();
    for cut in cuts {
        let record = String::from_utf8_lossy(&cut.bytes).into_owned();
        in_memory::with_options("x", &cut.key, &record, &options, |reading| {
            let record = reading.record;
            (MAPPED.read)(&record, reading);
            reading.settle();
            let n_unread = reading.findings.made();
            trial.n_unread += n_unread;
            let runs: Vec<Run> = reading.drafts.iter().cloned().map(Run::new).collect();
            let runs: Vec<&Run> = runs.iter().collect();
            let refused = unread_parts::refusal("a run", record.text, &reading.unread, &runs, n_unread == 0);
            trial.refused = trial.refused.take().or(refused);
            trial.runs.append(&mut reading.drafts);
        });
    }
    Some(trial)
}

impl MappingTrial {
    /// What is wrong with the mapping, in words for a person; `None` if it reads the file as runs of several messages
    /// with replies, and leaves nothing unread.
    pub(super) fn problem(&self, map: &FieldMap) -> Option<String> {
        let n = self.runs.len();
        let run = map.get("run").unwrap_or("run");
        let has =
            |is: &dyn Fn(&Message) -> bool| self.runs.iter().filter(|draft| messages(&draft.events).any(is)).count();
        let acts = has(&|message| message.role == Role::Assistant);
        let ids: HashSet<&str> = self.runs.iter().map(|draft| draft.header.run_id.as_str()).collect();
        let alone = self.runs.iter().filter(|draft| draft.events.len() < 2).count();
        if acts == 0 {
            return Some("no field says which entries are the model's replies or calls".to_owned());
        }
        if 2 * alone >= n {
            return Some(format!("by `{run}` each entry would be a run: no field is sure to be the run's id"));
        }
        if acts < n {
            return Some(format!("by `{run}` {} of {n} runs would have no reply", n - acts));
        }
        if map.get("run").is_some() && ids.len() < n {
            return Some(format!("`{run}` is the same in several runs"));
        }
        if self.n_unread > 0 {
            return Some(format!("{} entries would not be read", self.n_unread));
        }
        if let Some(reason) = &self.refused {
            return Some(format!("by the fields that look right it is {reason}"));
        }
        self.problem_of_replies(map)
    }

    /// The replies that directly follow another one that asked for nothing.
    fn pieces(&self) -> usize {
        let mut n = 0;
        for draft in &self.runs {
            let messages: Vec<&Message> = messages(&draft.events).collect();
            for pair in messages.windows(2) {
                let are_replies = pair.iter().all(|message| message.role == Role::Assistant);
                n += usize::from(are_replies && pair[0].tool_calls.is_empty());
            }
        }
        n
    }

    /// What is wrong with the replies themselves.
    fn problem_of_replies(&self, map: &FieldMap) -> Option<String> {
        let messages = || self.runs.iter().flat_map(|draft| &draft.events).filter_map(Event::message);
        let replies = || messages().filter(|message| message.role == Role::Assistant);
        let empty = replies().filter(|reply| reply.text().is_empty() && reply.tool_calls.is_empty()).count();
        if empty > 0 && (map.get("role").is_none() || empty == replies().count()) {
            return Some(format!("{empty} entries would be replies without text or calls: who speaks is not sure"));
        }
        if map.get("role").is_some() && 2 * self.pieces() > replies().count() {
            return Some("most replies follow another one: each may be a piece of a reply".to_owned());
        }
        // A log of requests repeats what was said before each of them.
        let mut runs: Vec<Vec<(Role, Fingerprint)>> = self.runs.iter().map(prints).collect();
        runs.sort_unstable();
        let goes_on = |pair: &[Vec<(Role, Fingerprint)>]| {
            pair[0].len() < pair[1].len()
                && pair[1].starts_with(&pair[0])
                && pair[0].iter().any(|(role, _)| *role == Role::Assistant)
        };
        let list = map.get("messages").filter(|_| runs.windows(2).any(goes_on))?;
        Some(format!("`{list}` repeats in one entry what it has in another: each may be a conversation so far"))
    }
}

/// Who says what in a run, calls included.
fn prints(draft: &Draft) -> Vec<(Role, Fingerprint)> {
    let print = |message: &Message| {
        let calls = message.tool_calls.iter().map(ToolCall::canonical_print);
        (message.role, Fingerprint::from_list(calls.chain([message.content_print()])))
    };
    messages(&draft.events).map(print).collect()
}
