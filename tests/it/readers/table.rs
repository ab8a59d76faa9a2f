//! The README's table of formats, made of what the readers find in their own good fixtures.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use whenstop::reader::{self, Probe, RecordLayout};
use whenstop::transcript::{Event, Message, OutcomeSource, Run};

use super::{fixtures, inputs, read};

const BEGINS: &str =
    "<!-- formats: generated; `UPDATE_DOCS=1 cargo test --test it readers::table` writes it anew -->\n";
const ENDS: &str = "<!-- /formats -->\n";

/// Files that are read well.
fn good(folder: &Path) -> Vec<PathBuf> {
    let is_bad = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bad"));
    inputs(folder).into_iter().filter(|path| !is_bad(path)).collect()
}

fn run_is(format: &reader::Format, files: &[PathBuf]) -> &'static str {
    let mut layouts = files.iter().filter_map(|file| {
        let name = file.file_name()?.to_string_lossy().into_owned();
        Some((format.layout)(&Probe::from_name(&name, File::open(file).ok()?).ok()?))
    });
    let several = files.iter().any(|file| read(std::slice::from_ref(file)).0.len() > 1);
    match layouts.next_back() {
        Some(RecordLayout::Lines) => "a line",
        Some(RecordLayout::Groups(_)) => "lines that follow each other",
        Some(RecordLayout::Elements { .. } | RecordLayout::Values) => "an entry of a file",
        _ if several => "a part of a file",
        _ => "a file",
    }
}

fn row(format: &reader::Format) -> String {
    let files = good(&fixtures().join(format.id()));
    let (runs, _) = read(&files);
    let messages = || runs.iter().flat_map(Run::events).filter_map(Event::message);
    let any = |test: &dyn Fn(&Message) -> bool| messages().any(test);
    let tokens = match (any(&Message::has_usage), runs.iter().any(|run| run.header.totals.is_some())) {
        (true, true) => "by call, or in total",
        (true, false) => "by call",
        (false, true) => "in total",
        (false, false) => "–",
    };
    let own = runs.iter().any(|run| matches!(run.grade.source, OutcomeSource::Native(_)));
    let beside = runs.iter().any(|run| matches!(run.grade.source, OutcomeSource::Sidecar(_)));
    let outcome = match (own, beside) {
        (true, _) => "recorded",
        (false, true) => "in a report beside it",
        _ => "–",
    };
    let yes = |is: bool| if is { "yes" } else { "–" };
    let prompted = format.prompted_by.name().replace('_', " ");
    format!(
        "| `{}` | {} | {} | {tokens} | {} | {} | {outcome} | {} |\n",
        format.id(),
        format.summary.replace('|', "\\|"),
        run_is(format, &files),
        yes(any(&|message| message.ts.is_some())),
        yes(any(&|message| message.is_error.is_some())),
        if prompted.is_empty() { "–" } else { &prompted },
    )
}

#[test]
fn the_page_of_formats_says_what_each_holds() {
    let mut table = String::from(BEGINS);
    table.push_str("| format | what it is | a run is | tokens | times | error flags | outcome | prompted by |\n");
    table.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    // Tables have no fixtures of their own here: a sentence behind the table is about them.
    let mut formats = reader::FORMATS.to_vec();
    formats.retain(|format| fixtures().join(format.id()).is_dir());
    formats.sort_by_key(|format| format.id());
    for format in formats {
        write!(table, "{}", row(format)).unwrap();
    }
    holds("docs/reference/formats.md", &table, BEGINS, ENDS);
}

const PLACES_BEGIN: &str =
    "<!-- places: generated; `UPDATE_DOCS=1 cargo test --test it readers::table` writes it anew -->\n";
const PLACES_END: &str = "<!-- /places -->\n";

#[test]
fn the_page_of_sessions_says_where_agents_keep_them() {
    let mut table = String::from(PLACES_BEGIN);
    table.push_str("| agent | version | seen | where | |\n| --- | --- | --- | --- | --- |\n");
    for place in reader::PLACES {
        let why = match place.kept {
            reader::SessionStorage::Files(_) => "",
            reader::SessionStorage::Databases(_) => "SQLite",
            reader::SessionStorage::Unread(_, why) => why,
        };
        let dash = |word: &'static str| if word.is_empty() { "–" } else { word };
        let (version, seen) = (dash(place.version), dash(place.seen));
        let files = place.endings().iter().map(|ending| format!("`{ending}`")).collect::<Vec<_>>().join(", ");
        let (base, folder) = (place.base, place.folder);
        let variable = place.variable.map(|name| format!(" (or `${name}/{folder}`)")).unwrap_or_default();
        writeln!(table, "| {} | {version} | {seen} | `~/{base}/{folder}`{variable}: {files} | {why} |", place.agent)
            .unwrap();
    }
    holds("docs/sessions.md", &table, PLACES_BEGIN, PLACES_END);
}

/// The page has the table between its marks.
fn holds(page: &str, table: &str, begins: &str, ends: &str) {
    let table = format!("{table}{ends}");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(page);
    let page = std::fs::read_to_string(&path).unwrap();
    let from = page.find(begins).expect("the page marks where the table begins");
    let to = page.find(ends).expect("the page marks where the table ends") + ends.len();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..from], &page[to..])).unwrap();
        return;
    }
    assert!(page[from..to] == table, "the table is out of date: UPDATE_DOCS=1 cargo test --test it readers::table");
}
