//! The sentences of the answer.

use super::{Answer, Args, Why};
use crate::cli::inputs::unnamed_tasks;
use crate::diagnostic::count;
use crate::report::table::digits;
use crate::stats::Estimate;
use crate::transcript::{EndCause, Outcome};
use crate::tune::{
    GridChoice, GridRefusal, HeldOut, Learned, Refusal, Shipped, Stratum, Study, StudyRun, TaskTotals,
    clean_tasks_missing, clean_tasks_needed,
};

/// Rates for which the answer says whether the tasks suffice.
const ALPHAS: [f64; 3] = [0.10, 0.05, 0.02];

/// Everything the sentences are made from.
pub(super) struct Words<'a> {
    pub(super) study: &'a Study,
    pub(super) answer: &'a Answer,
    pub(super) args: &'a Args,
}

/// Formats a share in percent, without floating-point noise.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", super::super::values::percent(share))
}

/// Formats `12 % (8.1–17)`.
fn with_interval(estimate: &Estimate) -> String {
    let value = estimate.value.map_or_else(|| "an unknown share".to_owned(), |value| format!("{} %", digits(value)));
    let interval = estimate.interval.map_or_else(String::new, |i| format!(" ({}–{})", digits(i.low), digits(i.high)));
    value + &interval
}

/// Formats `; a success costs 12 % less`.
fn cost_of_success(totals: &TaskTotals) -> String {
    totals.cost_of_success().map_or_else(String::new, |change| {
        format!("; a success costs {} % {}", digits(change.abs()), if change > 0.0 { "more" } else { "less" })
    })
}

/// Formats a sentence on parts without which nothing could be certified.
fn refused(refused: usize, parts: usize) -> String {
    match refused {
        0 => String::new(),
        1 => format!(" Without 1 of the {parts} parts nothing can be certified; its tasks are left out."),
        n => format!(" Without {n} of the {parts} parts nothing can be certified; their tasks are left out."),
    }
}

impl Words<'_> {
    pub(super) fn is_estimate(&self) -> bool {
        matches!(&self.answer.shipped, Ok((Shipped::List(Learned { is_estimate: true, .. }), _)))
    }

    /// What the certificate promises, in one clause.
    pub(super) fn promise(&self) -> String {
        let (alpha, confidence) = (percent(self.args.max_killed), percent(1.0 - self.args.delta));
        if self.is_estimate() {
            format!("estimated, not certified: at most {alpha} of successes killed, averaged over tasks")
        } else {
            format!("at most {alpha} of successes killed, averaged over tasks, with {confidence} confidence")
        }
    }

    /// The answer in two or three sentences.
    pub(super) fn verdict(&self) -> String {
        let (shipped, held_out) = match &self.answer.shipped {
            Ok(shipped) => shipped,
            Err(why) => return self.refusal(why),
        };
        let (alpha, confidence) = (percent(self.args.max_killed), percent(1.0 - self.args.delta));
        let promise = if self.is_estimate() {
            format!("Estimated, not certified: it kills at most {alpha} of successes")
        } else {
            format!("Certified: it kills at most {alpha} of successes (averaged over tasks, {confidence} confidence)")
        };
        let unit = self.study.unit().noun();
        let apart = self.apart(held_out).unwrap_or_default();
        let learned = if held_out.refused == held_out.parts {
            "What it does to tasks it was not tuned on cannot be told: without a part of them nothing can be certified."
                .to_owned()
        } else {
            format!(
                "Tuned in this way on {} of {} parts, a rule killed {} and saved {} of the {unit} on the part left out{}.{}{apart}",
                held_out.parts - 1,
                held_out.parts,
                with_interval(&held_out.totals.killed()),
                with_interval(&held_out.totals.saved()),
                cost_of_success(&held_out.totals),
                refused(held_out.refused, held_out.parts),
            )
        };
        format!("Ship it: stop when {}. {promise}. {learned}", shipped.condition(self.study))
    }

    /// A suite and model in which more is killed than promised, beyond chance: the promise covers all tasks together.
    fn apart(&self, held_out: &HeldOut) -> Option<String> {
        let strata = self.study.strata(|run| held_out.runs[run]);
        let rate = |stratum: &Stratum| stratum.totals.killed().low().unwrap_or(0.0);
        let worst = strata.iter().filter(|_| strata.len() > 1).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let named = [Some(worst.suite.as_str()).filter(|suite| !suite.is_empty()), worst.model.as_deref()];
        let named = named.into_iter().flatten().collect::<Vec<_>>().join(", ");
        (rate(worst) > self.args.max_killed && !named.is_empty())
            .then(|| format!(" But on {named} it killed {}.", with_interval(&worst.totals.killed())))
    }

    /// Why nothing can be shipped, the reason first.
    fn refusal(&self, why: &Why) -> String {
        let alpha = percent(self.args.max_killed);
        let there = self.answer.tuned.with_success;
        let besides = |text: String| match &self.answer.tuned.chosen {
            Ok(choice) => {
                let rule = self.study.families()[choice.family].rule(choice.limit);
                let way = if self.args.learn { "--learn" } else { "--grid" };
                format!("{text} Without `{way}`, `{rule}` can be shipped.")
            }
            Err(_) => text,
        };
        match why {
            Why::Catalogue(Refusal::Unnamed { without, runs }) => unnamed_tasks(*without, *runs).unwrap_or_default(),
            Why::Catalogue(Refusal::Ungraded) => {
                "Nothing can be recommended: no run has an outcome. `whenstop labels PATH \
                --template labels.csv` lists the runs to grade, those that matter most first."
                    .to_owned()
            }
            Why::Catalogue(Refusal::TooFewTasks { there, needed }) => {
                let carried = self.carried();
                let carried = carried.map_or_else(String::new, |alpha| {
                    format!(" They carry {}: `--max-killed {alpha}`.", percent(alpha))
                });
                format!(
                    "Nothing can be recommended at {alpha}: {} a success, and a certificate takes {needed}, none of them killed: \
                     {} more.{carried}",
                    if *there == 1 { "1 task has".to_owned() } else { format!("{there} tasks have") },
                    needed - there
                )
            }
            Why::Catalogue(Refusal::SavesNothing)
                if self.study.runs().iter().all(|run| run.outcome() != Outcome::Failure) =>
            {
                "Nothing can be recommended: no run failed, so there is nothing to save.".to_owned()
            }
            Why::Catalogue(Refusal::SavesNothing) => format!(
                "Nothing can be recommended at {alpha}: what is certified on these {there} tasks with a success is so cautious \
                 that it saves nothing.{}",
                self.first_refused()
            ),
            Why::Catalogue(Refusal::NoCosts) => {
                "Nothing can be said in dollars: too few runs have a cost. `--price FILE` \
                computes it from tokens (TOML: for each model `input` and `output`, in dollars for a million tokens)."
                    .to_owned()
            }
            Why::Catalogue(Refusal::NotWorthIt) => format!(
                "Nothing can be recommended: of what is certified at {alpha} nothing pays at ${:.2} for a lost success.",
                self.args.lost_success_costs.unwrap_or_default()
            ),
            Why::TooFewForList(needed) => besides(format!(
                "No list of rules can be recommended at {alpha}: one takes about {needed} tasks with a success, half to learn \
                 and half to certify, and {there} have one: {} more.",
                needed - there
            )),
            Why::Dearer(condition, change) => format!(
                "Nothing can be recommended at {alpha}: what is certified and saves most, {condition}, makes successes dearer: \
                 on tasks it was not tuned on, each one left costs {} % more than without stopping.",
                digits(*change)
            ),
            Why::Grid(refusal) => besides(self.refused_grid(refusal)),
            Why::NoList => besides(format!(
                "No list of rules can be recommended at {alpha}: what is certified on the half of the tasks it was not learned \
                 from saves nothing."
            )),
        }
    }

    /// Why no stack of the grid can be shipped.
    fn refused_grid(&self, refusal: &GridRefusal) -> String {
        let alpha = percent(self.args.max_killed);
        let none = format!("No stack of the grid can be recommended at {alpha}:");
        match refusal {
            GridRefusal::TooFewTasks { there, needed } => format!(
                "{none} it is chosen on one half of the tasks and certified on the other. There {there} have a success, and a \
                 certificate takes {needed}, none of them killed: {} more in all.",
                2 * (needed - there)
            ),
            GridRefusal::NonePassed(p) => format!(
                "{none} on the half it is certified on, the most cautious of those that save anything has a p-value of {p:.3} \
                 where {} would do.",
                self.args.delta
            ),
            GridRefusal::NothingToTry | GridRefusal::Unreadable(_) => {
                format!("{none} on the half it is chosen on, none saves anything.")
            }
        }
    }

    /// The limit that came nearest to passing, with the tasks that it would need.
    fn first_refused(&self) -> String {
        let there = self.answer.tuned.with_success;
        let walks = self.answer.tuned.walks.iter().filter_map(|walk| {
            let missing = clean_tasks_missing(walk.p_next?, there, self.args.max_killed, walk.delta)?;
            Some((missing, walk))
        });
        walks.min_by_key(|(missing, _)| *missing).map_or_else(String::new, |(missing, walk)| {
            let rule = self.study.families()[walk.family].rule(walk.passed);
            // If not even the most cautious limit passed, its value is nothing that anybody would set.
            let rule = if walk.passed == 0 { format!("a limit on `{}`", rule.signal.id) } else { format!("`{rule}`") };
            format!(
                " The nearest is {rule}: {} more with a success, none of them killed, would certify it.",
                count(missing, "task")
            )
        })
    }

    /// The strictest of a few rates for which the tasks suffice.
    fn carried(&self) -> Option<f64> {
        let there = self.answer.tuned.with_success;
        ALPHAS.into_iter().rev().find(|alpha| *alpha > self.args.max_killed && there >= self.needed(*alpha).0)
    }

    /// Tasks with a success, none killed, needed for the budget and for any other family.
    fn needed(&self, alpha: f64) -> (u64, u64) {
        let of = |share: f64| clean_tasks_needed(alpha, self.args.delta * share);
        (of(0.5), of(0.1))
    }

    /// What the recordings contain, and what they suffice for.
    pub(super) fn recordings(&self) -> String {
        let (study, there) = (self.study, self.answer.tuned.with_success);
        let count = |outcome| study.runs().iter().filter(|run| run.outcome() == outcome).count();
        let (successes, failures, ungraded) =
            (count(Outcome::Success), count(Outcome::Failure), count(Outcome::Unknown));
        let at_cap = |run: &&StudyRun| run.extract().shared().end() == EndCause::Cap;
        let capped = study.runs().iter().filter(at_cap).count();
        let ungraded = if ungraded > 0 { format!(", {ungraded} ungraded") } else { String::new() };
        let capped = if capped > 0 { format!("; {capped} ended at their own cap") } else { String::new() };
        let carries = ALPHAS.map(|alpha| {
            let (budget, any) = self.needed(alpha);
            let percent = percent(alpha);
            if there >= any {
                format!("{percent} any rule")
            } else if there >= budget {
                format!("{percent} a budget (any rule from {any} on)")
            } else {
                format!("{percent} nothing (a budget from {budget} on)")
            }
        });
        format!(
            "{} {} of {} tasks: {successes} successes, {failures} failures{ungraded}{capped}. {there} tasks have a success; that \
             carries at {}.",
            study.runs().len(),
            self.args.corpus.unit.noun(),
            study.tasks().len(),
            carries.join(", at ")
        )
    }

    /// The notes below the tables.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let study = self.study;
        for (signal, runs) in study.unread() {
            notes.push(format!("`{signal}` is not tried: {runs} runs do not record what it reads"));
        }
        if let Ok((shipped, _)) = &self.answer.shipped {
            notes.extend(self.unread(shipped));
        }
        notes.push(
            "at most: certified, of the mean over tasks. Killed and saved are of tasks that a line's rule was not chosen on, each \
             twentieth of them in turn; 95 % intervals, by task, that contain those of the rule chosen on all tasks"
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
            if let Shipped::Grid(choice) = shipped {
                notes.push(Self::walked(choice));
            }
            let others = held_out.others(&shipped.name(study));
            if others > 0 {
                let chosen = held_out.parts - held_out.refused;
                notes.push(format!("without {others} of the {chosen} parts left out in turn, another rule is chosen"));
            }
            notes.extend(self.gain(&held_out.totals));
            notes.extend(Self::intervention(&held_out.totals));
            notes.push(self.in_frameworks(shipped));
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
        runs.filter(|run| run.outcome() == Outcome::Success).map(|run| run.extract().shared().run_id()).collect()
    }

    /// A note on runs on which some rule of what is shipped cannot be evaluated.
    fn unread(&self, shipped: &Shipped) -> Option<String> {
        let runs = shipped.unread(self.study).len();
        let successes = self.unread_successes(shipped).len();
        (runs > 0).then(|| {
            format!(
                "{runs} runs do not record what it reads: for the certificate the {successes} successes among them count as \
                 killed; they are named in the certificate, and left out of killed and saved"
            )
        })
    }

    /// How a stack of the grid was found.
    fn walked(choice: &GridChoice) -> String {
        format!(
            "the grid: {} stacks tried on one half of the tasks, {} on the frontier there; these tried on the other half, from \
             the most cautious on to the first that fails: {} passed, and the last of them is shipped",
            choice.tried, choice.on_frontier, choice.passed
        )
    }

    /// The label of the catalogue's own choice if something else is shipped.
    pub(super) fn without(&self) -> Option<&'static str> {
        let grid = self.args.grid.as_ref().map(|_| "without --grid");
        grid.or(self.args.learn.then_some("without --learn"))
    }

    /// Whether a list, or a stack of a grid, gains over one limit on tasks that neither was chosen on.
    fn gain(&self, shipped: &TaskTotals) -> Option<String> {
        self.without()?;
        let limit = self.answer.beside.limit.as_ref()?;
        let (saved, by_limit) = (shipped.saved().value?, limit.totals.saved().value?);
        let points = (saved - by_limit) * 100.0;
        let (what, chosen) = if self.args.learn { ("list", "learned") } else { ("stack", "chosen") };
        Some(format!(
            "against one limit of the catalogue the {what} saves {points:+.1} points on tasks neither was {chosen} on"
        ))
    }

    /// The certified budget with a sentence about it, unless it is shipped anyway: most frameworks have a setting for
    /// one. It has its own share of delta, so it is certified in any case.
    pub(super) fn budget(&self) -> Option<(Shipped, String)> {
        let choice = self.answer.tuned.budget()?;
        let shipped = Shipped::Limit(choice);
        let (other, _) = self.answer.shipped.as_ref().ok()?;
        let totals = &self.answer.beside.others.iter().find(|other| other.what == "budget alone")?.totals;
        let sentence = format!(
            "Certified, too: stop when {}. It kills at most {} of successes (averaged over tasks, {} confidence). Tuned in this way \
             on all parts but one, a budget killed {} and saved {} of the {} on the part left out{}.",
            shipped.condition(self.study),
            percent(self.args.max_killed),
            percent(1.0 - self.args.delta),
            with_interval(&totals.killed()),
            with_interval(&totals.saved()),
            self.study.unit().noun(),
            cost_of_success(totals),
        );
        (*other != shipped).then_some((shipped, sentence))
    }

    /// Where the shipped stack can be configured, and what can be configured in more places.
    fn in_frameworks(&self, shipped: &Shipped) -> String {
        const NAMED: usize = 3;
        let hosts = super::files::hosts_of(self, shipped);
        let names = hosts.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = if hosts.len() > NAMED { ", …" } else { "" };
        let own = match hosts.len() {
            0 => "no framework has a setting for it: it takes a hook, or a loop of your own".to_owned(),
            1 => format!("1 framework has a setting for it ({names})"),
            n => format!("{n} frameworks have a setting for it ({names}{more})"),
        };
        let budget = self.budget().map(|(budget, _)| (super::files::hosts_of(self, &budget).len(), budget));
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
