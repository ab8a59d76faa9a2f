//! The name of the shipped stack, and the frameworks that have settings for it.

use crate::cli::configurations::hosts_of;
use crate::stack::StackFile;
use crate::tune::{Family, Shipped, Study};

/// The name of the shipped stack.
pub(super) const TUNED: &str = "tuned";

/// The frameworks with settings for the shipped stack, even if with a difference that `export` names.
pub(super) fn hosts_of_shipped(shipped: &Shipped, study: &Study) -> Vec<&'static str> {
    let Ok(file) = StackFile::parse("tuned.toml", &shipped.stack(study, TUNED)) else { return Vec::new() };
    match file.stack(TUNED) {
        Some(stack) => hosts_of(&stack),
        None => Vec::new(),
    }
}

/// A family with the number of frameworks that have a setting for it.
pub(super) fn held(family: Family) -> Family {
    let middle = family.limits().len() / 2;
    let hosts = hosts_of(&family.stack(TUNED, middle)).len();
    family.held_by(hosts)
}
