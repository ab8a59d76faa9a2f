//! Inspect's token limits: the number of tokens, and which tokens count.

use serde_json::Value;

use crate::framework::Parameter;
use crate::preset::frame::SettingsError;
use crate::python;

/// A limit on tokens.
#[derive(Clone, Debug)]
pub(super) struct SampleTokenLimit {
    pub(super) most: u64,
    meter: Meter,
}

/// Which tokens count.
#[derive(Clone, Debug)]
enum Meter {
    All,
    Output,
    /// An arithmetic expression over the sums.
    Formula(String),
}

impl SampleTokenLimit {
    /// A number, a table with `tokens` and `type`, or a text such as `output:1m`; `None` if there is no limit.
    pub(super) fn from_parameter(parameter: &Parameter, value: Option<&Value>) -> Result<Option<Self>, SettingsError> {
        let refused = |words: String| SettingsError::refused("ValueError", words);
        let invalid = || SettingsError::refused("ValidationError", "1 validation error for TokenLimit");
        let wrong = |value: &Value| {
            crate::preset::frame::wrong_kind(
                parameter.name,
                "a number, a text such as output:1m, or a table of tokens and type",
                value,
            )
        };
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Ok(None),
            Some(Value::String(text)) if text == "none" => Ok(None),
            Some(Value::String(text)) => {
                let (meter, count) = text.rsplit_once(':').unwrap_or(("all", text));
                let expected = || {
                    refused(format!("token limit: expected [<type>:]<number>[k|m|b], got {}", python::repr_text(text)))
                };
                let most = tokens(count).ok_or_else(expected)?;
                let meter = Meter::from_name(meter.trim(), true).ok_or_else(invalid)?;
                Ok(Some(Self { most, meter }))
            }
            Some(table @ Value::Object(_)) => {
                let most = table["tokens"].as_u64().ok_or_else(invalid)?;
                let meter = match table.get("type") {
                    Some(meter) => meter.as_str().ok_or_else(invalid)?,
                    None => "all",
                };
                Ok(Some(Self { most, meter: Meter::from_name(meter, false).ok_or_else(invalid)? }))
            }
            Some(value) => {
                let number = value.as_f64().filter(|number| number.fract() == 0.0).ok_or_else(|| wrong(value))?;
                if number < 0.0 {
                    let words =
                        format!("Token limit value must be a non-negative integer or None: {}", python::text(value));
                    return Err(refused(words));
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not negative")]
                let most = number as u64;
                Ok(Some(Self { most, meter: Meter::All }))
            }
        }
    }

    /// The metered value of these sums.
    pub(super) fn value(&self, input: u64, output: u64) -> Option<i64> {
        let sum = match &self.meter {
            Meter::All => input.saturating_add(output) as f64,
            Meter::Output => output as f64,
            Meter::Formula(text) => formula(text, input as f64, output as f64)?.floor(),
        };
        #[expect(clippy::cast_possible_truncation, reason = "a whole number; beyond 64 bits it stays the largest")]
        let sum = if sum.is_finite() { Some(sum as i64) } else { None };
        sum
    }

    /// The framework's message up to the value.
    pub(super) fn words(&self, status: &str) -> String {
        match &self.meter {
            Meter::All => format!("Token limit {status}"),
            Meter::Output => format!("Output token limit {status}"),
            Meter::Formula(text) => format!("Token limit {status} ({text})"),
        }
    }
}

impl Meter {
    /// Parses a name or a formula; with `any_case`, names are case-insensitive.
    fn from_name(name: &str, any_case: bool) -> Option<Self> {
        let word = if any_case { name.to_lowercase() } else { name.to_owned() };
        match word.as_str() {
            "all" => Some(Self::All),
            "output" => Some(Self::Output),
            // Any sums will do: whether it is a formula depends on the text alone.
            _ => formula(name, 0.0, 0.0).map(|_| Self::Formula(name.to_owned())),
        }
    }
}

/// Parses `0.03k` or `1m` to a whole number of tokens.
fn tokens(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = match text.strip_suffix(['k', 'm', 'b']) {
        Some(number) => (number.trim_end(), text.chars().last()),
        None => (text.as_str(), None),
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !number.starts_with('.')
        && !number.ends_with('.');
    let unit = match unit {
        Some('k') => 1e3,
        Some('m') => 1e6,
        Some('b') => 1e9,
        _ => 1.0,
    };
    let tokens = number.parse::<f64>().ok().filter(|_| plain)? * unit;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not negative")]
    let tokens = if tokens.fract() == 0.0 { Some(tokens as u64) } else { None };
    tokens
}

/// The deepest nesting allowed; nobody writes deeper expressions by hand.
const DEEPEST: usize = 100;

/// The value of an arithmetic expression over `input` and `output`; `None` if the text is none, whatever the two are:
/// the parser looks at no value that it works out, and a division by 0 is infinite or not a number.
fn formula(text: &str, input: f64, output: f64) -> Option<f64> {
    let mut parser = FormulaParser { rest: text.trim(), depth: 0, input, output };
    let value = parser.sum()?;
    if parser.rest.trim_start().is_empty() { Some(value) } else { None }
}

struct FormulaParser<'t> {
    rest: &'t str,
    depth: usize,
    input: f64,
    output: f64,
}

impl FormulaParser<'_> {
    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        let taken = rest.strip_prefix(wanted);
        self.rest = taken.unwrap_or(rest);
        taken.is_some()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        loop {
            if self.take('*') {
                value *= self.factor()?;
            } else if self.take('/') {
                value /= self.factor()?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<f64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = if self.take('-') {
            -self.factor()?
        } else if self.take('+') {
            self.factor()?
        } else if self.take('(') {
            let inner = self.sum()?;
            if !self.take(')') {
                return None;
            }
            inner
        } else {
            let length = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
            let (word, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
            self.rest = rest;
            match word {
                "input" => self.input,
                "output" => self.output,
                number if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                    python::float_of_text(number).filter(|number| number.is_finite())?
                }
                _ => return None,
            }
        };
        self.depth -= 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_arithmetic_over_two_sums() {
        let check = |text: &str, wanted: Option<f64>| {
            assert_eq!(formula(text, 12.0, 5.0), wanted, "{text}");
        };
        check("(input*0.1)+output", Some(6.2));
        check("input - output - 1", Some(6.0));
        check("-input + 2 * -output / 4", Some(-14.5));
        check("output / (input - 12)", Some(f64::INFINITY));
        check("input+foo", None);
        check("input+", None);
        check("input output", None);
        check(&"(".repeat(500), None);
    }

    #[test]
    fn counts_may_have_units() {
        let check = |text: &str, wanted: Option<u64>| assert_eq!(tokens(text), wanted, "{text}");
        check("0.03k", Some(30));
        check("1M", Some(1_000_000));
        check("1.5", None);
        check("k", None);
        assert_eq!(python::grouped(1_234_567), "1,234,567");
        assert_eq!(python::grouped(-1000), "-1,000");
    }
}
