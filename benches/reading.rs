//! Reading and five signals over a file, and nothing else: what `benches/peer/orjson_signals.py` does, to be timed from
//! outside as a whole process.
//!
//! `cargo bench --bench reading -- FILE` prints runs, steps and limits met, which must be the peer's.
#![expect(clippy::print_stdout, reason = "a bench says what it counted")]

use std::error::Error;
use std::path::PathBuf;

use whenstop::catalog;
use whenstop::reader::{Corpus, Detail, ReadOptions};
use whenstop::replay::replay;
use whenstop::stack::StackFile;

const STACKS: &str = include_str!("../fixtures/stacks/throughput.toml");

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).map(PathBuf::from).collect();
    if paths.is_empty() {
        println!("name a file: cargo bench --bench reading -- FILE");
        return Ok(());
    }
    let file = StackFile::parse("throughput.toml", STACKS)?;
    let strategies = catalog::strategies(&file, &|_| unreachable!("no configuration is named"))?;
    let corpus = Corpus::open(&paths, ReadOptions { detail: Detail::Counts, ..ReadOptions::default() })?;
    let (mut runs, mut steps, mut limits_met) = (0, 0, 0);
    corpus.process(
        |run| {
            let fired = strategies.iter().filter_map(|strategy| replay(&run, strategy).first_firings);
            (run.steps().len(), fired.flatten().flatten().count())
        },
        |(run_steps, run_limits)| {
            runs += 1;
            steps += run_steps;
            limits_met += run_limits;
        },
    )?;
    println!("{runs} {steps} {limits_met}");
    Ok(())
}
