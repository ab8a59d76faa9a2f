//! `whenstop accept`, `check` and `diff`: the regression gate.

use std::path::PathBuf;

use super::Exit;
use super::compare::{Keeps, compare};
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, StackArgs, read_text, unreadable};
use super::output::Output;
use super::sweep::share;
use crate::aggregate::Rows;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::{table, write_atomically};
use crate::snapshot::{Change, CutShortGate, Gate, MIN_KNOWN, Snapshot};

/// Arguments of `accept`.
#[derive(Debug, clap::Args)]
pub(super) struct AcceptArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    stacks: StackArgs,
    /// The snapshot file.
    #[arg(long, value_name = "FILE")]
    snapshot: PathBuf,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    stacks: StackArgs,
    /// The snapshot file; without it only the gates are held.
    #[arg(long, value_name = "FILE", required_unless_present = "fail_on")]
    snapshot: Option<PathBuf>,
    /// Fail when a number of the summary passes a limit. `fes_rate_high>0.05` passes only what is shown safe,
    /// `fes_rate_low>0.02` fails only what is shown unsafe, `fes_rate>0.02` looks at the point; `ours:fes_rate_high>0.05`
    /// at one stack; `cut_short_high>0.05` at what followed the stops, which needs no outcomes. What is not known
    /// fails. Repeatable.
    #[arg(long, value_name = "GATE")]
    fail_on: Vec<String>,
    /// Judge by what could be read, also where files, folders or archives could not.
    #[arg(long)]
    allow_unreadable: bool,
    /// A gate fails on a number that is known on fewer than this share of the runs.
    #[arg(long, value_name = "SHARE", default_value_t = MIN_KNOWN, value_parser = share)]
    min_known: f64,
}

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    stacks: StackArgs,
    /// The snapshot file.
    #[arg(long, value_name = "FILE")]
    snapshot: PathBuf,
}

fn rows_of(corpus: &CorpusArgs, stacks: &StackArgs, output: &Output) -> Result<Rows, Failure> {
    Ok(compare(corpus, stacks, &AssumptionArgs::default(), Keeps::Nothing, output)?.rows)
}

/// `whenstop accept`.
pub(super) fn accept(args: &AcceptArgs, output: &Output) -> Result<Exit, Failure> {
    let path = args.snapshot.display().to_string();
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false") {
        let help = "accept on your own machine, review the file, and commit it; in CI use `check`";
        return Err(Failure::usage(Diagnostic::new(Location::file(path), "snapshots are not written under CI", help)));
    }
    let snapshot = Snapshot::of(&rows_of(&args.corpus, &args.stacks, output)?);
    write_atomically(&args.snapshot, |out| out.write_all(snapshot.to_text().as_bytes())).map_err(Failure::input)?;
    output.note(&format!("{} stop points written to {path}", snapshot.len()));
    Ok(Exit::Done)
}

/// `whenstop check`.
pub(super) fn check(args: &CheckArgs, output: &Output) -> Result<Exit, Failure> {
    let stacks: Vec<String> = args.stacks.load()?.iter().map(|stack| stack.name().to_owned()).collect();
    let columns = table::summary_columns();
    let (cut_short, others): (Vec<_>, Vec<_>) =
        args.fail_on.iter().map(|text| (text, CutShortGate::parse(text))).partition(|(_, gate)| gate.is_some());
    let cut_short: Result<Vec<CutShortGate>, Diagnostic> = cut_short.into_iter().filter_map(|(_, gate)| gate).collect();
    let cut_short = cut_short.map_err(Failure::usage)?;
    let gates: Result<Vec<Gate>, Diagnostic> =
        others.iter().map(|(text, _)| Gate::parse(text, &columns, &stacks)).collect();
    let gates = gates.map_err(Failure::usage)?;
    let compared = compare(&args.corpus, &args.stacks, &AssumptionArgs::default(), Keeps::Nothing, output)?;
    if compared.unreadable > 0 && !args.allow_unreadable {
        return Err(Failure::input(Diagnostic::new(
            Location::default(),
            format!("{}: a gate that has not seen them says nothing", unreadable(compared.unreadable)),
            "mend them or leave them out, or judge without them: `--allow-unreadable`",
        )));
    }
    let rows = compared.rows;
    let mut failed = false;
    if let Some(path) = &args.snapshot {
        let changes = changes(path, &rows)?;
        tell(&changes, output);
        failed |= !changes.is_empty();
    }
    for gate in &gates {
        for result in gate.hold(&rows, args.min_known) {
            let word = if result.failed { "FAILED" } else { "held" };
            let of = if gate.names_stack() { String::new() } else { format!("{}: ", result.stack) };
            output.paragraph(&format!("gate {}: {word}: {of}{}", result.gate, result.why));
            failed |= result.failed;
        }
    }
    for gate in &cut_short {
        for result in gate.hold(compared.followed.summaries()) {
            let word = if result.failed { "FAILED" } else { "held" };
            let of = if gate.names_stack() { String::new() } else { format!("{}: ", result.stack) };
            output.paragraph(&format!("gate {}: {word}: {of}{}", result.gate, result.why));
            failed |= result.failed;
        }
    }
    Ok(if failed { Exit::GateFailed } else { Exit::Done })
}

/// `whenstop diff`.
pub(super) fn diff(args: &DiffArgs, output: &Output) -> Result<Exit, Failure> {
    let rows = rows_of(&args.corpus, &args.stacks, output)?;
    tell(&changes(&args.snapshot, &rows)?, output);
    Ok(Exit::Done)
}

fn changes(path: &std::path::Path, rows: &Rows) -> Result<Vec<Change>, Failure> {
    let text = read_text(path, "write it first with `whenstop accept`").map_err(Failure::input)?;
    let before = Snapshot::parse(&path.display().to_string(), &text).map_err(Failure::input)?;
    Ok(before.changes(&Snapshot::of(rows)))
}

fn tell(changes: &[Change], output: &Output) {
    for change in changes {
        output.data(&format!("{}\n", change.to_line()));
    }
    let word = if changes.is_empty() {
        "no stop point changed".to_owned()
    } else {
        format!("{} stop points changed", changes.len())
    };
    output.data(&format!("{word}\n"));
}
