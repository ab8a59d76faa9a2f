//! What to read from each run.

use std::collections::HashMap;

use crate::decision::Need;
use crate::rule::Rule;
use crate::transcript::Moment;

/// A signal with its options, read at every point of one moment.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The signal and its options; comparator and limit are ignored.
    pub rule: Rule,
    /// The points at which it is read.
    pub at: Moment,
}

impl Feature {
    /// Identifies the feature: signal, all options, moment.
    pub fn key(&self) -> String {
        format!("{} {:?} at {}", self.rule.signal.id, self.rule.options, self.at)
    }
}

/// What to read from each run: features, and what rules need from a recording.
/// [`Formula::from_stack`](super::Formula::from_stack) and [`Candidates`](crate::sweep::Candidates) add to it; make extracts with the
/// finished plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    features: Vec<Feature>,
    places: HashMap<String, usize>,
    needs: Vec<Need>,
}

impl Plan {
    /// The features, in the order of their readings in an extract.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The needs looked up in each run.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// The index of the feature for the signal of `rule` read at `at`; adds it if it is new.
    pub fn feature(&mut self, rule: &Rule, at: Moment) -> usize {
        let feature = Feature { rule: rule.clone(), at };
        let features = &mut self.features;
        *self.places.entry(feature.key()).or_insert_with(|| {
            features.push(feature);
            features.len() - 1
        })
    }

    /// The index of the feature for the signal of `rule` read at `at`, if there is one.
    pub fn place(&self, rule: &Rule, at: Moment) -> Option<usize> {
        self.places.get(&Feature { rule: rule.clone(), at }.key()).copied()
    }

    /// The index of a need; adds it if it is new.
    pub fn need(&mut self, need: Need) -> usize {
        let known = self.needs.iter().position(|known| *known == need);
        known.unwrap_or_else(|| {
            self.needs.push(need);
            self.needs.len() - 1
        })
    }
}
