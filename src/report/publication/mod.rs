//! A comparison as a folder: rows, tables, figures, and a manifest that describes them.

mod files;
mod notes;

pub use files::FolderFormat;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::OnceLock;

use super::saved::Manifest;
use crate::aggregate::{
    BudgetCurve, Contest, Firings, FrontierPoint, Group, Label, Rated, RowView, Rows, Summary, Unit, bound_kills,
    budget_curves, by_stack, by_stratum, frontier, frontier_spread, frontier_volume, pairs, price_lost_successes,
    rule_shares, summarise, unit_of,
};
use crate::answers::tables::{self, DataTable};
use crate::answers::{
    AnswerNote, ComparedStacks, FirstTable, FollowedReport, RunEvidence, SplitChoice, Tolerances, words,
};
use crate::explain::Story;
use crate::stats::Interval;
use crate::stats::labels::ErrorRates;

/// Data shared by the tables and figures of a folder.
struct PublicationTables {
    /// The tables that are files, by name.
    files: Vec<(&'static str, DataTable)>,
    rules: DataTable,
    /// The parts of the runs, by suite and model.
    parts: Vec<Summary>,
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
    followed: Option<FollowedReport>,
    // Of what is cached, one thread asks at a time: one that waits for another's answer could hold up the pool that
    // computes it.
    /// One summary per stack, cached.
    summaries: OnceLock<Vec<Summary>>,
    /// The further notes, cached: they take long on many tasks and are written to two files.
    further: OnceLock<Vec<AnswerNote>>,
    /// The stacks rated for the decision, cached.
    rated: OnceLock<Rated>,
}

impl Publication {
    /// What is reported of `evidence`; `manifest` says how.
    pub fn new(evidence: RunEvidence, manifest: Manifest) -> Self {
        let RunEvidence { rows, firings, followed, mut stories } = evidence;
        stories.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        let unit = match &followed {
            Some(followed) if followed.noun() == "rounds" => Some(followed.noun().to_owned()),
            Some(_) => None,
            None => manifest.unit,
        };
        let manifest = Manifest { rows: Some(rows.len() as u64), unit, ..manifest };
        // What followed stops is told in tokens: beside it, nothing is told in dollars.
        let in_tokens = |row: RowView<'_>| row.outcome().grade().is_none() && row.tokens_recorded().is_some();
        let unit = match unit_of(&rows) {
            Unit::CostUsd if rows.iter().all(in_tokens) => Unit::Tokens,
            unit => unit,
        };
        let (summaries, further, rated) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { rows, firings, manifest, unit, stories, followed, summaries, further, rated }
    }

    /// What followed the stops, if it is known.
    pub fn followed(&self) -> Option<&FollowedReport> {
        self.followed.as_ref()
    }

    pub(super) fn appetite(&self) -> Tolerances {
        self.manifest.appetite
    }

    /// The stacks, rated for the first table and the page.
    pub(super) fn field(&self) -> Rc<ComparedStacks<'_>> {
        let rated = self.rated.get_or_init(|| {
            let contest = self.manifest.contest(&self.rows);
            let apart = matches!(&self.manifest.choice, Some(choice) if choice.is_apart());
            if apart { contest.chosen_elsewhere() } else { contest }.into_rated()
        });
        let groups = by_stack(&self.rows);
        let contest = Contest::from_rated(groups, self.manifest.premises(self.unit), rated.clone());
        ComparedStacks::new(&self.rows, contest, self.manifest.tuned.clone())
    }

    /// The first table, sorted for a reader.
    pub fn first(&self) -> FirstTable<'_> {
        FirstTable::new(self.summaries(), &self.field(), self.unit, self.appetite(), self.manifest.choice.as_ref())
    }

    /// Restricts the report to one part of the tasks: `choice` says how they were split. The choice is made on `dev`,
    /// or on these rows if they are the dev part.
    #[must_use]
    pub fn with_choice(mut self, choice: SplitChoice, dev: Option<&Rows>) -> Self {
        let contest = self.manifest.contest(dev.unwrap_or(&self.rows));
        let chosen = contest.decide(self.appetite().terms()).ship;
        let chosen = chosen.and_then(|at| contest.groups().get(at)).map(|group| group.stack.clone());
        drop(contest);
        let own = self.summarised(&self.rows);
        let choice = match dev.map(|rows| self.summarised(rows)) {
            Some(dev) => choice.made(chosen, &dev, Some(&own), self.unit),
            None => choice.made(chosen, &own, None, self.unit),
        };
        self.manifest.choice = Some(choice);
        self
    }

    /// The rows of every stack on some of the runs: `is_kept` says for each run, in order, whether it is one of them.
    fn part(&self, is_kept: &[bool]) -> Vec<Group<'_>> {
        by_stack(&self.rows).iter().map(|group| group.part(is_kept)).collect()
    }

    /// Which stack some of the runs alone would ship.
    pub fn shipped_from(&self, is_kept: &[bool]) -> Option<Label> {
        let contest = self.manifest.contest_of(self.part(is_kept));
        let ship = contest.decide(self.appetite().terms()).ship?;
        contest.groups().get(ship).map(|group| group.stack.clone())
    }

    /// What some of the runs alone say about what to ship.
    pub fn verdict_from(&self, is_kept: &[bool]) -> String {
        let groups = self.part(is_kept);
        let mut summaries = summarise(&groups, self.label_errors());
        let contest = self.manifest.contest_of(groups);
        bound_kills(&mut summaries, &contest);
        let field = ComparedStacks::new(&self.rows, contest, None);
        words::verdict(&FirstTable::new(&summaries, &field, self.unit, self.appetite(), None).verdict())
    }

    fn label_errors(&self) -> Option<ErrorRates> {
        self.manifest.label_errors()
    }

    /// One summary per stack, in order: everything that is printed.
    pub fn summaries(&self) -> &[Summary] {
        self.summaries.get_or_init(|| {
            let mut summaries = self.summarised(&self.rows);
            bound_kills(&mut summaries, &self.field().contest);
            summaries
        })
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
    pub fn ungraded(&self) -> Option<&FollowedReport> {
        self.followed().filter(|_| self.summaries().iter().all(Summary::is_ungraded))
    }

    /// The unit in which savings are told.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// One row per run and stack.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The runs that are told step by step, by id.
    pub(super) fn stories(&self) -> &[Story] {
        &self.stories
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
    fn tables(&self, standings: &BTreeMap<String, &'static str>, whole_budget: bool) -> PublicationTables {
        let summaries = self.summaries();
        let groups = by_stack(&self.rows);
        let mut stacks = Vec::new();
        for summary in self.first().in_order() {
            let known = self.manifest.stacks.iter().find(|stack| stack.name == summary.stack);
            stacks.extend(known.map(|stack| (stack.name.clone(), stack.rules.clone())));
        }
        let mut points = frontier(summaries, self.unit);
        FrontierPoint::mark_beaten(&mut points, &groups, self.unit);
        let spread = frontier_spread(&groups, self.unit);
        let strata = summarise(&by_stratum(&self.rows), self.label_errors());
        // Where there is one stratum, it is all runs.
        let n_listed = if strata.len() > summaries.len() { usize::MAX } else { summaries.len() };
        let curves = groups.first().map(|group| budget_curves(group, self.unit)).unwrap_or_default();
        let rules = tables::rule_columns().table(rule_shares(&stacks, &self.rows, &self.firings));
        let pairs = pairs(&groups, &self.manifest.baseline, self.unit);
        PublicationTables {
            files: vec![
                ("summary", tables::summary_columns(standings).table(summaries)),
                ("estimates", tables::estimates(summaries.iter().chain(&strata).take(n_listed))),
                ("pairs", tables::pair_columns().table(pairs)),
                ("budget", tables::budget(&curves, whole_budget)),
                ("rules", rules.clone()),
                ("strata", tables::strata_columns().table(&strata)),
                ("frontier", tables::frontier(&points, &spread)),
            ],
            rules,
            parts: strata,
            volume: frontier_volume(&points).map(|volume| (volume, spread.volume)),
            curves,
            points,
        }
    }
}
