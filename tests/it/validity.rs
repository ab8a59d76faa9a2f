//! How often each kind of number held: what `whenstop help validity` prints is made from the results of the committed
//! studies. `UPDATE_DOCS=1 cargo test --workspace --test it validity::` makes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::scratch::Scratch;

/// One cell of a study: how often something happened in so many corpora.
struct Cell {
    /// The world, what was measured, and by which method.
    name: [String; 3],
    events: u64,
    answered: u64,
}

/// A kind of number: what it is, how often it should hold (or may fail, at most) in %, and the cells that tried it: experiment,
/// method and measure in the library (`results.csv`), then cell and measure through the program (`program.csv`). A `*` at the
/// end stands for anything.
struct Kind(&'static str, &'static str, &'static [[&'static str; 3]], &'static [[&'static str; 2]]);

const KINDS: [Kind; 13] = [
    Kind("killed at most: the truth is above", "at most 5", &[], &[["kills-*", "false certificate"]]),
    Kind("share of successes killed", "95", &[["rate*", "printed", "coverage"]], &[["compare-*", "killed *"]]),
    Kind(
        "… graded in part, or by a judge",
        "95",
        &[["labels-checked", "printed", "coverage"]],
        &[
            ["labels-*", "drawn killed"],
            ["labels-*", "random killed"],
            ["judge-*", "with what stands beside it"],
            ["proxies-*", "killed"],
        ],
    ),
    Kind(
        "share saved",
        "95",
        &[
            ["tokens", "printed", "coverage"],
            ["stops", "printed", "coverage"],
            ["limit-*", "printed", "coverage"],
            ["saved-*", "printed", "coverage"],
        ],
        &[["compare-*", "saved *"]],
    ),
    Kind(
        "cost of a success",
        "95",
        &[["cost-*", "printed", "coverage"]],
        &[["compare-*", "cost steps-20"], ["compare-*", "cost errors-2"]],
    ),
    Kind(
        "price at which stopping pays",
        "95",
        &[["worth", "printed", "break-even-coverage"]],
        &[["compare-*", "break-even *"]],
    ),
    Kind(
        "difference of two stacks",
        "95",
        &[["difference-*", "printed", "coverage"], ["paired-costs", "printed", "coverage"]],
        &[],
    ),
    Kind("work cut short, nothing graded", "95", &[], &[["rounds-*", "cut short"]]),
    Kind(
        "success by budget",
        "95",
        &[["budget-*", "printed", "coverage"], ["budget-*", "printed", "truth-within"]],
        &[],
    ),
    Kind("tuned: killed and saved elsewhere", "95", &[], &[["tune-*", "killed"], ["tune-*", "saved"]]),
    Kind(
        "false alarm, of one test or a sweep",
        "at most 5",
        &[
            ["paired-yes-no", "printed", "type-I"],
            ["paired-costs", "printed", "type-I"],
            ["sweep-*", "printed", "family-wise"],
        ],
        &[],
    ),
    Kind("\"Ship\", or a gate, wrong", "at most 2.5", &[], &[["many-*", "false Ship"], ["gate-*", "wrong"]]),
    Kind(
        "certificate broken",
        "at most 10",
        &[["certificate", "gaffke", "violated"], ["certificate", "betting", "violated"]],
        &[["tune-*", "broken"], ["labels-*", "drawn broken"], ["proxies-*", "broken"]],
    ),
];

/// Cells with fewer corpora that gave an answer say nothing.
const LEAST: u64 = 30;

fn cells(path: &str, name: &[&str]) -> Vec<Cell> {
    let mut csv = csv::Reader::from_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("reports").join(path)).unwrap();
    let columns = csv.headers().unwrap().clone();
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let cell = |row: csv::StringRecord| {
        let mut of = name.iter().map(|name| row[at(name)].to_owned());
        Cell {
            name: [0, 1, 2].map(|_| of.next().unwrap_or_default()),
            events: row[at("events")].parse().unwrap(),
            answered: row[at("answered")].parse().unwrap(),
        }
    };
    csv.records().map(|row| cell(row.unwrap())).filter(|cell| cell.answered >= LEAST).collect()
}

fn is_like(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// The lines of a table of `reports/2026-11-27-measured`, by the names of their columns.
fn measured_lines(file: &str) -> Vec<BTreeMap<String, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/2026-11-27-measured").join(file);
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// What happened under limits that were in force, against what was predicted: MINT at 3f7f12c.
fn measured() -> String {
    let mut text = String::from(
        "\n\
        Predicted, then measured: a limit that the agent is told of, against the same agents' runs up to 5\n\
        steps (MINT, 54 models; % of the successes). `whenstop compare --against` does it for your runs.\n\n\
        tasks                        limit   replay kills   really lost   at risk from the notice on\n",
    );
    for row in measured_lines("mint.csv") {
        let value = |name: &str| &row[name];
        let percent = |name: &str| whenstop::words::digits(value(name).parse().unwrap());
        let class = if value("tasks_of") == "code" { "code and reasoning" } else { "ALFWorld" };
        let _ = writeln!(
            text,
            "{:26} {:>7} {:>14} {:>13} {:>28}",
            format!("{class} ({})", value("tasks")),
            value("stack").trim_start_matches("cap"),
            percent("killed_rate"),
            percent("lost_rate"),
            percent("at_risk_rate"),
        );
    }
    let ranges = measured_lines("ranges.csv");
    let holds = |column: &str| ranges.iter().filter(|line| line[column] == "1").count();
    let _ = write!(
        text,
        "\nFrom nothing to what is at risk: that range held in {} of {} cells of model or data set and\n\
        limit; what the replay kills, as a number, in {}.\n\n\
        A stop that it is not told of, predicted from earlier runs, counted in later ones of these tasks:\n\n\
        collection                       limits   later ones inside the interval   above   below\n",
        holds("range_holds"),
        ranges.len(),
        holds("replay_holds"),
    );
    let silent = measured_lines("silent.csv");
    let mut collections: Vec<&str> = silent.iter().map(|line| line["collection"].as_str()).collect();
    collections.dedup();
    for of in collections.iter().copied().chain(["all"]) {
        let lines: Vec<_> = silent.iter().filter(|line| of == "all" || line["collection"] == of).collect();
        let count = |is: &str| lines.iter().filter(|line| line["is"] == is).count();
        let (inside, above, below) = (count("inside"), count("above"), count("below"));
        let _ = writeln!(text, "{of:32} {:>6} {inside:>32} {above:>7} {below:>7}", lines.len());
    }
    text
}

/// The table, one line for each kind of number.
fn table() -> String {
    let drawn = cells("2026-11-22-validity/results.csv", &["experiment", "method", "measure"]);
    let asked = cells("2026-11-23-validity/program.csv", &["cell", "measure"]);
    let mut text = String::from("How often each kind of number held, in corpora whose truth is known (%):\n\n");
    let _ =
        writeln!(text, "{:35} {:>11} {:>5}  {:>16} {:>13}", "number", "promised", "held", "worst to best", "intervals");
    for Kind(name, promised, in_library, in_program) in KINDS {
        let is_tried = |cell: &&Cell| {
            let fits =
                |patterns: &[&str]| patterns.iter().zip(&cell.name).all(|(pattern, name)| is_like(pattern, name));
            in_library.iter().any(|patterns| fits(patterns))
        };
        let is_asked = |cell: &&Cell| {
            let fits =
                |patterns: &[&str]| patterns.iter().zip(&cell.name).all(|(pattern, name)| is_like(pattern, name));
            in_program.iter().any(|patterns| fits(patterns))
        };
        let found: Vec<&Cell> = drawn.iter().filter(is_tried).chain(asked.iter().filter(is_asked)).collect();
        assert!(!found.is_empty(), "nothing tries: {name}");
        let mut shares: Vec<f64> = found.iter().map(|cell| 100.0 * cell.events as f64 / cell.answered as f64).collect();
        shares.sort_by(f64::total_cmp);
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let (worst, best) = (shares[0], shares[shares.len() - 1]);
        let (worst, best) = if promised.starts_with("at most") { (best, worst) } else { (worst, best) };
        let intervals: u64 = found.iter().map(|cell| cell.answered).sum();
        let range = format!("{worst:.1} – {best:.1}");
        let _ = writeln!(text, "{name:35} {promised:>11} {mean:>5.1}  {range:>16} {:>13}", grouped(intervals));
    }
    text + "\n\
        Each 95 % interval should hold in 95 of 100 corpora; an alarm, a wrong \"Ship\" and a broken\n\
        certificate may happen as often as promised at most. Worst cells are small or lopsided corpora,\n\
        mostly called `rough`. Every cell, of the statistics and of the whole program:\n\
        reports/2026-11-22-validity, reports/2026-11-23-validity\n"
        + &shipped(&asked)
        + &measured()
}

/// How often a stack is shipped that may be, and what it takes.
fn shipped(asked: &[Cell]) -> String {
    let share = |tasks: u32| {
        let name = format!("kills-true-{tasks}");
        let cell = asked.iter().find(|cell| cell.name[0] == name && cell.name[1] == "ships").unwrap();
        format!("{:.0}", 100.0 * cell.events as f64 / cell.answered as f64)
    };
    format!(
        "\nShipped, of those that should be: a stack that kills 1.4 % (5 % tolerated, 2 successes a task), on\n\
         100, 150 and 200 tasks: {}, {} and {} of 100. Tasks that show it at 5 %, with 0 to 5 killed runs:\n\
         one success a task: 59  93 124 153 181 208 (as by the exact binomial)\n\
         two:                59  72  85  98 111 123\n\
         four:               59  65  70  76  81  87\n",
        share(100),
        share(150),
        share(200)
    )
}

#[test]
fn what_is_printed_is_what_the_studies_found() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/validity.txt");
    let now = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now, committed, "UPDATE_DOCS=1 cargo test --workspace --test it validity::");
    assert!(committed.lines().all(|line| line.chars().count() <= 100), "it fits on a screen");
}

#[test]
fn the_help_has_it_as_a_topic() {
    let (exit, stdout, _) = Scratch::with(&[]).run("help validity");
    assert_eq!((exit, stdout), (0, table()));
    let (exit, _, stderr) = Scratch::with(&[]).run("help validty");
    assert_ne!(exit, 0);
    assert!(stderr.contains("did you mean `validity`?"), "{stderr}");
}
