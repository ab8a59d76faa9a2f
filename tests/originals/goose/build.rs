//! Takes goose's inspector from a checkout of its repository (`ORIGINAL`), or from a folder with this file alone.
use std::path::Path;
use std::{env, fs};

const FILE: &str = "tool_monitor.rs";

fn main() {
    println!("cargo::rerun-if-env-changed=ORIGINAL");
    let given = env::var("ORIGINAL").expect("ORIGINAL names a checkout of goose");
    let places = [Path::new(&given).join("crates/goose/src").join(FILE), Path::new(&given).join(FILE)];
    let file = places.iter().find(|place| place.exists()).expect("no tool_monitor.rs in ORIGINAL");
    println!("cargo::rerun-if-changed={}", file.display());
    fs::copy(file, Path::new(&env::var("OUT_DIR").unwrap()).join(FILE)).unwrap();
}
