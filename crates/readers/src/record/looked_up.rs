//! Which values of a record the readers looked at, and as what.
//!
//! While a record is read, the addresses of the values that are looked up are collected. Those of its fields whose
//! values are not among them were not used. A value that was read as one type after another and is of none of them is
//! of a type that no recorder writes there.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use crate::value::json;

/// Most misses that are kept at a time.
const MOST: usize = 10_000;

/// A value that was read as a type that it does not have.
struct Miss {
    /// Where the value is in memory, which tells values apart.
    address: usize,
    /// Where the part of the record that it is in begins: in memory, and once settled in the record.
    place: usize,
    key: Box<str>,
    found: &'static str,
    wanted: &'static str,
}

/// The reads of the values of one record.
struct Tries {
    /// Addresses of values that were read as the type they have.
    fits: Vec<usize>,
    misses: Vec<Miss>,
}

thread_local! {
    static WATCHES: Cell<bool> = const { Cell::new(false) };
    static USED: RefCell<HashSet<usize>> = RefCell::new(HashSet::new());
    static READS: Cell<bool> = const { Cell::new(false) };
    static TRIES: RefCell<Tries> = const { RefCell::new(Tries { fits: Vec::new(), misses: Vec::new() }) };
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
    let address = value.as_ptr() as usize;
    TRIES.with_borrow_mut(|tries| {
        if fits {
            // Most values that may have one of two types are read as one and then as the other.
            while tries.misses.pop_if(|miss| miss.address == address).is_some() {}
            if tries.fits.last() != Some(&address) {
                tries.fits.push(address);
            }
        } else if let Some(found) = json::kind(value).filter(|_| tries.misses.len() < MOST) {
            tries.misses.push(Miss { address, place: place.as_ptr() as usize, key: key.into(), found, wanted });
        }
    });
}

/// Notes that the type of this value has been reported.
pub(crate) fn told(value: &str) {
    tried(value, value, ANY, ANY, true);
}

/// From now on, how values are read on this thread is collected, and if `watches` also what is looked at.
pub(crate) fn watch(watches: bool) {
    USED.with_borrow_mut(HashSet::clear);
    WATCHES.set(watches);
    TRIES.with_borrow_mut(|tries| *tries = Tries { fits: Vec::new(), misses: Vec::new() });
    READS.set(true);
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

/// The values in this text of a record, or of one of several, that are of none of the types they were read as.
pub(crate) fn wrong_types(text: &str) -> Vec<WrongType> {
    let mut wrong: Vec<WrongType> = Vec::new();
    let mut nth_by_address = HashMap::new();
    for Miss { address, place, key, found, wanted } in misses_within(text) {
        let nth = *nth_by_address.entry(address).or_insert(wrong.len());
        match wrong.get_mut(nth) {
            Some(known) if known.wanted.contains(&wanted) => {}
            Some(known) => known.wanted.push(wanted),
            None => wrong.push(WrongType { offset: place, key, found, wanted: vec![wanted] }),
        }
    }
    wrong
}

/// Ends what [`watch`] began, and hands over the values that are left, as if they began the record: what was decoded or
/// put together anew has no place in it.
pub(crate) fn wrong_types_elsewhere(text: &str) -> Vec<WrongType> {
    TRIES.with_borrow_mut(|tries| tries.misses.iter_mut().for_each(|miss| miss.place = text.as_ptr() as usize));
    READS.set(false);
    wrong_types(text)
}

/// Takes out the misses in this text, without those of values that were also read as what they are.
fn misses_within(text: &str) -> Vec<Miss> {
    let begins = text.as_ptr() as usize;
    TRIES.with_borrow_mut(|tries| {
        if tries.misses.is_empty() {
            return Vec::new();
        }
        tries.fits.sort_unstable();
        let mut found = Vec::new();
        for mut miss in std::mem::take(&mut tries.misses) {
            if !(begins..begins + text.len()).contains(&miss.place) {
                tries.misses.push(miss);
            } else if tries.fits.binary_search(&miss.address).is_err() {
                miss.place -= begins;
                found.push(miss);
            }
        }
        found
    })
}
