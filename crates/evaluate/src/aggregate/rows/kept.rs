//! How the cells of a row are kept in columns: names by their number in a dictionary, everything else as it is.

use super::column::Cell;
use super::names::{Name, Names};
use crate::aggregate::{ExactnessName, Label};
use crate::transcript::Outcome;
use crate::verdict::Doubts;

/// A type that a row has a column of.
pub trait Viewed {
    /// What a view gives of it.
    type View<'r>;
    /// What a row has of what a view gives.
    fn owned(view: Self::View<'_>) -> Self;
}

/// How it is stored.
pub(super) trait Kept: Viewed {
    /// What is stored of it.
    type Cell: Cell;
    /// What is stored of this one.
    fn keep(&self, names: &mut Names) -> Self::Cell;
    /// What a view gives of a stored one.
    fn view(cell: Self::Cell, names: &Names) -> Self::View<'_>;
}

impl Viewed for Label {
    type View<'r> = &'r Self;
    fn owned(view: &Self) -> Self {
        view.clone()
    }
}

impl Kept for Label {
    type Cell = Name;
    fn keep(&self, names: &mut Names) -> Name {
        names.number(self)
    }
    #[inline]
    fn view(cell: Name, names: &Names) -> &Self {
        names.label(cell)
    }
}

impl Viewed for Option<Label> {
    type View<'r> = Option<&'r Label>;
    fn owned(view: Option<&Label>) -> Self {
        view.cloned()
    }
}

impl Kept for Option<Label> {
    type Cell = Option<Name>;
    fn keep(&self, names: &mut Names) -> Option<Name> {
        self.as_ref().map(|label| names.number(label))
    }
    #[inline]
    fn view(cell: Option<Name>, names: &Names) -> Option<&Label> {
        cell.map(|name| names.label(name))
    }
}

/// Whatever fits into a cell is stored and seen as it is.
impl<T: Cell> Viewed for T {
    type View<'r> = Self;
    fn owned(view: Self) -> Self {
        view
    }
}

impl<T: Cell> Kept for T {
    type Cell = Self;
    fn keep(&self, _: &mut Names) -> Self {
        *self
    }
    #[inline]
    fn view(cell: Self, _: &Names) -> Self {
        cell
    }
}

/// What is stored in packed marks is seen as it is.
macro_rules! viewed_from_marks {
    ($($mark:ty),*) => {$(
        impl Viewed for $mark {
            type View<'r> = Self;
            fn owned(view: Self) -> Self {
                view
            }
        }
    )*};
}

viewed_from_marks! { ExactnessName, Outcome, Doubts }
