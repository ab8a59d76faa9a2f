//! The README and the pages under `docs/`: every console block prints what it shows, every link leads somewhere, and
//! reference pages are what the program says. `UPDATE_DOCS=1 cargo test --test it docs::` writes them anew.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::scratch::Scratch;

mod pictures;
mod shown;

/// The README is read in one go.
const README_LINES: usize = 200;
const README_WORDS: usize = 1500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// The README, the pages of the book, and the other documents at the top, in path order.
fn pages() -> Vec<PathBuf> {
    let top = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let book = walkdir::WalkDir::new(root().join("docs")).into_iter().map(|entry| entry.unwrap().into_path());
    let mut pages: Vec<PathBuf> =
        top.chain(book).filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>().replace(' ', "-")
}

#[test]
fn formats_and_frameworks_are_as_many_as_they_say() {
    let formats = format!("{} formats", whenstop::reader::FORMATS.len());
    let frameworks = format!("shipped rules of {} frameworks", whenstop::catalog::frameworks().count());
    for page in ["README.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&formats), "{page}: there are {formats}");
        assert!(text.contains(&frameworks), "{page}: there are the {frameworks}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    let mut n_links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in link.captures_iter(&text).map(|found| found[1].to_owned()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            n_links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let leads = path.exists()
                && (heading.is_empty()
                    || std::fs::read_to_string(&path).is_ok_and(|text| {
                        text.lines()
                            .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading)
                    }));
            if !leads {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(n_links > 30, "{n_links} links");
}

/// Pages of the first study that were taken down, and figures that stood in them.
const WITHDRAWN: &[&str] = &[
    "study/report.html",
    "study/kills.csv",
    "tables/board.csv",
    "tables/most-saved.csv",
    "0 of 259",
    "36 cells kill",
    "257 cells",
    "86,954 graded runs",
    "78 of 452",
    "-1.2 % net",
    "161 of 5,142",
    "the 476 tasks",
    "57 % of the steps in code",
];

/// What was false in the first study is cited nowhere but where it says that it was.
#[test]
fn no_page_cites_a_withdrawn_figure() {
    let study = root().join("reports/study/first");
    // It shows what the corrected reading changes.
    let correction = root().join("reports/2026-11-26-calls");
    let reports = walkdir::WalkDir::new(root().join("reports")).into_iter().map(|entry| entry.unwrap().into_path());
    let reports = reports.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut cited = Vec::new();
    let mut n_pages = 0;
    for page in
        pages().into_iter().chain(reports).filter(|page| !page.starts_with(&study) && !page.starts_with(&correction))
    {
        n_pages += 1;
        let text = std::fs::read_to_string(&page).unwrap();
        for words in WITHDRAWN.iter().filter(|words| text.contains(**words)) {
            cited.push(format!("{}: {words}", page.display()));
        }
    }
    assert!(cited.is_empty(), "{}", cited.join("\n"));
    assert!(n_pages > 15, "{n_pages} pages");
    let notice = std::fs::read_to_string(study.join("README.md")).unwrap();
    assert!(notice.contains("Withdrawn on 26 November 2026"));
}

#[test]
fn the_readme_is_read_in_one_go() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= README_LINES, "{} lines", text.lines().count());
    let words = text.split_whitespace().count();
    assert!(words <= README_WORDS, "{words} words");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = Regex::new(r"\(([^)]+\.md)\)")
        .unwrap()
        .captures_iter(&summary)
        .map(|found| root().join("docs").join(&found[1]))
        .collect();
    let there: BTreeSet<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with(root().join("docs")) && !page.ends_with("SUMMARY.md"))
        .collect();
    assert_eq!(listed, there);
}

/// Holds a reference page against what the program says now.
fn reference(name: &str, text: &str) {
    let path = root().join("docs/reference").join(name);
    if is_update() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(held == text, "{} is out of date: UPDATE_DOCS=1 cargo test --test it docs::", path.display());
}

/// The names under `Commands:` of a help text; a heading of a group of commands also ends with a colon.
fn commands(help: &str) -> Vec<String> {
    let listed = Regex::new(r"(?m)^  ([a-z][a-z-]*)  +\S").unwrap();
    let from = help.find("Look at recordings:").or(help.find("Commands:")).map_or("", |from| &help[from..]);
    let to = from.find("Options:").unwrap_or(from.len());
    let names = listed.captures_iter(&from[..to]).map(|found| found[1].to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let scratch = Scratch::with(&[]);
    let mut text = String::from(
        "# Commands\n\nWhat `whenstop help COMMAND --full` prints; `--help` is shorter. Options that many commands share stand \
         at the end.\n",
    );
    let mut open = vec![String::new()];
    let mut n_commands = 0;
    while let Some(command) = open.pop() {
        let full = if command.is_empty() { "--help".to_owned() } else { format!("help {command} --full") };
        let (code, help, stderr) = scratch.run(&full);
        assert_eq!(code, 0, "{command}: {stderr}");
        let title = if command.is_empty() { "whenstop".to_owned() } else { format!("whenstop {command}") };
        let _ = write!(text, "\n## {title}\n\n```text\n{}\n```\n", help.trim_end());
        n_commands += 1;
        let mut below = commands(&help);
        below.reverse();
        open.extend(below.into_iter().map(|name| format!("{command} {name}").trim().to_owned()));
    }
    for topic in ["reading", "splitting", "assumptions", "global"] {
        let (_, help, _) = scratch.run(&format!("help {topic}"));
        let _ = write!(text, "\n## Options: {topic}\n\n```text\n{}\n```\n", help.trim_end());
    }
    assert!(n_commands > 15, "{n_commands} commands");
    reference("commands.md", &text);
}

#[test]
fn the_help_of_every_command_fits_two_screens() {
    let scratch = Scratch::with(&[]);
    let mut open = vec![String::new()];
    let mut n_commands = 0;
    while let Some(command) = open.pop() {
        let help = scratch.command(&format!("{command} --help")).env("COLUMNS", "80").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(help.lines().count() <= 60, "{command}: {} lines\n{help}", help.lines().count());
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 80, "{command}: {widest} columns\n{help}");
        n_commands += 1;
        open.extend(commands(&help).into_iter().map(|name| format!("{command} {name}").trim().to_owned()));
    }
    assert!(n_commands > 25, "{n_commands} commands");
}

#[test]
fn options_of_examples_are_explained() {
    let scratch = Scratch::with(&[]);
    let option = Regex::new(r"--[a-z][a-z-]+").unwrap();
    let (_, top, _) = scratch.run("--help");
    let topics: String = ["reading", "splitting", "assumptions", "global"]
        .iter()
        .map(|topic| scratch.run(&format!("help {topic}")).1)
        .collect();
    let mut n_options = 0;
    for command in commands(&top) {
        let (_, help, _) = scratch.run(&format!("help {command} --full"));
        let Some((explained, examples)) = help.split_once("Examples:") else { continue };
        let own = examples.lines().filter(|line| line.trim_start().starts_with(&format!("whenstop {command} ")));
        for line in own.map(|line| line.split('#').next().unwrap_or_default()) {
            for name in option.find_iter(line).map(|found| found.as_str()) {
                let is_there = [explained, &topics]
                    .iter()
                    .any(|text| text.contains(&format!("{name} ")) || text.contains(&format!("{name}\n")));
                let below = commands(&help).iter().any(|name| line.contains(&format!(" {name} ")));
                assert!(is_there || below, "{command}: `{name}` is in an example and nowhere explained");
                n_options += 1;
            }
        }
    }
    assert!(n_options > 30, "{n_options} options");
}

#[test]
fn the_page_of_signals_is_their_manuals() {
    let scratch = Scratch::with(&[]);
    let mut text = String::from(
        "# Signals\n\nA rule is a signal, a comparator and a limit. `whenstop rules explain NAME` prints the same.\n",
    );
    for signal in whenstop::signal::REGISTRY {
        let (code, manual, stderr) = scratch.run(&format!("rules explain {}", signal.id));
        assert_eq!(code, 0, "{stderr}");
        let _ = write!(text, "\n## {}\n\n```text\n{}\n```\n", signal.id, manual.trim_end());
    }
    reference("signals.md", &text);
}

#[test]
fn the_page_of_columns_is_what_schema_says() {
    let scratch = Scratch::with(&[]);
    let mut text = String::from(
        "# Columns\n\nThe files of a results folder (`compare --out`). `whenstop schema NAME` prints the same. An empty cell is \
         unknown or has nothing to say; it is never 0.\n",
    );
    for file in whenstop::report::schema::files() {
        let (code, columns, stderr) = scratch.run(&format!("schema {}", file.name));
        assert_eq!(code, 0, "{stderr}");
        let _ = write!(text, "\n## {}.csv\n\n{}\n", file.name, columns.trim_end());
    }
    reference("columns.md", &text);
}

/// `fixtures/columns.txt` has a line for each version of each file: its name, the version, and its columns with the type
/// and unit of each. Lines are added and never changed, so columns cannot change under a version that was given out.
#[test]
fn columns_do_not_change_without_a_new_version() {
    let path = root().join("fixtures/columns.txt");
    let mut known = std::fs::read_to_string(&path).unwrap_or_default();
    for file in whenstop::report::schema::files() {
        let columns = file.columns.iter().map(|column| {
            let empty = if column.may_be_empty { "?" } else { "" };
            let unit = if column.unit.is_empty() { String::new() } else { format!(" in {}", column.unit) };
            format!("{} {}{empty}{unit}", column.name, column.kind.name())
        });
        let version = format!("{} {}: ", file.name, file.version);
        let now = format!("{version}{}", columns.collect::<Vec<_>>().join(", "));
        match known.lines().find(|line| line.starts_with(&version)) {
            Some(line) => assert_eq!(line, now, "the columns of {} have changed: raise their version", file.name),
            None if is_update() => known = format!("{known}{now}\n"),
            None => panic!("{version}is new: UPDATE_DOCS=1 cargo test --test it docs::"),
        }
    }
    if is_update() {
        std::fs::write(&path, known).unwrap();
    }
}

#[test]
fn the_page_of_frameworks_holds_the_table_that_the_program_prints() {
    let (code, stdout, stderr) = Scratch::with(&[]).run("rules list --format md");
    assert_eq!(code, 0, "{stderr}");
    let is_row = |line: &&str| line.starts_with('|');
    let table: Vec<&str> =
        stdout.lines().skip_while(|line| !line.starts_with("| framework")).take_while(is_row).collect();
    let path = root().join("docs/reference/frameworks.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let before: Vec<&str> = page.lines().take_while(|line| !is_row(line)).collect();
    let after: Vec<&str> = page.lines().skip(before.len()).skip_while(is_row).collect();
    let lines = [&before[..], &table, &after].concat();
    reference("frameworks.md", &(lines.join("\n") + "\n"));
}
