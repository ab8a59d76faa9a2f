//! The seed systems as oracles.

use serde_json::Value;

use super::Oracle;
use crate::system::{self, CaseError, SystemInfo, python};

/// The oracle of the system named like the folder.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    system::find(folder).map(|system| Box::new(SystemOracle(system)) as Box<dyn Oracle>)
}

struct SystemOracle(&'static SystemInfo);

/// Systems whose tables hold numbers only Python's JSON lets in (integers of any size).
const PYTHON_NUMBERS: [&str; 2] = ["mira", "adaptive"];

impl Oracle for SystemOracle {
    fn read(&self, line: &str) -> Result<Value, serde_json::Error> {
        if PYTHON_NUMBERS.contains(&self.0.id) { python::read_json(line) } else { serde_json::from_str(line) }
    }

    fn answer(&self, table: &str, row: &Value) -> Result<Value, CaseError> {
        let input = row.get("input").ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        (self.0.answer)(table, input)
    }
}
