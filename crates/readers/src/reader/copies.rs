//! Replies that stand in several files. Resuming or forking a session copies the lines it goes on from
//! into a new file, with their message ids; their tokens were spent once.
//!
//! The first file in path order has them; in a later one they are context. A file that holds exactly the
//! replies of one other file is a duplicate, which is reported and left as it is, like one of any format.

use std::collections::{BTreeMap, HashMap};

/// Where a reply stands among a run's events, and a print of its message id.
pub(super) type ReplyId = (usize, u64);

/// What a run shares with those before it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Its events that are copies.
    pub(super) events: Vec<usize>,
    /// The files that have them, with how many.
    pub(super) from: BTreeMap<String, usize>,
}

/// The replies seen so far.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Which run a reply was seen in; only asked for single replies.
    seen: HashMap<u64, usize>,
    /// Each run's file and how many replies it added.
    runs: Vec<(String, usize)>,
}

impl Copies {
    /// Enters a run's replies, in corpus order.
    pub(super) fn enter(&mut self, path: &str, replies: &[ReplyId]) -> Copied {
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
        let twin = owners.iter().next().is_some_and(|(owner, n)| self.runs.get(*owner).is_some_and(|run| run.1 == *n));
        if added == 0 && owners.len() == 1 && twin {
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
        // The replies of one file and no others: a duplicate. A part of them: a copy.
        assert_eq!(copies.enter("d", &[(0, 30), (1, 10)]), Copied::default());
        assert_eq!(copies.enter("e", &[(7, 30)]).events, [7]);
        let both = copies.enter("f", &[(0, 50), (1, 10)]);
        assert_eq!(both.from, BTreeMap::from([("a".to_owned(), 1), ("c".to_owned(), 1)]));
    }
}
