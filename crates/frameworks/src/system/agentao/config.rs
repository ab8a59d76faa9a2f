//! agentao's native configuration: how many iterations a chat may take, and which handler is asked at the cap.

use serde_json::{Map, Value};

use super::param;
use crate::bailout::{self, BailoutError, Recipe};
use crate::diagnostic::{Location, did_you_mean, nearest};
use crate::framework::{ConfigText, Settings, SettingsError};
use crate::system::native_values;

/// agentao's iteration cap if the call gives none.
pub const DEFAULT_MAX_ITERATIONS: i64 = 100;

/// The page's advice on the cap by the agent's purpose: the highest number it gives.
pub(super) const SCENARIOS: [(&str, i64); 4] = [
    // The page says 20 to 30.
    ("simple_question", 30),
    // The page says about 30.
    ("pay_per_call", 30),
    // The page says 80 to 150.
    ("tool_chain", 150),
    // The page says 200 to 500.
    ("batch", 500),
];

/// The cap with its handler.
pub struct IterationCap {
    /// Model calls a chat may make; with 0 or less, the handler is asked before the first.
    pub max_iterations: i64,
    /// The name of the bailout strategy.
    pub strategy: String,
    /// Starts the handler for a run.
    pub handler: Recipe,
}

impl IterationCap {
    /// Reads `max_iterations` (or a `scenario` from the page's table), `strategy` and `params` from JSON or TOML; all
    /// are optional, and settings of the same names take precedence. Without a strategy, the transport's default handler is asked, which stops.
    pub fn read(settings: &Settings) -> Result<Self, SettingsError> {
        let config = settings.config.clone().unwrap_or_default();
        let mut values = native_values(&config, "key", &KEYS, HELP)?;
        if settings.gives(&[&param::MAX_ITERATIONS]) {
            values.insert(param::MAX_ITERATIONS.name.to_owned(), settings.int(&param::MAX_ITERATIONS)?.into());
        }
        for parameter in [&param::STRATEGY, &param::PARAMS] {
            values.extend(settings.get(parameter.name).map(|value| (parameter.name.to_owned(), value.clone())));
        }
        let scenario = match values.get("scenario") {
            None => None,
            Some(value) => {
                let name = value.as_str().unwrap_or_default();
                let known = SCENARIOS.iter().find(|(known, _)| *known == name);
                let help = || SCENARIOS.map(|(name, cap)| format!("{name} ({cap})")).join(", ");
                Some(known.ok_or_else(|| config.error_at("scenario", format!("unknown scenario {value}"), help()))?.1)
            }
        };
        let max_iterations = match values.get("max_iterations") {
            None => scenario.unwrap_or(DEFAULT_MAX_ITERATIONS),
            Some(value) => value
                .as_i64()
                .ok_or_else(|| config.error_at("max_iterations", "`max_iterations` is no whole number", HELP))?,
        };
        let strategy = match values.get("strategy") {
            None => "stop",
            Some(value) => value.as_str().ok_or_else(|| config.error_at("strategy", "`strategy` is no text", HELP))?,
        };
        let no_params = Map::new();
        let params = values.get("params").and_then(Value::as_object).unwrap_or(&no_params);
        let handler = bailout::build(strategy, params).map_err(|error| refused(&config, &error))?;
        Ok(Self { max_iterations, strategy: strategy.to_owned(), handler })
    }
}

const KEYS: [&str; 4] = ["max_iterations", "scenario", "strategy", "params"];
const HELP: &str = "for example `max_iterations = 100`, `strategy = \"smart\"`";

fn refused(config: &ConfigText, error: &BailoutError) -> SettingsError {
    let help = match error {
        BailoutError::Unknown(name) => {
            let known = bailout::REGISTRY.iter().map(|bailout| bailout.id);
            let near = nearest(name, known.clone());
            did_you_mean(near, &format!("known: {}", known.collect::<Vec<_>>().join(", ")))
        }
        BailoutError::UnknownParam { .. } | BailoutError::BadParam { .. } => {
            "parameters stand in the table `params`".to_owned()
        }
    };
    SettingsError::new(Location::file(&config.path), error.to_string(), help)
}
