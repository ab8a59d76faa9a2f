//! Sums, shares and prices in a unit.

use super::list::MetricList;
use super::{Measure, Measured, Needs, Shown, Summary, Unit};
use crate::aggregate::Savings;

/// Sums in a unit.
pub(super) fn amounts(list: &mut MetricList, unit: Unit) {
    use Needs::{Outcome, Stop};
    let words = unit.words();
    let known = move |s: &Summary| Measured::count(s.savings_in(unit).map_or(0, |savings| savings.runs));
    let meaning =
        format!("Runs of which the {words} are known, recorded and to the stop; the sums below are over these.");
    list.push(&format!("{}_runs", unit.name()), known, Measure::Runs, Needs::Nothing, &meaning);
    let mut sum = |name: &str, read: fn(&Savings) -> f64, needs, meaning: &str| {
        let name = format!("{}_{name}", unit.name());
        let sum = move |s: &Summary| Measured::plain(s.savings_in(unit).as_ref().map(read));
        let metric = list.push(&name, sum, Measure::Amount(unit), needs, meaning);
        metric.unit = Some(unit);
    };
    sum("recorded", |savings| savings.recorded, Needs::Nothing, &format!("Recorded {words}."));
    sum("spent", |savings| savings.at_stop, Stop, &format!("Spent {words}, up to the stops."));
    sum(
        "spent_less",
        |savings| savings.saved,
        Stop,
        &format!("Not spent because of the stops, whatever became of the runs, in {words}."),
    );
    sum(
        "saved_on_failures",
        |savings| savings.on_failures,
        Outcome,
        &format!("The part of it saved on failed runs, in {words}."),
    );
    sum(
        "saved_after_success",
        |savings| savings.after_success,
        Outcome,
        &format!("The part saved after a success was secured, in {words}."),
    );
    sum(
        "forfeited",
        |savings| savings.forfeited,
        Outcome,
        &format!("The part that killed successes would still have spent: not a saving, in {words}."),
    );
    sum(
        "saved_ungraded",
        |savings| savings.unlabelled,
        Stop,
        &format!("The part on runs without an outcome, in {words}."),
    );
}

/// Shares and prices in a unit.
pub(super) fn ratios(list: &mut MetricList, unit: Unit) {
    use Needs::{Outcome, Stop};
    let words = unit.words();
    let recorded = format!("recorded {words}");
    let mut push =
        |name: &str, read: fn(&Summary, Unit) -> Measured, measure, needs, of: &str, shown, meaning: &str| {
            let metric = list.push(&format!("{}_{name}", unit.name()), move |s| read(s, unit), measure, needs, meaning);
            metric.unit = Some(unit);
            metric.over(of, shown);
        };
    push(
        "saved_share",
        |s, unit| (&s.ratios_in(unit).useful).into(),
        Measure::SavedShare,
        Outcome,
        &recorded,
        Shown::Interval,
        &format!("Share of the {words} saved on failures and after success."),
    );
    push(
        "spent_less_share",
        |s, unit| (&s.ratios_in(unit).saved).into(),
        Measure::SavedShare,
        Stop,
        &recorded,
        Shown::No,
        &format!("Share of the {words} not spent, whatever became of the runs."),
    );
    push(
        "per_success",
        |s, unit| (&s.ratios_in(unit).per_success).into(),
        Measure::Amount(unit),
        Outcome,
        "successes kept",
        Shown::No,
        &format!("Spent for each success kept, in {words}."),
    );
    push(
        "cost_of_success",
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
        |s, unit| (&s.ratios_in(unit).break_even).into(),
        Measure::Balance(unit),
        Outcome,
        "successes killed",
        Shown::No,
        &format!("The price of a lost success at which stopping breaks even, in {words}."),
    );
    push(
        "net_benefit",
        |s, unit| match &s.net_benefit {
            Some(benefit) if benefit.price.unit == unit => (&benefit.a_run).into(),
            _ => Measured::plain(None),
        },
        Measure::Balance(unit),
        Outcome,
        "judged runs",
        Shown::No,
        &format!("What stopping is worth per run at `--lost-success-costs`, in {words}."),
    );
    let metric = list.push(
        &format!("{}_cost_of_success_p", unit.name()),
        move |s| Measured::plain(s.ratios_in(unit).cost_of_success.p),
        Measure::Probability,
        Outcome,
        &format!("Probability of so large a change of `{}_cost_of_success` by chance.", unit.name()),
    );
    metric.unit = Some(unit);
    metric.shown = Shown::No;
}
