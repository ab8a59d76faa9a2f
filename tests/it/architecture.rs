//! The module table of ARCHITECTURE.md against the paths named in src/.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

/// One row of the table.
struct Module {
    may_use: BTreeSet<String>,
    alone: BTreeSet<String>,
}

fn table() -> BTreeMap<String, Module> {
    let text = std::fs::read_to_string("ARCHITECTURE.md").unwrap();
    let words =
        |cell: &str| cell.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("| module |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, may_use, alone] = cells[..] else { panic!("four cells: {row}") };
        (name.trim_matches('`').to_owned(), Module { may_use: words(may_use), alone: words(alone) })
    })
    .collect()
}

/// Where the modules are. `json_text` is a crate of its own.
const ROOTS: [&str; 4] = ["src", "crates/core/src", "crates/readers/src", "crates/frameworks/src"];

/// Source files of a module, tests left out.
fn sources(module: &str) -> Vec<PathBuf> {
    let find = |name: &str| ROOTS.iter().map(|root| Path::new(root).join(name)).find(|path| path.exists());
    if let Some(single) = find(&format!("{module}.rs")) {
        return vec![single];
    }
    let folder = if module == "json_text" { Some(PathBuf::from("crates/json-text/src")) } else { find(module) };
    let files = walkdir::WalkDir::new(folder.unwrap()).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    let is_source = |path: &Path| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.ends_with("tests.rs")
            || path.ends_with("sketch.rs");
        path.extension().is_some_and(|extension| extension == "rs") && !is_test
    };
    files.map(walkdir::DirEntry::into_path).filter(|path| is_source(path)).collect()
}

/// Code of a file without comments and without its test module.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_module_is_in_the_table() {
    let table = table();
    let libs = ROOTS.map(|root| std::fs::read_to_string(Path::new(root).join("lib.rs")).unwrap()).concat();
    let module =
        |line: &str| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned);
    let mut declared: BTreeSet<String> = libs.lines().filter_map(module).collect();
    declared.insert("json_text".to_owned());
    let listed: BTreeSet<String> = table.keys().cloned().collect();
    assert_eq!(declared, listed);
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let ours = Regex::new(r"crate::([a-z_]+)").unwrap();
    let mut wrong = Vec::new();
    for (name, module) in &table() {
        if module.may_use.contains("everything") {
            continue;
        }
        for path in sources(name) {
            for used in ours.captures_iter(&code(&path)).map(|found| found[1].to_owned()) {
                if used != *name && !module.may_use.contains(&used) {
                    wrong.push(format!("{} uses {used}, which {name} may not", path.display()));
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_stay_in_their_module() {
    let table = table();
    let mut wrong = Vec::new();
    for (owner, module) in &table {
        for name in &module.alone {
            let named = Regex::new(&format!(r"\b{name}::")).unwrap();
            for other in table.keys().filter(|other| *other != owner && *other != "cli") {
                let offenders = sources(other).into_iter().filter(|path| named.is_match(&code(path)));
                wrong.extend(offenders.map(|path| format!("{} names {name}, which only {owner} may", path.display())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_cli_writes_to_the_terminal() {
    let writes = Regex::new(r"\b(e?print(ln)?!|io::std(out|err)\()").unwrap();
    let offenders: Vec<String> = table()
        .keys()
        .filter(|name| *name != "cli")
        .flat_map(|name| sources(name))
        .filter(|path| writes.is_match(&code(path)))
        .map(|path| path.display().to_string())
        .collect();
    assert!(offenders.is_empty(), "{offenders:?}");
}
