//! The verdict in a few sentences.

use super::{apart, ends, known_on, missing};
use crate::aggregate::{Candidate, NetBenefit, PassedOver, Picked, Refused, SavingRatios, TieBreak, Unit};
use crate::answers::verdict::{ChosenOn, CompareVerdict, Conclusion, Fault, KillPromise, NotWorth, Ship, Tie, WhyNot};
use crate::stats::{Estimate, Interval};
use crate::words::{chosen_percent, digits, dollars, known_percent};

/// The verdict in a few sentences.
pub fn verdict(verdict: &CompareVerdict) -> String {
    let mut sentences = vec![conclusion(&verdict.conclusion)];
    sentences.extend(verdict.passed_over.as_ref().map(PassedOver::sentence));
    sentences.extend(verdict.picked.as_ref().map(Picked::sentence));
    sentences.join(" ")
}

fn conclusion(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::AsTuned(verdict) => verdict.clone(),
        Conclusion::Followed(followed) => super::followed::verdict(followed),
        Conclusion::NothingGraded => {
            "Nothing can be said about successes: no run has an outcome. `whenstop labels PATH --template labels.csv` \
             lists the runs to grade, in an order drawn at random."
                .to_owned()
        }
        Conclusion::NothingSucceeded => "Nothing can be said about the successes a stack kills: none of these runs \
                                         succeeded. Add runs that did."
            .to_owned(),
        Conclusion::NothingPriced => {
            "Nothing can be said in dollars: no run has a cost. `--price FILE` computes it from tokens.".to_owned()
        }
        Conclusion::NothingActed { unread: 0, .. } => {
            "None of these stacks acted on any run it could be judged on: there is nothing to ship, and what they would do \
             to longer runs is not known."
                .to_owned()
        }
        Conclusion::NothingActed { idle: 0, .. } => {
            "None of these stacks can be judged on half of these recordings: their rules need what is not recorded."
                .to_owned()
        }
        Conclusion::NothingActed { .. } => "None of these stacks acted on any run it could be judged on.".to_owned(),
        Conclusion::NothingNear { limit } => format!("Nothing to ship at {}.", chosen_percent(*limit)),
        Conclusion::Ship(ship) => to_ship(ship),
        Conclusion::NotUpheld { limit, chosen: None } => {
            format!("Nothing to ship: on the dev tasks no stack was safe at {} and worth it.", chosen_percent(*limit))
        }
        Conclusion::NotUpheld { limit, chosen: Some((stack, why)) } => {
            let limit = chosen_percent(*limit);
            let why = match why {
                WhyNot::NotWorth(_) => format!("it is safe at {limit}, but {}", why_not(why)),
                WhyNot::MayKill(..) => format!("{}, and {limit} is tolerated", why_not(why)),
                _ => why_not(why),
            };
            format!("`{stack}`, chosen on the dev tasks, does not hold on these: {why}.")
        }
        Conclusion::SafeOnly { limit, safe, tried, stack, why } => {
            let limit = chosen_percent(*limit);
            let best = match (tried, safe) {
                (0 | 1, _) => String::new(),
                (_, 1) => format!(", all that is safe at {limit},"),
                (_, safe) => format!(", the best of {safe} that are safe at {limit},"),
            };
            let found = match why {
                WhyNot::NotWorth(what) if matches!(what.fault, Fault::Dearer(_)) => "Safe, but dearer",
                _ => "Safe, but not shown to pay",
            };
            format!("{found}: `{stack}`{best} {}.", why_not(why))
        }
        Conclusion::Refused { limit, tried: 1, stack, why } => {
            format!("`{stack}` cannot be shipped at {}: {}.", chosen_percent(*limit), why_not(why))
        }
        Conclusion::Refused { limit, tried, stack, why } => format!(
            "None of these {tried} can be shipped at {}: `{stack}` comes nearest, but {}.",
            chosen_percent(*limit),
            why_not(why)
        ),
    }
}

fn to_ship(ship: &Ship) -> String {
    let (stack, promise, saved) = (&ship.stack, promise(&ship.promise), saved(&ship.savings));
    let first = if let Some((benefit, killed, successes)) = &ship.worth {
        format!(
            "Ship `{stack}`: at ${} for a lost success it is worth {} a run. It kills at most {promise}, {killed} of \
             {successes} here, and saves {saved}.",
            dollars(benefit.price.costs),
            worth(benefit),
        )
    } else {
        let cost = ship.savings.cost_of_success.sentence();
        let pays = break_even(&ship.savings);
        format!("Ship `{stack}`: it kills at most {promise}, saves {saved}{cost}.{pays}")
    };
    let mut sentences = vec![first];
    if ship.promise.of_all {
        sentences
            .push("What is saved goes by the labels as they are, without a correction for their errors.".to_owned());
    }
    let (judged, runs) = ship.judged;
    if judged < runs {
        sentences.push(format!("Judged on the {judged} of {runs} runs that record enough."));
    }
    if let Some(Tie { stack, by, other, own }) = &ship.tie {
        let as_good = if ship.worth.is_some() { "is worth as much" } else { "makes successes as cheap" };
        sentences.push(format!("`{stack}` {as_good}, within chance; {}.", passed_over(other, own, *by)));
    }
    if let Some(worse) = &ship.pooled {
        sentences.push(format!("But it {}: look at strata.csv first.", apart(worse)));
    }
    match ship.chosen_on {
        ChosenOn::OtherTasks => sentences.push("It was chosen on other tasks than these.".to_owned()),
        ChosenOn::TheseTasks => {
            let sentence = "The savings do not allow for the choice; `--split test` looks at other tasks.";
            sentences.push(sentence.to_owned());
        }
        ChosenOn::NoChoice => {}
    }
    sentences.join(" ")
}

/// Formats `4.6 % of a task's successes (95 %, as one of 8 tried)`.
fn promise(promise: &KillPromise) -> String {
    let limit = promise.limit;
    let most = match promise.most {
        None => "an unknown share".to_owned(),
        // Not in the words of the limit that it exceeds.
        Some(most) if most > limit && digits(most) == digits(limit) => format!("just over {}", chosen_percent(limit)),
        Some(most) => format!("{} %", digits(most)),
    };
    let best_of = match promise.best_of {
        Some(tried) => format!(", as one of {tried} tried"),
        None => String::new(),
    };
    let worst = if promise.at_worst { ", every unknown counted as killed" } else { "" };
    let of = if promise.of_all { "successes" } else { "a task's successes" };
    let confidence = chosen_percent(promise.confidence);
    format!("{most} of {of} ({confidence}{best_of}{worst})")
}

/// What would have helped a stack that may kill more than is tolerated: to be tried alone, or more tasks.
fn lacks(promise: &KillPromise, refused: &Refused) -> String {
    let limit = promise.limit;
    let alone = match refused.alone {
        Some(alone) if alone <= limit && promise.best_of.is_some() => {
            format!("; tried alone it would be {} %", digits(alone))
        }
        _ => String::new(),
    };
    alone + &more_tasks(refused.tasks_missing, "that it is safe")
}

/// Formats `26 % of the cost (20–33)`.
fn saved(savings: &SavingRatios) -> String {
    let share = known_percent(savings.useful.low.value);
    format!("{share} of the {}{}", savings.unit.noun(), ends(savings.useful.interval()))
}

/// Up to which price of a lost success the stack pays; empty if it is not known in dollars.
fn break_even(savings: &SavingRatios) -> String {
    let range = &savings.break_even;
    let (Unit::CostUsd, Some(price)) = (savings.unit, range.low.value) else { return String::new() };
    let interval = match range.interval() {
        Some(interval) if interval.low > 0.0 && interval.high < 30.0 * interval.low => {
            format!(" ({}–{})", dollars(interval.low), dollars(interval.high))
        }
        _ => String::new(),
    };
    format!(" It pays while a lost success costs less than ${}{interval}.", dollars(price))
}

fn why_not(why: &WhyNot) -> String {
    match why {
        WhyNot::KillsAtLeast(low) => format!("it kills at least {} % of a task's successes", digits(*low)),
        WhyNot::MayKill(most, refused) => format!("it may kill up to {}{}", promise(most), lacks(most, refused)),
        WhyNot::KillsInFewTasks(of_all) => {
            format!("it kills {} % of all successes, most of them in few tasks", digits(*of_all))
        }
        WhyNot::NoSuccess => "no task has a success".to_owned(),
        WhyNot::Unknown { known, needed, missing: lacks } => {
            format!("it is {}: {}", known_on(*known, *needed), missing(lacks))
        }
        WhyNot::NotWorth(what) => not_worth(what),
    }
}

fn not_worth(NotWorth { stops, runs, savings, fault, tasks_missing }: &NotWorth) -> String {
    let does = format!("stops {stops} of {runs} runs and saves {}", saved(savings));
    match fault {
        Fault::DoesNotPay(Some(benefit)) => {
            let price = dollars(benefit.price.costs);
            let more = more_tasks(*tasks_missing, "that it pays");
            format!("{does}: at ${price} for a lost success it is worth {} a run{more}", worth(benefit))
        }
        Fault::DoesNotPay(None) => format!("{does}, and what it is worth a run is not known"),
        Fault::Dearer(cost) => format!("{does}, and {}", dearer(cost.as_ref())),
        Fault::SavesNothing => {
            let more = more_tasks(*tasks_missing, "a saving of more than that");
            format!("{does}, which is not shown to be more than 1 %{more}")
        }
    }
}

/// A number of tasks that nobody runs: how many more there are says nothing.
const MANY_TASKS: u64 = 10_000;

/// Formats `; about 40 more tasks like these would show that it pays`; nothing if no number of tasks would.
pub fn more_tasks(missing: Option<u64>, what: &str) -> String {
    match missing {
        Some(more) if more > MANY_TASKS => format!("; more than 10,000 tasks like these are needed to show {what}"),
        Some(1) => format!("; about 1 more task like these would show {what}"),
        Some(more) => format!("; about {more} more tasks like these would show {what}"),
        None => String::new(),
    }
}

/// Why the one was passed over for the other, which is as good within chance.
pub fn passed_over(other: &Candidate, own: &Candidate, by: TieBreak) -> String {
    let killed = |candidate: &Candidate| candidate.killed.map(digits).unwrap_or_default();
    match by {
        TieBreak::Kills => format!("it kills {} %, this {} %", killed(other), killed(own)),
        TieBreak::Settings if other.hosts == 0 => "no framework has a setting for it".to_owned(),
        TieBreak::Settings if other.hosts == 1 => format!("1 framework has a setting for it, {} for this", own.hosts),
        TieBreak::Settings => format!("{} frameworks have a setting for it, {} for this", other.hosts, own.hosts),
        TieBreak::Rules => format!("it has {} rules, this {}", other.rules, own.rules),
    }
}

/// Formats `each success left costs 6 % more (2–9)`.
pub fn dearer(cost: Option<&Estimate>) -> String {
    let more = |ratio: f64| digits((ratio - 1.0).max(0.0));
    let Some(Estimate { value: Some(value), interval, .. }) = cost else {
        return "nothing limits what each success left may cost".to_owned();
    };
    let interval = match interval {
        Some(interval) => format!(" ({}–{})", more(interval.low), more(interval.high)),
        None => String::new(),
    };
    format!("each success left costs {} % more{interval}", more(*value))
}

/// Formats what a run is worth.
fn worth(benefit: &NetBenefit) -> String {
    match benefit.a_run.low.value {
        Some(value) => in_dollars(value, benefit.a_run.interval()),
        None => "an unknown amount".to_owned(),
    }
}

/// Formats `$0.02 (0.01 to 0.04)`.
pub fn in_dollars(value: f64, interval: Option<Interval>) -> String {
    let interval = match interval {
        Some(interval) => format!(" ({} to {})", dollars(interval.low), dollars(interval.high)),
        None => String::new(),
    };
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}${}{interval}", dollars(value.abs()))
}
