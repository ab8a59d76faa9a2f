//! The tail: tokens after the last effect of a run, which a perfect stop could save.

use std::collections::BTreeMap;

use crate::effects::TailTokens;
use crate::transcript::Outcome;

/// The tail of the runs of one outcome and model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Runs whose tokens are known.
    pub runs: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Tokens after each run's last edit, hand-over or check that turned green: at least and at most.
    pub after_last_effect: (u64, u64),
}

impl Tail {
    /// The tail as a share of all tokens: at least and at most; `None` without tokens.
    pub fn share(&self) -> Option<(f64, f64)> {
        let of_all = |part: u64| part as f64 / self.tokens as f64;
        if self.tokens == 0 {
            return None;
        }
        Some((of_all(self.after_last_effect.0), of_all(self.after_last_effect.1)))
    }

    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.tokens = self.tokens.saturating_add(other.tokens);
        let ((low, high), (more_low, more_high)) = (self.after_last_effect, other.after_last_effect);
        self.after_last_effect = (low.saturating_add(more_low), high.saturating_add(more_high));
    }
}

/// The tails of a corpus, by outcome and model.
#[derive(Clone, Debug, Default)]
pub struct Tails(BTreeMap<(Outcome, Option<String>), Tail>);

impl Tails {
    /// The tail of one run; empty if its tokens are unknown.
    pub fn from_outcome(outcome: Outcome, model: Option<&str>, tail: Option<TailTokens>) -> Self {
        let Some(TailTokens { least, most, whole }) = tail.filter(|tail| tail.whole > 0) else {
            return Self::default();
        };
        let tail = Tail { runs: 1, tokens: whole, after_last_effect: (least, most) };
        Self(BTreeMap::from([((outcome, model.map(str::to_owned)), tail)]))
    }

    /// Adds the tails of `other`.
    pub fn extend(&mut self, other: Self) {
        for (key, tail) in other.0 {
            self.0.entry(key).or_default().add(&tail);
        }
    }

    /// Tails by outcome, summed over models.
    pub fn by_outcome(&self) -> BTreeMap<Outcome, Tail> {
        let mut all: BTreeMap<Outcome, Tail> = BTreeMap::new();
        for ((outcome, _), tail) in &self.0 {
            all.entry(*outcome).or_default().add(tail);
        }
        all
    }

    /// Tails by outcome and model, most tokens first.
    pub fn rows(&self) -> Vec<(Outcome, Option<&str>, &Tail)> {
        let mut rows: Vec<_> =
            self.0.iter().map(|((outcome, model), tail)| (*outcome, model.as_deref(), tail)).collect();
        rows.sort_by(|a, b| b.2.tokens.cmp(&a.2.tokens).then((a.0, a.1).cmp(&(b.0, b.1))));
        rows
    }
}
