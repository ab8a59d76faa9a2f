//! `whenstop compare`: the main job; `whenstop report`: the same from saved rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use clap::{Args as ClapArgs, ValueEnum};

use super::Exit;
use super::corpus::oddities;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, LabelErrorArgs, StackArgs, unreadable};
use super::output::{Format, Output};
use super::sweep::{SplitArgs, SplitPart, parts};
use super::values::share;
use crate::aggregate::{Firing, Firings, FiringsBuilder, Label, Row, RowView, Rows, RowsBuilder};
use crate::compare::{Comparison, Shelf, StackInfo};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::effect::EffectTable;
use crate::explain::{Story, Texts};
use crate::reader::CorpusReport;
use crate::report::{
    About, Appetite, Division, FollowedReport, Input, Publication, RowFormat, Saved, Shard, read_saved, table,
    write_part,
};
use crate::transcript::{Outcome, Run, Secured};
use crate::verdict::{Ledger, Work};

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    split: SplitArgs,
    #[command(flatten)]
    errors: LabelErrorArgs,
    #[command(flatten)]
    assumptions: AssumptionArgs,
    #[command(flatten)]
    appetite: AppetiteArgs,
    /// Also say what would be saved if this share of the runs failed, as in another mix of tasks.
    #[arg(long, value_name = "RATE", value_parser = share)]
    failure_rate: Option<f64>,
    /// The stack the others are compared with; by default the first.
    #[arg(long, value_name = "STACK")]
    baseline: Option<String>,
    /// What the host keeps of a run that it stops, in graded runs: nothing; the work, where a success counts as kept from
    /// its last edit on (graded by state: patches, databases); or unknown, where both are the ends of a range.
    #[arg(long, value_enum, default_value_t)]
    keeps: Keeps,
    /// Folder for rows, tables and figures; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How much of the recordings' texts the page `report.html` holds.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    embed_text: EmbedText,
    #[command(flatten)]
    rows: RowArgs,
    /// Compare one part of the tasks only, for example the second of seven: `--shard 2/7 --out parts/2`. The part is written
    /// for `whenstop merge`, without tables and figures.
    #[arg(long, value_name = "M/N", requires = "out", conflicts_with = "split")]
    shard: Option<Shard>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How much of the recordings' texts a page holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum EmbedText {
    /// None: a page without a word of the recordings but names and ids.
    None,
    /// Those around the stops of runs that matter: killed, rescued, undecided, and a sample.
    #[default]
    Evidence,
    /// All, each cut to 600 characters.
    All,
}

impl EmbedText {
    fn texts(self) -> Texts {
        match self {
            Self::None => Texts::None,
            Self::Evidence => Texts::Evidence,
            Self::All => Texts::All,
        }
    }
}

/// How rows and firings are written.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(super) struct RowArgs {
    /// With `--out`: rows and firings as `csv`, or as `parquet`, a tenth of the size.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    rows: RowsAs,
    #[command(flatten)]
    pub(super) budget: BudgetArgs,
}

/// How much of the budget curves is written.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(super) struct BudgetArgs {
    /// With `--out`: every step of the curves in `budget.csv`, not only as many as can be drawn (1000 a curve).
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
    /// As the report takes it.
    pub(super) fn format(self) -> RowFormat {
        match self.rows {
            RowsAs::Csv => RowFormat::Csv,
            RowsAs::Parquet => RowFormat::Parquet,
        }
    }
}

/// What a person tolerates, and how much of the table is shown.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(super) struct AppetiteArgs {
    /// The share of successes a stack may kill, by the upper end of its 95 % interval: what the verdict, the order of the
    /// table, the figure and the choice of `--split` go by.
    #[arg(long, value_name = "RATE", default_value_t = Appetite::DEFAULT_MAX_FES, value_parser = share)]
    max_fes: f64,
    /// What a lost success costs, in dollars: then what a stack is worth after its killed successes decides, and not
    /// `--max-fes`.
    #[arg(long, value_name = "USD", value_parser = price)]
    lost_success_costs: Option<f64>,
    /// Show every stack in the table, not only the best twelve.
    #[arg(long)]
    all: bool,
}

impl AppetiteArgs {
    fn appetite(self) -> Appetite {
        Appetite { max_fes: self.max_fes, lost_success_costs: self.lost_success_costs, all: self.all }
    }
}

/// A number of dollars that is not negative.
fn price(text: &str) -> Result<f64, String> {
    let price: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if price.is_finite() && price >= 0.0 { Ok(price) } else { Err("a price is at least 0".to_owned()) }
}

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
pub(super) struct ReportArgs {
    /// A folder that `compare --out` wrote.
    #[arg(value_name = "DIR")]
    rows: PathBuf,
    /// Folder for the redrawn tables and figures; by default the same.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The share of successes a stack may kill; by default the one the folder was made with.
    #[arg(long, value_name = "RATE", value_parser = share)]
    max_fes: Option<f64>,
    /// Show every stack in the table, not only the best twelve.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    budget: BudgetArgs,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: ReportShown,
    /// With `--format pr`: the stack that is shipped; by default the one the others were compared with.
    #[arg(long, value_name = "STACK")]
    default: Option<String>,
    /// With `--format pr`: the stack that is proposed instead; by default the only other one.
    #[arg(long, value_name = "STACK")]
    proposed: Option<String>,
}

/// How saved results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ReportShown {
    /// Columns for a terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// CSV with a header line.
    Csv,
    /// A Markdown table.
    Md,
    /// Evidence for a pull request elsewhere: default against proposed, in Markdown, with bounds.
    Pr,
}

/// What the host keeps of a run that it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Keeps {
    /// A success that is stopped early is lost.
    #[default]
    Nothing,
    /// A success is kept from its last edit on; where somebody waits for a reply, or nothing was changed, it is not.
    Work,
    /// Either: the ends of a range.
    Unknown,
}

impl Keeps {
    /// The rows and firings of a run, judged so.
    pub(super) fn rows_of(
        self,
        comparison: &Comparison<'_>,
        run: &Run,
        effects: &EffectTable,
    ) -> (Vec<Row>, Vec<Firing>) {
        let is_open = run.grade.outcome == Outcome::Success && run.secured() == Secured::Unverified;
        if self == Self::Nothing || !is_open {
            return comparison.rows_of(run);
        }
        // Whoever waits for a reply has nothing without it, and where nothing was changed there is nothing to keep.
        let work = Work::of(run, effects, &Ledger::of(run));
        let Some(standing) = work.standing().1.filter(|_| !work.is_awaited()) else { return comparison.rows_of(run) };
        let mut kept = run.clone();
        kept.grade.secured_step = Some(standing);
        let (kept, firings) = comparison.rows_of(&kept);
        if self == Self::Work {
            return (kept, firings);
        }
        let (mut rows, firings) = comparison.rows_of(run);
        for (row, kept) in rows.iter_mut().zip(kept) {
            row.killed_low = row.killed_low.min(kept.killed_low);
            row.outcome_high = row.outcome_high.max(kept.outcome_high);
        }
        (rows, firings)
    }
}

/// Rows and firings of a corpus under the strategies asked for.
pub(super) struct Compared {
    pub(super) rows: Rows,
    pub(super) firings: Firings,
    pub(super) stacks: Vec<StackInfo>,
    /// Runs told step by step; none unless a page is made.
    pub(super) stories: Vec<Story>,
    /// What was found while the recordings were read, a line each.
    pub(super) quality: Vec<String>,
    /// What followed the stops.
    pub(super) followed: FollowedReport,
}

/// Replays the corpus under the stacks; with `texts` runs are told for a page.
pub(super) fn compare(
    corpus: &CorpusArgs,
    stacks: &StackArgs,
    assumptions: &AssumptionArgs,
    texts: Option<Texts>,
    keeps: Keeps,
    output: &Output,
) -> Result<Compared, Failure> {
    let strategies = stacks.load()?;
    if strategies.is_empty() {
        return Err(Failure::nothing("no stack to compare", "name one with `--stacks`"));
    }
    let comparison = Comparison::new(&strategies, assumptions.assumptions());
    let (mut rows, mut firings) = (RowsBuilder::default(), FiringsBuilder::default());
    let shelf = RwLock::new(Shelf::new(texts.unwrap_or_default()));
    let effects = stacks.effects()?;
    let mut followed = Vec::new();
    let report = corpus.process(
        output,
        |run| {
            let (rows, firings) = keeps.rows_of(&comparison, &run, &effects);
            let followed = Comparison::followed(&run, &rows, &effects);
            let wanted = texts.filter(|_| shelf.read().is_ok_and(|shelf| shelf.wants(&rows)));
            let story = wanted.map(|texts| comparison.story_of(&run, &rows, texts, &effects));
            (rows, firings, followed, story)
        },
        |(more_rows, more_firings, more_followed, story)| {
            if let Some((story, mut shelf)) = story.zip(shelf.write().ok()) {
                shelf.put(&more_rows, story);
            }
            followed.extend(more_followed);
            rows.extend(more_rows);
            firings.extend(more_firings);
        },
    )?;
    let (rows, firings) = (rows.finish(), firings.finish());
    let stories = shelf.into_inner().map(Shelf::into_stories).unwrap_or_default();
    let stacks = comparison.infos().to_vec();
    let followed = FollowedReport::new(followed, corpus.unit.noun());
    Ok(Compared { rows, firings, stacks, stories, quality: quality(&report), followed })
}

/// Findings of the corpus in lines, as many as a person reads.
fn quality(report: &CorpusReport) -> Vec<String> {
    const SHOWN: usize = 200;
    let mut lines: Vec<String> = Vec::new();
    if report.unreadable > 0 {
        lines.push(unreadable(report.unreadable));
    }
    lines.extend(report.notices.iter().map(|notice| notice.diagnostic.to_string()));
    lines.extend(oddities(report));
    let more = report.findings.len().saturating_sub(SHOWN);
    lines.extend(report.findings.iter().take(SHOWN).map(|finding| finding.diagnostic.to_string()));
    if more > 0 {
        lines.push(format!("{more} more: `whenstop corpus PATH` lists them"));
    }
    lines
}

/// `whenstop compare`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return run_shard(args, shard, out, output);
    }
    let texts = args.out.as_ref().map(|_| args.embed_text.texts());
    let compared = compare(&args.corpus, &args.stacks, &args.assumptions, texts, args.keeps, output)?;
    refuse_unknown_baseline(args, &compared.stacks)?;
    let assumptions = args.assumptions.assumptions().names();
    let Compared { rows, mut firings, stacks, stories, quality, followed } = compared;
    let parts = parts(rows, &args.split)?;
    if args.split.split != SplitPart::None {
        let reported: BTreeSet<&Label> = parts.reported.iter().map(RowView::run_id).collect();
        firings = firings.filtered(|firing| reported.contains(&firing.run_id));
    }
    let mut publication =
        args.publication(parts.reported, firings, stacks, &assumptions).with_stories(stories, quality);
    if args.split.split == SplitPart::None {
        publication = publication.with_followed(followed);
    }
    if args.split.split != SplitPart::None {
        let choice = args.split.choice(args.appetite.max_fes);
        publication = publication.with_choice(choice, parts.other.as_ref());
    }
    show(&publication, args.format, args.out.as_deref(), output)
}

impl Args {
    /// What was compared, as the arguments say it is to be reported.
    fn publication(&self, rows: Rows, firings: Firings, stacks: Vec<StackInfo>, assumptions: &[&str]) -> Publication {
        Publication::new(rows, firings, stacks, self.baseline.as_deref(), assumptions)
            .with_label_errors(self.errors.rates())
            .with_proxies(self.corpus.reading.outcome_from.as_ref().map(ToString::to_string))
            .with_failure_rate(self.failure_rate)
            .with_appetite(self.appetite.appetite())
            .with_row_format(self.rows.format())
            .with_whole_budget(self.rows.budget.whole_budget)
    }
}

/// One part of a comparison, written run after run.
fn run_shard(args: &Args, shard: Shard, out: &Path, output: &Output) -> Result<Exit, Failure> {
    let strategies = args.stacks.load()?;
    if strategies.is_empty() {
        return Err(Failure::nothing("no stack to compare", "name one with `--stacks`"));
    }
    let comparison = Comparison::new(&strategies, args.assumptions.assumptions());
    refuse_unknown_baseline(args, comparison.infos())?;
    let corpus = args.corpus.open()?;
    let inputs = corpus.files().map(|(path, bytes)| Input { path: path.to_owned(), bytes }).collect();
    let mut failure = None;
    let mut runs = 0_u64;
    let (effects, texts) = (args.stacks.effects()?, args.embed_text.texts());
    let written = write_part(out, |part| {
        part.tells(texts);
        let mut state = Ok(());
        let work = |run: Run| {
            let cluster = (
                run.header.suite.as_deref().unwrap_or_default(),
                run.header.task_id.as_deref().unwrap_or(&run.header.run_id),
            );
            shard.holds(cluster).then(|| {
                let (rows, firings) = args.keeps.rows_of(&comparison, &run, &effects);
                let followed = Comparison::followed(&run, &rows, &effects);
                let story = comparison.story_of(&run, &rows, texts, &effects);
                (rows, firings, followed, story)
            })
        };
        let report = args.corpus.process_open(&corpus, output, work, |rows| {
            if state.is_ok() {
                match rows {
                    None => part.pass(),
                    Some((rows, firings, followed, story)) => {
                        runs += 1;
                        state = part.run(&rows, &firings).and_then(|()| part.tell(&rows, &followed, Some(story)));
                    }
                }
            }
        });
        state?;
        let report = report.map_err(|error| {
            let first = error.diagnostics.first().clone();
            failure = Some(error);
            first
        })?;
        let stacks = comparison.infos().to_vec();
        let publication = args
            .publication(Rows::default(), Firings::default(), stacks, &args.assumptions.assumptions().names())
            .with_stories(Vec::new(), quality(&report))
            .with_followed(FollowedReport::new(Vec::new(), args.corpus.unit.noun()));
        let comparison = publication.manifest().clone();
        Ok(About { shard, division: Division::Tasks, inputs, unreadable: report.unreadable, comparison })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written.map_err(Failure::input)?;
    output.note(&format!(
        "part {shard}: {runs} runs written to {}; put the parts together with `whenstop merge`",
        out.display()
    ));
    Ok(Exit::Done)
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

/// `whenstop report`.
pub(super) fn run_report(args: &ReportArgs, output: &Output) -> Result<Exit, Failure> {
    let Saved { rows, firings, manifest, row_format, stories, followed } =
        read_saved(&args.rows).map_err(Failure::input)?;
    if rows.is_empty() {
        return Err(Failure::nothing("the folder has no row", "write it again with `compare --out`"));
    }
    let appetite = Appetite {
        max_fes: args.max_fes.unwrap_or(manifest.max_fes),
        lost_success_costs: manifest.lost_success_costs,
        all: args.all,
    };
    let found = manifest.found.clone();
    let mut publication = Publication::from_rows(rows, firings, manifest)
        .with_appetite(appetite)
        .with_row_format(row_format)
        .with_whole_budget(args.budget.whole_budget)
        .with_stories(stories, found);
    if let Some(followed) = followed {
        publication = publication.with_followed(followed);
    }
    let format = match args.format {
        ReportShown::Table => Format::Table,
        ReportShown::Json => Format::Json,
        ReportShown::Csv => Format::Csv,
        ReportShown::Md => Format::Md,
        ReportShown::Pr => {
            let summaries = publication.summaries();
            let (default, proposed) = (args.default.as_deref(), args.proposed.as_deref());
            let text = publication.evidence(&summaries, default, proposed).map_err(Failure::usage)?;
            output.bytes(text.as_bytes());
            return Ok(Exit::Done);
        }
    };
    let out = args.out.as_deref().unwrap_or(&args.rows);
    show(&publication, format, Some(out), output)
}

/// What was compared by default, published in `out` and shown, with the evidence of its runs.
pub(super) fn publish(corpus: &CorpusArgs, stacks: &StackArgs, out: &Path, output: &Output) -> Result<Exit, Failure> {
    let texts = Some(Texts::Evidence);
    let compared = compare(corpus, stacks, &AssumptionArgs::default(), texts, Keeps::Nothing, output)?;
    let publication = Publication::new(compared.rows, compared.firings, compared.stacks, None, &[])
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
        Format::Table => {
            let first = publication.first(&summaries);
            if let (true, Some(followed)) = (first.is_ungraded(), publication.followed()) {
                show_followed(publication, followed, output)?;
                return Ok(written(out, output));
            }
            output.paragraph(&first.verdict());
            output.data("\n");
            output.paragraph(&publication.headline());
            if !first.shown.is_empty() {
                output.table(&publication.overview(&summaries), format)?;
            }
            let below = first.below();
            let standing = publication.followed().and_then(FollowedReport::standing);
            let notes: Vec<String> = below.into_iter().chain(publication.notes(&summaries)).chain(standing).collect();
            if !notes.is_empty() {
                output.data("\n");
            }
            for note in &notes {
                output.paragraph(note);
            }
        }
        Format::Json => {
            let first = publication.first(&summaries);
            output.json(&serde_json::json!({
                "schema_version": 2,
                "verdict": first.verdict(),
                "ship": first.ship().map(|summary| summary.stack.to_string()),
                "summary": table::summary(&summaries).to_json(),
            }));
        }
        Format::Csv | Format::Md => output.table(&table::summary(&summaries), format)?,
    }
    Ok(written(out, output))
}

/// The first table where nobody graded the runs.
pub(super) fn show_followed(
    publication: &Publication,
    followed: &FollowedReport,
    output: &Output,
) -> Result<(), Failure> {
    output.paragraph(&followed.verdict());
    output.data("\n");
    output.paragraph(&publication.headline());
    output.table(&followed.table(), Format::Table)?;
    output.data("\n");
    followed.notes().iter().for_each(|note| output.paragraph(note));
    if let Some(agreement) = followed.agreement() {
        output.data("\n");
        output.paragraph(&followed.agreement_words());
        output.table(&agreement, Format::Table)?;
    }
    Ok(())
}

/// Says where the files are.
fn written(out: Option<&Path>, output: &Output) -> Exit {
    if let Some(out) = out {
        output.note(&format!("written to {}; open {}", out.display(), out.join("report.html").display()));
    }
    Exit::Done
}
