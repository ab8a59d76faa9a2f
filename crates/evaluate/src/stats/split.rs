//! Splits tasks into a part to choose on and a part to report on.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One of the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Where settings are chosen.
    Dev,
    /// Where the chosen setting is reported.
    Test,
}

impl Part {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

/// Assigns each task, given as (suite, task), to a part: within every suite, tasks are ordered by a salted hash and
/// the first `dev_share` of them (rounded) go to dev. All runs of a task stay together.
///
/// `dev_share` is clamped to [0, 1]. The order given does not matter, and a task named twice gets one part. The same
/// salt gives the same split on every machine; adding a task to a suite may move others of that suite.
pub fn split_tasks(tasks: &[(&str, &str)], salt: &str, dev_share: f64) -> Vec<Part> {
    let seed = xxh3_64_with_seed(salt.as_bytes(), 0);
    let mut suites: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for (suite, task) in tasks {
        suites.entry(suite).or_default().push((xxh3_64_with_seed(task.as_bytes(), seed), task));
    }
    let mut last_dev: BTreeMap<&str, Option<(u64, &str)>> = BTreeMap::new();
    for (suite, mut members) in suites {
        members.sort_unstable();
        members.dedup();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of tasks")]
        let dev = (dev_share.clamp(0.0, 1.0) * members.len() as f64).round() as usize;
        last_dev.insert(suite, dev.checked_sub(1).and_then(|last| members.get(last)).copied());
    }
    tasks
        .iter()
        .map(|(suite, task)| {
            let own = (xxh3_64_with_seed(task.as_bytes(), seed), *task);
            let limit = last_dev.get(suite).copied().flatten();
            if limit.is_some_and(|limit| own <= limit) { Part::Dev } else { Part::Test }
        })
        .collect()
}

/// How much better the chosen setting looked where it was chosen: `dev - test`; `None` if either is undefined.
///
/// Cawley & Talbot (2010), On over-fitting in model selection, JMLR 11.
pub fn optimism(dev: Option<f64>, test: Option<f64>) -> Option<f64> {
    Some(dev? - test?)
}
