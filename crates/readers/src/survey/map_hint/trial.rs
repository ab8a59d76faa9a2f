//! A mapping is tried on the file before it is suggested.

use std::collections::BTreeSet;

use crate::open::probe::Probe;
use crate::read::format::MAPPED;
use crate::read::{in_memory, wrappings};
use crate::record::field_map::FieldMap;
use crate::record::options::ReadOptions;
use crate::transcript::{Draft, Event, Message, Role};

/// What a mapping makes of the file.
#[derive(Debug, Default)]
pub(super) struct Trial {
    runs: Vec<Draft>,
    /// Entries that hold a part of the run and could not be read.
    n_unread: u64,
}

/// Reads the text by the mapping; `None` if it does not fit.
pub(super) fn read(map: &FieldMap, probe: &Probe, text: &str) -> Option<Trial> {
    let form = wrappings::mapped(MAPPED, map, probe)?;
    let options = ReadOptions { columns: Some(map.clone()), ..ReadOptions::default() };
    let reshaped = wrappings::reshaped(text, form.reshape);
    let text = reshaped.as_ref().map_or(text, |reshaped| &reshaped.text);
    let (cuts, _, _) = wrappings::cut(text, form.layout, "");
    let mut trial = Trial::default();
    for cut in cuts {
        let record = String::from_utf8_lossy(&cut.bytes).into_owned();
        in_memory::with_options("x", &cut.key, &record, &options, |reading| {
            let record = reading.record;
            MAPPED.read(&record, reading);
            trial.n_unread += reading.findings.made();
            trial.runs.append(&mut reading.drafts);
        });
    }
    Some(trial)
}

impl Trial {
    /// What is wrong with the mapping, in words for a person; `None` if it reads the file as runs of several messages
    /// with replies, and leaves nothing unread.
    pub(super) fn problem(&self, map: &FieldMap) -> Option<String> {
        let n = self.runs.len();
        let run = map.get("run").unwrap_or("run");
        let has = |is: &dyn Fn(&Message) -> bool| {
            self.runs.iter().filter(|draft| draft.events.iter().filter_map(Event::message).any(is)).count()
        };
        let acts = has(&|message| message.role == Role::Assistant);
        let ids: BTreeSet<&str> = self.runs.iter().map(|draft| draft.header.run_id.as_str()).collect();
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
        (self.n_unread > 0).then(|| format!("{} entries would not be read", self.n_unread))
    }
}
