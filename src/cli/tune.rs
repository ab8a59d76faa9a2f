//! `whenstop tune`: turns recordings into the stack to ship, with its certificate, or says why there is none.

mod answer;
mod beside;
mod by;
mod decided;
mod document;
mod files;
mod forward;
mod grid;
mod limits;
mod notes;
mod part_runs;
mod parts;
mod rated;
mod refusals;
mod settings;
mod shipped;
mod tables;
mod told;
mod words;

use std::path::Path;

use super::ProgramExit;
use super::compare::shard::{ShardScope, run_shard};
use super::compare::{price, texts};
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{ByArg, CorpusArgs, GuardArgs, StackArgs};
use super::output::{AnswerFormat, Output, TableFormat};
use super::values::{one_of, share_inside};
use crate::aggregate::{LEVEL, PeriodLength, RowsBuilder};
use crate::answers::Tolerances;
use crate::answers::tables::DataTable;
use crate::answers::words::periods;
use crate::catalog::{self, Strategies};
use crate::compare::Comparison;
use crate::explain::Texts;
use crate::framework::FrameworkKind;
use crate::report::{Publication, Shard, refuse_foreign};
use crate::tune::{BUDGETS, Family, Study, StudyRun, TuneQuestion, promise};
use crate::verdict::Assumptions;
use answer::Recordings;
use beside::answer;
use decided::decide;
use grid::GridArgs;
use limits::OwnArgs;
pub(super) use parts::{answered_parts, show_parts};
use words::TuneSentences;

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    promise: PromiseArgs,
    /// What a lost success costs, in dollars; ships what is then worth most.
    ///
    /// That is the certified stack that is worth most after this cost, not the one that makes successes cheapest. Needs the
    /// runs' costs, recorded or from `--price`.
    #[arg(long, value_name = "USD", value_parser = price, conflicts_with = "signal")]
    lost_success_costs: Option<f64>,
    /// What the budget counts. Every host supports a limit of steps.
    #[arg(long, value_name = "SIGNAL", default_value = BUDGETS[0], value_parser = BUDGETS, conflicts_with = "signal",
        hide_short_help = true)]
    budget: String,
    /// Learn at most three rules on half of the tasks, certify on the other.
    ///
    /// Needs about 250 tasks with a success for 10 %, and 700 for 5 %.
    #[arg(long, conflicts_with = "signal")]
    learn: bool,
    /// With `--learn`: learn on all tasks, and estimate each fifth with the list learned without it. Gives an
    /// estimate, no proof.
    #[arg(long, requires = "learn", hide_short_help = true)]
    cross_fit: bool,
    /// Tune each class on its own: `suite`, `model`, or a field's value.
    ///
    /// The field is found as for `--outcome`. A class with too few tasks gets what is certified on all of them. The promise holds for all classes together.
    #[arg(long, value_name = "suite|model|FIELD", value_parser = ByArg::parse,
        conflicts_with_all = ["learn", "file", "lost_success_costs", "today", "signal"])]
    by: Option<ByArg>,
    /// What you run today, shown for comparison: a stack file, `preset:NAME` or `system:NAME`. Repeatable.
    #[arg(long, value_name = "FILE|preset:NAME", conflicts_with = "signal")]
    today: Vec<String>,
    /// Try each parameter of a framework around its default.
    ///
    /// Says which change to ship, if any.
    #[arg(long, value_name = "preset:NAME",
        conflicts_with_all = ["learn", "by", "lost_success_costs", "today", "anytime", "signal", "file", "guard"])]
    of: Option<String>,
    /// Would the limit chosen from the weeks before have held?
    ///
    /// For each `week` (or `day`, `month`): what `tune` ships from all runs before it, and what that killed and saved in it.
    /// Weeks are ISO weeks, in UTC, by the start of a run. Exits 0 if it held.
    #[arg(long, value_name = "week", hide_possible_values = true,
        value_parser = one_of(PeriodLength::ALL, |length| (length.name(), periods(length))),
        conflicts_with_all = ["learn", "by", "today", "shard", "split", "all_stacks", "rows"])]
    walk_forward: Option<PeriodLength>,
    /// Do not compare with the built-in rules of all frameworks; this saves most of the time.
    #[arg(long, conflicts_with = "signal", hide_short_help = true)]
    no_presets: bool,
    /// Folder for `tuned.toml`, its certificate, table, figures and a page.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<Destination>,
    /// Read only one part of the tasks, for example the second of seven: `--shard 2/7 --out parts/2`; `whenstop report`
    /// puts the parts together.
    #[arg(long, value_name = "M/N", requires = "out", conflicts_with = "split", hide_short_help = true)]
    shard: Option<Shard>,
    /// How much text from the recordings the page `report.html` contains.
    #[arg(long, default_value = "evidence", value_name = "HOW", value_parser = texts(), hide_short_help = true)]
    embed_text: Texts,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t)]
    format: AnswerFormat,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "A grid of your own")]
    grid: GridArgs,
    #[command(flatten, next_help_heading = "Limits of your own")]
    pub(super) guards: GuardArgs,
    #[command(flatten)]
    own: OwnArgs,
}

impl Args {
    /// The option that says what is compared, where it is no catalogue.
    fn asked_with(&self) -> &'static str {
        if self.of.is_some() {
            "--of"
        } else if self.grid.file.is_some() {
            "--grid"
        } else {
            "--signal"
        }
    }
}

/// What is promised of what is shipped.
#[derive(Debug, clap::Args)]
struct PromiseArgs {
    /// The share of successes that may be killed, averaged over tasks: this is what is certified.
    #[arg(long, value_name = "RATE", default_value_t = 0.05, value_parser = share_inside)]
    max_killed: f64,
    /// How sure the certificate is.
    #[arg(long, value_name = "CHANCE", default_value_t = LEVEL, value_parser = share_inside, hide_short_help = true)]
    confidence: f64,
    /// Make a certificate that stays valid when checked after every new task. It needs more tasks: it is tested by bets,
    /// not by Gaffke's statistic.
    #[arg(long, conflicts_with = "signal", hide_short_help = true)]
    anytime: bool,
}

/// The error of `--format pr` with `option`, which compares with nothing that is run today.
fn nothing_today(option: &str) -> CommandFailure {
    let what = format!("`--format pr` is not for `{option}`: nothing is run today to hold its stacks against");
    let help = format!("leave out `{option}`, or use `table`");
    CommandFailure::arguments(what, help)
}

impl Args {
    /// What is tolerated where candidates are compared.
    fn appetite(&self) -> Tolerances {
        let PromiseArgs { max_killed, confidence, .. } = self.promise;
        Tolerances { max_killed, confidence, lost_success_costs: self.lost_success_costs, ..Tolerances::default() }
    }

    /// What is asked of the catalogue. `n_today` is the number of strategies that run today.
    fn question(&self, n_today: usize) -> TuneQuestion {
        TuneQuestion {
            max_killed: self.promise.max_killed,
            confidence: self.promise.confidence,
            anytime: self.promise.anytime,
            lost_success_costs: self.lost_success_costs,
            budget: self.budget.clone(),
            learn: self.learn,
            cross_fit: self.cross_fit,
            noun: self.corpus.unit.noun().to_owned(),
            n_today,
        }
    }
}

/// The strategies shown for comparison, first those that run today, and the question.
fn asked(args: &Args) -> Result<(Strategies, TuneQuestion), CommandFailure> {
    let mut strategies: Strategies = StackArgs::named(args.today.clone()).load()?.strategies;
    let question = args.question(strategies.len());
    if !args.no_presets {
        strategies.extend(catalog::all(FrameworkKind::Preset));
    }
    Ok((strategies, question))
}

/// The families of the question, each with the number of frameworks that have a setting for it.
fn families(question: &TuneQuestion) -> Vec<Family> {
    question.families().into_iter().map(shipped::held).collect()
}

fn read(
    args: &Args,
    strategies: &Strategies,
    question: &TuneQuestion,
    output: &Output,
) -> Result<Recordings, CommandFailure> {
    let families = families(question);
    let comparison = Comparison::new(strategies, Assumptions::default());
    let plan = Study::plan(&families);
    let (mut runs, mut rows): (Vec<StudyRun>, _) = (Vec::new(), RowsBuilder::default());
    let report = args.corpus.process(
        output,
        |run| (StudyRun::from_run(&run, &families, &plan, question.kept()), comparison.rows_of(&run).0),
        |(run, of_run)| {
            runs.push(run);
            rows.extend(of_run);
        },
    )?;
    let study = Study::new(runs, families);
    Ok(Recordings { study, rows: rows.finish(), labels: report.label_draw })
}

/// `whenstop tune`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if args.walk_forward.is_some() {
        forward::refuse(args)?;
    } else if let (Some(out), None) = (&args.out, args.shard) {
        refuse_others(out)?;
    }
    if let Some(path) = &args.grid.file {
        return grid::run(args, path, output);
    }
    if let Some(name) = &args.of {
        return decide(args, &settings::around(name, output)?, output);
    }
    if args.own.are_asked_for() {
        return decide(args, &limits::own(args)?, output);
    }
    if let Some(by) = args.walk_forward {
        return forward::run(args, by, output);
    }
    refuse_contradictions(args)?;
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return run_shard(shard, out, output, |extent| part_runs::write_catalogue(args, extent, out, output));
    }
    if let Some(by) = &args.by {
        return by::run(args, by, output);
    }
    Ok(tune(args, output)?.1)
}

/// Refuses a folder whose files are not of an earlier search or comparison.
fn refuse_others(out: &Path) -> Result<(), CommandFailure> {
    refuse_foreign(out, ["certificate.json", "tuned.toml"].into_iter()).map_err(CommandFailure::input)?;
    Publication::refuse_foreign(out).map_err(CommandFailure::input)
}

/// Refuses options that contradict each other.
fn refuse_contradictions(args: &Args) -> Result<(), CommandFailure> {
    args.own.check_unused(&args.guards)?;
    if args.lost_success_costs.is_some() && args.learn {
        let what = "`--learn` chooses by what is saved, not by dollars";
        let help = "leave out `--lost-success-costs`, or `--learn`";
        return Err(CommandFailure::arguments(what, help));
    }
    if args.format == AnswerFormat::Pr && args.by.is_some() {
        return Err(nothing_today("--by"));
    }
    if args.format == AnswerFormat::Pr && args.today.is_empty() {
        let what = "`--format pr` has nothing to hold the tuned stack against";
        let help = "say what is run today: `--today preset:NAME`, or a stack file";
        return Err(CommandFailure::arguments(what, help));
    }
    Ok(())
}

/// Tunes, shows the answer, and writes the requested folder.
fn tune(args: &Args, output: &Output) -> Result<(TuneResult, ProgramExit), CommandFailure> {
    let (strategies, question) = asked(args)?;
    let recordings = read(args, &strategies, &question, output)?;
    let answer = answer(&question, &recordings);
    let words = TuneSentences { study: &recordings.study, answer: &answer, question: &question };
    let result = TuneResult::from_sentences(&words);
    match args.format.table_format() {
        Some(format) => result.show(format, output)?,
        None => show_pull_request(args, &words, output)?,
    }
    if let Some(out) = &args.out {
        files::write(args, &words, out, output)?;
        let open = format!("{}, open {}", words.to_ship(out), out.join("report.html").display());
        output.note(&format!("written to {}; {open}", out.display()));
        output.open_page(out);
    }
    Ok((result, words.exit()))
}

fn show_pull_request(args: &Args, words: &TuneSentences<'_>, output: &Output) -> Result<(), CommandFailure> {
    match words.shipped() {
        Some(shipped) => output.lines(&files::pull_request(args, words, shipped, output)?),
        None => output.paragraph(&words.verdict()),
    }
    Ok(())
}

/// Refuses what a program that embeds whenstop cannot ask.
fn refuse_embedded(args: &Args) -> Result<(), CommandFailure> {
    let is_asked = args.grid.file.is_some()
        || args.of.is_some()
        || args.walk_forward.is_some()
        || args.shard.is_some()
        || args.by.is_some();
    if is_asked { Err(for_the_command_line()) } else { Ok(()) }
}

fn for_the_command_line() -> CommandFailure {
    let what = "grids, classes, settings of a framework, `walk_forward` and parts are for the command line only";
    let help = "run `whenstop tune RUNS --grid FILE --format json`";
    CommandFailure::arguments(what, help)
}

/// Writes one part of a search, for a program that embeds whenstop. Returns the number of its runs.
pub(super) fn write_embedded(
    args: &Args,
    extent: &ShardScope,
    out: &Path,
    output: &Output,
) -> Result<u64, CommandFailure> {
    refuse_embedded(args)?;
    if args.own.are_asked_for() {
        return decided::write_own_stacks(args, &limits::own(args)?, extent, out, output);
    }
    part_runs::write_catalogue(args, extent, out, output)
}

/// The result of tuning.
#[derive(Debug)]
pub struct TuneResult {
    /// The answer in two or three sentences.
    pub verdict: String,
    /// What the recordings contain, and what they suffice for.
    pub recordings: String,
    /// What is shipped, and alternatives for comparison.
    pub table: DataTable,
    /// The same by suite and model, if there are several.
    pub strata: Option<DataTable>,
    /// What limits of the user's own detect, if that was asked.
    pub detectors: Option<DataTable>,
    /// Notes on the table.
    pub notes: Vec<String>,
    /// The stack file to ship; `None` if nothing can be recommended.
    pub stack: Option<String>,
    /// The answer as JSON, as `certificate.json` holds it.
    pub certificate: serde_json::Value,
}

/// The answer as values, for a program that embeds whenstop.
pub(super) fn answered(args: &Args, output: &Output) -> Result<TuneResult, CommandFailure> {
    refuse_embedded(args)?;
    if args.own.are_asked_for() {
        return Ok(decided::answered(args, &limits::own(args)?, TableFormat::Table, output)?.0);
    }
    refuse_contradictions(args)?;
    Ok(tune(args, output)?.0)
}

impl TuneResult {
    fn from_sentences(words: &TuneSentences<'_>) -> Self {
        Self {
            verdict: words.verdict(),
            recordings: words.recordings(),
            table: words.table(),
            strata: words.strata(),
            detectors: None,
            notes: words.notes(),
            stack: words.shipped().map(|shipped| files::tuned_stack(words, shipped)),
            certificate: words.json(),
        }
    }

    fn show(&self, format: TableFormat, output: &Output) -> Result<(), CommandFailure> {
        match format {
            TableFormat::Json => output.json(&self.certificate),
            TableFormat::Csv | TableFormat::Md | TableFormat::Latex => output.table(&self.table, format)?,
            TableFormat::Table => {
                output.paragraph(&self.verdict);
                output.data("\n");
                output.paragraph(&self.recordings);
                output.data("\n");
                output.table(&self.table, format)?;
                if output.all_notes
                    && let Some(strata) = &self.strata
                {
                    output.data("\n");
                    output.table(strata, format)?;
                }
                let used = super::output::lines_of(&[&self.verdict, &self.recordings], &[&self.table]) + 2;
                output.notes(used, &self.notes);
            }
        }
        Ok(())
    }
}
