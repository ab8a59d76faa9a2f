//! Whether a stop would have kept a success: known afterwards, and for simulated judges only.

use std::fmt;

use super::{Event, Point, PointView, Run, Secured};

/// What is known of a run's success once it is over.
///
/// A simulated judge errs around it ([`judge::Simulated`](crate::judge::Simulated)); nobody else can look into it. A
/// strategy with such a judge is handed the truth when it starts and can only pass it on.
#[derive(Clone, Copy)]
pub struct Truth {
    secured: Secured,
    /// Where everything recorded had happened.
    end: Option<Point>,
}

impl Truth {
    /// Nothing is known, as in a run that is still going on.
    pub const UNKNOWN: Self = Self { secured: Secured::Unknown, end: None };

    /// The truth about a recorded run.
    pub fn of(run: &Run) -> Self {
        Self { secured: run.secured(), end: run.last_point() }
    }

    /// Would a stop at this point keep a success? The latest graded checkpoint tells, else what is known of the whole
    /// run; `None` where nobody knows.
    pub(crate) fn holds_at(self, view: &PointView<'_>) -> Option<bool> {
        let graded = view.events().iter().rev().find_map(|event| match event {
            Event::Checkpoint(checkpoint) => Some(checkpoint.success),
            _ => None,
        });
        graded.or_else(|| match self.secured {
            Secured::At(point) => Some(view.point() >= point),
            Secured::Never => Some(false),
            // The success is known to stand at the end, and nothing tells since when.
            Secured::Unverified => self.end.filter(|end| view.point() >= *end).map(|_| true),
            Secured::Unknown => None,
        })
    }
}

impl Default for Truth {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Truth(sealed)")
    }
}
