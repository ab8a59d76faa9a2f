//! Arguments several commands share: which recordings, and which stacks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;

use super::failure::Failure;
use super::output::Output;
use super::proxies::OutcomeFrom;
use crate::catalog::{self, Strategies};
use crate::compare::Tuned;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, Severity, nearest};
use crate::effect::EffectTable;
use crate::preset;
use crate::reader::{
    ColumnMap, Corpus, CorpusReport, Detail, NamedBy, PriceTable, ReadOptions, RecordedCosts, SubAgents,
};
use crate::report::{refuse_half_written, unreadable};
use crate::stack::{StackFile, Use};
use crate::stats::cluster_key;
use crate::stats::label_certificate::ErrorRates;
use crate::stats::labels::{CheckedLabels, LabelErrors};
use crate::system::ConfigText;
use crate::transcript::{Event, PromptedBy, Role, Run};
use crate::verdict::Assumptions;

/// Which recordings.
#[derive(Clone, Debug, Args)]
pub(super) struct CorpusArgs {
    /// Files and folders of recordings, in whatever format they have.
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) reading: ReadingArgs,
    /// What counts as a run: the whole recording, or each round of it, from a prompt to the next. A round is a run of its
    /// own, called `RUN#1` and so on; it is taken as recorded even if a stop in an earlier one would have changed what
    /// was asked next. Rounds of a session are one cluster.
    #[arg(long, value_enum, default_value_t)]
    pub(super) unit: UnitOfRun,
}

/// What is replayed as one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum UnitOfRun {
    /// The recording.
    #[default]
    Run,
    /// A prompt and all it led to.
    Round,
}

impl UnitOfRun {
    /// How several are called.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Round => "rounds",
        }
    }
}

/// How to read them.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ReadingArgs {
    /// Read every file as this format instead of looking at its content.
    #[arg(long = "as", value_name = "FORMAT")]
    pub(super) as_format: Option<String>,
    /// A CSV file of outcomes (run_id, and any of task_id, success, score, end, secured_step). Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(super) labels: Vec<PathBuf>,
    /// Accept labels that match no run, without a warning.
    #[arg(long)]
    pub(super) allow_unmatched_labels: bool,
    /// Count a graded run as a success from this score on.
    #[arg(long, value_name = "SCORE")]
    pub(super) success_at: Option<f64>,
    /// Where the outcome stands: a field (`info.passed`), a part of the path from its end (`path:1` is the folder), or a
    /// pattern (`runs/{}/*`, `{}` for what is looked for).
    #[arg(long, value_name = "FIELD|path:N|PATTERN")]
    pub(super) outcome: Option<String>,
    /// Prices (TOML or JSON: for each model `input`, `cached`, `cache_write`, `output`, in dollars for a million
    /// tokens), to compute the cost of runs that record tokens and no cost.
    #[arg(long, value_name = "FILE")]
    pub(super) price: Option<PathBuf>,
    /// Compute the cost from `--price` also where one is recorded.
    #[arg(long = "override", requires = "price")]
    pub(super) override_costs: bool,
    /// A model that is free: its recorded costs of 0 are true. Those of others are unknown where there are tokens.
    /// Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(super) free_model: Vec<String>,
    /// Where the task stands, as for `--outcome`; `first-message` takes runs with the same first user message for trials of
    /// one task.
    #[arg(long, value_name = "FIELD|path:N|PATTERN")]
    pub(super) task: Option<String>,
    /// Where the model stands, as for `--outcome`.
    #[arg(long, value_name = "FIELD|path:N|PATTERN", value_parser = named_by)]
    pub(super) model: Option<NamedBy>,
    /// Where the run's id stands, as for `--outcome`.
    #[arg(long = "run", value_name = "FIELD|path:N|PATTERN", value_parser = named_by)]
    pub(super) run_id: Option<NamedBy>,
    /// Sub-agents are part of their parent's run (`parent`), runs of their own (`own`), or left out (`drop`).
    #[arg(long, value_name = "own|parent|drop", default_value = "parent")]
    pub(super) subagents: SubAgents,
    /// Which column of a Parquet file is what, where its layout is not a known one:
    /// `id=…,task=…,outcome=…,messages=…,cost=…,model=…`, of which only `messages` is needed.
    #[arg(long, value_name = "COLUMNS", value_parser = ColumnMap::parse)]
    pub(super) map: Option<ColumnMap>,
    /// Take marks of the recordings for outcomes where nobody graded: `interrupted=failure, undone=failure,
    /// handover=success`, or any of them; of two on one run the first named counts. They are proxies, and every table says
    /// so: no certificate is made of them unless their errors are stated (`--label-checked`).
    #[arg(long, value_name = "MARK=OUTCOME,…")]
    pub(super) outcome_from: Option<OutcomeFrom>,
    /// End at the first line, run or file that cannot be read.
    #[arg(long)]
    pub(super) strict: bool,
}

impl ReadingArgs {
    /// As the reader takes them.
    pub(super) fn options(&self) -> Result<ReadOptions, Failure> {
        Ok(ReadOptions {
            format: self.as_format.clone(),
            strict: self.strict,
            labels: self.labels.clone(),
            allow_unmatched_labels: self.allow_unmatched_labels,
            success_at: self.success_at,
            outcome_key: place(self.outcome.as_deref(), "--outcome")?.map(|_| self.outcome.clone()).unwrap_or_default(),
            task: place(self.task.as_deref().filter(|task| *task != "first-message"), "--task")?,
            model: self.model.clone(),
            run: self.run_id.clone(),
            sub_agents: self.subagents,
            prices: self.prices()?.map(Arc::new),
            recorded_costs: if self.override_costs { RecordedCosts::Overridden } else { RecordedCosts::Trusted },
            free_models: self.free_model.clone(),
            columns: self.map.clone(),
            ..ReadOptions::default()
        })
    }

    fn prices(&self) -> Result<Option<PriceTable>, Failure> {
        let Some(path) = &self.price else { return Ok(None) };
        let text = read_text(path, "give a file of prices, TOML or JSON").map_err(Failure::usage)?;
        PriceTable::parse(&path.display().to_string(), &text).map(Some).map_err(Failure::usage)
    }
}

fn named_by(text: &str) -> Result<NamedBy, String> {
    NamedBy::parse(text)
}

/// Where something stands, or what is wrong with how that is said.
fn place(text: Option<&str>, argument: &str) -> Result<Option<NamedBy>, Failure> {
    let parsed = text.map(NamedBy::parse).transpose();
    parsed.map_err(|what| {
        let help = format!("for example `{argument} info.name`, `{argument} path:1`, `{argument} 'runs/{{}}/*'`");
        Failure::usage(Diagnostic::new(Location::default(), format!("{argument}: {what}"), help))
    })
}

impl CorpusArgs {
    /// Lists what there is to read.
    pub(super) fn open(&self) -> Result<Corpus, Failure> {
        // Only `corpus` shows what is odd, so only there is it looked for.
        self.open_with(|options| ReadOptions { detail: Detail::Counts, ..options })
    }

    /// The same with other options than the arguments say.
    pub(super) fn open_with(&self, change: impl FnOnce(ReadOptions) -> ReadOptions) -> Result<Corpus, Failure> {
        open(&self.paths, change(self.reading.options()?))
    }

    /// Lists and reads everything; see [`process`].
    pub(super) fn process<T: Send>(
        &self,
        output: &Output,
        work: impl Fn(Run) -> T + Sync,
        sink: impl FnMut(T),
    ) -> Result<CorpusReport, Failure> {
        let corpus = self.open()?;
        let report = self.process_open(&corpus, output, work, sink)?;
        has_runs(&corpus, &report).map(|()| report)
    }

    /// The same of a corpus that is listed already; one without a run is no error.
    pub(super) fn process_open<T: Send>(
        &self,
        corpus: &Corpus,
        output: &Output,
        work: impl Fn(Run) -> T + Sync,
        mut sink: impl FnMut(T),
    ) -> Result<CorpusReport, Failure> {
        let task = self.reading.task.as_deref();
        if let Some(proxies) = &self.reading.outcome_from {
            output.note(&proxies.sentence(self.unit.noun()));
            let effects = EffectTable::default();
            let graded = |run: Run| {
                let runs = proxies.grade(with_task(run, task), self.unit, &effects);
                runs.into_iter().map(&work).collect::<Vec<T>>()
            };
            return process_any(Tell::All, corpus, output, graded, |results| results.into_iter().for_each(&mut sink));
        }
        if self.unit == UnitOfRun::Round {
            let rounds = |run: Run| with_task(run, task).into_rounds().into_iter().map(&work).collect::<Vec<T>>();
            return process_any(Tell::All, corpus, output, rounds, |results| results.into_iter().for_each(&mut sink));
        }
        // Limits that people set count by prompt, so sessions of several are pointed out.
        let (sessions, rounds) = (AtomicU64::new(0), AtomicU64::new(0));
        let counted = |run: Run| {
            if run.header.prompted_by == PromptedBy::Person {
                let n = run.rounds().len() as u64;
                if n > 1 {
                    sessions.fetch_add(1, Ordering::Relaxed);
                    rounds.fetch_add(n, Ordering::Relaxed);
                }
            }
            work(with_task(run, task))
        };
        let report = process_any(Tell::All, corpus, output, counted, sink)?;
        let (sessions, rounds) = (sessions.into_inner(), rounds.into_inner());
        if sessions > 0 {
            output.note(&format!(
                "{sessions} {} hold {rounds} rounds; limits count over whole sessions: `--unit round` counts as most hosts do",
                if sessions == 1 { "session" } else { "sessions" },
            ));
        }
        Ok(report)
    }
}

/// The run with a task, where it names none and `field` finds one.
fn with_task(mut run: Run, field: Option<&str>) -> Run {
    let Some(field) = field.filter(|_| run.header.task_id.is_none()) else { return run };
    run.header.task_id = match field {
        "first-message" => {
            let mut messages = run.events().iter().filter_map(Event::message);
            let first = messages.find(|message| message.role == Role::User);
            first.map(|message| format!("message-{:016x}", cluster_key(&message.text())))
        }
        _ => run.header.meta.as_ref().and_then(|meta| {
            let meta: serde_json::Map<String, serde_json::Value> = serde_json::from_str(meta.get()).ok()?;
            match meta.get(field)? {
                serde_json::Value::String(text) => Some(text.clone()),
                serde_json::Value::Null => None,
                other => Some(other.to_string()),
            }
        }),
    };
    run
}

/// Lists what there is to read under `paths`. A folder that `convert` was writing when it was ended is no corpus.
pub(super) fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Corpus, Failure> {
    paths.iter().try_for_each(|path| refuse_half_written(path)).map_err(Failure::input)?;
    Ok(Corpus::open(paths, options)?)
}

/// Reads everything: `work` in parallel, `sink` here and in order. Tells what was lost; a corpus
/// without a single run is an error.
pub(super) fn process<T: Send>(
    corpus: &Corpus,
    output: &Output,
    work: impl Fn(Run) -> T + Sync,
    sink: impl FnMut(T),
) -> Result<CorpusReport, Failure> {
    process_telling(Tell::All, corpus, output, work, sink)
}

/// What is told of the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tell {
    /// What could not be read, what is odd, and how costs were computed.
    All,
    /// How much could not be read.
    Lost,
}

/// The same, and how much of it is told.
pub(super) fn process_telling<T: Send>(
    tell: Tell,
    corpus: &Corpus,
    output: &Output,
    work: impl Fn(Run) -> T + Sync,
    sink: impl FnMut(T),
) -> Result<CorpusReport, Failure> {
    let report = process_any(tell, corpus, output, work, sink)?;
    has_runs(corpus, &report).map(|()| report)
}

/// The same, but a corpus without a run is no error.
fn process_any<T: Send>(
    tell: Tell,
    corpus: &Corpus,
    output: &Output,
    work: impl Fn(Run) -> T + Sync,
    mut sink: impl FnMut(T),
) -> Result<CorpusReport, Failure> {
    let bar = output.progress(corpus.bytes());
    let mut runs = 0_u64;
    let report = corpus.process(work, |item| {
        sink(item);
        runs += 1;
        if runs.is_multiple_of(64) {
            bar.set_position(corpus.bytes_read());
            bar.set_message(format!("{runs} runs"));
        }
    })?;
    bar.finish_and_clear();
    match tell {
        Tell::All => tell_findings(&report, output),
        Tell::Lost if report.errors > 0 => output.note(&format!(
            "{} lines or files could not be read; `whenstop corpus PATH` says which, and why",
            report.errors
        )),
        Tell::Lost => {}
    }
    Ok(report)
}

/// An error when there is no run.
pub(super) fn has_runs(corpus: &Corpus, report: &CorpusReport) -> Result<(), Failure> {
    has_read(report)?;
    if report.runs() > 0 {
        return Ok(());
    }
    let what = format!("no recorded run in {} files", corpus.n_files());
    let help = "`whenstop corpus PATH --why` says what each file was taken for; `--as FORMAT` forces a format";
    Err(Failure::nothing(what, help))
}

/// An error when there is no run, and something that may have held some could not be read.
pub(super) fn has_read(report: &CorpusReport) -> Result<(), Failure> {
    if report.runs() > 0 || report.unreadable == 0 {
        return Ok(());
    }
    Err(Failure::input(Diagnostic::new(
        Location::default(),
        format!("no recorded run, and {}", unreadable(report.unreadable)),
        "`whenstop corpus PATH` says which, and why",
    )))
}

/// Tells the first few findings and how many more there are.
fn tell_findings(report: &CorpusReport, output: &Output) {
    const SHOWN: usize = 5;
    if report.unreadable > 0 {
        output.error(&Diagnostic::new(
            Location::default(),
            format!("{}; what follows is without them", unreadable(report.unreadable)),
            "`whenstop corpus` lists them, `--strict` ends at the first",
        ));
    }
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    for finding in errors.take(SHOWN) {
        output.error(&finding.diagnostic);
    }
    for notice in &report.notices {
        match notice.severity {
            Severity::Error => output.error(&notice.diagnostic),
            Severity::Warning => output.warning(&notice.diagnostic),
        }
    }
    if let Some(pricing) = &report.pricing {
        pricing.lines().iter().for_each(|line| output.note(line));
    }
    let hidden = report.errors.saturating_sub(SHOWN as u64);
    if hidden > 0 {
        output.note(&format!("… and {hidden} more that could not be read; `whenstop corpus` lists them"));
    }
    if report.warnings > 0 {
        let warnings =
            if report.warnings == 1 { "1 warning".to_owned() } else { format!("{} warnings", report.warnings) };
        output.note(&format!("{warnings} about the recordings; `whenstop corpus` lists them"));
    }
}

/// Which stacks.
#[derive(Clone, Debug, Args)]
pub(super) struct StackArgs {
    /// A stack file, or `preset:NAME`, `preset:all`, `system:NAME`, `system:all`. Repeatable.
    #[arg(long, required = true, value_name = "FILE|preset:NAME|system:NAME")]
    pub(super) stacks: Vec<String>,
}

impl StackArgs {
    /// What the stack files among `paths` say of effects; earlier files win.
    pub(super) fn effects_of(paths: &[PathBuf]) -> Result<EffectTable, Failure> {
        let mut all = EffectTable::default();
        for path in paths {
            let (name, text) = stack_text(path, "give a stack file with `[effects]`").map_err(Failure::usage)?;
            all.extend(&StackFile::parse(&name, &text).map_err(Failure::usage)?.effects);
        }
        Ok(all)
    }

    /// Those that are stack files.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let named = self.stacks.iter().filter(|named| !named.starts_with("preset:") && !named.starts_with("system:"));
        named.map(Path::new)
    }

    /// The same of all that are files.
    pub(super) fn effects(&self) -> Result<EffectTable, Failure> {
        Self::effects_of(&self.files().map(PathBuf::from).collect::<Vec<_>>())
    }

    /// The stacks of the files that say on what grounds they were tuned.
    pub(super) fn grounds(&self) -> Result<Vec<Tuned>, Failure> {
        let mut all = Vec::new();
        for named in self.stacks.iter().filter(|named| !named.starts_with("preset:") && !named.starts_with("system:")) {
            let (name, text) = stack_text(Path::new(named), "give a stack file").map_err(Failure::usage)?;
            all.extend(Tuned::of(&StackFile::parse(&name, &text).map_err(Failure::usage)?));
        }
        Ok(all)
    }

    /// The strategies, in the order named.
    pub(super) fn load(&self) -> Result<Strategies, Failure> {
        let mut all = Strategies::new();
        for named in &self.stacks {
            all.extend(load_one(named).map_err(Failure::usage)?);
        }
        for (index, strategy) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.name() == strategy.name()) {
                let what = format!("two stacks are named `{}`", strategy.name());
                return Err(Failure::usage(Diagnostic::new(Location::default(), what, "rename one of them")));
            }
        }
        if all.is_empty() && !self.stacks.is_empty() {
            let what = "these files hold no stack";
            return Err(Failure::usage(Diagnostic::new(Location::default(), what, "begin one with `[[stack]]`")));
        }
        Ok(all)
    }
}

fn load_one(named: &str) -> Result<Strategies, Diagnostics> {
    match named.split_once(':').filter(|_| !named.contains('\n')) {
        Some(("preset", "all")) => Ok(preset::all_strategies()),
        Some(("system", "all")) => catalog::all_systems(),
        Some(("preset" | "system", name)) => {
            let used = Use { name: name.to_owned(), system: name.to_owned(), ..Use::default() };
            Ok(vec![catalog::by_name(&used)?])
        }
        _ => load_file(Path::new(named)),
    }
}

fn load_file(path: &Path) -> Result<Strategies, Diagnostics> {
    load_stack_file(path).map(|(_, strategies)| strategies)
}

/// A stack file and its strategies; where there is no such file, the preset or system of that name is offered.
pub(super) fn load_stack_file(path: &Path) -> Result<(StackFile, Strategies), Diagnostics> {
    let name = path.display().to_string();
    let near = catalog::near(&name).filter(|_| !path.exists()).map(|near| format!("did you mean `{near}`?"));
    let help = near.unwrap_or_else(|| "give a stack file, `preset:NAME` or `system:NAME`".to_owned());
    let (name, text) = stack_text(path, &help)?;
    catalog::load(&name, &text, &|config| read_config(Path::new(&name), config))
}

/// What stands for the path of a stack file that is given as its text.
const TEXT: &str = "stacks";

/// Name and text of a stack file. Several lines are no path: they are the text itself, as programs give it that have no file.
fn stack_text(path: &Path, help: &str) -> Result<(String, String), Diagnostic> {
    match path.to_str() {
        Some(text) if text.contains('\n') => Ok((TEXT.to_owned(), text.to_owned())),
        _ => Ok((path.display().to_string(), read_text(path, help)?)),
    }
}

/// A native configuration named in the stack file at `path`; its own path is relative to that.
pub(super) fn read_config(path: &Path, config: &str) -> Result<ConfigText, Diagnostic> {
    let config = path.parent().unwrap_or(Path::new("")).join(config);
    let text = read_text(&config, &near_file(&config))?;
    Ok(ConfigText { path: config.display().to_string(), text })
}

/// Advice for a file that is not there: what lies in its folder under a similar name.
fn near_file(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let near = nearest(&wanted, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`? "));
    format!("{}the path is relative to the stack file", near.unwrap_or_default())
}

/// A text file, or what is wrong with it.
pub(super) fn read_text(path: &Path, help: &str) -> Result<String, Diagnostic> {
    std::fs::read_to_string(path).map_err(|error| {
        Diagnostic::new(Location::file(path.display().to_string()), format!("cannot read: {error}"), help)
    })
}

/// How reliable the outcome labels are.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the arguments are named so")]
pub(super) struct LabelErrorArgs {
    /// Chance that a true success is labelled a success, when labels err.
    #[arg(long, value_name = "CHANCE", value_parser = super::values::share)]
    label_sensitivity: Option<f64>,
    /// Chance that a true failure is labelled a failure, when labels err.
    #[arg(long, value_name = "CHANCE", value_parser = super::values::share)]
    label_specificity: Option<f64>,
    /// Labels checked by hand: true successes, how many of them are labelled so, true failures, how many of them are
    /// labelled so. The doubt of so many checks is carried into every interval and certificate.
    #[arg(
        long,
        value_name = "N_POS,K_POS,N_NEG,K_NEG",
        value_parser = checked_labels,
        conflicts_with_all = ["label_sensitivity", "label_specificity"]
    )]
    label_checked: Option<CheckedLabels>,
}

/// Four counts, the second and fourth at most as large as the one before.
fn checked_labels(text: &str) -> Result<CheckedLabels, String> {
    let counts: Result<Vec<u64>, _> = text.split(',').map(|count| count.trim().parse::<u64>()).collect();
    match counts.as_deref() {
        Ok(&[n_pos, k_pos, n_neg, k_neg]) if k_pos <= n_pos && k_neg <= n_neg && n_pos > 0 && n_neg > 0 => {
            Ok(CheckedLabels { successes: (n_pos, k_pos), failures: (n_neg, k_neg) })
        }
        _ => Err(
            "give four counts, such as 50,47,50,44: true successes checked, of them labelled a success; true failures \
                  checked, of them labelled a failure"
                .to_owned(),
        ),
    }
}

impl LabelErrorArgs {
    /// The error rates, if any is given; one not given is perfect.
    pub(super) fn rates(&self) -> Option<ErrorRates> {
        match (self.label_checked, self.label_sensitivity.or(self.label_specificity)) {
            (Some(checked), _) => Some(ErrorRates::Checked(checked)),
            (None, None) => None,
            (None, Some(_)) => Some(ErrorRates::Stated(LabelErrors {
                sensitivity: self.label_sensitivity.unwrap_or(1.0),
                specificity: self.label_specificity.unwrap_or(1.0),
            })),
        }
    }
}

/// Assumptions that narrow the bounds beyond the recording. None is on by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Assumption {
    /// A run that failed in the end held no success earlier.
    M1,
    /// Continuing does not destroy a success.
    M2,
    /// The framework throws the work of a stopped run away.
    #[default]
    StopDiscardsWork,
}

/// Which assumptions are made.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct AssumptionArgs {
    /// Assume something that narrows the bounds; reports say so. Repeatable.
    #[arg(long, value_name = "ASSUMPTION")]
    pub(super) assume: Vec<Assumption>,
}

impl AssumptionArgs {
    /// As the verdict takes them.
    pub(super) fn assumptions(&self) -> Assumptions {
        Assumptions {
            final_failure_had_no_success: self.assume.contains(&Assumption::M1),
            continuing_keeps_success: self.assume.contains(&Assumption::M2),
            stop_discards_work: self.assume.contains(&Assumption::StopDiscardsWork),
        }
    }
}
