//! Rows about recordings: what stands in a file.

use super::{check, row, run};

#[test]
fn a_cut_line_costs_that_line() {
    check(vec![
        row("a line cut off", "corpus .")
            .file("cut.jsonl", format!("{}{{\"type\":\"message\",\"role\":\"assi", run("cut")))
            .between_good_ones()
            .runs(3)
            .says("this line is left out")
            .says("cut.jsonl:3:")
            .says("is still being written"),
    ]);
}
