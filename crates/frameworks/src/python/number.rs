//! Python's `int` and `float`.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::Raised;
use super::text::numeral;

/// Key of the stand-in for an integer that does not fit 64 bits.
const INTEGER: &str = "\u{0}integer";
/// Key of the stand-in for a float that JSON cannot write: NaN and the infinities.
const FLOAT: &str = "\u{0}float";
/// The most digits that Python converts to an integer; it raises on more.
pub(super) const MOST_DIGITS: usize = 4300;

fn stood_in<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.as_object().filter(|map| map.len() == 1)?.get(key)?.as_str()
}

/// Whether the value is the stand-in for a number that JSON cannot represent.
pub(super) fn is_stand_in(value: &Value) -> bool {
    stood_in(value, INTEGER).is_some() || stood_in(value, FLOAT).is_some()
}

/// An integer from its digits, which may have a sign and leading zeros.
pub fn from_digits(digits: &str) -> Value {
    let sign = if digits.starts_with('-') { "-" } else { "" };
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    let digits = digits.strip_prefix('+').unwrap_or(digits).trim_start_matches('0');
    if digits.is_empty() {
        return Value::from(0);
    }
    let whole = format!("{sign}{digits}");
    if let Ok(number) = whole.parse::<i64>() {
        return number.into();
    }
    if let Ok(number) = whole.parse::<u64>() {
        return number.into();
    }
    Value::Object(Map::from_iter([(INTEGER.to_owned(), Value::from(whole))]))
}

/// A float; NaN and infinities become stand-ins.
pub fn from_float(number: f64) -> Value {
    if number.is_finite() {
        return number.into();
    }
    Value::Object(Map::from_iter([(FLOAT.to_owned(), Value::from(repr_float(number)))]))
}

/// A Python `int` as `isinstance` sees it: includes booleans but not floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    /// A boolean, printed `True` or `False`.
    Bool(bool),
    /// Any other integer as a number (clamped to 128 bits) and its digits (without leading zeros).
    Whole(i128, String),
}

impl Int {
    /// Reads an integer or a boolean; `None` for anything else.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Self::Bool(*flag)),
            Value::Number(number) if !number.is_f64() => Some(Self::whole(number.to_string())),
            _ => stood_in(value, INTEGER).map(|digits| Self::whole(digits.to_owned())),
        }
    }

    fn whole(digits: String) -> Self {
        let clamp = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
        Self::Whole(digits.parse().unwrap_or(clamp), digits)
    }

    /// The number, clamped to 128 bits; `True` is 1.
    pub fn value(&self) -> i128 {
        match self {
            Self::Bool(flag) => i128::from(*flag),
            Self::Whole(value, _) => *value,
        }
    }

    /// The number's digits; `True` is `1`.
    pub(super) fn digits(&self) -> Cow<'_, str> {
        match self {
            Self::Bool(flag) => Cow::Borrowed(if *flag { "1" } else { "0" }),
            Self::Whole(_, digits) => Cow::Borrowed(digits),
        }
    }

    /// The number as a JSON value again.
    pub fn json(&self) -> Value {
        match self {
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Whole(_, digits) => from_digits(digits),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(flag) => f.write_str(if *flag { "True" } else { "False" }),
            Self::Whole(_, digits) => f.write_str(digits),
        }
    }
}

/// The value if it is a float, not an integer or a boolean.
pub(super) fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) if number.is_f64() => number.as_f64(),
        _ => float_of_text(stood_in(value, FLOAT)?),
    }
}

/// `float(value)` for numbers, booleans and strings; `None` where Python raises a type or value error.
///
/// # Errors
/// `OverflowError` for an integer too large for a double.
pub fn float(value: &Value) -> Result<Option<f64>, Raised> {
    if let Some(int) = Int::from_value(value) {
        return match int.digits().parse::<f64>() {
            Ok(number) if number.is_infinite() => Err(Raised("OverflowError")),
            parsed => Ok(parsed.ok()),
        };
    }
    Ok(if let Value::String(text) = value { float_of_text(text) } else { as_float(value) })
}

/// A value that Python compares with numbers: a number, or a boolean, which is 0 or 1 there.
pub fn as_number(value: &Value) -> Option<f64> {
    if let Value::Bool(flag) = value { Some(f64::from(u8::from(*flag))) } else { value.as_f64() }
}

/// `float(text)`: accepts surrounding white space, underscores between digits, Unicode digits, `inf` and `nan`.
pub fn float_of_text(text: &str) -> Option<f64> {
    numeral(text)?.parse().ok()
}

/// `int(value)` for numbers, booleans and strings; `None` where Python raises.
pub fn int(value: &Value) -> Option<Int> {
    if let Some(int) = Int::from_value(value) {
        return Some(Int::whole(int.digits().into_owned()));
    }
    if let Some(float) = as_float(value) {
        // The digits of a double without a fraction are exact.
        if !float.is_finite() {
            return None;
        }
        let whole = format!("{:.0}", float.trunc() + 0.0);
        return Some(Int::whole(if whole == "-0" { "0".to_owned() } else { whole }));
    }
    let numeral = numeral(value.as_str()?)?;
    let digits = numeral.strip_prefix(['+', '-']).unwrap_or(&numeral);
    let is_whole =
        !digits.is_empty() && digits.len() <= MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole { Int::from_value(&from_digits(&numeral)) } else { None }
}

/// `int(value)` if it fits in 64 bits.
pub fn small_int(value: &Value) -> Option<i64> {
    i64::try_from(int(value)?.value()).ok()
}

/// `f"{number:,}"`: with thousands separators.
pub fn grouped(number: i128) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `repr` of a float: the shortest digits that round-trip, with an exponent below 1e-4 and from 1e16.
pub fn repr_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = value.abs();
    let scientific = shortest(value);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let sign = if exponent.starts_with('-') { '-' } else { '+' };
        let exponent = exponent.strip_prefix('-').unwrap_or(exponent);
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let fraction = digits.split('.').nth(1).unwrap_or_default();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let decimals = i32::try_from(fraction.len()).unwrap_or(0) - exponent;
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0).max(1))
}

/// The shortest digits that round-trip, in scientific notation. If two are equally near, Rust takes either and Python
/// the even one, which is also what rounding to that many digits gives.
fn shortest(value: f64) -> String {
    let shortest = format!("{value:e}");
    let digits = shortest.find('e').unwrap_or(0);
    let n_digits = shortest.get(..digits).unwrap_or_default().bytes().filter(u8::is_ascii_digit).count();
    let even = format!("{value:.*e}", n_digits.saturating_sub(1));
    if even.parse() == Ok(value) { even } else { shortest }
}
