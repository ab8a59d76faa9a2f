//! The members of a dict, by their type.

use serde_json::{Map, Value};

use super::value::{dict, is_true};

/// A dict whose members are read by their type; a member of another type counts as absent.
pub trait Dict {
    /// A member that is a string.
    fn text(&self, key: &str) -> Option<&str>;

    /// Whether a member is there and `bool(member)` is true.
    fn is_true(&self, key: &str) -> bool;

    /// A member that is true or false.
    fn flag(&self, key: &str) -> Option<bool>;

    /// A member that is an integer of 64 bits.
    fn whole(&self, key: &str) -> Option<i64>;

    /// A member that is a dict.
    fn dict(&self, key: &str) -> Option<&Map<String, Value>>;

    /// The items of a member that is a list; none if it is absent.
    fn items(&self, key: &str) -> &[Value];
}

impl Dict for Map<String, Value> {
    fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(is_true)
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    fn whole(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    fn dict(&self, key: &str) -> Option<&Map<String, Value>> {
        dict(self.get(key)?)
    }

    fn items(&self, key: &str) -> &[Value] {
        match self.get(key) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }
}
