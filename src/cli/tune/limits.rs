//! `whenstop tune --signal … --limits …`: which of the user's own limits to ship, decided as `compare` decides it.

use std::path::Path;
use std::sync::Arc;

use super::Args;
use super::decided::OwnStacks;
use super::shipped::TUNED;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{DOUBTS, GuardArgs, LabelErrorArgs, LoadedStacks, SplitArgs, SplitPart, read_text};
use crate::decision::{NumberOf, Strategy};
use crate::diagnostic::{Diagnostic, Diagnostics, Location, did_you_mean, nearest, one_line};
use crate::export::stack_file;
use crate::report::Shippable;
use crate::stack::{Entry, Guards, Stack, StackFile};
use crate::stats::labels::ErrorRates;
use crate::sweep::{Axis, limits, stacks_of};
use crate::words::grouped;

/// The most limits that are compared one by one: each has a row for every run.
const MOST_LIMITS: u64 = 1_000;

/// Arguments for limits of the user's own.
#[derive(Debug, clap::Args)]
pub(super) struct OwnArgs {
    /// A signal, optionally with a comparator and stack-file options: `"call.count >, window = 10"`; or a guard's
    /// number: `guard:mine.score`. Repeatable.
    #[arg(long, value_name = "SIGNAL")]
    signal: Vec<String>,
    /// The limits of the preceding signal: `2,4,8`, `2..8`, `0.5..0.95` or `"50_000..200_000
    /// step 25_000"`. One for each.
    #[arg(long, value_name = "LIMITS")]
    limits: Vec<String>,
    /// Add each setting's rule to this stack of a stack file instead of trying the rule alone.
    #[arg(long, num_args = 2, value_names = ["FILE", "STACK"], hide_short_help = true)]
    with: Vec<String>,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    pub(super) split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
}

impl OwnArgs {
    /// Whether limits of the user's own are to be tried.
    pub(super) fn are_asked_for(&self) -> bool {
        !(self.signal.is_empty() && self.limits.is_empty() && self.with.is_empty())
    }

    /// How labels err, if that is stated.
    pub(super) fn label_errors(&self) -> Option<ErrorRates> {
        self.errors.rates()
    }

    /// An error if something is requested that only limits of the user's own have.
    pub(super) fn check_unused(&self, guards: &GuardArgs) -> Result<(), CommandFailure> {
        if !guards.is_empty() {
            let what = "`--guard` without a rule that reads its number";
            let help = "name it: `--signal guard:NAME.score --limits 0.5..0.9`, or in the file of `--grid`";
            return Err(CommandFailure::arguments(what, help));
        }
        if self.split.split == SplitPart::None && self.label_errors().is_none() {
            return Ok(());
        }
        let what = "`--split` and errors of labels are for limits of your own: `--signal … --limits …`";
        let help = "leave them out: without `--signal`, tasks are split where a choice needs it";
        Err(CommandFailure::arguments(what, help))
    }

    /// A stack for each limit, in the order of the signals, each from cautious to bold.
    fn stacks(&self, guards: &Guards) -> Result<Vec<Stack>, CommandFailure> {
        if self.signal.len() != self.limits.len() {
            let what = match (self.signal.get(self.limits.len()), self.limits.get(self.signal.len())) {
                (Some(signal), _) => format!("`--signal {signal}` has no `--limits`"),
                (None, limits) => {
                    let limits = limits.map(String::as_str).unwrap_or_default();
                    format!("`--limits {limits}` has no `--signal`")
                }
            };
            let help =
                "follow each `--signal` by its `--limits`: `--signal steps --limits 10,20,30` or `--limits 10..30`";
            return Err(CommandFailure::arguments(what, help));
        }
        if self.signal.is_empty() {
            let help = "name a signal and its limits: `--signal steps --limits 10,20,30`";
            return Err(CommandFailure::arguments("no limit to try", help));
        }
        let base = self.base(guards).map_err(CommandFailure::usage)?;
        let mut axes = Vec::new();
        for (signal, text) in self.signal.iter().zip(&self.limits) {
            let limits = limits(text).map_err(CommandFailure::usage)?;
            axes.push(Axis::parse(signal, limits, guards).map_err(CommandFailure::usage)?);
        }
        let n: u64 = axes.iter().map(|axis| axis.n_limits() as u64).sum();
        if n > MOST_LIMITS {
            let what =
                format!("{} limits, each with a line of the table; the most are {}", grouped(n), grouped(MOST_LIMITS));
            let help = "write them as an axis of a file for `--grid`, which shows the best of them: \
                        `at_least = { range = [0.1, 0.9], step = 0.0001 }`";
            return Err(CommandFailure::arguments(what, help));
        }
        stacks_of(&axes, base.as_ref()).map_err(CommandFailure::usage)
    }

    fn base(&self, guards: &Guards) -> Result<Option<Stack>, Diagnostics> {
        let [path, name] = &self.with[..] else { return Ok(None) };
        let text = read_text(Path::new(path), "`--with` takes a stack file and the name of one of its stacks")?;
        let (mut file, mut errors) = StackFile::parse_partly(path, &text);
        errors.extend(file.seat(guards));
        if let Some(errors) = Diagnostics::from_list(errors) {
            return Err(errors);
        }
        let near = nearest(name, file.entries.iter().map(Entry::name));
        let help = did_you_mean(near, "name one of the stacks in the file");
        match file.entries.into_iter().find(|entry| entry.name() == name) {
            Some(Entry::Own(stack)) => Ok(Some(Arc::unwrap_or_clone(stack))),
            Some(Entry::Use(_) | Entry::Guard(_)) => {
                let what = format!("`{name}` has rules of another program, which takes no further one");
                Err(Diagnostic::new(Location::file(path), what, "name a stack with rules of its own").into())
            }
            None => Err(Diagnostic::new(Location::file(path), format!("no stack is named `{name}`"), help).into()),
        }
    }
}

/// The limits to compare.
pub(super) fn own(args: &Args) -> Result<OwnStacks, CommandFailure> {
    args.grid.refuse_walk("limits")?;
    let stacks = args.own.stacks(&args.guards.numbers()?)?;
    let shippable = stacks.iter().map(shippable).collect();
    let stacks: Vec<Arc<Stack>> = stacks.into_iter().map(Arc::new).collect();
    Ok(OwnStacks { stacks: LoadedStacks::from_stacks(&stacks), shippable, today: None })
}

/// How a stack of rules is written if it is the one to ship.
pub(super) fn shippable(stack: &Stack) -> Shippable {
    let tuned = Stack { name: TUNED.to_owned(), ..stack.clone() };
    let mut guards: Vec<String> = tuned.numbers().iter().filter_map(NumberOf::strategy).map(guard_comment).collect();
    guards.dedup();
    let entry = stack_file(&tuned).map(|entry| format!("{}\n{entry}", guards.concat()));
    Shippable { stack: stack.name.clone(), entry, settings: None }
}

/// The program that a stack reads, which its file does not start.
fn guard_comment(guard: &Arc<dyn Strategy>) -> String {
    let command = guard.program().map(|program| program.command.join(" ")).unwrap_or_default();
    format!("# Its guard `{}` is `{}`: name it with `--guard`.\n", one_line(guard.name()), one_line(&command))
}
