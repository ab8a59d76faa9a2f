//! `whenstop ci`: everything a team's CI does with stop points and gates.

use clap::Subcommand;

use super::failure::Failure;
use super::output::Output;
use super::{Exit, gate, init};

/// Arguments of `ci`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start here: read recordings and write a project file, stacks, a snapshot and a workflow.
    Init(init::Args),
    /// Compare stop points with a snapshot and check gates; exits 100 if either fails.
    Check(gate::CheckArgs),
    /// Settle changed stop points one after another, or kind by kind: accept, reject, skip.
    Review(Box<gate::ReviewArgs>),
    /// Write the stop points of a comparison as a snapshot to be reviewed and committed.
    Accept(gate::AcceptArgs),
    /// Show what changed between two snapshots, stack files or corpora, or since a snapshot, without judging it.
    Diff(gate::DiffArgs),
}

/// `whenstop ci`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    match &args.command {
        Command::Init(args) => init::run(args, output),
        Command::Check(args) => gate::check(args, output),
        Command::Review(args) => gate::review(args, output),
        Command::Accept(args) => gate::accept(args, output),
        Command::Diff(args) => gate::diff(args, output),
    }
}
