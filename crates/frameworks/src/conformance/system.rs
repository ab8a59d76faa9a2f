//! The seed systems as oracles.

use serde_json::Value;

use super::{Oracle, known_table};
use crate::python::{self, Strictness};
use crate::system::{self, CaseError, GoldenCase, SystemInfo};

/// The oracle of the system named like the folder.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    system::find(folder).map(|system| Box::new(SystemOracle(system)) as Box<dyn Oracle>)
}

struct SystemOracle(&'static SystemInfo);

impl Oracle for SystemOracle {
    fn read(&self, line: &str) -> Result<Value, serde_json::Error> {
        // The tables of systems written in Python hold what its JSON lets in: integers of any size, NaN.
        let read = if self.0.id == "awaken" { None } else { python::loads(line, Strictness::Strict) };
        read.map_or_else(|| serde_json::from_str(line), Ok)
    }

    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError> {
        let input = row.get("input").ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        let version = row.get("original_version").and_then(Value::as_str);
        let mut case = GoldenCase { table, input, version, asked };
        let SystemInfo { tables, table_of, answer, .. } = self.0;
        case.table = known_table(table, tables).or_else(|| table_of(&case)).ok_or(CaseError::UnknownTable)?;
        answer(&case)
    }
}
