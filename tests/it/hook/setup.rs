//! The hook put into an agent's configuration and taken out again, by the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;
use whenstop_hook::host::HostAgent;

use super::{Home, program};

/// A settings file of Claude Code as people have it: other hooks, odd spacing, no line feed at the end.
const CLAUDE: &str = "{\n    \"$schema\": \"https://json.schemastore.org/claude-code-settings.json\",\n    \"permissions\": {\"allow\": [\"Bash(npm run test:*)\"], \"deny\": [\"Read(./.env)\"]},\n    \"hooks\": {\n      \"PostToolBatch\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"~/bin/lint.sh\" }] }],\n      \"Notification\": [{\"matcher\": \"\", \"hooks\": [{\"type\": \"command\", \"command\": \"say ready\"}]}]\n    },\n    \"statusLine\": {\"type\": \"command\", \"command\": \"~/.claude/line.sh\"}\n}";

/// One of Qwen Code, which allows comments and commas at the end; written on Windows.
const QWEN: &str = "// my settings\r\n{\r\n  /* look */\r\n  \"ui\": { \"theme\": \"GitHub\" }, // dark\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\", } ] }, // ring\r\n    ],\r\n  },\r\n}\r\n";

struct Machine {
    home: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(
            home.path().join("fuse.toml"),
            "[[stack]]\nname = \"fuse\"\nany = [{ signal = \"steps\", at_least = 3 }]\n",
        )
        .unwrap();
        Self { home }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        for variable in ["CLAUDE_CONFIG_DIR", "QWEN_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        command.args(words).env("HOME", self.home.path()).current_dir(self.home.path()).output().unwrap()
    }

    fn settings(&self, host: HostAgent) -> PathBuf {
        let folder = if host == HostAgent::ClaudeCode { ".claude" } else { ".qwen" };
        self.home.path().join(folder).join("settings.json")
    }

    fn install(&self, host: HostAgent, more: &[&str]) -> Output {
        let program = program().display().to_string();
        let mut words = vec!["hook", "install", host.id(), "--stacks", "fuse.toml", "--program", &program];
        words.extend(more);
        self.run(&words)
    }
}

impl Machine {
    /// The same of a program that is never started.
    fn install_any(&self, more: &[&str]) -> Output {
        std::fs::write(self.home.path().join("whenstop-hook"), "").unwrap();
        let mut words =
            vec!["hook", "install", "claude-code", "--stacks", "fuse.toml", "--program", "whenstop-hook", "--yes"];
        words.extend(more);
        self.run(&words)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn it_is_taken_out_to_the_byte() {
    for (host, before) in
        [(HostAgent::ClaudeCode, Some(CLAUDE)), (HostAgent::QwenCode, Some(QWEN)), (HostAgent::ClaudeCode, None)]
    {
        let machine = Machine::new();
        let path = machine.settings(host);
        if let Some(before) = before {
            write(&path, before);
        }
        let now = || std::fs::read_to_string(&path).ok();
        let asked = machine.install(host, &[]);
        assert_eq!(
            (asked.status.code(), now().as_deref()),
            (Some(2), before),
            "nobody agreed: {}",
            text(&asked.stderr)
        );
        assert!(text(&asked.stdout).contains("+ "), "{}", text(&asked.stdout));
        for mode in ["observe", "ask"] {
            let done = machine.install(host, &["--mode", mode, "--yes"]);
            assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        }
        let written = now().unwrap();
        assert!(written.contains("whenstop-hook") && written.contains("PreToolUse"), "{written}");
        let done = machine.run(&["hook", "uninstall", host.id(), "--yes"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert_eq!(now().as_deref(), before, "as it was");
        let again = machine.run(&["hook", "uninstall", host.id(), "--yes"]);
        assert_ne!(again.status.code(), Some(0), "there is nothing to take out");
    }
}

#[test]
fn what_was_changed_since_stays_when_it_is_taken_out() {
    let machine = Machine::new();
    let path = machine.settings(HostAgent::ClaudeCode);
    write(&path, CLAUDE);
    assert!(machine.install(HostAgent::ClaudeCode, &["--yes"]).status.success());
    let edited = std::fs::read_to_string(&path).unwrap().replace("say ready", "say done");
    write(&path, &edited);
    assert!(machine.run(&["hook", "uninstall", "claude-code", "--yes"]).status.success());
    let after = std::fs::read_to_string(&path).unwrap();
    let (after, before): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&after).unwrap(),
        serde_json::from_str(&CLAUDE.replace("say ready", "say done")).unwrap(),
    );
    assert_eq!(after, before);
}

#[test]
fn a_file_that_cannot_hold_it_or_a_stack_that_is_wrong_changes_nothing() {
    let machine = Machine::new();
    let path = machine.settings(HostAgent::ClaudeCode);
    for broken in ["{\"hooks\": []}", "{", "[1]"] {
        write(&path, broken);
        let done = machine.install(HostAgent::ClaudeCode, &["--yes"]);
        assert_ne!(done.status.code(), Some(0));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
    }
    write(&path, CLAUDE);
    std::fs::write(
        machine.home.path().join("fuse.toml"),
        "[[stack]]\nname = \"x\"\nany = [{ signal = \"step\", at_least = 1 }]\n",
    )
    .unwrap();
    let done = machine.install(HostAgent::ClaudeCode, &["--yes"]);
    assert!(text(&done.stderr).contains("steps"), "{}", text(&done.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CLAUDE);
}

/// Configurations as people write them for both agents: notes at the beginning, the end and between, tabs, commas at the
/// end, empty lists, a byte order mark, hooks of others before, among and after ours.
#[test]
fn configurations_in_any_style_come_back_to_the_byte() {
    let hooks = r#"{ "hooks": [{ "type": "command", "command": "lint" }, { "type": "command", "command": "log", "timeout": 5 }] }"#;
    let styles = [
        String::new(),
        "{}".to_owned(),
        "\u{feff}{ \"model\": \"opus\" }\n".to_owned(),
        format!("{{\"hooks\":{{\"PostToolBatch\":[{hooks},{hooks}],\"Stop\":[]}}}}"),
        format!(
            "// one\n{{\n\t\"hooks\": {{ // two\n\t\t/* three */\n\t\t\"SessionStart\": [{hooks},], // four\n\t}},\n}}\n// five\n\n"
        ),
        format!(
            "{{\r\n  \"hooks\": {{\r\n    \"PreToolUse\": [\r\n      // matchers\r\n      {hooks}\r\n    ]\r\n  }},\r\n  \"a\": \"// \\u00e9\"\r\n}}"
        ),
        "{\n  \"hooks\": {}\n  // nothing yet\n}\n".to_owned(),
    ];
    for host in HostAgent::ALL {
        for before in &styles {
            let machine = Machine::new();
            let path = machine.settings(host);
            write(&path, before);
            for mode in ["observe", "ask", "stop"] {
                let done = machine.install(host, &["--mode", mode, "--yes"]);
                assert_eq!(done.status.code(), Some(0), "{before}: {}", text(&done.stderr));
                let now = std::fs::read_to_string(&path).unwrap();
                let notes = before.lines().filter_map(|line| line.find("//").map(|at| line[at..].trim()));
                for note in notes {
                    assert!(now.contains(note), "{note} is gone: {now}");
                }
                assert_eq!(now.matches("lint").count(), before.matches("lint").count(), "{now}");
            }
            assert!(machine.run(&["hook", "uninstall", host.id(), "--yes"]).status.success());
            assert_eq!(&std::fs::read_to_string(&path).unwrap(), before, "as it was");
        }
    }
}

/// The fixtures say which fields an agent sends; a newer version may send others.
#[test]
fn doctor_says_which_fields_differ_from_those_it_was_written_for() {
    for host in HostAgent::ALL {
        let home =
            Home::new(host, "observe", "[[stack]]\nname = \"fuse\"\nany = [{ signal = \"steps\", at_least = 3 }]\n");
        let doctor = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
            command
                .env("XDG_CONFIG_HOME", home.folder.path().join("config"))
                .env("XDG_STATE_HOME", home.folder.path().join("state"));
            let output = command.args(["hook", "doctor", host.id()]).output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stderr)
        };
        let fixture = |name: &str| {
            let found = host.expected().iter().find(|expected| expected.event.name() == name).unwrap();
            serde_json::from_str::<serde_json::Value>(found.fixture).unwrap()
        };
        for name in ["UserPromptSubmit", "PostToolBatch", "Stop"] {
            home.send(&fixture(name));
        }
        let said = doctor();
        assert!(said.contains(&format!("payloads were read for version {}", host.version())), "{said}");
        assert!(!said.contains("comes with"), "all as in the fixtures: {said}");
        let mut batch = fixture("PostToolBatch");
        let fields = batch.as_object_mut().unwrap();
        assert!(fields.remove("cwd").is_some());
        fields.insert("batch_number".to_owned(), json!(1));
        home.send(&batch);
        let said = doctor();
        assert!(said.contains("PostToolBatch comes without cwd"), "{said}");
        assert!(said.contains("PostToolBatch comes with the unknown batch_number"), "{said}");
        assert!(!said.contains("Stop comes"), "{said}");
    }
}

/// A number that leaves something out says so beside every rule that reads it.
#[test]
fn doctor_says_what_the_tokens_of_an_agent_leave_out() {
    for (host, leaves_out) in [(HostAgent::ClaudeCode, false), (HostAgent::QwenCode, true)] {
        let machine = Machine::new();
        let rules = r#"{ signal = "steps", at_least = 3 }, { signal = "tokens.total", at_least = 9000 }"#;
        write(&machine.home.path().join("fuse.toml"), &format!("[[stack]]\nname = \"fuse\"\nany = [{rules}]\n"));
        assert!(machine.install(host, &["--yes"]).status.success());
        let said = text(&machine.run(&["hook", "doctor", host.id(), "--format", "csv"]).stdout);
        let without = |rule: &str| said.lines().find(|line| line.contains(rule)).unwrap().contains("sub-agents");
        assert_eq!((without("steps"), without("tokens.total")), (false, leaves_out), "{said}");
    }
}

/// What the hook recorded is a recording: the same stack stops it at the same step.
#[test]
fn its_sessions_are_recordings_that_compare_reads() {
    let home = Home::new(
        HostAgent::ClaudeCode,
        "observe",
        "[[stack]]\nname = \"fuse\"\nany = [{ signal = \"call_result.streak\", at_least = 3 }]\n",
    );
    let event = |name: &str| json!({ "session_id": "one", "prompt_id": "p", "hook_event_name": name });
    let mut prompt = event("UserPromptSubmit");
    prompt["prompt"] = json!("go");
    home.send(&prompt);
    for nth in 0..5 {
        let mut batch = event("PostToolBatch");
        batch["tool_calls"] = json!([{ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": format!("c{nth}"), "tool_response": "a" }]);
        home.send(&batch);
    }
    let whenstop = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        command
            .env("XDG_CONFIG_HOME", home.folder.path().join("config"))
            .env("XDG_STATE_HOME", home.folder.path().join("state"));
        let output = command.args(words).current_dir(home.folder.path()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let log: serde_json::Value = serde_json::from_str(&whenstop(&["hook", "log", "--format", "json"])).unwrap();
    assert!(log.to_string().contains("2:after_tools"), "{log}");
    whenstop(&["hook", "log", "--recordings", "seen"]);
    let stacks = home.folders().stacks().display().to_string();
    whenstop(&["compare", "seen", "--unit", "round", "--stacks", &stacks, "--out", "report"]);
    let rows = std::fs::read_to_string(home.folder.path().join("report/rows.csv")).unwrap();
    assert!(rows.contains("call_result.streak >= 3"), "{rows}");
    let doctor = whenstop(&["hook", "doctor", "claude-code"]);
    assert!(doctor.contains("exact"), "{doctor}");
}

/// Odd settings files: none is written through, replaced against its mode, or edited where programs differ in what they
/// read of it.
#[test]
#[cfg(unix)]
fn an_odd_settings_file_is_refused_and_stays() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let machine = Machine::new();
    let path = machine.settings(HostAgent::ClaudeCode);
    let refused = |why: &str| {
        let done = machine.install_any(&[]);
        let said = text(&done.stderr);
        assert!(!done.status.success() && said.contains(why), "{why}: {said}");
    };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(machine.home.path().join("nowhere.json"), &path).unwrap();
    refused("a link that leads nowhere");
    assert!(path.is_symlink() && !machine.home.path().join("nowhere.json").exists());
    std::fs::remove_file(&path).unwrap();
    write(&path, "{}\n");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    refused("may not be written to");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    for twice in ["{\"hooks\": {}, \"hooks\": {}}\n", "{\"hooks\": {\"Stop\": [], \"Stop\": []}}\n"] {
        write(&path, twice);
        refused("stands in it twice");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), twice);
    }
}

#[test]
fn a_second_configuration_is_refused_while_the_hook_is_in_another() {
    let machine = Machine::new();
    assert!(machine.install_any(&[]).status.success());
    let other = machine.install_any(&["--config", "other.json"]);
    let said = text(&other.stderr);
    assert!(!other.status.success() && said.contains("in this configuration already"), "{said}");
    assert!(!machine.home.path().join("other.json").exists());
    assert!(machine.run(&["hook", "uninstall", HostAgent::ClaudeCode.id(), "--yes"]).status.success());
    assert!(machine.install_any(&["--config", "other.json"]).status.success());
}
