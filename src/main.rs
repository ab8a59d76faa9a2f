//! The `whenstop` binary: parses arguments, calls the library, returns its exit code.

use std::process::ExitCode;

use whenstop::cli;

fn main() -> ExitCode {
    cli::main(std::env::args_os()).into()
}
