//! Arguments shared by `sweep` and `tune`: signals with their limits, and the split.

use std::path::Path;
use std::sync::Arc;

use crate::aggregate::{RowView, Rows};
use crate::answers::Choice;
use crate::cli::failure::Failure;
use crate::cli::inputs::read_text;
use crate::cli::values::share_inside;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, nearest};
use crate::stack::{Entry, Stack, StackFile};
use crate::sweep::{Axis, Grid, Split, limits};
use crate::transcript::Outcome;

/// Which settings to try.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct GridArgs {
    /// A signal, optionally with a comparator and stack-file options: `"call.count >, window = 10"`. Repeatable.
    #[arg(long, value_name = "SIGNAL")]
    signal: Vec<String>,
    /// The limits of the preceding signal: `2,4,8`, `2..8` or `"50_000..200_000 step 25_000"`. One for each signal.
    #[arg(long, value_name = "LIMITS")]
    limits: Vec<String>,
    /// Add each setting's rule to this stack of a stack file instead of trying the rule alone.
    #[arg(long, num_args = 2, value_names = ["FILE", "STACK"])]
    with: Vec<String>,
}

impl GridArgs {
    /// Whether any of them is given.
    pub(in crate::cli) fn is_some(&self) -> bool {
        !(self.signal.is_empty() && self.limits.is_empty() && self.with.is_empty())
    }

    /// Builds the grid.
    pub(in crate::cli) fn load(&self) -> Result<Grid, Failure> {
        if self.signal.len() != self.limits.len() {
            let what = format!("{} signals with {} lists of limits", self.signal.len(), self.limits.len());
            let help = "follow each `--signal` by its `--limits`";
            return Err(Failure::usage(Diagnostic::new(Location::default(), what, help)));
        }
        if self.signal.is_empty() {
            let help =
                "name a signal and its limits: `--signal steps --limits 10,20,30`; `sweep` takes a `--grid FILE`, too";
            return Err(Failure::usage(Diagnostic::new(Location::default(), "no setting to try", help)));
        }
        let parse = |(signal, text): (&String, &String)| Axis::parse(signal, limits(text)?);
        let axes: Result<Vec<Axis>, Diagnostic> = self.signal.iter().zip(&self.limits).map(parse).collect();
        let axes = axes.map_err(Failure::usage)?;
        let base = self.base().map_err(Failure::usage)?;
        Grid::new(axes, base).map_err(Failure::usage)
    }

    fn base(&self) -> Result<Option<Stack>, Diagnostics> {
        let [path, name] = &self.with[..] else { return Ok(None) };
        let text = read_text(Path::new(path), "`--with` takes a stack file and the name of one of its stacks")?;
        let file = StackFile::parse(path, &text)?;
        let near = nearest(name, file.entries.iter().map(Entry::name)).map(|near| format!("did you mean `{near}`?"));
        match file.entries.into_iter().find(|entry| entry.name() == name) {
            Some(Entry::Own(stack)) => Ok(Some(Arc::unwrap_or_clone(stack))),
            Some(Entry::Use(_) | Entry::Guard(_)) => {
                let what = format!("`{name}` has rules of another program, which takes no further one");
                Err(Diagnostic::new(Location::file(path), what, "name a stack with rules of its own").into())
            }
            None => {
                let help = near.unwrap_or_else(|| "name one of the stacks in the file".to_owned());
                Err(Diagnostic::new(Location::file(path), format!("no stack is named `{name}`"), help).into())
            }
        }
    }

    /// The stack file and stack that rules are added to, as text.
    pub(in crate::cli) fn with(&self) -> Option<String> {
        let [path, name] = &self.with[..] else { return None };
        Some(format!("{path}: {name}"))
    }
}

/// Which part of the tasks is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum SplitPart {
    /// The dev tasks only: the test tasks stay unseen.
    Dev,
    /// Choose on the dev tasks, report on the test tasks.
    Test,
    /// All tasks.
    #[default]
    None,
}

impl SplitPart {
    /// The name in manifests.
    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
            Self::None => "none",
        }
    }
}

/// How tasks are split into dev and test.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct SplitArgs {
    /// Split the tasks: `dev` uses only the dev part, `test` chooses on dev and reports on test.
    #[arg(long, value_enum, default_value_t, value_name = "PART")]
    pub(in crate::cli) split: SplitPart,
    /// Salt of the hash that splits the tasks; fix it before you look at the recordings.
    #[arg(long, value_name = "SALT", default_value = "")]
    pub(in crate::cli) split_salt: String,
    /// Share of each suite's tasks that goes to dev.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share_inside)]
    pub(in crate::cli) dev_share: f64,
}

impl SplitArgs {
    /// How the tasks are split, in the form of a comparison's manifest; nothing is chosen yet.
    pub(in crate::cli) fn choice(&self, max_killed: f64) -> Choice {
        Choice {
            split: self.split.name().to_owned(),
            split_salt: self.split_salt.clone(),
            dev_share: self.dev_share,
            max_killed,
            chosen: None,
            optimism_killed_rate: None,
            optimism_saved_share: None,
        }
    }
}

/// Splits as requested: the part reported, and the part to choose on if it is another. An error if a part is empty.
pub(in crate::cli) fn divided<T>(
    all: T,
    args: &SplitArgs,
    halves: impl FnOnce(T, &Split) -> (T, T),
    is_empty: impl Fn(&T) -> bool,
) -> Result<(T, Option<T>), Failure> {
    let split = Split { salt: args.split_salt.clone(), dev_share: args.dev_share };
    let (reported, other) = match args.split {
        SplitPart::None => (all, None),
        SplitPart::Dev => (halves(all, &split).0, None),
        SplitPart::Test => {
            let (dev, test) = halves(all, &split);
            (test, Some(dev))
        }
    };
    if is_empty(&reported) || other.as_ref().is_some_and(&is_empty) {
        let help = "give more recordings, another `--dev-share`, or no `--split`";
        return Err(Failure::nothing("a part of the split has no task", help));
    }
    Ok((reported, other))
}

/// What is reported, in one line.
pub(in crate::cli) fn headline(reported: &Rows, part: SplitPart) -> String {
    let one: Vec<RowView<'_>> = reported.get(0).into_iter().flat_map(|row| reported.of_stack(row.stack())).collect();
    let tasks: std::collections::BTreeSet<_> = one.iter().map(|row| row.cluster()).collect();
    let graded = |outcome| one.iter().filter(|row| row.outcome() == outcome).count();
    let unknown = match graded(Outcome::Unknown) {
        0 => String::new(),
        n => format!(", {n} without an outcome"),
    };
    let (successes, failures) = (graded(Outcome::Success), graded(Outcome::Failure));
    let counted =
        format!("{} runs of {} tasks: {successes} successes, {failures} failures{unknown}", one.len(), tasks.len());
    match part {
        SplitPart::None => counted,
        part => format!("{} part: {counted}", part.name()),
    }
}
