//! What a sweep found, shown and written.

use std::path::Path;

use serde_json::Value;

use super::results::GridResults;
use super::{CommandFailure, Output, TableFormat};
use crate::answers::tables::DataTable;
use crate::cli::output::lines_of;
use crate::diagnostic::Diagnostic;
use crate::report::{self, write_atomically, write_rows};

/// What a sweep found.
pub(super) struct SweepFindings<'a> {
    /// What the stacks that were kept do, and which to ship.
    pub(super) judged: &'a GridResults,
    /// What was swept over which recordings.
    pub(super) headline: String,
    /// Everything that is known about every stack that was kept.
    pub(super) table: DataTable,
    /// A shorter table for a terminal.
    pub(super) overview: DataTable,
    /// A note that matters on a terminal only.
    pub(super) more: Option<String>,
    /// The notes below the table.
    pub(super) notes: Vec<String>,
    /// The figure on the page, as Markdown; empty without one.
    pub(super) figure: &'static str,
    /// Enough to judge how much was tried, and to run it again.
    pub(super) manifest: Value,
}

impl SweepFindings<'_> {
    /// Prints them in the requested format.
    pub(super) fn show(&self, format: TableFormat, output: &Output) -> Result<(), CommandFailure> {
        match format {
            TableFormat::Table => {
                output.paragraph(&self.judged.verdict);
                output.data("\n");
                output.paragraph(&self.headline);
                output.table(&self.overview, TableFormat::Table)?;
                let notes: Vec<String> = self.more.iter().chain(&self.notes).cloned().collect();
                let used = lines_of(&[&self.judged.verdict, &self.headline], &[&self.overview]) + 1;
                output.notes(used, &notes);
            }
            TableFormat::Json => output.json(&serde_json::json!({
                "schema_version": 1,
                "verdict": self.judged.verdict,
                "ship": self.judged.ship,
                "manifest": self.manifest,
                "sweep": self.table.to_json(),
            })),
            TableFormat::Csv => output.table(&self.table, TableFormat::Csv)?,
            TableFormat::Md | TableFormat::Latex => output.table(&self.overview, format)?,
        }
        Ok(())
    }

    /// Writes the table, the page, the manifest and, if requested, the rows.
    pub(super) fn write(&self, with_rows: bool, folder: &Path) -> Result<(), Diagnostic> {
        let put = |name: &str, text: &str| write_atomically(&folder.join(name), |file| file.write_all(text.as_bytes()));
        write_atomically(&folder.join("sweep.csv"), |file| self.table.write_csv(file))?;
        let page = format!(
            "# Which stack?\n\n**{}**\n\n{}.\n\n{}\n{}{}",
            self.judged.verdict,
            self.headline,
            self.overview.to_markdown(),
            report::bullets(&self.notes),
            self.figure
        );
        put("sweep.md", &report::page(&page))?;
        put("manifest.json", &format!("{:#}\n", self.manifest))?;
        if with_rows { write_rows(&folder.join("sweep-rows.csv"), &self.judged.rows) } else { Ok(()) }
    }
}
