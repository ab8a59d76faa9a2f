//! The contents of a results folder: enough to redraw it without the recordings.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::configuration::Configuration;
use super::made::Provenance;
use super::row_file::{RowFormat, SavedRows};
use super::{Lock, read_rows, write_atomically};
use crate::aggregate::{
    BestUnit, ChainPlace, Contest, Entrant, Firing, Firings, FollowedRow, FollowedRows, Group, Label, Premises, Row,
    RowView, Rows, RowsBuilder, SEED, Summary, Unit, by_stack,
};
use crate::answers::{FollowedReport, RunEvidence, SplitChoice, ToldRuns, Tolerances, TunedAnswer, UnderToldLimits};
use crate::compare::StackInfo;
use crate::decision::Program;
use crate::diagnostic::{Diagnostic, Location};
use crate::explain::Story;
use crate::reader::{LARGEST_WHOLE, open_regular, read_whole_text};
use crate::stats::labels::ErrorRates;
use crate::stats::labels::{CheckedLabels, LabelErrors};

/// The file with the stories, one JSON line each.
pub(super) const STORIES: &str = "stories.jsonl";
/// The file with what followed the stops.
pub(super) const FOLLOWED: &str = "followed.csv";

/// Version of the columns of `rows.csv` and `firings.csv`.
pub(super) const ROWS_VERSION: u32 = 3;

/// The manifest of a results folder: enough to redraw it without the recordings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of whenstop that made the rows.
    pub whenstop: String,
    /// Version of the row columns.
    pub rows_version: u32,
    /// The number of rows; `None` in folders written before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Stacks in order, each with its rules in order.
    pub stacks: Vec<ManifestStack>,
    /// The stack the others are compared with in `pairs.csv`.
    pub baseline: Label,
    /// Seed of all resamples.
    pub seed: u64,
    /// How many stacks were tried on these runs.
    pub stacks_tried: usize,
    /// How tasks were split and which stack was chosen, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<SplitChoice>,
    /// Probability that a true success is labelled a success, if labels have errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_sensitivity: Option<f64>,
    /// Probability that a true failure is labelled a failure, if labels have errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_specificity: Option<f64>,
    /// Labels checked by hand: true successes, those of them labelled a success, true failures, those of them labelled
    /// a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_checked: Option<[u64; 4]>,
    /// Which marks in the recordings stand in for grades, if any do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxies: Option<String>,
    /// The failure rate that savings are extrapolated to, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_rate: Option<f64>,
    /// Assumptions that narrow bounds.
    pub assumptions: Vec<String>,
    /// What is tolerated.
    #[serde(flatten)]
    pub appetite: Tolerances,
    /// Findings from reading the recordings, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// The command and the files of the comparison, if it was made by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Provenance>,
    /// How many runs tell their agents of a limit on steps, if that was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ToldRuns>,
    /// What the page of runs that nobody graded opens with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    /// Remarks printed before everything else below the table: a certificate that does not hold, or what a stack was
    /// tuned on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What tuning chose, if these are its stacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TunedAnswer>,
    /// What counts as a run, if it is not a recording: `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The stacks with rules of their own, as configurations to copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<Configuration>,
}

impl Manifest {
    /// Of a comparison of these stacks, of which nothing else is said. The first is the one they are compared with.
    pub fn new(stacks: Vec<StackInfo>) -> Self {
        Self {
            whenstop: env!("CARGO_PKG_VERSION").to_owned(),
            rows_version: ROWS_VERSION,
            baseline: stacks.first().map(|stack| stack.name.clone()).unwrap_or_default(),
            seed: SEED,
            stacks_tried: stacks.len(),
            stacks: stacks.into_iter().map(ManifestStack::from).collect(),
            ..Self::default()
        }
    }

    /// Sets the error rates of the labels.
    pub fn set_label_errors(&mut self, rates: Option<ErrorRates>) {
        let errors = rates.and_then(ErrorRates::errors);
        self.label_sensitivity = errors.map(|errors| errors.sensitivity);
        self.label_specificity = errors.map(|errors| errors.specificity);
        self.label_checked = rates.and_then(ErrorRates::counts);
    }

    /// What the stacks that do not say so would kill if the agent were told of their limits, where it was told of one.
    pub(super) fn under_told_limits(&self, rows: &Rows) -> Option<UnderToldLimits> {
        let mut limits = Vec::new();
        for stack in &self.stacks {
            limits.extend(stack.untold_limit.map(|limit| (stack.name.clone(), limit)));
        }
        UnderToldLimits::from_rows(rows, self.told?, &limits)
    }

    /// Notes what the answer makes of each stack, its bound, and what it kills in each part of the runs.
    pub(super) fn set_standings(
        &mut self,
        summaries: &[Summary],
        standings: &BTreeMap<String, &'static str>,
        parts: &[Summary],
    ) {
        for stack in &mut self.stacks {
            let summary = summaries.iter().find(|summary| summary.stack == stack.name);
            stack.killed_at_most = summary.and_then(|summary| summary.killed_at_most);
            stack.standing = standings.get(&*stack.name).map(|standing| (*standing).to_owned());
            let own: Vec<&Summary> = parts.iter().filter(|part| part.stack == stack.name).collect();
            stack.margins = margins(&own);
        }
    }

    /// The stacks in `rows` as candidates.
    pub fn contest<'r>(&self, rows: &'r Rows) -> Contest<'r> {
        self.contest_of(by_stack(rows))
    }

    /// The same from the rows of each stack.
    pub(super) fn contest_of<'r>(&self, groups: Vec<Group<'r>>) -> Contest<'r> {
        let entrant = |group: &Group<'_>| {
            let stack = self.stacks.iter().find(|stack| stack.name == group.stack);
            stack.map(ManifestStack::entrant).unwrap_or_default()
        };
        let entrants: Vec<Entrant> = groups.iter().map(entrant).collect();
        let premises = self.premises(BestUnit::from_groups(&groups).unit);
        Contest::new(groups, premises, &entrants, None)
    }

    /// What the stacks are judged by.
    pub(super) fn premises(&self, unit: Unit) -> Premises {
        let (errors, price) = (self.label_errors(), self.appetite.price());
        Premises { errors, unit, price, confidence: self.appetite.confidence }
    }

    /// The stated or measured errors of the labels.
    pub(super) fn label_errors(&self) -> Option<ErrorRates> {
        if let Some([n_pos, k_pos, n_neg, k_neg]) = self.label_checked {
            return Some(ErrorRates::Checked(CheckedLabels { successes: (n_pos, k_pos), failures: (n_neg, k_neg) }));
        }
        let (sensitivity, specificity) = (self.label_sensitivity?, self.label_specificity?);
        Some(ErrorRates::Stated(LabelErrors { sensitivity, specificity }))
    }

    /// Sets the place of each stack among those that were tried together, by its name.
    pub fn set_places(&mut self, places: &BTreeMap<String, ChainPlace>) {
        for stack in &mut self.stacks {
            stack.place = places.get(&*stack.name).copied();
        }
    }

    /// Refuses rows that are not those the folder was written with: some are missing or stand there twice, are of no stack
    /// of the manifest, stop after their end, or disagree on the outcome of a run.
    fn check(&self, rows: &Rows, path: &Path) -> Result<(), Diagnostic> {
        let wrong = |what: String| {
            let help = "write the folder again with `compare --out`";
            Err(Diagnostic::new(Location::file(path.display().to_string()), what, help))
        };
        let n = rows.len() as u64;
        if let Some(expected) = self.rows.filter(|expected| n > 0 && *expected != n) {
            return wrong(format!("{n} rows, but the manifest says {expected}"));
        }
        // The rows of a run stand together, in the order of the stacks.
        let place: HashMap<&str, usize> =
            self.stacks.iter().enumerate().map(|(nth, stack)| (&*stack.name, nth)).collect();
        let mut before: Option<(RowView<'_>, Option<&usize>)> = None;
        let mut known: HashSet<(&str, &str)> = HashSet::new();
        for row in rows.iter() {
            let nth = place.get(&**row.stack());
            let (run, stack) = (&**row.run_id(), &**row.stack());
            if nth.is_none() {
                return wrong(format!("a row is of the stack `{stack}`, which the manifest does not name"));
            }
            if !known.insert((run, stack)) {
                return wrong(format!("run `{run}` stands here twice under `{stack}`"));
            }
            if row.steps_at_stop() > row.steps_recorded() {
                return wrong(format!("run `{run}` has more steps at its stop under `{stack}` than it has in all"));
            }
            if let Some((first, last)) = before
                && first.run_id() == row.run_id()
                && last < nth
                && first.outcome() != row.outcome()
            {
                return wrong(format!("run `{}` has another outcome under `{}`", row.run_id(), row.stack()));
            }
            before = Some((row, nth));
        }
        Ok(())
    }

    /// The plural of what counts as a run.
    pub fn noun(&self) -> &'static str {
        if self.unit.is_some() { "rounds" } else { "runs" }
    }
}

/// One stack of a manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestStack {
    /// Its name.
    pub name: Label,
    /// Its profile.
    pub profile: Label,
    /// Its rules.
    pub rules: Vec<Label>,
    /// The program that decides, if it is a guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Program>,
    /// The number of steps after which it ends a run, if it does and does not say that the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold_limit: Option<u32>,
    /// The number of frameworks that have a setting for it.
    #[serde(default)]
    pub hosts: usize,
    /// Its place among the stacks that were tried with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ChainPlace>,
    /// The most that it kills of a task's successes: the bound of the answer. Computed anew when it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_at_most: Option<f64>,
    /// What the answer makes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// What it kills by suite and by model; empty where all runs are of one. Computed anew when it is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub margins: Vec<Margin>,
}

/// What a stack kills in a part of the runs; `strata.csv` has the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// The suite; `None` for a model in all suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Label>,
    /// The model; `None` for a suite of all models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Label>,
    /// The share of successes killed, at least and at most.
    pub killed: [Option<f64>; 2],
    /// The upper end of its 95 % interval.
    pub killed_high: Option<f64>,
}

/// The suites and the models among the parts of a stack; all parts, if those are suites of one model or models of one
/// suite.
fn margins(parts: &[&Summary]) -> Vec<Margin> {
    let is_margin = |part: &&&Summary| part.suite.is_none() != part.model.is_none();
    let has_margins = parts.iter().any(|part| is_margin(&part));
    let mut margins = Vec::new();
    for part in parts.iter().filter(|part| is_margin(part) || !has_margins) {
        let rate = part.fes_rate();
        margins.push(Margin {
            suite: part.suite.clone(),
            model: part.model.clone(),
            killed: [rate.low.value, rate.high.value],
            killed_high: rate.upper(),
        });
    }
    if margins.len() > 1 { margins } else { Vec::new() }
}

impl ManifestStack {
    /// What is known of it before it is tried.
    pub fn entrant(&self) -> Entrant {
        Entrant { hosts: self.hosts, rules: self.rules.len(), place: self.place }
    }
}

impl From<StackInfo> for ManifestStack {
    fn from(info: StackInfo) -> Self {
        let StackInfo { name, profile, rules, program } = info;
        Self { name, profile, rules, guard: program, ..Self::default() }
    }
}

/// The data of a results folder, without what is computed from it.
#[derive(Debug)]
pub struct Saved {
    /// Rows, firings, what followed the stops, and stories, as far as the folder has them.
    pub evidence: RunEvidence,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// The format of rows and firings.
    pub row_format: RowFormat,
}

/// Reads a folder that `compare --out` wrote. Refuses one that is being written or was left half-written.
pub fn read_saved(folder: &Path) -> Result<Saved, Diagnostic> {
    let _lock = Lock::to_read(folder)?;
    let manifest = read_manifest(folder)?;
    let stories = read_stories(&folder.join(STORIES))?;
    let followed = read_followed(&folder.join(FOLLOWED), &manifest)?;
    let is_parquet = !folder.join("rows.csv").exists() && folder.join("rows.parquet").exists();
    let row_format = if is_parquet { RowFormat::Parquet } else { RowFormat::Csv };
    let (rows, firings) = match row_format {
        RowFormat::Csv => {
            let rows = read_rows::<Row, Rows>(&folder.join("rows.csv"))?;
            manifest.check(&rows, &folder.join("rows.csv"))?;
            (rows, read_rows::<Firing, Firings>(&folder.join("firings.csv"))?)
        }
        RowFormat::Parquet => {
            let (mut rows, mut firings) = (RowsBuilder::default(), Firings::default());
            SavedRows::open(&folder.join("rows.parquet"))?.each(|row: Row| rows.push(&row))?;
            SavedRows::open(&folder.join("firings.parquet"))?.each(|firing: Firing| firings.push(&firing))?;
            let rows = rows.finish();
            manifest.check(&rows, &folder.join("rows.parquet"))?;
            (rows, firings)
        }
    };
    Ok(Saved { evidence: RunEvidence { rows, firings, followed, stories }, manifest, row_format })
}

fn read_followed(path: &Path, manifest: &Manifest) -> Result<Option<FollowedReport>, Diagnostic> {
    if !path.exists() {
        return Ok(None);
    }
    let rows = read_rows::<FollowedRow, FollowedRows>(path)?;
    Ok(Some(FollowedReport::new(rows, manifest.noun())))
}

/// Writes the stories, one JSON line each.
pub(super) fn write_stories(path: &Path, stories: &[Story]) -> Result<(), Diagnostic> {
    write_atomically(path, |out| write_lines(out, stories))
}

/// Writes values, one JSON line each.
pub(super) fn write_lines<T: Serialize>(out: &mut dyn io::Write, values: &[T]) -> io::Result<()> {
    values.iter().try_for_each(|value| {
        serde_json::to_writer(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// Reads values one at a time, one JSON line each. `what` names one value and says how to repair an unreadable file.
pub(super) fn read_lines<T: DeserializeOwned>(
    path: &Path,
    what: &str,
    help: &str,
    mut take: impl FnMut(T),
) -> Result<(), Diagnostic> {
    let name = path.display().to_string();
    let unread = |error: io::Error| Diagnostic::new(Location::file(&name), format!("cannot read: {error}"), help);
    let mut input = BufReader::new(open_regular(path).map_err(unread)?);
    for number in 1.. {
        let mut line = Vec::new();
        let n = input.by_ref().take(LARGEST_WHOLE + 1).read_until(b'\n', &mut line).map_err(unread)?;
        if n == 0 {
            break;
        }
        if n as u64 > LARGEST_WHOLE {
            return Err(unread(io::Error::other(format!("line {number} is longer than {LARGEST_WHOLE} bytes"))));
        }
        take(serde_json::from_slice(&line).map_err(|error| {
            Diagnostic::new(Location::line(&name, number), format!("not a {what} of this version: {error}"), help)
        })?);
    }
    Ok(())
}

pub(super) fn read_stories(path: &Path) -> Result<Vec<Story>, Diagnostic> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let help = "stories are written by `compare --out`; write them again, or take the file away";
    let mut stories = Vec::new();
    read_lines(path, "story", help, |story| stories.push(story))?;
    Ok(stories)
}

fn read_manifest(folder: &Path) -> Result<Manifest, Diagnostic> {
    let path = folder.join("manifest.json");
    let at = Location::file(path.display().to_string());
    let help = "give the folder `compare --out` wrote";
    let text = read_whole_text(&path, LARGEST_WHOLE)
        .map_err(|error| Diagnostic::new(at.clone(), format!("cannot read: {error}"), help))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| Diagnostic::new(at.clone(), format!("not a manifest: {error}"), help))?;
    if manifest.rows_version != ROWS_VERSION {
        let what = format!("rows of version {}, this is version {ROWS_VERSION}", manifest.rows_version);
        return Err(Diagnostic::new(at, what, "write the rows again with `compare --out`"));
    }
    Ok(manifest)
}
