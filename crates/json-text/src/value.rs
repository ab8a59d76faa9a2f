//! The types a reader can scan values into: raw text, nested objects and lists, all read in the same pass.

use smallvec::SmallVec;

use super::Cursor;

/// A type that a JSON value can be scanned into.
pub trait Value<'t>: Default {
    /// Moves past the value that begins here, whose containers may be nested at most `depth` deep, and stores it in
    /// place: a value may have many fields, and moving it takes longer than scanning it.
    fn scan(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()>;

    /// The value whose raw text is `text`, as found by the parser.
    fn from_written(text: &'t str) -> Self;
}

/// An object with known keys.
pub trait Object<'t>: Default {
    /// Moves past the object that begins here, whose containers may be nested at most `depth` deep, and stores its
    /// fields. `None` if it is not an object, or only the parser can decide.
    fn fill(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()>;
}

impl<'t> Value<'t> for &'t str {
    #[inline]
    fn scan(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        *self = cursor.written(depth)?;
        Some(())
    }

    #[inline]
    fn from_written(text: &'t str) -> Self {
        text
    }
}

/// A value expected to be an object of type `T`.
#[derive(Clone, Copy, Default)]
pub struct Inner<'t, T> {
    /// The raw text.
    pub written: &'t str,
    /// `None` if it is another kind of value, or only the parser can decide.
    pub object: Option<T>,
}

impl<'t, T: Object<'t>> Value<'t> for Inner<'t, T> {
    fn scan(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        let from = cursor.at;
        let object = self.object.insert(T::default());
        if depth.checked_sub(1).and_then(|within| object.fill(cursor, within)).is_none() {
            self.object = None;
            cursor.at = from;
            cursor.pass(depth)?;
        }
        self.written = cursor.text.get(from..cursor.at)?;
        Some(())
    }

    fn from_written(text: &'t str) -> Self {
        Self { written: text, object: None }
    }
}

/// A list with fewer elements than this is stored whatever its size …
const FEW: usize = 1024;
/// … and a longer list is stored while it takes less than this many times its size as text.
const MOST_TIMES: usize = 4;

/// A value expected to be an array of `V`.
#[derive(Clone)]
pub struct List<'t, V> {
    /// The raw text.
    pub written: &'t str,
    /// `None` if it is another kind of value, if it would take too much memory, or if only the parser can decide. Most lists
    /// have one element, which is stored in place.
    pub elements: Option<SmallVec<[V; 1]>>,
}

impl<V> Default for List<'_, V> {
    fn default() -> Self {
        Self { written: "", elements: None }
    }
}

impl<'t, V: Value<'t>> Value<'t> for List<'t, V> {
    fn scan(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Option<()> {
        let from = cursor.at;
        let elements = self.elements.insert(SmallVec::new());
        let whole = depth.checked_sub(1).and_then(|within| {
            cursor.items(*b"[]", |cursor| {
                elements.push(V::default());
                elements.last_mut()?.scan(cursor, within)?;
                // A list of very short elements would take many times its size as text: only its raw text is kept.
                let (kept, written) = (elements.len() * size_of::<V>(), cursor.at - from);
                (elements.len() < FEW || kept / MOST_TIMES < written).then_some(())
            })
        });
        if whole.is_none() {
            self.elements = None;
            cursor.at = from;
            cursor.pass(depth)?;
        }
        self.written = cursor.text.get(from..cursor.at)?;
        Some(())
    }

    fn from_written(text: &'t str) -> Self {
        Self { written: text, elements: None }
    }
}

impl<'t> Cursor<'t> {
    /// Moves past the value that begins here and stores it; `null` is stored as `None`.
    pub fn put<V: Value<'t>>(&mut self, depth: usize, place: &mut Option<V>) -> Option<()> {
        if self.peek() == Some(b'n') {
            *place = None;
            return self.pass(depth);
        }
        place.insert(V::default()).scan(self, depth)
    }
}
