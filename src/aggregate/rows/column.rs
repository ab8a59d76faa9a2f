//! A column of one Rust type, kept by polars: eight bytes or four a cell, and a bit where a cell may be empty.

use std::fmt;

use polars::prelude::{
    ChunkedArray, ChunkedBuilder, Float64Type, Int64Type, PolarsNumericType, PrimitiveChunkedBuilder, UInt32Type,
    UInt64Type,
};

use super::marks::{Marks, at, place};
use super::names::Name;
use crate::transcript::{EndCause, Moment, Point};
use crate::verdict::Verdict;

type Native<T> = <T as PolarsNumericType>::Native;

/// What a cell may hold: a number, or a value that has one.
pub(super) trait Value: Copy {
    /// How polars keeps it.
    type Stored: PolarsNumericType;
    /// Its number.
    fn store(self) -> Native<Self::Stored>;
    /// The value of a number that [`Value::store`] gave.
    fn load(stored: Native<Self::Stored>) -> Self;
    /// Equal for values that are written alike: 0 and -0 are not.
    fn bits(self) -> u64;
}

/// A cell: a value, or an optional one.
pub(super) trait Cell: Copy {
    /// How polars keeps it.
    type Stored: PolarsNumericType;
    /// What is kept; `None` is an empty cell.
    fn store(self) -> Option<Native<Self::Stored>>;
    /// The cell that was stored.
    fn load(stored: Option<Native<Self::Stored>>) -> Self;
    /// Equal for cells that are written alike.
    fn bits(self) -> Option<u64>;
}

impl<T: Value> Cell for T {
    type Stored = T::Stored;
    #[inline]
    fn store(self) -> Option<Native<T::Stored>> {
        Some(Value::store(self))
    }
    #[inline]
    fn load(stored: Option<Native<T::Stored>>) -> Self {
        Value::load(stored.unwrap_or_default())
    }
    fn bits(self) -> Option<u64> {
        Some(Value::bits(self))
    }
}

impl<T: Value> Cell for Option<T> {
    type Stored = T::Stored;
    #[inline]
    fn store(self) -> Option<Native<T::Stored>> {
        self.map(Value::store)
    }
    #[inline]
    fn load(stored: Option<Native<T::Stored>>) -> Self {
        stored.map(Value::load)
    }
    fn bits(self) -> Option<u64> {
        self.map(Value::bits)
    }
}

/// Cells of one type.
#[derive(Clone)]
pub(super) struct Column<T: Cell>(ChunkedArray<T::Stored>);

impl<T: Cell> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells", self.len())
    }
}

impl<T: Cell> Column<T> {
    /// The cell at `at`, which is below the length.
    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        let cells = self.0.downcast_as_array();
        let is_there = cells.validity().is_none_or(|there| there.get_bit(at));
        T::load(is_there.then(|| cells.values()[at]))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A column in the making.
pub(super) struct ColumnBuilder<T: Cell>(PrimitiveChunkedBuilder<T::Stored>);

impl<T: Cell> Default for ColumnBuilder<T> {
    fn default() -> Self {
        Self(PrimitiveChunkedBuilder::new("".into(), 0))
    }
}

impl<T: Cell> ColumnBuilder<T> {
    pub(super) fn push(&mut self, cell: T) {
        match cell.store() {
            Some(value) => self.0.append_value(value),
            None => self.0.append_null(),
        }
    }

    /// The column: one piece, which [`Column::get`] counts on.
    pub(super) fn finish(self) -> Column<T> {
        Column(self.0.finish())
    }
}

/// Columns side by side: a line of them, the frame, and the frame in the making.
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
            /// True where every cell is written alike.
            #[allow(clippy::allow_attributes, dead_code, reason = "lines of some frames are never compared")]
            fn is_same(&self, other: &Self) -> bool {
                $(Cell::bits(self.$field) == Cell::bits(other.$field))&&*
            }
        }
    };
}
pub(super) use frame;

/// A type whose values are numbered.
macro_rules! numbered {
    ($($value:ty as $stored:ty: $store:expr, $load:expr;)*) => {$(
        impl Value for $value {
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
                u64::from(Value::store(self))
            }
        }
    )*};
}

numbered! {
    u32 as UInt32Type: |value| value, |stored| stored;
    u64 as UInt64Type: |value| value, |stored| stored;
    u8 as UInt32Type: u32::from, |stored| u8::try_from(stored).unwrap_or(u8::MAX);
    bool as UInt32Type: u32::from, |stored| stored == 1;
    Name as UInt32Type: |name| name.0, Name;
    Marks as UInt32Type: |marks| marks.0, Marks;
    Verdict as UInt32Type: |value| place(&Verdict::ALL, value), |stored| at(&Verdict::ALL, stored);
    EndCause as UInt32Type: |value| place(&EndCause::ALL, value), |stored| at(&EndCause::ALL, stored);
    Point as UInt64Type: store_point, load_point;
}

impl Value for f64 {
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

impl Value for i64 {
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
    let step = u32::try_from(stored >> 2).unwrap_or(u32::MAX);
    Point { step, moment: MOMENTS[usize::try_from(stored & 3).unwrap_or_default()] }
}
