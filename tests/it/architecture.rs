//! The crate table and the module table of ARCHITECTURE.md against the manifests and the paths named in the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

/// What a program that uses the core alone must never have to compile.
const NOT_BELOW_THE_CORE: [&str; 5] = ["polars", "plotters", "clap", "csv", "rayon"];

/// One row of the crate table.
struct Package {
    folder: PathBuf,
    depends_on: BTreeSet<String>,
}

/// One row of the module table.
struct Module {
    /// The crate's name without `whenstop-`.
    home: String,
    may_use: BTreeSet<String>,
    alone: BTreeSet<String>,
}

/// The cells of the table whose first heading is `first`.
fn rows<const N: usize>(first: &str) -> Vec<[String; N]> {
    let text = std::fs::read_to_string("ARCHITECTURE.md").unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with(&format!("| {first} |")));
    rows.skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<String> = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            cells.try_into().unwrap_or_else(|_| panic!("{N} cells: {row}"))
        })
        .collect()
}

fn words(cell: &str) -> BTreeSet<String> {
    cell.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn packages() -> BTreeMap<String, Package> {
    let rows = rows("package").into_iter();
    rows.map(|[name, folder, depends_on, _]| (name, Package { folder: folder.into(), depends_on: words(&depends_on) }))
        .collect()
}

fn table() -> BTreeMap<String, Module> {
    let rows = rows("module").into_iter();
    rows.map(|[name, home, _, may_use, alone]| {
        (name.trim_matches('`').to_owned(), Module { home, may_use: words(&may_use), alone: words(&alone) })
    })
    .collect()
}

/// The package of a crate of the module table.
fn package_of(home: &str) -> String {
    if home == "whenstop" { home.to_owned() } else { format!("whenstop-{home}") }
}

/// Whether `package` depends on `other`, directly or through others.
fn is_below(other: &str, package: &str, packages: &BTreeMap<String, Package>) -> bool {
    let direct = &packages[package].depends_on;
    direct.contains(other) || direct.iter().any(|below| is_below(other, below, packages))
}

/// Is the module all there is of its crate?
fn is_crate(name: &str, module: &Module) -> bool {
    name.replace('_', "-") == module.home
}

/// Source files of a module, tests left out.
fn sources(name: &str) -> Vec<PathBuf> {
    let module = &table()[name];
    let root = packages()[&package_of(&module.home)].folder.join("src");
    if is_crate(name, module) { sources_in(&root) } else { module_sources(&root, name) }
}

/// Source files of a module that the `lib.rs` in `root` declares, tests left out.
fn module_sources(root: &Path, name: &str) -> Vec<PathBuf> {
    let single = root.join(format!("{name}.rs"));
    if single.exists() { vec![single] } else { sources_in(&root.join(name)) }
}

fn sources_in(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    let is_source = |path: &Path| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.ends_with("tests.rs")
            || path.ends_with("sketch.rs");
        path.extension().is_some_and(|extension| extension == "rs") && !is_test
    };
    files.map(walkdir::DirEntry::into_path).filter(|path| is_source(path)).collect()
}

/// The modules that the `lib.rs` of a module's crate declares.
fn declared_modules(module: &Module) -> BTreeSet<String> {
    let root = packages()[&package_of(&module.home)].folder.join("src");
    let lib = std::fs::read_to_string(root.join("lib.rs")).unwrap();
    let declares = Regex::new(r"(?m)^(?:pub )?mod (\w+);").unwrap();
    declares.captures_iter(&lib).map(|found| found[1].to_owned()).collect()
}

/// Code of a file without comments and without its test module.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The manifest of the package in `folder`.
fn manifest(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

#[test]
fn every_crate_is_in_the_table_and_depends_on_what_the_table_says() {
    let root = manifest(Path::new("."));
    let members = root["workspace"]["members"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into());
    let mut members: BTreeSet<PathBuf> = members.collect();
    members.insert(".".into());
    let packages = packages();
    assert_eq!(members, packages.values().map(|package| package.folder.clone()).collect());
    for (name, package) in &packages {
        let manifest = manifest(&package.folder);
        assert_eq!(manifest["package"]["name"].as_str(), Some(name.as_str()));
        let named = |section: &str| -> BTreeSet<String> {
            let entries = manifest.get(section).and_then(toml::Value::as_table);
            let names = entries.into_iter().flat_map(toml::Table::keys).filter(|name| name.starts_with("whenstop"));
            names.cloned().collect()
        };
        assert_eq!(named("dependencies"), package.depends_on, "{name}");
        assert!(named("build-dependencies").is_subset(&package.depends_on), "{name}");
        // Tests may also use generated runs and the frameworks' rules, from crates beside or below.
        let in_tests = named("dev-dependencies");
        assert!(in_tests.iter().all(|used| used != "whenstop" && packages.contains_key(used)), "{name}: {in_tests:?}");
    }
}

/// Asked of the manifests: the lock file also has what a feature nobody turned on would need.
#[test]
fn the_core_stays_small() {
    let packages = packages();
    let mut below = vec!["whenstop-core".to_owned()];
    while let Some(name) = below.pop() {
        let manifest = manifest(&packages[&name].folder);
        let needs: BTreeSet<&str> = manifest["dependencies"].as_table().unwrap().keys().map(String::as_str).collect();
        let heavy: Vec<&str> = NOT_BELOW_THE_CORE.into_iter().filter(|heavy| needs.contains(heavy)).collect();
        assert!(heavy.is_empty(), "{name} needs {heavy:?}");
        below.extend(packages[&name].depends_on.iter().cloned());
    }
}

#[test]
fn every_module_is_in_the_table() {
    let table = table();
    for (name, package) in packages() {
        let lib = std::fs::read_to_string(package.folder.join("src/lib.rs")).unwrap();
        let module =
            |line: &str| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned);
        let declared: BTreeSet<String> = lib.lines().filter_map(module).collect();
        let here = table.iter().filter(|(_, module)| package_of(&module.home) == name);
        let listed: BTreeSet<String> =
            here.filter(|(name, module)| !is_crate(name, module)).map(|(name, _)| name.clone()).collect();
        // A crate that is one module declares the parts of it.
        if table.iter().any(|(module, row)| is_crate(module, row) && package_of(&row.home) == name) {
            assert!(listed.is_empty(), "{name}");
        } else {
            assert_eq!(declared, listed, "{name}");
        }
    }
}

/// Follows from the crates for the code as it is; held for the table, so that it promises nothing that cannot be.
#[test]
fn the_table_allows_only_modules_of_the_same_crate_or_one_below() {
    let (table, packages) = (table(), packages());
    for (name, module) in &table {
        for used in module.may_use.iter().filter(|used| *used != "everything") {
            let home = &table[used].home;
            let is_below = is_below(&package_of(home), &package_of(&module.home), &packages);
            assert!(*home == module.home || is_below, "{name} may use {used}, which is in {home}");
        }
    }
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let ours = Regex::new(
        r"\b(?:crate|whenstop(?:_core|_dev|_effects|_evaluate|_guard|_readers|_frameworks|_frames)?)::([a-z_]+)",
    )
    .unwrap();
    let mut wrong = Vec::new();
    for (name, module) in &table() {
        if module.may_use.contains("everything") {
            continue;
        }
        // A crate that is one module names the parts of it as it names other modules.
        let parts = if is_crate(name, module) { declared_modules(module) } else { BTreeSet::new() };
        for path in sources(name) {
            for used in ours.captures_iter(&code(&path)).map(|found| found[1].to_owned()) {
                if used != *name && !parts.contains(&used) && !module.may_use.contains(&used) {
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
fn only_cli_and_the_hooks_program_write_to_the_terminal() {
    let writes = Regex::new(r"\b(e?print(ln)?!|io::std(out|err)\()").unwrap();
    let offenders: Vec<String> = table()
        .keys()
        .filter(|name| *name != "cli")
        .flat_map(|name| sources(name))
        .filter(|path| path != Path::new("crates/hook/src/main.rs"))
        .filter(|path| writes.is_match(&code(path)))
        .map(|path| path.display().to_string())
        .collect();
    assert!(offenders.is_empty(), "{offenders:?}");
}

/// Both share what is compiled, as long as they ask for the same.
#[test]
fn the_wheel_is_compiled_as_the_command_line_is() {
    let profile = |manifest: &str| {
        let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        manifest["profile"]["release"].clone()
    };
    assert_eq!(profile("Cargo.toml"), profile("python/Cargo.toml"));
}

/// Cargo forgets what a profile says about symbols where it has settings of its own for the package of a program.
#[test]
fn programs_are_stripped() {
    let workspace = manifest(Path::new("."));
    for (name, profile) in workspace["profile"].as_table().unwrap() {
        for program in ["whenstop", "whenstop-hook"] {
            let own = profile.get("package").and_then(|packages| packages.get(program));
            let is_stripped = own.is_none_or(|own| own.get("strip") == Some(&true.into()));
            assert!(is_stripped, "[profile.{name}.package.{program}]: its symbols are not stripped");
        }
    }
    assert_eq!(workspace["profile"]["release"]["strip"], true.into());
}

/// The public names that a module file shows, sorted.
fn shown(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let names =
        Regex::new(r"(?m)^(#\[doc\(hidden\)\]\n)?pub (?:use [\w:]+::(?:\{([^}]*)\}|(\w+))|\w+(?: unsafe)? (\w+))")
            .unwrap();
    let is_shown = names.captures_iter(&text).filter(|found| found.get(1).is_none());
    let mut names: Vec<String> = is_shown
        .flat_map(|found| {
            let list = found.iter().skip(2).flatten().next().map_or("", |list| list.as_str());
            list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// What a program may count on from version to version: whoever adds to it, or takes from it, sees it here.
#[test]
fn the_core_shows_what_is_promised() {
    let root = Path::new("crates/core/src");
    let mut promised = vec![shown(&root.join("lib.rs")).join(" ")];
    let modules =
        shown(&root.join("lib.rs")).into_iter().filter(|name| name.chars().all(|c| c.is_lowercase() || c == '_'));
    for module in modules {
        let files = [root.join(format!("{module}.rs")), root.join(&module).join("mod.rs")];
        let Some(file) = files.iter().find(|file| file.exists()) else { continue };
        promised.push(format!("{module}: {}", shown(file).join(" ")));
    }
    insta::assert_snapshot!(promised.join("\n"));
}

/// Names that several types may have: the arguments of each command.
const DOUBLED: [&str; 1] = ["Args"];

/// The structs, enums and traits that a file declares, without those of its tests.
fn declared(file: &Path) -> BTreeSet<String> {
    let declares = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) ([A-Z]\w*)").unwrap();
    let text = code(file);
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    declares.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn a_type_name_means_one_thing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["src", "crates", "python/src"] {
        for entry in walkdir::WalkDir::new(root.join(folder)) {
            let path = entry.unwrap().into_path();
            let is_test = path.iter().any(|part| part == "tests" || part == "benches")
                || path.file_stem().is_some_and(|stem| stem == "tests");
            if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
                let names = declared(&path);
                let file = path.strip_prefix(root).unwrap().display().to_string();
                for name in names {
                    files.entry(name).or_default().push(file.clone());
                }
            }
        }
    }
    assert!(files.len() > 300, "{} types", files.len());
    let doubled: BTreeMap<&str, &Vec<String>> =
        files.iter().filter(|(_, files)| files.len() > 1).map(|(name, files)| (name.as_str(), files)).collect();
    let new: Vec<_> = doubled.iter().filter(|(name, _)| !DOUBLED.contains(name)).collect();
    assert!(new.is_empty(), "give one of these another name: {new:?}");
    let gone: Vec<_> = DOUBLED.iter().filter(|name| !doubled.contains_key(**name)).collect();
    assert!(gone.is_empty(), "take these off the list: {gone:?}");
}

/// Crates whose `lib.rs` declares its modules in the order in which they may use one another.
const ORDERED: [&str; 2] = ["crates/readers", "crates/effects"];

/// The file or folder of a module that a source belongs to, as `module/part`; of a module in one piece, its name.
fn part_of(path: &Path, root: &Path) -> String {
    let names: Vec<String> = path
        .strip_prefix(root)
        .unwrap()
        .with_extension("")
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let parts: Vec<&str> = names.iter().take(2).map(String::as_str).filter(|name| *name != "mod").collect();
    parts.join("/")
}

/// The paths `module` or `module/part` that the code names by `crate::` and, in a file right below its module, `super::`.
fn parts_used(code: &str, module: &str, is_right_below: bool) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let path = Regex::new(r"\bcrate::([a-z_]+)(?:::([a-z_]+)|::\{([^;{}]*))?").unwrap();
    for found in path.captures_iter(code) {
        let names: Vec<&str> = match (found.get(2), found.get(3)) {
            (Some(name), _) => vec![name.as_str()],
            (None, Some(list)) => list.as_str().split(',').map(str::trim).collect(),
            (None, None) => vec![""],
        };
        used.extend(names.iter().map(|name| format!("{}/{name}", &found[1])));
    }
    // `use crate::{git, words::{Word, has}};`
    let list = Regex::new(r"\bcrate::\{([^;]*)\};").unwrap();
    let name = Regex::new(r"(?:^|[,{]) *([a-z_]+)").unwrap();
    let inner_list = Regex::new(r"::\{[^{}]*\}").unwrap();
    for found in list.captures_iter(code) {
        let names = inner_list.replace_all(&found[1], "");
        let names = names.replace('\n', " ");
        used.extend(name.captures_iter(&names).map(|found| format!("{}/", &found[1])));
    }
    if is_right_below {
        let path = Regex::new(r"\bsuper::([a-z_]+)").unwrap();
        used.extend(path.captures_iter(code).map(|found| format!("{module}/{}", &found[1])));
    }
    used
}

#[test]
fn modules_use_only_those_above_them_and_no_files_use_each_other() {
    let declares = Regex::new(r"(?m)^(?:pub )?mod (\w+);").unwrap();
    let mut n_parts = 0;
    for folder in ORDERED {
        let root = Path::new(folder).join("src");
        let lib = std::fs::read_to_string(root.join("lib.rs")).unwrap();
        let mut order: Vec<String> = declares.captures_iter(&lib).map(|found| found[1].to_owned()).collect();
        order.retain(|module| module != "tests");
        let place = |module: &str| order.iter().position(|name| name == module);
        let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for module in &order {
            for path in module_sources(&root, module) {
                let part = part_of(&path, &root);
                let is_right_below = path.parent() == Some(root.join(module).as_path()) && !path.ends_with("mod.rs");
                let used = parts_used(&code(&path), module, is_right_below);
                for name in &used {
                    let other = name.split('/').next().unwrap();
                    assert!(place(other) <= place(module), "{} uses {name}, which is below it", path.display());
                }
                parts.entry(part).or_default().extend(used);
            }
        }
        n_parts += parts.len();
        // Parts that use none of those that are left are taken away; those that stay use each other.
        let known: BTreeSet<String> = parts.keys().cloned().collect();
        for (part, used) in &mut parts {
            used.retain(|other| known.contains(other) && other != part);
        }
        while let Some(free) = parts.iter().find(|(_, used)| used.is_empty()).map(|(part, _)| part.clone()) {
            parts.remove(&free);
            for used in parts.values_mut() {
                used.remove(&free);
            }
        }
        assert!(parts.is_empty(), "these use each other: {parts:?}");
    }
    assert!(n_parts > 70, "{n_parts} parts");
}

#[test]
fn names_of_used_modules_are_found() {
    let code = "use crate::a;\nuse crate::b::{C, d};\nuse crate::{E, f, g::{H, i}};\nuse super::j;\ncrate::k::l();";
    let expected = ["a/", "b/C", "b/d", "f/", "g/", "k/l", "m/j"];
    assert_eq!(parts_used(code, "m", true), expected.map(str::to_owned).into());
}
