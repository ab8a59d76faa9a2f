//! When OpenClaw considers two results equal.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::config::Release;
use crate::preset::frame::identity::{KeyOrder, js_text};
use crate::transcript::Fingerprint;

/// A call's outcome, as stored in the history.
#[derive(Clone, Debug, Default)]
pub(super) struct CallOutcome {
    /// The fingerprint that is compared; `None` if the call was refused.
    pub(super) print: Option<Fingerprint>,
    /// Whether it was refused because of a loop.
    pub(super) refused: bool,
    /// For `exec`, the shape of the failure if the command ran to its end and failed.
    pub(super) failure: Option<Fingerprint>,
    /// Whether it threw an error or was a write that changed nothing.
    pub(super) no_progress: bool,
    /// The tool that the error says is missing.
    pub(super) missing: Option<String>,
}

/// A result as the tool returned it.
pub(super) struct ReturnedResult<'r> {
    pub(super) tool: &'r str,
    pub(super) arguments: &'r Value,
    pub(super) details: &'r Value,
    pub(super) text: &'r str,
}

/// Actions of `message` that send something.
const SENDS: [&str; 9] = [
    "send",
    "broadcast",
    "reply",
    "thread-reply",
    "sendWithEffect",
    "sendAttachment",
    "upload-file",
    "sticker",
    "poll",
];
/// Fields of a delivery report that differ for every message.
const NEW_EACH_TIME: [&str; 18] = [
    "messageId",
    "message_id",
    "messageIds",
    "platformMessageId",
    "platformMessageIds",
    "fileId",
    "file_id",
    "fileKey",
    "pollId",
    "poll_id",
    "receipt",
    "runId",
    "idempotencyKey",
    "ts",
    "timestamp",
    "sentAt",
    "deliveredAt",
    "createdAt",
];

/// The outcome of a thrown error.
pub(super) fn thrown(message: &str, release: Release) -> CallOutcome {
    let message = if message.is_empty() { "Error" } else { message };
    let print = Fingerprint::from_text(&format!(
        "error:{}",
        js_text(&without_ids(&Value::from(message), release), KeyOrder::Sorted)
    ));
    CallOutcome { print: Some(print), no_progress: true, missing: missing_tool(message), ..CallOutcome::default() }
}

/// The outcome of a returned result.
pub(super) fn returned(given: &ReturnedResult<'_>, release: Release) -> CallOutcome {
    let ReturnedResult { tool, arguments, details, text } = *given;
    let text = trimmed(text);
    let plain = |value: Value| CallOutcome { print: Some(print(&value, release)), ..CallOutcome::default() };
    if details["status"] == "blocked" && details["deniedReason"] == "tool-loop" {
        return CallOutcome { refused: release == Release::Constants, ..CallOutcome::default() };
    }
    if tool == "exec"
        && let Some(outcome) = command_outcome(details, text, release)
    {
        return outcome;
    }
    if release == Release::Constants && tool == "write" && details["changed"] == false {
        return CallOutcome { no_progress: true, ..plain(json!({ "status": "unchanged" })) };
    }
    if tool == "process" && is_poll(tool, arguments) {
        let fields: &[&str] = if arguments["action"] == "poll" {
            &["exitCode", "exitSignal", "aggregated"]
        } else {
            &["totalLines", "totalChars", "truncated", "exitCode", "exitSignal"]
        };
        let mut seen = Map::from_iter([("text".to_owned(), Value::from(text))]);
        seen.insert("action".to_owned(), arguments["action"].clone());
        seen.extend(fields.iter().map(|field| ((*field).to_owned(), details[*field].clone())));
        // Here a missing status differs from null.
        seen.extend(details.get("status").map(|status| ("status".to_owned(), status.clone())));
        return plain(Value::Object(seen));
    }
    if is_send(tool, arguments, release) {
        return plain(without_new_fields(details));
    }
    plain(json!({ "details": details, "text": text }))
}

/// Whether the call polls something that runs elsewhere.
pub(super) fn is_poll(tool: &str, arguments: &Value) -> bool {
    tool == "command_status"
        || (tool == "process" && ["poll", "log"].iter().any(|action| arguments["action"] == **action))
}

fn is_send(tool: &str, arguments: &Value, release: Release) -> bool {
    match tool {
        "sessions_send" => true,
        "conversations_send" | "conversations_turn" => release == Release::Constants,
        "message" => SENDS.iter().any(|action| arguments["action"] == **action),
        _ => false,
    }
}

/// The outcome of an `exec` command by its status; `None` if the general rule applies.
fn command_outcome(details: &Value, text: &str, release: Release) -> Option<CallOutcome> {
    let status = details["status"].as_str().filter(|status| !status.is_empty())?;
    let word = |field: &str| details[field].as_str();
    let plain = |value: Value| Some(CallOutcome { print: Some(print(&value, release)), ..CallOutcome::default() });
    match status {
        "running" => plain(json!({ "status": status, "tail": word("tail").unwrap_or_default() })),
        "approval-pending" | "approval-unavailable" => plain(json!({
            "status": status,
            "reason": word("reason"),
            "host": word("host"),
            "command": word("command").unwrap_or_default(),
            "warningText": word("warningText").unwrap_or_default(),
        })),
        "completed" | "failed" => {
            let output = word("aggregated").map(trimmed).filter(|output| !output.is_empty()).unwrap_or(text);
            let exit = &details["exitCode"];
            let exit = if exit.is_number() { exit.clone() } else { Value::Null };
            let timed_out = details["timedOut"] == true;
            let whole =
                |output: &str| json!({ "status": status, "exitCode": exit, "timedOut": timed_out, "output": output });
            let bare = format!("(Command exited with code {})", js_text(&exit, KeyOrder::Given));
            let has_failed = matches!(exit.as_f64(), Some(code) if code != 0.0) && !timed_out;
            let tells = !output.is_empty() && output != bare;
            let has_failure = has_failed && tells && release == Release::Constants;
            let failure = if has_failure { Some(print(&whole(&shape(output)), release)) } else { None };
            Some(CallOutcome { print: Some(print(&whole(output), release)), failure, ..CallOutcome::default() })
        }
        _ => None,
    }
}

/// The output of a failed command, without the parts that differ each time.
fn shape(output: &str) -> String {
    static NEW_EACH_TIME: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = [
            r"(?i)[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:z|[+-][0-9]{2}:[0-9]{2})?",
            r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?",
            r"(?i)(?-u:\b)(?:attempt|retry)(?-u:\b)[\s#:=]*[0-9]+",
            r"(?i)(?-u:\b)[0-9]+(?:\.[0-9]+)?\s?(?:ns|us|ms|seconds?|minutes?|hours?|s)(?-u:\b)",
            r"(?i)(?-u:\b)p?pid(?-u:\b)[\s#:=]*[0-9]+",
        ];
        patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
    });
    NEW_EACH_TIME.iter().fold(output.to_owned(), |text, pattern| pattern.replace_all(&text, "#").into_owned())
}

/// The tool that an error says is missing, in lower case.
pub(super) fn missing_tool(message: &str) -> Option<String> {
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let forms = [
            r#"(?i)unknown tool[:\s]+["']?([a-z0-9_.-]+)["']?"#,
            r#"(?i)tool\s+["']?([a-z0-9_.-]+)["']?\s+(?:not found|is not available)"#,
        ];
        forms.iter().filter_map(|form| Regex::new(form).ok()).collect()
    });
    let found = FORMS.iter().find_map(|form| form.captures(message))?;
    Some(found.get(1)?.as_str().to_lowercase())
}

/// A delivery report without the fields that differ for every message.
fn without_new_fields(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(without_new_fields).collect()),
        Value::Object(fields) => {
            let text = |name: &str| matches!(fields.get(name), Some(Value::String(_)));
            let is_message = text("id")
                && text("text")
                && (["direction", "senderId", "accountId"].iter().any(|name| text(name))
                    || matches!(fields.get("conversation"), Some(Value::Object(_))));
            let is_new = |name: &str| NEW_EACH_TIME.contains(&name) || (is_message && name == "id");
            let kept = fields.iter().filter(|(name, _)| !is_new(name));
            Value::Object(kept.map(|(name, inner)| (name.clone(), without_new_fields(inner))).collect())
        }
        other => other.clone(),
    }
}

fn print(value: &Value, release: Release) -> Fingerprint {
    Fingerprint::from_text(&js_text(&without_ids(value, release), KeyOrder::Sorted))
}

/// Every text without the ids of untrusted-content wrappers. Releases up to 2026.7 do compare these ids.
fn without_ids(value: &Value, release: Release) -> Value {
    match value {
        _ if release == Release::Numbers => value.clone(),
        Value::String(text) => Value::String(unwrapped(text)),
        Value::Array(items) => Value::Array(items.iter().map(|item| without_ids(item, release)).collect()),
        Value::Object(fields) => {
            let plain = |(key, inner): (&String, &Value)| (unwrapped(key), without_ids(inner, release));
            Value::Object(fields.iter().map(plain).collect())
        }
        other => other.clone(),
    }
}

const OPENS: &str = "<<<EXTERNAL_UNTRUSTED_CONTENT";
const CLOSES: &str = "<<<END_EXTERNAL_UNTRUSTED_CONTENT";
const NO_ID: &str = "0000000000000000";

/// Replaces the ids of complete wrappers, whose two markers have the same id, with zeros.
fn unwrapped(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(OPENS) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (length, zeroed) = wrapper(from).unwrap_or_else(|| (OPENS.len(), OPENS.to_owned()));
        out.push_str(&zeroed);
        rest = &from[length..];
    }
    out + rest
}

/// A complete wrapper at the start of `text`: its length, and its text with zeros for the id.
fn wrapper(text: &str) -> Option<(usize, String)> {
    let (escapes, id, inner) = marker(text, OPENS)?;
    let next = [OPENS, CLOSES].iter().filter_map(|mark| inner.find(mark)).min()?;
    let (middle, end) = inner.split_at(next);
    let (same_escapes, same_id, after) = marker(end, CLOSES)?;
    // Each level of quoting doubles the backslashes and adds one; the quotes inside must be of the same level or
    // deeper.
    let is_level = escapes & (escapes + 1) == 0;
    let is_whole = quoted_runs(middle).all(|run| run % (escapes + 1) == 0);
    if same_escapes != escapes || same_id != id {
        return None;
    }
    let length = text.len() - after.len();
    let whole = &text[..length];
    if !(is_level && is_whole) {
        return Some((length, whole.to_owned()));
    }
    // The first and the last occurrence of the id are those in the markers.
    let (first, last) = (whole.find(id)?, whole.rfind(id)?);
    let (start, end) = (&whole[..first], &whole[last + id.len()..]);
    Some((length, format!("{start}{NO_ID}{}{NO_ID}{end}", &whole[first + id.len()..last])))
}

/// Parses `<mark> id="…">>>`: the number of backslashes before its quotes, the id, and the rest of the text.
fn marker<'t>(text: &'t str, mark: &str) -> Option<(usize, &'t str, &'t str)> {
    let from = text.strip_prefix(mark)?.strip_prefix(" id=")?;
    let bare = from.trim_start_matches('\\');
    let escapes = from.len() - bare.len();
    let from = bare.strip_prefix('"')?;
    let id =
        from.get(..NO_ID.len()).filter(|id| id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))?;
    let after = from[NO_ID.len()..].strip_prefix(&"\\".repeat(escapes))?.strip_prefix("\">>>")?;
    Some((escapes, id, after))
}

/// For each quote, its length including the backslashes before it.
fn quoted_runs(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('"').map(|(at, _)| 1 + text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count())
}

/// Trims a text as JavaScript does.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_whole_wrappers_do_not_count() {
        let wrapped = |a: &str, b: &str| {
            format!(r#"x <<<EXTERNAL_UNTRUSTED_CONTENT id="{a}">>>hi<<<END_EXTERNAL_UNTRUSTED_CONTENT id="{b}">>> y"#)
        };
        let (one, two) = ("0123456789abcdef", "fedcba9876543210");
        assert_eq!(unwrapped(&wrapped(one, one)), unwrapped(&wrapped(two, two)));
        assert_eq!(unwrapped(&wrapped(one, two)), wrapped(one, two), "the ends name two wrappers");
        let unclosed = wrapped(one, one).replace("<<<END", "<<<UND");
        assert_eq!(unwrapped(&unclosed), unclosed);
        assert_eq!(unwrapped(OPENS), OPENS);
    }

    #[test]
    fn the_shape_of_a_failure_has_no_times_and_no_counts() {
        let check = |a: &str, b: &str, same: bool| assert_eq!(shape(a) == shape(b), same, "{a} / {b}");
        check("at 2026-01-02T03:04:05Z: no", "at 2026-01-02 03:04:06.5+01:00: no", true);
        check("retry #3 in 1.5s", "retry #4 in 250 ms", true);
        check("pid 12 gone", "ppid: 13 gone", true);
        check("line 12", "line 13", false);
    }

    #[test]
    fn missing_tools_are_named_in_lower_case() {
        let check = |message: &str, tool: Option<&str>| assert_eq!(missing_tool(message).as_deref(), tool, "{message}");
        check("Unknown tool: Fetch_Page", Some("fetch_page"));
        check("tool 'x.y' not found", Some("x.y"));
        check("Tool x is not available here", Some("x"));
        check("no such file", None);
    }
}
