//! Whether a stop would have kept a success. It is known only after the run, and only simulated judges may use it.

use std::fmt;

use super::{Event, Point, PointView, Run, Secured};

/// What is known about a run's success once the run is over.
///
/// It is opaque: only a simulated judge ([`judge::Simulated`](crate::judge::Simulated)) reads it, and errs around it. A
/// strategy with such a judge receives the truth when it starts and can only pass it on.
#[derive(Clone, Copy, Default)]
pub struct Truth {
    secured: Secured,
    /// The point by which everything recorded had happened.
    end: Option<Point>,
}

impl Truth {
    /// Nothing is known, as for a live run.
    pub const UNKNOWN: Self = Self { secured: Secured::Unknown, end: None };

    /// The truth about a recorded run.
    pub fn from_run(run: &Run) -> Self {
        Self { secured: run.secured(), end: run.last_point() }
    }

    /// Whether a stop at this point would keep a success. The latest graded checkpoint decides, else what is known of
    /// the whole run; `None` if unknown.
    pub(crate) fn holds_at(self, view: &PointView<'_>) -> Option<bool> {
        for event in view.events().iter().rev() {
            if let Event::Checkpoint(checkpoint) = event {
                return Some(checkpoint.success);
            }
        }
        match self.secured {
            Secured::At(point) => Some(view.point() >= point),
            Secured::Never => Some(false),
            // The run is known to be a success at its end, but not since when.
            Secured::Unverified => self.end.filter(|end| view.point() >= *end).map(|_| true),
            Secured::Unknown => None,
        }
    }
}

impl fmt::Debug for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Truth(sealed)")
    }
}
