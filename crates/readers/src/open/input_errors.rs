//! What to do about input that should have been read but could not be. It is reported with its location and counted, and is
//! an error if the caller requires that everything is read.

/// The help for a file that breaks off.
pub(crate) const CUT: &str = "copy or pack the file anew: it was cut off or damaged on its way here";
/// The help for an archive or a member of one.
pub(crate) const ARCHIVE: &str = "pack the recordings anew, or unpack them yourself and name the folder";
