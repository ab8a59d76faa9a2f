//! A diagnostic from a reader, with its severity.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::diagnostic::{Diagnostic, Severity};

/// A diagnostic from a reader, with its severity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How severe it is.
    pub severity: Severity,
    /// What, where, and how to fix it.
    pub diagnostic: Diagnostic,
}

impl Finding {
    /// Something was lost or rejected.
    pub fn error(diagnostic: Diagnostic) -> Self {
        Self { severity: Severity::Error, diagnostic }
    }

    /// Something is odd.
    pub fn warning(diagnostic: Diagnostic) -> Self {
        Self { severity: Severity::Warning, diagnostic }
    }

    /// The name of the severity.
    pub fn severity_name(&self) -> &'static str {
        self.severity.name()
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Diagnostic { at, what, help, .. } = &self.diagnostic;
        let mut fields = to.serialize_struct("Finding", 6)?;
        fields.serialize_field("severity", self.severity_name())?;
        fields.serialize_field("path", &at.path)?;
        fields.serialize_field("line", &Some(at.line).filter(|line| *line > 0))?;
        fields.serialize_field("column", &Some(at.column).filter(|column| *column > 0))?;
        fields.serialize_field("what", what)?;
        fields.serialize_field("help", help)?;
        fields.end()
    }
}
