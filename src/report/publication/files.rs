//! Writes the files of a comparison, all of them or none.

use std::path::Path;

use foldhash::HashMap;

use super::{Publication, PublicationTables};
use crate::aggregate::{FileLine, Firing, Group, REFERENCE, RowView, Summary, Unit, by_stack};
use crate::answers::{AnswerNote, FirstTable, FollowedReport, tables, words};
use crate::diagnostic::{Diagnostic, Location};
use crate::report::figure::{
    BoundsFigure, BudgetFigure, FrontierFigure, FrontierLayout, FrontierView, SpendingFigure, StopsFigure, save, svg,
};
use crate::report::page::{FollowedAnswer, Page};
use crate::report::row_file::{RowFormat, write_parquet};
use crate::report::saved::{FOLLOWED, STORIES, write_stories};
use crate::report::{CsvStyle, markdown, refuse_foreign, write_atomically, write_folder, write_rows, write_text};
use crate::stats::Interval;
use crate::words::chosen_percent;

/// What the page embeds.
struct Figures {
    /// By name, as SVG.
    svgs: Vec<(&'static str, String)>,
    /// Those of the frontier.
    frontier: Vec<FrontierView>,
}

/// The formats of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderFormat {
    /// How rows and firings are written.
    pub rows: RowFormat,
    /// Whether `budget.csv` has every step of the curves, or only as many as can be drawn.
    pub whole_budget: bool,
    /// How text is written to CSV.
    pub csv: CsvStyle,
}

impl Publication {
    /// Writes the folder: all files are replaced, or none ([`write_folder`]).
    pub fn write(&self, out: &Path, format: FolderFormat) -> Result<(), Diagnostic> {
        self.write_with(out, format, |_| Ok(()))
    }

    /// Refuses a folder that holds files of this kind which whenstop did not write.
    pub fn refuse_foreign(out: &Path) -> Result<(), Diagnostic> {
        refuse_foreign(out, ["manifest.json", "summary.md", "summary.csv", "report.html"].into_iter())
    }

    /// As [`Self::write`], with additional files that `more` writes.
    pub fn write_with(
        &self,
        out: &Path,
        format: FolderFormat,
        more: impl FnOnce(&Path) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        write_folder(out, format.csv, |out| {
            self.write_files(out, format)?;
            more(out)
        })
    }

    fn write_files(&self, out: &Path, format: FolderFormat) -> Result<(), Diagnostic> {
        // What both threads below might ask for is there before they begin.
        self.summaries();
        // The first is limited by the disk, the second computes much on one thread.
        let (records, report) =
            rayon::join(|| self.write_records(out, format.rows), || self.write_report(out, format.whole_budget));
        records.and(report)
    }

    /// Writes what was recorded of each run.
    fn write_records(&self, out: &Path, format: RowFormat) -> Result<(), Diagnostic> {
        self.write_rows(out, format)?;
        if let Some(followed) = self.followed.as_ref().filter(|followed| !followed.rows().is_empty()) {
            write_rows(&out.join(FOLLOWED), followed.rows().iter())?;
        }
        if !self.stories.is_empty() {
            write_stories(&out.join(STORIES), &self.stories)?;
        }
        Ok(())
    }

    /// Writes what was made of it: tables, figures, the page.
    fn write_report(&self, out: &Path, whole_budget: bool) -> Result<(), Diagnostic> {
        let standings = self.first().standings();
        let tables = self.tables(&standings, whole_budget);
        let is_ungraded = self.ungraded().is_some();
        for (name, table) in tables.files.iter().filter(|(_, table)| !is_ungraded || !table.rows.is_empty()) {
            write_atomically(&out.join(format!("{name}.csv")), |file| table.write_csv(file))?;
        }
        let figures = self.write_figures(&tables, out)?;
        let has_bounds = figures.svgs.iter().any(|(name, _)| *name == "bounds");
        self.write_page(&tables, figures, out)?;
        let summary = self.summary_md(&tables, has_bounds);
        write_text(&out.join("summary.md"), &summary)?;
        let mut manifest = self.manifest.clone();
        manifest.set_standings(self.summaries(), &standings, &tables.parts);
        let manifest = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
        write_text(&out.join("manifest.json"), &manifest)
    }

    fn write_page(&self, tables: &PublicationTables, figures: Figures, out: &Path) -> Result<(), Diagnostic> {
        let path = out.join("report.html");
        let failed = |error: &dyn std::fmt::Display| {
            let at = Location::file(path.display().to_string());
            Diagnostic::new(at, format!("cannot make the page: {error}"), "report this as a defect")
        };
        let page = Page {
            publication: self,
            points: &tables.points,
            rules: &tables.rules,
            figures: figures.svgs,
            frontier: figures.frontier,
            followed: self.told_of_followed(),
        };
        let html = page.html().map_err(|error| failed(&error))?;
        write_text(&path, &html)
    }

    /// Writes rows and firings in the requested format.
    fn write_rows(&self, out: &Path, format: RowFormat) -> Result<(), Diagnostic> {
        match format {
            RowFormat::Csv => {
                write_rows(&out.join("rows.csv"), self.rows.iter())?;
                if self.firings.is_empty() {
                    let names: Vec<String> = Firing::columns().into_iter().map(|column| column.name).collect();
                    return write_atomically(&out.join("firings.csv"), |file| writeln!(file, "{}", names.join(",")));
                }
                write_rows(&out.join("firings.csv"), self.firings.iter())
            }
            RowFormat::Parquet => {
                write_parquet(&out.join("rows.parquet"), self.rows.iter().map(RowView::to_row))?;
                write_parquet(&out.join("firings.parquet"), self.firings.iter())
            }
        }
    }

    /// What the page of ungraded runs opens with.
    fn told_of_followed(&self) -> Option<FollowedAnswer> {
        let followed = self.ungraded()?;
        let costs: HashMap<&str, f64> =
            self.rows.iter().filter_map(|row| Some((&**row.run_id(), Unit::CostUsd.recorded(row)?))).collect();
        let mut tables = vec![("What followed the stops", followed.table())];
        tables.extend(followed.stopped().map(|table| ("Stopped with work still to come", table)));
        tables.extend(followed.expensive(|run| costs.get(run).copied()).map(|table| ("The most expensive", table)));
        let verdict = words::followed_verdict(&followed.verdict());
        let verdict = self.manifest.lead.iter().cloned().chain([verdict]).collect::<Vec<_>>().join(" ");
        Some(FollowedAnswer { verdict, tables })
    }

    /// Writes the figures, and returns those that the page embeds.
    fn write_figures(&self, tables: &PublicationTables, out: &Path) -> Result<Figures, Diagnostic> {
        let first = self.first();
        let groups = self.groups_in_order(&first);
        let subtitle = self.headline_words();
        let stops = StopsFigure { groups: &groups, subtitle: subtitle.clone(), followed: self.ungraded() };
        let spending = SpendingFigure { groups: &groups, unit: self.unit, subtitle: subtitle.clone() };
        let mut svgs =
            vec![("spending", save(&spending, out, "spending")?), ("stop-steps", save(&stops, out, "stop-steps")?)];
        if self.ungraded().is_some() {
            return Ok(Figures { svgs, frontier: Vec::new() });
        }
        let budget = BudgetFigure { curves: &tables.curves, subtitle: subtitle.clone() };
        svgs.push(("budget", save(&budget, out, "budget")?));
        let stacks: Vec<(&Summary, &Group<'_>)> = first.in_order().zip(&groups).collect();
        if let Some(bounds) = BoundsFigure::from_stacks(&stacks, subtitle.clone()) {
            svgs.push(("bounds", save(&bounds, out, "bounds")?));
        }
        let max_killed = self.manifest.appetite.max_killed;
        let [wide, narrow] = [FrontierLayout::Wide, FrontierLayout::Narrow]
            .map(|layout| FrontierFigure::new(&tables.points, &first, max_killed, &subtitle, layout));
        svgs.push(("frontier", save(&wide, out, "frontier")?));
        svgs.push(("frontier-narrow", svg(&narrow).map_err(|error| error.in_picture(out, "frontier"))?));
        Ok(Figures { svgs, frontier: vec![wide.view("frontier"), narrow.view("frontier-narrow")] })
    }

    /// The rows of each stack, in the order of the first table.
    fn groups_in_order(&self, first: &FirstTable<'_>) -> Vec<Group<'_>> {
        let order: Vec<&str> = first.in_order().map(|summary| &*summary.stack).collect();
        let mut groups = by_stack(&self.rows);
        groups.sort_by_key(|group| order.iter().position(|stack| *stack == &*group.stack));
        groups
    }

    /// The summary of runs that nobody graded.
    fn ungraded_md(&self, told: &FollowedAnswer) -> String {
        let section =
            |(heading, table): &(&str, tables::DataTable)| format!("## {heading}\n\n{}\n", table.to_markdown());
        let tables = told.tables.iter().map(section).collect::<Vec<_>>().concat();
        let notes = self.followed().map(FollowedReport::notes).unwrap_or_default();
        let notes = markdown::bullets(&words::notes(&notes));
        markdown::page(&format!(
            "# When should it have stopped?\n\n**{}**\n\n{}.\n\n{tables}{notes}\n\
            ![When each stack stops](stop-steps.svg)\n\n![Where the cost went](spending.svg)\n",
            told.verdict,
            self.headline_words(),
        ))
    }

    fn summary_md(&self, tables: &PublicationTables, has_bounds: bool) -> String {
        if let Some(told) = self.told_of_followed() {
            return self.ungraded_md(&told);
        }
        let first = self.first();
        let best: Vec<String> =
            tables.points.iter().filter(|point| point.on_frontier).map(|point| markdown::code(&point.stack)).collect();
        let assumptions =
            if self.manifest.assumptions.is_empty() { "none".to_owned() } else { self.manifest.assumptions.join(", ") };
        let listed = |notes: &[AnswerNote]| markdown::bullets(&words::notes(notes));
        markdown::page(&format!(
            "# When should it have stopped?\n\n**{verdict}**\n\n{headline}.\n\n{overview}\n{below}{notes}\n\
            On the frontier (no other stack kills fewer successes and saves more): {best}.{volume}\n\n\
            - **successes killed, %**: false early stops, successes stopped before they were secured, of the successes \
            that could be judged, their share and its 95 % interval, clustered by task. A success of which nothing \
            tells when it was secured counts as killed by any earlier stop. `2–8` is a range: the truth lies anywhere \
            in it.\n\
            - **unknown**: the share of runs of which something that is counted is not known, and why.\n\
            - **failures stopped**: true stops, of the failures that could be judged.\n\
            - **{unit} saved**: on failed runs and after success, over all {unit} of the runs that could be judged. What \
            killed successes would still have spent is forfeited, not saved.\n\
            - **cost per success**: {unit} spent for each success kept, against the same without stopping.\n\
            - Tolerated: {max_killed} of the successes killed, by the upper end of the interval (`--max-killed`).\n\
            - Assumptions beyond the recordings: {assumptions}.\n\n\
            ![Where the cost went](spending.svg)\n\n\
            ![Cost saved against successes killed](frontier.svg)\n\n![When each stack stops](stop-steps.svg)\n\n\
            ![Success by budget](budget.svg)\n\n{bounds}\
            `pairs.csv` holds every stack against {baseline}; `summary.csv` what was counted and saved; `estimates.csv` every estimate with its interval. \
            `whenstop schema summary` says what the columns mean.\n",
            verdict = words::verdict(&first.verdict()),
            baseline = markdown::code(&self.manifest.baseline),
            headline = self.headline_words(),
            overview = self.overview().to_markdown(),
            best = if best.is_empty() { "none can be placed".to_owned() } else { best.join(", ") },
            unit = self.unit.noun(),
            below = listed(&first.notes()),
            notes = listed(&self.page_notes()),
            max_killed = chosen_percent(self.manifest.appetite.max_killed),
            volume = tables.volume.map(volume_note).unwrap_or_default(),
            bounds = if has_bounds { "![Bounds on success](bounds.svg)\n\n" } else { "" },
        ))
    }
}

/// Formats the hypervolume for a note.
fn volume_note((volume, interval): (f64, Option<Interval>)) -> String {
    let interval = interval.map(|interval| format!(" ({:.3}–{:.3})", interval.low, interval.high)).unwrap_or_default();
    format!(
        " `frontier.csv` says in how many resamples of these same tasks each stack is (on other tasks it is in fewer). Together they cover {volume:.3}{interval} of \
        an area of {:.1}, between all cost saved without a success killed and nothing saved with {:.0} % of them kept.",
        REFERENCE.cost * (1.0 - REFERENCE.retention),
        REFERENCE.retention * 100.0
    )
}
