//! The effects of one run's calls, in order. A script's effect is known if the run wrote the script.

use crate::arguments::ParsedArguments;
use crate::parts::CallEffect;
use crate::scripts::ScriptEffects;
use crate::tools::{self, Context};
use crate::transcript::ToolCall;
use crate::words::shortened;
use crate::{Effect, EffectTable};

/// Determines the effects of one run's calls, one after another.
#[derive(Debug)]
pub struct EffectReader<'t> {
    table: &'t EffectTable,
    scripts: ScriptEffects,
}

impl<'t> EffectReader<'t> {
    /// A reader for one run.
    pub fn new(table: &'t EffectTable) -> Self {
        Self { table, scripts: ScriptEffects::default() }
    }

    /// The effect of `call`; calls must be passed in the order of the run.
    pub fn tell(&mut self, call: &ToolCall) -> CallEffect {
        if let Some(effect) = self.table.tool(&call.name) {
            return CallEffect::new(effect, format!("`{}`, by the stack file", shortened(&call.name)));
        }
        if call.are_arguments_unknown() {
            return CallEffect::new(Effect::Unknown, "its arguments were not recorded".to_owned());
        }
        let text = call.arguments.as_str();
        let arguments = ParsedArguments::read(call, &text);
        let mut context = Context { table: self.table, scripts: &mut self.scripts };
        tools::effect(&call.name, &arguments, &mut context)
    }
}
