//! What a sweep found, shown and written.

use std::path::Path;

use serde_json::Value;

use super::answer::Answer;
use super::{Failure, Format, Output};
use crate::aggregate::Rows;
use crate::answers::tables::Table;
use crate::cli::output::lines_of;
use crate::diagnostic::Diagnostic;
use crate::report::{self, write_atomically, write_rows};

/// What a sweep found.
pub(super) struct Findings<'a> {
    /// Which stack to ship.
    pub(super) answer: &'a Answer,
    /// What was swept over which recordings.
    pub(super) headline: String,
    /// Everything that is known about every stack that was kept.
    pub(super) table: Table,
    /// A shorter table for a terminal.
    pub(super) overview: Table,
    /// A note that matters on a terminal only.
    pub(super) more: Option<String>,
    /// The notes below the table.
    pub(super) notes: Vec<String>,
    /// The figure on the page, as Markdown; empty without one.
    pub(super) figure: &'static str,
    /// Enough to judge how much was tried, and to run it again.
    pub(super) manifest: Value,
    /// The rows of the stacks that were kept, on the reported tasks.
    pub(super) rows: &'a Rows,
}

impl Findings<'_> {
    /// Prints them in the requested format.
    pub(super) fn show(&self, format: Format, output: &Output) -> Result<(), Failure> {
        match format {
            Format::Table => {
                output.paragraph(&self.answer.verdict);
                output.data("\n");
                output.paragraph(&self.headline);
                output.table(&self.overview, Format::Table)?;
                let notes: Vec<String> = self.more.iter().chain(&self.notes).cloned().collect();
                let used = lines_of(&[&self.answer.verdict, &self.headline], &[&self.overview]) + 1;
                output.notes(used, &notes);
            }
            Format::Json => output.json(&serde_json::json!({
                "schema_version": 1,
                "verdict": self.answer.verdict,
                "ship": self.answer.ship,
                "manifest": self.manifest,
                "sweep": self.table.to_json(),
            })),
            Format::Csv => output.table(&self.table, Format::Csv)?,
            Format::Md => output.table(&self.overview, Format::Md)?,
            Format::Latex => output.table(&self.overview, Format::Latex)?,
        }
        Ok(())
    }

    /// Writes the table, the page, the manifest and, if requested, the rows.
    pub(super) fn write(&self, with_rows: bool, folder: &Path) -> Result<(), Diagnostic> {
        let put = |name: &str, text: &str| write_atomically(&folder.join(name), |file| file.write_all(text.as_bytes()));
        write_atomically(&folder.join("sweep.csv"), |file| self.table.write_csv(file))?;
        let page = format!(
            "# Which stack?\n\n**{}**\n\n{}.\n\n{}\n{}{}",
            self.answer.verdict,
            self.headline,
            self.overview.to_markdown(),
            report::bullets(&self.notes),
            self.figure
        );
        put("sweep.md", &report::page(&page))?;
        put("manifest.json", &format!("{:#}\n", self.manifest))?;
        if with_rows { write_rows(&folder.join("sweep-rows.csv"), self.rows) } else { Ok(()) }
    }
}
