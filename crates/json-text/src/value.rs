//! Values as a reader wants them: as they are written, or taken apart in one go with what is around them.

use super::Cursor;

/// A value of some kind.
pub trait Value<'t>: Sized {
    /// Passes over the value that begins here, in which containers may stand `depth` deep.
    fn pass(cursor: &mut Cursor<'t>, depth: usize) -> Option<Self>;

    /// The value that the parser found to be written so.
    fn of_written(text: &'t str) -> Self;
}

/// An object with known fields.
pub trait Object<'t>: Default {
    /// Passes over the object that begins here, in which containers may stand `depth` deep, and puts its fields in their
    /// places. `None` when it is none, or one that only the parser can tell.
    fn fill(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()>;
}

impl<'t> Value<'t> for &'t str {
    #[inline]
    fn pass(cursor: &mut Cursor<'t>, depth: usize) -> Option<Self> {
        let from = cursor.at;
        // The most frequent of all, without a look at what else it might be.
        if cursor.peek() == Some(b'"') {
            cursor.string()?;
        } else {
            cursor.pass(depth)?;
        }
        cursor.text.get(from..cursor.at)
    }

    #[inline]
    fn of_written(text: &'t str) -> Self {
        text
    }
}

/// A value that should be an object of a kind.
#[derive(Clone, Copy)]
pub struct Inner<'t, T> {
    /// As it is written.
    pub written: &'t str,
    /// `None` when it is another value, or when only the parser can tell.
    pub object: Option<T>,
}

impl<'t, T: Object<'t>> Value<'t> for Inner<'t, T> {
    fn pass(cursor: &mut Cursor<'t>, depth: usize) -> Option<Self> {
        let from = cursor.at;
        let mut object = T::default();
        let filled = depth.checked_sub(1).and_then(|within| object.fill(cursor, within));
        if filled.is_none() {
            cursor.at = from;
            cursor.pass(depth)?;
        }
        Some(Self { written: cursor.text.get(from..cursor.at)?, object: filled.map(|()| object) })
    }

    fn of_written(text: &'t str) -> Self {
        Self { written: text, object: None }
    }
}

/// Elements of a list for which room is made without a look at their length …
const FEW: usize = 1024;
/// … and how many times as long as in the text a longer list may be in memory.
const MOST_TIMES: usize = 4;

/// A value that should be an array of such values.
#[derive(Clone)]
pub struct List<'t, V> {
    /// As it is written.
    pub written: &'t str,
    /// `None` when it is another value, or when only the parser can tell.
    pub elements: Option<Vec<V>>,
}

impl<'t, V: Value<'t>> Value<'t> for List<'t, V> {
    fn pass(cursor: &mut Cursor<'t>, depth: usize) -> Option<Self> {
        let from = cursor.at;
        let mut elements = Vec::new();
        let whole = depth.checked_sub(1).and_then(|within| {
            cursor.items(*b"[]", |cursor| {
                // Most lists have one element.
                elements.reserve_exact(usize::from(elements.is_empty()));
                elements.push(V::pass(cursor, within)?);
                // A list of next to nothing would need many times its own length: it is taken as it is written.
                let (kept, written) = (elements.len() * size_of::<V>(), cursor.at - from);
                (elements.len() < FEW || kept / MOST_TIMES < written).then_some(())
            })
        });
        if whole.is_none() {
            cursor.at = from;
            cursor.pass(depth)?;
        }
        Some(Self { written: cursor.text.get(from..cursor.at)?, elements: whole.map(|()| elements) })
    }

    fn of_written(text: &'t str) -> Self {
        Self { written: text, elements: None }
    }
}

impl<'t> Cursor<'t> {
    /// Passes over the value that begins here and puts it where it belongs; `null` is no value.
    pub fn put<V: Value<'t>>(&mut self, depth: usize, place: &mut Option<V>) -> Option<()> {
        if self.peek() == Some(b'n') {
            *place = None;
            return self.pass(depth);
        }
        *place = Some(V::pass(self, depth)?);
        Some(())
    }
}
