//! The caps of a file under given settings: which ones are on, and their limits.

use serde_json::Value;

use super::counts::{CountedQuantity, RunCounters};
use super::file::{CapComparator, CapEntry, Caps, EndEntry, SwitchEntry, ToolStopEntry, When};
use crate::preset::frame::{Action, Settings, SettingsError, wrong_kind};

/// A cap that is on.
#[derive(Clone, Debug)]
pub(super) struct ActiveCap {
    pub(super) rule: &'static str,
    pub(super) counts: CountedQuantity,
    pub(super) when: When,
    pub(super) fires: CapComparator,
    pub(super) limit: f64,
    /// The limit as written in the settings.
    pub(super) written: String,
    pub(super) action: Action,
    pub(super) ends_run: bool,
    pub(super) code: &'static str,
    pub(super) detail: Option<&'static str>,
}

impl ActiveCap {
    /// Whether the counts reach its limit.
    pub(super) fn is_reached(&self, counts: &RunCounters) -> bool {
        counts.read(self.counts).is_some_and(|observed| self.fires.holds(observed, self.limit))
    }
}

/// Tools that end the run.
#[derive(Clone, Debug)]
pub(super) struct ToolStop {
    pub(super) rule: &'static str,
    /// The tools' names; `None` for any tool.
    pub(super) tools: Option<Vec<String>>,
    pub(super) code: &'static str,
}

impl ToolStop {
    /// Whether a call of `tool` ends the run.
    pub(super) fn names(&self, tool: &str) -> bool {
        if let Some(tools) = &self.tools { tools.iter().any(|name| name == tool) } else { true }
    }
}

/// Everything the machine needs to know.
#[derive(Clone, Debug)]
pub(super) struct CapPlan {
    pub(super) caps: Vec<ActiveCap>,
    pub(super) tool_stops: Vec<ToolStop>,
    /// What ends a run of the framework on its own.
    pub(super) ends: Vec<&'static EndEntry>,
    /// Whether counters start again at each user message.
    pub(super) starts_anew: bool,
    /// Whether user messages start runs.
    pub(super) runs_by_user: bool,
    /// Calls of these tools are answered before any cap is checked.
    pub(super) uncounted_tools: Vec<String>,
}

impl CapPlan {
    pub(super) fn new(file: &'static Caps, settings: &Settings) -> Result<Self, SettingsError> {
        let mut caps = Vec::new();
        for entry in &file.cap {
            caps.extend(cap(file, entry, settings)?);
        }
        let mut tool_stops = Vec::new();
        for entry in &file.tool_stop {
            tool_stops.extend(tool_stop(file, entry, settings)?);
        }
        let run = &file.run;
        let shared = if let Some(name) = &run.shared_by { settings.flag(file.parameter(name)?)? } else { false };
        let uncounted_tools = match &run.uncounted_tools {
            Some(name) => settings.texts(file.parameter(name)?)?,
            None => Vec::new(),
        };
        let mut ends = Vec::new();
        for entry in &run.end {
            match entry {
                EndEntry::Tool { when, .. } if !settings.flag(file.parameter(when)?)? => {}
                _ => ends.push(entry),
            }
        }
        Ok(Self {
            caps,
            tool_stops,
            ends,
            starts_anew: run.by_user && !shared,
            runs_by_user: run.by_user,
            uncounted_tools,
        })
    }

    /// Whether any cap depends on time.
    pub(super) fn is_timed(&self) -> bool {
        self.caps.iter().any(|cap| cap.counts == CountedQuantity::WholeSeconds)
    }
}

/// True if a parameter is set to a value.
fn is_set(settings: &Settings, name: &str) -> bool {
    !matches!(settings.get(name), None | Some(Value::Null | Value::Bool(false)))
}

fn is_on(switch: &SwitchEntry, settings: &Settings) -> bool {
    match &switch.equals {
        Some(wanted) => settings.get(&switch.parameter).is_some_and(|value| value == wanted),
        None => is_set(settings, &switch.parameter),
    }
}

fn cap(file: &Caps, entry: &'static CapEntry, settings: &Settings) -> Result<Option<ActiveCap>, SettingsError> {
    if !entry.if_any_set.is_empty() && !entry.if_any_set.iter().any(|name| is_set(settings, name)) {
        return Ok(None);
    }
    let Some((limit, written)) = limit(file, entry, settings)? else { return Ok(None) };
    let (action, code, detail, ends_run) = match &entry.instead {
        Some(instead) if is_set(settings, &instead.if_set) => (instead.action, &instead.code, None, true),
        _ => (entry.action, &entry.code, entry.detail.as_deref(), false),
    };
    Ok(Some(ActiveCap {
        rule: &entry.rule,
        counts: entry.counts,
        when: entry.when,
        fires: entry.fires,
        limit,
        written,
        action,
        ends_run,
        code,
        detail,
    }))
}

/// The limit and how it is written in the settings; `None` if it is off.
fn limit(file: &Caps, entry: &CapEntry, settings: &Settings) -> Result<Option<(f64, String)>, SettingsError> {
    let Some(name) = entry.limit.as_deref() else {
        return Ok(Some((0.0, "0".to_owned())));
    };
    let value = &*settings.value(file.parameter(name)?);
    if matches!(value, Value::Null | Value::Bool(false)) || value.as_str() == Some("none") {
        return Ok(None);
    }
    let limit = value.as_f64().ok_or_else(|| wrong_kind(name, "a number, or none", value))?;
    let is_off = entry.zero_is_off && limit <= 0.0;
    Ok(if is_off { None } else { Some((limit, value.to_string())) })
}

fn tool_stop(
    file: &Caps,
    entry: &'static ToolStopEntry,
    settings: &Settings,
) -> Result<Option<ToolStop>, SettingsError> {
    let tools = match (&entry.tools, &entry.any_if) {
        (Some(name), _) => match settings.texts(file.parameter(name)?)? {
            none if none.is_empty() => return Ok(None),
            tools => Some(tools),
        },
        (None, Some(switch)) if is_on(switch, settings) => None,
        (None, _) => return Ok(None),
    };
    Ok(Some(ToolStop { rule: &entry.rule, tools, code: &entry.code }))
}
