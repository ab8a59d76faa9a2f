//! Builds a conversation: joins replies from their pieces and results to their calls.
//!
//! Calls and results are joined by id if the recorder wrote ids, and by order if ids are missing, empty or repeated.
//! Calls are given unique ids, so that readers of the run can join by id alone.

use std::collections::{HashMap, HashSet};

use crate::read::requests::{OpenRequests, is_step};
use crate::read::{dialect, requests, subagents};
use crate::transcript::{
    Draft, Event, Grade, Header, Instant, Json, Lane, Message, Name, Note, Role, Text, ToolCall, messages,
};

/// A call that has no result yet.
#[derive(Debug)]
struct OpenCall {
    /// The id as it was recorded.
    recorded: Option<Name>,
    /// The id used in the run.
    id: Name,
    name: Name,
    lane: Lane,
    /// Index of the reply that made the call.
    reply: usize,
}

/// The events of a run being built.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    events: Vec<Event>,
    open: Vec<OpenCall>,
    given: HashSet<Name>,
    n_calls: usize,
    /// Index of each reply, by the key its pieces share.
    replies: HashMap<String, usize>,
    /// The model of the first reply that names one.
    model: Option<Name>,
    /// True if tools are recorded as they ran ([`Turns::ran`]).
    are_runs_apart: bool,
    /// The agent's requests, if so.
    requests: OpenRequests<Name>,
}

impl Turns {
    /// For a recording in which tools that ran are recorded apart from the replies that asked for them.
    pub(crate) fn with_runs_apart() -> Self {
        Self { are_runs_apart: true, ..Self::default() }
    }

    /// Adds a message and returns its index. Calls without an id of their own get one; a result gets the id of the
    /// call it answers.
    pub(crate) fn push(&mut self, message: Message) -> usize {
        let mut message = message;
        let at = self.events.len();
        match message.role {
            Role::Assistant => {
                for call in &mut message.tool_calls {
                    self.open(call, &message.lane, at);
                }
                if message.lane == Lane::Main && self.model.is_none() {
                    self.model = message.model().map(Into::into);
                }
            }
            Role::Tool => self.join(&mut message),
            Role::User | Role::System => {}
        }
        self.events.push(Event::Message(message));
        at
    }

    /// Adds messages, in order.
    pub(crate) fn push_all(&mut self, messages: impl IntoIterator<Item = Message>) {
        for message in messages {
            self.push(message);
        }
    }

    /// Adds a message with this text and returns its index.
    pub(crate) fn say(&mut self, role: Role, text: impl Into<Text>, ts: Option<Instant>) -> usize {
        let mut message = Message::saying(role, text);
        message.ts = ts;
        self.push(message)
    }

    /// Adds a piece of the reply with the key `key`: the first piece creates the reply, later ones are joined to it.
    pub(crate) fn piece(&mut self, key: &str, piece: Message) {
        let Some(at) = self.replies.get(key).copied() else {
            let at = self.push(piece);
            self.replies.insert(key.to_owned(), at);
            return;
        };
        let mut piece = piece;
        let lane = piece.lane.clone();
        for call in &mut piece.tool_calls {
            self.open(call, &lane, at);
        }
        if let Some(Event::Message(whole)) = self.events.get_mut(at) {
            dialect::join(whole, piece);
        }
    }

    /// The message at that index of the events.
    pub(crate) fn message_at(&mut self, at: usize) -> Option<&mut Message> {
        let Event::Message(message) = self.events.get_mut(at)? else { return None };
        Some(message)
    }

    /// The agent's last reply, unless a message other than a result followed it.
    pub(crate) fn current(&mut self) -> Option<&mut Message> {
        let is_own = |message: &Message| message.role != Role::Tool && message.lane == Lane::Main;
        let at = self.events.iter().rposition(|event| matches!(event, Event::Message(message) if is_own(message)))?;
        self.message_at(at).filter(|message| message.role == Role::Assistant)
    }

    /// The agent's last reply, whatever came after it.
    pub(crate) fn last_reply(&mut self) -> Option<&mut Message> {
        let at = self.events.iter().rposition(is_step)?;
        self.message_at(at)
    }

    /// Adds a call to the current reply, creating a reply if there is none.
    pub(crate) fn call(&mut self, call: ToolCall, ts: Option<Instant>) {
        let at = self.events.iter().rposition(is_step);
        let is_current = self.current().is_some();
        let at = at.filter(|_| is_current).unwrap_or_else(|| {
            let mut reply = Message::new(Role::Assistant);
            reply.ts = ts;
            self.push(reply)
        });
        let mut call = call;
        self.open(&mut call, &Lane::Main, at);
        if let Some(reply) = self.message_at(at) {
            reply.tool_calls.push(call);
        }
    }

    /// Begins a new reply if the last message is a result, so that the next call is not added to the reply before it.
    pub(crate) fn begin_reply_after_result(&mut self) {
        if let Some(last) = self.last_message()
            && last.role == Role::Tool
        {
            self.push(Message::new(Role::Assistant));
        }
    }

    /// Adds the messages of a sub-agent where they belong.
    pub(crate) fn insert_by_time(&mut self, events: Vec<Event>) {
        let at = subagents::place(&self.events, &events);
        self.events.splice(at..at, events);
    }

    /// Whether the agent has a call without a result.
    pub(crate) fn awaits(&self) -> bool {
        self.open.iter().any(|open| open.lane == Lane::Main)
    }

    /// Adds a tool run that is recorded apart from the reply that asked for it, with its result.
    pub(crate) fn ran(&mut self, ran: ToolCall, result: Message) {
        let Some(id) = self.request_of(&ran) else {
            self.events.extend(requests::host_events(ran, result));
            return;
        };
        let mut result = result;
        result.tool_call_id = Some(id);
        self.events.push(Event::Message(result));
    }

    /// The id of the request that this run answers.
    fn request_of(&mut self, ran: &ToolCall) -> Option<Name> {
        match &ran.id {
            Some(id) if self.requests.close(id) => Some(id.clone()),
            _ => self.requests.take(ran),
        }
    }

    /// Adds a note, which only some frameworks' rules read.
    pub(crate) fn note(&mut self, kind: impl Into<Name>, body: Option<Json>) {
        if let Some(body) = body {
            self.events.push(Event::Note(Note { kind: kind.into(), body }));
        }
    }

    /// Adds the host's marker that the agent was interrupted.
    pub(crate) fn interrupted(&mut self) {
        self.events.push(Event::interruption());
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The events so far.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The messages so far.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        messages(&self.events)
    }

    /// The last event, if it is a message.
    pub(crate) fn last_message(&self) -> Option<&Message> {
        self.events.last()?.message()
    }

    /// Builds the run. Its model is that of the first reply unless the header has one.
    pub(crate) fn into_draft(self, header: Header, grade: Grade) -> Draft {
        let model = header.model.or(self.model.map(String::from));
        let mut events = self.events;
        let requests = requests::settle(&mut events);
        Draft { header: Header { model, requests, ..header }, events, grade, warnings: Vec::new() }
    }

    fn open(&mut self, call: &mut ToolCall, lane: &Lane, reply: usize) {
        let recorded = call.id.take().filter(|id| !id.is_empty());
        let own = recorded.clone().filter(|id| !self.given.contains(id));
        let id = own.unwrap_or_else(|| {
            loop {
                self.n_calls += 1;
                let id = Name::from(format!("call-{}", self.n_calls));
                if !self.given.contains(&id) {
                    break id;
                }
            }
        });
        self.given.insert(id.clone());
        call.id = Some(id.clone());
        if self.are_runs_apart && *lane == Lane::Main {
            self.requests.add(id, call);
            return;
        }
        self.open.push(OpenCall { recorded, id, name: call.name.clone(), lane: lane.clone(), reply });
    }

    /// Gives a result the id of the call it answers.
    fn join(&mut self, result: &mut Message) {
        let recorded = result.tool_call_id.take().filter(|id| !id.is_empty());
        let same_lane = |open: &OpenCall| open.lane == result.lane;
        let found = if let Some(recorded) = &recorded {
            // The same id may have been used twice without the first call ever being answered.
            let matches = |open: &OpenCall| open.recorded.as_ref() == Some(recorded) && same_lane(open);
            let latest = self.open.iter().filter(|open| matches(open)).map(|open| open.reply).max();
            self.open.iter().position(|open| matches(open) && Some(open.reply) == latest)
        } else {
            let latest = self.open.iter().filter(|open| same_lane(open)).map(|open| open.reply).max();
            let of_reply = |open: &OpenCall| same_lane(open) && Some(open.reply) == latest;
            let named = |open: &OpenCall| result.name.is_none() || result.name.as_ref() == Some(&open.name);
            match self.open.iter().position(|open| of_reply(open) && named(open)) {
                Some(at) => Some(at),
                None => self.open.iter().position(of_reply),
            }
        };
        let Some(found) = found else {
            result.tool_call_id = recorded;
            return;
        };
        let open = self.open.remove(found);
        result.tool_call_id = Some(open.id);
        result.name = result.name.take().or(Some(open.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(calls: &[Option<&str>]) -> Message {
        let mut reply = Message::new(Role::Assistant);
        reply.tool_calls = calls.iter().map(|id| ToolCall::new(*id, "ls", "{}")).collect();
        reply
    }

    fn result(id: Option<&str>) -> Message {
        let mut result = Message::saying(Role::Tool, "ok");
        result.tool_call_id = id.map(Into::into);
        result
    }

    fn ids(turns: Turns) -> Vec<String> {
        let draft = turns.into_draft(Header::default(), Grade::default());
        let of = |message: &Message| match message.role {
            Role::Tool => vec![format!("<{}", message.tool_call_id.as_deref().unwrap_or("-"))],
            _ => message.tool_calls.iter().map(|call| call.id.as_deref().unwrap_or("-").to_owned()).collect(),
        };
        messages(&draft.events).flat_map(of).collect()
    }

    #[test]
    fn calls_without_ids_are_answered_in_order() {
        let mut turns = Turns::default();
        turns.push(reply(&[None, Some("")]));
        turns.push(result(None));
        turns.push(result(Some("")));
        turns.push(reply(&[Some("")]));
        turns.push(result(Some("")));
        assert_eq!(ids(turns), ["call-1", "call-2", "<call-1", "<call-2", "call-3", "<call-3"]);
    }

    #[test]
    fn an_id_given_twice_answers_the_later_call() {
        let mut turns = Turns::default();
        turns.push(reply(&[Some("a")]));
        turns.push(reply(&[Some("a"), Some("b")]));
        turns.push(result(Some("b")));
        turns.push(result(Some("a")));
        turns.push(result(Some("z")));
        assert_eq!(ids(turns), ["a", "call-1", "b", "<b", "<call-1", "<z"]);
    }

    #[test]
    fn pieces_of_one_reply_become_one_reply() {
        let mut turns = Turns::default();
        turns.piece("m", Message::saying(Role::Assistant, "one"));
        turns.piece("m", reply(&[None]));
        turns.call(ToolCall::new(None, "cat", "{}"), None);
        turns.push(result(None));
        assert_eq!(turns.len(), 2);
        assert_eq!(turns.last_reply().unwrap().tool_calls.len(), 2);
    }
}
