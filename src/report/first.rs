//! The first table: which stack to ship, and in which order the stacks are listed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use super::choice::{Choice, percent};
use super::table::{digits, join};
use crate::aggregate::{
    Count, Group, Label, NetBenefit, Rows, Summary, Unit, WorseStratum, by_stack, choose, worse_stratum,
};
use crate::stats::RangeEstimate;
use crate::transcript::Outcome;

/// Maximum stacks in the table unless all are asked for.
const SHOWN: usize = 12;
/// Maximum names in one line below the table.
const NAMED: usize = 6;

/// How a comparison is shown: what is tolerated and how much is listed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Appetite {
    /// The largest tolerated share of killed successes, compared with the upper end of its interval.
    pub max_fes: f64,
    /// What a lost success costs, in dollars; if given, the net benefit decides instead of the tolerated share.
    pub lost_success_costs: Option<f64>,
    /// Show every stack in the table.
    pub all: bool,
}

impl Appetite {
    /// 5 % of the successes.
    pub const DEFAULT_MAX_FES: f64 = 0.05;
}

impl Default for Appetite {
    fn default() -> Self {
        Self { max_fes: Self::DEFAULT_MAX_FES, lost_success_costs: None, all: false }
    }
}

/// In which suite and model each stack does far worse than overall. Computed lazily and once, since it takes a pass
/// over the rows of a stack.
pub(super) struct WorseStrata<'r> {
    groups: Vec<Group<'r>>,
    found: RefCell<BTreeMap<Label, Option<WorseStratum>>>,
}

impl<'r> WorseStrata<'r> {
    /// For all stacks in these rows.
    pub(super) fn of(rows: &'r Rows) -> Rc<Self> {
        Rc::new(Self { groups: by_stack(rows), found: RefCell::default() })
    }

    fn stratum(&self, stack: &Label) -> Option<WorseStratum> {
        let known = self.found.borrow().get(stack).cloned();
        known.unwrap_or_else(|| {
            let found = self.groups.iter().find(|group| group.stack == *stack).and_then(worse_stratum);
            self.found.borrow_mut().insert(stack.clone(), found.clone());
            found
        })
    }
}

/// The stacks of a comparison, sorted for a reader.
pub struct FirstTable<'s> {
    summaries: &'s [Summary],
    unit: Unit,
    appetite: Appetite,
    choice: Option<&'s Choice>,
    rows: &'s Rows,
    strata: Rc<WorseStrata<'s>>,
    /// Stacks in the table, in order.
    pub shown: Vec<&'s Summary>,
    /// Stacks left out to keep the table short.
    pub folded: Vec<&'s Summary>,
    /// Stacks that did nothing on any run.
    pub idle: Vec<&'s Summary>,
    /// Stacks for which no run could be judged by all of their rules.
    pub unread: Vec<&'s Summary>,
}

impl<'s> FirstTable<'s> {
    /// Sorts the stacks at the given appetite: first those that can be shipped by what they save, then the others with
    /// the least dangerous first. With `choice`, the tasks were split and a stack was chosen on the other part.
    pub fn of(
        summaries: &'s [Summary],
        rows: &'s Rows,
        unit: Unit,
        appetite: Appetite,
        choice: Option<&'s Choice>,
    ) -> Self {
        Self::sharing(&WorseStrata::of(rows), summaries, rows, unit, appetite, choice)
    }

    /// As [`Self::of`], with data shared with other tables of the same rows.
    pub(super) fn sharing(
        strata: &Rc<WorseStrata<'s>>,
        summaries: &'s [Summary],
        rows: &'s Rows,
        unit: Unit,
        appetite: Appetite,
        choice: Option<&'s Choice>,
    ) -> Self {
        let unread: Vec<&Summary> = summaries.iter().filter(|summary| summary.is_unread()).collect();
        let idle: Vec<&Summary> = summaries.iter().filter(|summary| summary.never_acted()).collect();
        let mut shown: Vec<&Summary> =
            summaries.iter().filter(|summary| !summary.is_unread() && !summary.never_acted()).collect();
        let saved = |summary: &Summary| summary.ratios_in(unit).useful.low.value.unwrap_or(f64::NEG_INFINITY);
        let killed = |summary: &Summary| {
            let rate = summary.fes_rate();
            rate.upper().or(rate.high.value).unwrap_or(f64::INFINITY)
        };
        let worth = |summary: &Summary| match &summary.net_benefit {
            Some(NetBenefit { a_run, .. }) => a_run.lower().is_some_and(|low| low > 0.0),
            None => is_safe(summary, appetite.max_fes) && saved(summary) > 0.0,
        };
        shown.sort_by(|a, b| {
            let by_worth = worth(b).cmp(&worth(a));
            let by_risk =
                if worth(a) && worth(b) { std::cmp::Ordering::Equal } else { killed(a).total_cmp(&killed(b)) };
            by_worth.then(by_risk).then(saved(b).total_cmp(&saved(a)))
        });
        let keep = if appetite.all { shown.len() } else { SHOWN.min(shown.len()) };
        let folded = shown.split_off(keep);
        let strata = Rc::clone(strata);
        Self { summaries, unit, appetite, choice, rows, strata, shown, folded, idle, unread }
    }

    /// The stack to ship, if there is one. If a stack was chosen on other tasks, it is that one or none.
    pub fn ship(&self) -> Option<&'s Summary> {
        let summary = if self.is_test() {
            self.tested().filter(|summary| is_safe(summary, self.appetite.max_fes))
        } else {
            choose(self.summaries.iter(), self.unit, self.appetite.max_fes).and_then(|at| self.summaries.get(at))
        }?;
        let saved = summary.ratios_in(self.unit).useful.low.value;
        (summary.net_benefit.is_some() || saved.is_some_and(|saved| saved > 0.0)).then_some(summary)
    }

    /// Whether a stack was to be chosen on tasks that are not shown here.
    fn is_test(&self) -> bool {
        self.choice.is_some_and(|choice| choice.split == "test")
    }

    /// The stack chosen on tasks that are not shown here; `None` if none was.
    fn tested(&self) -> Option<&'s Summary> {
        let chosen = self.choice.filter(|_| self.is_test())?.chosen.as_ref()?;
        self.summaries.iter().find(|summary| summary.stack == *chosen)
    }

    /// True if no run has an outcome.
    pub fn is_ungraded(&self) -> bool {
        self.summaries.iter().all(|summary| summary.counted(Count::UnlabelledRuns) == summary.runs)
    }

    /// The answer in one or two sentences.
    pub fn verdict(&self) -> String {
        if self.is_ungraded() {
            return "Nothing can be said about successes: no run has an outcome. `whenstop labels PATH --template \
                    labels.csv` lists the runs to grade, those that matter most first."
                .to_owned();
        }
        if self.rows.iter().all(|row| row.outcome() != Outcome::Success) {
            return "Nothing can be said about the successes a stack kills: none of these runs succeeded. Add runs that did."
                .to_owned();
        }
        match self.ship() {
            Some(summary) => self.ship_sentence(summary),
            None => self.refusal(),
        }
    }

    /// The answer if a lost success has a price.
    fn priced_sentence(summary: &Summary, benefit: &NetBenefit) -> String {
        let worth = benefit.a_run.low.value.unwrap_or_default();
        let interval = benefit
            .a_run
            .interval()
            .map_or_else(String::new, |interval| format!(" ({} to {})", dollars(interval.low), dollars(interval.high)));
        format!(
            "Ship `{}`: at ${} for a lost success it is worth ${}{interval} a run, after the {} of {} successes it kills.",
            summary.stack,
            dollars(benefit.price.costs),
            dollars(worth),
            summary.counted(Count::KilledAtMost),
            summary.counted(Count::JudgedSuccesses),
        )
    }

    /// Up to which price of a lost success the stack pays, if the unit is money.
    fn break_even(&self, summary: &Summary) -> String {
        let range = &summary.ratios_in(self.unit).break_even;
        let (Unit::CostUsd, Some(price)) = (self.unit, range.low.value) else { return String::new() };
        let interval = range
            .interval()
            .filter(|interval| interval.low > 0.0 && interval.high < 30.0 * interval.low)
            .map_or_else(String::new, |interval| format!(" ({}–{})", dollars(interval.low), dollars(interval.high)));
        format!(" It pays while a lost success costs less than ${}{interval}.", dollars(price))
    }

    fn ship_sentence(&self, summary: &Summary) -> String {
        if let Some(benefit) = &summary.net_benefit {
            return Self::priced_sentence(summary, benefit);
        }
        let most = summary
            .fes_rate()
            .upper()
            .map_or_else(|| "an unknown share".to_owned(), |high| format!("{} %", digits(high)));
        let useful = summary.ratios_in(self.unit).useful;
        let saved = useful.low.value.map(digits).unwrap_or_default();
        let interval = useful
            .interval()
            .map_or_else(String::new, |interval| format!(" ({}–{})", digits(interval.low), digits(interval.high)));
        let cost = summary.ratios_in(self.unit).cost_of_success.sentence();
        let mut text = format!(
            "Ship `{}`: it kills at most {most} of successes (95 %), saves {saved} % of the {}{interval}{cost}.",
            summary.stack,
            self.unit.noun()
        );
        text += &self.break_even(summary);
        let judged = summary.counted(Count::Judged);
        if judged < summary.runs {
            let _ = write!(text, " Judged on the {judged} of {} runs that tell.", summary.runs);
        }
        if let Some(worse) = self.pooling().filter(|worse| worse.stack == summary.stack) {
            let _ = write!(text, " But it {}: look at strata.csv first.", apart(&worse));
        }
        let tried = self.summaries.len() - self.idle.len() - self.unread.len();
        if self.is_test() {
            text += " It was chosen on other tasks than these.";
        } else if tried > 1 {
            let _ =
                write!(text, " It is the best of {tried} tried on these same runs; `--split test` looks at others.");
        }
        text
    }

    /// The answer if nothing was chosen on the dev tasks, or if the choice does not hold on these.
    fn not_upheld(&self, limit: &str) -> String {
        let Some(chosen) = self.tested() else {
            return format!("Nothing to ship: on the dev tasks no stack was safe at {limit}.");
        };
        let high = chosen.fes_rate().upper();
        let high = high.map_or_else(|| "an unknown share".to_owned(), |high| format!("{} %", digits(high)));
        format!(
            "`{}`, chosen on the dev tasks, does not hold on these: it may kill up to {high} of successes, and {limit} is \
             tolerated.",
            chosen.stack
        )
    }

    fn refusal(&self) -> String {
        let limit = percent(self.appetite.max_fes);
        if self.is_test() {
            return self.not_upheld(&limit);
        }
        if let Some(price) = self.appetite.lost_success_costs {
            let cost = self.shown.iter().all(|summary| summary.counted(Count::RunsWithCosts) == 0);
            return if cost {
                "Nothing can be said in dollars: no run has a cost. `--price FILE` computes it from tokens.".to_owned()
            } else {
                format!(
                    "None of these {} is shown to pay at ${} for a lost success.",
                    self.summaries.len(),
                    dollars(price)
                )
            };
        }
        let tried: Vec<&&Summary> = self.shown.iter().chain(&self.folded).collect();
        let Some(first) = tried.first() else {
            return match (self.idle.len(), self.unread.len()) {
                (_, 0) => {
                    "None of these stacks acted on any run: there is nothing to ship, and nothing to fear.".to_owned()
                }
                (0, _) => {
                    "None of these stacks can be judged on these recordings: their rules need what is not recorded."
                        .to_owned()
                }
                _ => "None of these stacks acted on any run it could be judged on.".to_owned(),
            };
        };
        if is_safe(first, self.appetite.max_fes) {
            return format!(
                "Nothing to ship: `{}` is safe at {limit}, and saves nothing that these runs show.",
                first.stack
            );
        }
        let rate = first.fes_rate();
        let nearest = match rate.upper() {
            Some(_) if rate.lower().is_some_and(|low| low > self.appetite.max_fes) => {
                format!("kills at least {} % of successes", digits(rate.lower().unwrap_or_default()))
            }
            Some(high) => format!("may kill up to {} % of successes", digits(high)),
            None => "has been tried on too few tasks to say".to_owned(),
        };
        match tried.len() {
            1 => format!("`{}` cannot be shipped at {limit}: it {nearest}.", first.stack),
            n => format!("None of these {n} can be shipped at {limit}: `{}` comes nearest and {nearest}.", first.stack),
        }
    }

    /// A stack with a suite or model that does far worse than the average: the stack to ship, else the first such
    /// stack in the table.
    fn pooling(&self) -> Option<WorseStratum> {
        let mut candidates = self.ship().into_iter().chain(self.shown.iter().copied());
        candidates.find_map(|summary| self.strata.stratum(&summary.stack))
    }

    /// The lines below the table: the letters of the unknown column, and the stacks that are not in the table.
    pub fn below(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let any = |count: Count| self.shown.iter().any(|summary| summary.counted(count) > 0);
        let letters: Vec<&str> = [
            (Count::NotEvaluableRuns, "r: a rule could not be read"),
            (Count::Diverged, "d: the stack warned, asked or refused, and what follows is not recorded"),
            (Count::UnlabelledRuns, "u: nobody graded the run"),
        ]
        .into_iter()
        .filter_map(|(count, words)| any(count).then_some(words))
        .collect();
        if !letters.is_empty() && !self.is_ungraded() {
            lines.push(format!("unknown, of all runs; {}", letters.join("; ")));
        }
        if let Some(worse) = self.pooling().filter(|worse| self.ship().is_none_or(|ship| ship.stack != worse.stack)) {
            lines.push(format!("pooled: `{}` {}; see strata.csv", worse.stack, apart(&worse)));
        }
        if !self.folded.is_empty() {
            lines.push(format!(
                "{} more stacks are worth less: {}; `--all` shows them",
                self.folded.len(),
                names(&self.folded)
            ));
        }
        if !self.idle.is_empty() {
            lines.push(format!("never acted: {}", names(&self.idle)));
        }
        for summary in self.unread.iter().take(NAMED) {
            lines.push(not_judged(summary, self.rows));
        }
        if self.unread.len() > NAMED {
            lines.push(format!(
                "not judged either: {}; `not_evaluable` in rows.csv says why",
                names(&self.unread[NAMED..])
            ));
        }
        lines
    }
}

/// Formats `kills 21 % of successes on airline, gpt-5, and 0.3 % over all`; `may kill` if it is known only within
/// bounds.
fn apart(worse: &WorseStratum) -> String {
    let named = [worse.suite.as_deref(), worse.model.as_deref()];
    let named = named.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let rate = |range: &RangeEstimate| range.high.value.map(digits).unwrap_or_default();
    format!(
        "{} {} % of successes on {}, and {} % over all",
        if worse.fes_rate.is_point() { "kills" } else { "may kill" },
        rate(&worse.fes_rate),
        if named.is_empty() { "runs without suite and model" } else { &named },
        rate(&worse.pooled),
    )
}

/// Formats dollars with as many digits as a reader needs.
fn dollars(amount: f64) -> String {
    let digits = if amount.abs() >= 100.0 {
        0
    } else if amount.abs() >= 1.0 {
        2
    } else {
        4
    };
    format!("{amount:.digits$}")
}

fn is_safe(summary: &Summary, max_fes: f64) -> bool {
    summary.fes_rate().upper().is_some_and(|high| high <= max_fes)
}

fn names(summaries: &[&Summary]) -> String {
    let named: Vec<String> = summaries.iter().take(NAMED).map(|summary| format!("`{}`", summary.stack)).collect();
    let more = summaries.len().saturating_sub(NAMED);
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { join(&named) }
}

/// What a stack's rules could not read, most frequent first, in words.
pub(super) fn lacks(summary: &Summary, rows: &Rows) -> String {
    let mut lacks: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows.of_stack(&summary.stack) {
        for part in row.not_evaluable().split("; ").filter(|part| !part.is_empty()) {
            *lacks.entry(part).or_default() += 1;
        }
    }
    let mut lacks: Vec<(&str, u64)> = lacks.into_iter().collect();
    lacks.sort_by_key(|(part, runs)| (std::cmp::Reverse(*runs), *part));
    let more = lacks.len().saturating_sub(2);
    let mut text: Vec<String> = lacks.iter().take(2).map(|(part, _)| (*part).to_owned()).collect();
    if more > 0 {
        text.push(format!("{more} more"));
    }
    text.join("; ")
}

/// What a stack lacks on every run, and what is known about it anyway.
fn not_judged(summary: &Summary, rows: &Rows) -> String {
    let bound = summary
        .estimates
        .fes_rate_all
        .bounds()
        .filter(|_| rows.of_stack(&summary.stack).any(|row| row.outcome() == Outcome::Success));
    let known = bound.filter(|bound| bound.width() < 1.0).map_or_else(String::new, |bound| {
        format!("; it kills between {} and {} % of successes", digits(bound.low), digits(bound.high))
    });
    format!("not judged: `{}` ({}){known}", summary.stack, lacks(summary, rows))
}
