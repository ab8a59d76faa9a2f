//! `whenstop help validity`: how often each kind of number held where the truth is known. Made from `reports/`, validity,
//! by `tests/it/validity.rs`.

use std::ffi::OsString;

use super::output::Output;

const TABLE: &str = include_str!("validity.txt");

/// Whether these arguments, the program's name first, ask for it.
pub(super) fn is_asked(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).eq(["help", "validity"])
}

/// Prints it.
pub(super) fn print(output: &Output) {
    output.data(TABLE);
}
