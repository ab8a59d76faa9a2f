//! What there is without the feature `sqlite`.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

use super::Row;

/// There is none: every database is refused when it is opened.
#[derive(Debug)]
pub(crate) struct AbsentDatabase(Infallible);

const ABSENT: &str = "this whenstop was built without SQLite: build it with the feature `sqlite`";

impl AbsentDatabase {
    pub(crate) fn open(_: &Path, _: u64) -> Result<Self, String> {
        Err(ABSENT.to_owned())
    }

    pub(crate) fn tables(&self) -> Result<BTreeMap<String, Vec<String>>, String> {
        match self.0 {}
    }

    pub(crate) fn condition(&self, _: &str, _: &str) -> Result<String, String> {
        match self.0 {}
    }

    pub(crate) fn rows(&self, _: &str, _: Option<&str>, _: &mut dyn FnMut(Row) -> bool) -> Result<(), String> {
        match self.0 {}
    }
}
