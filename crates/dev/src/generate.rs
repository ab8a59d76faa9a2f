//! `whenstop-dev synth`: generates synthetic runs with known truth, in whenstop's own trace format.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use whenstop_core::diagnostic::{Diagnostic, Location, did_you_mean, nearest};
use whenstop_dev::synth::{Behaviour, Suite, Synthesis};
use whenstop_readers::reader::trace;

/// Arguments of `synth`.
#[derive(Debug, clap::Args)]
#[command(after_help = behaviours())]
pub(super) struct Args {
    /// How many runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Random seed; the same seed gives the same bytes on every machine.
    #[arg(long, value_name = "SEED")]
    seed: u64,
    /// The family of tasks: code, service or research.
    #[arg(long, value_name = "SUITE", default_value = "code")]
    suite: String,
    /// How many runs attempt each task.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    trials: u16,
    /// Generate only runs of this behaviour. Repeatable.
    #[arg(long = "kind", value_name = "BEHAVIOUR")]
    kinds: Vec<String>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// The behaviours with a description of each, for the help.
fn behaviours() -> String {
    let lines = Behaviour::ALL.iter().map(|behaviour| format!("  {behaviour:<22} {}", behaviour.summary()));
    format!("Behaviours:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Writes the runs to a temporary file beside `--out` and renames it.
pub(super) fn run(args: &Args) -> Result<(), Diagnostic> {
    let synthesis = synthesis(args)?;
    let n_runs = usize::try_from(args.runs).unwrap_or(usize::MAX);
    write(&synthesis, n_runs, &args.out).map_err(|error| {
        let at = Location::file(args.out.display().to_string());
        let help = "check that the folder exists, may be written to, and has room";
        Diagnostic::new(at, format!("cannot write: {error}"), help)
    })
}

fn write(synthesis: &Synthesis, n_runs: usize, out: &Path) -> io::Result<()> {
    let folder = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    synthesis.runs(n_runs).try_for_each(|run| trace::write(&run, &mut file))?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(out).map(drop).map_err(|error| error.error)
}

fn synthesis(args: &Args) -> Result<Synthesis, Diagnostic> {
    let suite = args.suite.parse().map_err(|()| unknown("suite", &args.suite, Suite::ALL.map(Suite::name)))?;
    let mut kinds = Vec::new();
    for name in &args.kinds {
        let known = Behaviour::ALL.iter().map(|behaviour| behaviour.name());
        let kind: Behaviour = name.parse().map_err(|()| unknown("behaviour", name, known))?;
        if !kind.occurs_in(suite) {
            let suites = Suite::ALL.into_iter().filter(|suite| kind.occurs_in(*suite)).map(Suite::name);
            let help = format!("it occurs in: {}", suites.collect::<Vec<_>>().join(", "));
            let what = format!("`{kind}` does not occur in the suite `{suite}`");
            return Err(Diagnostic::new(Location::default(), what, help));
        }
        kinds.push(kind);
    }
    Ok(Synthesis { suite, seed: args.seed, trials: usize::from(args.trials), kinds })
}

fn unknown<'k>(what: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let help = did_you_mean(nearest(name, known.iter().copied()), &format!("there are: {}", known.join(", ")));
    Diagnostic::new(Location::default(), format!("there is no {what} `{name}`"), help)
}
