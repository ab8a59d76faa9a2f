//! Where a command writes. An argument of this type is checked before the command begins: it leads to no file that
//! another argument names.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches};

use crate::diagnostic::Diagnostic;
use crate::reader::file_identity;
use crate::report::reads_it_too;

/// A file or folder to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination(PathBuf);

impl From<OsString> for Destination {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl std::ops::Deref for Destination {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// What an argument does with the path it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathUse {
    /// It is read.
    Reads,
    /// It is written.
    Writes,
}

/// What the argument does with a path; `None` if it takes none. Its value's name says whether it is a path, and its type
/// whether that is written.
pub fn use_of(argument: &Arg) -> Option<PathUse> {
    let is_path = |name: &str| name.split(['|', '=']).any(|part| ["FILE", "DIR", "PATH"].contains(&part));
    if !argument.get_value_names()?.iter().any(|name| is_path(name)) {
        return None;
    }
    let kind = argument.get_value_parser().type_id();
    let writes = [TypeId::of::<Destination>(), TypeId::of::<super::gate::ReportTo>()];
    Some(if writes.iter().any(|written| kind == *written) { PathUse::Writes } else { PathUse::Reads })
}

/// Refuses a destination that is a file which another argument names.
pub(super) fn refuse_inputs(command: &clap::Command, matches: &ArgMatches) -> Result<(), Diagnostic> {
    if let Some((name, matches)) = matches.subcommand() {
        let Some(command) = command.find_subcommand(name) else { return Ok(()) };
        return refuse_inputs(command, matches);
    }
    let named = |wanted: PathUse| {
        let arguments = command.get_arguments().filter(move |argument| use_of(argument) == Some(wanted));
        let values = arguments.filter_map(|argument| matches.get_raw(argument.get_id().as_str())).flatten();
        values.map(path_in).collect::<Vec<&Path>>()
    };
    let inputs = named(PathUse::Reads);
    for output in named(PathUse::Writes) {
        let Some(file) = file_identity(output) else { continue };
        if inputs.iter().any(|input| file_identity(input).as_ref() == Some(&file)) {
            return Err(reads_it_too(output));
        }
    }
    Ok(())
}

/// The path in `FORMAT=PATH` or `PATH`.
fn path_in(value: &OsStr) -> &Path {
    let after = value.to_str().and_then(|text| text.split_once('=')).map(|(_, path)| Path::new(path));
    after.filter(|_| !Path::new(value).exists()).unwrap_or(Path::new(value))
}
