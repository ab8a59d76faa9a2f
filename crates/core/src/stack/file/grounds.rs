//! The certificate of a tuned stack: what its tuning promised and on which recordings. On recordings unlike those, the
//! promise does not hold.

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use super::fields::{Fields, Read};
use super::hints::Level;

/// How to write it, for error messages.
const EXAMPLE: &str = "{ promise = \"…\", runs = 493 }";

/// `[stack.certificate]`: what was promised of a tuned stack, and the recordings it was tuned on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grounds {
    /// The promise, in words.
    pub promise: String,
    /// Models of the recordings; empty if none was recorded.
    pub models: Vec<String>,
    /// Agents or harnesses of the recordings; empty if none was recorded.
    pub agents: Vec<String>,
    /// The number of runs it was tuned on.
    pub runs: u32,
    /// The share of those runs that it stops.
    pub stopped: f64,
    /// For each of its signals, named as the rule without the limit, the lowest and the highest reading.
    pub ranges: Vec<(String, f64, f64)>,
}

/// Reads the certificate of a stack; `None` if it has none.
pub(super) fn read(stack: &Fields<'_>) -> Read<Option<Grounds>> {
    if !stack.has("certificate") {
        return Ok(None);
    }
    let fields = stack.table("certificate", EXAMPLE)?;
    let promise = fields.string("promise");
    let (models, agents) = (fields.strings("models"), fields.strings("agents"));
    let runs = fields.count("runs");
    let share = |value| number(value).filter(|share| (0.0..=1.0).contains(share));
    let stopped = fields.read("stopped", "a number from 0 to 1", share);
    let ranges = ranges(&fields);
    fields.finish(Level::Other)?;
    Ok(Some(Grounds {
        promise: promise?.unwrap_or_default(),
        models: models?.unwrap_or_default(),
        agents: agents?.unwrap_or_default(),
        runs: runs?.unwrap_or(0),
        stopped: stopped?.unwrap_or(0.0),
        ranges: ranges?,
    }))
}

fn ranges(fields: &Fields<'_>) -> Read<Vec<(String, f64, f64)>> {
    if !fields.has("ranges") {
        return Ok(Vec::new());
    }
    let table = fields.table("ranges", "{ steps = [1, 101] }")?;
    let mut ranges = Vec::new();
    for (signal, value) in table.entries() {
        let pair = match value.as_array().map_or(&[][..], |items| &items[..]) {
            [low, high] => number(low.get_ref()).zip(number(high.get_ref())),
            _ => None,
        };
        let Some((low, high)) = pair else {
            let what = format!("the range of `{signal}` is no pair of numbers");
            return Err(fields.error_at_key("ranges", what, "write the lowest and the highest reading: `[1, 101]`"));
        };
        ranges.push((signal.to_owned(), low, high));
    }
    ranges.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(ranges)
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Integer(integer) => integer.as_str().parse().ok(),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}
