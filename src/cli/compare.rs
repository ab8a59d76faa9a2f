//! `whenstop compare`: the main job.

mod against;
mod question;
mod scores;
pub(super) mod shard;

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;

use self::against::AgainstArgs;
pub(super) use self::question::{CompareQuestion, GatheredRuns, Published, gather, published, pull_request};
use self::scores::ScoreArgs;
use super::ProgramExit;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{AssumptionArgs, ByArg, CorpusArgs, DOUBTS, LabelErrorArgs, RecordedRuns, SplitArgs, StackArgs};
use super::output::{Output, TableFormat, lines_of};
use super::values::{one_of, share, share_inside};
use crate::aggregate::{LEVEL, MIN_KNOWN};
use crate::answers::{CompareAnswer, Tolerances, tables, words};
use crate::compare::Keeps;
use crate::diagnostic::one_line;
use crate::explain::Texts;
use crate::report::{CsvStyle, FolderFormat, Provenance, Publication, RowFormat, Shard, bullets, latex_notes, prose};

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) stacks: StackArgs,
    #[command(flatten)]
    appetite: AppetiteArgs,
    /// Also say what would be saved if this share of the runs failed, as with another mix of tasks.
    #[arg(long, value_name = "RATE", value_parser = share, hide_short_help = true)]
    failure_rate: Option<f64>,
    /// The stack that runs today, which the others are compared with; by default the first.
    #[arg(long = "today", value_name = "STACK")]
    baseline: Option<String>,
    /// What the host keeps of a run that it stops, for graded runs: nothing; the work, so that a success is kept from
    /// its last edit on (for grading by state: patches, databases); or unknown, which reports both as a range.
    #[arg(long, default_value = "nothing", value_parser = keeps())]
    keeps: Keeps,
    /// Folder for rows, tables and figures; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<Destination>,
    /// How much text from the recordings the page `report.html` contains.
    #[arg(long, default_value = "evidence", value_name = "HOW", value_parser = texts(), hide_short_help = true)]
    embed_text: Texts,
    /// With `--out`: write rows and firings as `csv`, or as `parquet`, a tenth of the size.
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = row_format(), hide_short_help = true)]
    rows: RowFormat,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    scores: ScoreArgs,
    /// With `--scores` or `--against`: answer for each `suite`, `model`, or value of a field found as for `--outcome`.
    #[arg(long, value_name = "suite|model|FIELD", value_parser = ByArg::parse, requires = "classed", hide_short_help = true)]
    by: Option<ByArg>,
    /// Compare only one part of the tasks, for example the second of seven: `--shard 2/7 --out parts/2`. Writes the
    /// part for `whenstop report`, without tables and figures.
    #[arg(long, value_name = "M/N", requires = "out", conflicts_with = "split", hide_short_help = true)]
    shard: Option<Shard>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = "Predicted, then measured")]
    against: AgainstArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    assumptions: AssumptionArgs,
}

/// The argument that says how much text from the recordings a page contains.
pub(super) fn texts() -> impl TypedValueParser<Value = Texts> {
    one_of([Texts::None, Texts::Evidence, Texts::All], |texts| match texts {
        Texts::None => ("none", "No text: only names and ids from the recordings"),
        Texts::Evidence => {
            ("evidence", "Texts around the stops of runs that matter: killed, rescued, undecided, and a sample")
        }
        Texts::All => ("all", "All texts, each cut to 600 characters"),
    })
}

/// Arguments for the budget curves.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(super) struct BudgetArgs {
    /// With `--out`: write every step of the curves to `budget.csv`, not only as many as can be drawn (1000 per
    /// curve).
    #[arg(long, hide_short_help = true)]
    pub(super) whole_budget: bool,
}

/// The argument that says in which format rows are written.
pub(super) fn row_format() -> impl TypedValueParser<Value = RowFormat> {
    one_of([RowFormat::Csv, RowFormat::Parquet], |format| match format {
        RowFormat::Csv => ("csv", ""),
        RowFormat::Parquet => ("parquet", ""),
    })
}

/// What is tolerated, and how much of the table is shown.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(super) struct AppetiteArgs {
    /// The share of successes a stack may kill, compared with the end of a bound that allows for all stacks
    /// tried. It decides the verdict, the order of the table, the figure and the choice of `--split`.
    #[arg(long, value_name = "RATE", default_value_t = Tolerances::DEFAULT_MAX_KILLED, value_parser = share)]
    max_killed: f64,
    /// The confidence of that bound.
    #[arg(long, value_name = "CHANCE", default_value_t = LEVEL, value_parser = share_inside, hide_short_help = true)]
    confidence: f64,
    /// What a lost success costs, in dollars. If given, the stacks within `--max-killed` are ranked by what they are
    /// worth after the cost of killed successes, not by the cost of a success.
    #[arg(long, value_name = "USD", value_parser = price)]
    lost_success_costs: Option<f64>,
    /// The least share of the runs on which kills and savings have to be known for a stack to be shipped, as in
    /// `check`.
    #[arg(long, value_name = "SHARE", default_value_t = MIN_KNOWN, value_parser = share, hide_short_help = true)]
    min_known: f64,
    /// Show every stack in the table, not only the best eight.
    #[arg(long)]
    all: bool,
}

impl AppetiteArgs {
    fn appetite(self) -> Tolerances {
        let Self { max_killed, confidence, lost_success_costs, min_known, all } = self;
        Tolerances { max_killed, confidence, lost_success_costs, min_known, all }
    }
}

/// Parses a non-negative number of dollars.
pub(super) fn price(text: &str) -> Result<f64, String> {
    let price: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if price.is_finite() && price >= 0.0 { Ok(price) } else { Err("a price is at least 0".to_owned()) }
}

/// The argument that says what a host keeps.
fn keeps() -> impl TypedValueParser<Value = Keeps> {
    one_of([Keeps::Nothing, Keeps::Work, Keeps::Unknown], |keeps| match keeps {
        Keeps::Nothing => ("nothing", "A success that is stopped early is lost"),
        Keeps::Work => (
            "work",
            "A success is kept from its last edit on, unless somebody waits for a reply or nothing was changed",
        ),
        Keeps::Unknown => ("unknown", "Either is possible: reports both as a range"),
    })
}

/// `whenstop compare`.
pub(super) fn run(mut args: Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if args.against.is_given() {
        return against::run(&args, output);
    }
    let runs = args.corpus.runs().with_told_limits();
    args.stacks.or_starter(&runs, output)?;
    let args = &args;
    if args.scores.are_asked() {
        return scores::run(args, output);
    }
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return shard::run_shard(shard, out, output, |extent| shard::write(args, &runs, extent, out, output));
    }
    let Published { publication, .. } = answered(args, &runs, output)?;
    let folder = args.out.as_deref().map(|out| (out, args.folder_format(output.csv)));
    show(&publication, args.format, folder, output)
}

/// Runs the comparison that the arguments ask for, once it is sure that its folder may be written to.
pub(super) fn answered(args: &Args, runs: &RecordedRuns<'_>, output: &Output) -> Result<Published, CommandFailure> {
    if let Some(out) = &args.out {
        Publication::refuse_foreign(out).map_err(CommandFailure::input)?;
    }
    let stacks = args.stacks.load_some()?;
    published(&args.question(runs, output)?, runs, &stacks, output)
}

impl Args {
    /// The formats of the folder.
    pub(super) fn folder_format(&self, csv: CsvStyle) -> FolderFormat {
        FolderFormat { rows: self.rows, whole_budget: self.budget.whole_budget, csv }
    }

    /// The command and the files it reads, if the result goes to a folder.
    fn made(&self, runs: &RecordedRuns<'_>, output: &Output) -> Result<Option<Provenance>, CommandFailure> {
        let Some(command) = output.command.as_ref().filter(|_| self.out.is_some()) else { return Ok(None) };
        Ok(Some(Provenance::from_arguments(command, runs.files()?.into_iter().map(|(path, _)| PathBuf::from(path)))))
    }

    /// The recordings, looked through for limits that their agents were told of.
    pub(super) fn runs(&self) -> RecordedRuns<'_> {
        self.corpus.runs().with_told_limits()
    }

    /// What is asked.
    pub(super) fn question(
        &self,
        runs: &RecordedRuns<'_>,
        output: &Output,
    ) -> Result<CompareQuestion<'_>, CommandFailure> {
        if self.against.is_given() {
            let help = "ask on the command line: `whenstop compare BEFORE --stacks FILE --against AFTER`";
            let what = "`against` has an answer of its own";
            return Err(CommandFailure::arguments(what, help));
        }
        Ok(CompareQuestion {
            appetite: self.appetite.appetite(),
            failure_rate: self.failure_rate,
            baseline: self.baseline.as_deref(),
            keeps: self.keeps,
            assumptions: self.assumptions.assumptions(),
            split: &self.split,
            errors: self.errors.rates(),
            proxies: self.corpus.reading.outcome_from.as_ref().map(ToString::to_string),
            texts: self.out.as_ref().map(|_| self.embed_text),
            made: self.made(runs, output)?,
        })
    }
}

/// Writes the folder, if there is one, and shows the answer.
pub(super) fn show(
    publication: &Publication,
    format: TableFormat,
    folder: Option<(&Path, FolderFormat)>,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    if let Some((out, format)) = folder {
        publication.write(out, format).map_err(CommandFailure::input)?;
    }
    show_publication(publication, format, output)?;
    if let Some((out, _)) = folder {
        output.wrote_page(out);
    }
    Ok(ProgramExit::Done)
}

/// The answer as one JSON document.
pub(super) fn json(publication: &Publication) -> serde_json::Value {
    let (summaries, first) = (publication.summaries(), publication.first());
    let standings = first.standings();
    serde_json::json!({
        "schema_version": 4,
        "verdict": words::verdict(&first.verdict()),
        "ship": first.ship().map(|summary| summary.stack.to_string()),
        "standing": standings,
        "summary": tables::summary_columns(&standings).table(summaries).to_json(),
        "estimates": tables::estimates(summaries).to_json(),
        "followed": publication.followed().map(|followed| tables::followed(followed.summaries()).to_json()),
        "notes": words::notes(&publication.answer().notes),
    })
}

/// Shows the answer in the requested format.
pub(super) fn show_publication(
    publication: &Publication,
    format: TableFormat,
    output: &Output,
) -> Result<(), CommandFailure> {
    match format {
        TableFormat::Table => show_answer(&publication.answer(), output)?,
        TableFormat::Json => output.json(&json(publication)),
        TableFormat::Csv => {
            let standings = publication.first().standings();
            output.table(&tables::summary_columns(&standings).table(publication.summaries()), format)?;
        }
        // What people read has the first table, not all columns.
        TableFormat::Md => {
            let answer = publication.answer();
            let (verdict, headline) = (words::verdict(&answer.verdict), words::headline(answer.headline.as_ref()));
            output.lines(&format!("**{}**\n\n{}.\n\n", prose(&verdict), prose(&headline)));
            output.table(&answer.table.unwrap_or_default(), format)?;
            output.lines(&format!("\n{}", bullets(&words::notes(&answer.notes))));
        }
        TableFormat::Latex => {
            let answer = publication.answer();
            let headline = words::headline(answer.headline.as_ref());
            output.lines(&format!("% whenstop {}: {}\n", env!("CARGO_PKG_VERSION"), one_line(&headline)));
            output.table(&publication.overview_for_paper(), format)?;
            output.lines(&latex_notes(&words::notes(&answer.notes)));
        }
    }
    Ok(())
}

/// Shows the answer, the first table, and its notes.
pub(super) fn show_answer(answer: &CompareAnswer, output: &Output) -> Result<(), CommandFailure> {
    let verdict = words::verdict(&answer.verdict);
    let headline = words::headline(answer.headline.as_ref());
    output.paragraph(&verdict);
    output.data("\n");
    output.paragraph(&headline);
    if let Some(table) = &answer.table {
        output.table(table, TableFormat::Table)?;
    }
    let agreement = answer.agreement.as_ref().map(|(agreeing, table)| (words::agreement(agreeing), table));
    let mut used = lines_of(&[&verdict, &headline], &answer.table.iter().collect::<Vec<_>>()) + 1;
    if let Some((sentence, table)) = &agreement {
        used += lines_of(&[sentence], &[*table]) + 1;
    }
    output.notes(used, &words::notes(&answer.notes));
    if let Some((sentence, table)) = &agreement {
        output.data("\n");
        output.paragraph(sentence);
        output.table(table, TableFormat::Table)?;
    }
    Ok(())
}
