//! One record: its values and where they stand, and the runs and findings that come out of it. Knows no format.

pub(crate) mod field_map;
pub(crate) mod looked_up;
pub(crate) mod named_by;
pub(crate) mod naming;
pub(crate) mod node;
pub(crate) mod options;
pub(crate) mod outcomes;
pub(crate) mod parts;
pub(crate) mod reading;
pub(crate) mod tokens;
pub(crate) mod unknown_kinds;
pub(crate) mod usage;
