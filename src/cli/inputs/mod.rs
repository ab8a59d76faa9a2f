//! Arguments shared by several commands: which recordings, and which stacks.

mod class;
mod doubts;
mod forecast;
mod guards;
mod process;
mod proxies;
mod runs;
mod split;
mod stacks;
mod starter;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::TypedValueParser;

pub(super) use self::class::ByArg;
pub(super) use self::doubts::{AssumptionArgs, DOUBTS, LabelErrorArgs};
pub(super) use self::forecast::{KeptForecasts, to_come};
pub(super) use self::guards::{GuardArgs, WRITE_EVENT, split, started, tell_troubles};
pub(super) use self::process::{counted, has_read, has_runs, open, process, process_telling, tell_findings};
use self::proxies::OutcomeFrom;
pub(super) use self::runs::RecordedRuns;
pub(super) use self::split::{SplitArgs, SplitPart, divided};
pub(super) use self::stacks::{
    LoadedFile, LoadedStacks, StackArgs, as_in_tables, load_stack_file, read_config, read_text,
};
pub(super) use self::starter::starter;
use super::failure::CommandFailure;
use super::output::Output;
use super::values::one_of;
use crate::aggregate::MIN_KNOWN;
pub(super) use crate::project::UnitOfRun;
use crate::reader::{
    Corpus, CorpusReport, Detail, FieldMap, LabelColumns, LabelDraw, NamedBy, PriceTable, ReadOptions, RecordedCosts,
    SubAgents,
};
use crate::transcript::Run;
use crate::tune::names_too_few_tasks;

/// Heading of the options of [`ReadingArgs`] in the help of every command that reads recordings.
pub(in crate::cli) const READING: &str = "Reading recordings";

/// Which recordings.
#[derive(Clone, Debug, Args)]
pub(super) struct CorpusArgs {
    /// Files and folders of recordings, in whatever format they have.
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// What counts as a run: the whole recording, or each round of it, from a prompt to the next. A round is a run of
    /// its own, called `RUN#1` and so on; it is taken as recorded, even if a stop in an earlier round would have
    /// changed what was asked next. The rounds of a session are one cluster.
    #[arg(long, default_value_t, help_heading = READING, value_parser = unit())]
    pub(super) unit: UnitOfRun,
    #[command(flatten, next_help_heading = READING)]
    pub(super) reading: ReadingArgs,
}

/// How recordings are read.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ReadingArgs {
    /// Read every file as this format instead of detecting it from the content.
    #[arg(long = "as", value_name = "FORMAT")]
    pub(super) as_format: Option<String>,
    /// A CSV file of outcomes (run_id, and any of task_id, success, score, end, secured_at, drawn). Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(super) labels: Vec<PathBuf>,
    /// Accept labels that match no run, without a warning.
    #[arg(long)]
    pub(super) allow_unmatched_labels: bool,
    /// Count a graded run as a success from this score on.
    #[arg(long, value_name = "SCORE")]
    pub(super) success_at: Option<f64>,
    /// Where the outcome is found: a field (`info.passed`), a path component counted from the end (`path:1` is the
    /// folder), or a pattern (`runs/{}/*`, with `{}` for the value).
    #[arg(long, value_name = "FIELD|path:N|PATTERN")]
    pub(super) outcome: Option<String>,
    /// Prices (TOML or JSON: for each model `input`, `cached`, `cache_write`, `output`, in dollars per million
    /// tokens), to compute the cost of runs that record tokens but no cost.
    #[arg(long, value_name = "FILE")]
    pub(super) price: Option<PathBuf>,
    /// Compute the cost from `--price` even if one is recorded.
    #[arg(long = "override", requires = "price")]
    pub(super) override_costs: bool,
    /// A model that is free: its recorded costs of 0 are real. For other models, a cost of 0 with tokens is unknown.
    /// Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(super) free_model: Vec<String>,
    /// Where the task is found, as for `--outcome`; `first-message` groups runs with the same first user message as
    /// trials of one task; `run` says that the runs are independent, each a task of its own.
    #[arg(long, value_name = "FIELD|path:N|PATTERN", value_parser = NamedBy::parse_task)]
    pub(super) task: Option<NamedBy>,
    /// Where the model is found, as for `--outcome`.
    #[arg(long, value_name = "FIELD|path:N|PATTERN", value_parser = NamedBy::parse)]
    pub(super) model: Option<NamedBy>,
    /// Where the run's id is found, as for `--outcome`.
    #[arg(long = "run", value_name = "FIELD|path:N|PATTERN", value_parser = NamedBy::parse)]
    pub(super) run_id: Option<NamedBy>,
    /// Treat sub-agents as part of their parent's run (`parent`), as runs of their own (`own`), or leave them out
    /// (`drop`).
    #[arg(long, value_name = "own|parent|drop", default_value = "parent")]
    pub(super) subagents: SubAgents,
    /// Which field is which, in a log or a table of no known format: `run=session,messages=turns,role=speaker,
    /// text=utterance,calls=invocations`. A field inside another is written `metrics.cost`. Without `messages`, each line
    /// is a message. Also: task, trial, model, agent, outcome; in a message call_id, tokens, input_tokens,
    /// output_tokens, cost, ts; in a call name, arguments, result, error; `assistant=alice` says whose messages are the
    /// agent's. A table of runs: `run=id,steps=n_steps,tokens=total,cost=usd,outcome=solved`; limits on these are
    /// evaluated, with tokens and costs spread evenly over the steps, and no other rules.
    #[arg(long, value_name = "MEANING=FIELD,…", value_parser = FieldMap::parse)]
    pub(super) map: Option<FieldMap>,
    /// Which columns of `--labels` are which, if they have other names: `run_id=session,success=resolved`.
    #[arg(long, value_name = "MEANING=COLUMN,…", value_parser = LabelColumns::parse)]
    pub(super) label_columns: Option<LabelColumns>,
    /// Use marks in the recordings as outcomes of ungraded runs: `interrupted=failure, undone=failure,
    /// handover=success`, or any of them; if a run has two, the first one named counts. They are proxies, and every
    /// table says so: no certificate is made from them unless their errors are stated (`--label-checked`).
    #[arg(long, value_name = "MARK=OUTCOME,…")]
    pub(super) outcome_from: Option<OutcomeFrom>,
    /// Stop at the first line, run or file that cannot be read, and where a guard failed on a run.
    #[arg(long)]
    pub(super) strict: bool,
    /// Where the class of a run is found, from `--by` of the commands that have it.
    #[arg(skip)]
    pub(super) class: Option<NamedBy>,
}

/// The argument that says what is replayed as one run.
pub(super) fn unit() -> impl TypedValueParser<Value = UnitOfRun> {
    one_of(UnitOfRun::ALL, |unit| match unit {
        UnitOfRun::Run => (unit.name(), "The whole recording"),
        UnitOfRun::Round => (unit.name(), "A prompt and everything it led to"),
    })
}

impl ReadingArgs {
    /// Converts the arguments to the reader's options.
    pub(super) fn options(&self) -> Result<ReadOptions, CommandFailure> {
        if let Some(outcome) = &self.outcome
            && let Err(what) = NamedBy::parse(outcome)
        {
            let help = "for example `--outcome info.name`, `--outcome path:1`, `--outcome 'runs/{}/*'`";
            return Err(CommandFailure::arguments(format!("--outcome: {what}"), help));
        }
        Ok(ReadOptions {
            format: self.as_format.clone(),
            strict: self.strict,
            labels: self.labels.clone(),
            allow_unmatched_labels: self.allow_unmatched_labels,
            success_at: self.success_at,
            outcome_key: self.outcome.clone(),
            task: self.task.clone(),
            model: self.model.clone(),
            run: self.run_id.clone(),
            class: self.class.clone(),
            sub_agents: self.subagents,
            prices: match &self.price {
                Some(path) => Some(Arc::new(read_prices(path)?)),
                None => None,
            },
            recorded_costs: if self.override_costs { RecordedCosts::Overridden } else { RecordedCosts::Trusted },
            free_models: self.free_model.clone(),
            columns: self.map.clone(),
            label_columns: self.label_columns.clone(),
            ..ReadOptions::default()
        })
    }
}

/// Reads the prices in a file.
pub(super) fn read_prices(path: &Path) -> Result<PriceTable, CommandFailure> {
    let text = read_text(path, "give a file of prices, TOML or JSON").map_err(CommandFailure::usage)?;
    PriceTable::parse(&path.display().to_string(), &text).map_err(CommandFailure::usage)
}

/// Why there is no certificate for runs of which so many name no task; `None` if nearly all name one.
pub(super) fn unnamed_tasks(without: usize, runs: usize) -> Option<String> {
    if !names_too_few_tasks(without, runs) {
        return None;
    }
    Some(format!(
        "Nothing can be certified: {without} of {runs} runs name no task, and if some are trials of one task, any \
        certificate would be too sure. Name the task with `--task first-message` or `--task FIELD`; if the runs are \
        independent of one another, say so with `--task run`."
    ))
}

/// Why there is no certificate for recordings of which so many have an outcome: by labels of which nothing says that
/// the runs were drawn at random. `None` if they were, if the recordings tell their outcomes themselves, or if nearly all
/// have one.
pub(super) fn undrawn_labels(labels: LabelDraw, known: usize, runs: usize) -> Option<String> {
    let undrawn = labels.graded - labels.drawn;
    let is_part = (known as f64) < MIN_KNOWN * runs as f64;
    if !is_part || undrawn as f64 <= (1.0 - MIN_KNOWN) * known as f64 {
        return None;
    }
    Some(format!(
        "Nothing can be certified: {known} of {runs} runs have an outcome, and nothing says that the {undrawn} with a \
        label were drawn at random. `whenstop labels PATH --template FILE` draws them: fill it in from the top, and \
        keep its column `drawn`, the place at which each run was drawn: the runs graded so stand for all."
    ))
}

impl CorpusArgs {
    /// Lists the recordings to read.
    pub(super) fn open(&self) -> Result<Corpus, CommandFailure> {
        // Only `corpus` shows suspicious findings, so only it looks for them.
        self.open_with(|options| ReadOptions { detail: Detail::Counts, ..options })
    }

    /// As [`Self::open`], with options changed by `change`.
    pub(super) fn open_with(&self, change: impl FnOnce(ReadOptions) -> ReadOptions) -> Result<Corpus, CommandFailure> {
        open(&self.paths, change(self.reading.options()?))
    }

    /// The runs; they are read by [`RecordedRuns::each`].
    pub(super) fn runs(&self) -> RecordedRuns<'_> {
        RecordedRuns::new(self)
    }

    /// Lists and reads everything, once.
    pub(super) fn process<T: Send>(
        &self,
        output: &Output,
        work: impl Fn(Run) -> T + Sync,
        sink: impl FnMut(T),
    ) -> Result<CorpusReport, CommandFailure> {
        self.runs().each(output, work, sink)
    }

    /// The same recordings, whose readers look for the class of each run where `by` says.
    pub(super) fn classed(&self, by: Option<&ByArg>) -> Self {
        let reading = ReadingArgs { class: ByArg::place(by), ..self.reading.clone() };
        Self { reading, ..self.clone() }
    }
}
