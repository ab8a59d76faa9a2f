//! A polars column of one Rust type, stored in four bytes per cell while they suffice; a validity bit marks empty
//! cells.

use std::fmt;

use polars::prelude::{
    ChunkedBuilder, Float64Type, Int64Type, PolarsDataType, PolarsNumericType, PrimitiveChunkedBuilder, UInt32Type,
    UInt64Type,
};

use super::marks::{PackedMarks, at, place};
use super::names::Name;
use crate::transcript::{EndCause, Moment, Point};
use crate::verdict::Verdict;

type Native<T> = <T as PolarsNumericType>::Native;
/// The numbers of a polars type with their validity bits, in one piece.
type ArrayOf<T> = <T as PolarsDataType>::Array;

/// A type that a cell can store as a number.
pub(super) trait NumberEncoded: Copy {
    /// The polars type it is stored as.
    type Stored: Narrowable;
    /// Encodes the value as a number.
    fn store(self) -> Native<Self::Stored>;
    /// Decodes a number that [`NumberEncoded::store`] returned.
    fn load(stored: Native<Self::Stored>) -> Self;
    /// Equal bits for values that are written alike: 0 and -0 differ.
    fn bits(self) -> u64;
}

/// A cell: a value, or an optional one.
pub(super) trait Cell: Copy {
    /// The polars type it is stored as.
    type Stored: Narrowable;
    /// The stored number; `None` is an empty cell.
    fn store(self) -> Option<Native<Self::Stored>>;
    /// Decodes a stored cell.
    fn load(stored: Option<Native<Self::Stored>>) -> Self;
    /// Equal bits for cells that are written alike.
    fn bits(self) -> Option<u64>;
}

impl<T: NumberEncoded> Cell for T {
    type Stored = T::Stored;
    #[inline]
    fn store(self) -> Option<Native<T::Stored>> {
        Some(NumberEncoded::store(self))
    }
    #[inline]
    fn load(stored: Option<Native<T::Stored>>) -> Self {
        NumberEncoded::load(stored.expect("a column without empty cells has a value in every cell"))
    }
    fn bits(self) -> Option<u64> {
        Some(NumberEncoded::bits(self))
    }
}

impl<T: NumberEncoded> Cell for Option<T> {
    type Stored = T::Stored;
    #[inline]
    fn store(self) -> Option<Native<T::Stored>> {
        self.map(NumberEncoded::store)
    }
    #[inline]
    fn load(stored: Option<Native<T::Stored>>) -> Self {
        stored.map(NumberEncoded::load)
    }
    fn bits(self) -> Option<u64> {
        self.map(NumberEncoded::bits)
    }
}

/// A polars number type that can be narrowed to four bytes.
pub(super) trait Narrowable: PolarsNumericType {
    /// The number in four bytes, or `None` if it does not fit.
    fn narrow(number: Native<Self>) -> Option<u32>;
    /// Reverses [`Narrowable::narrow`].
    fn widen(narrow: u32) -> Native<Self>;
}

impl Narrowable for UInt32Type {
    #[inline]
    fn narrow(number: u32) -> Option<u32> {
        Some(number)
    }
    #[inline]
    fn widen(narrow: u32) -> u32 {
        narrow
    }
}

impl Narrowable for UInt64Type {
    #[inline]
    fn narrow(number: u64) -> Option<u32> {
        number.try_into().ok()
    }
    #[inline]
    fn widen(narrow: u32) -> u64 {
        narrow.into()
    }
}

impl Narrowable for Int64Type {
    #[inline]
    fn narrow(number: i64) -> Option<u32> {
        number.try_into().ok()
    }
    #[inline]
    fn widen(narrow: u32) -> i64 {
        narrow.into()
    }
}

impl Narrowable for Float64Type {
    #[inline]
    fn narrow(_: f64) -> Option<u32> {
        None
    }
    #[inline]
    fn widen(narrow: u32) -> f64 {
        narrow.into()
    }
}

/// Cells of one type.
#[derive(Clone)]
pub(super) enum Column<T: Cell> {
    /// All cells fit into four bytes or are empty.
    Narrow(ArrayOf<UInt32Type>),
    /// Some cells do not fit.
    Wide(ArrayOf<T::Stored>),
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
        T::load(match self {
            Self::Narrow(cells) => cell_of::<UInt32Type>(cells, at).map(T::Stored::widen),
            Self::Wide(cells) => cell_of::<T::Stored>(cells, at),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(cells) => cells.len(),
            Self::Wide(cells) => cells.len(),
        }
    }
}

#[inline]
fn cell_of<S: PolarsNumericType>(cells: &ArrayOf<S>, at: usize) -> Option<Native<S>> {
    let is_there = cells.validity().is_none_or(|there| there.get_bit(at));
    is_there.then(|| cells.values()[at])
}

/// Builds a [`Column`].
pub(super) enum ColumnBuilder<T: Cell> {
    Narrow(PrimitiveChunkedBuilder<UInt32Type>),
    Wide(PrimitiveChunkedBuilder<T::Stored>),
}

impl<T: Cell> Default for ColumnBuilder<T> {
    fn default() -> Self {
        Self::Narrow(builder(0))
    }
}

fn builder<S: PolarsNumericType>(capacity: usize) -> PrimitiveChunkedBuilder<S> {
    PrimitiveChunkedBuilder::new("".into(), capacity)
}

impl<T: Cell> ColumnBuilder<T> {
    pub(super) fn push(&mut self, cell: T) {
        match (self, cell.store()) {
            (Self::Narrow(cells), None) => cells.append_null(),
            (Self::Wide(cells), None) => cells.append_null(),
            (Self::Wide(cells), Some(value)) => cells.append_value(value),
            (this @ Self::Narrow(_), Some(value)) => this.push_narrow(value),
        }
    }

    /// Adds a value to a narrow column, converting it to wide if needed.
    fn push_narrow(&mut self, value: Native<T::Stored>) {
        let Self::Narrow(cells) = self else { return };
        if let Some(narrow) = T::Stored::narrow(value) {
            return cells.append_value(narrow);
        }
        let narrow = std::mem::replace(cells, builder(0)).finish();
        let mut wide: PrimitiveChunkedBuilder<T::Stored> = builder(narrow.len() + 1);
        narrow.iter().for_each(|cell| wide.append_option(cell.map(T::Stored::widen)));
        wide.append_value(value);
        *self = Self::Wide(wide);
    }

    /// The finished column; a builder makes a single chunk.
    pub(super) fn finish(self) -> Column<T> {
        match self {
            Self::Narrow(cells) => Column::Narrow(cells.finish().downcast_as_array().clone()),
            Self::Wide(cells) => Column::Wide(cells.finish().downcast_as_array().clone()),
        }
    }
}

/// Defines a frame of columns: its row type, the frame, and its builder.
macro_rules! frame {
    ($(#[$doc:meta])* $line:ident, $frame:ident, $builder:ident { $($field:ident: $cell:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        struct $line {
            $($field: $cell,)*
        }

        #[derive(Clone, Debug)]
        struct $frame {
            $($field: Column<$cell>,)*
        }

        #[derive(Default)]
        struct $builder {
            $($field: ColumnBuilder<$cell>,)*
        }

        impl $builder {
            fn push(&mut self, line: $line) {
                $(self.$field.push(line.$field);)*
            }

            fn finish(self) -> $frame {
                $frame { $($field: self.$field.finish(),)* }
            }
        }

        impl $line {
            /// True if every cell is written alike.
            #[allow(clippy::allow_attributes, dead_code, reason = "lines of some frames are never compared")]
            fn is_same(&self, other: &Self) -> bool {
                $(Cell::bits(self.$field) == Cell::bits(other.$field))&&*
            }
        }
    };
}
pub(super) use frame;

/// Implements [`NumberEncoded`] for a type whose values are numbered.
macro_rules! numbered {
    ($($value:ty as $stored:ty: $store:expr, $load:expr;)*) => {$(
        impl NumberEncoded for $value {
            type Stored = $stored;
            #[inline]
            fn store(self) -> Native<$stored> {
                let store: fn(Self) -> Native<$stored> = $store;
                store(self)
            }
            #[inline]
            fn load(stored: Native<$stored>) -> Self {
                let load: fn(Native<$stored>) -> Self = $load;
                load(stored)
            }
            #[inline]
            fn bits(self) -> u64 {
                u64::from(NumberEncoded::store(self))
            }
        }
    )*};
}

numbered! {
    u32 as UInt32Type: |value| value, |stored| stored;
    u64 as UInt64Type: |value| value, |stored| stored;
    u8 as UInt32Type: u32::from, |stored| u8::try_from(stored).expect("it was stored from one byte");
    bool as UInt32Type: u32::from, |stored| stored == 1;
    Name as UInt32Type: |name| name.0, Name;
    PackedMarks as UInt32Type: |marks| marks.0, PackedMarks;
    Verdict as UInt32Type: |value| place(&Verdict::ALL, value), |stored| at(&Verdict::ALL, stored);
    EndCause as UInt32Type: |value| place(&EndCause::ALL, value), |stored| at(&EndCause::ALL, stored);
    Point as UInt64Type: store_point, load_point;
}

impl NumberEncoded for f64 {
    type Stored = Float64Type;
    #[inline]
    fn store(self) -> f64 {
        self
    }
    #[inline]
    fn load(stored: f64) -> Self {
        stored
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl NumberEncoded for i64 {
    type Stored = Int64Type;
    #[inline]
    fn store(self) -> i64 {
        self
    }
    #[inline]
    fn load(stored: i64) -> Self {
        stored
    }
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

const MOMENTS: [Moment; 4] = [Moment::BeforeRequest, Moment::AfterResponse, Moment::AfterTools, Moment::EndOfRound];

#[inline]
fn store_point(point: Point) -> u64 {
    u64::from(point.step) << 2 | u64::from(place(&MOMENTS, point.moment))
}

#[inline]
fn load_point(stored: u64) -> Point {
    let step = u32::try_from(stored >> 2).expect("it was stored from a step");
    Point { step, moment: MOMENTS[usize::try_from(stored & 3).expect("two bits fit")] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_narrow<T: Cell>(cells: &[T]) -> bool {
        matches!(column(cells), Column::Narrow(_))
    }

    fn column<T: Cell>(cells: &[T]) -> Column<T> {
        let mut builder = ColumnBuilder::default();
        for cell in cells {
            builder.push(*cell);
        }
        builder.finish()
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
            whole in prop::collection::vec(prop::option::of(prop_oneof![0_u64..9, any::<u64>()]), 0..20),
            signed in prop::collection::vec(prop::option::of(-9_i64..9), 0..20),
        ) {
            let (kept, kept_signed) = (column(&whole), column(&signed));
            prop_assert_eq!((0..kept.len()).map(|at| kept.get(at)).collect::<Vec<_>>(), whole);
            prop_assert_eq!((0..kept_signed.len()).map(|at| kept_signed.get(at)).collect::<Vec<_>>(), signed);
        }
    }
}
