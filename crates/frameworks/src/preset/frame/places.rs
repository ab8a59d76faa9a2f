//! Finds the call of a reply that a result answers.

use crate::transcript::{Message, Name};

/// A reply's call ids with their indices, sorted by id for fast lookup: a reply may have thousands of calls, each with
/// a result.
#[derive(Clone, Debug, Default)]
pub struct CallIdIndex(Vec<(Name, usize)>);

impl CallIdIndex {
    /// Built from the ids of a reply's calls in order; some calls have none.
    pub fn from_ids<'i>(ids: impl Iterator<Item = Option<&'i str>>) -> Self {
        let mut places: Vec<(Name, usize)> =
            ids.enumerate().filter_map(|(place, id)| Some((Name::from(id?), place))).collect();
        places.sort_unstable();
        Self(places)
    }

    /// The index of the call that a result answers by its id.
    pub fn answered_call(&self, result: &Message) -> Option<usize> {
        self.find(result.tool_call_id.as_deref()?)
    }

    /// The index of the first call with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let at = self.0.partition_point(|(known, _)| known.as_str() < id);
        self.0.get(at).filter(|(known, _)| known == id).map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_with_an_id_is_found() {
        let places = CallIdIndex::from_ids([Some("b"), None, Some("a"), Some("b")].into_iter());
        assert_eq!(["a", "b", "c", ""].map(|id| places.find(id)), [Some(2), Some(0), None, None]);
    }
}
