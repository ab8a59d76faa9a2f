//! Warnings about tables of runs, once all are read: repeated rows, sets filtered to successes, and tokens known only
//! per run and not per call.

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::{Diagnostic, Location};
use crate::transcript::{Outcome, Run, Spend};

/// With fewer graded runs than this, all may be successes by chance.
const MANY: u64 = 20;

/// Statistics on the tables read so far.
#[derive(Debug, Default)]
pub(crate) struct TableStatistics {
    /// Hashes of row ids, each with a hash of the row's content.
    rows: HashMap<u64, u64>,
    repeated: u64,
    first_repeated: Option<(String, String)>,
    /// The number of graded runs and of successes in each file.
    graded: BTreeMap<String, (u64, u64)>,
    runs: u64,
    without_tokens: u64,
    with_totals: u64,
}

impl TableStatistics {
    /// Adds a row by its run's id and content. `false` if the same row was read before and should be left out.
    pub(crate) fn enter(&mut self, path: &str, run: &Run, spend: &Spend, content: u64) -> bool {
        let id = &run.header.run_id;
        let (graded, successes) = self.graded.entry(path.to_owned()).or_default();
        *graded += u64::from(run.grade.outcome != Outcome::Unknown);
        *successes += u64::from(run.grade.outcome == Outcome::Success);
        let before = self.rows.insert(xxhash_rust::xxh3::xxh3_64(id.as_bytes()), content);
        if before == Some(content) {
            self.repeated += 1;
            self.first_repeated.get_or_insert_with(|| (path.to_owned(), id.clone()));
            return false;
        }
        self.runs += 1;
        if spend.total.is_none() {
            self.without_tokens += 1;
            let states_totals = matches!(&run.header.meta, Some(meta) if meta.get().contains("_tokens\":"));
            self.with_totals += u64::from(states_totals);
        }
        true
    }

    /// The warnings.
    pub(crate) fn notices(&self) -> Vec<Diagnostic> {
        let mut notices = Vec::new();
        if let Some((path, id)) = &self.first_repeated {
            let what =
                format!("{} rows repeat rows read before, the first run `{id}`: each is read once", self.repeated);
            notices.push(Diagnostic::new(Location::file(path.as_str()), what, "the files overlap; nothing is lost"));
        }
        let filtered: Vec<_> = self.graded.iter().filter(|(_, (n, won))| *n >= MANY && n == won).collect();
        if let Some((path, (n, _))) = filtered.first() {
            let more = filtered.len() - 1;
            let more = if more > 0 { format!(", and in {more} more files") } else { String::new() };
            let what = format!("all {n} graded runs are successes{more}: this set was filtered by outcome");
            let help = "it has no failure to stop, and its successes were picked: shares of killed successes and \
                        savings do not carry over to runs as they come";
            notices.push(Diagnostic::new(Location::file(path.as_str()), what, help));
        }
        if self.without_tokens > 0 {
            let what = format!(
                "{} of {} runs in tables record no tokens for each call{}",
                self.without_tokens,
                self.runs,
                if self.with_totals > 0 { format!(" ({} state a total)", self.with_totals) } else { String::new() }
            );
            let help = "steps can be judged, rules on tokens and cost cannot: they are named as not evaluable";
            notices.push(Diagnostic::new(Location::default(), what, help));
        }
        notices
    }
}
