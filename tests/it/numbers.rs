//! Every number in a table says how it was made: an estimate `x` comes with its interval `x_low` to `x_high`, its `x_n`,
//! its denominator by name `x_of` and its `x_method`, or has them in `estimates.csv`; what is undefined is empty.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Columns that are no estimates: counts and sums of what was recorded, limits, and what goes with an estimate.
const PLAIN: [&str; 44] = [
    "stopped",
    "unlabelled_runs",
    "judged",
    "judged_successes",
    "judged_failures",
    "killed",
    "killed_at_most",
    "unknown_share",
    "runs",
    "tasks",
    "stops",
    "stacks_compared",
    "successes",
    "killed_only_here",
    "killed_only_baseline",
    "killed_verified",
    "killed_unverified",
    "good_trim",
    "true_stop",
    "rescued",
    "missed",
    "lost_success",
    "let_be",
    "unlabelled",
    "diverged",
    "censored",
    "not_evaluable_runs",
    "runs_with_tokens",
    "fires",
    "shadowed",
    "killed_alone",
    "stops_lost_without",
    "killed_less_without",
    "steps_added_without",
    "cut_off",
    "cut_off_informative",
    "killed_rate_pooled",
    "risk",
    "budget",
    "at_risk",
    "known_to",
    "limit",
    "resamples_on_frontier",
    "killed_sign_flip_p",
];
const PARTS: [&str; 8] = ["_low", "_high", "_min", "_max", "_n", "_of", "_method", "_ci"];

type Line = BTreeMap<String, String>;

fn whenstop(folder: &Path, arguments: &[&str]) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let arguments = arguments.iter().map(|argument| argument.replace("ROOT", root));
    let output = Command::new(env!("CARGO_BIN_EXE_whenstop")).current_dir(folder).args(arguments).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 100)), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn read(path: &Path) -> Vec<Line> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// The name of the estimate a column belongs to.
fn stem(column: &str) -> &str {
    PARTS.iter().fold(column, |name, part| name.strip_suffix(part).unwrap_or(name))
}

fn is_plain(column: &str) -> bool {
    let p_value = column.ends_with("_p") || column.ends_with("_p_adjusted") || column == "p" || column == "p_adjusted";
    PLAIN.contains(&column) || p_value
}

fn number(line: &Line, column: &str) -> Option<f64> {
    line.get(column).filter(|text| !text.is_empty()).map(|text| text.parse().unwrap())
}

#[track_caller]
fn check(table: &str, lines: &[Line]) {
    let first = lines.first().unwrap_or_else(|| panic!("{table} is empty"));
    let mut estimates = 0;
    for column in first.keys().filter(|column| !is_plain(column)) {
        let numeric = lines.iter().any(|line| number_like(&line[column]));
        let name = stem(column);
        if !first.contains_key(&format!("{name}_n")) {
            assert!(!numeric, "{table}: `{column}` has no `{name}_n`");
            continue;
        }
        estimates += 1;
        for part in ["_low", "_high", "_n", "_of", "_method"] {
            assert!(first.contains_key(&format!("{name}{part}")), "{table}: `{name}` has no `{name}{part}`");
        }
        for line in lines {
            check_estimate(table, line, name);
        }
    }
    assert!(estimates > 0, "{table} has no estimate");
    for column in first.keys().filter(|column| column.ends_with("_p_adjusted")) {
        assert!(first.contains_key(&format!("{column}_by")), "{table}: how is `{column}` adjusted?");
    }
}

fn number_like(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

#[track_caller]
fn check_estimate(table: &str, line: &Line, name: &str) {
    let part = |part: &str| number(line, &format!("{name}{part}"));
    let says = |part: &str| line[&format!("{name}{part}")].as_str();
    let (value, low, high) = (part(""), part("_low"), part("_high"));
    let at = format!("{table}: `{name}` of {:?}", line.get("stack").or(line.get("setting")));
    assert!(!says("_of").is_empty(), "{at} has no denominator");
    let ranged = line.contains_key(&format!("{name}_min"));
    let (least, most) = if ranged { (part("_min"), part("_max")) } else { (value, value) };
    // Half an interval only where nothing limits the number from the other side.
    assert!(low.is_some() == high.is_some() || least.is_none() != most.is_none(), "{at} has half an interval");
    assert!(!ranged || value == least.filter(|least| Some(*least) == most), "{at}: {value:?} of {least:?} to {most:?}");
    if line.contains_key(name) {
        assert!(least.is_some() || low.is_none(), "{at} has a lower end below nothing");
        assert!(most.is_some() || high.is_none(), "{at} has an upper end above nothing");
        for (end, inner, below) in [(low, least, true), (high, most, false)] {
            if let Some((end, inner)) = end.zip(inner) {
                assert!(if below { end <= inner + 1e-6 } else { inner <= end + 1e-6 }, "{at}: {inner} is beyond {end}");
            }
        }
        // No run, no number; a baseline is not compared with itself.
        assert!(value.is_none() || part("_n").is_some_and(|n| n > 0.0), "{at} is {value:?} of no run");
        if let (Some(value), Some(low), Some(high)) = (value, low, high) {
            assert!(low <= value + 1e-6 && value <= high + 1e-6, "{at}: {value} is not in {low} to {high}");
            assert!(!says("_method").starts_with("estimate-only"), "{at} has an interval by no method");
        }
        if value.is_some() {
            assert!(!says("_method").is_empty(), "{at} has no method");
        }
    }
}

/// Every number of the summary is a count or a sum, or an estimate that `estimates.csv` has with its interval and how it
/// was made.
#[track_caller]
fn check_summary(summary: &[Line], estimates: &[Line]) {
    for line in summary {
        let of_stack = |estimate: &&Line| {
            estimate["stack"] == line["stack"] && estimate["suite"].is_empty() && estimate["model"].is_empty()
        };
        let mine: BTreeMap<&str, &Line> =
            estimates.iter().filter(of_stack).map(|estimate| (estimate["name"].as_str(), estimate)).collect();
        assert!(mine.len() > 25, "{} estimates of {}", mine.len(), line["stack"]);
        for (column, text) in line {
            let (name, part) = match (column.strip_suffix("_low"), column.strip_suffix("_high")) {
                (Some(name), _) => (name, "low"),
                (_, Some(name)) => (name, "high"),
                _ => (column.as_str(), "value"),
            };
            match mine.get(name) {
                Some(estimate) => assert_eq!(text, &estimate[part], "{column} of {}", line["stack"]),
                None => assert_eq!(part, "value", "{column} has an interval that estimates.csv does not have"),
            }
        }
        for (name, estimate) in mine.iter().filter(|(_, estimate)| !estimate["method"].is_empty()) {
            let part = |part: &str| (format!("{name}_{part}"), estimate[part].clone());
            let parts = ["low", "high", "min", "max", "n", "of", "method"].map(part);
            let mut line = Line::from(parts);
            line.extend([
                ((*name).to_owned(), estimate["value"].clone()),
                ("stack".to_owned(), estimate["stack"].clone()),
            ]);
            check_estimate("estimates", &line, name);
        }
    }
}

#[test]
fn every_number_has_its_n_denominator_method_and_interval() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let stacks = ["--stacks", "ROOT/fixtures/stacks/example.toml", "--stacks", "preset:cline"];
    let errors = ["--label-sensitivity", "0.9", "--label-specificity", "0.9"];
    whenstop(folder.path(), &[&["compare", "ROOT/traces"], &stacks[..], &errors[..], &["--out", "out"]].concat());
    for table in ["pairs", "rules", "budget", "frontier"] {
        check(table, &read(&at(&format!("out/{table}.csv"))));
    }
    check_summary(&read(&at("out/summary.csv")), &read(&at("out/estimates.csv")));
}
