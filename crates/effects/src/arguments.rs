//! Parses the arguments of a call, as far as its effect depends on them.

use serde_json::Value;

use crate::transcript::{ToolCall, is_dense};

/// The arguments of a call: the fields of an object, or plain text.
pub(super) struct Arguments<'a> {
    text: &'a str,
    value: Option<&'a Value>,
}

/// In place of JSON that is not parsed.
static UNKNOWN: Value = Value::Null;

impl<'a> Arguments<'a> {
    /// Parses the arguments; anything but JSON is plain text. JSON with so many short values that parsing it would take
    /// many times its size in memory counts as unknown.
    pub(super) fn read(call: &'a ToolCall, text: &'a str) -> Self {
        let value = match text.trim_start().starts_with(['{', '"', '[']) {
            true if is_dense(text) => Some(&UNKNOWN),
            true => call.json_arguments(),
            false => None,
        };
        Self { text, value }
    }

    /// The whole text, if the arguments are plain text or a JSON string.
    pub(super) fn plain(&self) -> Option<&str> {
        match self.value {
            None => Some(self.text),
            Some(Value::String(text)) => Some(text),
            Some(_) => None,
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.value?.get(name).filter(|value| !value.is_null())
    }

    /// The first of the fields `names` that holds a string.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.field(name)?.as_str())
    }

    /// True if the field is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.field(name).is_some_and(|value| value == &Value::Bool(true) || value.as_str() == Some("true"))
    }

    /// The command for a shell: a string, or an array of words (`["bash", "-lc", "ls"]`).
    pub(super) fn command(&self) -> Option<Command<'_>> {
        if let Some(text) = self.plain() {
            return Some(Command::Text(text));
        }
        if let Some(Value::Array(words)) = self.value {
            return words_of(words).map(Command::Words);
        }
        let names = [
            "command",
            "cmd",
            "script",
            "commands",
            "code",
            "input",
            "keystrokes",
            "command_line",
            "CommandLine",
            "shell_command",
            "bash_command",
            "action",
            "argv",
        ];
        names.iter().find_map(|name| match self.field(name)? {
            Value::String(text) => Some(Command::Text(text)),
            Value::Array(words) if *name == "commands" => {
                let texts: Vec<String> = words
                    .iter()
                    .filter_map(|word| {
                        word.as_str()
                            .or_else(|| word.get("keystrokes")?.as_str())
                            .or_else(|| word.get("command")?.as_str())
                    })
                    .map(str::to_owned)
                    .collect();
                Some(Command::Script(texts.join("\n")))
            }
            Value::Array(words) => words_of(words).map(Command::Words),
            Value::Object(fields) => fields.get("command").and_then(Value::as_str).map(Command::Text),
            _ => None,
        })
    }

    /// The path of the file that the call names.
    pub(super) fn path(&self) -> Option<&str> {
        self.text(&[
            "file_path",
            "path",
            "filePath",
            "target_file",
            "notebook_path",
            "absolutePath",
            "absolute_path",
            "filename",
            "file",
            "TargetFile",
            "relative_path",
            "abs_path",
        ])
    }

    /// The calls nested in a batch call, each with its name and arguments.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let lists = ["tool_calls", "tool_uses", "invocations", "calls"];
        let Some(Value::Array(calls)) = lists.iter().find_map(|name| self.field(name)) else { return Vec::new() };
        calls
            .iter()
            .filter_map(|call| {
                let name =
                    ["tool", "name", "recipient_name", "tool_name"].iter().find_map(|key| call.get(*key)?.as_str())?;
                let arguments = ["parameters", "arguments", "input"].iter().find_map(|key| call.get(*key));
                let name = name.rsplit('.').next().unwrap_or(name);
                Some(ToolCall::new(None, name, arguments.map(ToString::to_string).unwrap_or_default()))
            })
            .collect()
    }
}

fn words_of(words: &[Value]) -> Option<Vec<String>> {
    words
        .iter()
        .map(|word| word.as_str().map(str::to_owned))
        .collect::<Option<Vec<_>>>()
        .filter(|words| !words.is_empty())
}

/// A command as given in a call.
pub(super) enum Command<'a> {
    /// A command line for a shell.
    Text(&'a str),
    /// Several command lines, one per line.
    Script(String),
    /// A program and its arguments, run without a shell.
    Words(Vec<String>),
}
