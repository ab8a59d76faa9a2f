//! Which recorded tool runs a reply asked for, and which the host made on its own.
//!
//! Some recorders write what a model asked for and what ran separately. A run is paired with the request it answers by
//! its id, or else by its name and arguments: never by order alone, since hosts run tools of their own in between. A run
//! that no reply asked for is the host's ([`Lane::Host`]).

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;

use serde_json::Value;

use crate::transcript::{Event, Fingerprint, Lane, Message, Name, Requests, Role, ToolCall, messages};

/// Whether it is a reply that counts as a step.
pub(crate) fn is_step(event: &Event) -> bool {
    matches!(event, Event::Message(message) if message.is_step())
}

/// The latest requests that are looked at for one whose arguments the host changed.
const LATEST: usize = 64;

/// Requests whose tools have not run yet, as far as is known. A `Place` says where a request stands.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests<Place> {
    /// In the order in which they were made.
    open: BTreeMap<usize, (Place, ToolCall)>,
    /// How many were added.
    added: usize,
    numbers: HashMap<Place, usize>,
    by_call: HashMap<Fingerprint, VecDeque<usize>>,
    by_values: HashMap<Vec<String>, VecDeque<usize>>,
}

impl<Place: Eq + Hash + Clone> OpenRequests<Place> {
    /// Adds a request.
    pub(crate) fn add(&mut self, place: Place, request: &ToolCall) {
        let number = self.added;
        self.added += 1;
        self.by_call.entry(request.canonical_print()).or_default().push_back(number);
        if let Some(values) = values(request) {
            self.by_values.entry(values).or_default().push_back(number);
        }
        self.numbers.insert(place.clone(), number);
        self.open.insert(number, (place, request.clone()));
    }

    /// Takes the request at that place out, as its result is known; false if it is not open.
    pub(crate) fn close(&mut self, place: &Place) -> bool {
        let Some(number) = self.numbers.remove(place) else { return false };
        self.open.remove(&number).is_some()
    }

    /// Takes out the request that this run answers: the oldest with its name and arguments, else one with the same values
    /// under other names, else one of the latest whose arguments the host completed or the recorder left out.
    pub(crate) fn take(&mut self, ran: &ToolCall) -> Option<Place> {
        let alike = self.equal(ran).or_else(|| self.latest(is_completed_by, ran));
        let number = alike.or_else(|| self.latest(is_not_comparable, ran))?;
        let (place, _) = self.open.remove(&number)?;
        self.numbers.remove(&place);
        Some(place)
    }

    /// The oldest open request with the run's name and arguments, or else with its values.
    fn equal(&mut self, ran: &ToolCall) -> Option<usize> {
        if let Some(number) = first_open(&self.open, self.by_call.get_mut(&ran.canonical_print())) {
            return Some(number);
        }
        first_open(&self.open, self.by_values.get_mut(&values(ran)?))
    }

    /// The oldest of the latest open requests that fits.
    fn latest(&self, fits: fn(&ToolCall, &ToolCall) -> bool, ran: &ToolCall) -> Option<usize> {
        let latest = self.open.iter().rev().take(LATEST);
        latest.filter(|(_, (_, request))| fits(request, ran)).last().map(|(number, _)| *number)
    }
}

/// The first of these numbers whose request is still open.
fn first_open<Open>(open: &BTreeMap<usize, Open>, numbers: Option<&mut VecDeque<usize>>) -> Option<usize> {
    let numbers = numbers?;
    while let Some(number) = numbers.pop_front() {
        if open.contains_key(&number) {
            return Some(number);
        }
    }
    None
}

/// The values of the arguments, whatever they are called: hosts call tools and arguments by other names than models do.
/// `None` without a text among them, as numbers and flags alone occur in too many calls.
fn values(call: &ToolCall) -> Option<Vec<String>> {
    let Some(Value::Object(arguments)) = call.json_arguments() else { return None };
    let mut values: Vec<String> = arguments.values().map(Value::to_string).collect();
    values.sort();
    if values.iter().any(|value| value.starts_with('"')) { Some(values) } else { None }
}

/// True if the host ran the request with further arguments, such as its defaults.
fn is_completed_by(request: &ToolCall, ran: &ToolCall) -> bool {
    let (Some(Value::Object(asked)), Some(Value::Object(given))) = (request.json_arguments(), ran.json_arguments())
    else {
        return false;
    };
    request.name == ran.name && !asked.is_empty() && asked.iter().all(|(name, value)| given.get(name) == Some(value))
}

/// True for calls of one tool if the arguments of either are not recorded, or not as JSON: nothing says they differ.
fn is_not_comparable(request: &ToolCall, ran: &ToolCall) -> bool {
    let is_object = |call: &ToolCall| matches!(call.json_arguments(), Some(Value::Object(_)));
    request.name == ran.name && !(is_object(request) && is_object(ran))
}

/// The events of a tool run that no known reply asked for, until [`settle`] decides whose it was.
pub(crate) fn host_events(ran: ToolCall, result: Message) -> [Event; 2] {
    let (mut call, mut result) = (Message::new(Role::Assistant), result);
    (call.lane, result.lane) = (Lane::Host, Lane::Host);
    call.ts = result.ts;
    result.tool_call_id.clone_from(&ran.id);
    call.tool_calls.push(ran);
    [Event::Message(call), Event::Message(result)]
}

/// Decides whose the runs are that no reply is known to have asked for.
///
/// Where replies record the calls they ask for, the host's. Where they do not, a run belongs to the reply before it,
/// unless that one asked for nothing: it says so, or it is the final answer. Returns what is known of the requests.
pub(crate) fn settle(events: &mut Vec<Event>) -> Requests {
    if !messages(events).any(Message::is_host_call) {
        return Requests::Recorded;
    }
    let are_recorded = messages(events).any(|m| m.is_step() && !m.tool_calls.is_empty());
    let last_reply = events.iter().rposition(is_step);
    let mut ids = Ids::from_events(events);
    let mut requests = Requests::Recorded;
    let mut settled: Vec<Event> = Vec::with_capacity(events.len());
    let (mut reply, mut is_last, mut given) = (None::<usize>, false, None);
    for (at, event) in std::mem::take(events).into_iter().enumerate() {
        let Event::Message(mut message) = event else {
            settled.push(event);
            continue;
        };
        if message.is_step() {
            (reply, is_last) = (Some(settled.len()), Some(at) == last_reply);
        }
        if message.is_host_call() {
            given = None;
            if let Some(reply) = reply
                && let Some(Event::Message(asker)) = settled.get_mut(reply)
                && may_have_asked(asker, &message, are_recorded, is_last)
            {
                for mut call in std::mem::take(&mut message.tool_calls) {
                    if call.id.is_none() && asks_by_reason(asker) != Some(true) {
                        requests = Requests::OnlyRuns;
                    }
                    let id = ids.unique(call.id.take());
                    given = Some(id.clone());
                    call.id = Some(id);
                    asker.tool_calls.push(call);
                }
            } else {
                settled.push(Event::Message(message));
            }
            continue;
        }
        if message.lane == Lane::Host
            && let Some(id) = given.take()
        {
            (message.lane, message.tool_call_id) = (Lane::Main, Some(id));
        }
        settled.push(Event::Message(message));
    }
    *events = settled;
    requests
}

/// Whether `reply`, the last one before a run without a known request, may have asked for it.
fn may_have_asked(reply: &Message, run: &Message, are_recorded: bool, is_last: bool) -> bool {
    let has_text = reply.has_text();
    // Models' providers give calls their ids, so an id says that some reply asked.
    let has_id = run.tool_calls.iter().any(|call| call.id.is_some());
    match asks_by_reason(reply) {
        _ if are_recorded => has_id && !has_text && reply.tool_calls.is_empty(),
        Some(asks) => asks,
        None => has_id || !(is_last && has_text),
    }
}

/// Whether a reply asked for calls, by the reason its provider gave for its end; `None` if the reason leaves it open.
/// Some providers say `stop` in either case.
fn asks_by_reason(reply: &Message) -> Option<bool> {
    match reply.finish_reason()? {
        "tool_calls" | "tool_use" | "tool-calls" | "tool_call" | "function_call" => Some(true),
        "end_turn" => Some(false),
        _ => None,
    }
}

/// Ids of calls, each used once.
struct Ids {
    used: HashSet<Name>,
    n_given: usize,
}

impl Ids {
    fn from_events(events: &[Event]) -> Self {
        let steps = messages(events).filter(|message| message.is_step());
        let used = steps.flat_map(|reply| &reply.tool_calls).filter_map(|call| call.id.clone()).collect();
        Self { used, n_given: 0 }
    }

    fn unique(&mut self, recorded: Option<Name>) -> Name {
        let mut id = recorded;
        loop {
            if let Some(id) = id.take()
                && self.used.insert(id.clone())
            {
                return id;
            }
            self.n_given += 1;
            id = Some(Name::from(format!("call-{}", self.n_given)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall::new(None, name, arguments)
    }

    #[test]
    fn a_run_answers_the_request_with_its_name_and_arguments() {
        let requests = [
            call("bash", r#"{"command":"ls"}"#),
            call("bash", r#"{"command":"pwd"}"#),
            call("read", r#"{"file_path":"/a","limit":5}"#),
            call("wait", r#"{"seconds":5}"#),
            call("grep", r#"{"pattern":"x"}"#),
            call("bash", r#"{"command":"pwd"}"#),
            call("plan", ""),
        ];
        let mut open = OpenRequests::default();
        for (place, request) in requests.iter().enumerate() {
            open.add(place, request);
        }
        for (ran, expected) in [
            (call("bash", r#"{ "command": "pwd" }"#), Some(1)),
            (call("read_file", r#"{"limit":5,"filePath":"/a"}"#), Some(2)),
            (call("sleep", r#"{"duration":5}"#), None),
            (call("grep", r#"{"pattern":"x","limit":100}"#), Some(4)),
            (call("bash", r#"{"command":"test -w /memory"}"#), None),
            (call("plan", r#"{"steps":3}"#), Some(6)),
            (call("bash", r#"{"command":"pwd"}"#), Some(5)),
            (call("bash", r#"{"command":"pwd"}"#), None),
            (call("list", "{}"), None),
        ] {
            assert_eq!(open.take(&ran), expected, "{} {}", ran.name, ran.arguments.as_str());
        }
        assert!(open.close(&0) && !open.close(&0));
    }

    fn reply(text: &str, finish_reason: Option<&str>, calls: &[&str]) -> Event {
        let mut reply = Message::saying(Role::Assistant, text);
        reply.set_finish_reason(finish_reason.map(Into::into));
        reply.tool_calls = calls.iter().map(|name| call(name, "{}")).collect();
        Event::Message(reply)
    }

    /// The calls of each reply, the host's in parentheses, and what is known of the requests.
    fn settled(mut events: Vec<Event>) -> (Vec<String>, Requests) {
        let requests = settle(&mut events);
        let names = |message: &Message| message.tool_calls.iter().map(|call| call.name.to_string()).collect::<Vec<_>>();
        let told = |message: &Message| match (message.role, &message.lane) {
            (Role::Assistant, Lane::Host) => Some(format!("({})", names(message).join(" "))),
            (Role::Assistant, _) => Some(names(message).join(" ")),
            _ => None,
        };
        (messages(&events).filter_map(told).collect(), requests)
    }

    fn ran(id: Option<&str>, name: &str) -> [Event; 2] {
        host_events(ToolCall::new(id, name, "{}"), Message::saying(Role::Tool, "ok"))
    }

    #[test]
    fn a_run_nobody_asked_for_is_the_hosts_where_requests_are_recorded() {
        let mut events = vec![reply("look", None, &["ls"])];
        events.extend(ran(None, "cat"));
        events.push(reply("done", None, &[]));
        events.extend(ran(None, "test"));
        assert_eq!(settled(events), (["ls", "(cat)", "", "(test)"].map(String::from).to_vec(), Requests::Recorded));
    }

    #[test]
    fn where_no_request_is_recorded_a_run_is_the_replys_before_it_but_not_the_final_answers() {
        let mut events: Vec<Event> = ran(None, "setup").into();
        events.push(reply("", None, &[]));
        events.extend(ran(None, "ls"));
        events.push(reply("done", None, &[]));
        events.extend(ran(None, "test"));
        assert_eq!(settled(events), (["(setup)", "ls", "", "(test)"].map(String::from).to_vec(), Requests::OnlyRuns));
    }

    #[test]
    fn an_id_or_the_reason_of_the_end_says_that_a_reply_asked() {
        let mut events = vec![reply("a", Some("tool_use"), &[])];
        events.extend(ran(None, "ls"));
        events.push(reply("b", None, &[]));
        events.extend(ran(Some("toolu_1"), "cat"));
        events.push(reply("c", Some("end_turn"), &[]));
        events.extend(ran(None, "test"));
        events.push(reply("d", None, &[]));
        events.extend(ran(Some("toolu_2"), "pwd"));
        let expected = ["ls", "cat", "", "(test)", "pwd"].map(String::from).to_vec();
        assert_eq!(settled(events), (expected, Requests::Recorded));
    }
}
