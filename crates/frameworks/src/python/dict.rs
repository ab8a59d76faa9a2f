//! The members of a dict, by their type.

use serde_json::{Map, Value};

use super::value::{dict, is_true};

/// A dict whose members are read by their type; a member of another type counts as absent.
pub trait Dict {
    /// A member of any type.
    fn member(&self, key: &str) -> Option<&Value>;

    /// A member that is a string.
    fn text(&self, key: &str) -> Option<&str> {
        self.member(key)?.as_str()
    }

    /// Whether a member is there and `bool(member)` is true.
    fn is_true(&self, key: &str) -> bool {
        self.member(key).is_some_and(is_true)
    }

    /// A member that is true or false.
    fn flag(&self, key: &str) -> Option<bool> {
        self.member(key)?.as_bool()
    }

    /// A member that is an integer of 64 bits.
    fn whole(&self, key: &str) -> Option<i64> {
        self.member(key)?.as_i64()
    }

    /// A member that is a dict.
    fn dict(&self, key: &str) -> Option<&Map<String, Value>> {
        dict(self.member(key)?)
    }

    /// The items of a member that is a list; none if it is absent.
    fn items(&self, key: &str) -> &[Value] {
        self.member(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Dict for Map<String, Value> {
    fn member(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}
