//! Handles Ctrl-C during work whose finished part is worth keeping.

use std::sync::atomic::{AtomicU8, Ordering};

/// Ctrl-C ends the program.
const ENDS: u8 = 0;
/// The next Ctrl-C is only noted.
const NOTED: u8 = 1;
/// Ctrl-C was noted; the next one ends the program.
const CAME: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(ENDS);

/// While this value exists, the first Ctrl-C does not end the program: [`Self::has_come`] reports it, so that finished
/// work can be written.
pub(super) struct Listening;

impl Listening {
    pub(super) fn start() -> Self {
        STATE.store(NOTED, Ordering::SeqCst);
        Self
    }

    /// Whether Ctrl-C was pressed.
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

/// Handles a signal; false if it is to end the program.
pub(super) fn is_taken() -> bool {
    STATE.compare_exchange(NOTED, CAME, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}
