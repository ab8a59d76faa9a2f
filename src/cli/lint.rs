//! `whenstop lint`: unit traps in a stack file, and rules that a corpus shows to be dead or shadowed.

use std::path::{Path, PathBuf};

use super::Exit;
use super::compare::{Compared, compare};
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, ReadingArgs, StackArgs, read_text};
use super::output::Output;
use crate::aggregate::{Label, rule_shares};
use crate::preset;
use crate::stack::{Entry, StackFile, Use, lint};

/// Arguments of `lint`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The stack file.
    #[arg(value_name = "FILE")]
    stacks: PathBuf,
    /// Recordings to tell dead and shadowed rules by.
    #[arg(long = "on", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Exit with 100 when there is a warning.
    #[arg(long)]
    deny_warnings: bool,
}

/// `whenstop lint`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let mut warnings = static_warnings(&args.stacks)?;
    if !args.paths.is_empty() {
        let corpus = CorpusArgs { paths: args.paths.clone(), reading: args.reading.clone() };
        let stacks = StackArgs { stacks: vec![args.stacks.display().to_string()] };
        let compared = compare(&corpus, &stacks, &AssumptionArgs::default(), output)?;
        warnings.extend(corpus_warnings(&compared));
    }
    for warning in &warnings {
        output.data(&format!("warning: {warning}\n"));
    }
    output.data(&format!("{} warnings\n", warnings.len()));
    Ok(if args.deny_warnings && !warnings.is_empty() { Exit::GateFailed } else { Exit::Done })
}

fn static_warnings(path: &Path) -> Result<Vec<String>, Failure> {
    let text = read_text(path, "give a stack file").map_err(Failure::usage)?;
    let file = StackFile::parse(&path.display().to_string(), &text).map_err(Failure::usage)?;
    Ok(file
        .entries
        .iter()
        .flat_map(|entry| match entry {
            Entry::Own(stack) => lint(stack),
            Entry::Use(used) => preset_warnings(used),
        })
        .collect())
}

/// The traps a preset's settings step into. Systems read their own configuration and check it there.
fn preset_warnings(used: &Use) -> Vec<String> {
    let Some(preset) = preset::find(&used.system) else { return Vec::new() };
    let settings =
        preset::Settings { variant: used.profile.clone(), set: used.set.clone(), ..preset::Settings::default() };
    preset::traps(preset, &settings).iter().map(|trap| format!("{}: {trap}", used.name)).collect()
}

/// Rules that no run reached, that never came first, or that many recordings cannot evaluate.
fn corpus_warnings(compared: &Compared) -> Vec<String> {
    let stacks: Vec<(Label, Vec<Label>)> =
        compared.stacks.iter().map(|stack| (stack.name.clone(), stack.rules.clone())).collect();
    let runs = compared.rows.len() / compared.stacks.len().max(1);
    let mut warnings = Vec::new();
    for share in rule_shares(&stacks, &compared.rows, &compared.firings) {
        let name = format!("{}: `{}`", share.stack, share.rule);
        if share.stops > 0 {
            continue;
        }
        match share.fires {
            Some(0) => warnings.push(format!("{name} is dead: none of {runs} runs reached it")),
            Some(fires) => {
                warnings
                    .push(format!("{name} is shadowed: it fires on {fires} runs, but another rule is always first"));
            }
            None => {}
        }
    }
    for stack in &compared.stacks {
        let missing =
            compared.rows.iter().filter(|row| row.stack == stack.name && !row.not_evaluable.is_empty()).count();
        if missing > 0 {
            warnings.push(format!(
                "{}: on {missing} of {runs} runs some rule cannot be evaluated (see `not_evaluable` in rows.csv)",
                stack.name
            ));
        }
    }
    warnings
}
