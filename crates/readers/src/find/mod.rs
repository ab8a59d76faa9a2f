//! Which files are the recordings of a corpus, what each is called, and which of them are the same or belong together.

pub(crate) mod child_sessions;
pub(crate) mod earlier_states;
pub(crate) mod file_name;
pub(crate) mod files;
pub(crate) mod hidden_names;
pub(crate) mod identical_files;
pub(crate) mod places;
pub(crate) mod read_error;
pub(crate) mod run_ids;
pub(crate) mod session_heads;
pub(crate) mod skipped;
pub(crate) mod source;
