//! The generic machine: caps on counters, described as data.
//!
//! Many frameworks only have rules of the form "at most N of these, checked at this moment". Such a preset has no
//! code: its `framework.toml` gives what is counted, when it is checked, the comparison, the limit's parameter and off value, the action,
//! and what starts and ends a run of the framework.

mod counts;
mod decimal;
mod file;
mod machine;
mod plan;

#[doc(hidden)]
pub use machine::CapMachine;
use plan::CapPlan;

use super::{Recipe, Settings, SettingsError};

pub use file::Caps;
pub(in crate::preset) use file::{CapEntry, RunEntry, ToolStopEntry};

impl Caps {
    /// The machine for these settings. A rule that is off is left out.
    pub fn build(&'static self, settings: &Settings) -> Result<Recipe, SettingsError> {
        let plan = CapPlan::new(self, settings)?;
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
