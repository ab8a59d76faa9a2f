//! Precision and recall of a text test on labelled texts.

/// A confusion matrix: a text test's results against the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Matched, correctly.
    pub true_positives: usize,
    /// Matched, incorrectly: a false early stop.
    pub false_positives: usize,
    /// Not matched, incorrectly: a missed stop.
    pub false_negatives: usize,
    /// Not matched, correctly.
    pub true_negatives: usize,
}

impl Confusion {
    /// Counts the results of `test` over texts and their labels.
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

    /// The number of texts counted.
    pub fn n(&self) -> usize {
        self.true_positives + self.false_positives + self.false_negatives + self.true_negatives
    }

    /// The share of matches that are correct, in [0, 1]; `None` without matches.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The share of texts that should match and do, in [0, 1]; `None` if none should match.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    if whole == 0 { None } else { Some(part as f64 / whole as f64) }
}
