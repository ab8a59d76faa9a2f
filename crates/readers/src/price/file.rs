//! Parses a price file in TOML or JSON: one table per model, in dollars per million tokens.
//!
//! ```toml
//! ["claude-sonnet-4-5"]
//! input = 3.00
//! cached = 0.30       # input read from a cache
//! cache_write = 3.75  # input written to a cache; default: the price of input
//! output = 15.00
//! aliases = ["my-proxy-name"]
//! ```
//!
//! A file in `LiteLLM`'s format (`input_cost_per_token` …) is accepted too.

use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

use super::{Price, PriceTable};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::value::json;

/// The fields of a model, each with its alternative names.
const FIELDS: &[(&str, &[&str])] = &[
    ("input", &[]),
    ("cached", &["cache_read", "cached_input"]),
    ("cache_write", &["cache_creation"]),
    ("output", &[]),
    ("aliases", &["alias"]),
];
const HELP: &str =
    "write a table for each model: `[\"MODEL\"]` with `input`, `cached`, `output` in dollars for a million tokens";

/// A value and its byte offset in the file.
struct PlacedValue {
    value: PriceValue,
    at: usize,
}

enum PriceValue {
    Number(f64),
    Names(Vec<String>),
    Table(Vec<(String, PlacedValue)>),
    Other(&'static str),
}

/// The file, for error messages.
#[derive(Clone, Copy)]
struct PriceText<'t> {
    path: &'t str,
    text: &'t str,
}

impl PriceText<'_> {
    fn error(self, at: usize, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Location::in_text(self.path, self.text, at), what, help)
    }
}

impl PriceTable {
    /// Parses the text of a price file, TOML or JSON. `path` is used only in messages and reports.
    pub fn parse(path: &str, text: &str) -> Result<Self, Diagnostic> {
        let text = text.trim_start_matches('\u{feff}');
        let source = PriceText { path, text };
        let models = if text.trim_start().starts_with('{') { from_json(source)? } else { from_toml(source)? };
        let mut table = Self { path: path.to_owned(), ..Self::default() };
        for (name, model) in models {
            let PriceValue::Table(fields) = &model.value else {
                let what = format!("`{name}` is {} and should be the prices of a model", model.value.article());
                return Err(source.error(model.at, what, HELP));
            };
            let Some((aliases, price)) = read_model(source, &name, fields, model.at)? else { continue };
            let names = std::iter::once(name).chain(aliases).collect();
            table
                .add(names, price)
                .map_err(|twice| source.error(model.at, format!("a second price for `{twice}`"), "keep one of them"))?;
        }
        if table.entries.is_empty() {
            return Err(source.error(0, "no price of any model", HELP));
        }
        Ok(table)
    }
}

impl PriceValue {
    fn article(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Names(_) => "a text",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }
}

/// The alternative names of a model, and its price; `None` for an entry of LiteLLM's list without a price for tokens,
/// such as an image model.
fn read_model(
    source: PriceText<'_>,
    name: &str,
    fields: &[(String, PlacedValue)],
    at: usize,
) -> Result<Option<(Vec<String>, Price)>, Diagnostic> {
    let listed = |(key, _): &&(String, PlacedValue)| key == "litellm_provider" || key.ends_with("_cost_per_token");
    if fields.iter().any(|field| listed(&field)) {
        // In dollars per token.
        let number = |key: &str| {
            fields.iter().find_map(|(found, placed)| match placed.value {
                PriceValue::Number(number) if found == key => Some(number * 1e6),
                _ => None,
            })
        };
        let (Some(input), Some(output)) = (number("input_cost_per_token"), number("output_cost_per_token")) else {
            return Ok(None);
        };
        let cached = number("cache_read_input_token_cost");
        let price = Price { input, cached, cache_write: number("cache_creation_input_token_cost"), output };
        return Ok(Some((Vec::new(), price)));
    }
    let mut prices = [None; 4];
    let mut aliases = Vec::new();
    for (key, placed) in fields {
        let known = FIELDS.iter().position(|(field, also)| field == key || also.contains(&key.as_str()));
        match (known, &placed.value) {
            (Some(4), PriceValue::Names(names)) => aliases.extend(names.iter().cloned()),
            (Some(4), other) => {
                let what = format!("`{key}` is {} and should be names of models", other.article());
                return Err(source.error(placed.at, what, "write it as `[\"NAME\", …]`"));
            }
            (Some(field), PriceValue::Number(price)) if *price >= 0.0 && price.is_finite() => {
                prices[field] = Some(*price);
            }
            (Some(_), PriceValue::Number(price)) => {
                let help = "give dollars for a million tokens, 0 or more";
                return Err(source.error(
                    placed.at,
                    format!("`{key}` of `{name}` is {price}, which is no price"),
                    help,
                ));
            }
            (Some(_), other) => {
                let what = format!("`{key}` of `{name}` is {} and should be a number", other.article());
                return Err(source.error(placed.at, what, "give dollars for a million tokens"));
            }
            (None, PriceValue::Table(_)) => {
                let what = format!("`{name}` holds the table `{key}`");
                let help = format!("quote a name with dots: `[\"{name}.{key}\"]`");
                return Err(source.error(placed.at, what, help));
            }
            (None, _) => {
                let all = || FIELDS.iter().flat_map(|(field, also)| std::iter::once(field).chain(*also)).copied();
                let help = match nearest(key, all()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "a model has `input`, `cached`, `cache_write`, `output` and `aliases`".to_owned(),
                };
                return Err(source.error(placed.at, format!("`{name}` has an unknown field `{key}`"), help));
            }
        }
    }
    match prices {
        [Some(input), cached, cache_write, Some(output)] => {
            Ok(Some((aliases, Price { input, cached, cache_write, output })))
        }
        [None, ..] => Err(source.error(at, format!("`{name}` has no price for `input`"), "add `input = …`")),
        [..] => Err(source.error(at, format!("`{name}` has no price for `output`"), "add `output = …`")),
    }
}

fn from_toml(source: PriceText<'_>) -> Result<Vec<(String, PlacedValue)>, Diagnostic> {
    let table = DeTable::parse(source.text).map_err(|error| {
        let at = error.span().unwrap_or_default().start;
        source.error(at, format!("not valid TOML: {}", error.message()), HELP)
    })?;
    Ok(toml_fields(table.get_ref()))
}

fn toml_fields(table: &DeTable<'_>) -> Vec<(String, PlacedValue)> {
    let mut fields = Vec::new();
    for (key, value) in table {
        let placed = PlacedValue { value: toml_value(value.get_ref()), at: key.span().start };
        fields.push((key.get_ref().to_string(), placed));
    }
    fields.sort_by_key(|(_, placed)| placed.at);
    fields
}

fn toml_value(value: &DeValue<'_>) -> PriceValue {
    let number = |text: &str| match text.replace('_', "").parse() {
        Ok(number) => PriceValue::Number(number),
        Err(_) => PriceValue::Other("an odd number"),
    };
    match value {
        DeValue::Integer(written) => number(written.as_str()),
        DeValue::Float(written) => number(written.as_str()),
        DeValue::String(name) => PriceValue::Names(vec![name.to_string()]),
        DeValue::Array(items) => {
            let names: Option<Vec<String>> =
                items.iter().map(|item| Some(item.get_ref().as_str()?.to_owned())).collect();
            match names {
                Some(names) => PriceValue::Names(names),
                None => PriceValue::Other("an array"),
            }
        }
        DeValue::Table(table) => PriceValue::Table(toml_fields(table)),
        DeValue::Boolean(_) => PriceValue::Other("true or false"),
        DeValue::Datetime(_) => PriceValue::Other("a date"),
    }
}

fn from_json(source: PriceText<'_>) -> Result<Vec<(String, PlacedValue)>, Diagnostic> {
    let whole: &RawValue = serde_json::from_str(source.text.trim()).map_err(|error| {
        let before: usize = source.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = before + error.column().saturating_sub(1);
        source.error(at, format!("not valid JSON: {}", json::message(&error)), HELP)
    })?;
    Ok(json_fields(source, whole))
}

fn json_fields(source: PriceText<'_>, object: &RawValue) -> Vec<(String, PlacedValue)> {
    let place = |raw: &RawValue| (raw.get().as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize);
    let field = |(key, raw): (String, &RawValue)| (key, PlacedValue { value: json_value(source, raw), at: place(raw) });
    json::fields_of(object).unwrap_or_default().into_iter().filter(|(_, raw)| raw.get() != "null").map(field).collect()
}

fn json_value(source: PriceText<'_>, raw: &RawValue) -> PriceValue {
    match raw.get().as_bytes().first() {
        Some(b'{') => PriceValue::Table(json_fields(source, raw)),
        Some(b'"') => PriceValue::Names(json::string(raw).map(std::borrow::Cow::into_owned).into_iter().collect()),
        Some(b'[') => serde_json::from_str(raw.get()).map_or(PriceValue::Other("an array"), PriceValue::Names),
        Some(b't' | b'f') => PriceValue::Other("true or false"),
        _ => raw.get().parse().map_or(PriceValue::Other("something else"), PriceValue::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_json_and_litellm_say_the_same() {
        let price = Price { input: 3.0, cached: Some(0.3), cache_write: None, output: 15.0 };
        for text in [
            "[m]\ninput = 3\ncached = 0.3\noutput = 15.0\n",
            "m = { input = 3, cache_read = 0.3, output = 1_5 }",
            "\u{feff}{\"m\": {\"input\": 3, \"cached\": 0.3, \"output\": 15, \"cache_write\": null}}",
            "{\"m\":{\"input_cost_per_token\":3e-6,\"output_cost_per_token\":1.5e-5,\"mode\":\"chat\",\
                \"cache_read_input_token_cost\":3e-7},\"image\":{\"litellm_provider\":\"x\"}}",
        ] {
            let table = PriceTable::parse("p", text).unwrap();
            let (_, found) = table.price_for("m").unwrap();
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(close(found.input, price.input) && close(found.output, price.output), "{text}");
            assert!(close(found.cached.unwrap(), 0.3) && found.cache_write.is_none(), "{text}");
        }
    }

    #[test]
    fn errors_say_where_and_what_was_meant() {
        for (text, told) in [
            (
                "[m]\ninput = 3\ncahced = 0.3\noutput = 15\n",
                "`m` has an unknown field `cahced` (p:3:1) did you mean `cached`?",
            ),
            ("[m]\ninput = 3\n", "`m` has no price for `output` (p:1:2) add `output = …`"),
            (
                "[m]\ninput = \"3\"\n",
                "`input` of `m` is a text and should be a number (p:2:1) give dollars for a million tokens",
            ),
            (
                "[m]\ninput = -1\n",
                "`input` of `m` is -1, which is no price (p:2:1) give dollars for a million tokens, 0 or more",
            ),
            (
                "{\"m\":{\"input\":1,\"output\":1},\n \"m\":{\"input\":1,\"output\":1}}",
                "a second price for `m` (p:2:6) keep one of them",
            ),
            ("[gpt-4.1]\ninput = 1", "`gpt-4` holds the table `1` (p:1:8) quote a name with dots: `[\"gpt-4.1\"]`"),
            ("m = 3", "`m` is a number and should be the prices of a model (p:1:1)"),
            ("[m", "not valid TOML"),
            ("{\"m\":\n}", "not valid JSON: expected value (p:2:1)"),
            ("", "no price of any model (p:1:1)"),
        ] {
            let error = PriceTable::parse("p", text).unwrap_err();
            let found = format!("{error} {}", error.help);
            assert!(found.starts_with(told), "{found}\n{told}");
        }
    }
}
