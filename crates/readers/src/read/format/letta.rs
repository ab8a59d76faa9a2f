//! Letta agent files (`.af`): the agents and their messages; each conversation is a run.

use super::{Format, reason_if};
use crate::open::probe::{Probe, Sketch};
use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::outcomes::failed_by_status;
use crate::record::reading::{Reading, Record};
use crate::transcript::{Grade, Header, Instant, Message, Origin, PromptedBy, Role};

/// Letta agent files.
pub(super) static FORMAT: Format = Format {
    id: "letta",
    summary: "Letta agent files: .af",
    recognise,
    prompted_by: PromptedBy::Person,
    ..Format::reading(read)
};

fn recognise(probe: &Probe) -> Option<String> {
    let is_agent = |value: &Sketch| value.has(&["agent_type", "llm_config", "messages"]);
    let document = probe.document()?;
    if is_agent(document) {
        return Some("an agent with `agent_type`, `llm_config` and `messages`".to_owned());
    }
    // Agents have more fields than a sketch keeps.
    let agents = document.get("agents")?.elements();
    let is_agent = |value: &Sketch| value.has(&["agent_type", "llm_config"]);
    reason_if(agents.iter().any(is_agent), "`agents` with `agent_type` and `llm_config`")
}

fn read(record: &Record<'_>, out: &mut Reading<'_>) {
    let Some(whole) = Node::whole(record, out) else { return };
    let agents = if whole.has("agents") { whole.list("agents", out) } else { vec![whole] };
    let alone = agents.len() == 1;
    for (n, agent) in agents.iter().enumerate() {
        let mut turns = Turns::default();
        let mut begun = Begun::default();
        for message in agent.list("messages", out) {
            push(&message, &mut turns, &mut begun, out);
        }
        let stem = &record.file.stem;
        let id = agent.some_word(["id", "name"]).unwrap_or_else(|| n.to_string());
        let header = Header {
            run_id: if alone { stem.clone() } else { format!("{stem}/{id}") },
            model: agent.within("llm_config").some_word("model"),
            agent: Some("letta".to_owned()),
            ..Header::default()
        };
        out.run(turns.into_draft(header, Grade::default()));
    }
}

/// The opening of a conversation: the host itself writes the first reply, at the same moment as the system message.
#[derive(Default)]
struct Begun {
    /// When the system message was written.
    at: Option<Instant>,
    /// Whether a message after the opening has been seen.
    over: bool,
}

impl Begun {
    /// Whether this message is part of the opening.
    fn holds(&mut self, message: &Message) -> bool {
        if message.role == Role::System && self.at.is_none() {
            self.at = message.ts;
        }
        let together = match (self.at, message.ts) {
            (Some(begun), Some(ts)) => ts.since(begun).0 <= 50,
            _ => false,
        };
        self.over |= message.role == Role::User || !together;
        !self.over
    }
}

/// Roles of summaries and host events, which are not messages by anyone.
const NOBODYS: &[&str] = &["summary", "event", "heartbeat"];

fn push(node: &Node<'_>, turns: &mut Turns, begun: &mut Begun, out: &mut Reading<'_>) {
    // An approval request is a reply whose call waits for a person.
    let is_approval = node.is("role", "approval");
    if is_approval && !node.has("tool_calls") {
        return;
    }
    let role = node.string("role", out).unwrap_or_default();
    if !is_approval && NOBODYS.contains(&&*role) {
        return out.unknown_kind(&role);
    }
    let written = if is_approval { node.written().replacen("\"approval\"", "\"assistant\"", 1) } else { String::new() };
    let raw = if is_approval { written.as_str() } else { node.written() };
    let Some(mut message) = openai::message(raw, out) else { return };
    if message.role == Role::Tool {
        let returned = node.some_list("tool_returns").into_iter().next().unwrap_or_default();
        message.is_error = failed_by_status(returned.some_word("status").as_deref()).or(message.is_error);
    }
    if begun.holds(&message) && message.role != Role::System {
        message.origin = Origin::Host;
    }
    turns.push(message);
}
