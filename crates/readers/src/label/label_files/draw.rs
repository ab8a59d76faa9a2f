//! Whether the runs that labels grade were drawn at random.

use serde::{Deserialize, Serialize};

use super::{Labels, RunLabel};

/// Runs that have their outcome by a label, and no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelDraw {
    /// Their number.
    pub graded: u64,
    /// How many of them were drawn at random, as their labels say (the column `drawn`).
    pub drawn: u64,
}

/// Such a share of the first places of a draw has to be graded.
const LEAST: f64 = 0.95;

impl Labels {
    /// Which of the runs that have their outcome by a label were drawn at random.
    pub(crate) fn draw(&self) -> LabelDraw {
        self.draw_of(|label| label.grades)
    }

    /// Whether all labels that grade are of runs drawn at random, so that the others may be left out.
    pub(crate) fn are_drawn(&self) -> bool {
        let draw = self.draw_of(|label| label.success.is_some() || label.score.is_some());
        draw.graded > 0 && draw.drawn == draw.graded
    }

    /// The labels of a file are of runs drawn at random if they say at which place of an order each run was drawn, and
    /// those that grade are the first places, but for a few: who leaves out more, or says it of some only, has chosen.
    fn draw_of(&self, is_counted: impl Fn(&RunLabel) -> bool) -> LabelDraw {
        let mut draw = LabelDraw::default();
        for file in 0..self.files.len() {
            let places: Vec<Option<u64>> = self
                .rows
                .values()
                .filter(|label| label.file == file && is_counted(label))
                .map(|label| label.drawn)
                .collect();
            let (graded, drawn) = (places.len() as u64, places.iter().flatten().count() as u64);
            let last = places.iter().flatten().max().copied().unwrap_or_default();
            let enough = |of: u64| drawn as f64 >= LEAST * of as f64;
            draw.graded += graded;
            draw.drawn += if enough(graded) && enough(last) { graded } else { 0 };
        }
        draw
    }
}
