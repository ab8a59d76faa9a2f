//! A column of one type, stored in four bytes per cell while they suffice; a bit says which cells have a value.

use std::fmt;
use std::marker::PhantomData;

use super::marks::{PackedMarks, at, place};
use super::names::Name;
use crate::transcript::{EndCause, Moment, Point};
use crate::verdict::Verdict;

/// A type that a cell can store as a number.
pub(super) trait NumberEncoded: Copy {
    /// Encodes the value as a number: an equal one for values that are written alike (0 and -0 differ).
    fn store(self) -> u64;
    /// Decodes a number that [`NumberEncoded::store`] returned.
    fn load(stored: u64) -> Self;
}

/// A cell: a value, or an optional one.
pub(super) trait Cell: Copy {
    /// The stored number; `None` is an empty cell.
    fn store(self) -> Option<u64>;
    /// Decodes a stored cell.
    fn load(stored: Option<u64>) -> Self;
}

impl<T: NumberEncoded> Cell for T {
    #[inline]
    fn store(self) -> Option<u64> {
        Some(NumberEncoded::store(self))
    }
    #[inline]
    fn load(stored: Option<u64>) -> Self {
        NumberEncoded::load(stored.expect("a column without empty cells has a value in every cell"))
    }
}

impl<T: NumberEncoded> Cell for Option<T> {
    #[inline]
    fn store(self) -> Option<u64> {
        self.map(NumberEncoded::store)
    }
    #[inline]
    fn load(stored: Option<u64>) -> Self {
        stored.map(NumberEncoded::load)
    }
}

/// Cells of one type, in the order they were pushed.
#[derive(Clone)]
pub(super) struct Column<T> {
    /// A number for each cell; any number for an empty one.
    numbers: Numbers,
    /// Which cells have a value. `None` while all have one.
    filled: Option<FilledCells>,
    of: PhantomData<T>,
}

#[derive(Clone)]
enum Numbers {
    /// All of them fit into four bytes.
    Narrow(Vec<u32>),
    /// Some do not.
    Wide(Vec<u64>),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { numbers: Numbers::Narrow(Vec::new()), filled: None, of: PhantomData }
    }
}

impl<T: Cell> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells", self.len())
    }
}

impl<T: Cell> Column<T> {
    /// The cell at `at`, which is below the length.
    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        if let Some(filled) = &self.filled
            && !filled.get(at)
        {
            return T::load(None);
        }
        T::load(Some(match &self.numbers {
            Numbers::Narrow(numbers) => numbers[at].into(),
            Numbers::Wide(numbers) => numbers[at],
        }))
    }

    pub(super) fn len(&self) -> usize {
        match &self.numbers {
            Numbers::Narrow(numbers) => numbers.len(),
            Numbers::Wide(numbers) => numbers.len(),
        }
    }

    /// Adds a cell.
    pub(super) fn push(&mut self, cell: T) {
        let stored = cell.store();
        if let Some(filled) = &mut self.filled {
            filled.push(stored.is_some());
        } else if stored.is_none() {
            let mut filled = FilledCells::all(self.len());
            filled.push(false);
            self.filled = Some(filled);
        }
        match (&mut self.numbers, stored) {
            (Numbers::Narrow(numbers), None) => numbers.push(0),
            (Numbers::Narrow(_), Some(number)) => self.push_narrow(number),
            (Numbers::Wide(numbers), stored) => numbers.push(stored.unwrap_or_default()),
        }
    }

    /// Adds a number to a narrow column, which becomes wide if it does not fit.
    fn push_narrow(&mut self, number: u64) {
        let Numbers::Narrow(numbers) = &mut self.numbers else { return };
        if let Ok(narrow) = u32::try_from(number) {
            return numbers.push(narrow);
        }
        let mut wide: Vec<u64> = numbers.iter().copied().map(u64::from).collect();
        wide.push(number);
        self.numbers = Numbers::Wide(wide);
    }
}

/// Which cells have a value: a bit for each, 64 to a word.
#[derive(Clone, Default)]
struct FilledCells {
    words: Vec<u64>,
    len: usize,
}

impl FilledCells {
    fn all(len: usize) -> Self {
        let mut all = Self::default();
        for _ in 0..len {
            all.push(true);
        }
        all
    }

    fn push(&mut self, is_filled: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(is_filled) << (self.len % 64);
        self.len += 1;
    }

    #[inline]
    fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }
}

/// Defines a frame of columns, and its row type.
macro_rules! frame {
    ($(#[$doc:meta])* $line:ident, $frame:ident { $($field:ident: $cell:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        struct $line {
            $($field: $cell,)*
        }

        #[derive(Clone, Debug, Default)]
        struct $frame {
            $($field: Column<$cell>,)*
        }

        impl $frame {
            fn push(&mut self, line: $line) {
                $(self.$field.push(line.$field);)*
            }
        }

        impl $line {
            /// True if every cell is written alike.
            #[allow(clippy::allow_attributes, dead_code, reason = "lines of some frames are never compared")]
            fn is_same(&self, other: &Self) -> bool {
                $(Cell::store(self.$field) == Cell::store(other.$field))&&*
            }
        }
    };
}
pub(super) use frame;

/// Implements [`NumberEncoded`] for a type by two functions.
macro_rules! numbered {
    ($($value:ty: $store:expr, $load:expr;)*) => {$(
        impl NumberEncoded for $value {
            #[inline]
            fn store(self) -> u64 {
                let store: fn(Self) -> u64 = $store;
                store(self)
            }
            #[inline]
            fn load(stored: u64) -> Self {
                let load: fn(u64) -> Self = $load;
                load(stored)
            }
        }
    )*};
}

numbered! {
    u64: |value| value, |stored| stored;
    i64: i64::cast_unsigned, u64::cast_signed;
    f64: f64::to_bits, f64::from_bits;
    u32: u64::from, narrow;
    u8: u64::from, |stored| u8::try_from(stored).expect("it was stored from one byte");
    bool: u64::from, |stored| stored == 1;
    Name: |name| name.0.into(), |stored| Name(narrow(stored));
    PackedMarks: |marks| marks.0.into(), |stored| PackedMarks(narrow(stored));
    Verdict: |value| place(&Verdict::ALL, value).into(), |stored| at(&Verdict::ALL, narrow(stored));
    EndCause: |value| place(&EndCause::ALL, value).into(), |stored| at(&EndCause::ALL, narrow(stored));
    Point: store_point, load_point;
}

#[inline]
fn narrow(stored: u64) -> u32 {
    u32::try_from(stored).expect("it was stored from four bytes")
}

const MOMENTS: [Moment; 4] = [Moment::BeforeRequest, Moment::AfterResponse, Moment::AfterTools, Moment::EndOfRound];

#[inline]
fn store_point(point: Point) -> u64 {
    u64::from(point.step) << 2 | u64::from(place(&MOMENTS, point.moment))
}

#[inline]
fn load_point(stored: u64) -> Point {
    Point { step: narrow(stored >> 2), moment: MOMENTS[usize::try_from(stored & 3).expect("two bits fit")] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_narrow<T: Cell>(cells: &[T]) -> bool {
        matches!(column(cells).numbers, Numbers::Narrow(_))
    }

    fn column<T: Cell>(cells: &[T]) -> Column<T> {
        let mut column = Column::default();
        for cell in cells {
            column.push(*cell);
        }
        column
    }

    #[test]
    fn a_column_is_narrow_until_a_number_needs_more() {
        assert!(is_narrow(&[Some(0_u64), None, Some(u64::from(u32::MAX))]));
        assert!(!is_narrow(&[Some(0_u64), None, Some(1 << 32)]));
        assert!(!is_narrow(&[1_i64, -1]));
        assert!(is_narrow::<Option<f64>>(&[None, None]));
        assert!(!is_narrow(&[Some(1.0)]));
    }

    proptest! {
        #[test]
        fn cells_are_what_was_pushed(
            whole in prop::collection::vec(prop::option::of(prop_oneof![0_u64..9, any::<u64>()]), 0..200),
            signed in prop::collection::vec(prop::option::of(-9_i64..9), 0..200),
        ) {
            let (kept, kept_signed) = (column(&whole), column(&signed));
            prop_assert_eq!((0..kept.len()).map(|at| kept.get(at)).collect::<Vec<_>>(), whole);
            prop_assert_eq!((0..kept_signed.len()).map(|at| kept_signed.get(at)).collect::<Vec<_>>(), signed);
        }
    }
}
