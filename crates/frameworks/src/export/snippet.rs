//! Writes an export in the host's own syntax.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{ClauseOutcome, ExportedStack, HostInfo, put};
use crate::diagnostic::{is_hostile, json, one_line};
use crate::framework::setting;
use crate::host::Syntax;

/// What a comment begins with, beside a setting that switches a rule of the host's off.
const TURNS_OFF: &str = "turns off:";

impl ExportedStack {
    /// The text to paste, with comments (where the syntax has them) that say what it holds and what it does not.
    pub fn snippet(&self) -> String {
        let body = self.body();
        match self.mark() {
            Some(mark) => comment(mark, &self.lines()) + &body,
            None => body,
        }
    }

    /// What begins a comment; `None` if there are none.
    fn mark(&self) -> Option<&'static str> {
        match self.to.host.syntax {
            Syntax::Python | Syntax::Yaml | Syntax::Toml | Syntax::Shell => Some("# "),
            Syntax::JavaScript => Some("// "),
            Syntax::Json => None,
        }
    }

    /// The snippet without comments.
    pub fn body(&self) -> String {
        let host = self.to.host;
        if host.template.is_empty() {
            return json(&format!("{:#}\n", Value::Object(self.as_in_file()))).into_owned();
        }
        let mut lines = Vec::new();
        let mut rest = host.template.trim_start_matches('\n');
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            lines.push(self.filled(line, after));
            rest = after;
        }
        without_empty_blocks(&lines)
    }

    /// What the export is, what it holds and what it does not, one item per line.
    pub fn lines(&self) -> Vec<String> {
        let HostInfo { id, version, host, .. } = self.to;
        // A version that is a release names the package; a profile does not.
        let name = if version.contains(' ') { version.to_owned() } else { format!("{id} {version}") };
        let mut lines = vec![format!("`{}` for {name} ({})", self.stack, host.file)];
        for clause in &self.clauses {
            let rule = &clause.rule;
            match &clause.outcome {
                ClauseOutcome::Held { parameter, value, raises, differences } => {
                    let error = if raises.is_empty() { String::new() } else { format!(" (raises {raises})") };
                    let exactly = if differences.is_empty() { ", exactly" } else { "" };
                    let default = match self.to.default_of(parameter) {
                        Some(_) if self.is_default_of(parameter, value) => ", which is its default".to_owned(),
                        Some((_, default)) if default.parse::<f64>().is_ok_and(|number| number > 0.0) => {
                            format!(" (default {default})")
                        }
                        _ => String::new(),
                    };
                    // A setting of the host's own is its own rule.
                    lines.push(if rule.as_str() == *parameter {
                        format!("set: {parameter} at {value}{default}")
                    } else {
                        format!("held: `{rule}` by {parameter} at {value}{default}{error}{exactly}")
                    });
                }
                ClauseOutcome::Refused { why } => lines.push(format!("NOT held: `{rule}`: {why}")),
            }
        }
        lines.extend(self.differences().into_iter().map(|difference| format!("but: {}", difference.what)));
        if self.n_held() > 0 {
            if !self.untouched.is_empty() {
                let names = self.untouched.join(", ");
                lines.push(format!("its own rules still act ({names}); `--only-this` turns them off"));
            }
            lines.extend(self.turned_off.iter().map(|(name, what)| format!("{TURNS_OFF} {name}: {what}")));
            if !self.to.host.note.is_empty() {
                lines.push(format!("note: {}", self.to.host.note));
            }
            if self.limits_steps {
                lines.push(self.to.host.tells_of_limit());
            }
        }
        lines
    }

    /// The settings under the paths used in the host's own file.
    fn as_in_file(&self) -> Map<String, Value> {
        let mut set = self.set.clone();
        for (name, path) in &self.to.host.paths {
            if let Some(value) = set.shift_remove(name) {
                put(&mut set, path, value);
            }
        }
        set
    }

    /// Fills in one line of the template; `None` if it names a parameter that is not set. What turns a rule off is said
    /// on the last line that names it: `after` are those that follow.
    fn filled(&self, line: &str, after: &str) -> Option<String> {
        let mut text = String::new();
        let mut off: Vec<&str> = Vec::new();
        let mut rest = line;
        while let Some((before, hole)) = rest.split_once("<<") {
            let Some((name, behind)) = hole.split_once(">>") else { break };
            text.push_str(before);
            if let Some(list) = name.strip_prefix('*') {
                text.push_str(&self.list(list)?);
            } else {
                let named = name.trim_start_matches('?');
                let value = setting(&self.set, named)?;
                if !after.contains(&format!("{named}>>")) {
                    off.extend(self.turned_off.iter().filter(|(it, _)| *it == named).map(|(_, what)| what.as_str()));
                }
                if named == name {
                    text.push_str(&self.written(value));
                }
            }
            rest = behind;
        }
        text.push_str(rest);
        // A line that goes on behind a `\\` cannot end in a comment.
        if let Some(mark) = self.mark().filter(|_| !off.is_empty() && !text.ends_with('\\')) {
            let _ = write!(text, "  {mark}{TURNS_OFF} {}", off.join("; "));
        }
        Some(text)
    }

    /// Fills in `NAME*SEPARATOR`: the items of the list, joined.
    fn list(&self, named: &str) -> Option<String> {
        let (name, separator) = named.split_once('*')?;
        let items: Vec<&str> =
            self.items.iter().filter(|(list, _)| *list == name).map(|(_, item)| item.as_str()).collect();
        if items.is_empty() { None } else { Some(items.join(separator)) }
    }

    fn written(&self, value: &Value) -> String {
        match (value, self.to.host.syntax) {
            (Value::Null, Syntax::Python) => "None".to_owned(),
            (Value::Bool(true), Syntax::Python) => "True".to_owned(),
            (Value::Bool(false), Syntax::Python) => "False".to_owned(),
            (Value::String(text), syntax) => string(text, syntax),
            _ => json(&value.to_string()).into_owned(),
        }
    }
}

/// Lines as comments: whatever a name holds, each stays one line, and no terminal obeys it.
pub fn comment(mark: &str, lines: &[String]) -> String {
    lines.iter().flat_map(|line| [mark, &one_line(line), "\n"].map(str::to_owned)).collect()
}

/// A text as a string of the language.
pub(super) fn string(text: &str, syntax: Syntax) -> String {
    if syntax == Syntax::Shell {
        return word(text);
    }
    let quoted = Value::from(text).to_string();
    if syntax == Syntax::Json {
        return json(&quoted).into_owned();
    }
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        let code = u32::from(c);
        match (is_hostile(c), syntax) {
            (false, _) => out.push(c),
            (true, Syntax::JavaScript) => out.extend(c.escape_unicode()),
            (true, _) if code > 0xffff => _ = write!(out, "\\U{code:08x}"),
            (true, _) => _ = write!(out, "\\u{code:04x}"),
        }
    }
    out
}

/// A text as one word of a command line.
fn word(text: &str) -> String {
    if !text.chars().any(is_hostile) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // Only this way of quoting has escapes.
    let mut out = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if is_hostile(c) => _ = write!(out, "\\U{:08x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "'"
}

/// Joins the lines that are present, and removes a block all of whose lines were omitted.
fn without_empty_blocks(lines: &[Option<String>]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    // Whether a line has been omitted since the last one kept.
    let mut gap = false;
    for line in lines {
        let Some(line) = line else {
            gap = true;
            continue;
        };
        let closes = line.trim_start().starts_with(['}', ')', ']']);
        let opened = kept.last().is_some_and(|last| last.ends_with(['{', '(', '[']));
        if gap && closes && opened {
            kept.pop();
        } else {
            kept.push(line);
            gap = false;
        }
    }
    let mut text = kept.join("\n");
    text.push('\n');
    text
}
