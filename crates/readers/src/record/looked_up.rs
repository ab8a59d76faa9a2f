//! Which values of a record the readers looked at.
//!
//! While a record is read, the addresses of the values that are looked up are collected. Those of its fields whose
//! values are not among them were not used.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

thread_local! {
    static WATCHES: Cell<bool> = const { Cell::new(false) };
    static USED: RefCell<HashSet<usize>> = RefCell::new(HashSet::new());
}

/// Notes that a reader looked at this value.
pub(crate) fn used(value: &str) {
    if WATCHES.get() {
        USED.with_borrow_mut(|used| used.insert(value.as_ptr() as usize));
    }
}

/// From now on, what is looked at on this thread is collected.
pub(crate) fn watch() {
    USED.with_borrow_mut(HashSet::clear);
    WATCHES.set(true);
}

/// Ends what [`watch`] began, and hands over the addresses that were collected.
pub(crate) fn with_used<T>(read: impl FnOnce(&HashSet<usize>) -> T) -> T {
    WATCHES.set(false);
    USED.with_borrow(read)
}
