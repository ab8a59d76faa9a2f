//! The `whenstop` binary: parses arguments, calls the library, returns its exit code.

fn main() {}
