//! Tells the tests whether the recordings and tables beside the project are here. Where they are not, the tests that need
//! them are shown as ignored.

use std::path::Path;

/// A file of the shared material.
const MARKER: &str = "../shared/DESIGN.md";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(shared_material)");
    // A path that is not there would have everything built again each time.
    if Path::new(MARKER).exists() {
        println!("cargo::rerun-if-changed={MARKER}");
        println!("cargo::rustc-cfg=shared_material");
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
}
