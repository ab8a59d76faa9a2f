//! Writes an export as a stack file for replay: the host's rules with the exported settings.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::snippet::string;
use super::{ExportedStack, json, put};
use crate::catalog;
use crate::decision::Strategy;
use crate::diagnostic::{self, Diagnostic, Diagnostics, Location};
use crate::framework::ConfigText;
use crate::host::Syntax;

impl ExportedStack {
    /// The name of the stack in [`Self::stack_file`].
    pub fn readback_name(&self) -> String {
        format!("{} ({})", self.stack, self.to.id)
    }

    /// The text of the native file, as JSON, if the host reads its settings from one.
    pub fn native_file(&self) -> Option<String> {
        if !self.to.host.reads_file {
            return None;
        }
        Some(diagnostic::json(&format!("{:#}\n", Value::Object(self.set.clone()))).into_owned())
    }

    /// A `[[stack]]` with the host's rules and these settings. `config` is the path of [`Self::native_file`].
    pub fn stack_file(&self, config: &str) -> String {
        let mut text = String::new();
        let mut set = if self.to.host.reads_file { Map::new() } else { self.set.clone() };
        for (name, value) in &self.to.host.options {
            put(&mut set, name, json(value));
        }
        let _ = writeln!(text, "[[stack]]\nname = {}\nuse = \"{}\"", quoted(&self.readback_name()), self.to.id);
        if let Some(profile) = &self.to.host.profile {
            let _ = writeln!(text, "profile = \"{profile}\"");
        }
        if self.to.host.reads_file {
            let _ = writeln!(text, "config = {}", quoted(config));
        }
        if !set.is_empty() {
            let _ = writeln!(text, "set = {}", toml(&Value::Object(set)));
        }
        text
    }

    /// Builds the host's rules with these settings from [`Self::stack_file`].
    ///
    /// # Errors
    /// If the host rejects the settings.
    pub fn strategy(&self) -> Result<Arc<dyn Strategy>, Diagnostics> {
        let native = self.native_file();
        let read = |path: &str| {
            let text = native.clone().unwrap_or_default();
            Ok(ConfigText { path: path.to_owned(), text })
        };
        let (_, strategies) = catalog::load_with("export", &self.stack_file("native.json"), &read)?;
        let none = || Diagnostic::new(Location::default(), "the export is no stack", "this is a defect of whenstop");
        strategies.into_iter().next().ok_or_else(|| none().into())
    }
}

/// A TOML string.
pub(super) fn quoted(text: &str) -> String {
    string(text, Syntax::Toml)
}

/// A value on one line of TOML. JSON null becomes the string `none`.
fn toml(value: &Value) -> String {
    match value {
        Value::Null => "\"none\"".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let is_bare =
                |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            let key = |key: &str| if is_bare(key) { key.to_owned() } else { quoted(key) };
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{} = {}", key(name), toml(value))).collect();
            if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
        }
        Value::String(text) => quoted(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
