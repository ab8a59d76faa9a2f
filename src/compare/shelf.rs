//! The runs that are told on a page: those that matter most, chosen while they come by, so that memory is bounded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::aggregate::Row;
use crate::explain::{Story, Texts};
use crate::stats::cluster_key;
use crate::verdict::Verdict;

/// Runs told that lose or win by some stack, or of which that is not known.
const MOST_THAT_MATTER: usize = 600;
/// Others told, for comparison.
const MOST_OTHERS: usize = 60;
/// Runs told where all are asked for.
const MOST_OF_ALL: usize = 20_000;

/// Which runs are told.
#[derive(Debug)]
pub struct Shelf {
    texts: Texts,
    boards: [Board; 2],
}

/// Some runs of one kind: those whose ids have the smallest hashes.
#[derive(Debug)]
struct Board {
    most: usize,
    stories: BTreeMap<(u64, String), Story>,
    /// No run of a larger hash is wanted any more. It only falls, so that threads may go by an old one.
    wanted: AtomicU64,
}

impl Shelf {
    /// An empty shelf.
    pub fn new(texts: Texts) -> Self {
        let (matter, others) =
            if texts == Texts::All { (MOST_OF_ALL, MOST_OF_ALL) } else { (MOST_THAT_MATTER, MOST_OTHERS) };
        let board = |most| Board { most, stories: BTreeMap::new(), wanted: AtomicU64::new(u64::MAX) };
        Self { texts, boards: [board(matter), board(others)] }
    }

    /// How much of a run's texts is kept.
    pub fn texts(&self) -> Texts {
        self.texts
    }

    /// May the run of `rows` be told? Asked from any thread, before its story is made.
    pub fn wants(&self, rows: &[Row]) -> bool {
        let Some(row) = rows.first() else { return false };
        cluster_key(&row.run_id) <= self.boards[board(rows)].wanted.load(Ordering::Relaxed)
    }

    /// Takes in the story of the run of `rows`.
    pub fn put(&mut self, rows: &[Row], story: Story) {
        self.put_on(board(rows), story);
    }

    /// Takes in the story of a run of which is known whether it matters.
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

    /// All that are told.
    pub fn into_stories(self) -> Vec<Story> {
        self.boards.into_iter().flat_map(|board| board.stories.into_values()).collect()
    }
}

/// Does a row make its run one that matters?
pub fn matters(killed_high: u8, verdict: Verdict) -> bool {
    killed_high == 1 || verdict == Verdict::Rescued
}

/// The board of a run: 0 where some stack kills or rescues its success, or may do so.
fn board(rows: &[Row]) -> usize {
    usize::from(!rows.iter().any(|row| matters(row.killed_high, row.verdict)))
}
