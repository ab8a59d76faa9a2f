//! agentica's golden tables: judge replies, and sequences of turns through a goal.

use serde::Deserialize;
use serde_json::{Value, json};

use super::evaluate::{Referee, Turn, Verified, evaluate};
use super::goal::{Budgets, Goal, Manager, Status};
use super::reply::{self, Verdict};
use super::ruling::{Event, Ruling};
use super::{Rules, Version};
use crate::system::CaseError;

/// How a raw judge reply is read.
pub(super) fn judge_reply(input: &Value) -> Result<Value, CaseError> {
    let raw = input.get("raw").and_then(Value::as_str).ok_or_else(|| bad(&"no `raw`"))?;
    let verdict = reply::read(raw);
    Ok(json!({
        "verdict": if matches!(verdict, Verdict::Done(_)) { "done" } else { "continue" },
        "reason": verdict.reason(),
        "parse_failed": matches!(verdict, Verdict::Unreadable(_)),
    }))
}

fn bad(what: &impl ToString) -> CaseError {
    CaseError::BadCase(what.to_string())
}

/// A goal as a case writes it.
#[derive(Deserialize)]
struct WireGoal {
    #[serde(default)]
    objective: String,
    #[serde(default)]
    turn_budget: Option<i64>,
    #[serde(default)]
    token_budget: Option<i64>,
    #[serde(default)]
    wall_clock_budget_sec: Option<f64>,
    #[serde(default)]
    default_turn_budget: Option<i64>,
    #[serde(default)]
    judge: Option<String>,
    #[serde(default)]
    subgoals: Option<Vec<String>>,
    #[serde(default)]
    unset: bool,
    #[serde(default)]
    auto_judge: Option<bool>,
    #[serde(default)]
    verifier: Option<Vec<Value>>,
}

impl WireGoal {
    fn budgets(&self) -> Budgets {
        Budgets { turns: self.turn_budget, tokens: self.token_budget, seconds: self.wall_clock_budget_sec }
    }
}

/// A turn as a case writes it.
#[derive(Deserialize)]
struct WireTurn {
    #[serde(default)]
    token_delta: Option<f64>,
    #[serde(default)]
    elapsed_sec: Option<f64>,
    #[serde(default)]
    tool_calls: Option<Vec<(String, bool)>>,
    #[serde(default)]
    judge_reply: Value,
    #[serde(default)]
    ops: Option<Vec<Op>>,
}

/// Something done before a turn is evaluated.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Op {
    UpdateGoal {
        status: String,
        #[serde(default)]
        reason: String,
        #[serde(default)]
        final_answer: Option<String>,
    },
    Verify {
        #[serde(default)]
        command: String,
        #[serde(default)]
        final_answer: Option<String>,
    },
    Pause {
        #[serde(default)]
        reason: Option<String>,
    },
    Resume,
    Clear,
    Set(Box<WireGoal>),
    AddSubgoal {
        text: String,
    },
    ResumeSafety,
    NewProcess,
}

/// A sequence of turns under one version's rules.
pub(super) fn sequence(version: Version, input: &Value) -> Result<Value, CaseError> {
    let wire = |name: &str| input.get(name).cloned().ok_or_else(|| bad(&format!("no `{name}`")));
    let goal: WireGoal = serde_json::from_value(wire("goal")?).map_err(|error| bad(&error))?;
    let turns: Vec<WireTurn> = serde_json::from_value(wire("turns")?).map_err(|error| bad(&error))?;
    let mut session = Session {
        rules: Rules { version, auto_judge: goal.auto_judge.unwrap_or(true), has_judge: goal.judge.is_some() },
        default_turns: goal.default_turn_budget,
        manager: Manager::default(),
    };
    if !goal.unset {
        if let Err(refused) = session.set(&goal) {
            return Ok(json!({ "set_error": refused }));
        }
        for subgoal in goal.subgoals.iter().flatten() {
            session.manager.add_subgoal(subgoal);
        }
    }
    let mut answers = Vec::new();
    let mut first_stop = None;
    for (index, turn) in turns.iter().enumerate() {
        let verifier = goal.verifier.as_ref().and_then(|script| script.get(index));
        let (answer, goes_on) = session.play(index + 1, turn, verifier)?;
        answers.push(answer);
        first_stop = first_stop.or((!goes_on).then_some(index + 1));
    }
    Ok(json!({ "first_stop_turn": first_stop, "turns": answers }))
}

/// A goal under way.
struct Session {
    rules: Rules,
    default_turns: Option<i64>,
    manager: Manager,
}

impl Session {
    fn set(&mut self, goal: &WireGoal) -> Result<Event, String> {
        // The objective is looked at before the budgets.
        let budgets = if goal.objective.trim().is_empty() {
            Budgets::default()
        } else {
            goal.budgets().checked(self.default_turns, self.rules.version).map_err(|refused| refused.to_string())?
        };
        let new = Goal::new(budgets);
        let event = Event { reason: Some("user".to_owned()), ..Event::about(&new, "goal.set") };
        self.manager.set(&goal.objective, new).map_err(|refused| refused.to_string())?;
        Ok(event)
    }

    /// Plays a turn: what was done before it, then its evaluation. Says whether the loop goes on.
    fn play(&mut self, number: usize, turn: &WireTurn, verifier: Option<&Value>) -> Result<(Value, bool), CaseError> {
        let mut events = Vec::new();
        let mut accepted = Vec::new();
        for op in turn.ops.iter().flatten() {
            self.apply(op, &mut events, &mut accepted)?;
        }
        let charged = Turn {
            tokens: turn.token_delta.unwrap_or(0.0),
            seconds: turn.elapsed_sec.unwrap_or(0.0),
            tools: turn.tool_calls.clone().unwrap_or_default(),
        };
        let mut script = Script { judge: &turn.judge_reply, verifier, asked: false, tools_line: None };
        let rules = self.rules;
        let ruling = self.manager.evaluate(|goal| evaluate(rules, goal, &charged, &mut script));
        let ruling = ruling.unwrap_or_else(Ruling::no_goal);
        events.extend(ruling.event.clone());
        let mut answer = json!({
            "turn": number,
            "decision": decision(&ruling),
            "judge_called": script.asked,
            "state": self.manager.goal().map(|goal| state(goal, self.rules.version)),
            "events": events,
        });
        if let Some(fields) = answer.as_object_mut() {
            if script.asked {
                fields.insert("judge_tools_line".to_owned(), json!(script.tools_line));
            }
            if !accepted.is_empty() {
                fields.insert("tool_ops_accepted".to_owned(), json!(accepted));
            }
        }
        Ok((answer, ruling.should_continue))
    }

    fn apply(&mut self, op: &Op, events: &mut Vec<Event>, accepted: &mut Vec<bool>) -> Result<(), CaseError> {
        match op {
            Op::UpdateGoal { status, reason, final_answer } => {
                accepted.push(self.manager.update_from_tool(status, reason, final_answer.as_deref()));
            }
            Op::Verify { command, final_answer } => {
                let passed = exit_status(command)? && self.manager.verified_by(command, final_answer.as_deref());
                accepted.push(passed);
            }
            Op::Pause { reason } => {
                let paused = self.manager.pause(reason.as_deref().unwrap_or("user"));
                events.extend(self.manager.goal().filter(|_| paused).map(Event::paused));
            }
            Op::Resume => self.manager.resume(),
            Op::Clear => self.manager.clear(),
            Op::Set(goal) => events.push(self.set(goal).map_err(|error| bad(&error))?),
            Op::AddSubgoal { text } => self.manager.add_subgoal(text),
            Op::ResumeSafety => {
                self.manager.pause_for_safety();
            }
            Op::NewProcess => self.manager.restart(),
        }
        Ok(())
    }
}

/// Whether a shell command passes, for the few whose status needs no shell.
fn exit_status(command: &str) -> Result<bool, CaseError> {
    match command.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["true" | ":"] | ["exit", "0"] => Ok(true),
        [] | ["false"] => Ok(false),
        ["exit", status] if status.parse::<u8>().is_ok() => Ok(false),
        _ => Err(CaseError::NotApplicable(format!("the answer depends on running `{command}`"))),
    }
}

/// A scripted judge and verifier.
struct Script<'c> {
    judge: &'c Value,
    verifier: Option<&'c Value>,
    asked: bool,
    tools_line: Option<String>,
}

impl Referee for Script<'_> {
    fn verify(&mut self) -> Option<Verified> {
        match self.verifier? {
            Value::Bool(done) => {
                Some(Verified { done: *done, reason: "verifier returned bool".to_owned(), status: None })
            }
            Value::Object(fields) if !fields.contains_key("raise") => Some(Verified {
                done: fields.get("done").is_some_and(crate::system::python::is_true),
                reason: fields.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
                status: match fields.get("status").and_then(Value::as_str) {
                    Some("paused") => Some(Status::Paused),
                    Some("budget_limited") => Some(Status::BudgetLimited),
                    _ => None,
                },
            }),
            _ => None,
        }
    }

    fn judge(&mut self, _goal: &Goal, turn: &Turn) -> Option<Verdict> {
        self.asked = true;
        let named = turn.tools.iter().filter(|(name, _)| !name.is_empty());
        let shown: Vec<String> =
            named.map(|(name, failed)| if *failed { format!("{name}(error)") } else { name.clone() }).collect();
        self.tools_line = (!shown.is_empty()).then(|| shown.join(", "));
        Some(match self.judge {
            Value::String(raw) => reply::read(raw),
            Value::Object(fields) => {
                let error = fields.get("raise").and_then(Value::as_str).unwrap_or_default();
                Verdict::Unavailable(format!("judge unavailable: {error}"))
            }
            _ => reply::read(""),
        })
    }
}

fn decision(ruling: &Ruling) -> Value {
    json!({
        "status": ruling.status,
        "should_continue": ruling.should_continue,
        "verdict": ruling.verdict,
        "reason": ruling.reason,
        "prompt_kind": ruling.prompt,
    })
}

fn state(goal: &Goal, version: Version) -> Value {
    let mut state = json!({
        "status": goal.status,
        "paused_reason": goal.paused_reason,
        "turns_used": goal.turns_used,
        "tokens_used": goal.tokens_used,
        "wall_clock_used_sec": goal.seconds_used,
        "turn_budget": goal.budgets.turns,
        "token_budget": goal.budgets.tokens,
        "wall_clock_budget_sec": goal.budgets.seconds,
        "consecutive_parse_failures": goal.parse_failures,
        "consecutive_tool_failures": goal.tool_failures,
        "last_verdict": goal.last_verdict,
        "last_reason": goal.last_reason,
    });
    if let Some(fields) = state.as_object_mut().filter(|_| version == Version::V15) {
        fields.insert("budget_wrapup_sent".to_owned(), json!(goal.wrapup_sent));
        fields.insert("final_answer".to_owned(), json!(goal.final_answer));
    }
    state
}
