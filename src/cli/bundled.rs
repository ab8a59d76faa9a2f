//! Without a command: runs the bundled stacks on the bundled recordings. Both are part of the program, so it works
//! anywhere.

use std::io;

use clap::Args as ClapArgs;

use super::ProgramExit;
use super::compare::{GatheredRuns, gather, show};
use super::configurations::{configurations, n_hosts};
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, ReadingArgs, StackArgs, UnitOfRun};
use super::output::{Output, TableFormat};
use crate::compare::EvaluationOptions;
use crate::diagnostic::{Diagnostic, Location};
use crate::explain::Texts;
use crate::reader::{TemporaryFolder, trace};
use crate::report::{FolderFormat, Manifest, Publication};
use crate::transcript::Run;

/// A file by its name in `traces/`, with its text.
macro_rules! recordings {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../traces/", $name)))),*] };
}

const RECORDINGS: [(&str, &str); 12] = recordings! {
    "synthetic/code.jsonl"
    "synthetic/research.jsonl"
    "synthetic/service.jsonl"
    "verdicts/good_trim.jsonl"
    "verdicts/killed_unverified.jsonl"
    "verdicts/killed_verified.jsonl"
    "verdicts/let_be.jsonl"
    "verdicts/lost_success.jsonl"
    "verdicts/missed.jsonl"
    "verdicts/rescued.jsonl"
    "verdicts/true_stop.jsonl"
    "verdicts/unlabelled.jsonl"
};

/// The stack file that the example uses.
const STACKS: &str = include_str!("../../fixtures/stacks/example.toml");
/// The native configuration that one of the stacks refers to.
const CONFIG: (&str, &str) =
    ("awaken-stop-conditions.json", include_str!("../../fixtures/stacks/awaken-stop-conditions.json"));

/// Arguments of the example that runs without a command.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Where the example writes its report.
    #[arg(long, value_name = "DIR", default_value = "reports/example")]
    out: Destination,
}

/// Runs `whenstop` without a command.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let folder = unpacked().map_err(|error| {
        let help = "the recordings of the example are unpacked there; set TMPDIR to a folder that has room";
        let temporary = std::env::temp_dir().display().to_string();
        CommandFailure::input(Diagnostic::new(Location::file(temporary), format!("cannot write: {error}"), help))
    })?;
    let path = |name: &str| folder.path().join(name);
    output.note("comparing the bundled example stacks on the bundled recordings");
    let corpus = CorpusArgs { paths: vec![path(TRACES)], reading: ReadingArgs::default(), unit: UnitOfRun::Run };
    let stacks = StackArgs::named(vec![path(STACK_FILE).display().to_string()]);
    let stacks = stacks.load_some()?;
    let options = EvaluationOptions { stories: Some(Texts::Evidence), ..EvaluationOptions::default() };
    let GatheredRuns { evidence, manifest, found, .. } = gather(&corpus.runs(), &stacks, &options, output)?;
    let mut manifest = Manifest { found, configurations: configurations(&stacks), ..manifest };
    manifest.set_places(&stacks.places());
    for stack in &mut manifest.stacks {
        stack.hosts = n_hosts(&stacks, &stack.name);
    }
    let format = FolderFormat { csv: output.csv, ..FolderFormat::default() };
    let exit = show(&Publication::new(evidence, manifest), TableFormat::Table, Some((&args.out, format)), output)?;
    let agents = super::local::agents_here();
    if !agents.is_empty() {
        output.note(&format!("sessions of {} are on this machine: `whenstop local` looks at them", agents.join(", ")));
    }
    Ok(exit)
}

/// The bundled runs.
pub(super) fn runs() -> Vec<Run> {
    RECORDINGS.iter().flat_map(|(_, text)| trace::read_text(text).runs).collect()
}

const TRACES: &str = "traces";
const STACK_FILE: &str = "example.toml";

fn unpacked() -> io::Result<TemporaryFolder> {
    let folder = TemporaryFolder::new()?;
    for (name, text) in RECORDINGS {
        let path = folder.path().join(TRACES).join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    std::fs::write(folder.path().join(CONFIG.0), CONFIG.1)?;
    std::fs::write(folder.path().join(STACK_FILE), STACKS)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_recording_is_part_of_the_program() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
        let mut paths: Vec<_> =
            walkdir::WalkDir::new(root).into_iter().map(|entry| entry.unwrap().into_path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, RECORDINGS.map(|(_, text)| text));
    }
}
