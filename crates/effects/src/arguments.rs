//! Parses the arguments of a call, as far as its effect depends on them.

use serde_json::Value;

use crate::text::word_list;
use crate::transcript::{ToolCall, is_dense};

/// The arguments of a call: the fields of an object, or plain text.
pub(crate) struct ParsedArguments<'a> {
    text: &'a str,
    value: Option<&'a Value>,
}

/// In place of JSON that is not parsed.
static UNKNOWN: Value = Value::Null;

impl<'a> ParsedArguments<'a> {
    /// Parses the arguments; anything but JSON is plain text. JSON with so many short values that parsing it would take
    /// many times its size in memory counts as unknown.
    pub(crate) fn read(call: &'a ToolCall, text: &'a str) -> Self {
        let value = match text.trim_start().starts_with(['{', '"', '[']) {
            true if is_dense(text) => Some(&UNKNOWN),
            true => call.json_arguments(),
            false => None,
        };
        Self { text, value }
    }

    /// The whole text, if the arguments are plain text or a JSON string.
    pub(crate) fn plain(&self) -> Option<&str> {
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
    pub(crate) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.field(name)?.as_str())
    }

    /// True if the field is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.field(name).is_some_and(|value| value == &Value::Bool(true) || value.as_str() == Some("true"))
    }

    /// The command for a shell: a string, or an array of words (`["bash", "-lc", "ls"]`).
    pub(crate) fn command(&self) -> Option<CallCommand<'_>> {
        if let Some(text) = self.plain() {
            return Some(CallCommand::Text(text));
        }
        if let Some(Value::Array(words)) = self.value {
            return texts(words).map(CallCommand::Words);
        }
        for name in COMMAND_FIELDS {
            let command = match self.field(name) {
                Some(Value::String(text)) => Some(CallCommand::Text(text)),
                Some(Value::Array(commands)) if *name == "commands" => Some(CallCommand::Script(joined(commands))),
                Some(Value::Array(words)) => texts(words).map(CallCommand::Words),
                Some(Value::Object(fields)) => match fields.get("command") {
                    Some(Value::String(text)) => Some(CallCommand::Text(text)),
                    _ => None,
                },
                _ => None,
            };
            if command.is_some() {
                return command;
            }
        }
        None
    }

    /// The path of the file that the call names.
    pub(crate) fn path(&self) -> Option<&str> {
        self.text(PATH_FIELDS)
    }

    /// The calls nested in a batch call, each with its name and arguments.
    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        for name in ["tool_calls", "tool_uses", "invocations", "calls"] {
            match self.field(name) {
                Some(Value::Array(calls)) => return calls.iter().filter_map(nested_call).collect(),
                Some(_) => return Vec::new(),
                None => {}
            }
        }
        Vec::new()
    }
}

fn nested_call(call: &Value) -> Option<ToolCall> {
    let name = ["tool", "name", "recipient_name", "tool_name"].iter().find_map(|key| call[*key].as_str())?;
    // `functions.shell`.
    let name = name.rsplit('.').next().unwrap_or(name);
    let arguments = ["parameters", "arguments", "input"].iter().find_map(|key| call.get(key));
    Some(ToolCall::new(None, name, arguments.map(Value::to_string).unwrap_or_default()))
}

/// The texts of an array; `None` if it is empty or holds anything else.
fn texts(words: &[Value]) -> Option<Vec<String>> {
    let texts: Vec<String> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    if texts.is_empty() { None } else { Some(texts) }
}

/// Command lines, each a text or an object that holds it.
fn joined(commands: &[Value]) -> String {
    let mut lines = Vec::new();
    for command in commands {
        for text in [Some(command), command.get("keystrokes"), command.get("command")] {
            if let Some(Value::String(line)) = text {
                lines.push(line.as_str());
                break;
            }
        }
    }
    lines.join("\n")
}

/// The fields that may hold the path of a file, the first one first.
const PATH_FIELDS: &[&str] = word_list!(
    "file_path path filePath target_file notebook_path absolutePath absolute_path filename file TargetFile",
    "relative_path abs_path",
);

/// The fields that may hold a command, the first one first.
const COMMAND_FIELDS: &[&str] = word_list!(
    "command cmd script commands code input keystrokes command_line CommandLine shell_command bash_command action argv",
);

/// A command as given in a call.
pub(crate) enum CallCommand<'a> {
    /// A command line for a shell.
    Text(&'a str),
    /// Several command lines, one per line.
    Script(String),
    /// A program and its arguments, run without a shell.
    Words(Vec<String>),
}
