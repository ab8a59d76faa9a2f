//! A comparison as a folder: rows, tables, figures, and a manifest that says what they are.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::choice::Choice;
use super::figure::{BoundsFigure, BudgetFigure, FrontierFigure, SpendingFigure, StopsFigure, save};
use super::first::{Appetite, FirstTable};
use super::followed::FollowedReport;
use super::further;
use super::table::{self, Table};
use super::{CsvStyle, Lock, markdown, read_rows, write_atomically, write_folder, write_rows};
use crate::aggregate::{
    BudgetCurve, Firing, Firings, FollowedRow, FrontierPoint, Group, Label, LostSuccess, REFERENCE, Row, Rows, SEED,
    Summary, Unit, budget_curves, by_stack, by_stratum, frontier, frontier_spread, frontier_volume, pairs,
    price_lost_successes, rule_shares, summarise, unit_of,
};
use crate::compare::StackInfo;
use crate::diagnostic::{Diagnostic, Location};
use crate::stats::label_certificate::ErrorRates;
use crate::stats::labels::{CheckedLabels, LabelErrors};
use crate::stats::{Interval, Warning};
use crate::transcript::Outcome;

/// Version of the columns of `rows.csv` and `firings.csv`.
const ROWS_VERSION: u32 = 2;

/// What a folder of results is: enough to redraw it without the recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of whenstop that replayed.
    pub whenstop: String,
    /// Version of the row columns.
    pub rows_version: u32,
    /// Stacks in order, each with its rules in order.
    pub stacks: Vec<ManifestStack>,
    /// The stack the others are compared with in `pairs.csv`.
    pub baseline: Label,
    /// Seed of every resample.
    pub seed: u64,
    /// How many stacks were tried on these runs.
    pub stacks_tried: usize,
    /// How tasks were split and which stack was chosen, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Chance that a true success is labelled a success, where labels err.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_sensitivity: Option<f64>,
    /// Chance that a true failure is labelled a failure, where labels err.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_specificity: Option<f64>,
    /// Labels checked by hand: true successes, of them labelled so, true failures, of them labelled so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_checked: Option<[u64; 4]>,
    /// What counts as a run where that is not a recording: `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The share of failures savings are carried over to, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_rate: Option<f64>,
    /// Assumptions that narrow bounds.
    pub assumptions: Vec<String>,
    /// The largest tolerated share of killed successes.
    pub max_fes: f64,
    /// What a lost success costs in dollars, where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_success_costs: Option<f64>,
}

/// One stack of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestStack {
    /// Its name.
    pub name: Label,
    /// Its profile.
    pub profile: Label,
    /// Its rules.
    pub rules: Vec<Label>,
}

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
            failure_rate: None,
            assumptions: assumptions.iter().map(ToString::to_string).collect(),
            max_fes: Appetite::DEFAULT_MAX_FES,
            lost_success_costs: None,
        };
        Self::from_rows(rows, firings, manifest)
    }

    /// From saved rows.
    pub fn from_rows(rows: Rows, firings: Firings, manifest: Manifest) -> Self {
        Self { unit: unit_of(&rows), rows, firings, manifest, all: false, followed: None }
    }

    /// The same for a reader who tolerates so many killed successes, with every stack in the table or not.
    #[must_use]
    pub fn with_appetite(mut self, appetite: Appetite) -> Self {
        self.manifest.max_fes = appetite.max_fes;
        self.manifest.lost_success_costs = appetite.lost_success_costs;
        self.all = appetite.all;
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

    /// The same with savings carried over to another share of failures.
    #[must_use]
    pub fn with_failure_rate(mut self, failure_rate: Option<f64>) -> Self {
        self.manifest.failure_rate = failure_rate;
        self
    }

    /// The same as one part of the tasks: `choice` says how they were split, and is made on `dev`, or on these rows where
    /// they are the dev part themselves.
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
        let mut notes: Vec<String> = self.manifest.choice.iter().map(Choice::sentence).collect();
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
        if self.manifest.failure_rate.is_none() {
            notes.extend(self.further());
        }
        notes
    }

    /// What was compared, in one line.
    pub fn headline(&self) -> String {
        let Some(group) = by_stack(&self.rows).into_iter().next() else { return "nothing".to_owned() };
        let tasks: BTreeSet<_> = group.rows().map(|row| row.cluster()).collect();
        let graded = |outcome| group.rows().filter(|row| row.outcome() == outcome).count();
        let part = self.manifest.choice.as_ref().map(|choice| format!("{} part: ", choice.split)).unwrap_or_default();
        let mut text = format!(
            "{part}{} runs of {} tasks: {} successes, {} failures",
            group.len(),
            tasks.len(),
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
            budget: table::budget(&curves),
            volume: frontier_volume(&points).map(|volume| (volume, spread.volume)),
            curves,
            points,
        }
    }

    /// Writes the folder: all files are replaced, or none ([`write_folder`]).
    pub fn write(&self, summaries: &[Summary], out: &Path, csv: CsvStyle) -> Result<(), Diagnostic> {
        write_folder(out, csv, |out| self.write_files(summaries, out))
    }

    fn write_files(&self, summaries: &[Summary], out: &Path) -> Result<(), Diagnostic> {
        let tables = self.tables(summaries);
        write_rows(&out.join("rows.csv"), &self.rows)?;
        write_rows(&out.join("firings.csv"), self.firings.iter())?;
        if let Some(followed) = &self.followed {
            write_rows(&out.join("followed.csv"), followed.rows().iter())?;
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
        let summary = self.summary_md(&tables, summaries);
        write_atomically(&out.join("summary.md"), |file| file.write_all(summary.as_bytes()))?;
        let manifest = serde_json::to_string_pretty(&self.manifest).unwrap_or_default() + "\n";
        write_atomically(&out.join("manifest.json"), |file| file.write_all(manifest.as_bytes()))
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
        save(&StopsFigure { groups: &groups, subtitle: subtitle.clone() }, out, "stop-steps")?;
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

/// What a folder of results says, without what is made of it.
#[derive(Clone, Debug)]
pub struct Saved {
    /// `rows.csv`.
    pub rows: Rows,
    /// `firings.csv`.
    pub firings: Firings,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `followed.csv`, where the folder has one.
    pub followed: Vec<FollowedRow>,
}

/// Reads a folder `compare --out` wrote. One that is being written, or was left half written, is refused.
pub fn read_saved(folder: &Path) -> Result<Saved, Diagnostic> {
    let _lock = Lock::to_read(folder)?;
    Ok(Saved {
        rows: read_rows::<Row, Rows>(&folder.join("rows.csv"))?,
        firings: read_rows::<Firing, Firings>(&folder.join("firings.csv"))?,
        manifest: read_manifest(folder)?,
        followed: match folder.join("followed.csv") {
            path if path.is_file() => read_rows::<FollowedRow, Vec<FollowedRow>>(&path)?,
            _ => Vec::new(),
        },
    })
}

fn read_manifest(folder: &Path) -> Result<Manifest, Diagnostic> {
    let path = folder.join("manifest.json");
    let at = Location::file(path.display().to_string());
    let help = "give the folder `compare --out` wrote";
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Diagnostic::new(at.clone(), format!("cannot read: {error}"), help))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| Diagnostic::new(at.clone(), format!("not a manifest: {error}"), help))?;
    if manifest.rows_version != ROWS_VERSION {
        let what = format!("rows of version {}, this is version {ROWS_VERSION}", manifest.rows_version);
        return Err(Diagnostic::new(at, what, "write the rows again with `compare --out`"));
    }
    Ok(manifest)
}
