//! Python's values and strings, for frameworks written in Python whose decisions depend on the behaviour of `json`,
//! numbers, comparisons and `str`.
//!
//! Values are [`serde_json::Value`]s. What Python accepts but JSON cannot represent (integers of any size, NaN,
//! infinities) is stored as a stand-in: an object with one key that begins with a NUL. Only this module knows about
//! stand-ins. Character classes are those of CPython 3.11 (Unicode 14). All of it is tested against CPython's own
//! answers in `fixtures/python/`.

mod dict;
mod json;
mod literal;
mod number;
mod repr;
mod text;
mod value;

pub use dict::Dict;
pub use json::{Ascii, Strictness, dumps, loads};
pub use literal::literal;
pub use number::{Int, as_number, float, float_of_text, from_digits, from_float, grouped, int, repr_float, small_int};
pub use repr::{repr, repr_text, text};
pub use text::{ascii_digit, is_printable, is_space, is_word, lower, strip, upper};
pub use value::{dict, equal, equality_key, is_true, type_name, value_key};

/// An exception that the original code does not catch, by its Python name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the original raises {0}")]
pub struct Raised(pub &'static str);
