//! `whenstop compare`: the main job.

pub(super) mod report;
pub(super) mod shard;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as ClapArgs, ValueEnum};

use super::Exit;
use super::export::{configurations, hosts_by_stack};
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, DOUBTS, LabelErrorArgs, LoadedStacks, StackArgs, tell_troubles};
use super::output::{Format, Output, lines_of};
use super::sweep::{SplitArgs, SplitPart, divided};
use super::values::share;
use crate::aggregate::{Firings, Label, MIN_KNOWN, RowView, Rows};
use crate::answers::{Appetite, FollowedReport, tables, words};
use crate::compare::{Evaluation, Evaluator, Keeps, Options, StackInfo, Tuned};
use crate::decision::Strategy;
use crate::diagnostic::{Diagnostic, Location, nearest, one_line};
use crate::effects::EffectTable;
use crate::explain::{Story, Texts};
use crate::reader::CorpusReport;
use crate::report::{FirstAnswer, Found, Made, Publication, RowFormat, Shard};

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    appetite: AppetiteArgs,
    /// Also say what would be saved if this share of the runs failed, as with another mix of tasks.
    #[arg(long, value_name = "RATE", value_parser = share)]
    failure_rate: Option<f64>,
    /// The stack that runs today, which the others are compared with; by default the first.
    #[arg(long = "today", value_name = "STACK")]
    baseline: Option<String>,
    /// What the host keeps of a run that it stops, for graded runs: nothing; the work, so that a success is kept from
    /// its last edit on (for grading by state: patches, databases); or unknown, which reports both as a range.
    #[arg(long, value_enum, default_value_t)]
    keeps: KeepsArg,
    /// Folder for rows, tables and figures; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How much text from the recordings the page `report.html` contains.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    embed_text: EmbedText,
    #[command(flatten)]
    rows: RowArgs,
    /// Compare only one part of the tasks, for example the second of seven: `--shard 2/7 --out parts/2`. Writes the
    /// part for `whenstop merge`, without tables and figures.
    #[arg(long, value_name = "M/N", requires = "out", conflicts_with = "split")]
    shard: Option<Shard>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten, next_help_heading = "Splitting the tasks")]
    split: SplitArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    errors: LabelErrorArgs,
    #[command(flatten, next_help_heading = DOUBTS)]
    assumptions: AssumptionArgs,
}

/// How much text from the recordings a page contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EmbedText {
    /// No text: only names and ids from the recordings.
    None,
    /// Texts around the stops of runs that matter: killed, rescued, undecided, and a sample.
    #[default]
    Evidence,
    /// All texts, each cut to 600 characters.
    All,
}

impl EmbedText {
    pub(super) fn texts(self) -> Texts {
        match self {
            Self::None => Texts::None,
            Self::Evidence => Texts::Evidence,
            Self::All => Texts::All,
        }
    }
}

/// Arguments for the format of rows and firings.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(super) struct RowArgs {
    /// With `--out`: write rows and firings as `csv`, or as `parquet`, a tenth of the size.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    rows: RowsAs,
    #[command(flatten)]
    pub(super) budget: BudgetArgs,
}

/// Arguments for the budget curves.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(super) struct BudgetArgs {
    /// With `--out`: write every step of the curves to `budget.csv`, not only as many as can be drawn (1000 per
    /// curve).
    #[arg(long)]
    pub(super) whole_budget: bool,
}

/// The formats of rows.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum RowsAs {
    #[default]
    Csv,
    Parquet,
}

impl RowArgs {
    /// Converts the argument to the report's format.
    pub(super) fn format(self) -> RowFormat {
        match self.rows {
            RowsAs::Csv => RowFormat::Csv,
            RowsAs::Parquet => RowFormat::Parquet,
        }
    }
}

/// What is tolerated, and how much of the table is shown.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(super) struct AppetiteArgs {
    /// The share of successes a stack may kill, compared with the end of a 95 % bound that allows for all stacks
    /// tried. It decides the verdict, the order of the table, the figure and the choice of `--split`.
    #[arg(long, value_name = "RATE", default_value_t = Appetite::DEFAULT_MAX_KILLED, value_parser = share)]
    max_killed: f64,
    /// What a lost success costs, in dollars. If given, the stacks within `--max-killed` are ranked by what they are
    /// worth after the cost of killed successes, not by the cost of a success.
    #[arg(long, value_name = "USD", value_parser = price)]
    lost_success_costs: Option<f64>,
    /// The least share of the runs on which kills and savings have to be known for a stack to be shipped, as in
    /// `check`.
    #[arg(long, value_name = "SHARE", default_value_t = MIN_KNOWN, value_parser = share)]
    min_known: f64,
    /// Show every stack in the table, not only the best eight.
    #[arg(long)]
    all: bool,
}

impl AppetiteArgs {
    fn appetite(self) -> Appetite {
        let Self { max_killed, lost_success_costs, min_known, all } = self;
        Appetite { max_killed, lost_success_costs, min_known, all }
    }
}

/// Parses a non-negative number of dollars.
pub(super) fn price(text: &str) -> Result<f64, String> {
    let price: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if price.is_finite() && price >= 0.0 { Ok(price) } else { Err("a price is at least 0".to_owned()) }
}

/// The values of `--keeps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum KeepsArg {
    /// A success that is stopped early is lost.
    #[default]
    Nothing,
    /// A success is kept from its last edit on, unless somebody waits for a reply or nothing was changed.
    Work,
    /// Either is possible: reports both as a range.
    Unknown,
}

impl KeepsArg {
    fn keeps(self) -> Keeps {
        match self {
            Self::Nothing => Keeps::Nothing,
            Self::Work => Keeps::Work,
            Self::Unknown => Keeps::Unknown,
        }
    }
}

/// Rows and firings of a corpus under the requested strategies.
pub(super) struct Compared {
    pub(super) rows: Rows,
    pub(super) firings: Firings,
    pub(super) stacks: Vec<StackInfo>,
    /// The stories of runs; empty unless a page is made.
    pub(super) stories: Vec<Story>,
    /// Findings from reading the recordings, one line each.
    pub(super) quality: Vec<String>,
    /// The full report of the reading.
    pub(super) report: CorpusReport,
    /// What followed the stops.
    pub(super) followed: FollowedReport,
    /// One sentence per tuned stack whose certificate does not hold on these recordings, with the reason.
    pub(super) void: Vec<String>,
}

/// Replays the corpus under the stacks; with `texts`, also collects stories for a page.
pub(super) fn compare(
    corpus: &CorpusArgs,
    stacks: &LoadedStacks,
    assumptions: &AssumptionArgs,
    texts: Option<Texts>,
    keeps: Keeps,
    output: &Output,
) -> Result<Compared, Failure> {
    let from_files = (&stacks.strategies[..], &stacks.effects(), &stacks.grounds()[..]);
    compare_loaded(corpus, from_files, assumptions, texts, keeps, output)
}

/// Compares two of these strategies on recordings, as a block for a pull request: `default`, or else the first,
/// against `proposed`.
pub(super) fn held_against(
    corpus: &CorpusArgs,
    strategies: &[Arc<dyn Strategy>],
    default: Option<&str>,
    proposed: &str,
    output: &Output,
) -> Result<String, Failure> {
    let from_files = (strategies, &EffectTable::default(), &[][..]);
    let compared = compare_loaded(corpus, from_files, &AssumptionArgs::default(), None, Keeps::Nothing, output)?;
    let publication = Publication::new(compared.rows, compared.firings, compared.stacks, None, &[]);
    publication.evidence(&publication.summaries(), default, Some(proposed)).map_err(Failure::usage)
}

/// Compares strategies that are already loaded, with the effects and tuning grounds from their files.
pub(super) fn compare_loaded(
    corpus: &CorpusArgs,
    (strategies, effects, grounds): (&[Arc<dyn Strategy>], &EffectTable, &[Tuned]),
    assumptions: &AssumptionArgs,
    texts: Option<Texts>,
    keeps: Keeps,
    output: &Output,
) -> Result<Compared, Failure> {
    let hides_texts = matches!(texts, Some(Texts::None));
    let options =
        Options { assumptions: assumptions.assumptions(), effects: effects.clone(), keeps, stories: texts, grounds };
    let evaluator = Evaluator::new(strategies, options);
    let mut gathered = evaluator.gather();
    let report = corpus.process(output, |run| evaluator.of(&run), |run| gathered.take(run))?;
    tell_troubles(strategies, output);
    let Evaluation { rows, firings, followed, stacks, stories, void } = gathered.finish();
    let followed = FollowedReport::new(followed, corpus.unit.noun());
    let found = Found::of(&report);
    let quality = if hides_texts { found.without_values().lines() } else { found.lines() };
    Ok(Compared { rows, firings, stacks, stories, quality, report, followed, void })
}

/// `whenstop compare`.
pub(super) fn run(mut args: Args, output: &Output) -> Result<Exit, Failure> {
    args.stacks.or_starter(&args.corpus, output)?;
    let args = &args;
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return shard::run_shard(args, shard, out, output);
    }
    let (publication, _) = published(args, output)?;
    show(&publication, args.format, args.out.as_deref(), output)
}

/// Runs the comparison and returns it, ready to be shown and written, with the report of the reading.
pub(super) fn published(args: &Args, output: &Output) -> Result<(Publication, CorpusReport), Failure> {
    let texts = args.out.as_ref().map(|_| args.embed_text.texts());
    let loaded = args.stacks.load_some()?;
    let compared = compare(&args.corpus, &loaded, &args.assumptions, texts, args.keeps.keeps(), output)?;
    refuse_unknown_baseline(args, &compared.stacks)?;
    let assumptions = args.assumptions.assumptions().names();
    let Compared { rows, mut firings, stacks, stories, quality, report, followed, void } = compared;
    let (reported, chosen_on) = divided(rows, &args.split, |all, split| split.rows(&all), Rows::is_empty)?;
    if args.split.split != SplitPart::None {
        let reported: BTreeSet<&Label> = reported.iter().map(RowView::run_id).collect();
        firings = firings.filtered(|firing| reported.contains(&firing.run_id));
    }
    let mut publication = args
        .publication(reported, firings, stacks, &loaded, &assumptions)
        .with_made(args.made(output)?)
        .with_stories(stories, quality)
        .with_remarks(void);
    if args.split.split == SplitPart::None {
        publication = publication.with_followed(followed);
    }
    if args.split.split != SplitPart::None {
        let choice = args.split.choice(args.appetite.max_killed);
        publication = publication.with_choice(choice, chosen_on.as_ref());
    }
    Ok((publication, report))
}

impl Args {
    /// The output folder, if one was given.
    pub(super) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Adds guards of a program that embeds whenstop.
    pub(super) fn add_guards(&mut self, guards: impl Iterator<Item = Arc<dyn Strategy>>) {
        self.stacks.guards.embedded.0.extend(guards);
    }

    /// The command and the files it reads, if the result goes to a folder.
    pub(super) fn made(&self, output: &Output) -> Result<Option<Made>, Failure> {
        let Some(command) = output.command().filter(|_| self.out.is_some()) else { return Ok(None) };
        let corpus = self.corpus.open()?;
        Ok(Some(Made::of(command, corpus.files().map(|(path, _)| PathBuf::from(path)))))
    }

    /// The publication as requested by the arguments.
    fn publication(
        &self,
        rows: Rows,
        firings: Firings,
        stacks: Vec<StackInfo>,
        loaded: &LoadedStacks,
        assumptions: &[&str],
    ) -> Publication {
        // Only a folder has a page to copy them from.
        let configurations = if self.out.is_some() { configurations(loaded) } else { Vec::new() };
        Publication::new(rows, firings, stacks, self.baseline.as_deref(), assumptions)
            .with_configurations(configurations)
            .with_hosts(&hosts_by_stack(loaded))
            .with_label_errors(self.errors.rates())
            .with_proxies(self.corpus.reading.outcome_from.as_ref().map(ToString::to_string))
            .with_failure_rate(self.failure_rate)
            .with_appetite(self.appetite.appetite())
            .with_row_format(self.rows.format())
            .with_whole_budget(self.rows.budget.whole_budget)
    }
}

fn refuse_unknown_baseline(args: &Args, stacks: &[StackInfo]) -> Result<(), Failure> {
    if let Some(name) = args.baseline.as_deref().filter(|name| !stacks.iter().any(|s| &*s.name == *name)) {
        let help = match nearest(name, stacks.iter().map(|stack| &*stack.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of the stacks compared".to_owned(),
        };
        return Err(Failure::usage(Diagnostic::new(Location::default(), format!("no stack `{name}`"), help)));
    }
    Ok(())
}

/// Compares with default options but for what is tolerated, writes the report to `out` and shows it, with the evidence
/// of its runs.
pub(super) fn publish(
    corpus: &CorpusArgs,
    stacks: &StackArgs,
    appetite: Appetite,
    out: &Path,
    output: &Output,
) -> Result<Exit, Failure> {
    let texts = Some(Texts::Evidence);
    let loaded = stacks.load_some()?;
    let compared = compare(corpus, &loaded, &AssumptionArgs::default(), texts, Keeps::Nothing, output)?;
    let publication = Publication::new(compared.rows, compared.firings, compared.stacks, None, &[])
        .with_configurations(configurations(&loaded))
        .with_hosts(&hosts_by_stack(&loaded))
        .with_appetite(appetite)
        .with_stories(compared.stories, compared.quality)
        .with_followed(compared.followed);
    show(&publication, Format::Table, Some(out), output)
}

pub(super) fn show(
    publication: &Publication,
    format: Format,
    out: Option<&Path>,
    output: &Output,
) -> Result<Exit, Failure> {
    let summaries = publication.summaries();
    if let Some(out) = out {
        publication.write(&summaries, out, output.csv_style()).map_err(Failure::input)?;
    }
    match format {
        Format::Table => show_said(&publication.said(&summaries), output)?,
        Format::Json => {
            let first = publication.first(&summaries);
            output.json(&serde_json::json!({
                "schema_version": 3,
                "verdict": words::verdict(&first.verdict()),
                "ship": first.ship().map(|summary| summary.stack.to_string()),
                "standing": first.standings(),
                "summary": tables::summary(&summaries).to_json(),
                "estimates": tables::estimates(&summaries).to_json(),
                "followed": publication.followed().map(|followed| tables::followed(followed.summaries()).to_json()),
            }));
        }
        Format::Csv | Format::Md => output.table(&tables::summary(&summaries), format)?,
        // A paper has room for the first table, not for all columns.
        Format::Latex => {
            let said = publication.said(&summaries);
            output.data(&format!("% whenstop {}: {}\n", env!("CARGO_PKG_VERSION"), one_line(&said.headline)));
            output.table(&said.table.unwrap_or_default(), format)?;
        }
    }
    Ok(written(out, output))
}

/// Shows the answer, the first table, and its notes.
pub(super) fn show_said(said: &FirstAnswer, output: &Output) -> Result<(), Failure> {
    output.paragraph(&said.verdict);
    output.data("\n");
    output.paragraph(&said.headline);
    if let Some(table) = &said.table {
        output.table(table, Format::Table)?;
    }
    let mut used = lines_of(&[&said.verdict, &said.headline], &said.table.iter().collect::<Vec<_>>()) + 1;
    if let Some((words, table)) = &said.agreement {
        used += lines_of(&[words], &[table]) + 1;
    }
    output.notes(used, &said.notes);
    if let Some((words, table)) = &said.agreement {
        output.data("\n");
        output.paragraph(words);
        output.table(table, Format::Table)?;
    }
    Ok(())
}

/// Reports where the files are.
fn written(out: Option<&Path>, output: &Output) -> Exit {
    if let Some(out) = out {
        output.note(&format!("written to {}; open {}", out.display(), out.join("report.html").display()));
    }
    Exit::Done
}
