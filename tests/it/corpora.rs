//! Figures on the real corpora: an independent recomputation gave the same.

use whenstop::aggregate::Row;
use whenstop::catalog::strategies;
use whenstop::compare::Comparison;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::stack::StackFile;
use whenstop::verdict::{Assumptions, Verdict};

use crate::shared;

/// Rows of one corpus under one-rule stacks named by their rule.
fn rows(corpus: &str, rules: &[(&str, &str, f64)]) -> Vec<Row> {
    let folder = shared::folder("corpora").join(corpus);
    let stacks = rules.iter().map(|(name, signal, limit)| {
        format!("[[stack]]\nname = \"{name}\"\nany = [{{ signal = \"{signal}\", at_least = {limit} }}]\n")
    });
    let file = StackFile::parse("rules.toml", &stacks.collect::<String>()).unwrap();
    let strategies = strategies(&file, &|_| unreachable!("no configuration is named")).unwrap();
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let corpus = Corpus::open(&[folder], ReadOptions::default()).unwrap();
    let mut rows = Vec::new();
    corpus.process(|run| comparison.rows_of(&run).0, |more| rows.extend(more)).unwrap();
    rows
}

/// Holds `stops/false early stops/true stops` of each rule against the figure given.
fn check(corpus: &str, cases: &[(&str, f64, &str)]) {
    let named: Vec<(String, &str, f64)> =
        cases.iter().map(|(signal, limit, _)| (format!("{signal} {limit}"), *signal, *limit)).collect();
    let rules: Vec<(&str, &str, f64)> =
        named.iter().map(|(name, signal, limit)| (name.as_str(), *signal, *limit)).collect();
    let rows = rows(corpus, &rules);
    for ((name, ..), (.., expected)) in named.iter().zip(cases) {
        let of_rule: Vec<&Row> = rows.iter().filter(|row| &*row.stack == name.as_str()).collect();
        let count = |test: &dyn Fn(&Row) -> bool| of_rule.iter().filter(|row| test(row)).count();
        let got = format!(
            "{}/{}/{}",
            count(&|row| row.stop_point.is_some()),
            count(&|row| row.verdict.is_fes()),
            count(&|row| row.verdict == Verdict::TrueStop)
        );
        assert_eq!(&got, expected, "{corpus}: {name}");
    }
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn tau2_agrees_with_the_independent_recomputation() {
    check(
        "tau2",
        &[
            ("steps", 20.0, "40/13/27"),
            ("tokens.total", 200_000.0, "14/5/9"),
            ("call.streak", 3.0, "21/4/17"),
            ("call_result.count", 3.0, "45/14/31"),
            ("errors.streak", 3.0, "10/0/10"),
        ],
    );
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn intercode_agrees_with_the_independent_recomputation() {
    check(
        "intercode",
        &[
            ("steps", 5.0, "899/166/733"),
            ("call.streak", 3.0, "202/2/200"),
            ("call_result.count", 2.0, "528/26/502"),
            ("errors.streak", 3.0, "136/33/103"),
        ],
    );
}

#[test]
#[cfg_attr(not(shared_material), ignore = "../shared is not here")]
fn mini_swe_agent_agrees_with_the_independent_recomputation() {
    check(
        "mini-swe-agent",
        &[("steps", 75.0, "11/7/4"), ("tokens.total", 1_500_000.0, "9/3/6"), ("call_result.count", 3.0, "15/9/6")],
    );
}
