//! What of the stacks can be copied into frameworks' own configurations, for pages and manifests.

use super::inputs::LoadedStacks;
use crate::export::{ExportedStack, hosts, stack_file};
use crate::report::Configuration;
use crate::stack::{Stack, StackFile};

/// The stacks with rules of their own, as configurations to copy: as a stack file, and for each framework that can fully
/// express one.
pub(super) fn configurations(stacks: &LoadedStacks) -> Vec<Configuration> {
    stacks.files.iter().flat_map(|file| configurations_of(&file.parsed)).collect()
}

/// The same for one file.
pub(super) fn configurations_of(file: &StackFile) -> Vec<Configuration> {
    file.own().flat_map(|stack| for_stack(stack)).collect()
}

/// How many frameworks have a setting for the stack of that name: what one ships itself is a setting of that one, and none
/// has one for a guard.
pub(super) fn n_hosts(stacks: &LoadedStacks, name: &str) -> usize {
    if let Some(stack) = stacks.own_stack(name) {
        return hosts_of(stack).len();
    }
    usize::from(stacks.strategies.iter().any(|other| other.name() == name && other.program().is_none()))
}

/// The frameworks with settings for a stack, even if with a difference that `export` names.
pub(super) fn hosts_of(stack: &Stack) -> Vec<&'static str> {
    hosts().into_iter().filter(|to| ExportedStack::new(stack, *to, true).holds_all()).map(|to| to.id).collect()
}

fn for_stack(stack: &Stack) -> Vec<Configuration> {
    let of = |host: &str, says: String, text: String| Configuration {
        stack: stack.name.clone(),
        host: host.to_owned(),
        says,
        text,
    };
    let own = stack_file(stack).map(|text| {
        let says = "For `compare`, `check` and `export`, and for whoever runs the rules themselves.";
        of("whenstop", says.to_owned(), text)
    });
    let exports = hosts().into_iter().map(|to| ExportedStack::new(stack, to, false)).filter(ExportedStack::holds_all);
    let hosts = exports.map(|export| {
        let differences: Vec<&str> = export.differences().iter().map(|difference| difference.what.as_str()).collect();
        let but = if differences.is_empty() { String::new() } else { format!(" But {}.", differences.join("; ")) };
        let says = format!("{} {}: {}.{but}", export.to.id, export.verdict(), export.to.host.file);
        of(export.to.id, says, export.snippet())
    });
    own.into_iter().chain(hosts).collect()
}
