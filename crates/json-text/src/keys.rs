//! Lookup tables for the keys of an object. Recorders write keys in a fixed order, so the next key can usually be
//! predicted from the last one.

use std::cell::Cell;

use super::Cursor;

/// Slots of the hash table: a power of two, several times the number of keys of the largest object.
const SLOTS: usize = 256;
/// The number of keys of an object must be below this.
const MOST: usize = 64;

/// The known keys of an object, each with its quotes and colon, hashed by length and three bytes. Comparing with one
/// key after another would take longer than everything else done for a field.
pub struct Keys<const N: usize> {
    spelled: [&'static str; N],
    /// For each key, its first sixteen bytes as a number, and a mask of the bytes it has.
    heads: [(u128, u128); N],
    /// Key numbers, from 1, at the slot of their hash or the next free one; 0 in empty slots.
    table: [u8; SLOTS],
}

/// For each key, and for the start of the object, the last two keys seen to follow it. They are only a guess at where
/// to look first and never affect the result.
pub struct Follows([Cell<[u8; 2]>; MOST]);

impl Default for Follows {
    fn default() -> Self {
        Self::new()
    }
}

impl Follows {
    /// An empty record of followers.
    pub const fn new() -> Self {
        Self([const { Cell::new([0; 2]) }; MOST])
    }
}

impl<const N: usize> Keys<N> {
    /// The table for `spelled`, keys written such as `"type":`.
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

    /// The slot where the search for the key at `from..to` of `bytes` starts.
    const fn slot(bytes: &[u8], from: usize, to: usize) -> usize {
        if from >= to {
            return 0;
        }
        let (first, middle, last) =
            (bytes[from] as usize, bytes[usize::midpoint(from, to)] as usize, bytes[to - 1] as usize);
        (to - from + 31 * first + 7 * middle + 3 * last) % SLOTS
    }

    /// The number of `key`, from 0; `None` if it is not one of these keys.
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

    /// True if `rest` begins with this key as written. Usually a single comparison decides.
    #[inline]
    fn begins(&self, nth: usize, rest: &[u8]) -> bool {
        let (Some((head, mask)), Some(chunk)) = (self.heads.get(nth), rest.first_chunk::<16>()) else {
            return self.spelled.get(nth).is_some_and(|spelled| rest.starts_with(spelled.as_bytes()));
        };
        let spelled = self.spelled[nth].as_bytes();
        u128::from_le_bytes(*chunk) & mask == *head && (spelled.len() <= 16 || rest.starts_with(spelled))
    }

    /// Moves past the key that begins here, its colon and the white space after it. Returns the key's number, or N if
    /// it is not a known key; `None` if there is no key here or it has an escape. `last` is the number of the key
    /// before.
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
        if let Some(nth) = found
            && let Ok(nth) = u8::try_from(nth)
        {
            follows.set([nth, guesses[0]]);
        }
        Some(found.unwrap_or(N))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KEYS: Keys<4> = Keys::new(["\"a\":", "\"bb\":", "\"longer name\":", "\"\":"]);

    fn read<'t>(text: &'t str, follows: &Follows, found: &mut [&'t str; 4]) -> Option<()> {
        let mut cursor = Cursor::new(text);
        cursor.space();
        cursor.fields(9, &KEYS, follows, |cursor, nth| {
            found[nth] = cursor.written(9)?;
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
            // Run twice, so that every guess is tried both before and after it was learnt.
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
