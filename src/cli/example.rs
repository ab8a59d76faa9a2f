//! Without a command: the bundled stacks on the bundled recordings. Both are part of the program, so it runs anywhere.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Exit;
use super::compare::run_on;
use super::failure::Failure;
use super::output::Output;
use crate::catalog;
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::trace;
use crate::stack::StackFile;
use crate::system::ConfigText;

/// The recordings of `traces/`, in the order of their paths.
const RECORDINGS: [&str; 12] = [
    include_str!("../../traces/synthetic/code.jsonl"),
    include_str!("../../traces/synthetic/research.jsonl"),
    include_str!("../../traces/synthetic/service.jsonl"),
    include_str!("../../traces/verdicts/clean_pass.jsonl"),
    include_str!("../../traces/verdicts/fes.jsonl"),
    include_str!("../../traces/verdicts/fes_unverified.jsonl"),
    include_str!("../../traces/verdicts/good_trim.jsonl"),
    include_str!("../../traces/verdicts/lost_success.jsonl"),
    include_str!("../../traces/verdicts/missed_stop.jsonl"),
    include_str!("../../traces/verdicts/rescued.jsonl"),
    include_str!("../../traces/verdicts/true_stop.jsonl"),
    include_str!("../../traces/verdicts/unlabelled.jsonl"),
];

/// The stack file to begin with.
const STACKS: &str = include_str!("../../fixtures/stacks/example.toml");

/// Arguments of the example that runs without a command.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Where the example writes its report.
    #[arg(long, value_name = "DIR", default_value = "reports/example")]
    out: PathBuf,
}

/// `whenstop` alone.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    output.note("comparing the bundled example stacks on the bundled recordings");
    let file = StackFile::parse("example.toml", STACKS).map_err(Failure::usage)?;
    let strategies = catalog::strategies(&file, &names_no_file).map_err(Failure::usage)?;
    let runs = RECORDINGS.iter().flat_map(|text| trace::read_text(text).runs);
    run_on(runs, &strategies, &args.out, output)
}

/// The bundled stacks are all own ones.
fn names_no_file(name: &str) -> Result<ConfigText, Diagnostic> {
    Err(Diagnostic::new(Location::file(name), "the bundled example has no such file", "report this as a defect"))
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
        assert_eq!(texts, RECORDINGS);
    }
}
