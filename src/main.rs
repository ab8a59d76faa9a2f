//! The `whenstop` binary: parses arguments, calls the library, returns its exit code.

use std::process::ExitCode;

use clap::Parser;
use whenstop::cli;

fn main() -> ExitCode {
    cli::run(cli::Cli::parse()).into()
}
