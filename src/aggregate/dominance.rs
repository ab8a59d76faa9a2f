//! Which stacks are beaten beyond chance: no better in anything on these runs, and worse in something when all pairs are allowed for.

use super::pairs::paired;
use super::{Group, LEVEL, Label, Unit, fes_parts, useful_parts};
use crate::stats::RatioDifference;
use crate::stats::frontier::surely_beaten;

/// For each group, in order, the first stack that beats it: on these runs that stack kills no more successes and saves no less,
/// and one of the two differences has a p-value of at most 5 % over the number of ordered pairs (Bonferroni; both differences
/// of a pair are looked at in one direction each). `None` where there is none, which does not make stacks equal.
///
/// All groups hold the same runs in the same order. Of stacks with equal truth any is called beaten in at most about 5 % of corpora.
pub fn beaten(groups: &[Group<'_>], unit: Unit) -> Vec<Option<Label>> {
    let pairs = groups.len() * groups.len().saturating_sub(1);
    let beats = |better: &Group<'_>, worse: &Group<'_>| {
        let killed = RatioDifference::new(&paired(worse, better, fes_parts));
        let saved = RatioDifference::new(&paired(better, worse, |row| useful_parts(row, unit)));
        killed.zip(saved).is_some_and(|(killed, saved)| surely_beaten(&killed, &saved, pairs, 1.0 - LEVEL))
    };
    groups
        .iter()
        .map(|worse| {
            let mut others = groups.iter().filter(|other| other.stack != worse.stack);
            others.find(|better| beats(better, worse)).map(|better| better.stack.clone())
        })
        .collect()
}
