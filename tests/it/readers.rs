//! Every format: good traces, broken traces, and the real corpora.

use std::path::PathBuf;

use whenstop::reader::{Corpus, CorpusReport, ReadOptions};
use whenstop::transcript::Run;

use crate::shared;

fn read(paths: &[PathBuf]) -> (Vec<Run>, CorpusReport) {
    Corpus::open(paths, ReadOptions::default()).unwrap().runs().unwrap()
}

#[test]
fn real_corpora_agree_with_their_readme() {
    let Some(corpora) = shared::folder("corpora") else { return };
    // format, folder, runs, steps, successes, failures, runs with usage, tokens
    let cases = [
        ("tau2-sim", "tau2", 494, 6480, 295, 199, 330, None),
        ("intercode", "intercode", 2474, 11914, 1665, 809, 0, Some(0)),
        ("mini-swe-agent", "mini-swe-agent", 170, 6617, 132, 38, 170, Some(103_750_731)),
        ("tau-bench", "tau-bench", 200, 2454, 84, 116, 0, Some(0)),
    ];
    for (format, folder, runs, steps, successes, failures, with_usage, tokens) in cases {
        let (_, report) = read(&[corpora.join(folder)]);
        let counts = report.format(format).unwrap();
        assert_eq!(report.findings, [], "{format}");
        assert_eq!(
            (counts.runs, counts.steps, counts.successes, counts.failures, counts.with_usage),
            (runs, steps, successes, failures, with_usage),
            "{format}"
        );
        assert!(tokens.is_none_or(|tokens| tokens == counts.tokens), "{format}: {} tokens", counts.tokens);
    }
}
