//! Runs a stack beside an agent: `cargo run -p whenstop-core --example live`.
//!
//! The stack file that `whenstop compare` replays over recordings here decides while the agent works.

use whenstop_core::{Event, Header, Live, Message, Role, StackFile, ToolCall};

const STACKS: &str = r#"
[[stack]]
name = "careful"
any = [{ signal = "errors.streak", at_least = 3 }, { signal = "tokens.total", at_least = 200_000 }]
cap = { steps = 50 }
"#;

/// What an agent would get from its model and its tools.
fn model_call() -> Event {
    let mut reply = Message::saying(Role::Assistant, "let me look");
    reply.tool_calls.push(ToolCall::new(Some("call-1"), "read_file", r#"{"path": "notes.txt"}"#));
    Event::Message(reply)
}

fn tool_result() -> Event {
    let mut result = Message::saying(Role::Tool, "no such file");
    result.is_error = Some(true);
    Event::Message(result)
}

#[expect(clippy::print_stdout, reason = "an example speaks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stack = StackFile::parse("stacks.toml", STACKS)?.stack("careful").ok_or("no such stack")?;
    let mut live = Live::start(&stack, Header::named("run-1"));
    live.push(Event::Message(Message::saying(Role::User, "what is in notes.txt?")));
    while !live.has_ended() {
        for decision in live.request() {
            println!("{} {} by {}: {:?}", decision.point, decision.action, decision.rule, decision.evidence);
        }
        if !live.has_ended() {
            live.push(model_call());
            live.push(tool_result());
        }
    }
    Ok(())
}
