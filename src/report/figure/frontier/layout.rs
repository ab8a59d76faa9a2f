//! Where the parts of the frontier figure lie.

use crate::report::figure::pen::{MARGIN, WIDTH};

/// How the parts of the figure lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontierLayout {
    /// As in the files: title, plane, and the legend beside it.
    Wide,
    /// For the screen of a telephone: no title, and the legend below the plane.
    Narrow,
}

impl FrontierLayout {
    pub(super) fn width(self) -> i32 {
        match self {
            Self::Wide => WIDTH.cast_signed(),
            Self::Narrow => 364,
        }
    }

    /// Left and right end of the plane.
    pub(super) fn plane(self) -> (i32, i32) {
        match self {
            Self::Wide => (66, 706),
            Self::Narrow => (36, 356),
        }
    }

    /// Left and right end of the legend.
    pub(super) fn legend(self) -> (i32, i32) {
        match self {
            Self::Wide => (736, self.width() - MARGIN),
            Self::Narrow => (4, 358),
        }
    }

    /// The height of the plane.
    pub(super) fn height(self) -> i32 {
        match self {
            Self::Wide => 460,
            Self::Narrow => 340,
        }
    }
}
