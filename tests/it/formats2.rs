//! Session, span and history formats: what a good file counts, what a broken one says, and that no
//! damage to a file can do worse than that.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use whenstop::reader::{self, Corpus, CorpusReport, ReadOptions};
use whenstop::transcript::{Event, Lane, Message, Run};

use crate::shared;

/// The formats held here.
const FORMATS: &[&str] = &[
    "gemini-cli",
    "adk",
    "agentica",
    "agentao",
    "awaken",
    "pydantic-ai",
    "otel",
    "langsmith",
    "openai-agents",
    "langfuse",
    "smolagents",
    "pi",
];

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers")
}

fn read(path: &Path, options: ReadOptions) -> (Vec<Run>, CorpusReport) {
    Corpus::open(&[path.to_owned()], options).unwrap().runs().unwrap()
}

/// One run in one line.
fn outline(run: &Run) -> String {
    let messages = || run.events().iter().filter_map(Event::message);
    let main = |message: &&Message| message.lane == Lane::Main;
    let calls: usize = messages().filter(main).map(|message| message.tool_calls.len()).sum();
    let results = messages().filter(|message| message.is_result()).count();
    let flagged = messages().filter(|message| message.is_result() && message.is_error.is_some()).count();
    let errors = messages().filter(|message| message.is_result() && message.is_error == Some(true)).count();
    let side = messages().filter(|message| matches!(message.lane, Lane::Side(_))).count();
    let mut line = format!(
        "{}: {} steps, {calls} calls, {results} results ({flagged} flagged, {errors} errors)",
        run.header.run_id,
        run.steps().len(),
    );
    if side > 0 {
        write!(line, ", {side} beside").unwrap();
    }
    let tokens = reader::tokens(run).map_or("no".to_owned(), |tokens| tokens.0.to_string());
    write!(line, ", {tokens} tokens, {}, {}", run.grade.outcome, run.grade.end).unwrap();
    line
}

/// Reads a fixture and holds its runs and findings, one a line, against what is expected of it. The
/// outcome is looked for under `key` where the format has no place of its own for it.
fn check_keyed(file: &str, key: Option<&str>, expected: &str) {
    let format = file.split('/').next().unwrap();
    check_path(&fixtures().join(file), file, format, key, expected);
}

/// The same for a file of the shared material, which may be absent.
fn check_shared(file: &str, expected: &str) {
    let (folder, name) = file.split_once('/').unwrap();
    let Some(folder) = shared::folder(folder) else { return };
    let format = name.split('/').next().unwrap();
    check_path(&folder.join(name), file, format, None, expected);
}

fn check_path(path: &Path, file: &str, format: &str, key: Option<&str>, expected: &str) {
    let options = ReadOptions { outcome_key: key.map(str::to_owned), ..ReadOptions::default() };
    let (runs, report) = read(path, options);
    assert_eq!(report.files.first().map(|read| read.format.as_str()), Some(format), "{file}: {:?}", report.skipped);
    let mut found: Vec<String> = runs.iter().map(outline).collect();
    for finding in &report.findings {
        let (at, what) = (&finding.diagnostic.at, &finding.diagnostic.what);
        found.push(format!("{} {}:{}: {what}", finding.severity_name(), at.line, at.column));
    }
    found.extend(runs.iter().flat_map(|run| &run.warnings).map(|warning| format!("of the run: {warning}")));
    found.extend(report.unknown_kinds.iter().map(|(kind, n)| format!("unknown {kind} x{n}")));
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected, "{file}:\n{}", found.join("\n"));
}

fn check(file: &str, expected: &str) {
    check_keyed(file, None, expected);
}

#[test]
fn gemini_cli() {
    // Input includes what was cached, thoughts and tool prompts stand beside: 942 + 1058.
    check(
        "gemini-cli/good.json",
        "5f2c0d1e-0000-4000-8000-00000000a001: 3 steps, 3 calls, 3 results (2 flagged, 1 errors), 2000 tokens, unknown, unknown",
    );
    // The reply that was taken back is paid for (426) and no step; the rewritten history is neither.
    check(
        "gemini-cli/good-log.jsonl",
        "5f2c0d1e-0000-4000-8000-00000000a002: 2 steps, 1 calls, 1 results (1 flagged, 0 errors), 1 beside, 1273 tokens, unknown, unknown
        of the run: 1 messages were taken back by the user: paid for, but no steps",
    );
    check("gemini-cli/bad-truncated.json", "error 1:90: cannot read this as JSON: EOF while parsing a string");
    check(
        "gemini-cli/bad-line.jsonl",
        "s: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 5 tokens, unknown, unknown
        error 2:42: this line is left out: cannot read this as JSON: EOF while parsing an object",
    );
    check(
        "gemini-cli/bad-fields.jsonl",
        "s: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), 1 tokens, unknown, unknown
        error 1:48: `startTime` should be a time, as in `2026-01-05T10:00:00Z`, not `\"yesterday\"`
        error 2:1: a message without a `type`
        error 3:61: `tokens.input` should be a whole number, 0 or more, not `\"many\"`
        error 3:93: a tool call without a name
        error 3:105: `tool call` should be an object, not `7`
        error 4:39: `parts` should be text or an object, not `3`
        error 4:51: `tokens` should be an object, not `\"none\"`
        error 4:69: `thoughts` should be an array, not `\"none\"`
        error 5:1: `record` should be an object, not `[1]`",
    );
    check(
        "gemini-cli/bad-messages.json",
        "s: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 1:48: `message` should be an object, not `\"hello\"`",
    );
}

#[test]
fn adk() {
    check(
        "adk/good.json",
        "adk-session-1: 2 steps, 2 calls, 2 results (0 flagged, 0 errors), 1 beside, 755 tokens, unknown, unknown",
    );
    check(
        "adk/good-camel.jsonl",
        "good-camel: 2 steps, 1 calls, 1 results (0 flagged, 0 errors), 12 tokens, unknown, error",
    );
    check(
        "adk/good-list.json",
        "a: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, killed
        b: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown",
    );
    check("adk/bad-truncated.json", "error 1:100: cannot read this as JSON: EOF while parsing a string");
    check(
        "adk/bad-fields.json",
        "s: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), 3 tokens, unknown, unknown
        error 2:64: `role` should be model or user, not `\"narrator\"`
        error 3:55: `content` should be an object, not `\"hello\"`
        error 3:77: `timestamp` should be a time, as in `2026-01-05T10:00:00Z`, not `\"soon\"`
        error 4:83: `parts` should be text or an object, not `5`
        error 4:129: `prompt_token_count` should be a whole number, 0 or more, not `\"lots\"`
        error 5:62: `usage_metadata` should be an object, not `5`
        error 6:3: an event without author and content
        error 7:3: `event` should be an object, not `7`",
    );
    check(
        "adk/bad-line.jsonl",
        "bad-line: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:84: this line is left out: cannot read this as JSON: EOF while parsing a string
        error 3:1: `session` should be an object, not `\"what\"`",
    );
}

#[test]
fn agentica() {
    check(
        "agentica/good-1.4.jsonl", 
        "lib-tidy: 4 steps, 3 calls, 3 results (3 flagged, 1 errors), 1070 tokens, unknown, cap
        of the run: 2 replies that asked for tools are not recorded: one model call is assumed for results that stand together, and its tokens are in the round's last reply",
    );
    check(
        "agentica/good-1.5.jsonl", 
        "lib-tidy-2: 4 steps, 4 calls, 3 results (3 flagged, 1 errors), 750 tokens, unknown, self_finish
        of the run: 1 replies that asked for tools are not recorded: one model call is assumed for results that stand together, and its tokens are in the round's last reply",
    );
    check(
        "agentica/bad-rows.jsonl", 
        "lib-tidy: 2 steps, 1 calls, 1 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:1: `row` should be an object, not `7`
        error 3:1: a row without a `type`
        error 4:242: `is_error` should be true or false, not `\"maybe\"`
        error 5:205: `usage` should be an object, not `\"much\"`
        error 5:228: a tool call without a name
        error 5:241: `tool call` should be an object, not `3`
        error 6:183: `goal` should be an object, not `\"win\"`
        error 8:10: `type` should be a string, not `3`
        error 9:107: `timestamp` should be a time, as in `2026-01-05T10:00:00Z`, not `\"noon\"`
        of the run: 1 replies that asked for tools are not recorded: one model call is assumed for results that stand together, and its tokens are in the round's last reply
        unknown agentica hologram x1",
    );
    check(
        "agentica/bad-line.jsonl",
        "lib-tidy: 0 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:60: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
}

#[test]
fn agentao() {
    check(
        "agentao/good-default.jsonl",
        "tidy.i1: 3 steps, 3 calls, 3 results (2 flagged, 1 errors), 1 beside, 354 tokens, unknown, cap
        error 36:17: this line is left out: cannot read this as JSON: EOF while parsing a string
        of the run: 1 calls of a turn that ended in max_iterations are not recorded",
    );
    check(
        "agentao/good-tool-events.jsonl",
        "tidy.i2: 3 steps, 1 calls, 1 results (1 flagged, 0 errors), 229 tokens, unknown, self_finish",
    );
    check(
        "agentao/bad-rows.jsonl",
        "tidy.i3: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        warning 2:203: `content` is neither a string nor an array of parts
        warning 3:1: event 4 follows event 2
        error 3:231: `prompt_tokens` should be a whole number, 0 or more, not `\"few\"`
        error 4:1: `event` should be an object, not `3`
        error 5:1: a line without a `kind`
        warning 6:1: event 6 follows event 4
        error 7:83: `payload` should be an object, not `\"none\"`
        error 8:37: `kind` should be a string, not `4`
        error 9:213: `ghost` is no role
        error 9:232: a message without a `role`
        unknown agentao telepathy x1",
    );
    check(
        "agentao/bad-line.jsonl",
        "tidy.i4: 0 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:50: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
}

#[test]
fn awaken() {
    check(
        "awaken/good.ndjson",
        "run-1: 4 steps, 3 calls, 3 results (3 flagged, 1 errors), 1 beside, 2135 tokens, unknown, unknown",
    );
    check_keyed(
        "awaken/good.ndjson",
        Some("task_success"),
        "run-1: 4 steps, 3 calls, 3 results (3 flagged, 1 errors), 1 beside, 2135 tokens, failure, unknown",
    );
    check(
        "awaken/good-nested.ndjson",
        "run-7: 2 steps, 1 calls, 1 results (1 flagged, 0 errors), 29 tokens, unknown, unknown
        run-8: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 6 tokens, unknown, unknown",
    );
    check(
        "awaken/bad-rows.ndjson",
        "run-1: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), 14 tokens, unknown, unknown
        error 1:1: a tool before any model call
        error 2:219: `finish_reasons` should be an array, not `\"stop\"`
        error 2:284: `input_tokens` should be a whole number, 0 or more, not `\"ten\"`
        error 3:1: a tool without a name
        error 4:1: `event` should be an object, not `[]`
        error 5:1: an event without a `type`
        error 6:10: `type` should be a string, not `1`
        error 8:444: `ended_at_ms` should be a time, as in `2026-01-05T10:00:00Z`, not `\"late\"`
        unknown awaken dream x1",
    );
    check(
        "awaken/bad-line.ndjson",
        "run-1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 12 tokens, unknown, unknown
        error 2:80: this line is left out: cannot read this as JSON: EOF while parsing an object",
    );
}

#[test]
fn pydantic_ai() {
    check(
        "pydantic-ai/good.json",
        "good: 3 steps, 2 calls, 2 results (2 flagged, 1 errors), 512 tokens, unknown, unknown",
    );
    check(
        "pydantic-ai/good-lines.jsonl",
        "a: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 125 tokens, unknown, unknown
        b: 1 steps, 1 calls, 1 results (0 flagged, 0 errors), no tokens, unknown, unknown
        good-lines/2: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown",
    );
    check_keyed(
        "pydantic-ai/good-lines.jsonl",
        Some("passed"),
        "a: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 125 tokens, success, unknown
        b: 1 steps, 1 calls, 1 results (0 flagged, 0 errors), no tokens, failure, unknown
        good-lines/2: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown",
    );
    check("pydantic-ai/bad-truncated.json", "error 1:86: cannot read this as JSON: EOF while parsing a string");
    check(
        "pydantic-ai/bad-parts.json",
        "bad-parts: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:92: `timestamp` should be a time, as in `2026-01-05T10:00:00Z`, not `\"noon\"`
        error 2:101: a part without a `part_kind`
        error 2:119: `part` should be an object, not `4`
        error 3:34: a tool call without a `tool_name`
        error 3:74: a part without a `part_kind`
        error 3:89: `part` should be an object, not `5`
        error 3:119: `input_tokens` should be a whole number, 0 or more, not `\"six\"`
        error 4:33: `parts` should be an array, not `\"none\"`
        error 4:50: `usage` should be an object, not `3`
        error 5:3: a message that is neither a request nor a response
        error 6:3: `message` should be an object, not `9`
        unknown pydantic-ai smell x1",
    );
}

#[test]
fn otel() {
    check(
        "otel/good.jsonl",
        "conv-1: 3 steps, 2 calls, 2 results (2 flagged, 1 errors), 1 beside, 2075 tokens, unknown, self_finish
        unknown otel trace without model calls x1",
    );
    check_keyed(
        "otel/good.jsonl",
        Some("resolved"),
        "conv-1: 3 steps, 2 calls, 2 results (2 flagged, 1 errors), 1 beside, 2075 tokens, success, self_finish
        unknown otel trace without model calls x1",
    );
    check(
        "otel/good-old.jsonl",
        "5b8efff798038103d269b633813fc60c: 2 steps, 1 calls, 1 results (0 flagged, 0 errors), 130 tokens, unknown, timeout",
    );
    check(
        "otel/good-openinference.json",
        "5b8efff798038103d269b633813fc60c: 2 steps, 1 calls, 1 results (1 flagged, 0 errors), 85 tokens, unknown, self_finish",
    );
    check(
        "otel/good-openllmetry.jsonl",
        "5b8efff798038103d269b633813fc60c: 2 steps, 1 calls, 1 results (1 flagged, 0 errors), 150 tokens, unknown, unknown",
    );
    check(
        "otel/good-console.json",
        "0xcc: 2 steps, 1 calls, 1 results (1 flagged, 1 errors), 24 tokens, unknown, unknown",
    );
    check(
        "otel/bad-spans.jsonl", 
        "5b8efff798038103d269b633813fc60c: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 3 tokens, unknown, unknown
        error 1:1: a span without `traceId` and `spanId`
        error 2:1: `gen_ai.usage.input_tokens` should be a whole number, 0 or more, not `\"few\"`
        error 3:1: `resourceSpans` should be an array
        error 4:1: neither an export request nor a span
        error 5:1: neither an export request nor a span",
    );
    check(
        "otel/bad-line.jsonl", 
        "5b8efff798038103d269b633813fc60c: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 7 tokens, unknown, unknown
        error 2:120: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
    check(
        "otel/bad-deep.jsonl", 
        "5b8efff798038103d269b633813fc60c: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 7 tokens, unknown, unknown
        error 2:144: cannot read this as JSON: recursion limit exceeded",
    );
}

#[test]
fn langsmith() {
    check(
        "langsmith/good.jsonl", 
        "11111111-1111-4111-8111-000000000001: 2 steps, 2 calls, 2 results (2 flagged, 1 errors), 1 beside, 781 tokens, unknown, self_finish
        11111111-1111-4111-8111-000000000020: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 10 tokens, unknown, cap",
    );
    check_keyed(
        "langsmith/good.jsonl", Some("correctness"), 
        "11111111-1111-4111-8111-000000000001: 2 steps, 2 calls, 2 results (2 flagged, 1 errors), 1 beside, 781 tokens, success, self_finish
        11111111-1111-4111-8111-000000000020: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 10 tokens, failure, cap",
    );
    check(
        "langsmith/good-nested.json",
        "11111111-1111-4111-8111-000000000001: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 15 tokens, unknown, self_finish",
    );
    check(
        "langsmith/bad-rows.jsonl", 
        "11111111-1111-4111-8111-000000000001: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 2 tokens, unknown, unknown
        error 1:1: `prompt_tokens` should be a whole number, 0 or more, not `\"lots\"`
        error 2:1: a run without a `run_type`
        error 3:1: a run that is no object
        error 4:1: a run without an `id`
        error 5:1: a run without a `trace_id`
        unknown langsmith trace without llm runs x1",
    );
    check(
        "langsmith/bad-line.jsonl", 
        "11111111-1111-4111-8111-000000000003: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 6 tokens, unknown, self_finish
        error 2:90: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
    check("langsmith/bad-truncated.json", "error 1:465: cannot read this as JSON: EOF while parsing a string");
    check(
        "langsmith/bad-deep.jsonl", 
        "11111111-1111-4111-8111-000000000003: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 6 tokens, unknown, self_finish
        error 2:484: cannot read this as JSON: recursion limit exceeded",
    );
}

#[test]
fn openai_agents() {
    check(
        "openai-agents/good.json",
        "trace_1: 3 steps, 3 calls, 3 results (3 flagged, 1 errors), 1 beside, 621 tokens, unknown, cap",
    );
    check(
        "openai-agents/good-lines.jsonl",
        "trace_2: 2 steps, 2 calls, 2 results (2 flagged, 0 errors), 70 tokens, unknown, unknown
        unknown openai-agents trace without model calls x1",
    );
    check(
        "openai-agents/bad-items.jsonl",
        "trace_1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 2 tokens, unknown, unknown
        error 1:1: `usage.input_tokens` should be a whole number, 0 or more, not `\"x\"`
        error 2:1: a span without `span_data`
        error 3:1: neither a trace nor a span of one
        error 4:1: neither a trace nor a span of one",
    );
    check(
        "openai-agents/bad-line.jsonl",
        "trace_1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 5 tokens, unknown, unknown
        error 2:60: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
    check(
        "openai-agents/bad-deep.jsonl",
        "trace_1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 5 tokens, unknown, unknown
        error 2:347: cannot read this as JSON: recursion limit exceeded",
    );
}

#[test]
fn langfuse() {
    check("langfuse/good.json", "t1: 2 steps, 1 calls, 1 results (1 flagged, 1 errors), 244 tokens, unknown, unknown");
    check_keyed(
        "langfuse/good.json",
        Some("correct"),
        "t1: 2 steps, 1 calls, 1 results (1 flagged, 1 errors), 244 tokens, failure, unknown",
    );
    check(
        "langfuse/good-lines.jsonl",
        "t2: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 42 tokens, unknown, timeout
        unknown langfuse trace without generations x1",
    );
    check(
        "langfuse/bad-rows.jsonl",
        "t1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 3 tokens, unknown, unknown
        error 1:1: `usageDetails.input` should be a whole number, 0 or more, not `\"some\"`
        error 2:1: an observation without `id` and `traceId`
        error 3:1: neither a trace, an observation nor a score
        error 4:1: neither a trace, an observation nor a score",
    );
    check(
        "langfuse/bad-line.jsonl",
        "t1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 4 tokens, unknown, unknown
        error 2:70: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
    check(
        "langfuse/bad-deep.jsonl",
        "t1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 4 tokens, unknown, unknown
        error 2:327: cannot read this as JSON: recursion limit exceeded",
    );
}

#[test]
fn smolagents() {
    check(
        "smolagents/good.json",
        "good: 4 steps, 4 calls, 4 results (4 flagged, 2 errors), 1 beside, 1110 tokens, unknown, self_finish",
    );
    check(
        "smolagents/good-runs.jsonl",
        "good-runs/0: 2 steps, 1 calls, 2 results (2 flagged, 1 errors), 110 tokens, unknown, cap
        good-runs/1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 10 tokens, unknown, unknown",
    );
    check_keyed(
        "smolagents/good-runs.jsonl",
        Some("is_correct"),
        "good-runs/0: 2 steps, 1 calls, 2 results (2 flagged, 1 errors), 110 tokens, success, cap
        good-runs/1: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 10 tokens, failure, unknown",
    );
    check(
        "smolagents/bad-steps.json",
        "bad-steps: 2 steps, 0 calls, 0 results (0 flagged, 0 errors), 1 tokens, unknown, unknown
        error 1:31: `timing` should be an object, not `3`
        error 1:82: a tool call without a name
        error 1:171: `usage` should be an object, not `\"few\"`
        error 2:1: a step without a `step_number`
        error 2:15: `step` should be an object, not `5`
        error 3:150: `tool_calls` should be an array, not `\"none\"`
        error 3:250: `input_tokens` should be a whole number, 0 or more, not `\"x\"`",
    );
    check("smolagents/bad-truncated.json", "error 1:290: cannot read this as JSON: EOF while parsing an object");
}

#[test]
fn pi() {
    check(
        "pi/good.jsonl",
        "pi-1: 2 steps, 2 calls, 2 results (2 flagged, 1 errors), 1 beside, 814 tokens, unknown, killed
        of the run: 1 replies stand on branches that were left: paid for, but no steps",
    );
    check("pi/good-v1.jsonl", "pi-2: 1 steps, 0 calls, 0 results (0 flagged, 0 errors), 505 tokens, unknown, unknown");
    check(
        "pi/bad-entries.jsonl",
        "pi-3: 1 steps, 0 calls, 1 results (0 flagged, 0 errors), 2 tokens, unknown, unknown
        error 1:62: `timestamp` should be a time, as in `2026-01-05T10:00:00Z`, not `\"later\"`
        error 2:1: `entry` should be an object, not `4`
        error 3:1: a message entry without a `message`
        error 4:1: `ghost` is no role
        error 5:137: `content block` should be an object, not `5`
        error 5:140: a tool call without a name
        error 5:225: `usage.input` should be a whole number, 0 or more, not `\"many\"`
        error 6:1: an entry without a `type`
        error 8:153: `isError` should be true or false, not `\"perhaps\"`
        unknown pi hologram x1",
    );
    check(
        "pi/bad-line.jsonl",
        "pi-3: 0 steps, 0 calls, 0 results (0 flagged, 0 errors), no tokens, unknown, unknown
        error 2:80: this line is left out: cannot read this as JSON: EOF while parsing a string",
    );
}

#[test]
fn logs_of_the_seed_systems_themselves() {
    check_shared(
        "golden/agentica/session_log_1.4.6.jsonl", 
        "demo-session: 6 steps, 4 calls, 4 results (4 flagged, 1 errors), 3600 tokens, unknown, self_finish
        of the run: 3 replies that asked for tools are not recorded: one model call is assumed for results that stand together, and its tokens are in the round's last reply",
    );
    check_shared(
        "golden/agentica/session_log_1.5.0.jsonl",
        "demo-session: 6 steps, 4 calls, 4 results (4 flagged, 1 errors), 3600 tokens, unknown, self_finish",
    );
    check_shared(
        "golden/agentao/replay_sample_default.jsonl", 
        "00000001-0000-4000-8000-000000000000.af6f9671554a: 10 steps, 9 calls, 9 results (9 flagged, 5 errors), 120 tokens, unknown, cap
        of the run: 1 calls of a turn that ended in doom_loop are not recorded",
    );
    check_shared(
        "golden/agentao/replay_sample_tool_events.jsonl", 
        "00000001-0000-4000-8000-000000000000.f34d1ced310e: 10 steps, 9 calls, 9 results (9 flagged, 5 errors), 120 tokens, unknown, cap
        of the run: 1 calls of a turn that ended in doom_loop are not recorded",
    );
}

/// A small generator of damage: the same on every machine.
struct Damage(u64);

impl Damage {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).unwrap()
    }

    /// The text with one to four bytes flipped, a piece cut out, a piece twice, or its end lost.
    fn apply(&mut self, text: &[u8]) -> Vec<u8> {
        let mut damaged = text.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(damaged.len());
            let until = (at + 1 + self.below(40)).min(damaged.len());
            match self.below(5) {
                0 => damaged.truncate(at),
                1 => drop(damaged.drain(at..until)),
                2 => {
                    let piece = damaged[at..until].to_vec();
                    damaged.splice(at..at, piece);
                }
                3 => {
                    let other = [b"null", b"-1e9", b"[{}]", b"\"x\"\""][self.below(4)];
                    damaged.splice(at..at, other.iter().copied());
                }
                _ => {
                    if let Some(byte) = damaged.get_mut(at) {
                        *byte ^= 1 << self.below(7);
                    }
                }
            }
        }
        damaged
    }
}

#[test]
fn no_damage_is_worse_than_a_message() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        for entry in std::fs::read_dir(fixtures().join(format)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("good") || path.extension().is_some_and(|ending| ending == "snap") {
                continue;
            }
            let text = std::fs::read(&path).unwrap();
            let mut damage = Damage(0x9E37_79B9_7F4A_7C15 ^ text.len() as u64);
            let target = folder.path().join(&name);
            for _ in 0..120 {
                std::fs::write(&target, damage.apply(&text)).unwrap();
                let forced = ReadOptions { format: Some((*format).to_owned()), ..ReadOptions::default() };
                let (runs, _) = read(&target, forced);
                assert!(runs.iter().all(|run| run.steps().len() <= run.events().len()));
            }
        }
    }
}
