//! What a gate may state, and what it must refuse.

use super::*;

fn parse(text: &str) -> Result<Gate, Diagnostic> {
    let stacks = ["a", "b: 2"].map(str::to_owned);
    Gate::parse(text, &table::summary_columns(), &stacks)
}

#[test]
fn a_gate_reads_back_as_it_was_written() {
    for text in ["fes_rate>0.02", "b: 2:fes_rate_high>=0.05", "stops<1", "tokens_useful_saved_ratio<=-0.1"] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_gate_that_cannot_be_read_says_why() {
    let told = |gate: &str| parse(gate).map_err(|error| (error.what, error.help)).unwrap_err();
    assert_eq!(told("fes_rat>1").1, "did you mean `fes_rate`?");
    assert_eq!(told("fes_rate=1").0, "gate `fes_rate=1` has no comparison");
    assert_eq!(told("fes_rate>x").0, "gate `fes_rate>x`: `x` is not a number");
    assert_eq!(told("c:stops<1"), ("gate `c:stops<1`: no stack `c`".into(), "did you mean `a`?".into()));
}

#[test]
fn a_limit_that_decides_nothing_is_an_error() {
    let told = |gate: &str| parse(gate).map_err(|error| format!("{}; {}", error.what, error.help)).unwrap_err();
    assert_eq!(
        told("fes_rate>2"),
        "gate `fes_rate>2` never fails; `fes_rate` is a share from 0 to 1: for 2 % write `fes_rate>0.02`"
    );
    assert_eq!(told("fes_rate>=0"), "gate `fes_rate>=0` always fails; `fes_rate` goes from 0 to 1");
    assert_eq!(told("stops<0"), "gate `stops<0` never fails; `stops` goes from 0 to any size");
    assert!(told("fes_rate_high>1").contains("never fails"));
    assert!(told("stop_recall<=1").contains("always fails"));
    assert!(parse("fes_rate>0").is_ok() && parse("fes_rate>=1").is_ok() && parse("stops>1000").is_ok());
}
