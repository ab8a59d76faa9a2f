//! What looks wrong in agentica's configuration before any run.

use serde_json::Value;

use crate::framework::{Settings, SettingsError};
use crate::system::traps::{few_tokens, in_config, long, values};

pub(super) fn traps(settings: &Settings) -> Vec<SettingsError> {
    let values = values(settings);
    // 1.5 rejects values that the others accept, and reads -1 as off.
    let takes_any = settings.profile.as_deref() != Some("published-1.5");
    let mut traps = Vec::new();
    for key in ["turn_budget", "token_budget", "wall_clock_budget_sec", "default_turn_budget"] {
        let Some(limit) = values.get(key).and_then(Value::as_f64) else { continue };
        if takes_any && limit <= 0.0 {
            let what = format!("`{key}` of {limit} is not off: the goal ends with its first turn");
            traps.push(in_config(settings, key, (what, format!("leave `{key}` out for no limit"))));
        } else if key == "wall_clock_budget_sec" {
            traps.extend(long(limit).map(|trap| in_config(settings, key, trap)));
        } else if key == "token_budget" {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "only small limits are of interest, and a cast saturates"
            )]
            let tokens = limit as i64;
            traps.extend(few_tokens(tokens).filter(|_| tokens > 0).map(|trap| in_config(settings, key, trap)));
        }
    }
    traps
}
