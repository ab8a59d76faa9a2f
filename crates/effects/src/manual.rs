//! The built-in tables as readable text.

use crate::tables::{EffectsByName, WordPatterns, tables};

const HEAD: &str = r#"effects: what a tool call does

edit      changes files or state that someone keeps
handover  gives the work to others: commit, push, pull request, submission, deployment, booking
check     runs tests, builds, linters, a program
delegate  starts a sub-agent, whose effects are its own
plan      keeps the agent's own list, thinks, asks
read      looks
unknown   cannot be told from the call: counted as an interval

Shell commands are parsed; the strongest part decides, in this order: handover, edit, delegate, check, unknown,
plan, read. A redirection into a file is an edit. A script that the run wrote itself does what its text does. Tools
not named here are told by the verb in their name (`get_order` reads, `update_order` edits), else unknown.

A stack file adds lines, which come first:

  [effects]
  "mcp__jira__*" = "handover"   # tools, `*` for any text
  "$ just ship" = "handover"    # commands that begin so
"#;

const FOOT: &str = "
git, gh, package managers, task runners, containers, clouds, databases, curl, sed, awk, find, tar and interpreters
are told by their sub-commands, options and code.
";

/// The built-in tables as readable text.
pub fn manual() -> String {
    let mut text = HEAD.to_owned();
    add_section(&mut text, "tools that run a shell command", &tables().tool_kinds.shells);
    add_sections(&mut text, "tools", &tables().tools);
    add_sections(&mut text, "commands", &tables().commands);
    text + FOOT
}

fn add_sections(text: &mut String, kind: &str, table: &EffectsByName) {
    for (effect, names) in table.by_effect() {
        add_section(text, &format!("{kind}, {effect}"), names);
    }
}

/// Adds a title and the names below it, in lines of at most 100 characters.
fn add_section(text: &mut String, title: &str, names: &WordPatterns) {
    for part in ["\n", title, ":\n "] {
        text.push_str(part);
    }
    let mut length = 1;
    for name in names.all() {
        if length + name.len() > 98 {
            text.push_str("\n ");
            length = 1;
        }
        text.push(' ');
        text.push_str(name);
        length += name.len() + 1;
    }
    text.push('\n');
}
