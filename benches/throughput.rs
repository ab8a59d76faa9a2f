//! Rates on a fixed synthetic corpus: bytes read, points replayed, stack x run pairs compared.
//!
//! `cargo bench --bench throughput`

use std::hint::black_box;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use whenstop::catalog;
use whenstop::compare::Comparison;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::signal::{Options, REGISTRY};
use whenstop::stack::StackFile;
use whenstop::transcript::Run;
use whenstop::verdict::Assumptions;

const STACKS: &str = include_str!("../fixtures/stacks/throughput.toml");

fn main() {
    divan::main();
}

/// The bundled recordings, read once.
static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let corpus = Corpus::open(&["traces".into()], ReadOptions::default()).expect("bundled recordings");
    corpus.runs().expect("bundled recordings are readable").0
});

#[divan::bench]
fn read(bencher: Bencher) {
    let corpus = || Corpus::open(&["traces/synthetic".into()], ReadOptions::default()).expect("bundled recordings");
    let bytes = corpus().bytes();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        let mut steps = 0;
        corpus().process(|run| run.steps().len(), |run_steps| steps += run_steps).expect("readable");
        black_box(steps)
    });
}

#[divan::bench]
fn every_signal(bencher: Bencher) {
    let points: usize = RUNS.iter().map(|run| run.points().len()).sum();
    bencher.counter(ItemsCount::new(points * REGISTRY.len())).bench_local(|| {
        let options = Options::default();
        for run in RUNS.iter() {
            for info in REGISTRY {
                let mut signal = (info.start)(&options);
                for view in run.views() {
                    black_box(signal.observe(&view));
                }
            }
        }
    });
}

#[divan::bench]
fn compare_stack_runs(bencher: Bencher) {
    let file = StackFile::parse("throughput.toml", STACKS).expect("bundled stacks");
    let strategies =
        catalog::strategies(&file, &|_| unreachable!("no configuration is named")).expect("bundled stacks");
    let comparison = Comparison::new(&strategies, Assumptions::default());
    bencher.counter(ItemsCount::new(RUNS.len() * strategies.len())).bench_local(|| {
        for run in RUNS.iter() {
            black_box(comparison.rows_of(run));
        }
    });
}
