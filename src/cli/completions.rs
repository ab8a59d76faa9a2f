//! `whenstop completions`: prints completions for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use super::failure::CommandFailure;
use super::output::Output;
use super::{Cli, ProgramExit};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// `whenstop completions`.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every command")]
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "whenstop", &mut script);
    output.bytes(&script);
    Ok(ProgramExit::Done)
}
