//! `whenstop guard`: tests a guard, or writes one to begin with.

mod test;

use clap::{Subcommand, ValueEnum};

use super::Exit;
use super::failure::Failure;
use super::output::Output;
use crate::guard::EXAMPLES;

/// Arguments of `guard`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask a guard about the bundled runs, twice and in another order: same answers, speed, what it never does. Exits
    /// 100 if there is something to mend.
    Test(test::Args),
    /// Print a working guard to begin with.
    New(NewArgs),
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// The language to write it in.
    #[arg(long, value_enum)]
    language: Language,
}

/// Languages with an example.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Python,
    Typescript,
    Rust,
}

/// `whenstop guard`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    match &args.command {
        Command::Test(args) => test::run(args, output),
        Command::New(args) => {
            let [python, typescript, rust] = EXAMPLES;
            let (_, file, text) = match args.language {
                Language::Python => python,
                Language::Typescript => typescript,
                Language::Rust => rust,
            };
            output.bytes(text.as_bytes());
            output.note(&format!("save it as {file}; `whenstop guard test COMMAND` asks it about the bundled runs"));
            Ok(Exit::Done)
        }
    }
}
