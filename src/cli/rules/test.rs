//! `whenstop rules test`: what a guard does on the bundled runs, and whether it always does the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cli::ProgramExit;
use crate::cli::bundled;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{split, started};
use crate::cli::output::Output;
use crate::decision::{Decision, Need, Strategy as _, last_number};
use crate::diagnostic::{count, one_line};
use crate::guard::{AnswerKind, Guard, GuardInput};
use crate::redact::redact;
use crate::replay::replay_seen;
use crate::report::figure::short;
use crate::stack::GuardCommand;
use crate::transcript::{Moment, Run};

/// Arguments of `rules test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    whenstop rules test python3 my_guard.py\n  \
    whenstop rules test 'node my_guard.ts'")]
pub(super) struct Args {
    /// The command of the guard and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What the guard said of one run; `None` if it failed.
type Told = Option<Said>;

struct Said {
    decisions: Vec<Decision>,
    /// The numbers of a guard that answers with one, point by point.
    numbers: Vec<Option<f64>>,
}

/// `whenstop rules test`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let wrong = |what: String| CommandFailure::arguments(what, "give a program to run");
    let command = match &args.command[..] {
        [one] => split(one).map_err(wrong)?,
        words => words.to_vec(),
    };
    let asked = GuardCommand { name: "guard".to_owned(), command, ..GuardCommand::default() };
    let guard = started(&asked, None).map_err(CommandFailure::usage)?;
    if let Some(failure) = guard.broken() {
        output.data(&format!("the guard {failure}\nmend: {}\n", failure.help()));
        return Ok(ProgramExit::GateFailed);
    }
    let runs: Vec<Run> = bundled::runs();
    let mut mend = Vec::new();
    let (first, seconds) = timed(|| pass(&guard, runs.iter()));
    let points = guard.asked();
    tell(&guard, &first, points, output);
    if !guard.troubles().is_empty() {
        return Ok(mended(&guard, mend, output));
    }
    // A pass begins with a new process, so that only its order differs from the first.
    guard.restart();
    let again = pass(&guard, runs.iter());
    let differs = first_difference(&runs, &first, &again);
    let agrees = differs.is_none();
    verdict("same answers when asked again", differs, "use no clock, no random numbers, no network", &mut mend, output);
    guard.restart();
    let mut reversed = pass(&guard, runs.iter().rev());
    reversed.reverse();
    if agrees {
        let differs = first_difference(&runs, &first, &reversed);
        verdict(
            "same answers in another order",
            differs,
            "forget everything when a line of type `run` comes",
            &mut mend,
            output,
        );
    }
    if agrees && !guard.hello().reads(GuardInput::Texts) {
        let redacted: Vec<Run> = runs.iter().map(|run| redact(run, "")).collect();
        let hidden = pass(&guard, redacted.iter());
        let differs = first_difference(&runs, &first, &hidden);
        let help = "it reads the words of texts: add `texts` to `reads`, so that redacted runs count as not evaluable";
        verdict("same answers where texts are redacted", differs, help, &mut mend, output);
    }
    if points > 0 {
        output.data(&format!("{:.0} microseconds a point\n", seconds * 1e6 / points as f64));
    }
    Ok(mended(&guard, mend, output))
}

/// Prints what there is to mend.
fn mended(guard: &Guard, mut mend: Vec<String>, output: &Output) -> ProgramExit {
    mend.extend(guard.troubles().into_iter().map(|trouble| format!("the {}: {}", trouble.what, trouble.help)));
    for line in &mend {
        output.data(&format!("mend: {line}\n"));
    }
    if mend.is_empty() { ProgramExit::Done } else { ProgramExit::GateFailed }
}

/// Asks the guard about these runs, one after the other.
fn pass<'r>(guard: &Arc<Guard>, runs: impl Iterator<Item = &'r Run>) -> Vec<Told> {
    let of_run = |run: &Run| {
        let mut numbers = Vec::new();
        let replay = replay_seen(run, guard, |_, watch| {
            if guard.number().is_some() {
                numbers.push(last_number(watch));
            }
        });
        let failed = replay.not_evaluable.iter().any(|unread| unread.need == Need::Answers);
        if failed { None } else { Some(Said { decisions: replay.trail, numbers }) }
    };
    runs.map(of_run).collect()
}

#[expect(clippy::disallowed_methods, reason = "how long a guard takes is the question here")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = std::time::Instant::now();
    let done = work();
    (done, begin.elapsed().as_secs_f64())
}

/// What the guard says about itself, what it did, and what it never did.
fn tell(guard: &Guard, told: &[Told], points: u64, output: &Output) {
    let hello = guard.hello();
    let list = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let version = hello.version.as_deref().map(|version| format!("version {}, ", one_line(version)));
    let reads =
        GuardInput::ALL.into_iter().filter(|reads| hello.reads(*reads)).map(|reads| reads.need().name().to_owned());
    let at = hello.points.iter().map(|point| point.name().to_owned()).collect();
    output.paragraph(&format!(
        "{}asked at {}; needs {}; {}",
        version.unwrap_or_default(),
        list(at),
        list(reads.collect()),
        count(hello.rules.len(), "rule"),
    ));
    let mut acts: BTreeMap<&str, usize> = hello.answers.iter().map(|answer| (answer.name(), 0)).collect();
    let mut rules: BTreeMap<&str, usize> = hello.rules.iter().map(|rule| (rule.name.as_str(), 0)).collect();
    for decision in told.iter().flatten().flat_map(|said| &said.decisions) {
        let name = if decision.action.name() == "deny" { "refuse" } else { decision.action.name() };
        *acts.entry(name).or_default() += 1;
        rules.entry(decision.rule.as_str()).and_modify(|n| *n += 1);
    }
    let mut numbers: Vec<f64> = told.iter().flatten().flat_map(|said| &said.numbers).flatten().copied().collect();
    if let Some(answers) = acts.get_mut(AnswerKind::Reading.name()) {
        *answers = numbers.len();
        rules.clear();
    }
    let did = acts.iter().filter(|(_, n)| **n > 0).map(|(name, n)| format!("{name} {n}"));
    output.paragraph(&format!(
        "{}, {}: {}",
        count(told.len(), "bundled run"),
        count(points, "point"),
        list(did.collect())
    ));
    numbers.sort_by(f64::total_cmp);
    if let (Some(least), Some(most), Some(middle)) = (numbers.first(), numbers.last(), numbers.get(numbers.len() / 2)) {
        output.paragraph(&format!(
            "numbers from {} to {}, half of them up to {}",
            short(*least),
            short(*most),
            short(*middle)
        ));
    }
    let never = acts.iter().filter(|(_, n)| **n == 0).map(|(name, _)| format!("answers `{name}`"));
    let idle = rules.iter().filter(|(_, n)| **n == 0).map(|(name, _)| format!("acts by `{}`", one_line(name)));
    let never: Vec<String> = never.chain(idle).collect();
    if !never.is_empty() {
        output.paragraph(&format!("on these runs it never {}", never.join(", never ")));
    }
    if hello.points.contains(&Moment::AfterResponse) && hello.points.contains(&Moment::AfterTools) {
        output
            .paragraph("it is asked after each reply and again after its tools; one of them is enough for most rules");
    }
}

/// The first run on which the answers differ, with both.
fn first_difference(runs: &[Run], left: &[Told], right: &[Told]) -> Option<String> {
    let key = |told: &Told| {
        let of = |decision: &Decision| {
            let evidence = (decision.evidence.observed.map(f64::to_bits), decision.evidence.limit.map(f64::to_bits));
            (decision.point, decision.action, decision.rule.clone(), evidence)
        };
        let bits = |number: &Option<f64>| number.map(f64::to_bits);
        let said = told.as_ref()?;
        let decisions: Vec<_> = said.decisions.iter().map(of).collect();
        Some((decisions, said.numbers.iter().map(bits).collect::<Vec<_>>()))
    };
    let differing: Vec<usize> = (0..runs.len()).filter(|nth| key(&left[*nth]) != key(&right[*nth])).collect();
    let first = *differing.first()?;
    let (one, other) = (&left[first], &right[first]);
    let nth = first_other_number(one, other);
    Some(format!(
        "{} of {}; on `{}` {} and then {}",
        differing.len(),
        count(runs.len(), "run"),
        one_line(&runs[first].header.run_id),
        words(one, nth),
        words(other, nth)
    ))
}

/// The first point at which the numbers differ.
fn first_other_number(one: &Told, other: &Told) -> Option<usize> {
    let (one, other) = (one.as_ref()?, other.as_ref()?);
    one.numbers.iter().zip(&other.numbers).position(|(one, other)| one.map(f64::to_bits) != other.map(f64::to_bits))
}

/// The first decision, or the number at the `nth` point, in words.
fn words(told: &Told, nth: Option<usize>) -> String {
    let Some(said) = told else { return "no valid answer".to_owned() };
    if let Some(nth) = nth
        && let Some(number) = said.numbers.get(nth)
    {
        return match number {
            Some(number) => short(*number),
            None => "no number".to_owned(),
        };
    }
    match said.decisions.first() {
        None => "nothing but `continue`".to_owned(),
        Some(decision) => format!("`{}` at {}", decision.action, decision.point),
    }
}

fn verdict(what: &str, differs: Option<String>, help: &str, mend: &mut Vec<String>, output: &Output) {
    match differs {
        None => output.paragraph(&format!("{what}: yes")),
        Some(difference) => {
            output.paragraph(&format!("{what}: no"));
            mend.push(format!("not the {what} ({difference}): {help}"));
        }
    }
}
