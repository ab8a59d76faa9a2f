//! Reads `agent.search.max_iterations` from a native configuration.

use serde_json::Value;

use super::iterations::{DEFAULT_MAX, Strategies};
use super::param;
use crate::diagnostic::Location;
use crate::framework::{ConfigText, Settings, SettingsError, positive, wrong_kind};

/// The path of the number.
const PATH: [&str; 3] = ["agent", "search", "max_iterations"];
const KEY: &str = "agent.search.max_iterations";

/// The number of iterations: `max_iterations` of the stack file, else of the configuration, else 5. Any integer is
/// accepted, because the workflow does not check it.
pub(super) fn max_iterations(settings: &Settings) -> Result<i64, SettingsError> {
    if let Some(value) = settings.get(param::MAX_ITERATIONS.name) {
        return value.as_i64().ok_or_else(|| wrong_kind(param::MAX_ITERATIONS.name, "a whole number", value));
    }
    let Some(config) = &settings.config else { return Ok(DEFAULT_MAX) };
    let extension = config.path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let value = match extension.as_str() {
        "json" => config.json()?.pointer("/agent/search/max_iterations").cloned(),
        "toml" => config.toml()?.pointer("/agent/search/max_iterations").cloned(),
        _ => yaml(config)?,
    };
    let Some(value) = value else { return Ok(DEFAULT_MAX) };
    value.as_i64().ok_or_else(|| {
        let what = format!("`{KEY}` is {value}, not a whole number");
        config.error_at("max_iterations", what, "write a whole number such as 5")
    })
}

/// The design document's strategies that are on: `strategies` lists their numbers, and `consecutive_successes`
/// configures the fourth, which it also turns on if given alone.
pub fn strategies(settings: &Settings) -> Result<Strategies, SettingsError> {
    const HELP: &str = "a list of the design document's numbers: 1 conclusion tag, 2 task status, 3 completion words, \
                        4 consecutive successes";
    let streak = settings.in_force(&param::CONSECUTIVE_SUCCESSES);
    let streak = positive(&streak)
        .ok_or_else(|| wrong_kind(param::CONSECUTIVE_SUCCESSES.name, "a whole number from 1", &streak))?;
    let value = settings.in_force(&param::STRATEGIES);
    let wrong = || SettingsError::value(&param::STRATEGIES, &value, HELP);
    let mut numbers = Vec::new();
    for number in value.as_array().ok_or_else(wrong)? {
        numbers.push(number.as_u64().filter(|number| (1..=4).contains(number)).ok_or_else(wrong)?);
    }
    let set_alone = settings.gives(&[&param::CONSECUTIVE_SUCCESSES]) && !settings.gives(&[&param::STRATEGIES]);
    Ok(Strategies {
        conclusion_tag: numbers.contains(&1),
        task_status: numbers.contains(&2),
        completion_words: numbers.contains(&3),
        successes: if numbers.contains(&4) || set_alone { Some(streak) } else { None },
    })
}

/// Reads this one path from block-style YAML. Rejects anything that cannot be read reliably: flow style, anchors, tags
/// and tabs on the way to the number.
fn yaml(config: &ConfigText) -> Result<Option<Value>, SettingsError> {
    // The columns of the path's open mappings, and the column of each one's children.
    let (mut open, mut children): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), vec![None]);
    let mut offset = 0;
    for line in config.text.split_inclusive('\n') {
        let begin = offset;
        offset += line.len();
        let content = without_comment(line.trim_end());
        let body = content.trim_start_matches(' ');
        if body.is_empty() || body == "---" || body == "..." {
            continue;
        }
        let indent = content.len() - body.len();
        let at = || Location::in_text(&config.path, &config.text, begin);
        let refuse = |what: &str| Err(SettingsError::new(at(), what, help()));
        if body.starts_with('\t') {
            return refuse("a tab indents this line");
        }
        while open.last().is_some_and(|column| *column >= indent) {
            open.pop();
            children.pop();
        }
        let is_child = children.last_mut().is_some_and(|column| *column.get_or_insert(indent) == indent);
        let Some((key, value)) = body.split_once(':').filter(|_| is_child) else { continue };
        let key = key.trim().trim_matches(['"', '\'']);
        let value = value.trim();
        if PATH.get(open.len()) != Some(&key) {
            continue;
        }
        if open.len() + 1 == PATH.len() {
            return Ok(Some(scalar(value)));
        }
        if !value.is_empty() {
            return refuse("flow style, anchors and tags are not read here");
        }
        open.push(indent);
        children.push(None);
    }
    Ok(None)
}

fn help() -> String {
    format!("write `{KEY}` in block style, or set `max_iterations` in the stack file")
}

/// The line without its comment. A `#` inside quotes only occurs on lines that are ignored anyway.
fn without_comment(line: &str) -> &str {
    let comment = line
        .char_indices()
        .find(|(at, c)| *c == '#' && line[..*at].chars().next_back().is_none_or(char::is_whitespace));
    if let Some((at, _)) = comment { line[..at].trim_end() } else { line.trim_end() }
}

fn scalar(value: &str) -> Value {
    match value.parse::<i64>() {
        Ok(number) => Value::from(number),
        Err(_) if matches!(value, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        Err(_) => Value::from(value),
    }
}
