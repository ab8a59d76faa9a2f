//! Rebuilds a conversation from model calls and tool runs that were recorded as spans.
//!
//! Every model span repeats the history it was sent; only the new part is used. Results come from the tools' own
//! spans, which record failures, or else from the next call's history.

use std::collections::HashMap;

use crate::read::requests::{self, OpenRequests};
use crate::record::reading::Reading;
use crate::transcript::{
    Draft, EndCause, Event, Fingerprint, Grade, Header, Instant, Lane, Message, Name, Requests, Role, Text, ToolCall,
    messages,
};

/// One span from any recorder.
#[derive(Debug)]
pub(crate) struct Span {
    /// Its id, unique within the run.
    pub(crate) id: String,
    /// The id of its parent span.
    pub(crate) parent: Option<String>,
    /// Start time, in any unit that orders the spans of a run.
    pub(crate) start: Option<i128>,
    /// End time.
    pub(crate) end: Option<Instant>,
    /// Its name, or its agent's.
    pub(crate) name: String,
    /// What it records.
    pub(crate) kind: SpanContent,
}

/// What a span records.
#[derive(Debug)]
pub(crate) enum SpanContent {
    /// A model call.
    Model(Box<ModelCall>),
    /// A tool that ran.
    Tool(ToolRun),
    /// An agent, whose spans are inside it.
    Agent,
    /// Anything else.
    Other,
}

/// A model call.
#[derive(Debug)]
pub(crate) struct ModelCall {
    /// The messages it was sent.
    pub(crate) input: Vec<Message>,
    /// Its reply, with usage.
    pub(crate) reply: Message,
}

/// A tool that ran.
#[derive(Debug, Default)]
pub(crate) struct ToolRun {
    /// The id of the call it answers.
    pub(crate) call_id: Option<String>,
    /// Its arguments.
    pub(crate) arguments: Option<Text>,
    /// Its result.
    pub(crate) result: Option<Text>,
    /// Whether it failed; `None` if unknown.
    pub(crate) is_error: Option<bool>,
}

/// A rebuilt conversation.
#[derive(Debug, Default)]
pub(crate) struct RebuiltConversation {
    /// Its events, in order.
    pub(crate) events: Vec<Event>,
    /// What the spans say about the calls that replies asked for.
    pub(crate) requests: Requests,
}

/// A model call of the main agent with its new messages and results.
struct SpanStep {
    lead: Vec<Message>,
    reply: Message,
    side: Vec<Message>,
    results: Vec<Message>,
    /// The tools that ran after it and that no reply is known to have asked for, with their results.
    unasked: Vec<Event>,
}

impl SpanStep {
    fn request_with_id(&self, id: &Name) -> Option<usize> {
        self.reply.tool_calls.iter().position(|call| call.id.as_ref() == Some(id))
    }
}

/// Delivers the run with these spans; one without model calls is only counted, as what `without` says.
pub(crate) fn hand_over(spans: Vec<Span>, header: Header, grade: Grade, without: &str, out: &mut Reading<'_>) {
    if !spans.iter().any(|span| matches!(span.kind, SpanContent::Model(_))) {
        return out.unknown_kind(without);
    }
    let RebuiltConversation { events, requests } = conversation(spans);
    let model = messages(&events).find_map(|message| message.model()).map(str::to_owned);
    out.run(Draft { header: Header { model, requests, ..header }, events, grade, warnings: Vec::new() });
}

/// Rebuilds the conversation from the spans of one run.
fn conversation(spans: Vec<Span>) -> RebuiltConversation {
    let spans = without_wrappers(in_order(spans));
    let places = SpanParents::from_spans(&spans);
    let lanes: Vec<Lane> = places.lanes(&spans);
    let mut talk = Talk::default();
    for (span, lane) in spans.into_iter().zip(lanes) {
        match span.kind {
            SpanContent::Model(call) => talk.model(*call, span.end, &lane),
            SpanContent::Tool(tool) => talk.tool(&span.name, tool, span.end, &lane),
            SpanContent::Agent | SpanContent::Other => {}
        }
    }
    talk.into_conversation()
}

/// Sorts by start; a span without a start stays after the span it follows in the file.
fn in_order(spans: Vec<Span>) -> Vec<Span> {
    let mut last = None;
    let mut keyed: Vec<(Option<i128>, Span)> = spans
        .into_iter()
        .map(|span| {
            last = span.start.or(last);
            (last, span)
        })
        .collect();
    keyed.sort_by_key(|(start, _)| *start);
    keyed.into_iter().map(|(_, span)| span).collect()
}

/// Drops model spans that only wrap other model spans, since they repeat the sum of their children. If a wrapper holds
/// a single call, it fills in what that call lacks.
fn without_wrappers(mut spans: Vec<Span>) -> Vec<Span> {
    let places = SpanParents::from_spans(&spans);
    let mut inner = vec![Vec::new(); spans.len()];
    for (at, span) in spans.iter().enumerate() {
        let is_model = matches!(span.kind, SpanContent::Model(_));
        let is_tool = matches!(span.kind, SpanContent::Tool(_));
        if !is_model && !is_tool {
            continue;
        }
        for above in places.above(at) {
            let outer = &spans[above];
            match (&outer.kind, is_model) {
                (SpanContent::Model(_), true) => {
                    inner[above].push(at);
                    break;
                }
                (SpanContent::Tool(run), false) => {
                    let same = matches!(&span.kind, SpanContent::Tool(tool) if tool.call_id == run.call_id);
                    if same && outer.name == span.name {
                        inner[above].push(at);
                    }
                    break;
                }
                (SpanContent::Agent | SpanContent::Tool(_), _) => break,
                _ => {}
            }
        }
    }
    for (outer, found) in inner.into_iter().enumerate().filter(|(_, found)| !found.is_empty()) {
        let kind = std::mem::replace(&mut spans[outer].kind, SpanContent::Other);
        let SpanContent::Model(wrapper) = kind else { continue };
        let [only] = found.as_slice() else { continue };
        if let Some(Span { kind: SpanContent::Model(call), .. }) = spans.get_mut(*only) {
            complete(call, *wrapper);
        }
    }
    spans
}

/// Fills in what the inner call does not record.
fn complete(call: &mut ModelCall, wrapper: ModelCall) {
    if call.input.is_empty() {
        call.input = wrapper.input;
    }
    let (reply, outer) = (&mut call.reply, wrapper.reply);
    // Some recorders write Python's `None` as the text of a reply that only makes calls.
    let says_none = reply.tool_calls.is_empty() && reply.text() == "None";
    if is_silent(reply) || (says_none && !outer.tool_calls.is_empty()) {
        reply.set_reasoning(outer.reasoning().cloned());
        reply.content.clone_from(&outer.content);
        reply.tool_calls.clone_from(&outer.tool_calls);
    }
    reply.set_usage(reply.usage().or(outer.usage()));
    reply.set_cost(reply.cost().or(outer.cost()));
    reply.set_model(reply.model().or(outer.model()).map(Into::into));
    reply.set_finish_reason(reply.finish_reason().or(outer.finish_reason()).map(Into::into));
}

fn is_silent(message: &Message) -> bool {
    !message.has_text() && message.tool_calls.is_empty()
}

/// The parent of each span.
struct SpanParents {
    parents: Vec<Option<usize>>,
}

impl SpanParents {
    fn from_spans(spans: &[Span]) -> Self {
        let index: HashMap<&str, usize> = spans.iter().enumerate().map(|(at, span)| (span.id.as_str(), at)).collect();
        let parent = |span: &Span| index.get(span.parent.as_deref()?).copied();
        Self { parents: spans.iter().map(parent).collect() }
    }

    /// The ancestors of span `at`, innermost first. The limit guards against cycles.
    fn above(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |at: &usize| self.parents.get(*at).copied().flatten();
        std::iter::successors(next(&at), next).take(self.parents.len().min(256))
    }

    /// The lane of each span: whatever runs inside a tool, or inside an agent nested in the outermost agent, belongs
    /// to a sub-agent.
    fn lanes(&self, spans: &[Span]) -> Vec<Lane> {
        let is_tool = |span: &&Span| matches!(span.kind, SpanContent::Tool(_));
        let is_agent = |span: &&Span| matches!(span.kind, SpanContent::Agent);
        let is_model = |at: &usize| matches!(spans[*at].kind, SpanContent::Model(_));
        let above = |at: usize| self.above(at).map(|above| &spans[above]);
        let depth = |at: usize| (above(at).filter(is_tool).count(), above(at).filter(is_agent).count());
        let main = (0..spans.len()).filter(is_model).map(depth).min().unwrap_or_default();
        let lane = |at: usize| {
            if depth(at) <= main {
                return Lane::Main;
            }
            let owner = above(at).find(|span| is_agent(span) || is_tool(span));
            Lane::Side(owner.map(|owner| owner.name.as_str()).unwrap_or_default().into())
        };
        (0..spans.len()).map(lane).collect()
    }
}

/// The conversation being built.
#[derive(Default)]
struct Talk {
    before: Vec<Event>,
    pieces: Vec<SpanStep>,
    /// The latest piece in which each call id was requested.
    asked: HashMap<Name, usize>,
    /// The requests whose tools have not run yet, by piece and place in its reply.
    requests: OpenRequests<(usize, usize)>,
    /// How often each text by the user or in the instructions has occurred so far.
    said: HashMap<Fingerprint, usize>,
}

impl Talk {
    fn model(&mut self, call: ModelCall, end: Option<Instant>, lane: &Lane) {
        let ModelCall { input, mut reply } = call;
        reply.ts = reply.ts.or(end);
        reply.lane = lane.clone();
        if *lane != Lane::Main {
            self.beside(reply);
            return;
        }
        let lead = self.lead(input);
        self.ask(&reply, self.pieces.len());
        self.pieces.push(SpanStep { lead, reply, side: Vec::new(), results: Vec::new(), unasked: Vec::new() });
    }

    /// Notes the calls that the reply of piece `at` asks for.
    fn ask(&mut self, reply: &Message, at: usize) {
        for (nth, call) in reply.tool_calls.iter().enumerate() {
            self.requests.add((at, nth), call);
            if let Some(id) = &call.id {
                self.asked.insert(id.clone(), at);
            }
        }
    }

    fn beside(&mut self, message: Message) {
        match self.pieces.last_mut() {
            Some(piece) => piece.side.push(message),
            None => self.before.push(Event::Message(message)),
        }
    }

    /// The new messages in the history that a call was sent.
    fn lead(&mut self, input: Vec<Message>) -> Vec<Message> {
        let mut lead = Vec::new();
        let mut counted: HashMap<Fingerprint, usize> = HashMap::new();
        let at = self.pieces.len().saturating_sub(1);
        if let Some(last) = self.pieces.last_mut().filter(|piece| is_silent(&piece.reply)) {
            // The reply was not recorded, but it is in the next call's history.
            if let Some(reply) = input.iter().rev().find(|message| message.role == Role::Assistant)
                && last.reply.finish_reason() != Some("error")
            {
                last.reply.content.clone_from(&reply.content);
                last.reply.tool_calls.clone_from(&reply.tool_calls);
                self.ask(reply, at);
            }
        }
        for mut message in input {
            match message.role {
                Role::Tool => self.late_result(message, &mut lead),
                Role::Assistant if self.pieces.is_empty() => {
                    message.lane = Lane::Canned;
                    lead.push(message);
                }
                Role::Assistant => {}
                Role::User | Role::System => {
                    let print = Fingerprint::from_list([message.content_print(), Fingerprint(message.role as u64)]);
                    let count = counted.entry(print).or_default();
                    *count += 1;
                    let said = self.said.entry(print).or_default();
                    if *count > *said {
                        *said += 1;
                        lead.push(message);
                    }
                }
            }
        }
        lead
    }

    /// Adds a result found in the next call's history, for a call whose tool has no span of its own.
    fn late_result(&mut self, mut message: Message, lead: &mut Vec<Message>) {
        if self.pieces.is_empty() {
            message.lane = Lane::Canned;
            lead.push(message);
            return;
        }
        let at = match message.tool_call_id.as_deref() {
            Some(id) => self.asked.get(id).copied(),
            None => self.pieces.len().checked_sub(1),
        };
        let Some(at) = at else { return };
        let Some(piece) = self.pieces.get_mut(at) else { return };
        let answers = |result: &&mut Message| match &message.tool_call_id {
            Some(id) => result.tool_call_id.as_ref() == Some(id),
            None => result.name.is_some() && result.name == message.name,
        };
        let unasked = piece.unasked.iter_mut().filter_map(|event| match event {
            Event::Message(message) if message.role == Role::Tool => Some(message),
            _ => None,
        });
        if let Some(known) = piece.results.iter_mut().chain(unasked).find(answers) {
            known.content = known.content.take().or(message.content);
            known.is_error = known.is_error.or(message.is_error);
            return;
        }
        if piece.results.len() >= piece.reply.tool_calls.len() && message.tool_call_id.is_none() {
            return;
        }
        let is_answered = |call: &ToolCall| match &message.tool_call_id {
            Some(id) => call.id.as_ref() == Some(id),
            None => message.name.as_ref() == Some(&call.name),
        };
        if let Some(nth) = piece.reply.tool_calls.iter().position(is_answered) {
            message.name.get_or_insert_with(|| piece.reply.tool_calls[nth].name.clone());
            self.requests.close(&(at, nth));
        }
        piece.results.push(message);
    }

    fn tool(&mut self, name: &str, tool: ToolRun, end: Option<Instant>, lane: &Lane) {
        let mut result = Message::new(Role::Tool);
        result.lane = lane.clone();
        result.tool_call_id = tool.call_id.as_deref().map(Into::into);
        result.name = Some(name.into());
        (result.content, result.is_error, result.ts) = (tool.result, tool.is_error, end);
        if *lane != Lane::Main {
            self.beside(result);
            return;
        }
        let ran = ToolCall::new(tool.call_id.as_deref(), name, tool.arguments.unwrap_or_default());
        let Some((at, nth)) = self.request_of(&ran) else {
            if let (Some(id), Some(at)) = (&ran.id, self.pieces.len().checked_sub(1)) {
                self.asked.insert(id.clone(), at);
            }
            let events = requests::host_events(ran, result);
            match self.pieces.last_mut() {
                Some(piece) => piece.unasked.extend(events),
                None => self.before.extend(events),
            }
            return;
        };
        self.requests.close(&(at, nth));
        let Some(piece) = self.pieces.get_mut(at) else { return };
        if let Some(call) = piece.reply.tool_calls.get_mut(nth) {
            result.tool_call_id = call.id.clone().or(result.tool_call_id);
            if call.arguments.is_empty() {
                *call = ToolCall::new(call.id.as_deref(), name, ran.arguments);
            }
        }
        piece.results.push(result);
    }

    /// The piece and the place in its reply of the request that this run answers.
    fn request_of(&mut self, ran: &ToolCall) -> Option<(usize, usize)> {
        if let Some(id) = &ran.id
            && let Some(at) = self.asked.get(id)
            && let Some(piece) = self.pieces.get(*at)
            && let Some(nth) = piece.request_with_id(id)
        {
            return Some((*at, nth));
        }
        self.requests.take(ran)
    }

    fn into_conversation(self) -> RebuiltConversation {
        let mut events = self.before;
        for piece in self.pieces {
            events.extend(piece.lead.into_iter().map(Event::Message));
            events.push(Event::Message(piece.reply));
            events.extend(piece.side.into_iter().map(Event::Message));
            events.extend(piece.results.into_iter().map(Event::Message));
            events.extend(piece.unasked);
        }
        let requests = requests::settle(&mut events);
        RebuiltConversation { events, requests }
    }
}

/// Why a run ended, judged by the text of the error that ended it.
pub(crate) fn end_by_error(error: &str) -> EndCause {
    let error = error.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if has(&["timeout", "timed out", "deadline"]) {
        EndCause::Timeout
    } else if has(&[
        "recursion limit",
        "graphrecursion",
        "max_turns",
        "max turns",
        "maxturns",
        "max iterations",
        "usage limit",
        "usagelimit",
    ]) {
        EndCause::Cap
    } else if has(&["cancel", "keyboardinterrupt", "interrupted", "aborted"]) {
        EndCause::Killed
    } else {
        EndCause::Error
    }
}
