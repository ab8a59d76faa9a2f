//! A limit that is a Python number: printed, compared and grouped as Python does.

use serde_json::Value;

use crate::python;

/// A limit on turns or tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// An integer.
    Whole(i128),
    /// A float.
    Real(f64),
}

impl Limit {
    /// Reads a JSON number; `None` for anything else.
    pub fn from_value(value: &Value) -> Option<Self> {
        match python::Int::from_value(value) {
            Some(python::Int::Bool(_)) => None,
            Some(whole) => Some(Self::Whole(whole.value())),
            None => value.as_f64().map(Self::Real),
        }
    }

    /// Whether `used` has reached it.
    pub fn is_reached_by(self, used: i128) -> bool {
        match self {
            Self::Whole(limit) => used >= limit,
            Self::Real(limit) => used as f64 >= limit,
        }
    }

    /// As a float.
    pub fn value(self) -> f64 {
        match self {
            Self::Whole(limit) => limit as f64,
            Self::Real(limit) => limit,
        }
    }

    /// As JSON.
    pub fn json(self) -> Value {
        match self {
            Self::Whole(limit) => python::from_digits(&limit.to_string()),
            Self::Real(limit) => python::from_float(limit),
        }
    }

    /// `f"{limit:,}"`.
    pub fn grouped(self) -> String {
        let text = self.to_string();
        let whole = text.find(['.', 'e']).unwrap_or(text.len());
        let (whole, rest) = text.split_at(whole);
        match whole.parse::<i128>() {
            Ok(number) if !whole.starts_with("-0") => format!("{}{rest}", python::grouped(number)),
            _ => text,
        }
    }
}

/// `f"{limit}"`.
impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(limit) => limit.fmt(f),
            Self::Real(limit) => f.write_str(&python::repr_float(*limit)),
        }
    }
}
