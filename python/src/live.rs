//! Rules beside a running agent: events in, decisions out (`whenstop.Live`).

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use serde_json::{Value, json};
use whenstop::catalog;
use whenstop::decision::{Decision, Strategy};
use whenstop::diagnostic::{Diagnostic, Location};
use whenstop::framework::ConfigText;
use whenstop::reader::trace;
use whenstop::replay::Live;
use whenstop::transcript::Header;

use crate::Failed;

/// One strategy of a stack file, watching one run.
#[pyclass(name = "Live", module = "whenstop._whenstop")]
pub(crate) struct PyLive(Mutex<Live>);

#[pymethods]
impl PyLive {
    /// `text` is that of the stack file at `path`; `name` may be left out if there is one strategy in it.
    #[new]
    fn new(path: &str, text: &str, name: Option<&str>) -> PyResult<Self> {
        let strategy = strategy(path, text, name)?;
        Ok(Self(Mutex::new(Live::start(&strategy, Header::named("live")))))
    }

    /// Takes an event, a line of a trace, and returns the decisions as JSON.
    fn push(&self, event: &str) -> PyResult<String> {
        let read = trace::read_text(&format!("{{\"type\":\"run\",\"run_id\":\"live\"}}\n{event}\n"));
        if let Some(finding) = read.findings.iter().find(|finding| finding.severity_name() == "error") {
            let what = format!("an event that cannot be read: {}", finding.diagnostic.what);
            return Err(Failed(Diagnostic::new(Location::default(), what, finding.diagnostic.help.clone())).into());
        }
        let events = read.runs.first().map(|run| run.events().to_vec()).unwrap_or_default();
        let mut live = self.live();
        Ok(words(&events.into_iter().flat_map(|event| live.push(event)).collect::<Vec<_>>()))
    }

    /// Announces a model call.
    fn request(&self) -> String {
        words(&self.live().request())
    }

    /// Ends the run.
    fn end(&self) -> String {
        words(&self.live().end())
    }

    /// The decision that ended the run, as JSON.
    fn stopped_by(&self) -> Option<String> {
        self.live().stopped_by().map(|decision| decided(decision).to_string())
    }

    /// The rules that cannot be evaluated on what has come so far, in words.
    fn unread(&self) -> Vec<String> {
        self.live().unread().iter().map(ToString::to_string).collect()
    }
}

impl PyLive {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The strategy of that name, or the only one.
fn strategy(path: &str, text: &str, name: Option<&str>) -> Result<Arc<dyn Strategy>, Failed> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let read_config = |config: &str| {
        let path = folder.join(config).display().to_string();
        let help = "the path is relative to the stack file";
        let missing = |error: std::io::Error| Diagnostic::new(Location::file(&path), error.to_string(), help);
        Ok(ConfigText { text: std::fs::read_to_string(&path).map_err(missing)?, path: path.clone() })
    };
    let (_, all) = catalog::load_with(path, text, &read_config)?;
    let names = || all.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    let failed = |what: String, help: String| Failed(Diagnostic::new(Location::file(path), what, help));
    match name {
        Some(name) => {
            let found = all.iter().find(|one| one.name() == name).map(Arc::clone);
            found.ok_or_else(|| failed(format!("no stack is called `{name}`"), format!("there are: {}", names())))
        }
        None => match &all[..] {
            [one] => Ok(Arc::clone(one)),
            _ => Err(failed("which stack?".to_owned(), format!("name one with `stack=`; there are: {}", names()))),
        },
    }
}

fn words(decisions: &[Decision]) -> String {
    Value::Array(decisions.iter().map(decided).collect()).to_string()
}

fn decided(decision: &Decision) -> Value {
    json!({
        "action": decision.action.name(),
        "ends": decision.action.is_terminal(),
        "rule": decision.rule.as_str(),
        "step": decision.point.step,
        "at": decision.point.moment.name(),
        "reading": decision.evidence.observed,
        "limit": decision.evidence.limit,
        "message": decision.detail,
        "call": decision.call_id.as_deref(),
    })
}
