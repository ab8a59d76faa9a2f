//! What a sweep found, shown and written.

use std::path::Path;

use super::results::GridResults;
use super::{CommandFailure, Sweep, TableFormat, Walked};
use crate::answers::tables::{self, DataTable, KeptStack};
use crate::cli::output::lines_of;
use crate::diagnostic::Diagnostic;
use crate::report::{self, write_atomically, write_rows, write_text};

impl Sweep<'_> {
    /// Prints the answer in the requested format.
    pub(super) fn show(
        &self,
        walked: &Walked,
        judged: &GridResults,
        format: TableFormat,
    ) -> Result<(), CommandFailure> {
        let kept = Self::kept(walked, judged);
        let shown = self.shown(&kept, judged, walked.unit);
        let table = tables::grid(self.grid, &kept, walked.unit);
        let overview = overview(&shown, walked, judged);
        match format {
            TableFormat::Table => {
                let headline = self.headline(walked);
                let mut notes = self.notes(walked, judged);
                let more = kept.len().saturating_sub(shown.len());
                if more > 0 {
                    notes.insert(0, format!("{more} more were kept: `--out DIR` writes all with their rules"));
                }
                self.output.paragraph(&judged.verdict);
                self.output.data("\n");
                self.output.paragraph(&headline);
                self.output.table(&overview, format)?;
                self.output.notes(lines_of(&[&judged.verdict, &headline], &[&overview]) + 1, &notes);
            }
            TableFormat::Json => self.output.json(&serde_json::json!({
                "schema_version": 1,
                "verdict": judged.verdict,
                "ship": judged.ship,
                "manifest": self.manifest(walked, judged),
                "sweep": table.to_json(),
            })),
            TableFormat::Csv => self.output.table(&table, format)?,
            TableFormat::Md | TableFormat::Latex => self.output.table(&overview, format)?,
        }
        Ok(())
    }

    /// Writes everything that was asked for to the folder.
    pub(super) fn write(&self, folder: &Path, walked: &Walked, judged: &GridResults) -> Result<(), Diagnostic> {
        let kept = Self::kept(walked, judged);
        let table = tables::grid(self.grid, &kept, walked.unit);
        write_atomically(&folder.join("sweep.csv"), |file| table.write_csv(file))?;
        let figure =
            if walked.cells.is_empty() { "" } else { "\n![Killed and saved at every pair of limits](heat.svg)\n" };
        let page = format!(
            "# Which stack?\n\n**{}**\n\n{}.\n\n{}\n{}{figure}",
            judged.verdict,
            self.headline(walked),
            overview(&self.shown(&kept, judged, walked.unit), walked, judged).to_markdown(),
            report::bullets(&self.notes(walked, judged)),
        );
        write_text(&folder.join("sweep.md"), &report::page(&page))?;
        write_text(&folder.join("manifest.json"), &format!("{:#}\n", self.manifest(walked, judged)))?;
        if self.question.rows {
            write_rows(&folder.join("sweep-rows.csv"), judged.rows.iter())?;
        }
        write_text(&folder.join("stacks.toml"), &self.stacks(walked, judged))?;
        if let Some(tuned) = self.tuned(walked, judged) {
            write_text(&folder.join("tuned.toml"), &tuned)?;
        }
        self.write_map(folder, walked, judged)
    }
}

/// A table of a few stacks for a terminal.
fn overview(shown: &[&KeptStack<'_>], walked: &Walked, judged: &GridResults) -> DataTable {
    let chosen = judged.chosen.and_then(|at| judged.summaries.get(at)).map(|summary| &*summary.stack);
    tables::grid_overview(shown, walked.unit, chosen)
}
