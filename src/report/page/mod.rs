//! `report.html`: one self-contained file that a reader understands in ten seconds and can follow down to the step at
//! which a success was killed. It loads nothing. All statistics are computed here; its script only displays them.
//!
//! Text from recordings is never markup: names and texts are JSON, and the script inserts them as text only.

mod choices;
mod columns;
mod plain;
mod runs;
mod shell;

use serde::Serialize;
use serde_json::{Value, json};

use self::choices::{AtTolerance, choices};
use self::columns::packed;
pub use self::plain::PlainPage;
use self::runs::{Listed, listed};
use self::shell::Filling;
use super::Publication;
use super::figure::FrontierView;
use crate::aggregate::{Count, FrontierPoint, Label, Summary};
use crate::answers::tables::{self, DataTable, TableCell};
use crate::answers::{FirstTable, lacks, words};
use crate::explain::Story;
use crate::stats::{RangeEstimate, cluster_key};

/// Everything a page shows.
pub(super) struct Page<'a> {
    pub(super) publication: &'a Publication,
    pub(super) points: &'a [FrontierPoint],
    pub(super) rules: &'a DataTable,
    /// Figures by name, as SVG.
    pub(super) figures: Vec<(&'static str, String)>,
    /// The drawings of the frontier among them; none if nobody graded the runs.
    pub(super) frontier: Vec<FrontierView>,
    /// If nobody graded the runs: what followed the stops, with which the page opens.
    pub(super) followed: Option<FollowedAnswer>,
}

/// What followed the stops, as the page and the summary tell it.
pub(super) struct FollowedAnswer {
    /// The answer.
    pub(super) verdict: String,
    /// Tables, each with its heading.
    pub(super) tables: Vec<(&'static str, DataTable)>,
}

/// The metadata that the script reads first.
#[derive(Serialize)]
struct Meta<'a> {
    footer: String,
    headline: &'a str,
    unit: &'static str,
    max_killed: f64,
    choices: Vec<AtTolerance>,
    stacks: Vec<PageStack<'a>>,
    frontier: &'a [FrontierView],
    notes: Vec<String>,
    quality: &'a [String],
    rules: Value,
    runs: usize,
    ids: &'a [Label],
    names: &'a runs::RunDictionaries,
    columns: &'a [columns::ColumnPosition],
    /// Indices of the runs with stories, in the order of the stories.
    told: Vec<usize>,
    /// Key that separates a reader's marks from those on other pages.
    corpus: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<String>,
}

/// One stack: numbers for drawing and texts for reading.
#[derive(Serialize)]
struct PageStack<'a> {
    name: &'a str,
    profile: &'a str,
    /// `shown`, `idle` (it never acted) or `unread` (no run could be read by all of its rules).
    group: &'static str,
    cells: Value,
    /// Lowest and highest value, then the ends of the interval.
    killed: [Option<f64>; 4],
    useful: [Option<f64>; 4],
    judged_successes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    beaten_by: Option<&'a str>,
    /// What its rules could not read, most frequent first.
    lacks: String,
    /// The stack as framework configurations to copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copy: Vec<Value>,
}

impl Page<'_> {
    /// Renders the page.
    pub(super) fn html(&self) -> std::io::Result<String> {
        let publication = self.publication;
        let stacks: Vec<Label> = publication.summaries().iter().map(|summary| summary.stack.clone()).collect();
        let told = publication.stories().iter().map(|story| &*story.run_id).collect();
        let listed = listed(publication.rows(), &stacks, &told)?;
        let (told, stories) = self.told(&listed);
        let (first, headline) = (publication.first(), publication.headline_words());
        let (verdict, tables) = match &self.followed {
            Some(followed) => (followed.verdict.clone(), &followed.tables[..]),
            None => (words::verdict(&first.verdict()), &[][..]),
        };
        let meta = Meta {
            footer: self.footer(&stories),
            headline: &headline,
            unit: publication.unit().noun(),
            max_killed: publication.appetite().max_killed,
            choices: self.choices(),
            stacks: self.stacks(&first),
            frontier: &self.frontier,
            notes: words::notes(&publication.page_notes()),
            quality: &publication.manifest().found,
            rules: values(self.rules),
            runs: listed.ids.len(),
            ids: &listed.ids,
            names: &listed.names,
            columns: &listed.columns,
            told,
            corpus: format!("{:016x}", cluster_key(&serde_json::to_string(&listed.ids)?)),
            sampled: listed.of.map(|of| format!("a sample of {of}, of each suite, model and outcome in proportion, with all that are told step by step")),
        };
        let filling = Filling {
            headline: &headline,
            verdict: &verdict,
            meta: &serde_json::to_string(&meta)?,
            columns: &listed.packed,
            stories: &packed(&serde_json::to_vec(&stories)?)?,
            figures: &self.figures,
            tables,
        };
        Ok(shell::page(&filling))
    }

    fn choices(&self) -> Vec<AtTolerance> {
        let mut choices = choices(self.publication);
        if let Some(followed) = &self.followed {
            for choice in &mut choices {
                choice.verdict.clone_from(&followed.verdict);
            }
        }
        choices
    }

    /// The stories of listed runs, with the indices of the runs.
    fn told(&self, listed: &Listed) -> (Vec<usize>, Vec<&Story>) {
        let places: foldhash::HashMap<&str, usize> =
            listed.ids.iter().enumerate().map(|(at, id)| (&**id, at)).collect();
        let stories = self.publication.stories().iter();
        let mut told: Vec<(usize, &Story)> =
            stories.filter_map(|story| Some((*places.get(&*story.run_id)?, story))).collect();
        told.sort_by_key(|(at, _)| *at);
        told.into_iter().unzip()
    }

    fn footer(&self, stories: &[&Story]) -> String {
        let texts = if stories.iter().any(|story| story.has_texts()) {
            " It holds texts of the recordings: look at them before you pass it on, or write it with --embed-text none."
        } else {
            " It holds no texts of the recordings."
        };
        format!("whenstop {}. This page is one file and loads nothing.{texts}", self.publication.manifest().whenstop)
    }

    fn stacks(&self, first: &FirstTable<'_>) -> Vec<PageStack<'_>> {
        let is_in = |group: &[&Summary], summary: &Summary| group.iter().any(|other| other.stack == summary.stack);
        let beaten_by = |stack: &str| self.points.iter().find(|point| *point.stack == *stack)?.beaten_by.as_deref();
        let publication = self.publication;
        let summaries = publication.summaries().iter();
        summaries
            .map(|summary| PageStack {
                name: &summary.stack,
                profile: &summary.profile,
                group: if is_in(&first.unread, summary) {
                    "unread"
                } else if is_in(&first.idle, summary) {
                    "idle"
                } else {
                    "shown"
                },
                cells: self.cells(summary, first.is_ungraded()),
                killed: numbers(&summary.fes_rate()),
                useful: numbers(&summary.ratios_in(publication.unit()).useful),
                judged_successes: summary.counted(Count::JudgedSuccesses),
                beaten_by: beaten_by(&summary.stack),
                lacks: words::lacking(&lacks(summary, publication.rows())),
                copy: self.configurations(&summary.stack),
            })
            .collect()
    }

    /// A stack as configurations to copy.
    fn configurations(&self, stack: &str) -> Vec<Value> {
        let all =
            self.publication.manifest().configurations.iter().filter(|configuration| configuration.stack == stack);
        let told = all.map(|c| json!({ "host": c.host, "says": c.says, "text": c.text }));
        told.collect()
    }

    /// The cells of the first table, formatted as in the printed table.
    fn cells(&self, summary: &Summary, ungraded: bool) -> Value {
        let unit = self.publication.unit();
        let table = tables::overview([summary], unit);
        let saved = if ungraded { tables::ungraded([summary], unit) } else { table.clone() };
        let cell = |table: &DataTable, column: &str| {
            let Some(row) = table.rows.first() else { return "–".to_owned() };
            match table.columns.iter().zip(row).find(|(name, _)| *name == column) {
                Some((_, cell)) => cell.shown(),
                None => "–".to_owned(),
            }
        };
        let unit = unit.noun();
        json!({
            "stops": cell(&table, "stops"),
            "killed": cell(&table, "killed, at most %"),
            "unknown": cell(&table, "unknown"),
            "failures": cell(&table, "failures stopped"),
            "saved": cell(&saved, &if ungraded { format!("{unit} not spent") } else { format!("{unit} saved") }),
            "cost": cell(&table, "cost per success"),
        })
    }
}

/// Lowest and highest value, then the ends of the interval.
fn numbers(range: &RangeEstimate) -> [Option<f64>; 4] {
    [range.low.value, range.high.value, range.lower(), range.upper()].map(|number| number.filter(|n| n.is_finite()))
}

/// A table as columns and rows of plain JSON values.
fn values(table: &DataTable) -> Value {
    let values = |row: &Vec<TableCell>| row.iter().map(TableCell::to_json).collect::<Value>();
    json!({
        "columns": table.columns,
        "rows": table.rows.iter().map(values).collect::<Value>(),
    })
}
