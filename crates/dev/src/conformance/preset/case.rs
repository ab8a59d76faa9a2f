//! The input of a golden case: settings, and what the test that recorded it scripted.

use serde_json::{Map, Value};

use crate::framework::Settings;

/// The rule of a case that drives all rules of a framework at once.
pub(super) const COMBINED: &str = "combined";

/// A case while it is read.
pub(super) struct PresetCase<'c> {
    /// The rule that it drives, or [`COMBINED`].
    pub(super) rule: &'static str,
    /// Its `input`.
    pub(super) input: &'c Map<String, Value>,
    /// The settings of the framework; at first, all of `input.config`.
    pub(super) settings: Settings,
    /// Why it does not apply to this implementation, if it does not.
    pub(super) not_applicable: Option<String>,
}

impl<'c> PresetCase<'c> {
    pub(super) fn new(rule: &'static str, input: &'c Map<String, Value>) -> Self {
        let set = if let Some(Value::Object(config)) = input.get("config") { config.clone() } else { Map::new() };
        Self { rule, input, settings: Settings { set, ..Settings::default() }, not_applicable: None }
    }

    /// Says which names of `input.config` are scripted, and no settings.
    pub(super) fn set_aside(&mut self, names: &[&str]) {
        for name in names {
            self.settings.set.shift_remove(*name);
        }
    }

    /// Renames the setting `from` to the parameter name `to`.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if let Some(value) = self.settings.set.shift_remove(from) {
            self.settings.set.insert(to.to_owned(), value);
        }
    }

    /// Takes a word that names the profile out of the settings.
    pub(super) fn profile_from(&mut self, name: &str) {
        if let Some(Value::String(profile)) = self.settings.set.shift_remove(name) {
            self.settings.profile = Some(profile);
        }
    }

    /// True if one of these settings is given.
    pub(super) fn gives(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.settings.get(name).is_some())
    }

    /// Something scripted, in `input.config` or beside it; null if it is not there.
    pub(super) fn scripted(&self, name: &str) -> &Value {
        let config = self.input.get("config").and_then(|config| config.get(name));
        config.or_else(|| self.input.get(name)).unwrap_or(&Value::Null)
    }

    /// True if this is scripted as true.
    pub(super) fn has(&self, name: &str) -> bool {
        *self.scripted(name) == true
    }

    /// The texts of a scripted list.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.scripted(name).as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// A scripted number from 0 on; 0 if it is not there.
    pub(super) fn size(&self, name: &str) -> usize {
        usize::try_from(self.scripted(name).as_u64().unwrap_or(0)).unwrap_or(0)
    }

    /// Which part of the framework the case runs.
    pub(super) fn drive(&self) -> Option<&str> {
        self.scripted("drive").as_str()
    }

    /// The whole `input.config`, for frameworks whose configuration is a file of their own.
    pub(super) fn config(&self) -> Value {
        self.input.get("config").cloned().unwrap_or_else(|| Value::Object(Map::new()))
    }
}
