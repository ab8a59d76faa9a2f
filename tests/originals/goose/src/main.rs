//! Goose: its `RepetitionInspector`, compiled unchanged between the few types it names, is asked what it refuses.
//!
//! Tables: `repetition_check` asks `check_tool_call`, call by call; `repetition_inspector` and `repeated_error` ask
//! `inspect` for each reply, as the agent does, and the latter tells it of each result first. An agent of goose has an
//! inspector of its own, so that what a sub-agent does is not seen by it.
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::{Map, Value, json};

use config::GooseMode;
use conversation::message::ToolRequest;
use model::CallToolRequestParams;
use tool_inspection::ToolInspector;
use tool_monitor::RepetitionInspector;

// What the inspector takes from its surroundings; `rmcp` is this crate.
extern crate self as rmcp;

pub mod model {
    use std::borrow::Cow;

    #[derive(Clone, Debug)]
    pub struct CallToolRequestParams {
        pub name: Cow<'static, str>,
        pub arguments: Option<serde_json::Map<String, serde_json::Value>>,
    }
}

mod config {
    pub enum GooseMode {
        Auto,
    }
}

mod conversation {
    pub mod message {
        pub struct Message;

        pub struct ToolRequest {
            pub id: String,
            pub tool_call: Result<crate::model::CallToolRequestParams, String>,
        }
    }
}

#[allow(dead_code)]
mod tool_inspection {
    use super::config::GooseMode;
    use super::conversation::message::{Message, ToolRequest};

    pub enum InspectionAction {
        Deny,
    }

    pub struct InspectionResult {
        pub tool_request_id: String,
        pub action: InspectionAction,
        pub reason: String,
        pub confidence: f32,
        pub inspector_name: String,
        pub finding_id: Option<String>,
    }

    #[async_trait::async_trait]
    pub trait ToolInspector: Send + Sync {
        fn name(&self) -> &'static str;
        fn as_any(&self) -> &dyn std::any::Any;
        async fn inspect(
            &self,
            session_id: &str,
            tool_requests: &[ToolRequest],
            messages: &[Message],
            goose_mode: GooseMode,
        ) -> anyhow::Result<Vec<InspectionResult>>;
    }
}

#[allow(dead_code)]
mod tool_monitor {
    include!(concat!(env!("OUT_DIR"), "/tool_monitor.rs"));
}

/// A tool's text: a string, or blocks of text.
fn text(content: &Value) -> String {
    match content {
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn params(call: &Value) -> Result<CallToolRequestParams, String> {
    let arguments: Option<Map<String, Value>> = match &call["arguments"] {
        Value::Null => None,
        Value::Object(map) => Some(map.clone()),
        other => return Err(format!("a call of goose has an object of arguments, not {other}")),
    };
    Ok(CallToolRequestParams { name: call["name"].as_str().unwrap_or_default().to_owned().into(), arguments })
}

/// The ids that `inspect` refuses, each with the finding's name. It never waits for anything.
fn refused(inspector: &RepetitionInspector, requests: &[ToolRequest]) -> Result<Vec<(String, String)>, String> {
    let asked = pin!(inspector.inspect("", requests, &[], GooseMode::Auto));
    match asked.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(results)) => {
            Ok(results.into_iter().map(|found| (found.tool_request_id, found.finding_id.unwrap_or_default())).collect())
        }
        Poll::Ready(Err(error)) => Err(error.to_string()),
        Poll::Pending => Err("the inspector waits".to_owned()),
    }
}

fn drive(rule: &str, input: &Value) -> Result<Value, String> {
    let max = match &input["config"]["max_repetitions"] {
        Value::Null => None,
        limit => Some(limit.as_u64().and_then(|limit| u32::try_from(limit).ok()).ok_or(format!("{limit} is no u32"))?),
    };
    let mut inspector = RepetitionInspector::new(max);
    let (mut actions, mut names, mut denied) = (Vec::new(), HashMap::new(), HashSet::new());
    for (at, event) in input["events"].as_array().into_iter().flatten().enumerate() {
        if event["lane"].as_str().is_some_and(|lane| lane != "main") {
            continue;
        }
        match event["role"].as_str() {
            Some("assistant") => {
                let calls = event["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
                let id = |call: &Value| call["id"].as_str().unwrap_or_default().to_owned();
                names =
                    calls.iter().map(|call| (id(call), call["name"].as_str().unwrap_or_default().to_owned())).collect();
                denied.clear();
                let mut found = Vec::new();
                if rule == "repetition_check" {
                    for call in calls {
                        if !inspector.check_tool_call(params(call)?) {
                            found.push((id(call), "check_tool_call=false".to_owned()));
                        }
                    }
                } else if !calls.is_empty() {
                    let request = |call| Ok(ToolRequest { id: id(call), tool_call: Ok(params(call)?) });
                    let requests = calls.iter().map(request).collect::<Result<Vec<_>, String>>()?;
                    found = refused(&inspector, &requests)?;
                }
                for (id, code) in found {
                    actions.push(
                        json!({"at": at, "before_tools": true, "kind": "deny", "code": code, "tool_call_id": id}),
                    );
                    denied.insert(id);
                }
            }
            Some("tool") if rule == "repeated_error" => {
                let id = event["tool_call_id"].as_str().unwrap_or_default();
                match event["is_error"].as_bool() {
                    // It did not run.
                    _ if denied.contains(id) => {}
                    Some(true) => {
                        inspector.record_error(names.get(id).map_or("", String::as_str), &text(&event["content"]))
                    }
                    Some(false) => inspector.record_success(),
                    None => return Err("whether a tool failed is not said".to_owned()),
                }
            }
            _ => {}
        }
    }
    Ok(json!({"actions": actions, "halted_at": null}))
}

fn main() {
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let rule = case["table"].as_str().and_then(|table| table.rsplit('/').next()).unwrap_or_default();
        let answer = match drive(rule, &case["input"]) {
            Ok(expected) => json!({"id": case["id"], "expected": expected}),
            Err(why) => json!({"id": case["id"], "failed": why}),
        };
        println!("{answer}");
        io::stdout().flush().unwrap();
    }
}
