//! `cargo run -p whenstop-dev -- conformance PATH…` and `… -- synth …`.

use std::process::ExitCode;

use clap::Parser;
use whenstop_core::diagnostic::Diagnostic;

mod check;
mod generate;

/// Tools of whenstop's own development.
#[derive(Parser)]
enum DevCommand {
    /// Check golden tables of decisions against the systems and presets that should reproduce them.
    Conformance(check::Args),
    /// Write synthetic runs with known truth.
    Synth(generate::Args),
}

fn main() -> ExitCode {
    let result: Result<bool, Diagnostic> = match DevCommand::parse() {
        DevCommand::Conformance(args) => check::run(&args),
        DevCommand::Synth(args) => generate::run(&args).map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(100),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the program's own message")]
            {
                eprintln!("error: {}\n  = help: {}", error.what, error.help);
            }
            ExitCode::from(2)
        }
    }
}
