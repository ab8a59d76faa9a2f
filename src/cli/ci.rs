//! `whenstop ci`: everything a team's CI does with stop points and gates.

use clap::Subcommand;

use super::failure::CommandFailure;
use super::output::Output;
use super::{ProgramExit, gate, init};

/// Arguments of `ci`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: CiCommand,
}

#[derive(Debug, Subcommand)]
enum CiCommand {
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
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    match &args.command {
        CiCommand::Init(args) => init::run(args, output),
        CiCommand::Check(args) => gate::check(args, output),
        CiCommand::Review(args) => gate::review(args, output),
        CiCommand::Accept(args) => gate::accept(args, output),
        CiCommand::Diff(args) => gate::diff(args, output),
    }
}
