//! `whenstop explain`: one run step by step, with each stack's signals and where it stopped.

use super::Exit;
use super::failure::Failure;
use super::inputs::{CorpusArgs, StackArgs};
use super::output::Output;
use crate::explain::Explanation;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    stacks: StackArgs,
    /// The run to explain, by its id or a part of it. Repeatable; by default the only run there is.
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// Characters of each text that are shown.
    #[arg(long, value_name = "N", default_value_t = 70)]
    text: usize,
}

/// Runs explained when none is named.
const WITHOUT_NAME: usize = 1;

/// `whenstop explain`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let strategies = args.stacks.load()?;
    let wanted = |id: &str| args.run.is_empty() || args.run.iter().any(|part| id.contains(part.as_str()));
    let (mut shown, mut others) = (Vec::new(), 0_usize);
    args.corpus.process(
        output,
        |run| wanted(&run.header.run_id).then(|| Explanation::of(&run, &strategies, args.text).to_string()),
        |text| match text {
            Some(text) if !args.run.is_empty() || shown.len() < WITHOUT_NAME => shown.push(text),
            _ => others += 1,
        },
    )?;
    if shown.is_empty() {
        return Err(Failure::nothing(
            format!("no run is called {}", args.run.join(" or ")),
            "`rows.csv` of `compare --out` lists the runs; a part of the id is enough",
        ));
    }
    output.data(&shown.join("\n"));
    if args.run.is_empty() && others > 0 {
        output.note(&format!("{others} more runs; name one with `--run`"));
    }
    Ok(Exit::Done)
}
