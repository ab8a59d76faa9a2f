//! What a reading of a corpus found: counts, oddities, what was not used or not read, and what to do about it.

pub(crate) mod call_counts;
pub(crate) mod corpus_report;
pub(crate) mod hygiene;
pub(crate) mod known_producers;
pub(crate) mod map_hint;
pub(crate) mod repeated_replies;
pub(crate) mod skip_reasons;
pub(crate) mod task_names;
pub(crate) mod told_limits;
pub(crate) mod unnamed_models;
pub(crate) mod unread_parts;
pub(crate) mod unrecorded_contents;
pub(crate) mod unused_fields;
