//! agentica's golden tables: judge replies, and sequences of turns with a goal.

mod session_log;
mod shell;

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};

use super::system::{AnswerInput, GoldenTable, session};
use super::{CaseError, GoldenCase};
use crate::python::{self, Dict};
use crate::system::agentica::{
    AgenticaGoal, Budgets, GoalEvent, GoalRules, JudgeAnswer, Limit, Manager, Referee, Ruling, TurnUsage, Verified,
    Version, read_judge_reply,
};
use crate::transcript::Moment;

/// The tables.
pub(super) const TABLES: &[GoldenTable<AnswerInput>] = &[
    ("judge_replies", |case| case.has(&["raw"]), judge_reply),
    ("extra_rules_1.5.0", |case| case.has(&["goal", "turns"]) && is_15(case), |input| sequence(Version::V15, input)),
    ("sequences_1.4.6", |case| case.has(&["goal", "turns"]), |input| sequence(Version::V14, input)),
    ("sequences_1.5.0", |_| false, |input| sequence(Version::V15, input)),
    (
        "session_log_expected",
        |case| case.has(&["file"]),
        |input| session_log::summary(input).map_err(CaseError::BadCase),
    ),
    ("cli_preemption", |case| case.has(&["goal", "events"]), preemption),
];

/// Whether a case is of 1.5: by the release it names, else by what its goal has.
fn is_15(case: &GoldenCase<'_>) -> bool {
    let goal = &case.input["goal"];
    let has_rules = || goal.get("auto_judge").is_some() || goal.get("verifier").is_some();
    case.version.map_or_else(has_rules, |version| !version.contains("1.4"))
}

/// Which turns of a session on the command line are counted, and where it stops: the index of the event.
fn preemption(input: &Value) -> Result<Value, CaseError> {
    let set = [("prompts".to_owned(), json!("queue"))].into_iter().collect();
    let (run, strategy) = session("agentica", input["profile"].as_str(), input, Some(&input["goal"]), set)?;
    let (mut watch, mut trail) = (strategy.start(&run.header), Vec::new());
    // Turns counted before the round, and whether a round is over and not yet known to count.
    let (mut before, mut is_open, mut charged) = (0.0, false, Vec::new());
    for view in run.views() {
        watch.at(&view, &mut trail);
        let readings = watch.readings();
        let turns = readings.iter().find(|reading| reading.what == "turns");
        let turns = turns.and_then(|turns| turns.observed).unwrap_or_default();
        let is_over = trail.iter().any(|decision| decision.action.is_terminal());
        if is_over || (is_open && view.moment() == Moment::BeforeRequest) {
            charged.push(turns > before);
            (before, is_open) = (turns, false);
        }
        if is_over {
            break;
        }
        is_open |= view.moment() == Moment::EndOfRound;
    }
    let stop = trail.into_iter().find(|decision| decision.action.is_terminal());
    let status = stop.as_ref().and_then(|stop| stop.code.as_deref()?.split(':').next().map(str::to_owned));
    Ok(json!({"charged_turns": charged, "halted_at": stop.and_then(|stop| stop.event), "status": status}))
}

/// How a raw judge reply is interpreted.
fn judge_reply(input: &Value) -> Result<Value, CaseError> {
    let raw = input["raw"].as_str().ok_or_else(|| bad(&"no `raw`"))?;
    let verdict = read_judge_reply(raw);
    Ok(json!({
        "verdict": if matches!(verdict, JudgeAnswer::Done(_)) { "done" } else { "continue" },
        "reason": verdict.reason(),
        "parse_failed": matches!(verdict, JudgeAnswer::Unreadable(_)),
    }))
}

fn bad(what: &impl ToString) -> CaseError {
    CaseError::BadCase(what.to_string())
}

/// A goal, as written in a case.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WireGoal {
    objective: Option<String>,
    turn_budget: Value,
    token_budget: Value,
    wall_clock_budget_sec: Value,
    default_turn_budget: Value,
    #[serde(default = "stub")]
    judge: Value,
    subgoals: Option<Vec<String>>,
    unset: Value,
    auto_judge: Option<Value>,
    verifier: Option<Vec<Value>>,
}

/// The default judge of a case.
fn stub() -> Value {
    Value::from("stub")
}

/// A budget as Python has it: null means none.
fn limit(name: &str, value: &Value) -> Result<Option<Limit>, CaseError> {
    if value.is_null() {
        return Ok(None);
    }
    Limit::from_value(value).map(Some).ok_or_else(|| bad(&format!("`{name}` is no number: {value}")))
}

impl WireGoal {
    fn budgets(&self) -> Result<Budgets, CaseError> {
        Ok(Budgets {
            turns: limit("turn_budget", &self.turn_budget)?,
            tokens: limit("token_budget", &self.token_budget)?,
            seconds: limit("wall_clock_budget_sec", &self.wall_clock_budget_sec)?.map(Limit::value),
        })
    }
}

/// A turn, as written in a case.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WireTurn {
    final_response: Option<String>,
    token_delta: Value,
    elapsed_sec: Value,
    tool_calls: Option<Vec<(Option<String>, Value)>>,
    judge_reply: Value,
    ops: Option<Vec<Op>>,
}

impl WireTurn {
    fn turn(&self) -> Result<TurnUsage, CaseError> {
        let no_number = |name: &str, value: &Value| bad(&format!("`{name}` is no number: {value}"));
        let tokens = match &self.token_delta {
            Value::Null => 0,
            value => python::int(value).ok_or_else(|| no_number("token_delta", value))?.value(),
        };
        let seconds = match &self.elapsed_sec {
            Value::Null => 0.0,
            value => python::float(value).ok().flatten().ok_or_else(|| no_number("elapsed_sec", value))?,
        };
        let tools = self.tool_calls.iter().flatten();
        let tools = tools.map(|(name, failed)| (name.clone().unwrap_or_default(), python::is_true(failed))).collect();
        Ok(TurnUsage { tokens, seconds, tools })
    }
}

/// An action before a turn is evaluated.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Op {
    UpdateGoal {
        status: Option<String>,
        reason: Option<String>,
        final_answer: Option<String>,
    },
    Verify {
        command: Option<String>,
        final_answer: Option<String>,
    },
    Pause {
        /// If absent, the user's default reason; if null, none at all.
        #[serde(default = "by_user")]
        reason: Option<String>,
    },
    Resume,
    Clear,
    Set(Box<WireGoal>),
    AddSubgoal {
        text: Option<String>,
    },
    ResumeSafety,
    NewProcess,
}

#[expect(clippy::unnecessary_wraps, reason = "serde takes the default in the field's own type")]
fn by_user() -> Option<String> {
    Some("user".to_owned())
}

/// Runs a sequence of turns under one version's rules.
fn sequence(version: Version, input: &Value) -> Result<Value, CaseError> {
    let wire = |name: &str| input.get(name).cloned().ok_or_else(|| bad(&format!("no `{name}`")));
    let goal: WireGoal = serde_json::from_value(wire("goal")?).map_err(|error| bad(&error))?;
    let turns: Vec<WireTurn> = serde_json::from_value(wire("turns")?).map_err(|error| bad(&error))?;
    let mut session = GoalSession {
        rules: GoalRules {
            version,
            auto_judge: version != Version::V15 || goal.auto_judge.as_ref().is_none_or(python::is_true),
            has_judge: goal.judge.as_str() == Some("stub"),
        },
        default_turns: limit("default_turn_budget", &goal.default_turn_budget)?,
        objective: String::new(),
        manager: Manager::default(),
    };
    if !python::is_true(&goal.unset)
        && let Err(refused) = session.set(&goal)?
    {
        return Ok(json!({ "set_error": refused }));
    }
    // 1.4 has no verifier.
    let verifiers = goal.verifier.as_deref().filter(|script| version == Version::V15 && !script.is_empty());
    let mut answers = Vec::new();
    let mut first_stop = None;
    for (index, turn) in turns.iter().enumerate() {
        let verifier = verifiers.map(|script| script.get(index).unwrap_or(&Value::Null));
        let (answer, goes_on) = session.play(index + 1, turn, verifier)?;
        answers.push(answer);
        if !goes_on {
            first_stop = first_stop.or(Some(index + 1));
        }
    }
    Ok(json!({ "first_stop_turn": first_stop, "turns": answers }))
}

/// A goal in progress.
struct GoalSession {
    rules: GoalRules,
    default_turns: Option<Limit>,
    objective: String,
    manager: Manager,
}

impl GoalSession {
    /// Sets a goal; returns the event, or why it was refused.
    fn set(&mut self, goal: &WireGoal) -> Result<Result<GoalEvent, String>, CaseError> {
        let objective = python::strip(goal.objective.as_deref().unwrap_or_default());
        // The objective is checked before the budgets.
        if objective.is_empty() {
            return Ok(Err("Goal objective cannot be empty.".to_owned()));
        }
        let budgets = match goal.budgets()?.checked(self.default_turns, self.rules.version) {
            Ok(budgets) => budgets,
            Err(refused) => return Ok(Err(refused.to_string())),
        };
        let new = AgenticaGoal::new(budgets);
        let event = GoalEvent { reason: Some("user".to_owned()), ..GoalEvent::about(&new, "goal.set") };
        self.manager.set(new);
        objective.clone_into(&mut self.objective);
        for subgoal in goal.subgoals.iter().flatten() {
            self.add_subgoal(subgoal)?;
        }
        Ok(Ok(event))
    }

    fn add_subgoal(&mut self, text: &str) -> Result<(), CaseError> {
        let added = self.manager.add_subgoal(text);
        if added { Ok(()) } else { Err(bad(&"a subgoal that is blank, or without a goal: the original raises")) }
    }

    /// Plays a turn: the actions before it, then its evaluation. Also returns whether the loop continues.
    fn play(&mut self, number: usize, turn: &WireTurn, verifier: Option<&Value>) -> Result<(Value, bool), CaseError> {
        let mut events = Vec::new();
        let mut accepted = Vec::new();
        for op in turn.ops.iter().flatten() {
            self.apply(op, &mut events, &mut accepted)?;
        }
        let charged = turn.turn()?;
        let mut script = ScriptedReferee {
            judge: &turn.judge_reply,
            verifier,
            objective: &self.objective,
            response: turn.final_response.as_deref().unwrap_or_default(),
            asked: false,
            tools_line: None,
        };
        let ruling = self.manager.evaluate(self.rules, &charged, &mut script);
        let ScriptedReferee { asked, tools_line, .. } = script;
        events.extend(ruling.event.clone());
        let mut answer = json!({
            "turn": number,
            "decision": decision(&ruling),
            "judge_called": asked,
            "state": self.manager.goal().map(|goal| state(goal, self.rules.version)),
            "events": events,
        });
        if let Some(fields) = answer.as_object_mut() {
            if asked {
                fields.insert("judge_tools_line".to_owned(), json!(tools_line));
            }
            if !accepted.is_empty() {
                fields.insert("tool_ops_accepted".to_owned(), json!(accepted));
            }
        }
        Ok((answer, ruling.should_continue))
    }

    fn apply(&mut self, op: &Op, events: &mut Vec<GoalEvent>, accepted: &mut Vec<bool>) -> Result<(), CaseError> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match op {
            Op::UpdateGoal { status, reason, final_answer } => {
                // 1.4's tool takes no answer.
                let answer = final_answer.as_deref().filter(|_| self.rules.version == Version::V15);
                accepted.push(self.manager.update_from_tool(&text(status), &text(reason), answer));
            }
            Op::Verify { command, final_answer } => {
                accepted.push(self.manager.verify(&text(command), final_answer.as_deref(), shell::passes)?);
            }
            Op::Pause { reason } => {
                let paused = self.manager.pause(reason.as_deref());
                events.extend(self.manager.goal().filter(|_| paused).map(GoalEvent::paused));
            }
            Op::Resume => self.manager.resume(),
            Op::Clear => self.manager.clear(),
            Op::Set(goal) => events.push(self.set(goal)?.map_err(|refused| bad(&refused))?),
            Op::AddSubgoal { text: criterion } => self.add_subgoal(&text(criterion))?,
            // Opening a session again pauses its goal until the user resumes it.
            Op::ResumeSafety => _ = self.manager.pause(Some("resume-safety")),
            Op::NewProcess => self.manager.restart(),
        }
        Ok(())
    }
}

/// A scripted judge and verifier.
struct ScriptedReferee<'c> {
    judge: &'c Value,
    verifier: Option<&'c Value>,
    objective: &'c str,
    response: &'c str,
    asked: bool,
    tools_line: Option<String>,
}

/// The keys a scripted verifier may have besides `raise`; any other is an error in the call.
const VERIFIED: [&str; 3] = ["done", "reason", "status"];
/// The text in the judge's prompt before the names of the tools.
const TOOLS_LINE: &str = "Tools used this turn: ";

impl Referee for ScriptedReferee<'_> {
    fn verify(&mut self) -> Option<Verified> {
        match self.verifier? {
            Value::Bool(done) => {
                Some(Verified { done: *done, reason: "verifier returned bool".to_owned(), status: None })
            }
            Value::Object(fields) if fields.keys().all(|key| VERIFIED.contains(&key.as_str())) => Some(Verified {
                done: python::is_true(fields.get("done")?),
                reason: fields
                    .get("reason")
                    .filter(|reason| python::is_true(reason))
                    .map(python::text)
                    .unwrap_or_default(),
                status: fields.text("status").and_then(|status| status.parse().ok()),
            }),
            _ => None,
        }
    }

    fn judge(&mut self, goal: &AgenticaGoal, turn: &TurnUsage) -> Option<JudgeAnswer> {
        self.asked = true;
        let prompt = prompt(self.objective, goal, turn, self.response);
        self.tools_line = prompt.split('\n').find_map(|line| line.strip_prefix(TOOLS_LINE)).map(str::to_owned);
        Some(match self.judge {
            Value::String(raw) => read_judge_reply(raw),
            Value::Object(fields) => match fields.get("raise") {
                Some(error) => JudgeAnswer::Unavailable(format!("judge unavailable: {}", python::text(error))),
                None => read_judge_reply(""),
            },
            _ => read_judge_reply(""),
        })
    }
}

/// What the judge is shown, reduced to what could be mistaken for the line of tools.
fn prompt(objective: &str, goal: &AgenticaGoal, turn: &TurnUsage, response: &str) -> String {
    let mut prompt = format!("Goal: {objective}");
    for (index, subgoal) in goal.subgoals.iter().enumerate() {
        let _ = write!(prompt, "\n  {}. {subgoal}", index + 1);
    }
    let named = turn.tools.iter().filter(|(name, _)| !name.is_empty());
    let shown: Vec<String> =
        named.map(|(name, failed)| if *failed { format!("{name}(error)") } else { name.clone() }).collect();
    if !shown.is_empty() {
        let _ = write!(prompt, "\n{TOOLS_LINE}{}", shown.join(", "));
    }
    format!("{prompt}\n---\n{}", python::strip(response))
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

fn state(goal: &AgenticaGoal, version: Version) -> Value {
    let mut state = json!({
        "status": goal.status,
        "paused_reason": goal.paused_reason,
        "turns_used": goal.turns_used,
        "tokens_used": python::from_digits(&goal.tokens_used.to_string()),
        "wall_clock_used_sec": goal.seconds_used,
        "turn_budget": goal.budgets.turns.map(Limit::json),
        "token_budget": goal.budgets.tokens.map(Limit::json),
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
