//! The notes below the tables, and what can be shipped besides.

use super::answer::Rival;
use super::shipped::hosts_of_shipped;
use super::words::{TuneSentences, cost_of_success};
use crate::answers::words::with_interval;
use crate::transcript::Outcome;
use crate::tune::{Learned, Shipped, TaskTotals};
use crate::words::chosen_percent;

impl TuneSentences<'_> {
    /// The notes below the tables.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let study = self.study;
        if let Ok((shipped, _)) = &self.answer.shipped {
            notes.push(self.in_frameworks(shipped));
        }
        notes.extend(self.worst());
        for (signal, runs) in study.unread() {
            notes.push(format!("`{signal}` is not tried: {runs} runs do not record what it reads"));
        }
        if let Ok((shipped, _)) = &self.answer.shipped {
            notes.extend(self.unread(shipped));
        }
        notes.push(
            "at most: certified, of the mean over tasks. Killed and saved are of tasks that a line's rule was not chosen on, each \
             twentieth of them in turn; 95 % intervals, by task, that allow for the choice"
                .to_owned(),
        );
        let settings: usize = study.families().iter().map(|family| family.limits().len()).sum();
        notes.push(format!(
            "{settings} limits of {} signals, each walked from cautious to bold; {}: {}",
            study.families().len(),
            self.answer.appetite.bound.name(),
            self.answer.appetite.bound.theorem()
        ));
        if let Ok((shipped, held_out)) = &self.answer.shipped {
            if let Shipped::List(Learned { is_single: true, .. }) = shipped {
                notes.push("more rules gained less than one standard error over one, so one is shipped".to_owned());
            }
            notes.extend(self.gain(&held_out.totals));
            notes.extend(Self::intervention(&held_out.totals));
            notes.push(
                "void for models and agents that are not in these recordings, and where its signals read further than here: \
                 `compare --stacks tuned.toml` says so"
                    .to_owned(),
            );
        }
        notes
    }

    /// The names of the successful runs on which some rule of it cannot be evaluated.
    pub(super) fn unread_successes(&self, shipped: &Shipped) -> Vec<&str> {
        let runs = shipped.unread(self.study).into_iter().map(|run| &self.study.runs()[run]);
        runs.filter(|run| run.outcome() == Outcome::Success).map(|run| run.facts().run_id()).collect()
    }

    /// A note on runs on which some rule of what is shipped cannot be evaluated.
    fn unread(&self, shipped: &Shipped) -> Option<String> {
        let runs = shipped.unread(self.study).len();
        let successes = self.unread_successes(shipped).len();
        if runs == 0 {
            return None;
        }
        Some(format!(
            "{runs} runs do not record what it reads: for the certificate the {successes} successes among them count as \
            killed; they are named in the certificate, and left out of killed and saved"
        ))
    }

    /// Whether a list gains over one limit on tasks that neither was chosen on.
    fn gain(&self, shipped: &TaskTotals) -> Option<String> {
        let limit = self.beside(Rival::Catalogue)?;
        let (saved, by_limit) = (shipped.saved().value?, limit.totals.saved().value?);
        let points = (saved - by_limit) * 100.0;
        Some(format!(
            "against one limit of the catalogue the list saves {points:+.1} points on tasks neither was learned on"
        ))
    }

    /// The certified budget with a sentence about it, unless it is shipped anyway: most frameworks have a setting for
    /// one. It has its own share of delta, so it is certified in any case.
    pub(super) fn budget(&self) -> Option<(Shipped, String)> {
        let choice = self.answer.tuned.budget()?;
        let shipped = Shipped::Limit(choice);
        let other = self.shipped()?;
        let totals = &self.beside(Rival::Budget)?.totals;
        let sentence = format!(
            "Certified, too: stop when {}. It kills at most {} of successes (averaged over tasks, {} confidence). Tuned in this way \
             on all parts but one, a budget killed {} and saved {} of the {} on the part left out{}.",
            shipped.condition(self.study),
            chosen_percent(self.question.max_killed),
            chosen_percent(self.question.confidence),
            with_interval(&totals.killed()),
            with_interval(&totals.saved()),
            self.study.unit().noun(),
            cost_of_success(totals),
        );
        if *other == shipped { None } else { Some((shipped, sentence)) }
    }

    /// Where the shipped stack can be configured, and what can be configured in more places.
    fn in_frameworks(&self, shipped: &Shipped) -> String {
        const NAMED: usize = 3;
        let hosts = hosts_of_shipped(shipped, self.study);
        let names = hosts.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = if hosts.len() > NAMED { ", …" } else { "" };
        let own = match hosts.len() {
            0 => "no framework has a setting for it: it takes a hook, or a loop of your own".to_owned(),
            1 => format!("1 framework has a setting for it ({names})"),
            n => format!("{n} frameworks have a setting for it ({names}{more})"),
        };
        let budget = self.budget().map(|(budget, _)| (hosts_of_shipped(&budget, self.study).len(), budget));
        let budget = budget.filter(|(n, _)| *n > hosts.len()).map(|(n, budget)| {
            let rule = budget.condition(self.study);
            format!("; {n} have one for {rule}, which is certified, too (`budget.toml`)")
        });
        let how = if hosts.is_empty() && budget.is_none() {
            ""
        } else {
            ". `whenstop export FILE --to NAME --nearest` prints what to paste"
        };
        format!("{own}{}{how}", budget.unwrap_or_default())
    }

    /// When a nudge instead of the stop would help: if the failure rate of the runs it hits exceeds d / (r + d).
    fn intervention(totals: &TaskTotals) -> Option<String> {
        let all = totals.all();
        let (stops, failed) = (all.stops as f64, all.stopped_failures as f64);
        if stops <= 0.0 || failed <= 0.0 {
            return None;
        }
        if stops.total_cmp(&failed).is_eq() {
            return Some(format!(
                "all {stops:.0} runs it stops fail: a nudge in place of the stop could break no success there"
            ));
        }
        let ratio = (stops - failed) / failed;
        let ratio = if ratio >= 0.995 { format!("{ratio:.1}") } else { format!("{ratio:.2}") };
        Some(format!(
            "{failed:.0} of the {stops:.0} runs it stops fail. A nudge in place of the stop helps only if r > {ratio} d: r the \
             share of those failures it rescues, d the share of those successes it breaks"
        ))
    }
}
