//! `whenstop compare`: the main job; `whenstop report`: the same from saved rows; and the example.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::Exit;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, LabelErrorArgs, ReadingArgs, StackArgs, UnitOfRun};
use super::output::{Format, Output};
use super::sweep::{SplitArgs, SplitPart, parts, share};
use crate::aggregate::{Firing, Firings, FiringsBuilder, Label, Row, RowView, Rows, RowsBuilder};
use crate::compare::{Comparison, StackInfo};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::effect::EffectTable;
use crate::report::{Appetite, FollowedReport, Publication, Saved, read_saved, table};
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
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
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

/// Arguments of the example that runs without a command.
#[derive(Debug, ClapArgs)]
pub(super) struct ExampleArgs {
    /// Where the example writes its report.
    #[arg(long, value_name = "DIR", default_value = "reports/example")]
    out: PathBuf,
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
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What the host keeps of a run that it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Keeps {
    /// A success that is stopped early is lost.
    #[default]
    Nothing,
    /// A success is kept from its last edit on.
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
        let (_, standing) = Work::of(run, effects, &Ledger::of(run)).standing();
        let mut kept = run.clone();
        kept.grade.secured_step = Some(standing.unwrap_or(0));
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
    /// Files, folders, archives and members that could not be read, or not to their end.
    pub(super) unreadable: u64,
    /// What followed the stops.
    pub(super) followed: FollowedReport,
}

/// Replays the corpus under the stacks.
pub(super) fn compare(
    corpus: &CorpusArgs,
    stacks: &StackArgs,
    assumptions: &AssumptionArgs,
    keeps: Keeps,
    output: &Output,
) -> Result<Compared, Failure> {
    let strategies = stacks.load()?;
    if strategies.is_empty() {
        return Err(Failure::nothing("no stack to compare", "name one with `--stacks`"));
    }
    let comparison = Comparison::new(&strategies, assumptions.assumptions());
    let (mut rows, mut firings) = (RowsBuilder::default(), FiringsBuilder::default());
    let effects = stacks.effects()?;
    let mut followed = Vec::new();
    let report = corpus.process(
        output,
        |run| {
            let (rows, firings) = keeps.rows_of(&comparison, &run, &effects);
            let followed = Comparison::followed(&run, &rows, &effects);
            (rows, firings, followed)
        },
        |(more_rows, more_firings, more_followed)| {
            followed.extend(more_followed);
            rows.extend(more_rows);
            firings.extend(more_firings);
        },
    )?;
    let (rows, firings) = (rows.finish(), firings.finish());
    let followed = FollowedReport::new(followed, corpus.unit.noun());
    Ok(Compared { rows, firings, stacks: comparison.infos().to_vec(), unreadable: report.unreadable, followed })
}

/// `whenstop compare`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let compared = compare(&args.corpus, &args.stacks, &args.assumptions, args.keeps, output)?;
    if let Some(name) = args.baseline.as_deref().filter(|name| !compared.stacks.iter().any(|s| &*s.name == *name)) {
        let help = match nearest(name, compared.stacks.iter().map(|stack| &*stack.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of the stacks compared".to_owned(),
        };
        return Err(Failure::usage(Diagnostic::new(Location::default(), format!("no stack `{name}`"), help)));
    }
    let assumptions = args.assumptions.assumptions().names();
    let Compared { rows, mut firings, stacks, followed, .. } = compared;
    let parts = parts(rows, &args.split)?;
    if args.split.split != SplitPart::None {
        let reported: BTreeSet<&Label> = parts.reported.iter().map(RowView::run_id).collect();
        firings = firings.filtered(|firing| reported.contains(&firing.run_id));
    }
    let mut publication = Publication::new(parts.reported, firings, stacks, args.baseline.as_deref(), &assumptions)
        .with_label_errors(args.errors.rates())
        .with_failure_rate(args.failure_rate)
        .with_appetite(args.appetite.appetite());
    if args.split.split == SplitPart::None {
        publication = publication.with_followed(followed);
    }
    if args.split.split != SplitPart::None {
        let choice = args.split.choice(args.appetite.max_fes);
        publication = publication.with_choice(choice, parts.other.as_ref());
    }
    show(&publication, args.format, args.out.as_deref(), output)
}

/// `whenstop report`.
pub(super) fn run_report(args: &ReportArgs, output: &Output) -> Result<Exit, Failure> {
    let Saved { rows, firings, manifest, followed } = read_saved(&args.rows).map_err(Failure::input)?;
    let noun = if manifest.unit.is_some() { UnitOfRun::Round.noun() } else { UnitOfRun::Run.noun() };
    if rows.is_empty() {
        return Err(Failure::nothing("`rows.csv` has no row", "write it again with `compare --out`"));
    }
    let appetite = Appetite {
        max_fes: args.max_fes.unwrap_or(manifest.max_fes),
        lost_success_costs: manifest.lost_success_costs,
        all: args.all,
    };
    let mut publication = Publication::from_rows(rows, firings, manifest).with_appetite(appetite);
    if !followed.is_empty() {
        publication = publication.with_followed(FollowedReport::new(followed, noun));
    }
    let out = args.out.as_deref().unwrap_or(&args.rows);
    show(&publication, args.format, Some(out), output)
}

/// Without a command: the bundled stacks on the bundled recordings.
pub(super) fn run_example(args: &ExampleArgs, output: &Output) -> Result<Exit, Failure> {
    let (traces, stacks) = (bundled("traces")?, bundled("fixtures/stacks/example.toml")?);
    let corpus = CorpusArgs { paths: vec![traces.clone()], reading: ReadingArgs::default(), unit: UnitOfRun::Run };
    let stacks = StackArgs { stacks: vec![stacks.display().to_string()] };
    output.note(&format!("comparing {} on {}", stacks.stacks[0], traces.display()));
    let compared = compare(&corpus, &stacks, &AssumptionArgs::default(), Keeps::Nothing, output)?;
    let publication =
        Publication::new(compared.rows, compared.firings, compared.stacks, None, &[]).with_followed(compared.followed);
    let exit = show(&publication, Format::Table, Some(&args.out), output)?;
    let agents = super::local::agents_here();
    if !agents.is_empty() {
        output.note(&format!("sessions of {} are on this machine: `whenstop local` looks at them", agents.join(", ")));
    }
    Ok(exit)
}

/// A bundled path: in the current folder, else where this program was built.
fn bundled(name: &str) -> Result<PathBuf, Failure> {
    let places = [PathBuf::from(name), Path::new(env!("CARGO_MANIFEST_DIR")).join(name)];
    places.into_iter().find(|place| place.exists()).ok_or_else(|| {
        let help = "run it in a checkout of whenstop, or compare your own: `whenstop compare PATH --stacks FILE`";
        Failure::input(Diagnostic::new(Location::file(name), "the bundled example is not here", help))
    })
}

fn show(publication: &Publication, format: Format, out: Option<&Path>, output: &Output) -> Result<Exit, Failure> {
    let summaries = publication.summaries();
    if let Some(out) = out {
        publication.write(&summaries, out, output.csv_style()).map_err(Failure::input)?;
    }
    match format {
        Format::Table => {
            let first = publication.first(&summaries);
            if let (true, Some(followed)) = (first.is_ungraded(), publication.followed()) {
                show_followed(publication, followed, output)?;
                return written(out, output);
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
    written(out, output)
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
fn written(out: Option<&Path>, output: &Output) -> Result<Exit, Failure> {
    if let Some(out) = out {
        output.note(&format!("written to {}; start with {}", out.display(), out.join("summary.md").display()));
    }
    Ok(Exit::Done)
}
