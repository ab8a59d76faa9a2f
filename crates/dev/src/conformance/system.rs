//! The seed systems as oracles, with one driver each that runs a case through the system's own code.

use serde_json::Value;

use super::{CaseError, GoldenCase, Oracle, adaptive, agentao, agentica, awaken, known_table, mira};
use crate::python::{self, Strictness};

/// A system's golden tables and the function that answers them.
pub(super) struct Driver {
    /// The system's id.
    pub id: &'static str,
    /// The names of its tables.
    pub tables: &'static [&'static str],
    /// Recognizes a case's table by its shape, for files that are not named after a table.
    pub table_of: fn(&GoldenCase<'_>) -> Option<&'static str>,
    /// Answers one case as the original code does.
    pub answer: fn(&GoldenCase<'_>) -> Result<Value, CaseError>,
}

static DRIVERS: [Driver; 5] = [mira::MIRA, adaptive::ADAPTIVE, awaken::AWAKEN, agentao::AGENTAO, agentica::AGENTICA];

/// The oracle for the system with the folder's name.
pub(super) fn oracle(folder: &str) -> Option<Box<dyn Oracle>> {
    let driver = DRIVERS.iter().find(|driver| driver.id == folder)?;
    Some(Box::new(SystemOracle(driver)))
}

struct SystemOracle(&'static Driver);

impl Oracle for SystemOracle {
    fn read(&self, line: &str) -> Result<Value, serde_json::Error> {
        // Tables of systems written in Python contain what Python's JSON accepts: integers of any size, NaN.
        let read = if self.0.id == "awaken" { None } else { python::loads(line, Strictness::Strict) };
        read.map_or_else(|| serde_json::from_str(line), Ok)
    }

    fn answer(&self, table: &str, row: &Value, asked: &[String]) -> Result<Value, CaseError> {
        let input = row.get("input").ok_or_else(|| CaseError::BadCase("the line has no `input`".to_owned()))?;
        let version = row.get("original_version").and_then(Value::as_str);
        let mut case = GoldenCase { table, input, version, asked };
        let Driver { tables, table_of, answer, .. } = self.0;
        case.table = known_table(table, tables).or_else(|| table_of(&case)).ok_or(CaseError::UnknownTable)?;
        answer(&case)
    }
}
