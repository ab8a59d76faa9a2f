//! The names that fields of somebody's own log usually have, the most telling first.

use crate::text::word_list;

pub(super) const AROUND: &[(&str, &[&str])] = &[
    (
        "run",
        word_list!(
            "run_id run session_id session conversation_id conversation trace_id trace episode_id episode job_id job",
            "uid uuid id key name",
        ),
    ),
    ("task", &["task_id", "task", "instance_id", "case", "scenario", "problem", "ticket", "question_id"]),
    ("model", &["model", "model_name", "llm", "engine"]),
];
pub(super) const OUTCOMES: &[&str] =
    &["success", "passed", "pass", "resolved", "solved", "correct", "reward", "score", "outcome", "verdict"];
pub(super) const ROLES: &[&str] =
    &["role", "speaker", "who", "from", "author", "actor", "sender", "source", "kind", "type"];
pub(super) const TEXTS: &[&str] = word_list!(
    "content text utterance message body msg said say thought output response value model_output llm_output",
);
pub(super) const CALLS: &[&str] = word_list!(
    "tool_calls calls invocations tools actions tool_call call invocation action tool functions function_call commands",
    "command",
);
pub(super) const RESULTS: &[&str] = &["observation", "result", "output", "response", "returned", "tool_result"];
pub(super) const TIMES: &[&str] = &["timestamp", "ts", "time", "at", "when", "created_at"];
pub(super) const INPUT_TOKENS: &[&str] =
    &["input_tokens", "prompt_tokens", "tokens_in", "tok_in", "in_tokens", "prompt", "in"];
pub(super) const OUTPUT_TOKENS: &[&str] =
    &["output_tokens", "completion_tokens", "tokens_out", "tok_out", "out_tokens", "completion", "out"];
pub(super) const TOKENS: &[&str] = &["tokens", "total_tokens", "n_tokens", "token_count"];
pub(super) const COSTS: &[&str] = &["cost_usd", "cost", "usd", "dollars", "price"];

pub(super) const COMMANDS: &[&str] = &["action", "command", "cmd"];
/// The name of a tool, in an entry that is a call.
pub(super) const CALLED: &[&str] = &["tool_name", "tool", "function_name", "function", "fn", "command", "op", "method"];
/// Its arguments.
pub(super) const PASSED: &[&str] =
    &["arguments", "tool_args", "tool_input", "args", "params", "parameters", "kwargs", "input", "payload"];
pub(super) const IDS: &[&str] = &["tool_call_id", "call_id", "tool_use_id", "invocation_id"];
/// What a call returned, where it does not have one of the usual names.
pub(super) const RETURNS: &[&str] = &["outcome", "reply", "value", "data", "ret", "res", "stdout", "got", "observed"];
/// Numbers that are 0 where all went well.
pub(super) const EXITS: &[&str] = &["exit_code", "exitcode", "returncode", "exit_status"];
