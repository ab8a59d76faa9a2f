//! Which values of a record the readers looked at, and as what.
//!
//! While a record is read, the addresses of the values that are looked up are collected. Those of its fields whose
//! values are not among them were not used. A value that was read as one type after another and is of none of them is
//! of a type that no recorder writes there. A value that was decoded or put together anew is gone before the record is,
//! and its address may be that of another one: such a value is told apart by its key and what it says.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::value::json;

/// Most misses that are kept at a time.
const MOST: usize = 10_000;

/// What tells values apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum ValueId {
    /// Where in memory a value of a text that is being read begins.
    Address(usize),
    /// The hash of what any other value says, with that of its key as the seed.
    Content(u64),
}

/// A value that was read as a type that it does not have.
struct Miss {
    value: ValueId,
    /// The same without the key.
    keyless: ValueId,
    /// Where the part of a text that it is in begins: in memory, and once settled in the text. `None` if it is in no text.
    place: Option<usize>,
    key: Box<str>,
    found: &'static str,
    wanted: &'static str,
}

/// The reads of the values of one record.
#[derive(Default)]
struct Tries {
    /// Where the record is in memory, and other files that are read with it.
    texts: Vec<Range<usize>>,
    /// Values that were read as the type they have, or whose type was reported.
    fits: Vec<ValueId>,
    misses: Vec<Miss>,
}

impl Tries {
    fn is_in_text(&self, address: usize) -> bool {
        self.texts.iter().any(|text| text.contains(&address))
    }

    fn identity(&self, value: &str, key: &str) -> ValueId {
        let address = value.as_ptr() as usize;
        if self.is_in_text(address) {
            ValueId::Address(address)
        } else {
            ValueId::Content(xxh3_64_with_seed(value.as_bytes(), xxh3_64(key.as_bytes())))
        }
    }

    fn fit(&mut self, value: ValueId) {
        if self.fits.last() != Some(&value) {
            self.fits.push(value);
        }
    }
}

thread_local! {
    static WATCHES: Cell<bool> = const { Cell::new(false) };
    static USED: RefCell<HashSet<usize>> = RefCell::new(HashSet::new());
    static READS: Cell<bool> = const { Cell::new(false) };
    static TRIES: RefCell<Tries> = const { RefCell::new(Tries { texts: Vec::new(), fits: Vec::new(), misses: Vec::new() }) };
}

/// Notes that a reader looked at this value.
pub(crate) fn used(value: &str) {
    if WATCHES.get() {
        USED.with_borrow_mut(|used| used.insert(value.as_ptr() as usize));
    }
}

/// Stands for a type where a value of any type is taken as it is.
pub(crate) const ANY: &str = "any value";

/// Notes that the value under `key` was read as the `wanted` type. `place` is the part of the record that it is in.
pub(crate) fn tried(value: &str, place: &str, key: &str, wanted: &'static str, fits: bool) {
    if !READS.get() || key.is_empty() || value == "null" {
        return;
    }
    TRIES.with_borrow_mut(|tries| {
        let identity = tries.identity(value, key);
        if fits {
            // Most values that may have one of two types are read as one and then as the other.
            while tries.misses.pop_if(|miss| miss.value == identity).is_some() {}
            tries.fit(identity);
        } else if tries.misses.len() < MOST
            && let Some(found) = json::kind(value)
        {
            let place = place.as_ptr() as usize;
            let place = if tries.is_in_text(place) { Some(place) } else { None };
            let keyless = tries.identity(value, "");
            tries.misses.push(Miss { value: identity, keyless, place, key: key.into(), found, wanted });
        }
    });
}

/// Notes that the type of this value has been reported.
pub(crate) fn told(value: &str) {
    if READS.get() {
        TRIES.with_borrow_mut(|tries| tries.fit(tries.identity(value, "")));
    }
}

/// From now on, how the values of this record are read on this thread is collected, and if `watches` also what is looked at.
pub(crate) fn watch(record: &str, watches: bool) {
    USED.with_borrow_mut(HashSet::clear);
    WATCHES.set(watches);
    TRIES.set(Tries { texts: vec![range_of(record)], ..Tries::default() });
    READS.set(true);
}

/// From now on until [`wrong_types`] is asked, the values of another file are read, too.
pub(crate) fn watch_too(text: &str) {
    TRIES.with_borrow_mut(|tries| tries.texts.push(range_of(text)));
}

fn range_of(text: &str) -> Range<usize> {
    let begins = text.as_ptr() as usize;
    begins..begins + text.len()
}

/// Ends what [`watch`] began, and hands over the addresses that were collected.
pub(crate) fn with_used<T>(read: impl FnOnce(&HashSet<usize>) -> T) -> T {
    WATCHES.set(false);
    USED.with_borrow(read)
}

/// A value that is of none of the types it was read as.
pub(crate) struct WrongType {
    /// Where it, or the string that it was decoded from, begins in the record.
    pub(crate) offset: usize,
    pub(crate) key: Box<str>,
    pub(crate) found: &'static str,
    /// The types it was read as.
    pub(crate) wanted: Vec<&'static str>,
}

/// The values in this text, the record or another file, that are of none of the types they were read as. It is read no more.
pub(crate) fn wrong_types(text: &str) -> Vec<WrongType> {
    TRIES.with_borrow_mut(|tries| {
        let place = range_of(text);
        let is_in = |miss: &mut Miss| matches!(miss.place, Some(at) if place.contains(&at));
        let misses: Vec<Miss> = tries.misses.extract_if(.., is_in).collect();
        let wrong = without_fits(misses, &mut tries.fits, place.start);
        tries.fits.retain(|fit| !matches!(fit, ValueId::Address(at) if place.contains(at)));
        tries.texts.retain(|text| *text != place);
        wrong
    })
}

/// Ends what [`watch`] began, and hands over the values that are left, as if they began the record: what was decoded or
/// put together anew has no place in it.
pub(crate) fn wrong_types_elsewhere() -> Vec<WrongType> {
    READS.set(false);
    TRIES.with_borrow_mut(|tries| without_fits(std::mem::take(&mut tries.misses), &mut tries.fits, 0))
}

/// The values of these misses that were not read as what they are, too. The text that they are in begins at `begins`.
fn without_fits(misses: Vec<Miss>, fits: &mut [ValueId], begins: usize) -> Vec<WrongType> {
    let mut wrong: Vec<WrongType> = Vec::new();
    if misses.is_empty() {
        return wrong;
    }
    fits.sort_unstable();
    let mut nth_by_value = HashMap::new();
    for Miss { value, keyless, place, key, found, wanted } in misses {
        if fits.binary_search(&value).is_ok() || fits.binary_search(&keyless).is_ok() {
            continue;
        }
        let nth = *nth_by_value.entry(value).or_insert(wrong.len());
        let offset = place.unwrap_or(begins) - begins;
        match wrong.get_mut(nth) {
            Some(known) if known.wanted.contains(&wanted) => {}
            Some(known) => known.wanted.push(wanted),
            None => wrong.push(WrongType { offset, key, found, wanted: vec![wanted] }),
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_gone_is_not_mistaken_for_the_next_one_at_its_address() {
        let record = r#"{"content":"[5]"}"#;
        watch(record, false);
        let mut decoded = "5".to_owned();
        tried(&decoded, record, "content", "text", false);
        decoded.replace_range(.., "7");
        tried(&decoded, record, "count", "a number", true);
        let wrong = wrong_types(record);
        assert_eq!(wrong.len(), 1);
        assert_eq!((&*wrong[0].key, wrong[0].found, &wrong[0].wanted[..]), ("content", "a number", &["text"][..]));
        assert!(wrong_types_elsewhere().is_empty());
    }

    #[test]
    fn a_value_is_of_the_type_it_was_read_as_last() {
        let record = r#"{"content":5,"count":6}"#;
        let (content, count) = (&record[11..12], &record[21..22]);
        let composed = "[1]".to_owned();
        watch(record, false);
        tried(content, content, "content", "text", false);
        tried(content, content, "content", "a number", true);
        tried(count, count, "count", "text", false);
        tried(&composed, &composed, "calls", "text", false);
        told(&composed);
        assert_eq!(wrong_types(record).iter().map(|wrong| &*wrong.key).collect::<Vec<_>>(), ["count"]);
        assert!(wrong_types_elsewhere().is_empty());
    }
}
