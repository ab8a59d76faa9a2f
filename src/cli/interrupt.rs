//! Ctrl-C while something is worked on whose finished part is worth having.

use std::sync::atomic::{AtomicU8, Ordering};

/// Ctrl-C ends the program.
const ENDS: u8 = 0;
/// The first Ctrl-C is noted.
const NOTED: u8 = 1;
/// It has come; the next one ends the program.
const CAME: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(ENDS);

/// While it is there, the first Ctrl-C does not end the program: [`Self::has_come`] tells of it, and what has been finished
/// can be written.
pub(super) struct Listening;

impl Listening {
    pub(super) fn start() -> Self {
        STATE.store(NOTED, Ordering::SeqCst);
        Self
    }

    /// Has Ctrl-C come?
    #[expect(clippy::unused_self, reason = "only who listens may ask")]
    pub(super) fn has_come(&self) -> bool {
        STATE.load(Ordering::SeqCst) == CAME
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        STATE.store(ENDS, Ordering::SeqCst);
    }
}

/// Takes a signal in; false where it is to end the program.
pub(super) fn is_taken() -> bool {
    STATE.compare_exchange(NOTED, CAME, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}
