//! `whenstop compare`: the main job; `whenstop report`: the same from saved rows; and the example.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::Exit;
use super::failure::Failure;
use super::inputs::{AssumptionArgs, CorpusArgs, LabelErrorArgs, ReadingArgs, StackArgs};
use super::output::{Format, Output};
use super::sweep::{SplitArgs, SplitPart, parts, share};
use crate::aggregate::{Firing, Label, Row};
use crate::compare::{Comparison, StackInfo};
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::report::{Publication, read_manifest, read_rows, table};

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
    /// With `--split`, choose the stack that saves most among those whose rate of false early stops is at most this, by
    /// the upper end of its 95 % interval.
    #[arg(long, value_name = "RATE", default_value_t = 0.05, value_parser = share)]
    max_fes: f64,
    /// The stack the others are compared with; by default the first.
    #[arg(long, value_name = "STACK")]
    baseline: Option<String>,
    /// Folder for rows, tables and figures; without it only the table is printed.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
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
    /// How the table is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Rows and firings of a corpus under the strategies asked for.
pub(super) struct Compared {
    pub(super) rows: Vec<Row>,
    pub(super) firings: Vec<Firing>,
    pub(super) stacks: Vec<StackInfo>,
    /// Files, folders, archives and members that could not be read, or not to their end.
    pub(super) unreadable: u64,
}

/// Replays the corpus under the stacks.
pub(super) fn compare(
    corpus: &CorpusArgs,
    stacks: &StackArgs,
    assumptions: &AssumptionArgs,
    output: &Output,
) -> Result<Compared, Failure> {
    let strategies = stacks.load()?;
    if strategies.is_empty() {
        return Err(Failure::nothing("no stack to compare", "name one with `--stacks`"));
    }
    let comparison = Comparison::new(&strategies, assumptions.assumptions());
    let (mut rows, mut firings) = (Vec::new(), Vec::new());
    let report = corpus.process(
        output,
        |run| comparison.rows_of(&run),
        |(more_rows, more_firings)| {
            rows.extend(more_rows);
            firings.extend(more_firings);
        },
    )?;
    Ok(Compared { rows, firings, stacks: comparison.infos().to_vec(), unreadable: report.unreadable })
}

/// `whenstop compare`.
pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, Failure> {
    let compared = compare(&args.corpus, &args.stacks, &args.assumptions, output)?;
    if let Some(name) = args.baseline.as_deref().filter(|name| !compared.stacks.iter().any(|s| &*s.name == *name)) {
        let help = match nearest(name, compared.stacks.iter().map(|stack| &*stack.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of the stacks compared".to_owned(),
        };
        return Err(Failure::usage(Diagnostic::new(Location::default(), format!("no stack `{name}`"), help)));
    }
    let assumptions = args.assumptions.assumptions().names();
    let Compared { rows, mut firings, stacks, .. } = compared;
    let parts = parts(rows, &args.split)?;
    if args.split.split != SplitPart::None {
        let reported: BTreeSet<Label> = parts.reported.iter().map(|row| row.run_id.clone()).collect();
        firings.retain(|firing| reported.contains(&firing.run_id));
    }
    let mut publication = Publication::new(parts.reported, firings, stacks, args.baseline.as_deref(), &assumptions)
        .with_label_errors(args.errors.errors());
    if args.split.split != SplitPart::None {
        let choice = args.split.choice(args.max_fes);
        publication =
            publication.with_choice(choice, parts.other.as_deref()).map_err(|error| Failure::internal(&error))?;
    }
    show(&publication, args.format, args.out.as_deref(), output)
}

/// `whenstop report`.
pub(super) fn run_report(args: &ReportArgs, output: &Output) -> Result<Exit, Failure> {
    let rows: Vec<Row> = read_rows(&args.rows.join("rows.csv")).map_err(Failure::input)?;
    let firings: Vec<Firing> = read_rows(&args.rows.join("firings.csv")).map_err(Failure::input)?;
    if rows.is_empty() {
        return Err(Failure::nothing("`rows.csv` has no row", "write it again with `compare --out`"));
    }
    let manifest = read_manifest(&args.rows).map_err(Failure::input)?;
    let publication = Publication::from_rows(rows, firings, manifest);
    let out = args.out.as_deref().unwrap_or(&args.rows);
    show(&publication, args.format, Some(out), output)
}

/// Without a command: the bundled stacks on the bundled recordings.
pub(super) fn run_example(args: &ExampleArgs, output: &Output) -> Result<Exit, Failure> {
    let (traces, stacks) = (bundled("traces")?, bundled("fixtures/stacks/example.toml")?);
    let corpus = CorpusArgs { paths: vec![traces.clone()], reading: ReadingArgs::default() };
    let stacks = StackArgs { stacks: vec![stacks.display().to_string()] };
    output.note(&format!("comparing {} on {}", stacks.stacks[0], traces.display()));
    let compared = compare(&corpus, &stacks, &AssumptionArgs::default(), output)?;
    let publication = Publication::new(compared.rows, compared.firings, compared.stacks, None, &[]);
    show(&publication, Format::Table, Some(&args.out), output)
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
    let summaries = publication.summaries().map_err(|error| Failure::internal(&error))?;
    if let Some(out) = out {
        publication.write(&summaries, out).map_err(Failure::input)?;
    }
    match format {
        Format::Table => {
            output.data(&format!("{}\n", publication.headline()));
            output.table(&publication.overview(&summaries), format)?;
            let notes = publication.notes(&summaries);
            if !notes.is_empty() {
                output.data(&format!("\n{}\n", notes.join("\n")));
            }
        }
        Format::Json => {
            output.json(&serde_json::json!({ "schema_version": 1, "summary": table::summary(&summaries).to_json() }));
        }
        Format::Csv | Format::Md => output.table(&table::summary(&summaries), format)?,
    }
    if let Some(out) = out {
        output.note(&format!("written to {}; start with {}", out.display(), out.join("summary.md").display()));
    }
    Ok(Exit::Done)
}
