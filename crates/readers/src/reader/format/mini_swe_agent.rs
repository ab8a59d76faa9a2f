//! mini-swe-agent trajectories: one run a file, actions in fenced blocks or tool calls (FORMATS 3).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Format, Layout, Raw};
use crate::reader::probe::{Probe, Sketch};
use crate::reader::reading::{Reading, Record};
use crate::reader::{json, openai};
use crate::transcript::{Draft, EndCause, Event, Grade, Header, Message, Outcome, OutcomeSource, Role, Text, ToolCall};

/// mini-swe-agent trajectories.
pub(super) struct MiniSweAgent;

#[derive(Default, Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    info: Raw<'a>,
    #[serde(borrow)]
    messages: Raw<'a>,
    #[serde(borrow)]
    instance_id: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    exit_status: Raw<'a>,
    #[serde(borrow)]
    config: Raw<'a>,
    #[serde(borrow)]
    mini_version: Raw<'a>,
    #[serde(borrow)]
    submission: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Config<'a> {
    #[serde(borrow)]
    agent: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct ConfigPart<'a> {
    #[serde(borrow)]
    step_limit: Raw<'a>,
    #[serde(borrow)]
    cost_limit: Raw<'a>,
    #[serde(borrow)]
    model_name: Raw<'a>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    extra: Raw<'a>,
    #[serde(borrow)]
    tool_calls: Raw<'a>,
    #[serde(borrow)]
    tool_call_id: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Extra<'a> {
    #[serde(borrow)]
    response: Raw<'a>,
    #[serde(borrow)]
    timestamp: Raw<'a>,
    #[serde(borrow)]
    cost: Raw<'a>,
    #[serde(borrow)]
    returncode: Raw<'a>,
    #[serde(borrow)]
    exit_status: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    created: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Priced<'a> {
    #[serde(borrow)]
    cost: Raw<'a>,
}

impl Format for MiniSweAgent {
    fn id(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn summary(&self) -> &'static str {
        "mini-swe-agent trajectories (.traj.json)"
    }

    fn recognise(&self, probe: &Probe) -> Option<String> {
        let document = probe.document()?;
        if let Some(version) = document.text_of("trajectory_format").filter(|name| name.starts_with("mini-swe-agent")) {
            return Some(format!("`trajectory_format` is `{version}`"));
        }
        let is_message = |value: &Sketch| value.has(&["role", "content"]);
        if document.elements().first().is_some_and(is_message) && probe.name.ends_with(".traj.json") {
            return Some("messages in a file called `.traj.json`".to_owned());
        }
        let info = document.get("info")?;
        let is_mini = info.has(&["mini_version"]) || info.has(&["exit_status", "model_stats"]);
        (document.has(&["messages"]) && is_mini).then(|| "`messages` with mini-swe-agent's `info`".to_owned())
    }

    fn layout(&self, _probe: &Probe) -> Layout {
        Layout::Whole
    }

    fn joins_reports(&self) -> bool {
        true
    }

    fn prompted_by(&self) -> crate::transcript::PromptedBy {
        crate::transcript::PromptedBy::Program
    }

    fn read(&self, record: &Record<'_>, out: &mut Reading<'_>) {
        // Tests and early versions write the messages alone.
        let parsed = match record.parse::<&RawValue>() {
            Ok(whole) if whole.get().starts_with('[') => Ok(Wire { messages: Some(whole), ..Wire::default() }),
            _ => record.parse(),
        };
        let wire: Wire<'_> = match parsed {
            Ok(wire) => wire,
            Err(diagnostic) => return out.error(diagnostic),
        };
        let info: Info<'_> = out.part(wire.info, "info", "an object").unwrap_or_default();
        let config: Config<'_> = out.part(info.config, "config", "an object").unwrap_or_default();
        let agent: ConfigPart<'_> = out.part(config.agent, "config.agent", "an object").unwrap_or_default();
        let model: ConfigPart<'_> = out.part(config.model, "config.model", "an object").unwrap_or_default();
        let mut events = Vec::new();
        let mut exit = out.string(info.exit_status, "exit_status").map(std::borrow::Cow::into_owned);
        for raw in out.list(wire.messages, "messages") {
            push_message(raw, out, &mut events, &mut exit);
        }
        let instance = out.word(wire.instance_id, "instance_id").unwrap_or_else(|| record.file.stem.clone());
        let graded = record.grades.of(&instance);
        let limits: Vec<String> = [("step_limit", agent.step_limit), ("cost_limit", agent.cost_limit)]
            .into_iter()
            .filter_map(|(name, raw)| Some(format!("\"{name}\":{}", json::number(raw?)?)))
            .collect();
        let version = out.word(info.mini_version, "mini_version");
        let model = out.string(model.model_name, "model_name").map(std::borrow::Cow::into_owned);
        out.run(Draft {
            header: Header {
                run_id: record.file.stem.clone(),
                task_id: Some(instance),
                suite: Some("swe-bench".to_owned()),
                model,
                agent: Some(
                    version.map_or_else(|| "mini-swe-agent".to_owned(), |version| format!("mini-swe-agent {version}")),
                ),
                meta: RawValue::from_string(format!("{{{}}}", limits.join(","))).ok().filter(|_| !limits.is_empty()),
                delivered: info.submission.and_then(json::string).and_then(|patch| json::patched_files(&patch)),
                ..Header::default()
            },
            events,
            grade: Grade {
                outcome: Outcome::from_grade(graded.map(|graded| graded.resolved)),
                source: graded.map_or(OutcomeSource::None, |graded| OutcomeSource::Sidecar(graded.path.clone())),
                end: end_cause(exit.as_deref()),
                ..Grade::default()
            },
            warnings: Vec::new(),
        });
    }
}

fn end_cause(status: Option<&str>) -> EndCause {
    match status {
        Some("Submitted") => EndCause::SelfFinish,
        Some("LimitsExceeded") => EndCause::Cap,
        Some("TimeExceeded" | "TimeoutExpired") => EndCause::Timeout,
        Some("KeyboardInterrupt" | "UserInterruption") => EndCause::Killed,
        Some(status) if !status.is_empty() => EndCause::Error,
        _ => EndCause::Unknown,
    }
}

/// Appends one message. A user's words that answer a command are its result.
fn push_message(raw: &RawValue, out: &mut Reading<'_>, events: &mut Vec<Event>, exit: &mut Option<String>) {
    let Some(wire) = out.part::<WireMessage<'_>>(Some(raw), "message", "an object") else { return };
    let extra: Extra<'_> = out.part(wire.extra, "extra", "an object").unwrap_or_default();
    let named = out.string(wire.role, "role").unwrap_or_default();
    if named == "exit" {
        *exit = out.string(extra.exit_status, "exit_status").map(std::borrow::Cow::into_owned).or(exit.take());
        return;
    }
    let Some(role) = openai::role(&named) else {
        out.error_at(raw.get(), "a message without a known `role`", "roles are system, user, assistant, tool and exit");
        return;
    };
    let mut message = Message::new(role);
    message.content = out.content(wire.content, "content");
    message.ts = match extra.timestamp.or(wire.timestamp) {
        Some(time) => out.instant(Some(time), "timestamp"),
        None => None,
    };
    match role {
        Role::Assistant => {
            complete_reply(&mut message, &extra, out);
            let calls = out.list(wire.tool_calls, "tool_calls");
            message.tool_calls = calls.into_iter().filter_map(|call| openai::tool_call(call, out)).collect();
            if wire.tool_calls.is_none() {
                let id = format!("c{}", events.len());
                let command = only_command(&message.text());
                message.tool_calls.extend(command.map(|command| ToolCall::new(Some(&id), "bash", command)));
            }
        }
        Role::Tool | Role::User => {
            let returned = out.number(extra.returncode, "returncode").or_else(|| return_code(&message.text()));
            let asked = events.last().and_then(Event::message).filter(|last| last.is_step());
            let call = asked.and_then(|reply| reply.tool_calls.first());
            // A command that timed out and the one that submits are answered without a return code.
            if role == Role::Tool || call.is_some() {
                message.role = Role::Tool;
                message.tool_call_id = out
                    .word(wire.tool_call_id, "tool_call_id")
                    .map(Into::into)
                    .or_else(|| call.and_then(|call| call.id.clone()));
                message.name = call.map(|call| call.name.clone());
                message.is_error = returned.map(|code| code != 0.0);
            }
        }
        Role::System => {}
    }
    events.push(Event::Message(message));
}

/// Fills in what the provider's response says of the call.
fn complete_reply(message: &mut Message, extra: &Extra<'_>, out: &mut Reading<'_>) {
    let response: Response<'_> = out.part(extra.response, "extra.response", "an object").unwrap_or_default();
    message.model = out.string(response.model, "model").map(Into::into);
    message.usage = openai::usage(response.usage, out);
    let priced: Priced<'_> = out.part(response.usage, "usage", "an object").unwrap_or_default();
    message.cost = out.dollars(extra.cost.or(priced.cost), "cost");
    if message.ts.is_none() {
        message.ts = out.instant(response.created, "created");
    }
}

/// The command of a reply with exactly one fenced block for the shell, as JSON arguments.
fn only_command(text: &str) -> Option<Text> {
    let blocks: Vec<&str> = FENCES.iter().flat_map(|fence| text.split(fence).skip(1)).collect();
    let [block] = blocks[..] else { return None };
    let command = block.split("\n```").next().filter(|command| command.len() < block.len())?;
    let arguments = serde_json::json!({ "command": command.trim() });
    Some(Text::plain(arguments.to_string()))
}

/// How a block for the shell begins, in the older versions and in the newer.
const FENCES: [&str; 2] = ["```bash\n", "```mswea_bash_command\n"];

/// The return code an observation begins with.
fn return_code(text: &str) -> Option<f64> {
    text.trim_start().strip_prefix("<returncode>")?.split("</returncode>").next()?.trim().parse().ok()
}
