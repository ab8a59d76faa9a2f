//! The notes below an answer.

use super::{apart, first_of, followed, with_interval};
use crate::aggregate::{ChosenElsewhere, Label, OracleShare, Unit, WorstStratum};
use crate::answers::choice::SplitChoice;
use crate::answers::note::{AnswerNote, JudgedRuns, TailOfGroup};
use crate::answers::told::UnderToldLimits;
use crate::diagnostic::count;
use crate::stats::{Estimate, Interval};
use crate::transcript::Outcome;
use crate::words::{chosen_percent, digits, percent, percents, some_of};

/// Maximum names in one note.
const NAMED: usize = 6;
/// Maximum things that a stack lacks in one note.
const LACKS: usize = 2;
/// Maximum stacks of which it is said what they may kill if the agent is told.
const LIMITS: usize = 3;

/// The notes, in order.
pub fn notes(notes: &[AnswerNote]) -> Vec<String> {
    notes.iter().map(note).collect()
}

/// One note, without a full stop.
pub fn note(note: &AnswerNote) -> String {
    match note {
        AnswerNote::Remark(remark) => remark.clone(),
        AnswerNote::ToldLimits(under) => told_limits(under),
        AnswerNote::Letters { unread, diverged, ungraded } => letters(*unread, *diverged, *ungraded),
        AnswerNote::Pooled(worse) => format!("pooled: `{}` {}; see strata.csv", worse.stack, apart(worse)),
        AnswerNote::Folded(stacks) => {
            format!("{} more stacks are worth less: {}; `--all` shows them", stacks.len(), names(stacks))
        }
        AnswerNote::NeverActed(stacks) => never_acted(stacks),
        AnswerNote::NotJudged { stack, lacks, kills } => not_judged(stack, lacks, *kills),
        AnswerNote::NotJudgedEither(stacks) => {
            format!("not judged either: {}; `not_evaluable` in rows.csv says why", names(stacks))
        }
        AnswerNote::Chosen(choice) => chosen(choice),
        AnswerNote::Proxies(proxies) => format!(
            "outcomes are proxies, {proxies}: marks of the recordings, not grades. A killed success is here a run that \
             bears the mark, stopped early"
        ),
        AnswerNote::SavedRough(warning) => format!("saved: {warning}"),
        AnswerNote::LabelErrors(correction) => {
            format!("label errors: {correction}, of all runs together: no mean over tasks")
        }
        AnswerNote::Misstated { stack, at } => misstated(stack, at),
        AnswerNote::WithoutTasks { without, runs } => format!(
            "{without} of {runs} runs name no task and each counts as a task of its own: if some are trials of one \
             task, the intervals are too short; `--task first-message` or `--task FIELD` finds them, `--task run` says \
             that there are none"
        ),
        AnswerNote::AtFailureRate { rate, unit, runs, saved } => at_failure_rate(*rate, *unit, *runs, saved),
        AnswerNote::Luck { stacks, chosen } => luck(*stacks, chosen),
        AnswerNote::WorstStratum { stack, worst } => worst_stratum(stack, worst),
        AnswerNote::Oracle { stack, unit, oracle, stopped_by } => hindsight(stack, *unit, oracle, *stopped_by),
        AnswerNote::Tail { groups, more } => tail(groups, *more),
        AnswerNote::KilledStanding { stack, killed, standing } => followed::killed_standing(stack, *killed, *standing),
        AnswerNote::CutShortMeans => {
            "cut short: an edit, a hand-over or a check that turned green was still to come; low–high, since not every \
             call tells what it does (`whenstop corpus --effects`). saved there: tokens after stops that only reading, \
             planning and replies followed, of all tokens."
                .to_owned()
        }
        AnswerNote::HowToGrade => {
            "`whenstop labels PATH --template labels.csv` lists the runs to grade, in an order drawn at random: with \
             outcomes the table says which successes a stop kills."
                .to_owned()
        }
        AnswerNote::TokensKnown { known, runs, noun } => format!("tokens are known of {known} of {runs} {noun}"),
        AnswerNote::PerfectStop { tail, idle, runs, noun } => followed::perfect_stop(*tail, *idle, *runs, noun),
    }
}

fn told_limits(under: &UnderToldLimits) -> String {
    let range = |(stack, at_most): &(Label, f64)| format!("0 to {} % under a told `{stack}`", digits(*at_most));
    let ranges: Vec<String> = under.at_most.iter().map(range).collect();
    format!(
        "the agent was told its limit in {} of {}. Under a lower told one it may hurry or give up, and the killed share of \
         the successes is only known to be {}; `told = true` in the stack says so",
        under.told.told,
        count(under.told.runs, "run"),
        some_of(&ranges, LIMITS),
    )
}

fn letters(unread: bool, diverged: bool, ungraded: bool) -> String {
    let mut letters = Vec::new();
    if unread {
        letters.push("r: a rule could not be read");
    }
    if diverged {
        letters.push("d: the stack warned, asked or refused, and what follows is not recorded");
    }
    if ungraded {
        letters.push("u: nobody graded the run");
    }
    format!("unknown, of all runs; {}", letters.join("; "))
}

/// A few names and how many more there are.
fn names(stacks: &[Label]) -> String {
    first_of(&stacks.iter().map(|stack| format!("`{stack}`")).collect::<Vec<_>>(), NAMED)
}

/// What the rules of a stack lack, in words.
pub fn lacking(lacks: &[String]) -> String {
    let mut parts: Vec<String> = lacks.iter().take(LACKS).cloned().collect();
    if lacks.len() > LACKS {
        parts.push(format!("{} more", lacks.len() - LACKS));
    }
    parts.join("; ")
}

fn never_acted(stacks: &[JudgedRuns]) -> String {
    let mut named = Vec::new();
    for JudgedRuns { stack, judged, runs } in stacks {
        let part = if judged < runs { format!(" (judged on {judged} of {runs} runs)") } else { String::new() };
        named.push(format!("`{stack}`{part}"));
    }
    format!("never acted: {}", first_of(&named, NAMED))
}

fn not_judged(stack: &JudgedRuns, lacks: &[String], kills: Option<Interval>) -> String {
    let kills = match kills {
        Some(kills) => format!("; it kills between {} and {} % of successes", digits(kills.low), digits(kills.high)),
        None => String::new(),
    };
    let JudgedRuns { stack, judged, runs } = stack;
    let on = match judged {
        0 => String::new(),
        _ => format!(" on {} of {runs} runs, and it did nothing on the others", runs - judged),
    };
    format!("not judged: `{stack}`{on} ({}){kills}", lacking(lacks))
}

fn chosen(choice: &SplitChoice) -> String {
    let limit = chosen_percent(choice.max_killed);
    let Some(chosen) = &choice.chosen else {
        return format!("chosen on the dev tasks: none; no stack is safe there at {limit} and worth it");
    };
    let points = |gap: Option<f64>| match gap {
        Some(gap) => format!("{:+.1} points", gap * 100.0),
        None => "undefined".to_owned(),
    };
    let reported = if choice.is_apart() {
        format!(
            "optimism (dev minus test): killed {}, saved {}",
            points(choice.optimism_killed_rate),
            points(choice.optimism_saved_share)
        )
    } else {
        "reported on the same tasks, so it looks better than it is".to_owned()
    };
    format!("chosen on the dev tasks: `{chosen}`, the best of those that are safe at {limit} and worth it; {reported}")
}

fn misstated(stack: &Label, at: &[(f64, Estimate)]) -> String {
    let mut others = Vec::new();
    for (specificity, rate) in at {
        others.push(format!("{} if it is {specificity:.2}", with_interval(rate)));
    }
    format!(
        "the specificity is stated, not checked: `{stack}` kills {}. `--label-checked` takes the doubt into every \
         interval; a wrong sensitivity would change nothing",
        others.join(", "),
    )
}

fn at_failure_rate(rate: f64, unit: Unit, runs: u64, saved: &[(Label, Estimate)]) -> String {
    let mut all = Vec::new();
    for (stack, estimate) in saved {
        // The runs it was computed from, if not all.
        let part = if estimate.n < runs { format!(" of {} runs where it is known", estimate.n) } else { String::new() };
        all.push(format!("`{stack}` {}{part}", with_interval(estimate)));
    }
    format!("if {} of the runs failed, the {} saved would be: {}", chosen_percent(rate), unit.noun(), all.join(", "))
}

fn luck(stacks: usize, chosen: &ChosenElsewhere) -> String {
    let seen = format!("kills {} and saves {}", percent(chosen.seen.0), percent(chosen.seen.1));
    let but = match chosen.elsewhere {
        Some((killed, saved)) => format!(
            "chosen on half of the tasks and judged on the other, the best kills {} and saves {}. `--split test` keeps \
             them apart",
            percent(killed),
            percent(saved)
        ),
        None => "no half of the tasks is enough to choose it".to_owned(),
    };
    format!(
        "{stacks} stacks were tried on the same runs, so the best looks better than it is: `{}` {seen} here; {but}",
        chosen.stack
    )
}

fn worst_stratum(stack: &Label, worst: &WorstStratum) -> String {
    let place: Vec<&str> = [worst.suite.as_deref(), worst.model.as_deref()].into_iter().flatten().collect();
    format!(
        "`{stack}` kills at most {} of the successes in each of {} suites and models at once (95 %, mean over tasks); {} \
         sets this bound, with {} tasks",
        percent(worst.bound),
        worst.strata,
        if place.is_empty() { "the unnamed one".to_owned() } else { place.join(", ") },
        worst.tasks
    )
}

fn hindsight(stack: &Label, unit: Unit, oracle: &OracleShare, stopped_by: Option<[f64; 4]>) -> String {
    let early = match stopped_by {
        Some([quarter, half, _, ever]) => format!(
            "; it stops {} of the failures within a quarter of what they spent, {} within half, {} at all",
            percent(quarter),
            percent(half),
            percent(ever)
        ),
        None => String::new(),
    };
    format!(
        "`{stack}` saves {} of what stopping with hindsight would save, which is {} of the {}{early}",
        with_interval(&oracle.reached),
        percent(oracle.oracle.unwrap_or_default()),
        unit.noun()
    )
}

fn tail(groups: &[TailOfGroup], more: usize) -> String {
    let mut all = Vec::new();
    for TailOfGroup { outcome, model, share, runs } in groups {
        let outcome = if *outcome == Outcome::Unknown { "ungraded" } else { outcome.name() };
        let runs = count(*runs, &format!("{outcome} run"));
        let model = model.as_deref().unwrap_or("no named model");
        all.push(format!("{} of {runs} of {model}", percents(*share)));
    }
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "tokens after the last edit, hand-over or green check: {}{more}: what a perfect stop could save, in hindsight",
        all.join(", ")
    )
}
