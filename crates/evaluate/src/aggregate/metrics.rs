//! Every number of a summary, declared once: its name, its unit, on which runs it is known, over what it is taken, and
//! what it means. The tables, the gates and the documentation are made from this list.

use std::sync::LazyLock;

use super::{Count, Savings, Summary, Unit};
use crate::stats::labels::Correction;
use crate::stats::{BoundEstimate, Estimate, Interval, Method, RangeEstimate, Warning};
use crate::verdict::Verdict;

/// What a metric counts in, and which values it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Runs.
    Runs,
    /// Tasks.
    Tasks,
    /// A share, from 0 to 1.
    Share,
    /// A share of an amount, at most 1. Below 0 if more was spent: a forced last answer may cost more than the stop saved.
    SavedShare,
    /// One number over another, from 0.
    Ratio,
    /// The probability of so large a difference by chance, from 0 to 1.
    Probability,
    /// An amount, from 0.
    Amount(Unit),
    /// An amount that may be below 0.
    Balance(Unit),
    /// Milliseconds, from 0.
    Milliseconds,
    /// A number without a unit, of any size.
    Number,
}

impl Measure {
    /// The smallest and the largest possible value; `None` if there is no limit.
    pub fn range(self) -> (Option<f64>, Option<f64>) {
        match self {
            Self::Share | Self::Probability => (Some(0.0), Some(1.0)),
            Self::SavedShare => (None, Some(1.0)),
            Self::Number | Self::Balance(_) => (None, None),
            Self::Runs | Self::Tasks | Self::Ratio | Self::Amount(_) | Self::Milliseconds => (Some(0.0), None),
        }
    }

    /// The unit in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Tasks => "tasks",
            Self::Share | Self::SavedShare => "share",
            Self::Ratio => "ratio",
            Self::Probability => "probability",
            Self::Amount(unit) | Self::Balance(unit) => unit.words(),
            Self::Milliseconds => "milliseconds",
            Self::Number => "",
        }
    }

    /// Whether it is counted in whole numbers.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Runs | Self::Tasks)
    }
}

/// What must be known about a run for a metric to be known on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: the number is about the recording, or holds for every unknown.
    Nothing,
    /// Every rule can be evaluated, and the run did not leave the recorded path.
    Stop,
    /// The same, and an outcome.
    Outcome,
}

/// Where the summary has a metric; `estimates.csv` has every estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Its value.
    Value,
    /// Its value and the ends of its interval.
    Interval,
    /// Not in the summary.
    No,
}

/// The value of a metric on one group of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The value; `None` if it is undefined or known only as a range.
    pub value: Option<f64>,
    /// Lower end of the interval, which covers every value the recordings allow.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The lowest value the recordings allow.
    pub min: Option<f64>,
    /// The highest value the recordings allow.
    pub max: Option<f64>,
    /// How it was estimated; `None` for a count or a sum.
    pub made: Option<Made>,
}

/// How an estimate was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Made {
    /// Number of runs (for a comparison: of tasks).
    pub n: u64,
    /// The number of independent runs that would say as much, if it is known.
    pub effective_n: Option<f64>,
    /// How the interval was computed.
    pub method: Method,
    /// Why to read it with care.
    pub warning: Option<Warning>,
    /// How it was corrected for errors of the labels, if it was.
    pub correction: Option<Correction>,
}

impl Measured {
    /// A count or a sum.
    fn plain(value: Option<f64>) -> Self {
        let value = value.filter(|value| value.is_finite());
        Self { value, low: None, high: None, min: value, max: value, made: None }
    }

    fn count(count: u64) -> Self {
        Self::plain(Some(count as f64))
    }

    /// One end of it, or its value.
    pub fn part(&self, part: MetricPart) -> Option<f64> {
        match part {
            MetricPart::Value => self.value,
            MetricPart::Low => self.low,
            MetricPart::High => self.high,
            MetricPart::Min => self.min,
            MetricPart::Max => self.max,
        }
    }
}

impl From<&Estimate> for Measured {
    fn from(estimate: &Estimate) -> Self {
        Self::from(&RangeEstimate::exactly(*estimate))
    }
}

impl From<&RangeEstimate> for Measured {
    fn from(range: &RangeEstimate) -> Self {
        Self {
            value: range.value(),
            low: range.lower(),
            high: range.upper(),
            min: range.low.value,
            max: range.high.value,
            made: Some(Made {
                n: range.n(),
                effective_n: range.high.effective_n,
                method: range.method(),
                warning: range.warning(),
                correction: None,
            }),
        }
    }
}

impl From<&BoundEstimate> for Measured {
    fn from(bound: &BoundEstimate) -> Self {
        let low = |interval: Option<Interval>| interval.map(|interval| interval.low);
        let high = |interval: Option<Interval>| interval.map(|interval| interval.high);
        let (min, max) = (low(bound.bounds), high(bound.bounds));
        Self {
            value: min.filter(|_| min == max),
            low: low(bound.interval),
            high: high(bound.interval),
            min,
            max,
            made: Some(Made {
                n: bound.n,
                effective_n: None,
                method: bound.method,
                warning: bound.warning,
                correction: None,
            }),
        }
    }
}

/// The value of a metric, or one end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricPart {
    /// The value itself.
    Value,
    /// Lower end of the interval.
    Low,
    /// Upper end of the interval.
    High,
    /// The lowest value the recordings allow.
    Min,
    /// The highest value the recordings allow.
    Max,
}

impl MetricPart {
    const ENDS: [Self; 4] = [Self::Low, Self::High, Self::Min, Self::Max];

    /// What it adds to the name of the metric.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Value => "",
            Self::Low => "_low",
            Self::High => "_high",
            Self::Min => "_min",
            Self::Max => "_max",
        }
    }
}

/// A number of a summary.
#[derive(Clone, Debug)]
pub struct SummaryMetric {
    /// Its name.
    pub name: String,
    /// What it was called before; empty if it had the same name.
    former: String,
    /// What it counts in.
    pub measure: Measure,
    /// What must be known about a run for it to be known there.
    pub needs: Needs,
    /// The unit a run has to record for it to be known there.
    pub unit: Option<Unit>,
    /// What an estimate is taken over; empty for a count or a sum.
    pub of: String,
    /// What it means.
    pub meaning: String,
    /// Where the summary has it.
    pub shown: Shown,
    read: Read,
}

#[derive(Clone, Copy, Debug)]
enum Read {
    Plain(fn(&Summary) -> Measured),
    InUnit(fn(&Summary, Unit) -> Measured, Unit),
    Verdict(Verdict),
    Count(Count),
}

impl SummaryMetric {
    /// Its value in a summary.
    pub fn of_summary(&self, summary: &Summary) -> Measured {
        match self.read {
            Read::Plain(read) => read(summary),
            Read::InUnit(read, unit) => read(summary, unit),
            Read::Verdict(verdict) => Measured::count(summary.count(verdict)),
            Read::Count(count) => Measured::count(summary.counted(count)),
        }
    }

    /// Whether it is an estimate, with an interval.
    pub fn is_estimate(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether it is the share of some runs, each of which either counts or does not.
    pub fn is_rate(&self) -> bool {
        self.measure == Measure::Share && self.is_estimate()
    }
}

/// All metrics, in the order of the tables.
pub fn metrics() -> &'static [SummaryMetric] {
    static ALL: LazyLock<Vec<SummaryMetric>> = LazyLock::new(all);
    &ALL
}

/// A metric or one end of it, by name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The metric.
    pub metric: &'static SummaryMetric,
    /// Which end of it.
    pub part: MetricPart,
    /// The name that was written, if it is one of earlier versions.
    pub wrote: Option<String>,
}

impl Named {
    /// Its name now.
    pub fn name(&self) -> String {
        format!("{}{}", self.metric.name, self.part.ending())
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// The metric, or the end of one, with that name. Names of earlier versions are still read.
pub fn named(name: &str) -> Option<Named> {
    let former = || former_bound(name).or_else(|| find(name, |metric| &metric.former));
    let now = find(name, |metric| &metric.name).map(|(metric, part)| Named { metric, part, wrote: None });
    now.or_else(|| former().map(|(metric, part)| Named { metric, part, wrote: Some(name.to_owned()) }))
}

/// The metric that is called `name` (by `called`), or `name` without the ending of one of its ends.
fn find(name: &str, called: fn(&SummaryMetric) -> &String) -> Option<(&'static SummaryMetric, MetricPart)> {
    let by = |wanted: &str| metrics().iter().find(|metric| !wanted.is_empty() && called(metric) == wanted);
    by(name).map(|metric| (metric, MetricPart::Value)).or_else(|| {
        MetricPart::ENDS.into_iter().find_map(|part| {
            let metric = by(name.strip_suffix(part.ending())?)?;
            metric.is_estimate().then_some((metric, part))
        })
    })
}

/// Bounds had names of their own: `success_bound_low` was the lowest value, `success_bound_ci_low` the end of its interval.
fn former_bound(name: &str) -> Option<(&'static SummaryMetric, MetricPart)> {
    ["success", "retained"].into_iter().find_map(|bound| {
        let part = match name.strip_prefix(bound)?.strip_prefix("_bound")? {
            "_low" => MetricPart::Min,
            "_high" => MetricPart::Max,
            "_ci_low" => MetricPart::Low,
            "_ci_high" => MetricPart::High,
            _ => return None,
        };
        let metric = metrics().iter().find(|metric| metric.name == format!("{bound}_rate"))?;
        Some((metric, part))
    })
}

/// Every name that [`named`] knows, without those of earlier versions.
pub fn metric_names() -> impl Iterator<Item = String> {
    metrics().iter().flat_map(|metric| {
        let ends = MetricPart::ENDS.into_iter().filter(|_| metric.is_estimate());
        let parts = std::iter::once(MetricPart::Value).chain(ends);
        parts.map(|part| format!("{}{}", metric.name, part.ending()))
    })
}

/// Version of the columns of `summary.csv`, `strata.csv` and `estimates.csv`.
pub const SUMMARY_VERSION: u32 = 2;

/// Builds the list.
#[derive(Default)]
struct List(Vec<SummaryMetric>);

impl List {
    fn push(&mut self, name: &str, read: Read, measure: Measure, needs: Needs, meaning: &str) -> &mut SummaryMetric {
        let (name, former, of, meaning) = (name.to_owned(), String::new(), String::new(), meaning.to_owned());
        self.0.push(SummaryMetric { name, former, measure, needs, unit: None, of, meaning, shown: Shown::Value, read });
        self.0.last_mut().expect("it was just pushed")
    }
}

impl SummaryMetric {
    fn formerly(&mut self, name: &str) -> &mut Self {
        name.clone_into(&mut self.former);
        self
    }

    /// It is an estimate over this; the summary has it with its interval, or not at all.
    fn over(&mut self, of: &str, shown: Shown) -> &mut Self {
        of.clone_into(&mut self.of);
        self.shown = shown;
        self
    }
}

fn all() -> Vec<SummaryMetric> {
    let mut list = List::default();
    counts(&mut list);
    rates(&mut list);
    for unit in Unit::ALL {
        amounts(&mut list, unit);
        ratios(&mut list, unit);
    }
    let recorded = "Milliseconds recorded, over the runs that record them.";
    list.push(
        "ms_recorded",
        Read::Plain(|s| Measured::plain(s.milliseconds()[0])),
        Measure::Milliseconds,
        Needs::Nothing,
        recorded,
    );
    let at_stop = "Milliseconds elapsed by the stops, over the runs that record them.";
    list.push(
        "ms_at_stop",
        Read::Plain(|s| Measured::plain(s.milliseconds()[1])),
        Measure::Milliseconds,
        Needs::Stop,
        at_stop,
    );
    list.0
}

/// How many runs.
fn counts(list: &mut List) {
    use Needs::{Nothing, Outcome, Stop};
    let runs = Measure::Runs;
    list.push("runs", Read::Plain(|s| Measured::count(s.runs)), runs, Nothing, "Runs.");
    list.push(
        "tasks",
        Read::Plain(|s| Measured::count(s.tasks)),
        Measure::Tasks,
        Nothing,
        "Distinct tasks; a run without a task is one of its own.",
    );
    list.push(
        "stops",
        Read::Plain(|s| Measured::count(s.stops())),
        runs,
        Stop,
        "Runs that were stopped before their recording ends.",
    );
    for verdict in Verdict::ALL {
        let needs = if verdict == Verdict::Unlabelled { Nothing } else { Outcome };
        list.push(verdict.name(), Read::Verdict(verdict), runs, needs, verdict_meaning(verdict));
    }
    for (count, needs, meaning) in [
        (Count::Stopped, Stop, "Runs that were certainly stopped early."),
        (
            Count::Diverged,
            Nothing,
            "Runs on which the stack left the recorded path: it warned, asked or refused a call.",
        ),
        (Count::Censored, Nothing, "Runs whose recording ends before the stack was done."),
        (Count::NotEvaluableRuns, Nothing, "Runs that lack what one of the stack's rules reads."),
        (Count::UnlabelledRuns, Nothing, "Runs without an outcome."),
        (Count::Judged, Nothing, "Graded runs on which all of the stack's rules could be evaluated."),
        (Count::JudgedSuccesses, Nothing, "Successes among the judged runs."),
        (Count::JudgedFailures, Nothing, "Failures among the judged runs."),
        (Count::Killed, Outcome, "Judged successes that were certainly lost."),
        (Count::KilledAtMost, Outcome, "Judged successes that were or may have been lost."),
        (Count::RunsWithTokens, Nothing, "Runs that record their tokens."),
    ] {
        list.push(count.name(), Read::Count(count), runs, needs, meaning);
    }
    let unknown = "Share of the runs of which something that is counted is not known.";
    list.push(
        "unknown_share",
        Read::Plain(|s| Measured::plain(Some(s.unknown_share()))),
        Measure::Share,
        Nothing,
        unknown,
    );
}

/// Shares of runs.
fn rates(list: &mut List) {
    use Needs::{Nothing, Outcome, Stop};
    let no = Shown::No;
    let mut rate = |name: &str, former: &str, read, needs, of: &str, shown, meaning: &str| {
        list.push(name, Read::Plain(read), Measure::Share, needs, meaning).formerly(former).over(of, shown);
    };
    rate(
        "killed_rate",
        "fes_rate",
        |s| (&s.estimates.fes_rate).into(),
        Outcome,
        "judged successes",
        Shown::Interval,
        "Share of the successes killed: stopped before they were secured. A success of which nothing tells when it was secured counts as killed by any earlier stop.",
    );
    rate(
        "killed_rate_all",
        "fes_rate_all",
        |s| (&s.estimates.fes_rate_all).into(),
        Nothing,
        "successes and ungraded runs",
        no,
        "The same over all runs that are or may be successes, every unknown at its lowest and highest.",
    );
    rate(
        "killed_per_stop",
        "fes_per_stop",
        |s| (&s.estimates.fes_per_stop).into(),
        Outcome,
        "judged stops",
        no,
        "Successes killed, as a share of the stops.",
    );
    rate(
        "retention",
        "",
        |s| (&s.estimates.retention).into(),
        Outcome,
        "judged successes",
        no,
        "Share of the successes kept: 1 less `killed_rate`.",
    );
    rate(
        "missed_stop_rate",
        "",
        |s| (&s.estimates.missed_stop_rate).into(),
        Outcome,
        "judged failures",
        no,
        "Share of the failures that were not stopped early.",
    );
    rate(
        "missed_stop_rate_capped",
        "",
        |s| (&s.estimates.missed_stop_rate_capped).into(),
        Outcome,
        "judged failures cut off by a cap",
        no,
        "The same, of the failures that ended at their own cap, by time-out or by force.",
    );
    rate(
        "failures_stopped_rate",
        "stop_recall",
        |s| (&s.estimates.stop_recall).into(),
        Outcome,
        "judged failures",
        Shown::Interval,
        "Share of the failures stopped early.",
    );
    rate(
        "stop_rate",
        "",
        |s| (&s.estimates.stop_rate).into(),
        Stop,
        "runs whose rules could be evaluated",
        no,
        "Share of the runs stopped early, graded or not.",
    );
    rate(
        "unsupported_share",
        "",
        |s| (&s.estimates.unsupported_share).into(),
        Stop,
        "runs",
        no,
        "Share of the runs that ended at their own cap before the stack stopped: nothing supports a claim about them.",
    );
    rate(
        "unidentified_share",
        "",
        |s| (&s.estimates.unidentified_share).into(),
        Nothing,
        "runs",
        no,
        "Share of the runs whose outcome under the stack cannot be told from the recording.",
    );
    further_rates(list);
}

/// Shares of runs that no column of the first table shows.
fn further_rates(list: &mut List) {
    use Needs::{Nothing, Outcome};
    let no = Shown::No;
    let mut rate = |name: &str, former: &str, read, needs, of: &str, shown, meaning: &str| {
        list.push(name, Read::Plain(read), Measure::Share, needs, meaning).formerly(former).over(of, shown);
    };
    rate(
        "success_rate",
        "",
        |s| (&s.outcomes.success).into(),
        Nothing,
        "runs",
        no,
        "Share of the runs that succeed under the stack; an outcome that the recording does not tell may be either.",
    );
    rate(
        "retained_rate",
        "",
        |s| (&s.outcomes.retained).into(),
        Nothing,
        "successes",
        no,
        "Share of the recorded successes that remain successes, judged or not.",
    );
    rate(
        "killed_rate_corrected",
        "fes_rate_corrected",
        corrected,
        Outcome,
        "true successes",
        no,
        "`killed_rate` corrected for errors of the labels (`--label-sensitivity`, `--label-specificity`).",
    );
    let tipping = list.push("tipping_point", Read::Plain(|s| Measured::plain(s.outcomes.tipping_point)), Measure::Number, Nothing,
        "Share of the runs of unknown outcome that would have to succeed for the stack to break even with the recordings.");
    tipping.shown = no;
}

fn corrected(summary: &Summary) -> Measured {
    let Some(corrected) = &summary.corrected else { return Measured::plain(None) };
    let measured = Measured::from(&corrected.estimate);
    Measured { made: measured.made.map(|made| Made { correction: Some(corrected.correction), ..made }), ..measured }
}

/// What a verdict says of a run.
fn verdict_meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::FalseEarlyStop => "Successes stopped before they were secured: killed.",
        Verdict::UnverifiedFalseEarlyStop => {
            "Successes stopped early, of which nothing tells when they were secured: they count as killed."
        }
        Verdict::GoodTrim => "Successes stopped after they were secured.",
        Verdict::TrueStop => "Failures stopped early.",
        Verdict::Rescued => {
            "Failures that had succeeded where they were stopped, and were spoilt later in the recording."
        }
        Verdict::MissedStop => "Failures that were not stopped.",
        Verdict::LostSuccess => "Runs that had succeeded, were spoilt later, and were not stopped in between.",
        Verdict::CleanPass => "Successes that were not stopped early.",
        Verdict::Unlabelled => "Runs without an outcome.",
    }
}

/// Sums in a unit.
fn amounts(list: &mut List, unit: Unit) {
    use Needs::{Outcome, Stop};
    let words = unit.words();
    let known = Read::InUnit(|s, unit| Measured::count(s.savings_in(unit).map_or(0, |savings| savings.runs)), unit);
    let meaning =
        format!("Runs of which the {words} are known, recorded and to the stop; the sums below are over these.");
    list.push(&format!("{}_runs", unit.name()), known, Measure::Runs, Needs::Nothing, &meaning);
    let mut sum = |name: &str, former: &str, read: fn(&Summary, Unit) -> Measured, needs, meaning: &str| {
        let name = format!("{}_{name}", unit.name());
        let metric = list.push(&name, Read::InUnit(read, unit), Measure::Amount(unit), needs, meaning);
        metric.unit = Some(unit);
        if !former.is_empty() {
            metric.formerly(&format!("{}_{former}", unit.name()));
        }
    };
    sum(
        "recorded",
        "",
        |s, unit| amount(s, unit, |savings| savings.recorded),
        Needs::Nothing,
        &format!("Recorded {words}."),
    );
    sum(
        "spent",
        "at_stop",
        |s, unit| amount(s, unit, |savings| savings.at_stop),
        Stop,
        &format!("Spent {words}, up to the stops."),
    );
    sum(
        "spent_less",
        "saved",
        |s, unit| amount(s, unit, |savings| savings.saved),
        Stop,
        &format!("Not spent because of the stops, whatever became of the runs, in {words}."),
    );
    sum(
        "saved_on_failures",
        "",
        |s, unit| amount(s, unit, |savings| savings.on_failures),
        Outcome,
        &format!("The part of it saved on failed runs, in {words}."),
    );
    sum(
        "saved_after_success",
        "",
        |s, unit| amount(s, unit, |savings| savings.after_success),
        Outcome,
        &format!("The part saved after a success was secured, in {words}."),
    );
    sum(
        "forfeited",
        "",
        |s, unit| amount(s, unit, |savings| savings.forfeited),
        Outcome,
        &format!("The part that killed successes would still have spent: not a saving, in {words}."),
    );
    sum(
        "saved_ungraded",
        "saved_unlabelled",
        |s, unit| amount(s, unit, |savings| savings.unlabelled),
        Stop,
        &format!("The part on runs without an outcome, in {words}."),
    );
}

fn amount(summary: &Summary, unit: Unit, value: fn(&Savings) -> f64) -> Measured {
    Measured::plain(summary.savings_in(unit).map(value))
}

/// Shares and prices in a unit.
fn ratios(list: &mut List, unit: Unit) {
    use Needs::{Outcome, Stop};
    let words = unit.words();
    let recorded = format!("recorded {words}");
    let mut push = |name: &str,
                    former: &str,
                    read: fn(&Summary, Unit) -> Measured,
                    measure,
                    needs,
                    of: &str,
                    shown,
                    meaning: &str| {
        let metric = list.push(&format!("{}_{name}", unit.name()), Read::InUnit(read, unit), measure, needs, meaning);
        metric.unit = Some(unit);
        metric.over(of, shown);
        if !former.is_empty() {
            metric.formerly(&format!("{}_{former}", unit.name()));
        }
    };
    push(
        "saved_share",
        "useful_saved_ratio",
        |s, unit| (&s.ratios_in(unit).useful).into(),
        Measure::SavedShare,
        Outcome,
        &recorded,
        Shown::Interval,
        &format!("Share of the {words} saved on failures and after success."),
    );
    push(
        "spent_less_share",
        "saved_ratio",
        |s, unit| (&s.ratios_in(unit).saved).into(),
        Measure::SavedShare,
        Stop,
        &recorded,
        Shown::No,
        &format!("Share of the {words} not spent, whatever became of the runs."),
    );
    push(
        "per_success",
        "",
        |s, unit| (&s.ratios_in(unit).per_success).into(),
        Measure::Amount(unit),
        Outcome,
        "successes kept",
        Shown::No,
        &format!("Spent for each success kept, in {words}."),
    );
    push(
        "cost_of_success",
        "",
        |s, unit| (&s.ratios_in(unit).cost_of_success.ratio).into(),
        Measure::Ratio,
        Outcome,
        "the same without stopping",
        Shown::Value,
        &format!(
            "Spent for each success kept, over the same without stopping, in {words}: 0.85 means that a success costs 15 % less."
        ),
    );
    push(
        "break_even",
        "",
        |s, unit| (&s.ratios_in(unit).break_even).into(),
        Measure::Balance(unit),
        Outcome,
        "successes killed",
        Shown::No,
        &format!("The price of a lost success at which stopping breaks even, in {words}."),
    );
    push(
        "net_benefit",
        "",
        |s, unit| {
            let priced = s.net_benefit.as_ref().filter(|benefit| benefit.price.unit == unit);
            priced.map_or(Measured::plain(None), |benefit| (&benefit.a_run).into())
        },
        Measure::Balance(unit),
        Outcome,
        "judged runs",
        Shown::No,
        &format!("What stopping is worth per run at `--lost-success-costs`, in {words}."),
    );
    let metric = list.push(
        &format!("{}_cost_of_success_p", unit.name()),
        Read::InUnit(|s, unit| Measured::plain(s.ratios_in(unit).cost_of_success.p), unit),
        Measure::Probability,
        Outcome,
        &format!("Probability of so large a change of `{}_cost_of_success` by chance.", unit.name()),
    );
    metric.unit = Some(unit);
    metric.shown = Shown::No;
}
