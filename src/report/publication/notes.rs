//! The answer of a comparison: its headline, the notes below its table, and the block for a pull request.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::Publication;
use crate::aggregate::{LEVEL, Label, Tails, by_stack, corrected_fes_rate};
use crate::answers::tables::{self, DataTable};
use crate::answers::{
    AnswerNote, CompareAnswer, FollowedReport, Headline, SplitChoice, TailOfGroup, further, without_tasks, words,
};
use crate::diagnostic::{Diagnostic, Location, did_you_mean, nearest};
use crate::effects::TailTokens;
use crate::report::evidence::evidence;
use crate::stats::Warning;
use crate::stats::labels::ErrorRates;

impl Publication {
    /// The answer. If nobody graded the runs it is about what followed the stops, if that is known.
    pub fn answer(&self) -> CompareAnswer {
        if let Some(followed) = self.ungraded() {
            return followed.answer(self.headline());
        }
        let first = self.first();
        let mut notes = self.remarks();
        notes.extend(first.notes());
        notes.extend(self.notes());
        notes.extend(self.followed().and_then(FollowedReport::standing));
        CompareAnswer {
            verdict: first.verdict(),
            ship: first.ship().map(|summary| summary.stack.clone()),
            headline: self.headline(),
            table: if first.shown.is_empty() { None } else { Some(self.overview()) },
            notes,
            agreement: None,
        }
    }

    /// What stands above all notes: a certificate that does not hold, what a stack was tuned on, limits that agents are
    /// told of.
    fn remarks(&self) -> Vec<AnswerNote> {
        let mut notes: Vec<AnswerNote> = self.manifest.remarks.iter().cloned().map(AnswerNote::Remark).collect();
        notes.extend(self.manifest.under_told_limits(&self.rows).map(AnswerNote::ToldLimits));
        notes
    }

    /// The notes below the table that do not depend on the tolerance.
    fn notes(&self) -> Vec<AnswerNote> {
        let summaries = self.summaries();
        let mut notes = Vec::new();
        notes.extend(self.manifest.choice.clone().map(AnswerNote::Chosen));
        notes.extend(self.manifest.proxies.clone().map(AnswerNote::Proxies));
        // All stacks are compared on the same runs, so what holds for the first judged one holds for all.
        if let Some(judged) = summaries.iter().find(|summary| !summary.is_unread()) {
            match judged.ratios_in(self.unit).useful.warning() {
                None | Some(Warning::NoSpread) => {}
                Some(warning) => notes.push(AnswerNote::SavedRough(warning)),
            }
        }
        let corrected = summaries.iter().filter_map(|summary| summary.corrected.as_ref());
        let corrections: BTreeSet<&'static str> = corrected.map(|corrected| corrected.correction.name()).collect();
        notes.extend(corrections.into_iter().map(AnswerNote::LabelErrors));
        notes.extend(self.misstated());
        notes.extend(without_tasks(&by_stack(&self.rows)));
        if self.manifest.failure_rate.is_some() {
            notes.extend_from_slice(self.further());
        }
        notes
    }

    /// What the killed share would be if the stated specificity were wrong.
    fn misstated(&self) -> Option<AnswerNote> {
        let Some(ErrorRates::Stated(stated)) = self.label_errors() else { return None };
        let first = self.first();
        let acting = first.shown.iter().copied().find(|summary| !summary.never_acted());
        let stack = first.ship().or(acting)?.stack.clone();
        let groups = by_stack(&self.rows);
        let group = groups.iter().find(|group| group.stack == stack)?;
        let mut at = Vec::new();
        for errors in stated.misstated() {
            let rate = corrected_fes_rate(group, ErrorRates::Stated(errors), LEVEL).estimate;
            at.push((errors.specificity, rate));
        }
        Some(AnswerNote::Misstated { stack, at })
    }

    /// Further notes on the page: the luck of the best of many, other suites, other failure rates.
    fn further(&self) -> &[AnswerNote] {
        self.further.get_or_init(|| {
            let terms = self.appetite().terms();
            let ship = self.field().decided(terms);
            let chosen_apart = self.manifest.choice.is_some();
            further(&self.rows, ship, self.unit, terms, self.manifest.failure_rate, chosen_apart)
        })
    }

    /// All notes on the page that do not depend on the tolerance.
    pub(in crate::report) fn page_notes(&self) -> Vec<AnswerNote> {
        let mut notes = self.remarks();
        if let Some(followed) = self.ungraded() {
            notes.extend(followed.notes());
            return notes;
        }
        notes.extend(self.notes());
        notes.extend(self.tail());
        if self.manifest.failure_rate.is_none() {
            notes.extend_from_slice(self.further());
        }
        notes
    }

    /// The tail: tokens after the last effect, by outcome and model.
    fn tail(&self) -> Option<AnswerNote> {
        /// Maximum groups of runs to list.
        const LISTED: usize = 6;
        let followed = self.followed()?.rows();
        let mut tails: HashMap<Label, TailTokens> = HashMap::default();
        for row in followed.one_per_run() {
            if let (Some(least), Some(most), Some(whole)) =
                (row.tail_tokens_low, row.tail_tokens_high, row.tokens_recorded)
            {
                tails.insert(row.run_id, TailTokens { least, most, whole });
            }
        }
        let mut all = Tails::default();
        for row in by_stack(&self.rows).into_iter().next()?.rows() {
            let tail = tails.get(row.run_id()).copied();
            all.extend(Tails::from_outcome(row.outcome(), row.model().map(|model| &**model), tail));
        }
        let rows = all.rows();
        let mut groups = Vec::new();
        for (outcome, model, tail) in rows.iter().take(LISTED) {
            if let Some(share) = tail.share() {
                let model = model.map(str::to_owned);
                groups.push(TailOfGroup { outcome: *outcome, model, share, runs: tail.runs });
            }
        }
        if groups.is_empty() {
            return None;
        }
        Some(AnswerNote::Tail { groups, more: rows.len().saturating_sub(LISTED) })
    }

    /// What was compared; `None` if there is no row.
    pub fn headline(&self) -> Option<Headline> {
        let part = self.manifest.choice.as_ref().map(|choice: &SplitChoice| choice.split.clone());
        Headline::from_rows(&self.rows, part, self.manifest.noun(), self.manifest.proxies.is_some())
    }

    /// What was compared, in one line.
    pub fn headline_words(&self) -> String {
        words::headline(self.headline().as_ref())
    }

    /// The table for the terminal.
    pub fn overview(&self) -> DataTable {
        let first = self.first();
        if first.is_ungraded() {
            tables::ungraded(first.shown, self.unit)
        } else {
            tables::overview(first.shown, self.unit)
        }
    }

    /// The table for a paper.
    pub fn overview_for_paper(&self) -> DataTable {
        let first = self.first();
        if first.is_ungraded() { self.overview() } else { tables::overview_for_paper(first.shown, self.unit) }
    }

    /// One stack against another as a block for a pull request (see the module `evidence`): unless they are named, the
    /// baseline and the only other stack.
    pub fn pull_request(&self, default: Option<&str>, proposed: Option<&str>) -> Result<String, Diagnostic> {
        let summaries = self.summaries();
        let stacks: Vec<&str> = summaries.iter().map(|summary| &*summary.stack).collect();
        let wrong = |what: String, help: String| Diagnostic::new(Location::default(), what, help);
        let named = |name: &str| {
            summaries.iter().find(|summary| *summary.stack == *name).ok_or_else(|| {
                let near = nearest(name, stacks.iter().copied());
                let help = did_you_mean(near, &format!("the stacks are {}", stacks.join(", ")));
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
        Ok(evidence(&self.rows, &self.manifest, (default, proposed), self.unit, &self.headline_words()))
    }
}
