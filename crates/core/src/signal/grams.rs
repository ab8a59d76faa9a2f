//! Counts the 8-word sequences (n-grams) of a step that no earlier step had.

use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Words in an n-gram.
const LENGTH: usize = 8;
/// N-grams kept in each of two generations: about 40 MB at most, however long the run is.
const REMEMBERED: usize = 1 << 20;

/// Hashes of the n-grams of the steps so far. Time is linear in the text read. Memory is bounded: an n-gram last seen
/// more than a million different n-grams ago may be forgotten and then counts as new. That errs on the safe side.
#[derive(Debug)]
pub(super) struct Grams {
    /// A generation is full at this many n-grams.
    remembered: usize,
    /// N-grams of earlier steps: the newer generation, then the older.
    recent: HashSet<u64>,
    older: HashSet<u64>,
    /// N-grams of the current step.
    step: HashSet<u64>,
    words: VecDeque<u64>,
}

impl Default for Grams {
    fn default() -> Self {
        Self::remembering(REMEMBERED)
    }
}

impl Grams {
    fn remembering(remembered: usize) -> Self {
        Self {
            remembered,
            recent: HashSet::default(),
            older: HashSet::default(),
            step: HashSet::default(),
            words: VecDeque::with_capacity(LENGTH),
        }
    }

    /// Reads a text of the current step, given in parts, up to `most` characters in total.
    pub(super) fn read<'t>(&mut self, parts: impl Iterator<Item = &'t str>, most: usize) {
        self.words.clear();
        let (mut left, mut complete) = (most, false);
        for part in parts {
            let part = match part.char_indices().nth(left) {
                Some((end, _)) => &part[..end],
                None => part,
            };
            left -= part.chars().count();
            for word in words(part) {
                self.words.push_back(xxh3_64(word.as_bytes()));
                if self.words.len() == LENGTH {
                    self.step.insert(hash_of(self.words.iter()));
                    self.words.pop_front();
                    complete = true;
                }
            }
        }
        if !complete && !self.words.is_empty() {
            self.step.insert(hash_of(self.words.iter()));
        }
    }

    /// Ends the step. Returns the number of its different n-grams, and how many of them no earlier step had.
    pub(super) fn end_step(&mut self) -> (u64, u64) {
        let all = self.step.len() as u64;
        let is_known = |gram: &&u64| self.recent.contains(*gram) || self.older.contains(*gram);
        let new = all - self.step.iter().filter(is_known).count() as u64;
        self.recent.extend(self.step.drain());
        if self.recent.len() > self.remembered {
            self.older = std::mem::take(&mut self.recent);
        }
        (all, new)
    }
}

/// How often the most frequent sequence of `length` words occurs in a text, without overlaps; 1 for a shorter text, 0 for
/// one without words. The first `most` characters are read.
pub(super) fn most_frequent(text: &str, length: usize, most: usize) -> usize {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let hashes: Vec<u64> = words(&text[..end]).map(|word| xxh3_64(word.as_bytes())).collect();
    // For each sequence: how often it has occurred, and where the latest one ends.
    let mut seen: HashMap<u64, (usize, usize)> = HashMap::default();
    let mut highest = usize::from(!hashes.is_empty());
    for (at, window) in hashes.windows(length).enumerate() {
        let (times, ends) = seen.entry(hash_of(window.iter())).or_default();
        if *times == 0 || at >= *ends {
            (*times, *ends) = (*times + 1, at + length);
            highest = highest.max(*times);
        }
    }
    highest
}

fn hash_of<'w>(words: impl ExactSizeIterator<Item = &'w u64>) -> u64 {
    let n = words.len() as u64;
    words.fold(n, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The words of a text: sequences of letters, digits and `_`, and every other non-blank character on its own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end =
            if is_word(first) { rest.find(|sign| !is_word(sign)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn is_word(sign: char) -> bool {
    sign == '_' || sign.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The n-gram counts of a step with these two texts: all, and new.
    fn step(grams: &mut Grams, own: &str, results: &str) -> (u64, u64) {
        grams.read([own].into_iter(), 1_000);
        grams.read([results].into_iter(), 1_000);
        grams.end_step()
    }

    #[test]
    fn words_are_letters_digits_and_underscores_or_single_signs() {
        assert_eq!(words(" ls -la_2  ./a\n").collect::<Vec<_>>(), ["ls", "-", "la_2", ".", "/", "a"]);
        assert_eq!(words("Größe 9€").collect::<Vec<_>>(), ["Größe", "9", "€"]);
        assert_eq!(words(" \t").count(), 0);
    }

    #[test]
    fn runs_of_eight_words_are_counted_once_a_step_and_never_across_texts() {
        let mut grams = Grams::default();
        assert_eq!(step(&mut grams, "a b c d e f g h i", ""), (2, 2));
        // The same n-grams again. A text of fewer than eight words is one n-gram.
        assert_eq!(step(&mut grams, "a b c d e f g h i", "x y"), (3, 1));
        assert_eq!(step(&mut grams, "x y", "a b c d e f g h"), (2, 0));
        assert_eq!(step(&mut grams, "", " "), (0, 0));
        // A longer sequence of equal words gives the same n-gram each time.
        assert_eq!(step(&mut grams, "z z z z z z z z z z z", ""), (1, 1));
    }

    #[test]
    fn the_most_frequent_sequence_is_counted_without_overlaps() {
        for (text, length, expected) in [
            ("", 3, 0),
            ("a b", 3, 1),
            ("a b c d", 3, 1),
            ("a b c a b c a b c", 3, 3),
            ("z z z z z z z", 3, 2),
            ("x a b c y a b c", 3, 2),
            ("one, two.", 2, 1),
        ] {
            assert_eq!(most_frequent(text, length, 1_000), expected, "{text}");
        }
        assert_eq!(most_frequent("a b c a b c a b c", 3, 11), 2);
    }

    #[test]
    fn only_the_first_characters_are_read_and_not_half_of_one() {
        let mut grams = Grams::default();
        grams.read(["é é é é", "é é é é é é é é"].into_iter(), 7 + 9);
        grams.read(["é é é"].into_iter(), 0);
        assert_eq!(grams.end_step(), (1, 1));
    }

    #[test]
    fn what_was_said_long_ago_is_forgotten_and_memory_stays_bounded() {
        let mut grams = Grams::remembering(100);
        step(&mut grams, "once upon a time", "");
        for at in 0..1_000 {
            step(&mut grams, &format!("{at}"), "still here");
            assert!(grams.recent.len() + grams.older.len() <= 202);
        }
        assert_eq!(step(&mut grams, "once upon a time", "still here"), (2, 1));
    }
}
