//! A comparison as a folder: rows, tables, figures, and a manifest that says what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::choice::Choice;
use super::configuration::Configuration;
use super::evidence::evidence;
use super::figure::{BoundsFigure, BudgetFigure, FigureError, FrontierFigure, SpendingFigure, StopsFigure, save, svg};
use super::first::{Appetite, FirstTable};
use super::followed::FollowedReport;
use super::further;
use super::page::Page;
use super::row_file::{RowFormat, write_parquet};
use super::saved::{FOLLOWED, Manifest, ManifestStack, ROWS_VERSION, STORIES, write_stories};
use super::table::{self, Table};
use super::{CsvStyle, markdown, write_atomically, write_folder, write_rows};
use crate::aggregate::{
    BudgetCurve, Firing, Firings, FollowedRow, FrontierPoint, Group, Label, LostSuccess, REFERENCE, Row, Rows, SEED,
    Summary, Tails, Unit, budget_curves, by_stack, by_stratum, frontier, frontier_spread, frontier_volume, pairs,
    price_lost_successes, rule_shares, summarise, unit_of,
};
use crate::compare::StackInfo;
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::explain::Story;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::labels::{CheckedLabels, LabelErrors};
use crate::stats::{Interval, Warning};
use crate::transcript::Outcome;
use crate::verdict::TailTokens;

/// What every table and figure of a folder is made of.
struct Tables {
    rules: Table,
    strata: Table,
    frontier: Table,
    pairs: Table,
    budget: Table,
    curves: Vec<BudgetCurve>,
    points: Vec<FrontierPoint>,
    /// The frontier's hypervolume and its interval.
    volume: Option<(f64, Option<Interval>)>,
}

/// A comparison, ready to be shown and written.
pub struct Publication {
    rows: Rows,
    firings: Firings,
    manifest: Manifest,
    unit: Unit,
    all: bool,
    stories: Vec<Story>,
    row_format: RowFormat,
    whole_budget: bool,
    followed: Option<FollowedReport>,
}

impl Publication {
    /// With what followed the stops: written beside the rows, and the first table where nobody graded the runs.
    #[must_use]
    pub fn with_followed(self, followed: FollowedReport) -> Self {
        let unit = (followed.noun() == "rounds").then(|| followed.noun().to_owned());
        let manifest = Manifest { unit, ..self.manifest };
        Self { followed: Some(followed), manifest, ..self }
    }

    /// What followed the stops.
    pub fn followed(&self) -> Option<&FollowedReport> {
        self.followed.as_ref()
    }

    /// From a comparison just made.
    /// `baseline` is the stack the others are compared with; by default the first.
    pub fn new(
        rows: Rows,
        firings: Firings,
        stacks: Vec<StackInfo>,
        baseline: Option<&str>,
        assumptions: &[&str],
    ) -> Self {
        let first = stacks.first().map_or_else(|| Label::from(""), |stack| stack.name.clone());
        let stacks_tried = stacks.len();
        let stacks = stacks.into_iter();
        let manifest = Manifest {
            whenstop: env!("CARGO_PKG_VERSION").to_owned(),
            rows_version: ROWS_VERSION,
            stacks: stacks.map(|StackInfo { name, profile, rules }| ManifestStack { name, profile, rules }).collect(),
            baseline: baseline.map_or(first, Label::from),
            seed: SEED,
            stacks_tried,
            choice: None,
            label_sensitivity: None,
            label_specificity: None,
            label_checked: None,
            unit: None,
            proxies: None,
            failure_rate: None,
            assumptions: assumptions.iter().map(ToString::to_string).collect(),
            max_fes: Appetite::DEFAULT_MAX_FES,
            lost_success_costs: None,
            found: Vec::new(),
            remarks: Vec::new(),
            configurations: Vec::new(),
        };
        Self::from_rows(rows, firings, manifest)
    }

    /// From saved rows.
    pub fn from_rows(rows: Rows, firings: Firings, manifest: Manifest) -> Self {
        Self {
            unit: unit_of(&rows),
            rows,
            firings,
            manifest,
            all: false,
            stories: Vec::new(),
            row_format: RowFormat::default(),
            whole_budget: false,
            followed: None,
        }
    }

    /// The same for a reader who tolerates so many killed successes, with every stack in the table or not.
    #[must_use]
    pub fn with_appetite(mut self, appetite: Appetite) -> Self {
        self.manifest.max_fes = appetite.max_fes;
        self.manifest.lost_success_costs = appetite.lost_success_costs;
        self.all = appetite.all;
        self
    }

    /// The same with what is to be said before everything else below the table.
    #[must_use]
    pub fn with_remarks(mut self, remarks: Vec<String>) -> Self {
        self.manifest.remarks = remarks;
        self
    }

    /// The same with runs told step by step, and with what was found while the recordings were read.
    #[must_use]
    pub fn with_stories(mut self, stories: Vec<Story>, quality: Vec<String>) -> Self {
        self.stories = stories;
        self.stories.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        self.manifest.found = quality;
        self
    }

    /// The same with stacks as configurations to be copied from the page.
    #[must_use]
    pub fn with_configurations(mut self, configurations: Vec<Configuration>) -> Self {
        self.manifest.configurations = configurations;
        self
    }

    fn appetite(&self) -> Appetite {
        Appetite { max_fes: self.manifest.max_fes, lost_success_costs: self.manifest.lost_success_costs, all: self.all }
    }

    /// The first table, sorted for a reader.
    pub fn first<'s>(&'s self, summaries: &'s [Summary]) -> FirstTable<'s> {
        FirstTable::of(summaries, &self.rows, self.unit, self.appetite(), self.manifest.choice.as_ref())
    }

    /// The same with labels that err.
    #[must_use]
    pub fn with_label_errors(mut self, rates: Option<ErrorRates>) -> Self {
        let errors = rates.and_then(ErrorRates::errors);
        self.manifest.label_sensitivity = errors.map(|errors| errors.sensitivity);
        self.manifest.label_specificity = errors.map(|errors| errors.specificity);
        self.manifest.label_checked = rates.and_then(ErrorRates::counts);
        self
    }

    /// The same with outcomes that are marks of the recordings.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Option<String>) -> Self {
        self.manifest.proxies = proxies;
        self
    }

    /// The same with savings carried over to another share of failures.
    #[must_use]
    pub fn with_failure_rate(mut self, failure_rate: Option<f64>) -> Self {
        self.manifest.failure_rate = failure_rate;
        self
    }

    /// The same as one part of the tasks: `choice` says how they were split, and is made on `dev`, or on these rows where
    /// they are the dev part themselves.
    #[must_use]
    pub fn with_choice(mut self, choice: Choice, dev: Option<&Rows>) -> Self {
        let own = self.summaries();
        let chosen_on = dev.map(|rows| self.summarised(rows));
        self.manifest.choice = Some(match chosen_on {
            Some(dev) => choice.made(&dev, Some(&own), self.unit),
            None => choice.made(&own, None, self.unit),
        });
        self
    }

    fn label_errors(&self) -> Option<ErrorRates> {
        if let Some([n_pos, k_pos, n_neg, k_neg]) = self.manifest.label_checked {
            return Some(ErrorRates::Checked(CheckedLabels { successes: (n_pos, k_pos), failures: (n_neg, k_neg) }));
        }
        let (sensitivity, specificity) = self.manifest.label_sensitivity.zip(self.manifest.label_specificity)?;
        Some(ErrorRates::Stated(LabelErrors { sensitivity, specificity }))
    }

    /// What to say below the table.
    pub fn notes(&self, summaries: &[Summary]) -> Vec<String> {
        let mut notes = self.manifest.remarks.clone();
        notes.extend(self.manifest.choice.iter().map(Choice::sentence));
        notes.extend(self.manifest.proxies.iter().map(|proxies| {
            format!(
                "outcomes are proxies, {proxies}: marks of the recordings, not grades. A killed success is here a run that \
                 bears the mark, stopped early"
            )
        }));
        let corrections: BTreeSet<&str> =
            summaries.iter().filter_map(|summary| Some(summary.corrected.as_ref()?.correction.name())).collect();
        // All stacks are compared on the same runs, so what holds for the first holds for all.
        let few = summaries.iter().find(|summary| !summary.is_unread()).into_iter().flat_map(|summary| {
            [("successes killed", summary.estimates.fes_rate), ("saved", summary.ratios_in(self.unit).useful)]
        });
        notes.extend(few.filter_map(|(name, estimate)| match estimate.warning()? {
            Warning::NoSpread => None,
            warning => Some(format!("{name}: {warning}")),
        }));
        notes.extend(corrections.into_iter().map(|correction| format!("label errors: {correction}")));
        notes.extend(further::without_tasks(&by_stack(&self.rows)));
        if self.manifest.failure_rate.is_some() {
            notes.extend(self.further());
        }
        notes
    }

    /// What to say further on the page: the luck of the best of many, other suites, other shares of failures.
    fn further(&self) -> Vec<String> {
        let Manifest { max_fes, failure_rate, choice, .. } = &self.manifest;
        further::notes(&self.rows, self.unit, *max_fes, *failure_rate, choice.is_some())
    }

    fn page_notes(&self, summaries: &[Summary]) -> Vec<String> {
        let mut notes = self.notes(summaries);
        notes.extend(self.tail());
        if self.manifest.failure_rate.is_none() {
            notes.extend(self.further());
        }
        notes
    }

    /// Tokens after the last effect, by outcome and model.
    fn tail(&self) -> Option<String> {
        /// Models told of many.
        const TOLD: usize = 6;
        let followed = self.followed()?.rows();
        let of_row = |row: &FollowedRow| {
            let (least, most, whole) = (row.tail_tokens_low?, row.tail_tokens_high?, row.tokens_recorded?);
            Some(TailTokens { least, most, whole })
        };
        let tails: BTreeMap<Label, TailTokens> =
            followed.of_runs().filter_map(|row| Some((row.run_id.clone(), of_row(&row)?))).collect();
        let mut all = Tails::default();
        for row in by_stack(&self.rows).into_iter().next()?.rows() {
            let tail = tails.get(row.run_id()).copied();
            all.extend(Tails::of(row.outcome(), row.model().map(|model| &**model), tail));
        }
        let rows = all.rows();
        let told = rows.iter().take(TOLD).filter_map(|(outcome, model, tail)| {
            let of = if *outcome == Outcome::Unknown { "ungraded" } else { outcome.name() };
            let share = table::percents(tail.share()?);
            Some(format!("{share} of {} {of} runs of {}", tail.runs, model.unwrap_or("no named model")))
        });
        let told: Vec<String> = told.collect();
        let more = if rows.len() > TOLD { format!(" and {} more", rows.len() - TOLD) } else { String::new() };
        (!told.is_empty()).then(|| {
            format!(
                "tokens after the last edit, hand-over or green check: {}{more}: what a perfect stop could save, in hindsight",
                told.join(", ")
            )
        })
    }

    /// What was compared, in one line.
    pub fn headline(&self) -> String {
        let Some(group) = by_stack(&self.rows).into_iter().next() else { return "nothing".to_owned() };
        let tasks: BTreeSet<_> = group.rows().map(crate::aggregate::RowView::cluster).collect();
        let graded = |outcome| group.rows().filter(|row| row.outcome() == outcome).count();
        // Rounds of sessions without a task are clustered by session.
        let of_own_session = |row: crate::aggregate::RowView<'_>| {
            let session = row.run_id().rsplit_once('#').map(|(session, _)| session);
            session.is_some() && session == row.task_id().map(|task| &**task)
        };
        let is_by_session = self.manifest.unit.is_some() && group.rows().all(of_own_session);
        let proxy = if self.manifest.proxies.is_some() { "proxy " } else { "" };
        let part = self.manifest.choice.as_ref().map(|choice| format!("{} part: ", choice.split)).unwrap_or_default();
        let mut text = format!(
            "{part}{} {} of {} {}: {} {proxy}successes, {} {proxy}failures",
            group.len(),
            self.manifest.unit.as_deref().unwrap_or("runs"),
            tasks.len(),
            if is_by_session { "sessions" } else { "tasks" },
            graded(Outcome::Success),
            graded(Outcome::Failure)
        );
        if graded(Outcome::Unknown) > 0 {
            let _ = write!(text, ", {} ungraded", graded(Outcome::Unknown));
        }
        let with_tokens = group.rows().filter(|row| row.tokens_recorded().is_some()).count();
        if with_tokens < group.len() {
            let _ = write!(text, "; {with_tokens} with token counts");
        }
        let in_part = group.rows().filter(|row| row.tokens_in_part() == 1).count();
        if in_part > 0 {
            let _ = write!(text, "; {in_part} with tokens at some steps only, taken as unknown");
        }
        text
    }

    /// One summary a stack, in order: all that is printed.
    pub fn summaries(&self) -> Vec<Summary> {
        self.summarised(&self.rows)
    }

    fn summarised(&self, rows: &Rows) -> Vec<Summary> {
        let groups = by_stack(rows);
        let mut summaries = summarise(&groups, self.label_errors());
        if let Some(costs) = self.manifest.lost_success_costs {
            price_lost_successes(&mut summaries, &groups, LostSuccess { unit: Unit::CostUsd, costs });
        }
        summaries
    }

    /// The table for the terminal.
    pub fn overview(&self, summaries: &[Summary]) -> Table {
        let first = self.first(summaries);
        if first.is_ungraded() {
            table::ungraded(first.shown, self.unit)
        } else {
            table::overview(first.shown, self.unit)
        }
    }

    /// One stack against another as a block for a pull request ([`evidence`]): the baseline and the only other one, unless
    /// they are named.
    pub fn evidence(
        &self,
        summaries: &[Summary],
        default: Option<&str>,
        proposed: Option<&str>,
    ) -> Result<String, Diagnostic> {
        let stacks: Vec<&str> = summaries.iter().map(|summary| &*summary.stack).collect();
        let wrong = |what: String, help: String| Diagnostic::new(Location::default(), what, help);
        let named = |name: &str| {
            summaries.iter().find(|summary| *summary.stack == *name).ok_or_else(|| {
                let near = nearest(name, stacks.iter().copied());
                let help = near.map_or_else(
                    || format!("the stacks are {}", stacks.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                wrong(format!("no stack `{name}` in these results"), help)
            })
        };
        let default = named(default.unwrap_or(&self.manifest.baseline))?;
        let proposed = if let Some(name) = proposed {
            named(name)?
        } else {
            {
                let mut others = summaries.iter().filter(|summary| summary.stack != default.stack);
                if let (Some(one), None) = (others.next(), others.next()) {
                    one
                } else {
                    let help = format!("name it with `--proposed STACK`: {}", stacks.join(", "));
                    return Err(wrong("which stack is proposed?".to_owned(), help));
                }
            }
        };
        if default.stack == proposed.stack {
            let help = "name another with `--default STACK` or `--proposed STACK`".to_owned();
            return Err(wrong(format!("`{}` is held against itself", default.stack), help));
        }
        Ok(evidence(&self.rows, &self.manifest, (default, proposed), self.unit, &self.headline()))
    }

    /// What only a folder holds: pairs, strata, budget curves …
    fn tables(&self, summaries: &[Summary]) -> Tables {
        let groups = by_stack(&self.rows);
        let stacks: Vec<(Label, Vec<Label>)> =
            self.manifest.stacks.iter().map(|stack| (stack.name.clone(), stack.rules.clone())).collect();
        let mut points = frontier(summaries, self.unit);
        FrontierPoint::mark_beaten(&mut points, &groups, self.unit);
        let spread = frontier_spread(&groups, self.unit);
        let curves = groups.first().map(|group| budget_curves(group, self.unit)).unwrap_or_default();
        Tables {
            rules: table::rules(&rule_shares(&stacks, &self.rows, &self.firings)),
            strata: table::strata(&summarise(&by_stratum(&self.rows), self.label_errors())),
            frontier: table::frontier(&points, &spread),
            pairs: table::pairs(&pairs(&groups, &self.manifest.baseline, self.unit)),
            budget: table::budget(&curves, self.whole_budget),
            volume: frontier_volume(&points).map(|volume| (volume, spread.volume)),
            curves,
            points,
        }
    }

    /// Writes the folder: all files are replaced, or none ([`write_folder`]).
    pub fn write(&self, summaries: &[Summary], out: &Path, csv: CsvStyle) -> Result<(), Diagnostic> {
        self.write_with(summaries, out, csv, |_| Ok(()))
    }

    /// The same with files of the caller's own, which `more` writes.
    pub fn write_with(
        &self,
        summaries: &[Summary],
        out: &Path,
        csv: CsvStyle,
        more: impl FnOnce(&Path) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        write_folder(out, csv, |out| self.write_files(summaries, out).and_then(|()| more(out)))
    }

    fn write_files(&self, summaries: &[Summary], out: &Path) -> Result<(), Diagnostic> {
        let tables = self.tables(summaries);
        self.write_rows(out)?;
        if let Some(followed) = self.followed.as_ref().filter(|followed| !followed.rows().is_empty()) {
            write_rows(&out.join(FOLLOWED), followed.rows().iter())?;
        }
        if !self.stories.is_empty() {
            write_stories(&out.join(STORIES), &self.stories)?;
        }
        let named = [
            ("summary", &table::summary(summaries)),
            ("pairs", &tables.pairs),
            ("budget", &tables.budget),
            ("rules", &tables.rules),
            ("strata", &tables.strata),
            ("frontier", &tables.frontier),
        ];
        for (name, table) in named {
            write_atomically(&out.join(format!("{name}.csv")), |file| table.write_csv(file))?;
        }
        self.write_figures(&tables, summaries, out)?;
        self.write_page(&tables, summaries, out)?;
        let summary = self.summary_md(&tables, summaries);
        write_atomically(&out.join("summary.md"), |file| file.write_all(summary.as_bytes()))?;
        let manifest = serde_json::to_string_pretty(&self.manifest).unwrap_or_default() + "\n";
        write_atomically(&out.join("manifest.json"), |file| file.write_all(manifest.as_bytes()))
    }

    fn write_page(&self, tables: &Tables, summaries: &[Summary], out: &Path) -> Result<(), Diagnostic> {
        let path = out.join("report.html");
        let failed = |error: &dyn std::fmt::Display| {
            let at = Location::file(path.display().to_string());
            Diagnostic::new(at, format!("cannot make the page: {error}"), "report this as a defect")
        };
        let page = Page {
            rows: &self.rows,
            summaries,
            points: &tables.points,
            unit: self.unit,
            appetite: self.appetite(),
            manifest: &self.manifest,
            headline: self.headline(),
            notes: self.page_notes(summaries),
            quality: &self.manifest.found,
            rules: &tables.rules,
            stories: &self.stories,
            figures: self.page_figures(tables, summaries).map_err(|error| failed(&error))?,
        };
        let html = page.html().map_err(|error| failed(&error))?;
        write_atomically(&path, |file| file.write_all(html.as_bytes()))
    }

    /// What followed the stops, where that is all there is to tell them by.
    fn followed_if_ungraded(&self, summaries: &[Summary]) -> Option<&FollowedReport> {
        self.followed().filter(|_| self.first(summaries).is_ungraded())
    }

    /// The figures that a page shows as they are.
    fn page_figures(&self, tables: &Tables, summaries: &[Summary]) -> Result<Vec<(&'static str, String)>, FigureError> {
        let groups: Vec<Group<'_>> = by_stack(&self.rows);
        let subtitle = self.headline();
        Ok(vec![
            ("bounds", svg(&BoundsFigure { summaries, groups: &groups, subtitle: subtitle.clone() })?),
            ("budget", svg(&BudgetFigure { curves: &tables.curves, subtitle: subtitle.clone() })?),
            (
                "stop-steps",
                svg(&StopsFigure {
                    groups: &groups,
                    subtitle: subtitle.clone(),
                    followed: self.followed_if_ungraded(summaries),
                })?,
            ),
            ("spending", svg(&SpendingFigure { groups: &groups, unit: self.unit, subtitle })?),
        ])
    }

    /// Rows and firings, in the format asked for.
    fn write_rows(&self, out: &Path) -> Result<(), Diagnostic> {
        match self.row_format {
            RowFormat::Csv => {
                write_rows(&out.join("rows.csv"), &self.rows)?;
                if self.firings.is_empty() {
                    return write_atomically(&out.join("firings.csv"), |file| writeln!(file, "{}", Firing::HEADER));
                }
                write_rows(&out.join("firings.csv"), self.firings.iter())
            }
            RowFormat::Parquet => {
                write_parquet::<Row>(&out.join("rows.parquet"), &self.rows)?;
                write_parquet::<Firing>(&out.join("firings.parquet"), self.firings.iter())
            }
        }
    }

    /// The same with rows in this format.
    #[must_use]
    pub fn with_row_format(mut self, format: RowFormat) -> Self {
        self.row_format = format;
        self
    }

    /// The same with every step of the budget curves in `budget.csv`, or as many as can be drawn.
    #[must_use]
    pub fn with_whole_budget(mut self, whole: bool) -> Self {
        self.whole_budget = whole;
        self
    }

    /// One row a run and stack.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// What fired.
    pub fn firings(&self) -> &Firings {
        &self.firings
    }

    /// What the folder's `manifest.json` will say.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn write_figures(&self, tables: &Tables, summaries: &[Summary], out: &Path) -> Result<(), Diagnostic> {
        let groups: Vec<Group<'_>> = by_stack(&self.rows);
        let subtitle = self.headline();
        let first = self.first(summaries);
        let max_fes = self.manifest.max_fes;
        let frontier = FrontierFigure { points: &tables.points, first: &first, max_fes, subtitle: subtitle.clone() };
        save(&frontier, out, "frontier")?;
        save(&BoundsFigure { summaries, groups: &groups, subtitle: subtitle.clone() }, out, "bounds")?;
        save(&BudgetFigure { curves: &tables.curves, subtitle: subtitle.clone() }, out, "budget")?;
        save(
            &StopsFigure {
                groups: &groups,
                subtitle: subtitle.clone(),
                followed: self.followed_if_ungraded(summaries),
            },
            out,
            "stop-steps",
        )?;
        save(&SpendingFigure { groups: &groups, unit: self.unit, subtitle }, out, "spending")
    }

    fn summary_md(&self, tables: &Tables, summaries: &[Summary]) -> String {
        let first = self.first(summaries);
        let best: Vec<String> =
            tables.points.iter().filter(|point| point.on_frontier).map(|point| markdown::code(&point.stack)).collect();
        let assumptions =
            if self.manifest.assumptions.is_empty() { "none".to_owned() } else { self.manifest.assumptions.join(", ") };
        let listed = |lines: Vec<String>| lines.iter().flat_map(|line| ["- ", line, "\n"]).collect::<String>();
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
            - Tolerated: {max_fes} of the successes killed, by the upper end of the interval (`--max-fes`).\n\
            - Assumptions beyond the recordings: {assumptions}.\n\n\
            ![Cost saved against successes killed](frontier.svg)\n\n\
            ![When each stack stops](stop-steps.svg)\n\n![Where the cost went](spending.svg)\n\n\
            ![Success by budget](budget.svg)\n\n![Bounds on success](bounds.svg)\n\n\
            `pairs.csv` holds every stack against {baseline}; `summary.csv` every count, rate, bound and sum.\n",
            verdict = first.verdict(),
            baseline = markdown::code(&self.manifest.baseline),
            headline = self.headline(),
            overview = self.overview(summaries).to_markdown(),
            best = if best.is_empty() { "none can be placed".to_owned() } else { best.join(", ") },
            unit = self.unit.noun(),
            below = listed(first.below()),
            notes = listed(self.page_notes(summaries)),
            max_fes = super::choice::percent(self.manifest.max_fes),
            volume = tables.volume.map(volume_note).unwrap_or_default(),
        ))
    }
}

/// The hypervolume in words.
fn volume_note((volume, interval): (f64, Option<Interval>)) -> String {
    let interval = interval.map_or_else(String::new, |i| format!(" ({:.3}–{:.3})", i.low, i.high));
    format!(
        " `frontier.csv` says in how many resamples of the tasks each stack is. Together they cover {volume:.3}{interval} of \
        an area of {:.1}, between all cost saved without a success killed and nothing saved with {:.0} % of them kept.",
        REFERENCE.cost * (1.0 - REFERENCE.retention),
        REFERENCE.retention * 100.0
    )
}
