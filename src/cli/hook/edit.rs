//! Edits an agent's configuration: JSON in which people leave comments, and which others edit too.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use whenstop_hook::host::HostAgent;
use whenstop_hook::payload::PayloadEvent;
use whenstop_hook::settings::HookMode;

/// The name of the program in a command; also with a folder before it and `.exe` after it.
const PROGRAM: &str = "whenstop-hook";

/// The events the hook is told of. Only a question needs to hear of a call before it runs.
pub(super) fn events(mode: HookMode) -> impl Iterator<Item = PayloadEvent> {
    PayloadEvent::ALL.into_iter().filter(move |event| *event != PayloadEvent::PreToolUse || mode == HookMode::Ask)
}

/// The entry of one event.
fn entry(host: HostAgent, program: &str, mode: HookMode) -> CstInputValue {
    let id = host.id();
    let handler = match host {
        // With arguments of its own, the program is started without a shell. Observing delays nobody.
        HostAgent::ClaudeCode if mode == HookMode::Observe => {
            json!({ "type": "command", "command": program, "args": [id], "timeout": 2, "async": true })
        }
        HostAgent::ClaudeCode => json!({ "type": "command", "command": program, "args": [id], "timeout": 2 }),
        // It writes its transcript behind the events that nobody waits for, by dozens of replies: there tokens would not
        // be known.
        HostAgent::QwenCode => {
            let command = format!("{} {id}", word(program));
            json!({ "type": "command", "name": "whenstop", "command": command })
        }
    };
    json!({ "hooks": [handler] })
}

/// A path as one word of a command line, of which the shell obeys nothing.
fn word(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@\\".contains(c);
    if path.chars().all(|c| is_plain(c) && (c != '\\' || cfg!(windows))) {
        return path.to_owned();
    }
    if cfg!(windows) { format!("\"{path}\"") } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The configuration with the hook in it; earlier entries of ours are replaced.
pub(super) fn with_hook(text: &str, host: HostAgent, program: &str, mode: HookMode) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(text)?;
    // First, since it may leave no `hooks` at all.
    take_out(&root);
    let object = root.object_value_or_create().ok_or("it is not a JSON object")?;
    let hooks = object.object_value_or_create("hooks").ok_or("its `hooks` is not an object")?;
    for event in events(mode) {
        let name = event.name();
        let list = hooks.array_value_or_create(name).ok_or_else(|| format!("its `hooks.{name}` is not a list"))?;
        list.ensure_multiline();
        list.append(entry(host, program, mode));
    }
    Ok(format!("{}{root}", mark(text)))
}

/// The configuration without the hook; `None` if it is not in it. Lists that this leaves empty go too.
pub(super) fn without_hook(text: &str) -> Result<Option<String>, String> {
    let root = parse(text)?;
    Ok(if take_out(&root) { Some(format!("{}{root}", mark(text))) } else { None })
}

/// The events under which the hook stands in a configuration.
pub(super) fn installed(text: &str) -> Vec<String> {
    let Ok(root) = parse(text) else { return Vec::new() };
    let Some(hooks) = hooks_of(&root) else { return Vec::new() };
    let mut named = Vec::new();
    for event in hooks.properties() {
        let Some(list) = event.array_value() else { continue };
        if list.elements().iter().any(|entry| ours(entry).is_some()) {
            named.extend(event.decoded_name());
        }
    }
    named
}

/// The byte order mark that editors on Windows write, or nothing.
fn mark(text: &str) -> &str {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => &text[..text.len() - rest.len()],
        None => "",
    }
}

fn hooks_of(root: &CstRootNode) -> Option<CstObject> {
    root.object_value()?.object_value("hooks")
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let text = &text[mark(text).len()..];
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    refuse_twice(root.object_value().as_ref())?;
    refuse_twice(hooks_of(&root).as_ref())?;
    Ok(root)
}

/// Refuses an object in which a name stands twice: programs differ in which of the two they read.
fn refuse_twice(object: Option<&CstObject>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for name in object.into_iter().flat_map(CstObject::properties).filter_map(|property| property.decoded_name()) {
        if !known.insert(name.clone()) {
            return Err(format!("`{name}` stands in it twice"));
        }
    }
    Ok(())
}

/// Removes every handler of ours; true if there was one.
fn take_out(root: &CstRootNode) -> bool {
    let Some(hooks) = hooks_of(root) else { return false };
    let mut any = false;
    for event in hooks.properties() {
        let Some(list) = event.array_value() else { continue };
        let mut here = false;
        for entry in list.elements() {
            let Some((handlers, of_us)) = ours(&entry) else { continue };
            here = true;
            let n_others = handlers.elements().len() - of_us.len();
            of_us.into_iter().for_each(CstNode::remove);
            if n_others == 0 {
                entry.remove();
            }
        }
        // A list that was empty before is somebody else's.
        if here && list.elements().is_empty() {
            event.remove();
        }
        any |= here;
    }
    if any
        && hooks.properties().is_empty()
        && let Some(root) = root.object_value()
        && let Some(property) = root.get("hooks")
    {
        property.remove();
    }
    any
}

/// The handlers of an entry, and those of them that are ours; `None` if there are none of ours.
fn ours(entry: &CstNode) -> Option<(CstArray, Vec<CstNode>)> {
    let handlers = entry.as_object()?.array_value("hooks")?;
    let is_ours = |handler: &CstNode| {
        let value = handler.to_serde_value().unwrap_or_default();
        let command = value["command"].as_str().unwrap_or_default().trim_matches(['"', '\'']);
        let hosts = HostAgent::ALL.map(HostAgent::id);
        let first = hosts.iter().find_map(|host| command.strip_suffix(host)).unwrap_or(command);
        let first = first.trim_end().trim_matches(['"', '\'']).trim_end_matches(".exe");
        first.rsplit(['/', '\\']).next() == Some(PROGRAM)
    };
    let of_us: Vec<CstNode> = handlers.elements().into_iter().filter(is_ours).collect();
    if of_us.is_empty() { None } else { Some((handlers, of_us)) }
}

/// What changes between two texts, as lines that begin with `-`, `+` or a space. Unchanged lines far from a change are
/// left out, and a list or object that is put in (or taken out) several times is written out once.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut lines: Vec<(char, &str)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (to_i, to_j) = next_equal(&old, &new, (i, j));
        lines.extend(old[i..to_i].iter().map(|line| ('-', *line)));
        lines.extend(new[j..to_j].iter().map(|line| ('+', *line)));
        (i, j) = (to_i, to_j);
    }
    let lines = without_repeats(&lines);
    let is_near = |at: usize| lines[at.saturating_sub(2)..(at + 3).min(lines.len())].iter().any(|line| line.0 != ' ');
    let mut text = String::new();
    for (at, (mark, line)) in lines.iter().enumerate() {
        if is_near(at) {
            let _ = writeln!(text, "{mark} {line}");
        }
    }
    text
}

/// The nearest pair of equal lines ahead, so that a few lines put in show as what they are; else the ends.
fn next_equal(old: &[&str], new: &[&str], (i, j): (usize, usize)) -> (usize, usize) {
    for far in 1..old.len() - i + new.len() - j {
        for skip in 0..=far {
            let (i, j) = (i + skip, j + far - skip);
            if i < old.len() && j < new.len() && old[i] == new[j] {
                return (i, j);
            }
        }
    }
    (old.len(), new.len())
}

/// The lines of a difference, where each list or object equal to one above is one line: `"Stop": [ the same as above ],`.
fn without_repeats<'a>(lines: &[(char, &'a str)]) -> Vec<(char, Cow<'a, str>)> {
    let mut kept = Vec::new();
    let mut above = BTreeSet::new();
    let mut at = 0;
    while at < lines.len() {
        let (mark, line) = lines[at];
        if mark != ' '
            && let Some(end) = end_of_block(lines, at)
            && !above.insert((mark, lines[at + 1..end].iter().map(|line| line.1.trim()).collect::<Vec<_>>()))
        {
            kept.push((mark, Cow::Owned(format!("{} the same as above {}", line.trim_end(), lines[end].1.trim()))));
            at = end + 1;
            continue;
        }
        kept.push((mark, Cow::Borrowed(line)));
        at += 1;
    }
    kept
}

/// The line that closes the list or object which begins at the end of line `at`; `None` if none begins there, if it is
/// not changed as a whole, or if it is too short to be worth a fold.
fn end_of_block(lines: &[(char, &str)], at: usize) -> Option<usize> {
    let (mark, first) = lines[at];
    let close = match first.trim_end().chars().last() {
        Some('[') => ']',
        Some('{') => '}',
        _ => return None,
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    for (end, &(of_line, line)) in lines.iter().enumerate().skip(at + 1) {
        if of_line != mark {
            return None;
        }
        if indent(line) <= indent(first) {
            return if end > at + 2 && line.trim_start().starts_with(close) { Some(end) } else { None };
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const CLAUDE: &str = r#"{
  "model": "opus",
  "permissions": { "allow": ["Bash(npm test:*)"] },
  "hooks": {
    "PostToolBatch": [
      { "hooks": [{ "type": "command", "command": "~/bin/notify.sh" }] }
    ],
    "Stop": []
  }
}
"#;
    const QWEN: &str = "// mine\n{\n\t\"theme\": \"dark\", // keep\n\t/* hooks */ \"hooks\": {\n\t\t\"Stop\": [ // bell\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\" }, ] },\n\t\t],\n\t},\n}\n";

    #[test]
    fn what_others_wrote_stays_and_what_is_ours_goes() {
        for (host, text) in [
            (HostAgent::ClaudeCode, CLAUDE),
            (HostAgent::QwenCode, QWEN),
            (HostAgent::ClaudeCode, ""),
            (HostAgent::QwenCode, "{}"),
        ] {
            for mode in HookMode::ALL {
                let with = with_hook(text, host, "/opt/my tools/whenstop-hook", mode).unwrap();
                let n = events(mode).count();
                assert_eq!(installed(&with).len(), n, "{with}");
                for line in text.lines().filter(|line| line.contains("command") || line.contains("//")) {
                    assert!(with.contains(line.trim()), "{line}: {with}");
                }
                let again = with_hook(&with, host, "/usr/bin/whenstop-hook", mode).unwrap();
                assert_eq!(installed(&again).len(), n);
                assert!(!again.contains("my tools"), "replaced, not added: {again}");
                let without = without_hook(&again).unwrap().unwrap();
                assert_eq!(installed(&without), [""; 0]);
                assert!(!without.contains("whenstop"), "{without}");
                assert_eq!(without_hook(&without).unwrap(), None);
                for line in text.lines().filter(|line| line.contains("command") || line.contains("//")) {
                    assert!(without.contains(line.trim()), "{line}: {without}");
                }
            }
        }
    }

    #[test]
    fn a_configuration_that_cannot_hold_hooks_is_refused() {
        for text in [
            "[]",
            "{\"hooks\": 1}",
            "{\"hooks\": {\"Stop\": {}}}",
            "{\"hooks\"",
            "{\"hooks\": {}, \"hooks\": {}}",
            "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
        ] {
            assert!(with_hook(text, HostAgent::ClaudeCode, "whenstop-hook", HookMode::Observe).is_err(), "{text}");
        }
    }

    #[test]
    fn a_difference_shows_changed_lines_and_those_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\n";
        assert_eq!(difference(before, "a\nb\nc\nd\nX\ne\nf\ng\n"), "  c\n  d\n+ X\n  e\n  f\n");
        assert_eq!(difference(before, before), "");
        assert_eq!(difference("", "a\n"), "+ a\n");
        assert_eq!(difference("a\nb\n", "b\n"), "- a\n  b\n");
    }

    #[test]
    fn a_block_that_is_put_in_several_times_is_written_out_once() {
        let block = "    {\n      \"run\": 1\n    }\n  ]";
        let after = format!("{{\n  \"A\": [\n{block},\n  \"B\": [\n{block},\n  \"C\": [\n    2,\n    3\n  ]\n}}\n");
        let once = "  {\n+   \"A\": [\n+     {\n+       \"run\": 1\n+     }\n+   ],\n";
        let rest = "+   \"B\": [ the same as above ],\n+   \"C\": [\n+     2,\n+     3\n+   ]\n  }\n";
        assert_eq!(difference("{\n}\n", &after), format!("{once}{rest}"));
        // What stays is not what is put in, even if it is equal.
        let before = format!("{{\n  \"A\": [\n{block}\n}}\n");
        assert!(!difference(&before, &after).contains("the same"), "{}", difference(&before, &after));
    }

    #[test]
    #[cfg(not(windows))]
    fn a_shell_obeys_nothing_of_the_programs_path() {
        for path in [
            "/opt/my tools/whenstop-hook",
            "/a$(touch x)`y`;z/whenstop-hook",
            "/it's/\"a\"/whenstop-hook",
            "/a/whenstop-hook",
        ] {
            let text = with_hook("{}", HostAgent::QwenCode, path, HookMode::Observe).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            let command = value["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
            assert_eq!(shlex::split(command).unwrap(), [path, "qwen-code"], "{command}");
            assert!(!installed(&text).is_empty(), "it is known again: {command}");
        }
    }
}
