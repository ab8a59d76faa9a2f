//! What a gate may state, and what it must refuse.

use super::*;

fn parse(text: &str) -> Result<Gate, Diagnostic> {
    let stacks = ["a", "b: 2"].map(str::to_owned);
    Gate::parse(text, &stacks)
}

#[test]
fn a_gate_reads_back_as_it_was_written() {
    for text in ["killed_rate>0.02", "b: 2:killed_rate_high>=0.05", "stops<1", "tokens_saved_share<=-0.1"] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_gate_that_cannot_be_read_says_why() {
    let told = |gate: &str| parse(gate).map_err(|error| (error.what, error.help)).unwrap_err();
    assert_eq!(told("killed_rat>1").1, "did you mean `killed_rate`?");
    assert_eq!(told("killed_rate=1").0, "gate `killed_rate=1` has no comparison");
    assert_eq!(told("killed_rate>x").0, "gate `killed_rate>x`: `x` is not a number");
    assert_eq!(told("c:stops<1"), ("gate `c:stops<1`: no stack `c`".into(), "did you mean `a`?".into()));
}

#[test]
fn a_limit_that_decides_nothing_is_an_error() {
    let told = |gate: &str| parse(gate).map_err(|error| format!("{}; {}", error.what, error.help)).unwrap_err();
    assert_eq!(
        told("killed_rate>2"),
        "gate `killed_rate>2` never fails; `killed_rate` is a share from 0 to 1: for 2 % write `killed_rate>0.02`"
    );
    assert_eq!(told("killed_rate>=0"), "gate `killed_rate>=0` always fails; `killed_rate` goes from 0 to 1");
    assert_eq!(told("stops<0"), "gate `stops<0` never fails; `stops` goes from 0 to any size");
    assert!(told("killed_rate_high>1").contains("never fails"));
    assert!(told("failures_stopped_rate<=1").contains("always fails"));
    assert!(parse("killed_rate>0").is_ok() && parse("killed_rate>=1").is_ok() && parse("stops>1000").is_ok());
}

#[test]
fn a_count_has_no_interval_and_every_metric_a_name_of_its_own() {
    assert!(parse("stops_high>1").is_err() && parse("tokens_recorded_low>1").is_err());
    let mut names: Vec<String> = metric_names().collect();
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n);
}
