//! whenstop for Python: paths in, rows out. What is of Python (tables, engines, notebooks) is in `whenstop/`.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use whenstop::aggregate::{Firing, Firings, FiringsBuilder, Row, Rows, RowsBuilder};
use whenstop::catalog::{self, Strategies};
use whenstop::compare::Comparison;
use whenstop::diagnostic::{Diagnostic, Diagnostics, Location, lines};
use whenstop::preset;
use whenstop::reader::{ColumnMap, Corpus, Detail, ReadError, ReadOptions};
use whenstop::report::{
    About, CsvStyle, Division, Input, Merge, Publication, RowFormat, Shard, parquet_bytes, write_part,
};
use whenstop::stack::Use;
use whenstop::system::ConfigText;
use whenstop::verdict::Assumptions;

/// What, where and how to fix, on its way to `whenstop.Error`.
struct Failed(Diagnostic);

impl From<Diagnostic> for Failed {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(diagnostic)
    }
}

impl From<Diagnostics> for Failed {
    fn from(all: Diagnostics) -> Self {
        let mut told: Vec<Diagnostic> = all.into_iter().collect();
        let mut first = told.remove(0);
        for other in told {
            first.what = format!("{}; {}: {}", first.what, other.at, other.what);
        }
        Self(first)
    }
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        if let ReadError::Strict(diagnostic) | ReadError::Labels(diagnostic) = error {
            return Self(diagnostic);
        }
        let mut what = error.to_string();
        if let Some(cause) = std::error::Error::source(&error) {
            what = format!("{what}: {cause}");
        }
        Self(Diagnostic::new(Location::default(), what, error.help()))
    }
}

impl From<Failed> for PyErr {
    fn from(Failed(told): Failed) -> Self {
        Python::attach(|py| {
            let class = py.import("whenstop._error").and_then(|module| module.getattr("Error"));
            let at = if told.at.path.is_empty() { None } else { Some(told.at.to_string()) };
            match class.and_then(|class| class.call1((lines(&told.what).to_string(), at, told.help.clone()))) {
                Ok(error) => Self::from_value(error),
                Err(error) => error,
            }
        })
    }
}

/// Stacks by name, by path, or as the text of a stack file.
fn strategies(stacks: &[String]) -> Result<Strategies, Failed> {
    let mut all = Strategies::new();
    for named in stacks {
        all.extend(load(named)?);
    }
    for (index, strategy) in all.iter().enumerate() {
        if all[..index].iter().any(|other| other.name() == strategy.name()) {
            let what = format!("two stacks are named `{}`", strategy.name());
            return Err(Diagnostic::new(Location::default(), what, "rename one of them").into());
        }
    }
    if all.is_empty() {
        let help = "give `preset:NAME`, `system:NAME`, a stack file, or its text";
        return Err(Diagnostic::new(Location::default(), "no stack to compare", help).into());
    }
    Ok(all)
}

fn load(named: &str) -> Result<Strategies, Failed> {
    let config = |path: &Path, config: &str| -> Result<ConfigText, Diagnostic> {
        let config = path.parent().unwrap_or(Path::new("")).join(config);
        let text = read(&config)?;
        Ok(ConfigText { path: config.display().to_string(), text })
    };
    if named.contains('\n') {
        return Ok(catalog::load("stacks", named, &|name| config(Path::new("stacks"), name))?.1);
    }
    match named.split_once(':') {
        Some(("preset", "all")) => Ok(preset::all_strategies()),
        Some(("system", "all")) => Ok(catalog::all_systems()?),
        Some(("preset" | "system", name)) => {
            let used = Use { name: name.to_owned(), system: name.to_owned(), ..Use::default() };
            Ok(vec![catalog::by_name(&used)?])
        }
        _ => Ok(catalog::load(named, &read(Path::new(named))?, &|name| config(Path::new(named), name))?.1),
    }
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    std::fs::read_to_string(path).map_err(|error| {
        let help = "give a stack file, its text, `preset:NAME` or `system:NAME`";
        Diagnostic::new(Location::file(path.display().to_string()), format!("cannot read: {error}"), help)
    })
}

fn open(paths: &[PathBuf], columns: Option<&str>, labels: Vec<PathBuf>, detail: Detail) -> Result<Corpus, Failed> {
    let columns = columns.map(ColumnMap::parse).transpose().map_err(|what| {
        let help = "write `id=…,task=…,outcome=…,messages=…`";
        Diagnostic::new(Location::default(), format!("columns: {what}"), help)
    })?;
    Ok(Corpus::open(paths, ReadOptions { columns, labels, detail, ..ReadOptions::default() })?)
}

fn no_runs(corpus: &Corpus) -> Failed {
    let what = format!("no recorded run in {} files", corpus.n_files());
    Diagnostic::new(Location::default(), what, "`whenstop.corpus(paths)` says what each file was taken for").into()
}

/// What came of a comparison: rows and firings as Parquet, the report of the reading, and what the first table says.
type Compared<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, String, String);

/// Replays runs under stacks.
#[pyfunction]
#[pyo3(signature = (paths, stacks, columns=None, labels=Vec::new(), out=None))]
fn compare<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    stacks: Vec<String>,
    columns: Option<String>,
    labels: Vec<PathBuf>,
    out: Option<PathBuf>,
) -> PyResult<Compared<'py>> {
    let work = || -> Result<_, Failed> {
        let strategies = strategies(&stacks)?;
        let comparison = Comparison::new(&strategies, Assumptions::default());
        let corpus = open(&paths, columns.as_deref(), labels, Detail::Counts)?;
        let (mut rows, mut firings) = (RowsBuilder::default(), FiringsBuilder::default());
        let report = corpus.process(
            |run| comparison.rows_of(&run),
            |(more, fired)| {
                rows.extend(more);
                firings.extend(fired);
            },
        )?;
        let (rows, firings) = (rows.finish(), firings.finish());
        if rows.is_empty() {
            return Err(no_runs(&corpus));
        }
        let failed = |error: &dyn std::fmt::Display| {
            Failed(Diagnostic::new(
                Location::default(),
                error.to_string(),
                "this is a defect of whenstop: please report it",
            ))
        };
        let bytes = (
            parquet_bytes::<Row>(&rows).map_err(|error| failed(&error))?,
            parquet_bytes::<Firing>(firings.iter()).map_err(|error| failed(&error))?,
        );
        let publication = Publication::new(rows, firings, comparison.infos().to_vec(), None, &[]);
        let summaries = publication.summaries();
        if let Some(out) = &out {
            publication.write(&summaries, out, CsvStyle::Plain)?;
        }
        let first = publication.first(&summaries);
        let told = serde_json::json!({
            "verdict": first.verdict(),
            "ship": first.ship().map(|summary| summary.stack.to_string()),
            "headline": publication.headline(),
            "table": publication.overview(&summaries).to_markdown(),
            "notes": first.below().into_iter().chain(publication.notes(&summaries)).collect::<Vec<_>>(),
        });
        let report = serde_json::to_string(&report).map_err(|error| failed(&error))?;
        Ok((bytes.0, bytes.1, report, told.to_string()))
    };
    let (rows, firings, report, told) = py.detach(work)?;
    Ok((PyBytes::new(py, &rows), PyBytes::new(py, &firings), report, told))
}

/// What is in these files, as JSON.
#[pyfunction]
#[pyo3(signature = (paths, columns=None, labels=Vec::new()))]
fn corpus(py: Python<'_>, paths: Vec<PathBuf>, columns: Option<String>, labels: Vec<PathBuf>) -> PyResult<String> {
    let work = || -> Result<String, Failed> {
        let corpus = open(&paths, columns.as_deref(), labels, Detail::Runs)?;
        let report = corpus.process(|_| (), |()| ())?;
        Ok(serde_json::to_string(&report).unwrap_or_default())
    };
    Ok(py.detach(work)?)
}

/// The files under these paths with their sizes, in the order they are read in.
#[pyfunction]
fn files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<(String, u64)>> {
    let work = || -> Result<_, Failed> {
        let corpus = open(&paths, None, Vec::new(), Detail::Counts)?;
        Ok(corpus.files().map(|(path, bytes)| (path.to_owned(), bytes)).collect())
    };
    Ok(py.detach(work)?)
}

/// Writes part `number` of `of`: what `paths`, read by this part alone, come to. `names` are what the files are called in the
/// part's manifest.
#[pyfunction]
#[pyo3(signature = (paths, names, stacks, number, of, out, columns=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a Python function")]
fn part(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    names: Vec<String>,
    stacks: Vec<String>,
    number: u32,
    of: u32,
    out: PathBuf,
    columns: Option<String>,
) -> PyResult<()> {
    let work = || -> Result<(), Failed> {
        let strategies = strategies(&stacks)?;
        let comparison = Comparison::new(&strategies, Assumptions::default());
        let pass = Pass::new(comparison, EffectTable::default()).telling(Some(Texts::Evidence));
        let corpus = open(&paths, columns.as_deref(), Vec::new(), Detail::Counts)?;
        let read: Vec<(&str, u64)> = corpus.files().collect();
        let names = if names.len() == read.len() {
            names.clone()
        } else {
            read.iter().map(|(path, _)| (*path).to_owned()).collect()
        };
        let inputs = names.into_iter().zip(&read).map(|(path, (_, bytes))| Input { path, bytes: *bytes }).collect();
        let mut failure = None;
        let written = write_part(&out, |part| {
            let mut state = Ok(());
            let report = corpus.process(
                |run| pass.of(&run),
                |mut run| {
                    if state.is_ok() {
                        pass.tell(&mut run);
                        state = part.run(&run);
                    }
                },
            );
            state?;
            let report = report.map_err(|error| {
                let Failed(told) = error.into();
                failure = Some(told.clone());
                told
            })?;
            let publication =
                Publication::new(Rows::default(), Firings::default(), pass.comparison().infos().to_vec(), None, &[]);
            let (shard, division) = (Shard { number, of }, Division::Files);
            let (unreadable, comparison) = (report.unreadable, publication.manifest().clone());
            let told = pass.into_shelf();
            Ok(About { shard, division, inputs, unreadable, comparison, told })
        });
        Ok(failure.map_or(written, Err)?)
    };
    Ok(py.detach(work)?)
}

/// Puts parts together.
#[pyfunction]
#[pyo3(signature = (parts, out, parquet=false))]
fn merge(py: Python<'_>, parts: Vec<PathBuf>, out: PathBuf, parquet: bool) -> PyResult<u64> {
    let work = || -> Result<u64, Failed> {
        let merge = Merge::open(&parts)?;
        let (rows, firings) = merge.rows()?;
        let n = rows.len() as u64;
        let Some(manifest) = merge.comparison().cloned().filter(|_| n > 0) else {
            let help = "compare recordings that have some";
            return Err(Diagnostic::new(Location::default(), "the parts hold no run", help).into());
        };
        let format = if parquet { RowFormat::Parquet } else { RowFormat::Csv };
        let publication = Publication::from_rows(rows, firings, manifest).with_row_format(format);
        let summaries = publication.summaries();
        publication.write(&summaries, &out, CsvStyle::Plain)?;
        Ok(n)
    };
    Ok(py.detach(work)?)
}

/// The command line; gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| whenstop::cli::main(arguments.into_iter().map(Into::into)) as u8)
}

/// What `whenstop` is made of.
#[pymodule]
mod _whenstop {
    #[pymodule_export]
    use super::{compare, corpus, files, main, merge, part};
}
