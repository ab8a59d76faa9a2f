//! The runs whose stories are kept for a page: the most important ones, chosen as runs arrive, so that memory is
//! bounded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::aggregate::Row;
use crate::explain::{Story, Texts};
use crate::stats::cluster_key;
use crate::verdict::Verdict;

/// Maximum stories of runs that some stack kills or rescues, or may.
const MOST_THAT_MATTER: usize = 600;
/// Maximum stories of other runs, kept for comparison.
const MOST_OTHERS: usize = 60;
/// Maximum stories if all runs are asked for.
const MOST_OF_ALL: usize = 20_000;

/// Collects the stories to keep.
#[derive(Debug)]
pub struct KeptStories {
    texts: Texts,
    boards: [Board; 2],
}

/// A bounded sample of the runs of one kind: those whose ids have the smallest hashes.
#[derive(Debug)]
struct Board {
    most: usize,
    stories: BTreeMap<(u64, String), Story>,
    /// Runs with a larger hash are no longer wanted. The value only falls, so threads may safely use an old one.
    wanted: AtomicU64,
}

impl KeptStories {
    /// Nothing yet.
    pub fn new(texts: Texts) -> Self {
        let (matter, others) =
            if texts == Texts::All { (MOST_OF_ALL, MOST_OF_ALL) } else { (MOST_THAT_MATTER, MOST_OTHERS) };
        let board = |most| Board { most, stories: BTreeMap::new(), wanted: AtomicU64::new(u64::MAX) };
        Self { texts, boards: [board(matter), board(others)] }
    }

    /// How much of a run's texts is kept in its story.
    pub fn texts(&self) -> Texts {
        self.texts
    }

    /// Whether the run of `rows` may be kept. Callable from any thread, before the story is made.
    pub fn wants(&self, rows: &[Row]) -> bool {
        let Some(row) = rows.first() else { return false };
        cluster_key(&row.run_id) <= self.boards[board(rows)].wanted.load(Ordering::Relaxed)
    }

    /// Adds the story of the run of `rows`.
    pub fn put(&mut self, rows: &[Row], story: Story) {
        self.put_on(board(rows), story);
    }

    /// Adds the story of a run already known to matter or not.
    pub fn put_again(&mut self, matters: bool, story: Story) {
        self.put_on(usize::from(!matters), story);
    }

    fn put_on(&mut self, board: usize, story: Story) {
        let board = &mut self.boards[board];
        board.stories.insert((cluster_key(&story.run_id), story.run_id.clone()), story);
        if board.stories.len() > board.most {
            board.stories.pop_last();
        }
        if board.stories.len() == board.most
            && let Some(((last, _), _)) = board.stories.last_key_value()
        {
            board.wanted.store(*last, Ordering::Relaxed);
        }
    }

    /// All stories kept.
    pub fn into_stories(self) -> Vec<Story> {
        self.boards.into_iter().flat_map(|board| board.stories.into_values()).collect()
    }
}

/// Whether a row makes its run one that matters.
pub fn matters(killed_high: u8, verdict: Verdict) -> bool {
    killed_high == 1 || verdict == Verdict::Rescued
}

/// The board of a run: 0 if some stack kills or rescues its success, or may do so.
fn board(rows: &[Row]) -> usize {
    usize::from(!rows.iter().any(|row| matters(row.killed_high, row.verdict)))
}
