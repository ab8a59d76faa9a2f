//! The answer in words and tables.

use serde_json::json;

use super::{Answer, Args, Why};
use crate::report::table::{Cell, Table, digits};
use crate::stats::Estimate;
use crate::transcript::Outcome;
use crate::tune::{
    Effects, HeldOut, Learned, Refusal, Shipped, Stratum, Study, clean_tasks_needed, fingerprint, grounds,
};

/// Suites and models shown, the worst first.
const STRATA: usize = 6;
/// Tolerances of which it is said whether the tasks carry them.
const ALPHAS: [f64; 3] = [0.10, 0.05, 0.02];

/// All there is to say.
pub(super) struct Words<'a> {
    pub(super) study: &'a Study,
    pub(super) answer: &'a Answer,
    pub(super) args: &'a Args,
}

/// A share in percent, without a binary tail.
fn percent(share: f64) -> String {
    format!("{} %", super::super::values::percent(share))
}

/// `12 % (8.1–17)`.
fn with_interval(estimate: &Estimate) -> String {
    let value = estimate.value.map_or_else(|| "an unknown share".to_owned(), |value| format!("{} %", digits(value)));
    let interval = estimate.interval.map_or_else(String::new, |i| format!(" ({}–{})", digits(i.low), digits(i.high)));
    value + &interval
}

/// The same in a column of percents.
fn cell(estimate: &Estimate) -> Cell {
    let Some(value) = estimate.value else { return Cell::Missing };
    let interval = estimate.interval.map_or_else(String::new, |i| format!(" ({}–{})", digits(i.low), digits(i.high)));
    Cell::Text(format!("{}{interval}", digits(value)))
}

/// `; a success costs 12 % less`.
fn cost_of_success(effects: &Effects) -> String {
    effects.cost_of_success().map_or_else(String::new, |change| {
        format!("; a success costs {} % {}", digits(change.abs()), if change > 0.0 { "more" } else { "less" })
    })
}

impl Words<'_> {
    fn is_estimate(&self) -> bool {
        matches!(&self.answer.shipped, Ok((Shipped::List(Learned { is_estimate: true, .. }), _)))
    }

    /// What is promised, in one clause.
    pub(super) fn promise(&self) -> String {
        let (alpha, confidence) = (percent(self.args.max_fes), percent(1.0 - self.args.delta));
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
        let (alpha, confidence) = (percent(self.args.max_fes), percent(1.0 - self.args.delta));
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
                "On tasks it was not tuned on it killed {} and saved {} of the {unit}{}.{apart}",
                with_interval(&held_out.effects.killed()),
                with_interval(&held_out.effects.saved()),
                cost_of_success(&held_out.effects),
            )
        };
        format!("Ship it: stop when {}. {promise}. {learned}", shipped.condition(self.study))
    }

    /// A suite and model on which more is killed than promised, beyond chance: the promise is of all tasks together.
    fn apart(&self, held_out: &HeldOut) -> Option<String> {
        let strata = self.study.strata(|run| held_out.stops.get(run).copied().flatten());
        let rate = |stratum: &Stratum| stratum.effects.killed().low().unwrap_or(0.0);
        let worst = strata.iter().filter(|_| strata.len() > 1).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let named = [Some(worst.suite.as_str()).filter(|suite| !suite.is_empty()), worst.model.as_deref()];
        let named = named.into_iter().flatten().collect::<Vec<_>>().join(", ");
        (rate(worst) > self.args.max_fes && !named.is_empty())
            .then(|| format!(" But on {named} it killed {}.", with_interval(&worst.effects.killed())))
    }

    /// Why nothing can be shipped, the reason first.
    fn refusal(&self, why: &Why) -> String {
        let alpha = percent(self.args.max_fes);
        let there = self.answer.tuned.with_success;
        let besides = |text: String| match &self.answer.tuned.chosen {
            Ok(choice) => {
                let rule = self.study.families().get(choice.family).map(|family| family.rule(choice.limit).to_string());
                format!("{text} Without `--learn`, `{}` can be shipped.", rule.unwrap_or_default())
            }
            Err(_) => text,
        };
        match why {
            Why::Catalogue(Refusal::Ungraded) => {
                "Nothing can be recommended: no run has an outcome. `whenstop labels PATH \
                --template labels.csv` lists the runs to grade, those that matter most first."
                    .to_owned()
            }
            Why::Catalogue(Refusal::TooFewTasks { there, needed }) => {
                let carried = self.carried();
                let carried = carried
                    .map_or_else(String::new, |alpha| format!(" They carry {}: `--max-fes {alpha}`.", percent(alpha)));
                format!(
                    "Nothing can be recommended at {alpha}: {} a success, and a certificate takes {needed}, none of them killed: \
                     {} more.{carried}",
                    if *there == 1 { "1 task has".to_owned() } else { format!("{there} tasks have") },
                    needed - there
                )
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
            Why::NoList => besides(format!(
                "No list of rules can be recommended at {alpha}: what is certified on the half of the tasks it was not learned \
                 from saves nothing."
            )),
        }
    }

    /// The first limit that any family could not pass, with what it needs.
    fn first_refused(&self) -> String {
        let walks = self.answer.tuned.walks.iter().filter_map(|walk| {
            let rule = self.study.families().get(walk.family)?.rule(walk.passed);
            Some((walk.p_next? / walk.delta, rule, walk.p_next?, walk.delta))
        });
        let nearest = walks.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map_or_else(String::new, |(_, rule, p, delta)| {
            format!(" The nearest is `{rule}`, with a p-value of {p:.3} where {delta:.3} would do.")
        })
    }

    /// The strictest of a few tolerances that the tasks carry.
    fn carried(&self) -> Option<f64> {
        let there = self.answer.tuned.with_success;
        ALPHAS.into_iter().rev().find(|alpha| *alpha > self.args.max_fes && there >= self.needed(*alpha).0)
    }

    /// Tasks with a success, none killed, that the budget takes, and any other member.
    fn needed(&self, alpha: f64) -> (u64, u64) {
        let of = |share: f64| clean_tasks_needed(alpha, self.args.delta * share);
        (of(0.5), of(0.1))
    }

    /// What there is, and what it can carry.
    pub(super) fn recordings(&self) -> String {
        let (study, there) = (self.study, self.answer.tuned.with_success);
        let count = |outcome| study.tracks().iter().filter(|track| track.outcome == outcome).count();
        let (successes, failures, ungraded) =
            (count(Outcome::Success), count(Outcome::Failure), count(Outcome::Unknown));
        let capped = study.tracks().iter().filter(|track| track.capped).count();
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
            study.tracks().len(),
            self.args.corpus.unit.noun(),
            study.tasks().len(),
            carries.join(", at ")
        )
    }

    /// Every line of the table: what it is, its rule, whether it is certified, and what it does.
    fn lines(&self) -> Vec<(&'static str, String, bool, Effects)> {
        let study = self.study;
        let none = study.effects(&study.all_tasks(), |_| None);
        let mut lines = vec![("no stopping", String::new(), false, none)];
        let others = self.answer.beside.others.iter();
        let limit = self.answer.beside.limit.iter().filter(|_| self.args.learn);
        for other in others.chain(limit) {
            let name = other.name.clone().unwrap_or_else(|| "none".to_owned());
            lines.push((other.what, name, other.certified, other.effects.clone()));
        }
        if let Ok((shipped, held_out)) = &self.answer.shipped {
            let rules: Vec<String> = shipped.rules(study).iter().map(ToString::to_string).collect();
            let name =
                if let [rule] = &rules[..] { rule.clone() } else { format!("{} rules, any of them", rules.len()) };
            lines.push(("tuned", name, !self.is_estimate(), held_out.effects.clone()));
        }
        lines
    }

    /// The table a person reads.
    pub(super) fn table(&self) -> Table {
        let unit = self.study.unit().noun();
        let promise = percent(self.args.max_fes);
        let columns = ["", "rule", "at most", "killed, %", &format!("{unit} saved, %")];
        let mut rows: Vec<Vec<Cell>> = self
            .lines()
            .into_iter()
            .map(|(what, name, certified, effects)| {
                let certified = if certified { promise.clone() } else { "–".to_owned() };
                let is_none = what == "no stopping" || name == "none";
                let (killed, saved) =
                    if is_none && effects.sum(|effect| effect.stops as f64 + effect.saved.numerator) == 0.0 {
                        (Cell::Text("0".to_owned()), Cell::Text("0".to_owned()))
                    } else {
                        (cell(&effects.killed()), cell(&effects.saved()))
                    };
                vec![Cell::Text(what.to_owned()), Cell::Text(name), Cell::Text(certified), killed, saved]
            })
            .collect();
        if let Some(oracle) = self.study.oracle() {
            let texts = ["oracle", "stops what fails", "–", "0", &digits(oracle)];
            rows.push(texts.map(|text| Cell::Text(text.to_owned())).to_vec());
        }
        Table { columns: columns.map(str::to_owned).to_vec(), rows }
    }

    /// Kills by suite and model, the worst first; `None` where there is only one.
    pub(super) fn strata(&self) -> Option<Table> {
        let (_, held_out) = self.answer.shipped.as_ref().ok()?;
        let mut strata = self.study.strata(|run| held_out.stops.get(run).copied().flatten());
        strata.retain(|stratum| stratum.effects.sum(|effect| effect.killed.denominator) > 0.0);
        if strata.len() < 2 {
            return None;
        }
        let rate = |effects: &Effects| effects.killed().value.unwrap_or(0.0);
        strata.sort_by(|a, b| rate(&b.effects).total_cmp(&rate(&a.effects)));
        let more = strata.len().saturating_sub(STRATA);
        strata.truncate(STRATA);
        let unit = self.study.unit().noun();
        let mut columns =
            vec!["suite", "model", "successes", "killed, %"].into_iter().map(str::to_owned).collect::<Vec<_>>();
        columns.push(format!("{unit} saved, %"));
        let mut rows: Vec<Vec<Cell>> = strata
            .iter()
            .map(|stratum| {
                let successes = stratum.effects.sum(|effect| effect.killed.denominator);
                let model = stratum.model.as_deref().unwrap_or("–");
                let suite = if stratum.suite.is_empty() { "–" } else { &stratum.suite };
                vec![
                    Cell::Text(cut(suite, 16)),
                    Cell::Text(cut(model, 24)),
                    Cell::Text(format!("{successes:.0}")),
                    cell(&stratum.effects.killed()),
                    cell(&stratum.effects.saved()),
                ]
            })
            .collect();
        if more > 0 {
            let mut last = vec![Cell::Text(format!("and {more} with fewer kills"))];
            last.resize(5, Cell::Text(String::new()));
            rows.push(last);
        }
        Some(Table { columns, rows })
    }

    /// What to say below the tables.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let study = self.study;
        for (signal, runs) in study.unread() {
            notes.push(format!("`{signal}` is not tried: {runs} runs do not record what it reads"));
        }
        if study.left_out() > 0 {
            notes.push(format!("{} runs lack what some signal reads and are left out", study.left_out()));
        }
        notes.push(
            "at most: certified, of the mean over tasks. Killed and saved are of tasks that a line's rule was not chosen on, a \
             twentieth of them in its turn; 95 % intervals, by task"
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
            notes.extend(self.gain(&held_out.effects));
            notes.extend(Self::intervention(&held_out.effects));
            notes.push(
                "void for models and agents that are not in these recordings, and where its signals read further than here: \
                 `compare --stacks tuned.toml` says so"
                    .to_owned(),
            );
        }
        notes
    }

    /// Does a list gain over one limit on tasks that neither learned from?
    fn gain(&self, list: &Effects) -> Option<String> {
        let limit = self.answer.beside.limit.as_ref().filter(|_| self.args.learn)?;
        let (list, limit) = (list.saved().value?, limit.effects.saved().value?);
        let points = (list - limit) * 100.0;
        Some(format!(
            "against one limit of the catalogue the list saves {points:+.1} points on tasks neither was learned on"
        ))
    }

    /// When a nudge in place of the stop would help: where the failure rate of what it hits exceeds d / (r + d).
    fn intervention(effects: &Effects) -> Option<String> {
        let stops = effects.sum(|effect| effect.stops as f64);
        let failed = effects.sum(|effect| effect.true_stops as f64);
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

    /// The answer as JSON: the certificate.
    pub(super) fn json(&self) -> serde_json::Value {
        let (study, answer) = (self.study, self.answer);
        let estimate = |of: &Estimate| json!({"value": of.value, "low": of.low(), "high": of.high(), "n": of.n, "method": of.method.name()});
        let lines: Vec<serde_json::Value> = self
            .lines()
            .iter()
            .map(|(what, name, certified, effects)| {
                json!({
                    "what": what,
                    "rule": name,
                    "certified": certified,
                    "killed": estimate(&effects.killed()),
                    "killed_by_task": estimate(&effects.task_rate()),
                    "saved": estimate(&effects.saved()),
                })
            })
            .collect();
        let walks: Vec<serde_json::Value> = answer
            .tuned
            .walks
            .iter()
            .filter_map(|walk| {
                let family = study.families().get(walk.family)?;
                let limit = |at: Option<usize>| at.and_then(|at| family.limits().get(at)).copied();
                Some(json!({
                    "family": family.name(),
                    "delta": walk.delta,
                    "boldest_certified": limit(walk.boldest()),
                    "p": walk.p,
                    "first_refused": walk.p_next.and_then(|_| limit(Some(walk.passed))),
                    "p_refused": walk.p_next,
                }))
            })
            .collect();
        let shipped = answer.shipped.as_ref().ok().map(|(shipped, held_out)| {
            let grounds = grounds(study, shipped, self.promise());
            let ranges: serde_json::Map<String, serde_json::Value> =
                grounds.ranges.iter().map(|(signal, low, high)| (signal.clone(), json!([low, high]))).collect();
            json!({
                "stop_when": shipped.condition(study),
                "rules": shipped.rules(study).iter().map(ToString::to_string).collect::<Vec<_>>(),
                "from_step": shipped.from_step(),
                "kind": if self.is_estimate() { "estimated" } else { "certified" },
                "promise": grounds.promise,
                "p": match shipped { Shipped::Limit(choice) => choice.p, Shipped::List(list) => list.p },
                "judged_on_tasks": match shipped { Shipped::Limit(_) => answer.tuned.with_success, Shipped::List(list) => list.judged_on },
                "stop_rate": grounds.stopped,
                "ranges": ranges,
                "held_out_parts": held_out.parts,
                "held_out_parts_refused": held_out.refused,
            })
        });
        json!({
            "schema_version": 1,
            "whenstop": env!("CARGO_PKG_VERSION"),
            "verdict": self.verdict(),
            "ship": shipped,
            "alpha": self.args.max_fes,
            "delta": self.args.delta,
            "bound": answer.appetite.bound.name(),
            "theorem": answer.appetite.bound.theorem(),
            "lost_success_costs": self.args.lost_success_costs,
            "budget": self.args.budget,
            "runs": study.tracks().len(),
            "runs_left_out": study.left_out(),
            "tasks": study.tasks().len(),
            "tasks_with_success": answer.tuned.with_success,
            "saved_unit": study.unit().name(),
            "models": named(study, |track| track.model.as_ref()),
            "agents": named(study, |track| track.agent.as_ref()),
            "corpus": fingerprint(study),
            "oracle": study.oracle(),
            "beside": lines,
            "walks": walks,
        })
    }
}

/// The beginning of a name; all of it stands in `strata.csv`.
fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

fn named(study: &Study, of: fn(&crate::tune::Track) -> Option<&String>) -> Vec<&String> {
    study.tracks().iter().filter_map(of).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}
