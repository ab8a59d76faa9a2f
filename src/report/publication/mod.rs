//! A comparison as a folder: rows, tables, figures, and a manifest that describes them.

mod files;
mod notes;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::OnceLock;

use super::configuration::Configuration;
use super::made::Made;
use super::row_file::RowFormat;
use super::saved::{Manifest, ManifestStack, ROWS_VERSION};
use crate::aggregate::{
    BudgetCurve, Contest, Ease, Firings, FrontierPoint, Group, Label, Rated, Rows, SEED, Summary, Unit, budget_curves,
    by_stack, by_stratum, frontier, frontier_spread, frontier_volume, pairs, price_lost_successes, rule_shares,
    summarise, unit_of,
};
use crate::answers::tables::{self, Table};
use crate::answers::{Appetite, Choice, Field, FirstTable, FollowedReport, Note, Tuned};
use crate::compare::StackInfo;
use crate::explain::Story;
use crate::stats::Interval;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::labels::{CheckedLabels, LabelErrors};

/// Data shared by the tables and figures of a folder.
struct Tables {
    rules: Table,
    strata: Table,
    estimates: Table,
    frontier: Table,
    pairs: Table,
    budget: Table,
    curves: Vec<BudgetCurve>,
    points: Vec<FrontierPoint>,
    /// The frontier's hypervolume and its interval.
    volume: Option<(f64, Option<Interval>)>,
}

/// A comparison, ready to be shown or written.
pub struct Publication {
    rows: Rows,
    firings: Firings,
    manifest: Manifest,
    unit: Unit,
    stories: Vec<Story>,
    row_format: RowFormat,
    whole_budget: bool,
    /// The further notes, cached: they take long on many tasks and are written to two files.
    further: OnceLock<Vec<Note>>,
    /// The stacks rated for the decision, once all that it depends on is set. As for the notes, one thread asks at a time: one
    /// that waits for another's answer could hold up the pool that computes it.
    rated: OnceLock<Rated>,
    followed: Option<FollowedReport>,
}

impl Publication {
    /// Adds what followed the stops: written beside the rows, and the basis of the first table if nobody graded the
    /// runs.
    #[must_use]
    pub fn with_followed(self, followed: FollowedReport) -> Self {
        let unit = (followed.noun() == "rounds").then(|| followed.noun().to_owned());
        let manifest = Manifest { unit, ..self.manifest };
        Self { followed: Some(followed), manifest, ..self }
    }

    /// What followed the stops, if added.
    pub fn followed(&self) -> Option<&FollowedReport> {
        self.followed.as_ref()
    }

    /// From a comparison just made. `baseline` is the stack the others are compared with; by default the first.
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
            rows: None,
            stacks: stacks.map(ManifestStack::from).collect(),
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
            appetite: Appetite::default(),
            found: Vec::new(),
            tuned: None,
            made: None,
            remarks: Vec::new(),
            configurations: Vec::new(),
        };
        Self::from_rows(rows, firings, manifest)
    }

    /// From saved rows.
    pub fn from_rows(rows: Rows, firings: Firings, manifest: Manifest) -> Self {
        let manifest = Manifest { rows: Some(rows.len() as u64), ..manifest };
        Self {
            unit: unit_of(&rows),
            rows,
            firings,
            manifest,
            stories: Vec::new(),
            row_format: RowFormat::default(),
            whole_budget: false,
            further: OnceLock::new(),
            rated: OnceLock::new(),
            followed: None,
        }
    }

    /// Sets the tolerated share of killed successes and whether the table lists every stack.
    #[must_use]
    pub fn with_appetite(mut self, appetite: Appetite) -> Self {
        self.manifest.appetite = appetite;
        self
    }

    /// Sets how it was made.
    #[must_use]
    pub fn with_made(mut self, made: Option<Made>) -> Self {
        self.manifest.made = made;
        self
    }

    /// Sets what tuning chose: the tables and the page then say so, and decide nothing.
    #[must_use]
    pub fn with_tuned(mut self, tuned: Tuned) -> Self {
        self.manifest.tuned = Some(tuned);
        self
    }

    /// Sets remarks printed before everything else below the table.
    #[must_use]
    pub fn with_remarks(mut self, remarks: Vec<String>) -> Self {
        self.manifest.remarks = remarks;
        self
    }

    /// Adds stories of runs, and the findings from reading the recordings.
    #[must_use]
    pub fn with_stories(mut self, stories: Vec<Story>, quality: Vec<String>) -> Self {
        self.stories = stories;
        self.stories.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        self.manifest.found = quality;
        self
    }

    /// Adds stacks as configurations to copy from the page.
    #[must_use]
    pub fn with_configurations(mut self, configurations: Vec<Configuration>) -> Self {
        self.manifest.configurations = configurations;
        self
    }

    /// Sets how many frameworks have a setting for each stack.
    #[must_use]
    pub fn with_hosts(mut self, hosts: &BTreeMap<String, usize>) -> Self {
        for stack in &mut self.manifest.stacks {
            stack.hosts = hosts.get(&*stack.name).copied().unwrap_or(0);
        }
        self
    }

    fn appetite(&self) -> Appetite {
        self.manifest.appetite
    }

    /// What decides between the stacks in `groups` that are equal within chance.
    fn ease(&self, groups: &[Group<'_>]) -> Vec<Ease> {
        let of = |group: &Group<'_>| {
            let stack = self.manifest.stacks.iter().find(|stack| stack.name == group.stack);
            stack.map_or_else(Ease::default, |stack| Ease { hosts: stack.hosts, rules: stack.rules.len() })
        };
        groups.iter().map(of).collect()
    }

    /// The stacks in `rows` as candidates.
    fn contest<'r>(&self, rows: &'r Rows) -> Contest<'r> {
        let groups = by_stack(rows);
        let ease = self.ease(&groups);
        Contest::of(groups, self.label_errors(), self.unit, self.appetite().price(), &ease, None)
    }

    /// The stacks, rated for the first table and the page.
    pub(super) fn field(&self) -> Rc<Field<'_>> {
        let rated = self.rated.get_or_init(|| {
            let contest = self.contest(&self.rows);
            let apart = self.manifest.choice.as_ref().is_some_and(Choice::is_apart);
            if apart { contest.chosen_elsewhere(self.label_errors()) } else { contest }.into_rated()
        });
        let contest = Contest::rated(by_stack(&self.rows), self.unit, self.appetite().price(), rated.clone());
        Field::new(&self.rows, contest, self.manifest.tuned.clone())
    }

    /// The first table, sorted for a reader.
    pub fn first<'s>(&'s self, summaries: &'s [Summary]) -> FirstTable<'s> {
        FirstTable::new(summaries, &self.field(), self.unit, self.appetite(), self.manifest.choice.as_ref())
    }

    /// Sets the error rates of the labels.
    #[must_use]
    pub fn with_label_errors(mut self, rates: Option<ErrorRates>) -> Self {
        let errors = rates.and_then(ErrorRates::errors);
        self.manifest.label_sensitivity = errors.map(|errors| errors.sensitivity);
        self.manifest.label_specificity = errors.map(|errors| errors.specificity);
        self.manifest.label_checked = rates.and_then(ErrorRates::counts);
        self
    }

    /// Sets that marks in the recordings serve as outcomes.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Option<String>) -> Self {
        self.manifest.proxies = proxies;
        self
    }

    /// Sets the failure rate that savings are extrapolated to.
    #[must_use]
    pub fn with_failure_rate(mut self, failure_rate: Option<f64>) -> Self {
        self.manifest.failure_rate = failure_rate;
        self
    }

    /// Restricts the report to one part of the tasks: `choice` says how they were split. The choice is made on `dev`,
    /// or on these rows if they are the dev part.
    #[must_use]
    pub fn with_choice(mut self, choice: Choice, dev: Option<&Rows>) -> Self {
        let contest = self.contest(dev.unwrap_or(&self.rows));
        let chosen = contest.decide(self.appetite().terms()).ship;
        let chosen = chosen.and_then(|at| contest.groups().get(at)).map(|group| group.stack.clone());
        drop(contest);
        let own = self.summaries();
        let choice = match dev.map(|rows| self.summarised(rows)) {
            Some(dev) => choice.made(chosen, &dev, Some(&own), self.unit),
            None => choice.made(chosen, &own, None, self.unit),
        };
        self.manifest.choice = Some(choice);
        self.rated = OnceLock::new();
        self
    }

    fn label_errors(&self) -> Option<ErrorRates> {
        if let Some([n_pos, k_pos, n_neg, k_neg]) = self.manifest.label_checked {
            return Some(ErrorRates::Checked(CheckedLabels { successes: (n_pos, k_pos), failures: (n_neg, k_neg) }));
        }
        let (sensitivity, specificity) = self.manifest.label_sensitivity.zip(self.manifest.label_specificity)?;
        Some(ErrorRates::Stated(LabelErrors { sensitivity, specificity }))
    }

    /// One summary per stack, in order: everything that is printed.
    pub fn summaries(&self) -> Vec<Summary> {
        self.summarised(&self.rows)
    }

    fn summarised(&self, rows: &Rows) -> Vec<Summary> {
        let groups = by_stack(rows);
        let mut summaries = summarise(&groups, self.label_errors());
        if let Some(price) = self.appetite().price() {
            price_lost_successes(&mut summaries, &groups, price);
        }
        summaries
    }

    /// What followed the stops, if no run is graded; else `None`.
    pub fn ungraded(&self, summaries: &[Summary]) -> Option<&FollowedReport> {
        self.followed().filter(|_| self.first(summaries).is_ungraded())
    }

    /// Sets the format of the rows.
    #[must_use]
    pub fn with_row_format(mut self, format: RowFormat) -> Self {
        self.row_format = format;
        self
    }

    /// Writes every step of the budget curves to `budget.csv`, or only as many as can be drawn.
    #[must_use]
    pub fn with_whole_budget(mut self, whole: bool) -> Self {
        self.whole_budget = whole;
        self
    }

    /// One row per run and stack.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The firings of all rules.
    pub fn firings(&self) -> &Firings {
        &self.firings
    }

    /// The contents of the folder's `manifest.json`.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The tables that only a folder holds: pairs, strata, budget curves …
    fn tables(&self, summaries: &[Summary]) -> Tables {
        let groups = by_stack(&self.rows);
        let stacks: Vec<(Label, Vec<Label>)> =
            self.manifest.stacks.iter().map(|stack| (stack.name.clone(), stack.rules.clone())).collect();
        let mut points = frontier(summaries, self.unit);
        FrontierPoint::mark_beaten(&mut points, &groups, self.unit);
        let spread = frontier_spread(&groups, self.unit);
        let strata = summarise(&by_stratum(&self.rows), self.label_errors());
        // Where there is one stratum, it is all runs.
        let n_listed = if strata.len() > summaries.len() { usize::MAX } else { summaries.len() };
        let curves = groups.first().map(|group| budget_curves(group, self.unit)).unwrap_or_default();
        Tables {
            rules: tables::rules(rule_shares(&stacks, &self.rows, &self.firings)),
            estimates: tables::estimates(summaries.iter().chain(&strata).take(n_listed)),
            strata: tables::strata(&strata),
            frontier: tables::frontier(&points, &spread),
            pairs: tables::pairs(pairs(&groups, &self.manifest.baseline, self.unit)),
            budget: tables::budget(&curves, self.whole_budget),
            volume: frontier_volume(&points).map(|volume| (volume, spread.volume)),
            curves,
            points,
        }
    }
}
