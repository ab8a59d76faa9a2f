//! How good a text test is on labelled texts: precision and recall.

/// Counts of a text test against the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Matched, and rightly.
    pub true_positives: usize,
    /// Matched, and wrongly: a false early stop.
    pub false_positives: usize,
    /// Not matched, and wrongly: a missed stop.
    pub false_negatives: usize,
    /// Not matched, and rightly.
    pub true_negatives: usize,
}

impl Confusion {
    /// Counts `test` over texts and their labels.
    pub fn count<'t>(texts: impl IntoIterator<Item = (&'t str, bool)>, test: impl Fn(&str) -> bool) -> Self {
        let mut counts = Self::default();
        for (text, truth) in texts {
            let cell = match (test(text), truth) {
                (true, true) => &mut counts.true_positives,
                (true, false) => &mut counts.false_positives,
                (false, true) => &mut counts.false_negatives,
                (false, false) => &mut counts.true_negatives,
            };
            *cell += 1;
        }
        counts
    }

    /// Texts counted.
    pub fn n(&self) -> usize {
        self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
    }

    /// Of the matches, the share that is right, in [0, 1]; `None` without a match.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// Of the texts that should match, the share that does, in [0, 1]; `None` without such a text.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
