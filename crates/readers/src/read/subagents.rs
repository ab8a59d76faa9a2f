//! How sub-agents are treated: as part of their parent's run, as separate runs, or left out. Their steps and tokens
//! are never counted twice.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Location};
use crate::find::file_name::OtherFile;
use crate::open::decompress::unpacked_text;
use crate::record::looked_up;
use crate::record::options::SubAgents;
use crate::record::reading::{LastPosition, Reading, Record, ReplyId};
use crate::transcript::{Draft, Event, Grade, Header, Lane, Name, messages};

/// Beginnings of side lanes that are not sub-agents: unobserved calls, and what was taken back.
const NOBODYS: [&str; 3] = ["unseen", "rewound", "left branch"];

/// The sub-agent that an event belongs to, if any.
fn agent_of(event: &Event) -> Option<Name> {
    match event.message().map(|message| &message.lane) {
        Some(Lane::Side(id)) if !NOBODYS.iter().any(|name| id.starts_with(name)) => Some(id.clone()),
        _ => None,
    }
}

/// The lane of a sub-agent's messages, or the main one if no sub-agent is named.
pub(crate) fn lane(agent: Option<impl Into<Name>>) -> Lane {
    match agent {
        Some(agent) => Lane::Side(agent.into()),
        None => Lane::Main,
    }
}

/// The run and its replies, followed by its sub-agents' runs if `how` asks for them.
pub(crate) fn apart(draft: Draft, replies: Vec<ReplyId>, how: SubAgents) -> Vec<(Draft, Vec<ReplyId>)> {
    if how == SubAgents::Parent || !draft.events.iter().any(|event| agent_of(event).is_some()) {
        return vec![(draft, replies)];
    }
    let mut prints: HashMap<usize, u64> = replies.into_iter().collect();
    let Draft { header, events, grade, warnings } = draft;
    let mut parent = (Draft { header, events: Vec::new(), grade, warnings }, Vec::new());
    let mut children: Vec<(Name, Draft, Vec<ReplyId>)> = Vec::new();
    for (at, mut event) in events.into_iter().enumerate() {
        let agent = agent_of(&event);
        if agent.is_some() && how == SubAgents::Drop {
            continue;
        }
        let (draft, replies) = match agent {
            None => (&mut parent.0, &mut parent.1),
            Some(agent) => {
                if let Event::Message(message) = &mut event {
                    message.lane = Lane::Main;
                }
                let child = children.iter().position(|(name, ..)| *name == agent).unwrap_or_else(|| {
                    let draft = Draft { header: child(&parent.0.header, &agent), ..Draft::default() };
                    children.push((agent, draft, Vec::new()));
                    children.len() - 1
                });
                let (_, draft, replies) = &mut children[child];
                (draft, replies)
            }
        };
        replies.extend(prints.remove(&at).map(|print| (draft.events.len(), print)));
        draft.events.push(event);
    }
    for (_, draft, _) in &mut children {
        let models = messages(&draft.events).filter_map(|message| message.model());
        draft.header.model = models.into_iter().next().map(str::to_owned).or(draft.header.model.take());
        draft.grade = Grade::default();
    }
    let children = children.into_iter().map(|(_, draft, replies)| (draft, replies));
    std::iter::once(parent).chain(children).collect()
}

/// The header of a sub-agent's run.
fn child(parent: &Header, agent: &str) -> Header {
    Header {
        run_id: format!("{}/{agent}", parent.run_id),
        parent: Some(parent.run_id.clone()),
        suite: parent.suite.clone(),
        model: parent.model.clone(),
        agent: parent.agent.as_ref().map(|agent| format!("{agent} subagent")),
        ..Header::default()
    }
}

/// Reads the session of a sub-agent that is in another file. A file that cannot be read is reported.
pub(crate) fn read_file<T>(
    child: &OtherFile,
    record: &Record<'_>,
    out: &mut Reading<'_>,
    read: impl FnOnce(&Record<'_>, &mut Reading<'_>) -> T,
) -> Option<T> {
    let text = match unpacked_text(&child.path) {
        Ok(text) => text,
        Err(error) => {
            let what = format!("cannot read this sub-agent's session: {error}");
            let help = "the run is read without it: check its permissions, or leave it out";
            out.error(Diagnostic::new(Location::file(child.name.path.as_str()), what, help));
            return None;
        }
    };
    let places = LastPosition::default();
    let record = Record {
        text: &text,
        original: &text,
        inserted: &[],
        file: &child.name,
        key: "",
        places: &places,
        children: &[],
        line: 1,
        column: 1,
        ..*record
    };
    looked_up::watch_too(&text);
    let mut reading = Reading::from_record(record);
    let found = read(&record, &mut reading);
    out.take_in(reading);
    Some(found)
}

/// Puts the messages of a sub-agent on its lane. A sub-agent that was interrupted did not interrupt the agent that
/// started it.
pub(crate) fn on_lane(events: &mut Vec<Event>, lane: &Lane) {
    events.retain(|event| event.message().is_some());
    for event in events {
        if let Event::Message(message) = event
            && message.lane == Lane::Main
        {
            message.lane = lane.clone();
        }
    }
}

/// Where the messages of a sub-agent belong: before the first message that is as late as the last of them, which is the
/// result of the call that started it.
pub(crate) fn place(among: &[Event], events: &[Event]) -> usize {
    let last = events.iter().filter_map(Event::ts).max();
    let is_later = |event: &Event| last.is_some() && event.ts() >= last;
    among.iter().position(is_later).unwrap_or(among.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Message, Role, Run, Spend, Tokens, Usage};

    fn said(lane: Lane, tokens: u64) -> Event {
        let mut message = Message::saying(Role::Assistant, "x");
        message.lane = lane;
        message.set_usage(Some(Usage::new(tokens, 0)));
        Event::Message(message)
    }

    #[test]
    fn steps_and_tokens_are_in_exactly_one_place() {
        let side = |id: &str| Lane::Side(id.into());
        let events = vec![said(Lane::Main, 1), said(side("a"), 10), said(side("unseen"), 100), said(side("a"), 1000)];
        let draft =
            Draft { header: Header { run_id: "r".to_owned(), ..Header::default() }, events, ..Draft::default() };
        for (how, expected) in [
            (SubAgents::Parent, vec![("r", 1, 1111)]),
            (SubAgents::Own, vec![("r", 1, 101), ("r/a", 2, 1010)]),
            (SubAgents::Drop, vec![("r", 1, 101)]),
        ] {
            let apart = apart(draft.clone(), vec![(0, 7), (3, 9)], how);
            let runs: Vec<Run> = apart.iter().map(|(draft, _)| Run::new(draft.clone())).collect();
            let told: Vec<_> = runs
                .iter()
                .map(|run| (run.header.run_id.as_str(), run.steps().len(), Spend::from_run(run).total.unwrap()))
                .collect();
            let expected: Vec<_> = expected.into_iter().map(|(id, steps, n)| (id, steps, Tokens(n))).collect();
            assert_eq!(told, expected, "{how:?}");
            if how == SubAgents::Own {
                assert_eq!((&apart[0].1, &apart[1].1), (&vec![(0, 7)], &vec![(1, 9)]));
            }
        }
    }
}
