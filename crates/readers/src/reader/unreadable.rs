//! What should have been read and could not be: told with its place, counted, and an error for whoever asks for all.

use std::io;

use crate::diagnostic::{Diagnostic, Location};

/// What to do about a file that breaks off.
pub(super) const CUT: &str = "copy or pack the file anew: it was cut off or damaged on its way here";
/// What to do about an archive, or a member of one.
pub(super) const ARCHIVE: &str = "pack the recordings anew, or unpack them yourself and name the folder";

/// A file or folder that the system does not give out.
pub(super) fn denied(path: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::new(
        Location::file(path),
        format!("cannot be read: {error}"),
        "check its permissions and the disk it is on, or leave it out",
    )
}
