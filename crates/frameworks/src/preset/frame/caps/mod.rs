//! The generic machine: caps over counters, as data.
//!
//! Many frameworks have no other rules than "so many of these, looked at then". Such a preset is one
//! TOML file: what is counted, when it is looked at, the comparator, the limit's parameter and its off
//! value, what is done, and what starts a run of the framework and ends it.

mod counts;
mod decimal;
mod file;
mod host;
mod machine;
mod plan;

use machine::CapMachine;
use plan::Plan;

use super::{Recipe, Settings, SettingsError};

pub use file::CapsFile;
pub(in crate::preset) use file::case;

impl CapsFile {
    /// The machine under these settings. A rule that is off is not among its rules.
    pub fn build(&'static self, settings: &Settings) -> Result<Recipe, SettingsError> {
        let plan = Plan::new(self, settings)?;
        let mut rules: Vec<&'static str> = Vec::new();
        for rule in plan.caps.iter().map(|cap| cap.rule).chain(plan.tool_stops.iter().map(|stop| stop.rule)) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        let needs: Vec<_> = plan.caps.iter().filter_map(|cap| Some((cap.rule, cap.counts.need()?))).collect();
        let mut recipe = Recipe::new(CapMachine::new(plan), &rules).blind(&rules);
        for (index, (rule, need)) in needs.iter().enumerate() {
            if !needs[..index].contains(&(*rule, *need)) {
                recipe = recipe.needs(rule, *need);
            }
        }
        Ok(recipe)
    }
}
