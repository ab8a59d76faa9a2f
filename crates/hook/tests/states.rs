//! The program on bad states: torn, foreign, missing, replaced, locked, full. Whatever happens, it answers, and the
//! agent goes on.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "tests: stop loudly")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use whenstop_hook::host::HostAgent;
use whenstop_hook::log::{self, LogLine};
use whenstop_hook::record::{RecordKind, SessionRecord};
use whenstop_hook::settings::Folders;
use whenstop_hook::state::SessionState;

const STACKS: &str = r#"
[[stack]]
name = "fuse"
any = [{ signal = "steps", at_least = 3 }, { signal = "call_result.streak", at_least = 2 }]
"#;
const TOKENS: &str = "[[stack]]\nname = \"tokens\"\nany = [{ signal = \"tokens.total\", at_least = 1000 }]\n";

struct Home {
    folder: tempfile::TempDir,
    host: HostAgent,
    entry: &'static str,
}

impl Home {
    fn new(mode: &str, stacks: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), host: HostAgent::ClaudeCode, entry: "cli" };
        let config = home.folders().config;
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.toml"), format!("mode = \"{mode}\"")).unwrap();
        std::fs::write(config.join("stacks.toml"), stacks).unwrap();
        home
    }

    fn folders(&self) -> Folders {
        let place = |base: &str| self.folder.path().join(base).join("whenstop/hook").join(self.host.id());
        Folders { config: place("config"), state: place("state") }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop-hook"));
        command.arg(self.host.id()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        command.env("CLAUDE_CODE_ENTRYPOINT", self.entry);
        command
    }

    fn start(&self, text: &str) -> std::process::Child {
        let mut child = self.command().spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        child
    }

    fn send_text(&self, text: &str) -> Value {
        answer(&self.start(text).wait_with_output().unwrap())
    }

    fn send(&self, event: &str, more: Value) -> Value {
        self.send_text(&self.event(event, more).to_string())
    }

    #[expect(clippy::needless_pass_by_value, reason = "each call makes its fields on the spot")]
    fn event(&self, event: &str, more: Value) -> Value {
        let mut payload = json!({
            "session_id": "s", "hook_event_name": event, "prompt_id": "p1",
            "transcript_path": self.transcript(),
        });
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    /// A batch of one call; `nth` makes it unlike any other.
    fn batch(&self, nth: usize) -> Value {
        self.send("PostToolBatch", batch(nth))
    }

    fn prompt(&self, id: &str) -> Value {
        self.send("UserPromptSubmit", json!({ "prompt": format!("do {id}"), "prompt_id": id }))
    }

    fn transcript(&self) -> PathBuf {
        self.folder.path().join("transcript.jsonl")
    }

    /// Adds the line of a reply with one call to the transcript.
    fn reply(&self, nth: usize, tokens: u64) {
        let line = json!({ "type": "assistant", "version": "2.1.240", "message": {
            "id": format!("m{nth}"), "model": "claude-opus-4-8",
            "content": [{ "type": "tool_use", "id": format!("call-{nth}"), "name": "Bash", "input": {} }],
            "usage": { "input_tokens": tokens, "output_tokens": 0 },
        } });
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(self.transcript()).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn state(&self) -> PathBuf {
        SessionState::path(&self.folders().state, "s")
    }

    fn count(&self, kind: RecordKind) -> usize {
        SessionState::read(&self.state()).unwrap().iter().filter(|record| record.kind == kind).count()
    }

    fn did(&self) -> Vec<String> {
        log::read(&self.folders().log()).into_iter().map(|line: LogLine| line.did).collect()
    }
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn batch(nth: usize) -> Value {
    json!({ "tool_calls": [{
        "tool_name": "Bash", "tool_input": { "command": format!("echo {nth}") }, "tool_use_id": format!("call-{nth}"),
        "tool_response": format!("{nth}"),
    }] })
}

fn is_stop(answer: &Value) -> bool {
    answer["continue"] == json!(false)
}

#[test]
fn the_limit_stops_in_its_mode_and_counts_begin_anew_with_each_prompt() {
    for (mode, stops, did) in [("observe", false, "observed"), ("nudge", false, "nudged"), ("stop", true, "stopped")] {
        let home = Home::new(mode, STACKS);
        for prompt in ["p1", "p2"] {
            assert_eq!(home.prompt(prompt), json!({}));
            for nth in 0..2 {
                let call = format!("{prompt}-{nth}");
                let mut payload = home.event("PostToolBatch", batch(nth));
                payload["prompt_id"] = json!(prompt);
                payload["tool_calls"][0]["tool_use_id"] = json!(call);
                assert_eq!(home.send_text(&payload.to_string()), json!({}), "{mode}");
            }
            let mut payload = home.event("PostToolBatch", batch(9));
            payload["tool_calls"][0]["tool_use_id"] = json!(format!("{prompt}-9"));
            let answer = home.send_text(&payload.to_string());
            assert_eq!(is_stop(&answer), stops, "{mode}: {answer}");
            if stops {
                assert_eq!(answer["stopReason"], "whenstop: steps >= 3: 3 (limit 3)");
            }
            assert_eq!(answer["hookSpecificOutput"]["additionalContext"].is_string(), mode == "nudge", "{answer}");
        }
        assert_eq!(home.did(), [did, did]);
    }
}

#[test]
fn a_question_is_put_once_and_going_on_doubles_the_limit() {
    let home = Home::new("ask", STACKS);
    home.prompt("p1");
    for nth in 0..3 {
        assert_eq!(home.batch(nth), json!({}));
    }
    let before =
        |nth: usize| home.send("PreToolUse", json!({ "tool_name": "Bash", "tool_use_id": format!("call-{nth}") }));
    let asked = before(3);
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask", "{asked}");
    assert_eq!(before(33), json!({}), "put once");
    for nth in 3..5 {
        assert_eq!(home.batch(nth), json!({}));
        assert_eq!(before(nth + 1), json!({}));
    }
    assert_eq!(home.batch(5), json!({}), "the sixth step is at the doubled limit");
    assert_eq!(before(6)["hookSpecificOutput"]["permissionDecision"], "ask");
    assert_eq!(home.did(), ["asked", "went on", "asked"]);
}

#[test]
fn a_refused_question_is_no_going_on_and_nobody_is_asked_who_is_not_there() {
    let home = Home::new("ask", STACKS);
    home.prompt("p1");
    (0..3).for_each(|nth| drop(home.batch(nth)));
    home.send("PreToolUse", json!({ "tool_name": "Bash", "tool_use_id": "call-3" }));
    let mut refused = batch(3);
    refused["tool_calls"][0]["tool_response"] = json!("The user doesn't want to proceed with this tool use.");
    home.send("PostToolBatch", refused);
    assert_eq!(home.did(), ["asked"]);
    let mut home = Home::new("ask", STACKS);
    home.entry = "sdk-cli";
    home.prompt("p1");
    (0..2).for_each(|nth| drop(home.batch(nth)));
    assert!(is_stop(&home.batch(2)), "`claude -p` stops");
}

#[test]
fn a_torn_record_is_dropped_and_the_rest_counts() {
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    home.batch(0);
    home.batch(1);
    let bytes = std::fs::read(home.state()).unwrap();
    std::fs::write(home.state(), &bytes[..bytes.len() - 11]).unwrap();
    // The batch lost its last record: it is not complete, and the next one is the second.
    assert_eq!(home.batch(2), json!({}));
    assert!(is_stop(&home.batch(3)));
    assert!(SessionState::read(&home.state()).unwrap().len() > 10);
}

#[test]
fn a_state_of_another_version_is_put_aside() {
    for bytes in [&b"whenstop-hook 9\nsomething else"[..], b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", b"{}"] {
        let home = Home::new("stop", STACKS);
        std::fs::create_dir_all(home.state().parent().unwrap()).unwrap();
        std::fs::write(home.state(), bytes).unwrap();
        home.prompt("p1");
        assert_eq!(std::fs::read(home.state().with_extension("old")).unwrap(), bytes);
        (0..2).for_each(|nth| assert_eq!(home.batch(nth), json!({})));
        assert!(is_stop(&home.batch(2)));
        assert!(home.did()[0].contains("another version"), "{:?}", home.did());
    }
}

#[test]
fn a_clock_set_back_makes_no_time_run_backwards() {
    let home = Home::new("observe", "[[stack]]\nname = \"t\"\nany = [{ signal = \"active\", at_least = 60 }]\n");
    let at = |event: &str, time: &str, more: Value| {
        let mut payload = home.event(event, more);
        payload["timestamp"] = json!(time);
        assert_eq!(home.send_text(&payload.to_string()), json!({}));
    };
    at("UserPromptSubmit", "2026-11-23T10:00:00Z", json!({ "prompt": "go" }));
    at("PostToolBatch", "2026-11-23T10:00:30Z", batch(0));
    at("PostToolBatch", "2026-11-23T09:00:31Z", batch(1));
    let times: Vec<i64> = SessionState::read(&home.state()).unwrap().iter().map(|record| record.time).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(home.did(), [""; 0]);
    at("PostToolBatch", "2026-11-23T10:01:00Z", batch(2));
    assert_eq!(home.did(), ["observed"]);
}

#[test]
fn a_resumed_or_shortened_session_goes_on_and_a_cleared_or_forked_one_begins() {
    for (source, stops) in [("resume", true), ("compact", true), ("clear", false), ("fork", false)] {
        let home = Home::new("stop", STACKS);
        std::fs::write(home.folders().config.join("settings.toml"), "mode = \"stop\"\nunit = \"session\"").unwrap();
        home.prompt("p1");
        (0..2).for_each(|nth| assert_eq!(home.batch(nth), json!({})));
        home.send("SessionStart", json!({ "source": source }));
        assert_eq!(is_stop(&home.batch(2)), stops, "{source}");
    }
}

#[test]
fn a_sub_agents_calls_are_no_steps_and_its_tokens_count() {
    let home = Home::new("stop", &format!("{STACKS}{TOKENS}"));
    std::fs::write(home.transcript(), "").unwrap();
    home.prompt("p1");
    for nth in 0..5 {
        let mut payload = home.event("PostToolBatch", batch(nth));
        payload["agent_id"] = json!("a1");
        assert_eq!(home.send_text(&payload.to_string()), json!({}));
    }
    assert_eq!(home.count(RecordKind::Batch), 0);
    let side = home.folder.path().join("agent.jsonl");
    let line = |tokens: u64| json!({ "type": "assistant", "message": { "id": "a", "content": [], "usage": { "input_tokens": tokens, "output_tokens": 0 } } });
    std::fs::write(&side, format!("{}\n", line(1200))).unwrap();
    home.send("SubagentStop", json!({ "agent_id": "a1", "agent_transcript_path": side }));
    let stop = home.batch(9);
    assert_eq!(stop["stopReason"], "whenstop: tokens.total >= 1000: 1200 (limit 1000)");
}

#[test]
fn what_a_sub_agents_transcript_says_after_its_end_is_read_at_the_next_event() {
    let home = Home::new("stop", TOKENS);
    home.prompt("p1");
    let side = home.folder.path().join("side.jsonl");
    let line = |id: &str, tokens: u64| {
        let usage = json!({ "input_tokens": tokens, "output_tokens": 0 });
        json!({ "type": "assistant", "message": { "id": id, "model": "m", "content": [], "usage": usage } })
    };
    std::fs::write(&side, format!("{}\n", line("s1", 400))).unwrap();
    home.send("SubagentStop", json!({ "agent_id": "a1", "agent_transcript_path": side }));
    std::fs::write(&side, format!("{}\n{}\n", line("s1", 400), line("s2", 500))).unwrap();
    home.reply(0, 100);
    assert!(is_stop(&home.batch(0)), "400 and 500 of the sub-agent, 100 of its own");
}

#[test]
fn calls_of_one_reply_that_are_announced_one_by_one_are_one_step() {
    let mut home = Home::new("stop", STACKS);
    let (settings, stacks) = (home.folders().settings(), home.folders().stacks());
    home.host = HostAgent::QwenCode;
    std::fs::create_dir_all(home.folders().config).unwrap();
    std::fs::copy(settings, home.folders().settings()).unwrap();
    std::fs::copy(stacks, home.folders().stacks()).unwrap();
    home.prompt("p1");
    let request = || home.send("UserPromptSubmit", json!({ "prompt": "" }));
    for reply in 0..2 {
        let call = |nth: usize| json!({ "functionCall": { "id": format!("call-{nth}"), "name": "Bash", "args": {} } });
        let parts = json!([call(2 * reply), call(2 * reply + 1)]);
        let line = json!({ "type": "assistant", "uuid": format!("m{reply}"), "message": { "parts": parts } });
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(home.transcript()).unwrap();
        writeln!(file, "{line}").unwrap();
        assert_eq!(home.batch(2 * reply), json!({}));
        assert_eq!(home.batch(2 * reply + 1), json!({}), "still reply {reply}");
        assert_eq!(request(), json!({}));
    }
    assert!(is_stop(&home.batch(4)), "the third reply");
    assert_eq!(home.did(), ["stopped"]);
    assert!(is_stop(&request()));
}

#[test]
fn without_a_transcript_a_rule_on_tokens_is_said_to_be_blind_once() {
    let home = Home::new("stop", TOKENS);
    home.prompt("p1");
    let first = home.batch(0);
    assert!(first["systemMessage"].as_str().unwrap().contains("no transcript"), "{first}");
    assert_eq!(home.batch(1), json!({}), "said once");
    assert_eq!(home.count(RecordKind::Usage), 0);
}

#[test]
fn tokens_that_come_late_are_booked_to_their_step_and_said_to_be_late() {
    let home = Home::new("observe", TOKENS);
    std::fs::write(home.transcript(), "").unwrap();
    home.prompt("p1");
    home.reply(0, 600);
    home.batch(0);
    home.batch(1);
    home.reply(1, 600);
    home.batch(2);
    let log = log::read(&home.folders().log());
    let [line] = &log[..] else { panic!("{log:?}") };
    assert_eq!((&*line.point, line.step, line.late, line.observed), ("1:after_tools", 2, true, Some(1200.0)));
    assert_eq!((&*line.version, &*line.model), ("2.1.240", "claude-opus-4-8"));
}

#[test]
fn a_replaced_or_shortened_transcript_counts_each_reply_once() {
    for replaced in [true, false] {
        let home = Home::new("observe", TOKENS);
        std::fs::write(home.transcript(), "").unwrap();
        home.prompt("p1");
        home.reply(0, 400);
        home.batch(0);
        home.reply(1, 400);
        home.batch(1);
        assert_eq!(home.did(), [""; 0], "800 tokens");
        if replaced {
            std::fs::rename(home.transcript(), home.transcript().with_extension("1")).unwrap();
            home.reply(0, 400);
            home.reply(1, 400);
        } else {
            std::fs::write(home.transcript(), "").unwrap();
            home.reply(1, 400);
        }
        home.batch(2);
        assert_eq!(home.did(), [""; 0], "still 800 tokens");
        home.reply(3, 200);
        home.batch(3);
        assert_eq!(home.did(), ["observed"]);
    }
}

#[test]
fn an_agent_that_announces_no_batches_is_named_and_nothing_is_guessed() {
    let home = Home::new("stop", STACKS);
    std::fs::write(home.transcript(), "").unwrap();
    home.prompt("p1");
    for nth in 0..5 {
        home.reply(nth, 10);
        home.send("PostToolUseFailure", json!({ "tool_use_id": format!("call-{nth}"), "error": "no" }));
    }
    let answer = home.send("Stop", json!({}));
    assert!(answer["systemMessage"].as_str().unwrap().contains("announces no batches"), "{answer}");
    assert_eq!(home.send("Stop", json!({})), json!({}));
}

#[test]
fn installed_twice_it_counts_once() {
    let home = Home::new("stop", STACKS);
    for _ in 0..2 {
        home.prompt("p1");
    }
    for nth in 0..2 {
        assert_eq!((home.batch(nth), home.batch(nth)), (json!({}), json!({})));
    }
    assert!(is_stop(&home.batch(2)));
    assert_eq!((home.count(RecordKind::Prompt), home.count(RecordKind::Batch)), (1, 3));
}

#[test]
fn without_a_prompt_id_every_prompt_begins_a_round() {
    let home = Home::new("stop", STACKS);
    for round in 0..3 {
        let mut payload = home.event("UserPromptSubmit", json!({ "prompt": "go on" }));
        payload.as_object_mut().unwrap().remove("prompt_id");
        home.send_text(&payload.to_string());
        for nth in 0..2 {
            assert_eq!(home.batch(round * 2 + nth), json!({}));
        }
    }
    assert_eq!(home.count(RecordKind::Prompt), 3);
}

#[test]
fn sixty_at_once_lose_no_record_unsaid() {
    let home = Home::new("observe", STACKS);
    home.prompt("p1");
    let children: Vec<_> =
        (0..60).map(|nth| home.start(&home.event("PostToolBatch", batch(nth)).to_string())).collect();
    for child in children {
        assert_eq!(answer(&child.wait_with_output().unwrap()), json!({}));
    }
    let did = home.did();
    let n_locked_out = did.iter().filter(|did| did.contains("another program holds its lock")).count();
    assert_eq!(home.count(RecordKind::Batch) + n_locked_out, 60, "{did:?}");
    assert_eq!(home.count(RecordKind::Call), home.count(RecordKind::Batch));
    assert_eq!(did.iter().filter(|did| *did == "observed").count(), 1, "{did:?}");
}

/// Anybody who may read a file may lock it.
#[test]
fn a_lock_that_others_hold_is_not_waited_for() {
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    (0..2).for_each(|nth| drop(home.batch(nth)));
    let held = std::fs::File::open(home.state()).unwrap();
    held.lock().unwrap();
    assert_eq!(home.batch(2), json!({}), "the test waits for ever if the hook does");
    assert!(home.did()[0].contains("another program holds its lock"), "{:?}", home.did());
    drop(held);
    assert!(is_stop(&home.batch(3)));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    // Whether the hook still counts, and then says that a rule on tokens is blind without a transcript.
    for (place, counts) in
        [("state", false), ("stacks", false), ("settings", false), ("log", true), ("transcript", true)]
    {
        let home = Home::new("stop", TOKENS);
        home.prompt("p1");
        let path = match place {
            "state" => home.state(),
            "stacks" => home.folders().stacks(),
            "settings" => home.folders().settings(),
            "log" => home.folders().log(),
            _ => home.transcript(),
        };
        let _ = std::fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(home.batch(0)["systemMessage"].is_string(), counts, "{}", path.display());
        let said = if counts { "no transcript" } else { "no regular file" };
        assert!(place == "log" || home.did().last().unwrap().contains(said), "{place}: {:?}", home.did());
    }
}

/// The agent goes on, and the log says what is wrong.
#[test]
fn odd_settings_are_said_in_the_log() {
    let folder = None;
    for (file, bytes, said) in [
        ("settings.toml", Some(&b"mode = 7"[..]), "wanted string or table"),
        ("settings.toml", Some(b"mode = \"halt\""), "unknown variant `halt`"),
        ("settings.toml", Some(b"mode = \"stop\"\nmode = \"stop\""), "duplicate key"),
        ("settings.toml", Some(b"limit = 3"), "unknown field `limit`"),
        ("settings.toml", Some(b"mode = \"\xff\""), "valid UTF-8"),
        ("settings.toml", folder, "no regular file"),
        ("stacks.toml", Some(b""), "no `[[stack]]`"),
        ("stacks.toml", Some(b"\xff\xfe"), "valid UTF-8"),
        ("stacks.toml", folder, "no regular file"),
    ] {
        let home = Home::new("stop", STACKS);
        let path = home.folders().config.join(file);
        std::fs::remove_file(&path).unwrap();
        bytes.map_or_else(|| std::fs::create_dir(&path), |bytes| std::fs::write(&path, bytes)).unwrap();
        (0..4).for_each(|nth| assert_eq!(home.batch(nth), json!({}), "{file}: {said}"));
        let did = home.did();
        assert!(did.len() == 4 && did[0].contains(file) && did[0].contains(said), "{file}: {said}: {did:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    (0..3).for_each(|nth| drop(home.batch(nth)));
    let state = home.folders().state;
    for (path, mode) in [
        (state.clone(), 0o700),
        (state.join("sessions"), 0o700),
        (state.join("fields"), 0o700),
        (state.join("fields/PostToolBatch"), 0o600),
        (home.state(), 0o600),
        (home.folders().log(), 0o600),
    ] {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    // What was made with more rights loses them.
    let open_to_all = std::fs::Permissions::from_mode(0o755);
    for path in [&state, &state.join("sessions"), &home.state(), &home.folders().log()] {
        std::fs::set_permissions(path, open_to_all.clone()).unwrap();
    }
    home.prompt("p2");
    (10..13).for_each(|nth| drop(home.batch(nth)));
    for path in [&state, &state.join("sessions"), &home.state(), &home.folders().log()] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
    let kept = std::fs::read(home.state()).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("echo 1"), "fingerprints suffice for these rules");
}

#[test]
fn a_damaged_record_is_left_out_and_said_once() {
    let home = Home::new("observe", STACKS);
    home.prompt("p1");
    (0..4).for_each(|nth| drop(home.batch(nth)));
    let records = SessionState::read(&home.state()).unwrap();
    let mut bytes = std::fs::read(home.state()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(home.state(), &bytes).unwrap();
    assert_eq!(SessionState::read(&home.state()).unwrap().len(), records.len() - 1);
    (4..6).for_each(|nth| drop(home.batch(nth)));
    let said: Vec<String> = home.did().into_iter().filter(|did| did.starts_with("damaged")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    // Two batches of four records each, and that it was said, in the place of the damaged one.
    assert_eq!(SessionState::read(&home.state()).unwrap().len(), records.len() - 1 + 9);
}

#[test]
fn nonsense_is_answered_with_nothing() {
    let home = Home::new("stop", STACKS);
    let deep = "[".repeat(5_000);
    for text in ["", "{", "null", "[]", "\u{0}", &deep, r#"{"hook_event_name":"PostToolBatch"}"#] {
        assert_eq!(home.send_text(text), json!({}), "{text:.20}");
    }
    for calls in [json!(null), json!(7), json!([null, 7, {}]), json!([{ "tool_use_id": 3, "tool_response": [1, {}] }])]
    {
        assert_eq!(home.send("PostToolBatch", json!({ "tool_calls": calls })), json!({}));
    }
    std::fs::write(home.folders().stacks(), "[[stack]]\nname = \"x\"\nany = [{ signal = \"nonsense\" }]").unwrap();
    assert_eq!(home.batch(0), json!({}));
    assert!(home.did().last().unwrap().contains("nonsense"), "{:?}", home.did());
}

/// Every write fails: the state cannot be made, or not be added to.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_nobody() {
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    (0..2).for_each(|nth| drop(home.batch(nth)));
    let before = std::fs::read(home.state()).unwrap();
    let mut limited = Command::new("sh");
    // No file may grow beyond a kilobyte; the signal for it is ignored, so that writing fails as on a full disk.
    limited.args([
        "-c",
        "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_whenstop-hook"),
        "claude-code",
    ]);
    for (name, value) in home.command().get_envs() {
        limited.env(name, value.unwrap());
    }
    let mut child = limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut big = batch(2);
    big["tool_calls"][0]["tool_name"] = json!("n".repeat(5_000));
    child.stdin.take().unwrap().write_all(home.event("PostToolBatch", big).to_string().as_bytes()).unwrap();
    assert_eq!(answer(&child.wait_with_output().unwrap()), json!({}));
    assert_eq!(std::fs::read(home.state()).unwrap(), before, "nothing half-written stays");
    assert!(is_stop(&home.batch(3)), "and it goes on where it was");
}

#[test]
fn every_fixture_is_read() {
    for host in HostAgent::ALL {
        let mut home = Home::new("ask", STACKS);
        let text = std::fs::read_to_string(home.folders().stacks()).unwrap();
        home.host = host;
        std::fs::create_dir_all(home.folders().config).unwrap();
        std::fs::write(home.folders().stacks(), text).unwrap();
        for expected in host.expected() {
            assert_eq!(home.send_text(expected.fixture), json!({}), "{} {:?}", host.id(), expected.event);
        }
        let session = "00893aaf-19fa-41d2-8238-13269b9b3ca0";
        let records = SessionState::read(&SessionState::path(&home.folders().state, session)).unwrap();
        let results: Vec<&SessionRecord> = records.iter().filter(|record| record.kind == RecordKind::Result).collect();
        assert_eq!(results.len(), 2, "{}", host.id());
        assert_ne!(results[0].a, results[1].a);
        let failed: Vec<bool> =
            results.iter().map(|result| result.flags.has(whenstop_hook::record::Flag::FAILED)).collect();
        // Claude Code's batch has no flag: the failure is a record of its own.
        assert_eq!(failed, [false, host == HostAgent::QwenCode]);
        assert!(records.iter().any(|record| record.kind == RecordKind::Failure));
    }
}

/// Qwen Code under `-p` announces every request by a prompt without text, and a stop there ends the run.
#[test]
fn a_stop_is_told_again_at_each_request_until_somebody_speaks() {
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    for nth in 0..2 {
        home.batch(nth);
        assert_eq!(home.send("UserPromptSubmit", json!({ "prompt": "" })), json!({}));
    }
    assert!(is_stop(&home.batch(2)));
    let again = home.send("UserPromptSubmit", json!({ "prompt": "" }));
    assert_eq!(again, json!({ "continue": false, "stopReason": "whenstop: steps >= 3: 3 (limit 3)" }));
    let notified = home.send("UserPromptSubmit", json!({ "prompt": "<task-notification>\ndone", "prompt_id": "n1" }));
    assert!(is_stop(&notified), "a notification is no person's prompt");
    assert_eq!(home.prompt("p2"), json!({}), "a person may go on");
    assert_eq!(home.count(RecordKind::Prompt), 2);
    assert_eq!(home.did(), ["stopped"]);
}

#[test]
fn a_batch_after_a_stop_in_the_same_round_is_a_stop_that_was_not_obeyed() {
    let home = Home::new("stop", STACKS);
    home.prompt("p1");
    for nth in 0..6 {
        assert_eq!(is_stop(&home.batch(nth)), nth == 2, "{nth}");
    }
    assert_eq!(home.did(), ["stopped", "not obeyed"]);
    home.prompt("p2");
    for nth in 10..13 {
        home.batch(nth);
    }
    assert_eq!(home.did(), ["stopped", "not obeyed", "stopped"]);
}

#[test]
fn a_notification_goes_on_with_the_round_of_the_prompt() {
    let home = Home::new("observe", STACKS);
    home.prompt("p1");
    home.batch(0);
    home.send("Stop", json!({}));
    home.send("UserPromptSubmit", json!({ "prompt": "<task-notification>\nagent done", "prompt_id": "n1" }));
    home.batch(2);
    let lines = log::read(&home.folders().log());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((lines[0].round, lines[0].point.as_str()), (1, "2:after_tools"), "the reply that handed back is a step");
}

/// As Qwen Code 0.24.4 sends them: equal results have other ids, and the result is a structure.
#[test]
fn equal_results_are_equal_whatever_ids_stand_around_them() {
    let mut home =
        Home::new("stop", "[[stack]]\nname = \"same\"\nany = [{ signal = \"call_result.streak\", at_least = 2 }]\n");
    home.host = HostAgent::QwenCode;
    let config = home.folders().config;
    std::fs::create_dir_all(&config).unwrap();
    for name in ["settings.toml", "stacks.toml"] {
        let from = Folders { config: home.folder.path().join("config/whenstop/hook/claude-code"), ..home.folders() };
        std::fs::copy(from.config.join(name), config.join(name)).unwrap();
    }
    let batch = |nth: u32, words: &str| {
        let id = format!("call_{nth}");
        json!({ "tool_calls": [{
            "tool_name": "run_shell_command", "tool_input": { "command": "ls" }, "tool_use_id": id, "tool_call_id": id,
            "status": "error", "tool_response": {
                "response_parts": [{ "functionResponse": { "id": id, "name": "run_shell_command", "response": { "error": words } } }],
                "result_display": words, "content_length": nth,
            },
        }] })
    };
    home.prompt("p1");
    assert_eq!(home.send("PostToolBatch", batch(1, "one")), json!({}));
    assert_eq!(home.send("PostToolBatch", batch(2, "two")), json!({}), "other words are another result");
    assert!(is_stop(&home.send("PostToolBatch", batch(3, "two"))));
}
