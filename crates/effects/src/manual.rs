//! The built-in tables as readable text.

use super::{tools, words};

/// The built-in tables as readable text.
pub fn manual() -> String {
    let mut lines = vec![
        "effects: what a tool call does".to_owned(),
        String::new(),
        "edit      changes files or state that someone keeps".to_owned(),
        "handover  gives the work to others: commit, push, pull request, submission, deployment, booking".to_owned(),
        "check     runs tests, builds, linters, a program".to_owned(),
        "delegate  starts a sub-agent, whose effects are its own".to_owned(),
        "plan      keeps the agent's own list, thinks, asks".to_owned(),
        "read      looks".to_owned(),
        "unknown   cannot be told from the call: counted as an interval".to_owned(),
        String::new(),
        "Shell commands are parsed; the strongest part decides, in this order: handover, edit, delegate, check, unknown,".to_owned(),
        "plan, read. A redirection into a file is an edit. A script that the run wrote itself does what its text does. Tools".to_owned(),
        "not named here are told by the verb in their name (`get_order` reads, `update_order` edits), else unknown.".to_owned(),
        String::new(),
        "A stack file adds lines, which come first:".to_owned(),
        String::new(),
        "  [effects]".to_owned(),
        "  \"mcp__jira__*\" = \"handover\"   # tools, `*` for any text".to_owned(),
        "  \"$ just ship\" = \"handover\"    # commands that begin so".to_owned(),
    ];
    let mut section = |title: &str, names: &str| {
        lines.push(String::new());
        lines.push(format!("{title}:"));
        let mut line = String::from(" ");
        for name in names.split_ascii_whitespace() {
            if line.len() + name.len() > 98 {
                lines.push(std::mem::replace(&mut line, String::from(" ")));
            }
            line.push(' ');
            line.push_str(name);
        }
        lines.push(line);
    };
    section("tools that run a shell command", tools::SHELLS);
    for (effect, names) in tools::TOOLS {
        section(&format!("tools, {effect}"), names);
    }
    for (effect, names) in words::COMMANDS {
        section(&format!("commands, {effect}"), names);
    }
    lines.push(String::new());
    lines.push("git, gh, package managers, task runners, containers, clouds, databases, curl, sed, awk, find, tar and interpreters".to_owned());
    lines.push("are told by their sub-commands, options and code.".to_owned());
    format!("{}\n", lines.join("\n"))
}
