//! Simulations of spoken conversations, recorded as what both sides say in each tick. A reply of the agent lasts until
//! the user speaks or a tool answers.

use crate::read::openai;
use crate::read::turns::Turns;
use crate::record::node::Node;
use crate::record::reading::Reading;
use crate::transcript::{Event, Grade, Header, Instant, Lane, Message, Role, Text};

/// The events of a simulation's ticks.
pub(super) fn events(ticks: &[Node<'_>], out: &mut Reading<'_>) -> Vec<Event> {
    let mut speech = Speech::default();
    for tick in ticks {
        speech.tick(tick, out);
    }
    speech.close();
    speech.turns.into_draft(Header::default(), Grade::default()).events
}

/// The utterance in progress.
#[derive(Default)]
struct Speech {
    turns: Turns,
    speaker: Option<Role>,
    said: String,
    calls: Vec<crate::transcript::ToolCall>,
    ts: Option<Instant>,
}

impl Speech {
    fn tick(&mut self, tick: &Node<'_>, out: &mut Reading<'_>) {
        for (name, role) in [("agent_chunk", Role::Assistant), ("user_chunk", Role::User)] {
            let Some(chunk) = tick.object(name, out) else { continue };
            if chunk.flag("contains_speech", out) == Some(true) || chunk.has("content") {
                let ts = chunk.instant("timestamp", out).or_else(|| tick.instant("timestamp", out));
                let said = chunk.content("content", out).unwrap_or_default();
                self.speak(role, &said, ts);
            }
        }
        let ts = tick.instant("timestamp", out);
        for call in tick.some_list("agent_tool_calls") {
            self.speak(Role::Assistant, &Text::plain(""), ts);
            self.calls.extend(openai::tool_call(&call, out));
        }
        for (name, lane) in [("agent_tool_results", Lane::Main), ("user_tool_results", Lane::Counterpart)] {
            for found in tick.some_list(name) {
                self.close();
                let mut result = Message::new(Role::Tool);
                result.tool_call_id = found.word(["id", "tool_call_id"], out).map(Into::into);
                result.content = found.content("content", out);
                result.is_error = found.flag("error", out);
                (result.ts, result.lane) = (ts, lane.clone());
                self.turns.push(result);
            }
        }
    }

    fn speak(&mut self, role: Role, said: &Text, ts: Option<Instant>) {
        if self.speaker != Some(role) {
            self.close();
            self.speaker = Some(role);
        }
        self.said.push_str(&said.as_str());
        self.ts = ts.or(self.ts);
    }

    /// Ends the utterance in progress.
    fn close(&mut self) {
        let Some(role) = self.speaker.take() else { return };
        let mut message = Message::saying(role, Text::plain(std::mem::take(&mut self.said)));
        message.tool_calls = std::mem::take(&mut self.calls);
        message.ts = self.ts.take();
        self.turns.push(message);
    }
}
