//! `whenstop ci accept`: makes the current stop points the accepted ones; changes of earlier ones only if asked to.

use std::path::Path;

use super::inputs::GateInputs;
use super::replayed::replayed;
use super::{LARGEST_SNAPSHOT, is_ci, read_old_snapshot, told};
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::diagnostic::{count, did_you_mean, nearest};
use crate::reader::read_whole_text;
use crate::report::write_text;
use crate::review::ChangeReview;
use crate::snapshot::StopSnapshot;

/// Arguments of `accept`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    whenstop ci accept                # the first snapshot, as whenstop.toml says\n  \
    whenstop ci accept --only mixed   # this stack's section, the others as they are\n  \
    whenstop ci accept runs --stacks my.toml --snapshot stops.snap")]
pub(in crate::cli) struct AcceptArgs {
    /// Accept the stop points of this stack only; those of the others stay as accepted before. Repeatable.
    #[arg(long, value_name = "STACK")]
    only: Vec<String>,
    /// Accept all changes of an existing snapshot at once; `ci review` goes through them.
    #[arg(long, conflicts_with = "only")]
    all: bool,
    #[command(flatten)]
    inputs: GateInputs,
}

/// `whenstop ci accept`.
pub(in crate::cli) fn accept(args: &AcceptArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let inputs = args.inputs.resolve(output)?;
    let path = inputs.snapshot()?;
    if is_ci() {
        let help = "accept on your own machine, review the file, and commit it; in CI use `check`";
        return Err(CommandFailure::file(path, "snapshots are not written under CI", help));
    }
    let before = if path.is_file() || !args.only.is_empty() { read_old(args, path, output)? } else { None };
    let stacks = inputs.stacks.load()?;
    if let Some(before) = before.as_ref().filter(|_| !args.only.is_empty()) {
        let known = stacks.strategies.iter().map(|stack| stack.name()).chain(before.stacks.keys().map(String::as_str));
        names_exist(&args.only, &known.collect::<Vec<_>>())?;
    }
    let now = replayed(&inputs.corpus, &stacks, &args.only, before.as_ref(), None, output)?;
    now.refuse_troubles(path, "accept")?;
    let snapshot = match &before {
        Some(before) if !args.only.is_empty() => only(before, now.snapshot, args, path)?,
        _ => now.snapshot,
    };
    if let Some(before) = &before {
        let review = ChangeReview::between(before, &snapshot, now.words);
        let rest = told::review(&review, false, output)?;
        if rest > 0 {
            output.data(&format!("\nand {}\n", count(rest as u64, "more change")));
        }
        if !review.changes.is_empty() && !args.all && args.only.is_empty() {
            let n = count(review.changes.len() as u64, "stop point");
            let help =
                "`whenstop ci review` goes through them, one after another or kind by kind; `--all` accepts them all";
            let what = format!("{n} changed, and nothing is accepted unseen");
            return Err(CommandFailure::file(path, what, help));
        }
    }
    write_text(path, &snapshot.to_text()).map_err(CommandFailure::input)?;
    output.note(&format!("{} stop points written to {}", snapshot.len(), path.display()));
    Ok(ProgramExit::Done)
}

/// The existing snapshot. An unreadable one is replaced, except with `--only`, where most of it is to be kept.
fn read_old(args: &AcceptArgs, path: &Path, output: &Output) -> Result<Option<StopSnapshot>, CommandFailure> {
    match read_old_snapshot(path) {
        Ok(snapshot) => Ok(Some(snapshot)),
        // Never overwrites a file that is not a snapshot.
        Err(failure)
            if args.only.is_empty()
                && read_whole_text(path, LARGEST_SNAPSHOT).is_ok_and(|text| StopSnapshot::is_one(&text)) =>
        {
            failure.diagnostics.iter().for_each(|diagnostic| output.warning(diagnostic));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

fn names_exist(only: &[String], known: &[&str]) -> Result<(), CommandFailure> {
    let Some(name) = only.iter().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let near = nearest(name, known.iter().copied());
    let help = did_you_mean(near, &format!("the stacks are {}", known.join(", ")));
    Err(CommandFailure::arguments(format!("no stack `{name}`"), help))
}

/// The existing snapshot, with some stacks updated.
fn only(
    before: &StopSnapshot,
    now: StopSnapshot,
    args: &AcceptArgs,
    path: &Path,
) -> Result<StopSnapshot, CommandFailure> {
    let same = match (&before.corpus, &now.corpus) {
        (None, _) => true,
        (Some(before), Some(now)) => before.print == now.print,
        (Some(_), None) => false,
    };
    if !same {
        let help = "the other stacks have no stop points on these: accept them all, with `--all` instead of `--only`";
        let what = "the recordings are not those the snapshot was accepted on";
        return Err(CommandFailure::file(path, what, help));
    }
    let mut stacks = before.stacks.clone();
    stacks.retain(|stack, _| !args.only.contains(stack));
    stacks.extend(now.stacks);
    // Keeps the version: it belongs to the stacks that were not updated.
    Ok(StopSnapshot { stacks, corpus: now.corpus, whenstop: before.whenstop.clone() })
}
