//! Python's values and texts, for frameworks written in Python whose decisions hang on what its
//! `json`, numbers, comparisons and `str` do.
//!
//! Values are [`serde_json::Value`]s. What JSON cannot hold and Python lets in (integers of any size, NaN,
//! the infinities) stands in them as an object with one key that begins with a NUL; the functions of
//! this module know the stand-ins, and nothing else needs to. Characters are CPython 3.11's (Unicode 14).
//! `fixtures/python/` holds CPython's own answers, against which all of it is held.

mod json;
mod literal;
mod number;
mod repr;
mod text;
mod unicode;
mod value;

pub use json::{Ascii, Strictness, dumps, loads};
pub use literal::literal;
pub use number::{Int, float, float_of_text, int, of_digits, of_float, repr_float, small_int};
pub use repr::{repr, repr_text, text};
pub use text::{ascii_digit, is_printable, is_space, is_word, lower, strip, upper};
pub use value::{dict, equal, equality_key, is_true, type_name, value_key};

/// An exception the original lets through, by its Python name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the original raises {0}")]
pub struct Raised(pub &'static str);
