//! Sums, shares and prices in a unit.

use super::list::MetricList;
use super::{Measure, Measured, Needs, Shown, Summary, Unit};
use crate::aggregate::sums::Sum;
use crate::verdict::Verdict;

/// Sums in a unit.
pub(super) fn amounts(list: &mut MetricList, unit: Unit) {
    use Needs::{Outcome, Stop};
    let words = unit.words();
    let known = move |s: &Summary| Measured::count(s.counted(unit.known_runs()));
    let meaning =
        format!("Runs of which the {words} are known, recorded and to the stop; the sums below are over these.");
    list.push(&format!("{}_runs", unit.name()), known, Measure::Runs, Needs::Nothing, &meaning);
    let mut amount = |name: &str, sum: fn(Unit) -> Sum, of: fn(Verdict) -> bool, needs, meaning: &str| {
        let name = format!("{}_{name}", unit.name());
        let read = move |s: &Summary| Measured::plain(s.amount(sum, unit, of));
        let metric = list.push(&name, read, Measure::Amount(unit), needs, meaning);
        metric.unit = Some(unit);
    };
    amount("recorded", Sum::Recorded, |_| true, Needs::Nothing, &format!("Recorded {words}."));
    amount("spent", Sum::AtStop, |_| true, Stop, &format!("Spent {words}, up to the stops."));
    amount(
        "spent_less",
        Sum::Saved,
        |_| true,
        Stop,
        &format!("Not spent because of the stops, whatever became of the runs, in {words}."),
    );
    amount(
        "saved_on_failures",
        Sum::Saved,
        |verdict| matches!(verdict, Verdict::TrueStop | Verdict::Rescued),
        Outcome,
        &format!("The part of it saved on failed runs, in {words}."),
    );
    amount(
        "saved_after_success",
        Sum::Saved,
        |verdict| verdict == Verdict::GoodTrim,
        Outcome,
        &format!("The part saved after a success was secured, in {words}."),
    );
    amount(
        "forfeited",
        Sum::Saved,
        Verdict::is_fes,
        Outcome,
        &format!("The part that killed successes would still have spent: not a saving, in {words}."),
    );
    amount(
        "saved_ungraded",
        Sum::Saved,
        |verdict| verdict == Verdict::Unlabelled,
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
