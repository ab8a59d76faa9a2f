//! How often each kind of number held: what `whenstop help validity` prints is made from the results of the committed
//! study. `UPDATE_DOCS=1 cargo test --test it validity::` makes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::desk::Desk;

/// The folders of results; those of a later one replace those of the same cell in an earlier one.
const REPORTS: [&str; 2] = ["2026-11-22-validity", "2026-11-23-validity"];

/// A kind of number: what it is, what it promises, and the cells that try it as (experiment, method, measure). A `*` at
/// the end of an experiment stands for anything.
type Kind = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

const KINDS: [Kind; 12] = [
    ("share of successes killed", "95", &[("rate*", "printed", "coverage"), ("keeps", "printed", "truth-within")]),
    (
        "difference of two stacks",
        "95",
        &[("difference-*", "printed", "coverage"), ("paired-costs", "printed", "coverage")],
    ),
    (
        "share saved",
        "95",
        &[
            ("tokens", "printed", "coverage"),
            ("stops", "printed", "coverage"),
            ("limit-*", "printed", "coverage"),
            ("saved-*", "printed", "coverage"),
        ],
    ),
    ("cost of a success", "95", &[("cost-ratio-*", "printed", "coverage"), ("cost-unlike", "printed", "coverage")]),
    ("price at which stopping pays", "95", &[("worth", "printed", "break-even-coverage")]),
    ("success by budget", "95", &[("budget-*", "printed", "coverage"), ("budget-*", "printed", "truth-within")]),
    (
        "killed, labels of a judge",
        "95",
        &[("labels-checked", "printed", "coverage"), ("labels-misstated", "printed", "truth-within")],
    ),
    (
        "false alarm of a paired test",
        "5",
        &[("paired-yes-no", "printed", "type-I"), ("paired-costs", "printed", "type-I")],
    ),
    ("false alarm of a sweep", "5", &[("sweep-*", "printed", "family-wise"), ("alike-*", "printed", "any-beaten")]),
    ("first sentence of many stacks false", "2.5", &[("best-of-many", "printed", "false")]),
    (
        "certificate broken",
        "10",
        &[
            ("certificate", "gaffke", "violated"),
            ("certificate", "betting", "violated"),
            ("certificate-judge", "printed", "violated"),
            ("recorders", "catalogue", "broken"),
            ("unnamed", "catalogue", "broken"),
            ("models", "catalogue", "broken"),
            ("unlike*", "catalogue", "broken"),
            ("gridded", "grid", "broken"),
            ("listed", "list", "broken"),
        ],
    ),
    (
        "tuned, on tasks left out",
        "95",
        &[
            ("models", "catalogue", "killed"),
            ("models", "catalogue", "saved"),
            ("unlike", "catalogue", "killed"),
            ("unlike", "catalogue", "saved"),
            ("gridded", "grid", "killed"),
            ("gridded", "grid", "saved"),
            ("listed", "list", "killed"),
            ("listed", "list", "saved"),
        ],
    ),
];

/// Cells with fewer corpora that gave an answer say nothing.
const LEAST: u64 = 100;

/// Events and answers by cell.
fn cells() -> BTreeMap<Vec<String>, (u64, u64)> {
    let mut cells = BTreeMap::new();
    for report in REPORTS {
        let path = root().join("reports").join(report).join("results.csv");
        let mut csv = csv::Reader::from_path(&path).unwrap();
        let columns = csv.headers().unwrap().clone();
        let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
        let (events, answered, share) = (at("events"), at("answered"), at("share"));
        for row in csv.records().map(Result::unwrap) {
            let cell = row.iter().take(share).map(str::to_owned).collect();
            cells.insert(cell, (row[events].parse().unwrap(), row[answered].parse().unwrap()));
        }
    }
    cells
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The table, one line for each kind of number.
fn table() -> String {
    let cells = cells();
    let mut text = "\
How often each kind of number held, in corpora of known truth (in %; reports/, validity)

number                               promised   held  lowest to highest cell    corpora
"
    .to_owned();
    for (name, promised, tried) in KINDS {
        let is_in = |cell: &[String]| {
            tried.iter().any(|of| matches(of.0, &cell[0]) && matches(of.1, &cell[1]) && of.2 == cell[2])
        };
        let found: Vec<(u64, u64)> =
            cells.iter().filter(|(cell, of)| is_in(cell) && of.1 >= LEAST).map(|(_, of)| *of).collect();
        assert!(!found.is_empty(), "no cell tries {name}");
        let shares: Vec<f64> =
            found.iter().map(|(events, answered)| 100.0 * *events as f64 / *answered as f64).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let lowest = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = shares.iter().copied().fold(0.0, f64::max);
        let corpora: u64 = found.iter().map(|(_, answered)| answered).sum();
        let promised = if matches!(promised, "95") { promised.to_owned() } else { format!("at most {promised}") };
        let range = format!("{lowest:.1}–{highest:.1}");
        let _ = writeln!(text, "{name:35} {promised:>10} {mean:>6.1}  {range:>22} {:>10}", grouped(corpora));
    }
    text + "\n\
        Intervals promise 95 % each; where one says `rough`, few tasks carry it, and the lowest cells are there. Alarms,\n\
        sentences and certificates say how often they may be wrong at most.\n"
}

#[test]
fn what_is_printed_is_what_the_study_found() {
    let path = root().join("src/cli/validity.txt");
    let now = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now, committed, "UPDATE_DOCS=1 cargo test --test it validity::");
    let (exit, stdout, _) = Desk::with(&[]).told("help validity");
    assert_eq!((exit, stdout), (0, committed));
}
