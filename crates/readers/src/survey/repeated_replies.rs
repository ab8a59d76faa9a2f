//! Replies that are in several files. Resuming or forking a session copies the earlier lines, with their message ids,
//! into a new file, but their tokens were spent only once.
//!
//! They count in the first file in path order; in later files they are context. A file with exactly the replies of one
//! other file is a duplicate, which is reported and left unchanged, as in any format.

use std::collections::{BTreeMap, HashMap};

use crate::record::reading::ReplyId;

/// What a run shares with earlier runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Indices of its events that are copies.
    pub(crate) events: Vec<usize>,
    /// The files that have the originals, with the number of copies from each.
    pub(crate) from: BTreeMap<String, usize>,
}

/// The replies seen so far.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The run in which each reply was first seen. Only used for lookups, so hash order has no effect.
    seen: HashMap<u64, usize>,
    /// Each run's file and the number of replies it added.
    runs: Vec<(String, usize)>,
}

impl Copies {
    /// Adds a run's replies, in corpus order.
    pub(crate) fn enter(&mut self, path: &str, replies: &[ReplyId]) -> Copied {
        let mut copied = Copied::default();
        let mut owners: BTreeMap<usize, usize> = BTreeMap::new();
        let own = self.runs.len();
        let mut added = 0;
        for (event, print) in replies {
            match self.seen.get(print) {
                Some(owner) if *owner != own => {
                    copied.events.push(*event);
                    *owners.entry(*owner).or_default() += 1;
                }
                Some(_) => {}
                None => {
                    self.seen.insert(*print, own);
                    added += 1;
                }
            }
        }
        if added == 0
            && owners.len() == 1
            && let Some((owner, n)) = owners.iter().next()
            && let Some((_, all)) = self.runs.get(*owner)
            && all == n
        {
            return Copied::default();
        }
        if added > 0 {
            self.runs.push((path.to_owned(), added));
        }
        for (owner, n) in owners {
            if let Some((path, _)) = self.runs.get(owner) {
                *copied.from.entry(path.clone()).or_default() += n;
            }
        }
        copied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_file_has_already_is_a_copy_and_a_duplicate_is_none() {
        let mut copies = Copies::default();
        assert_eq!(copies.enter("a", &[(1, 10), (3, 30)]), Copied::default());
        assert_eq!(copies.enter("b", &[]), Copied::default());
        let fork = copies.enter("c", &[(0, 10), (2, 30), (4, 50)]);
        assert_eq!((fork.events, fork.from), (vec![0, 2], BTreeMap::from([("a".to_owned(), 2)])));
        // Exactly the replies of one file: a duplicate. Only some of them: a copy.
        assert_eq!(copies.enter("d", &[(0, 30), (1, 10)]), Copied::default());
        assert_eq!(copies.enter("e", &[(7, 30)]).events, [7]);
        let both = copies.enter("f", &[(0, 50), (1, 10)]);
        assert_eq!(both.from, BTreeMap::from([("a".to_owned(), 1), ("c".to_owned(), 1)]));
    }
}
