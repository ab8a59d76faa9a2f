//! The sentences of a comparison: its headline, the notes below the table, the block for a pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Publication;
use crate::aggregate::{FollowedRow, LEVEL, Label, Summary, Tails, by_stack, corrected_fes_rate};
use crate::answers::tables::{self, Table};
use crate::answers::{Choice, further};
use crate::diagnostic::{Diagnostic, Location, count, nearest};
use crate::effects::TailTokens;
use crate::report::evidence::evidence;
use crate::report::saved::Manifest;
use crate::stats::Warning;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::labels::LabelErrors;
use crate::transcript::Outcome;
use crate::words::{digits, percents};

impl Publication {
    /// What stands above all notes: a certificate that does not hold, or what a stack was tuned on.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        self.manifest.remarks.iter().cloned()
    }

    /// The notes below the table.
    pub fn notes(&self, summaries: &[Summary]) -> Vec<String> {
        let mut notes: Vec<String> = self.manifest.choice.iter().map(Choice::sentence).collect();
        notes.extend(self.manifest.proxies.iter().map(|proxies| {
            format!(
                "outcomes are proxies, {proxies}: marks of the recordings, not grades. A killed success is here a run that \
                 bears the mark, stopped early"
            )
        }));
        let corrections: BTreeSet<&str> =
            summaries.iter().filter_map(|summary| Some(summary.corrected.as_ref()?.correction.name())).collect();
        // All stacks are compared on the same runs, so what holds for the first judged one holds for all.
        let few = summaries.iter().find(|summary| !summary.is_unread()).into_iter().flat_map(|summary| {
            [("successes killed", summary.estimates.fes_rate), ("saved", summary.ratios_in(self.unit).useful)]
        });
        notes.extend(few.filter_map(|(name, estimate)| match estimate.warning()? {
            Warning::NoSpread => None,
            warning => Some(format!("{name}: {warning}")),
        }));
        notes.extend(corrections.into_iter().map(|correction| format!("label errors: {correction}")));
        notes.extend(self.misstated(summaries));
        notes.extend(further::without_tasks(&by_stack(&self.rows)));
        if self.manifest.failure_rate.is_some() {
            notes.extend_from_slice(self.further());
        }
        notes
    }

    /// What the killed share would be if the stated specificity were wrong.
    fn misstated(&self, summaries: &[Summary]) -> Option<String> {
        let Some(ErrorRates::Stated(stated)) = self.label_errors() else { return None };
        let first = self.first(summaries);
        let told = first.ship().or_else(|| first.shown.iter().copied().find(|summary| !summary.never_acted()))?;
        let groups = by_stack(&self.rows);
        let group = groups.iter().find(|group| group.stack == told.stack)?;
        let at = |errors: LabelErrors| {
            let rate = corrected_fes_rate(group, ErrorRates::Stated(errors), LEVEL).estimate;
            let value =
                rate.value.map_or_else(|| "an unknown share".to_owned(), |value| format!("{} %", digits(value)));
            let interval =
                rate.interval.map_or_else(String::new, |i| format!(" ({}–{})", digits(i.low), digits(i.high)));
            format!("{value}{interval} if it is {:.2}", errors.specificity)
        };
        let others: Vec<String> = stated.misstated().map(at).collect();
        Some(format!(
            "the specificity is stated, not checked: `{}` kills {}. `--label-checked` takes the doubt into every \
             interval; a wrong sensitivity would change nothing",
            told.stack,
            others.join(", "),
        ))
    }

    /// Further notes on the page: the luck of the best of many, other suites, other failure rates.
    fn further(&self) -> &[String] {
        let Manifest { failure_rate, choice, .. } = &self.manifest;
        self.further.get_or_init(|| {
            let terms = self.appetite().terms();
            let ship = self.field().contest.decide(terms).ship;
            further::notes(&self.rows, ship, self.unit, terms, *failure_rate, choice.is_some())
        })
    }

    pub(super) fn page_notes(&self, summaries: &[Summary]) -> Vec<String> {
        if let Some(followed) = self.ungraded(summaries) {
            return self.remarks().chain(followed.notes()).collect();
        }
        let mut notes: Vec<String> = self.remarks().chain(self.notes(summaries)).collect();
        notes.extend(self.tail());
        if self.manifest.failure_rate.is_none() {
            notes.extend_from_slice(self.further());
        }
        notes
    }

    /// The tail: tokens after the last effect, by outcome and model.
    fn tail(&self) -> Option<String> {
        /// Maximum models to list.
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
            let (share, runs) = (percents(tail.share()?), count(tail.runs, &format!("{of} run")));
            Some(format!("{share} of {runs} of {}", model.unwrap_or("no named model")))
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
            "{part}{} of {}: {}, {}",
            count(group.len(), self.manifest.noun().trim_end_matches('s')),
            count(tasks.len(), if is_by_session { "session" } else { "task" }),
            count(graded(Outcome::Success), &format!("{proxy}success")),
            count(graded(Outcome::Failure), &format!("{proxy}failure"))
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

    /// The table for the terminal.
    pub fn overview(&self, summaries: &[Summary]) -> Table {
        let first = self.first(summaries);
        if first.is_ungraded() {
            tables::ungraded(first.shown, self.unit)
        } else {
            tables::overview(first.shown, self.unit)
        }
    }

    /// One stack against another as a block for a pull request (see the module `evidence`): unless they are named, the
    /// baseline and the only other stack.
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
            let mut others = summaries.iter().filter(|summary| summary.stack != default.stack);
            let (Some(one), None) = (others.next(), others.next()) else {
                let help = format!("name it with `--proposed STACK`: {}", stacks.join(", "));
                return Err(wrong("which stack is proposed?".to_owned(), help));
            };
            one
        };
        if default.stack == proposed.stack {
            let help = "name another with `--today STACK` or `--proposed STACK`".to_owned();
            return Err(wrong(format!("`{}` is held against itself", default.stack), help));
        }
        Ok(evidence(&self.rows, &self.manifest, (default, proposed), self.unit, &self.headline()))
    }
}
