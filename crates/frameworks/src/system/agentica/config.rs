//! agentica's native configuration: the keyword arguments of a standing goal, as TOML or JSON.

use serde_json::{Map, Value};

use super::goal::Budgets;
use super::limit::Limit;
use super::{GoalRules, Version};
use crate::framework::{ConfigText, Settings, SettingsError};
use crate::judge::Judge;
use crate::system::native_values;

/// The keyword arguments that affect stopping, and `objective`, which is accepted but not used.
const KEYS: [&str; 8] = [
    "objective",
    "turn_budget",
    "token_budget",
    "wall_clock_budget_sec",
    "default_turn_budget",
    "auto_judge",
    "attach_goal_tool",
    "subgoals",
];
const HELP: &str = "for example `turn_budget = 5`, `token_budget = 50000`, `wall_clock_budget_sec = 600`";

/// The configuration of a goal.
#[derive(Clone, Debug)]
pub struct GoalConfig {
    /// The limits, checked by the rules of the version.
    pub budgets: Budgets,
    /// The rules that follow from the arguments.
    pub rules: GoalRules,
    /// Whether the model has the tool `update_goal`.
    pub has_goal_tool: bool,
}

impl GoalConfig {
    /// Reads the arguments; all are optional.
    pub fn read(version: Version, judge: Judge, settings: &Settings) -> Result<Self, SettingsError> {
        let config = settings.config.clone().unwrap_or_default();
        let values = native_values(&config, "argument", &KEYS, HELP)?;
        let arguments = GoalArguments { config: &config, values: &values };
        let budgets = Budgets {
            turns: arguments.whole("turn_budget")?,
            tokens: arguments.whole("token_budget")?,
            seconds: arguments.number("wall_clock_budget_sec")?,
        };
        let default_turns = arguments.whole("default_turn_budget")?;
        let budgets = budgets
            .checked(default_turns, version)
            .map_err(|refused| config.error_at("budget", refused.to_string(), HELP))?;
        let auto_judge = arguments.flag("auto_judge", version != Version::V15)?;
        if !auto_judge && version != Version::V15 {
            let help = "before 1.5 the judge is asked every turn; drop it, or take the profile `published-1.5`";
            return Err(config.error_at("auto_judge", "`auto_judge` is 1.5's", help));
        }
        Ok(Self {
            budgets,
            rules: GoalRules { version, auto_judge, has_judge: judge != Judge::Absent },
            has_goal_tool: arguments.flag("attach_goal_tool", true)?,
        })
    }
}

struct GoalArguments<'c> {
    config: &'c ConfigText,
    values: &'c Map<String, Value>,
}

impl GoalArguments<'_> {
    /// The argument's value; Python's `None` (null) counts as absent.
    fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, wanted: &str) -> SettingsError {
        self.config.error_at(name, format!("`{name}` is no {wanted}"), HELP)
    }

    fn whole(&self, name: &str) -> Result<Option<Limit>, SettingsError> {
        let whole = |value: &Value| match Limit::from_value(value) {
            Some(limit @ Limit::Whole(_)) => Ok(limit),
            _ => Err(self.wrong(name, "whole number")),
        };
        self.get(name).map(whole).transpose()
    }

    fn number(&self, name: &str) -> Result<Option<f64>, SettingsError> {
        self.get(name).map(|value| value.as_f64().ok_or_else(|| self.wrong(name, "number"))).transpose()
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, SettingsError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.wrong(name, "truth value"))
    }
}
