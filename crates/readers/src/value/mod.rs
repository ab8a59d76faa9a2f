//! Single values in the spellings that recordings use: JSON, numbers, times.

pub(crate) mod json;
pub(crate) mod marks;
pub(crate) mod time;
