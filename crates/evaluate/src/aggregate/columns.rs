//! What a column of a file is: its name, the type of its cells, its unit and its meaning. [`record!`] declares the
//! columns of a record once, as the fields of a struct; [`row_columns!`] does so for [`Row`](super::Row), whose columns
//! are also stored and read one by one.

use std::borrow::Cow;
use std::io;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{ExactnessName, Label};
use crate::transcript::{EndCause, Outcome, Point, named};
use crate::verdict::{Doubts, Verdict};

named! {
    /// What the cells of a column hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CellKind {
        /// Text.
        Text = "text",
        /// A whole number.
        Whole = "whole number",
        /// A number.
        Real = "number",
        /// `true` or `false`.
        Truth = "true or false",
    }
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name, in the first line of the file.
    pub name: String,
    /// What its cells hold.
    pub kind: CellKind,
    /// The unit of its numbers; empty if they have none.
    pub unit: String,
    /// Whether a cell may be empty: unknown, or nothing to say.
    pub may_be_empty: bool,
    /// What it means.
    pub meaning: String,
}

/// One cell of a record, in the kind of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordCell<'c> {
    /// Text, as in CSV.
    Text(Cow<'c, str>),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// `true` or `false`.
    Truth(bool),
    /// Nothing.
    Empty,
}

/// A line of a file, with a fixed list of columns.
pub trait FileLine {
    /// The columns of the file, in order.
    fn columns() -> Vec<ColumnSpec>;
    /// The cells of this line, in the order of the columns; an error for a whole number of 2^63 or more. They stand on
    /// the stack: large results have many lines.
    fn cells(&self) -> io::Result<impl AsRef<[RecordCell<'_>]>>;
}

/// The type of a cell.
pub(super) trait CellType {
    /// What it holds.
    const KIND: CellKind;
    /// Whether it may be empty.
    const MAY_BE_EMPTY: bool = false;
    /// A value as a cell; a whole number that is too large for one is given back.
    fn cell(&self) -> Result<RecordCell<'_>, u64>;
}

impl<T: CellType> CellType for Option<T> {
    const KIND: CellKind = T::KIND;
    const MAY_BE_EMPTY: bool = true;

    fn cell(&self) -> Result<RecordCell<'_>, u64> {
        self.as_ref().map_or(Ok(RecordCell::Empty), T::cell)
    }
}

macro_rules! cell_types {
    ($($kind:ident: $($cell:ty),* => $make:expr;)*) => {
        $($(impl CellType for $cell {
            const KIND: CellKind = CellKind::$kind;

            fn cell(&self) -> Result<RecordCell<'_>, u64> {
                let make: fn(&Self) -> Result<_, u64> = $make;
                make(self).map(RecordCell::$kind)
            }
        })*)*
    };
}

cell_types! {
    Text: Verdict, ExactnessName, Outcome, EndCause => |value| Ok(Cow::Borrowed(value.name()));
    Text: Point => |point| Ok(Cow::Owned(point.to_string()));
    Whole: u8, u32 => |number| Ok((*number).into());
    Whole: i64 => |number| Ok(*number);
    Whole: u64 => |number| i64::try_from(*number).map_err(|_| *number);
    Real: f64 => |number| Ok(*number);
    Truth: bool => |truth| Ok(*truth);
}

// A name or a list may be the empty text.
impl CellType for Label {
    const KIND: CellKind = CellKind::Text;
    const MAY_BE_EMPTY: bool = true;

    fn cell(&self) -> Result<RecordCell<'_>, u64> {
        Ok(RecordCell::Text(Cow::Borrowed(self)))
    }
}

impl CellType for Doubts {
    const KIND: CellKind = CellKind::Text;
    const MAY_BE_EMPTY: bool = true;

    fn cell(&self) -> Result<RecordCell<'_>, u64> {
        Ok(RecordCell::Text(Cow::Borrowed(self.names())))
    }
}

/// The cell of a value in the column of this name.
pub(super) fn cell<'c>(name: &str, value: &'c impl CellType) -> io::Result<RecordCell<'c>> {
    value.cell().map_err(|number| io::Error::other(format!("`{name}`: {number} does not fit into 63 bits")))
}

/// The column of a field: its documentation is its meaning.
pub(super) fn column<T: CellType>(name: &str, unit: &str, meaning: &[&str]) -> ColumnSpec {
    let meaning: Vec<&str> = meaning.iter().map(|line| line.trim()).collect();
    let meaning = meaning.join(" ").replace("[`", "`").replace("`]", "`");
    ColumnSpec { name: name.to_owned(), kind: T::KIND, unit: unit.to_owned(), may_be_empty: T::MAY_BE_EMPTY, meaning }
}

/// Reads 0 or 1; anything else is an error.
pub(super) fn zero_or_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let bit = u8::deserialize(deserializer)?;
    if bit <= 1 { Ok(bit) } else { Err(D::Error::custom(format!("`{bit}` is neither 0 nor 1"))) }
}

/// Declares a record that is a line of a file: the names of its fields are the columns, in order; the documentation of
/// a field is the meaning of its column, and a text behind its type the unit.
macro_rules! record {
    ($(#[doc = $about:literal])* pub struct $Record:ident {
        $($(#[doc = $meaning:literal])* $(#[serde($($serde:tt)*)])? $name:ident: $cell:ty $(, $unit:literal)?;)*
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $Record {
            $($(#[doc = $meaning])* $(#[serde($($serde)*)])? pub $name: $cell,)*
        }

        impl $crate::aggregate::FileLine for $Record {
            fn columns() -> Vec<$crate::aggregate::ColumnSpec> {
                vec![$($crate::aggregate::columns::column::<$cell>(
                    stringify!($name), concat!($($unit)?), &[$($meaning),*],
                )),*]
            }

            fn cells(&self) -> std::io::Result<impl AsRef<[$crate::aggregate::RecordCell<'_>]>> {
                Ok([$($crate::aggregate::columns::cell(stringify!($name), &self.$name)?),*])
            }
        }
    };
}
pub(super) use record;

/// Calls the macro `$then` with every column of `rows.csv`. To add a column, add a line here and its value in
/// `RunRows::row`.
///
/// Each line says where the column is stored (once for all rows of a `run`, once for those of them that are `alike`,
/// whose stacks end the run alike, as a `bit` of what these share, or in some `other` way with a getter of its own),
/// the type of its cells, and the unit if it has one. `$then` receives all columns, and those of the first three kinds
/// once more.
macro_rules! row_columns {
    ($then:ident) => {
        $crate::aggregate::columns::sort_columns! { $then {} [] [] []
            /// The run.
            run_id: run Label;
            /// Its task; empty if the recording names none.
            task_id: run Option<Label>;
            /// Its family of tasks.
            suite: run Option<Label>;
            /// The model under test.
            model: run Option<Label>;
            /// The stack.
            stack: other Label;
            /// The verdict on the recorded path.
            verdict: other Verdict;
            /// Whether the replay is `exact`, has `diverged` from the recorded path, or is `censored`: the recording ends first.
            exactness: other ExactnessName;
            /// The recorded outcome.
            outcome: other Outcome;
            /// Why the recording ends.
            end: run EndCause;
            /// The step (from 0) that secured the success.
            secured_step: run Option<u32>;
            /// Model calls recorded.
            steps_recorded: run u64, "steps";
            /// Model calls paid for at the stop; all of them if there was none.
            steps_at_stop: alike u64, "steps";
            /// Where it stopped; empty if it did not.
            stop_point: alike Option<Point>;
            /// The rule that stopped it.
            rule: other Option<Label>;
            /// The value the rule's signal had.
            observed: other Option<f64>;
            /// The limit that value was compared with.
            limit: other Option<f64>;
            /// Tokens recorded, input plus output.
            tokens_recorded: run Option<u64>, "tokens";
            /// Tokens spent by the stop.
            tokens_at_stop: alike Option<u64>, "tokens";
            /// Dollars recorded.
            cost_usd_recorded: run Option<f64>, "US dollars";
            /// Dollars spent by the stop.
            cost_usd_at_stop: alike Option<f64>, "US dollars";
            /// Milliseconds recorded.
            ms_recorded: run Option<i64>, "milliseconds";
            /// Milliseconds elapsed by the stop.
            ms_at_stop: alike Option<i64>, "milliseconds";
            /// Lower bound on the outcome, 0 or 1.
            outcome_low: bit OutcomeLow;
            /// Upper bound on the outcome, 0 or 1.
            outcome_high: bit OutcomeHigh;
            /// Why the bounds below may differ: `unread` (a rule could not be evaluated), `diverged`, `unlabelled`, joined by
            /// `+`.
            unknown: other Doubts;
            /// Lower bound on "ended early", 0 or 1.
            stopped_low: bit StoppedLow;
            /// Upper bound on "ended early", 0 or 1.
            stopped_high: bit StoppedHigh;
            /// Lower bound on "a recorded success was lost", 0 or 1.
            killed_low: bit KilledLow;
            /// Upper bound on "a recorded success was lost", 0 or 1.
            killed_high: bit KilledHigh;
            /// Lower bound on "a recorded failure was ended early", 0 or 1.
            true_stop_low: bit TrueStopLow;
            /// Upper bound on "a recorded failure was ended early", 0 or 1.
            true_stop_high: bit TrueStopHigh;
            /// Model calls under the stack, at least.
            steps_low: alike u64, "steps";
            /// Model calls at most; empty when nothing limits them.
            steps_high: alike Option<u64>, "steps";
            /// Tokens under the stack, at least; empty if the recording does not tell.
            tokens_low: alike Option<u64>, "tokens";
            /// Tokens at most; empty if the recording does not tell or nothing limits them.
            tokens_high: alike Option<u64>, "tokens";
            /// Dollars under the stack, at least.
            cost_usd_low: alike Option<f64>, "US dollars";
            /// Dollars at most.
            cost_usd_high: alike Option<f64>, "US dollars";
            /// 1 if some steps record tokens and others do not, so that the sum is unknown.
            #[serde(deserialize_with = "super::columns::zero_or_one")]
            tokens_in_part: run u8;
            /// Rules that could not be evaluated on this recording, or not at every step, with what was missing.
            not_evaluable: other Label;
            /// The system's profile.
            profile: other Label;
            /// How the stack ended the run: stop, fail, force_final; `stop_drops_reply` if the final answer is discarded.
            action: alike Option<Label>;
            /// Where the replay left the recorded path.
            diverged_at: alike Option<Point>;
            /// Warnings, injections, refusals and questions before the end.
            interventions: alike u64;
            /// Model calls after the success was secured.
            steps_after_secured: alike Option<u64>, "steps";
            /// Tokens after the success was secured.
            tokens_after_secured: alike Option<u64>, "tokens";
            /// Dollars after the success was secured.
            cost_usd_after_secured: alike Option<f64>, "US dollars";
        }
    };
}
pub(super) use row_columns;

/// The same for `followed.csv`. To add a column, add a line here and its value in `FollowedRow::from_row`. The rows of
/// a run that are `alike` are those after which the same followed.
macro_rules! followed_columns {
    ($then:ident) => {
        $crate::aggregate::columns::sort_columns! { $then {} [] [] []
            /// The run.
            run_id: run Label;
            /// The cluster: the run's task, or the run itself if it has none; after its suite and a slash, if it has one.
            cluster: run Label;
            /// The stack.
            stack: other Label;
            /// Where the stack stopped; empty if it did not.
            stop_point: alike Option<Point>;
            /// Lower bound on "ended early", 0 or 1.
            stopped_low: alike u8;
            /// Upper bound on "ended early", 0 or 1.
            stopped_high: alike u8;
            /// Edits after the stop, at least.
            edits_low: alike u64;
            /// Edits after the stop, at most.
            edits_high: alike u64;
            /// Hand-overs after the stop, at least.
            handovers_low: alike u64;
            /// Hand-overs after the stop, at most.
            handovers_high: alike u64;
            /// Checks that turn from red to green after the stop, at least.
            greens_low: alike u64;
            /// Checks that turn from red to green after the stop, at most.
            greens_high: alike u64;
            /// 1 if the closing reply comes after the stop.
            reply_to_come: alike u8;
            /// 1 if an edit, a hand-over or a check turning green certainly came after the stop.
            cut_short_low: alike u8;
            /// 1 if one may have.
            cut_short_high: alike u8;
            /// Tokens after the stop.
            tokens_after_stop: alike Option<u64>, "tokens";
            /// Tokens after the last effect that followed the stop, or after the stop if none did.
            tokens_after_last_effect: alike Option<u64>, "tokens";
            /// Tokens after the run's last effect, lower bound: counted from the last possible effect.
            tail_tokens_low: run Option<u64>, "tokens";
            /// Upper bound: counted from the last certain effect.
            tail_tokens_high: run Option<u64>, "tokens";
            /// Tokens of the whole run.
            tokens_recorded: run Option<u64>, "tokens";
            /// Steps after the stop.
            steps_after_stop: alike Option<u64>, "steps";
            /// The last step with a certain or possible edit, hand-over or check turning green; empty if there is none.
            last_effect_step: run Option<u64>;
            /// 1 if a person, real or simulated, waits for the run's reply.
            awaited: run u8;
            /// 1 if the recording itself ends in an interruption.
            interrupted: run u8;
            /// 1 if the stop may have killed a graded success.
            killed_high: alike u8;
        }
    };
}
pub(super) use followed_columns;

/// Sorts the columns of [`row_columns!`] or [`followed_columns!`] by how they are stored, one at a time: all columns,
/// then those of a run, those of rows that are alike, and the bits.
macro_rules! sort_columns {
    ($then:ident {$($all:tt)*} $run:tt $alike:tt $bit:tt) => {
        $then! { {$($all)*} $run $alike $bit }
    };
    ($then:ident {$($all:tt)*} [$($run:tt)*] $alike:tt $bit:tt
        $(#[$($meta:tt)*])* $name:ident: run $cell:ty $(, $unit:literal)?; $($rest:tt)*
    ) => {
        $crate::aggregate::columns::sort_columns! {
            $then {$($all)* $(#[$($meta)*])* $name: $cell $(, $unit)?;} [$($run)* $name: $cell,] $alike $bit $($rest)*
        }
    };
    ($then:ident {$($all:tt)*} $run:tt [$($alike:tt)*] $bit:tt
        $(#[$($meta:tt)*])* $name:ident: alike $cell:ty $(, $unit:literal)?; $($rest:tt)*
    ) => {
        $crate::aggregate::columns::sort_columns! {
            $then {$($all)* $(#[$($meta)*])* $name: $cell $(, $unit)?;} $run [$($alike)* $name: $cell,] $bit $($rest)*
        }
    };
    ($then:ident {$($all:tt)*} $run:tt $alike:tt [$($bit:tt)*]
        $(#[$($meta:tt)*])* $name:ident: bit $which:ident; $($rest:tt)*
    ) => {
        $crate::aggregate::columns::sort_columns! {
            $then
            {$($all)* $(#[$($meta)*])* #[serde(deserialize_with = "super::columns::zero_or_one")] $name: u8;}
            $run $alike [$($bit)* $name: $which,] $($rest)*
        }
    };
    ($then:ident {$($all:tt)*} $run:tt $alike:tt $bit:tt
        $(#[$($meta:tt)*])* $name:ident: other $cell:ty; $($rest:tt)*
    ) => {
        $crate::aggregate::columns::sort_columns! {
            $then {$($all)* $(#[$($meta)*])* $name: $cell;} $run $alike $bit $($rest)*
        }
    };
}
pub(super) use sort_columns;

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    fn assert_is_as_written<T: CellType + Serialize>(values: impl IntoIterator<Item = T>) {
        for value in values {
            let Ok(RecordCell::Text(text)) = value.cell() else { panic!("no text") };
            assert_eq!(serde_json::to_value(&value).unwrap(), *text);
        }
    }

    #[test]
    fn a_cell_of_text_is_what_csv_has() {
        assert_is_as_written(Verdict::ALL);
        assert_is_as_written(ExactnessName::ALL);
        assert_is_as_written(Outcome::ALL);
        assert_is_as_written(EndCause::ALL);
        assert_is_as_written(["0:before_request", "12:after_tools"].map(|point| point.parse::<Point>().unwrap()));
        let doubts = |bits: u8| Doubts { unread: bits & 1 > 0, diverged: bits & 2 > 0, unlabelled: bits & 4 > 0 };
        assert_is_as_written((0..8).map(doubts));
    }
}
