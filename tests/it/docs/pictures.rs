//! Every picture that a page shows is what the program draws today, and every picture in the repository is shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{is_update, pages, root};
use crate::scratch::Scratch;

/// The folder that `whenstop` without arguments makes, as far as it is kept.
const EXAMPLE: &str = "reports/2026-11-22-example";

/// The pictures that the pages show, by their path in the repository.
fn shown() -> BTreeSet<PathBuf> {
    let picture = Regex::new(r"!\[[^\]]*\]\(([^)]+)\)").unwrap();
    let mut all = BTreeSet::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for found in picture.captures_iter(&text) {
            let path = page.parent().unwrap().join(&found[1]).canonicalize();
            let path = path.unwrap_or_else(|error| panic!("{}: {}: {error}", page.display(), &found[1]));
            all.insert(path.strip_prefix(root().canonicalize().unwrap()).unwrap().to_owned());
        }
    }
    all
}

#[test]
fn every_picture_shown_is_what_is_drawn_today() {
    let scratch = Scratch::with(&[]);
    assert_eq!(scratch.run("--quiet --out today").0, 0);
    let kept = std::fs::read_dir(root().join(EXAMPLE)).unwrap().map(|entry| entry.unwrap().file_name());
    let mut differ = Vec::new();
    for name in kept.filter(|name| name != "README.md") {
        let (path, now) = (root().join(EXAMPLE).join(&name), std::fs::read(scratch.path("today").join(&name)).unwrap());
        if is_update() {
            std::fs::write(&path, now).unwrap();
        } else if std::fs::read(&path).unwrap() != now {
            differ.push(name);
        }
    }
    assert!(differ.is_empty(), "{EXAMPLE}: {differ:?}: UPDATE_DOCS=1 cargo test --test it docs::");
    let mut kept = BTreeSet::new();
    for entry in std::fs::read_dir(root().join(EXAMPLE)).unwrap() {
        let name = entry.unwrap().file_name();
        if Path::new(&name).extension().is_some_and(|extension| extension == "png") {
            kept.insert(Path::new(EXAMPLE).join(name));
        }
    }
    assert_eq!(shown(), kept, "the pictures that pages show are those that this test draws");
}
