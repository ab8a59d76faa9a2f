//! The keys an object may have. A recorder writes them in one order, so the next one is mostly known before it is read.

use std::cell::Cell;

use super::Cursor;

/// A power of two, some times the number of keys of the largest object.
const SLOTS: usize = 256;
/// Keys of the largest object, at most.
const MOST: usize = 64;

/// The keys of an object, each with its quotes and its colon, found by a hash of their length and three of their bytes:
/// a chain of comparisons takes longer than everything else about a field.
pub struct Keys<const N: usize> {
    spelled: [&'static str; N],
    /// Of each its first sixteen bytes as a number, and which of them it has.
    heads: [(u128, u128); N],
    /// The number of a key, from 1, at its hash or behind it; 0 where there is none.
    table: [u8; SLOTS],
}

/// For each key, and for the beginning of the object, the two keys that were last seen to follow it. Only a guess where
/// to look first: what is found does not depend on it.
pub struct Follows([Cell<[u8; 2]>; MOST]);

impl Default for Follows {
    fn default() -> Self {
        Self::new()
    }
}

impl Follows {
    /// Nothing seen yet.
    pub const fn new() -> Self {
        Self([const { Cell::new([0; 2]) }; MOST])
    }
}

impl<const N: usize> Keys<N> {
    /// The table of `spelled`, keys such as `"type":`.
    pub const fn new(spelled: [&'static str; N]) -> Self {
        assert!(N < MOST, "more keys than the table is made for");
        let mut table = [0; SLOTS];
        let mut heads = [(0, 0); N];
        let mut nth: u8 = 0;
        while (nth as usize) < N {
            let spelling = spelled[nth as usize].as_bytes();
            let mut slot = Self::slot(spelling, 1, spelling.len() - 2);
            while table[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            let (mut head, mut mask) = ([0; 16], [0; 16]);
            let mut at = 0;
            while at < spelling.len() && at < 16 {
                (head[at], mask[at]) = (spelling[at], 0xFF);
                at += 1;
            }
            heads[nth as usize] = (u128::from_le_bytes(head), u128::from_le_bytes(mask));
            nth += 1;
            table[slot] = nth;
        }
        Self { spelled, heads, table }
    }

    /// Where the key at `from..to` of `bytes` is looked for first.
    const fn slot(bytes: &[u8], from: usize, to: usize) -> usize {
        if from >= to {
            return 0;
        }
        let (first, middle, last) =
            (bytes[from] as usize, bytes[usize::midpoint(from, to)] as usize, bytes[to - 1] as usize);
        (to - from + 31 * first + 7 * middle + 3 * last) % SLOTS
    }

    /// Which of the keys `key` is, from 0.
    pub fn find(&self, key: &str) -> Option<usize> {
        let mut slot = Self::slot(key.as_bytes(), 0, key.len());
        loop {
            let nth = usize::from(self.table[slot]).checked_sub(1)?;
            let spelled = self.spelled[nth];
            if spelled.get(1..spelled.len() - 2) == Some(key) {
                return Some(nth);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Does `rest` begin with this key as it is spelled? Mostly one comparison tells.
    #[inline]
    fn begins(&self, nth: usize, rest: &[u8]) -> bool {
        let (Some((head, mask)), Some(chunk)) = (self.heads.get(nth), rest.first_chunk::<16>()) else {
            return self.spelled.get(nth).is_some_and(|spelled| rest.starts_with(spelled.as_bytes()));
        };
        let spelled = self.spelled[nth].as_bytes();
        u128::from_le_bytes(*chunk) & mask == *head && (spelled.len() <= 16 || rest.starts_with(spelled))
    }

    /// Passes over the key that begins here, its colon, and the white space behind it. Gives its number, or N
    /// when it is none of these; `None` when it is no key, or has an escape. `last` is the key before.
    #[inline]
    pub(super) fn next(&self, cursor: &mut Cursor<'_>, last: Option<usize>, follows: &Follows) -> Option<usize> {
        let follows = &follows.0[last.map_or(0, |last| last + 1)];
        let rest = cursor.bytes.get(cursor.at..)?;
        let guesses = follows.get();
        for guess in guesses {
            let guess = usize::from(guess);
            if self.begins(guess, rest) {
                cursor.at += self.spelled[guess].len();
                cursor.space();
                return Some(guess);
            }
        }
        let key = cursor.key().filter(|key| !key.escaped)?;
        let found = self.find(cursor.text.get(key.from..key.to)?);
        if let Some(nth) = found.and_then(|nth| u8::try_from(nth).ok()) {
            follows.set([nth, guesses[0]]);
        }
        Some(found.unwrap_or(N))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    static KEYS: Keys<4> = Keys::new(["\"a\":", "\"bb\":", "\"longer name\":", "\"\":"]);

    fn read<'t>(text: &'t str, follows: &Follows, found: &mut [&'t str; 4]) -> Option<()> {
        let mut cursor = Cursor::new(text);
        cursor.space();
        cursor.fields(9, &KEYS, follows, |cursor, nth| {
            found[nth] = Value::pass(cursor, 9)?;
            Some(())
        })?;
        cursor.is_at_end().then_some(())
    }

    #[test]
    fn a_key_is_found_in_any_order_and_any_spelling() {
        assert_eq!(
            ["a", "bb", "longer name", "", "b", "aa"].map(|key| KEYS.find(key)),
            [Some(0), Some(1), Some(2), Some(3), None, None]
        );
        let follows = Follows::new();
        for text in [
            r#"{"a":1,"bb":2,"longer name":3}"#,
            r#"{"longer name":3,"a":1,"bb":2}"#,
            r#"{"other":0,"a":1,"bb":2,"longer name":3}"#,
            r#" { "a" : 1 , "bb": 2,"longer name" :3,"x":{"a":7}} "#,
            r#"{"a":9,"a":1,"bb":9,"longer name":3,"bb":2}"#,
        ] {
            // Twice, so that every guess is made before and after it was learnt.
            for _ in 0..2 {
                let mut found = [""; 4];
                assert!(read(text, &follows, &mut found).is_some(), "{text}");
                assert_eq!(found, ["1", "2", "3", ""], "{text}");
            }
        }
        for refused in [r#"{"\u0061":1}"#, r#"{"a"1}"#, r#"{"a":}"#, r#"{"a":1"#, "{\"a\":1,}", "[]", ""] {
            assert!(read(refused, &follows, &mut [""; 4]).is_none(), "{refused}");
        }
    }
}
