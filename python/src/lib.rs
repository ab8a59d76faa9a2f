//! whenstop for Python: values in, rows and texts out. What is done with them is the command line's own code
//! (`whenstop::cli::embedded`); what is of Python (tables, engines, notebooks) is in `whenstop/`.

mod live;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use polars::prelude::*;
use polars_arrow::array::{Array, StructArray};
use polars_arrow::ffi::{ArrowArrayStream, export_iterator};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Value, json};
use whenstop::answers::tables::DataTable;
use whenstop::answers::words;
use whenstop::cli::embedded::{self, Compared, EmbeddedGuard, KeywordArguments, OptionValue, TuneResult};
use whenstop::decision::Program;
use whenstop::diagnostic::{Diagnostic, Diagnostics, Location, lines};
use whenstop::guard::{GuardFailure, Link};
use whenstop::reader::{Corpus, Detail, ReadError, ReadOptions};
use whenstop::report::Shard;

/// What, where and how to fix, on its way to `whenstop.Error`.
struct Failed(Diagnostic);

impl From<Diagnostics> for Failed {
    fn from(all: Diagnostics) -> Self {
        let mut first = all.first().clone();
        for other in all.iter().skip(1) {
            let at = if other.at.path.is_empty() { String::new() } else { format!("{}: ", other.at) };
            first.what = format!("{}; {at}{}", first.what, other.what);
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

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        let help = "this is a defect of whenstop: please report it";
        Self(Diagnostic::new(Location::default(), error.to_string(), help))
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

/// A table as Markdown, and as the texts of its cells, the names of the columns first.
fn table(table: &DataTable) -> Value {
    json!({ "markdown": table.to_markdown(), "cells": table.texts() })
}

/// What came of a comparison: rows and firings, the report of the reading, and what is said first.
type Told = (ArrowTable, ArrowTable, String, String);

/// A data frame that pyarrow, polars and pandas take over without a copy, by Arrow's C stream.
#[pyclass(frozen)]
struct ArrowTable(DataFrame);

#[pymethods]
impl ArrowTable {
    /// The stream, as Arrow's `PyCapsule` interface has it. What schema is asked for is a wish; this one is given.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, arrow_stream(&self.0), c"arrow_array_stream")
    }
}

fn arrow_stream(frame: &DataFrame) -> ArrowArrayStream {
    let level = CompatLevel::oldest();
    let fields = frame.schema().iter_fields().map(|field| field.to_arrow(level)).collect();
    let dtype = ArrowDataType::Struct(fields);
    let mut chunks = Vec::new();
    for chunk in frame.iter_chunks(level, false) {
        let chunk = StructArray::new(dtype.clone(), chunk.len(), chunk.into_arrays(), None);
        chunks.push(Ok(Box::new(chunk) as Box<dyn Array>));
    }
    export_iterator(Box::new(chunks.into_iter()), ArrowField::new(PlSmallStr::EMPTY, dtype, false))
}

/// An object of Python that answers the lines of the guard protocol (`whenstop._guards.Host`).
struct PythonHost(Py<PyAny>);

impl Link for PythonHost {
    fn exchange(&mut self, lines: &[u8]) -> Result<Vec<u8>, GuardFailure> {
        let lines = String::from_utf8_lossy(lines);
        let answer = Python::attach(|py| self.0.call_method1(py, "exchange", (lines,))?.extract::<String>(py));
        answer.map(String::into_bytes).map_err(|error| GuardFailure::Raised(error.to_string()))
    }
}

/// A guard as Python gives it: its name, the name of its function, the files it is in with their SHA-256, and what makes
/// a host.
type Given = (String, String, Vec<(String, String)>, Py<PyAny>);

fn guard((name, function, files, host): Given) -> EmbeddedGuard {
    let open = move || {
        let host = Python::attach(|py| host.call0(py));
        host.map(|host| Box::new(PythonHost(host)) as Box<dyn Link>)
            .map_err(|error| GuardFailure::Raised(error.to_string()))
    };
    let program = Program { command: vec![function], version: None, files };
    EmbeddedGuard { name, program, open: Box::new(open) }
}

/// One value of an option: a text, a path or a number.
#[derive(FromPyObject)]
enum One {
    Text(PathBuf),
    Number(f64),
}

/// The value of an option, as Python gives it.
#[derive(FromPyObject)]
enum Argument {
    Switch(bool),
    One(One),
    Several(Vec<One>),
}

/// The options by keyword; None is one that is not given.
type Options = HashMap<String, Option<Argument>>;

fn values(paths: Vec<PathBuf>, options: Options) -> KeywordArguments {
    let text = |one| match one {
        One::Text(text) => text.into_os_string(),
        One::Number(number) => number.to_string().into(),
    };
    let value = |value| match value {
        Argument::Switch(is_on) => OptionValue::Switch(is_on),
        Argument::One(one) => OptionValue::Given(vec![text(one)]),
        Argument::Several(all) => OptionValue::Given(all.into_iter().map(text).collect()),
    };
    let given = options.into_iter().filter_map(|(keyword, of)| Some((keyword, value(of?))));
    KeywordArguments { paths, options: given.collect() }
}

/// What `work` comes to, which other threads of Python need not wait for.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failed> + Send) -> PyResult<T> {
    Ok(py.detach(work)?)
}

/// `whenstop compare`, by paths and options, and guards that are called in this process.
#[pyfunction]
fn compare(py: Python<'_>, paths: Vec<PathBuf>, options: Options, guards: Vec<Given>) -> PyResult<Told> {
    detached(py, || {
        let guards = guards.into_iter().map(guard).collect();
        let Compared { publication, answer, report, messages } = embedded::compare(values(paths, options), guards)?;
        let rows = whenstop_frames::rows(publication.rows()).map_err(io::Error::other)?;
        let firings = whenstop_frames::firings(publication.firings()).map_err(io::Error::other)?;
        let told = json!({
            "verdict": words::verdict(&answer.verdict),
            "ship": answer.ship.map(|stack| stack.to_string()),
            "headline": words::headline(answer.headline.as_ref()),
            "table": answer.table.as_ref().map(table),
            "notes": words::notes(&answer.notes),
            "agreement": answer.agreement.as_ref().map(|(told, agreement)| json!([words::agreement(told), table(agreement)])),
            "messages": messages,
        });
        let report = serde_json::to_string(&report).map_err(io::Error::from)?;
        Ok((ArrowTable(rows), ArrowTable(firings), report, told.to_string()))
    })
}

/// `whenstop tune`, by paths and options, and guards that are called in this process; the answer as JSON.
#[pyfunction]
fn tune(py: Python<'_>, paths: Vec<PathBuf>, options: Options, guards: Vec<Given>) -> PyResult<String> {
    let guards = guards.into_iter().map(guard).collect();
    detached(py, || Ok(answer_as_json(&embedded::tune(values(paths, options), guards)?)))
}

/// `whenstop report` of the parts of a search; the answer as JSON.
#[pyfunction]
fn tuned(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<String> {
    detached(py, || Ok(answer_as_json(&embedded::tuned(values(paths, options))?)))
}

fn answer_as_json(answer: &TuneResult) -> String {
    let TuneResult { verdict, recordings, table: first, strata, detectors, notes, stack, certificate } = answer;
    let told = json!({
        "verdict": verdict,
        "recordings": recordings,
        "table": table(first),
        "strata": strata.as_ref().map(table),
        "detectors": detectors.as_ref().map(table),
        "notes": notes,
        "stack": stack,
        "certificate": certificate,
    });
    told.to_string()
}

/// What is in these files, as JSON.
#[pyfunction]
fn corpus(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<String> {
    detached(py, || Ok(serde_json::to_string(&embedded::corpus(values(paths, options))?).map_err(io::Error::from)?))
}

/// The files under these paths with their sizes, in the order they are read in.
#[pyfunction]
fn files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<(String, u64)>> {
    detached(py, || {
        let corpus = Corpus::open(&paths, ReadOptions { detail: Detail::Counts, ..ReadOptions::default() })?;
        Ok(corpus.files().map(|(path, bytes)| (path.to_owned(), bytes)).collect())
    })
}

/// Writes part `number` of `of`: what these paths, read by this part alone, come to.
/// `names` are what the files are called in the part's manifest; `is_search` makes a part of `tune`, not of `compare`. Gives
/// the number of runs.
#[pyfunction]
fn part(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: Options,
    number: u32,
    of: u32,
    names: Vec<String>,
    is_search: bool,
) -> PyResult<u64> {
    let make = if is_search { embedded::tune_part } else { embedded::part };
    detached(py, || Ok(make(values(paths, options), Shard { number, of }, names)?))
}

/// `whenstop report` of parts; gives the number of rows.
#[pyfunction]
fn merge(py: Python<'_>, paths: Vec<PathBuf>, options: Options) -> PyResult<usize> {
    detached(py, || Ok(embedded::merge(values(paths, options))?.rows().len()))
}

/// The command line; gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| whenstop::cli::main(arguments.into_iter()) as u8)
}

/// What `whenstop` is made of.
#[pymodule]
mod _whenstop {
    #[pymodule_export]
    use super::live::PyLive;
    #[pymodule_export]
    use super::{compare, corpus, files, main, merge, part, tune, tuned};
}
