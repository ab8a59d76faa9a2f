//! The project file `whenstop.toml`: recordings, stacks, tolerances, and gates. It supplies the arguments of `check`;
//! arguments given on the command line override it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Location, did_you_mean, nearest};
use crate::reader::{FieldMap, LabelColumns, NamedBy};
use crate::transcript::named;

/// The file name.
pub const FILE: &str = "whenstop.toml";

/// A project, with its paths relative to the current directory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectSettings {
    /// The path of the project file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Its text.
    #[serde(skip)]
    text: String,
    /// Files and folders of recordings.
    pub recordings: Vec<PathBuf>,
    /// Stack files, `preset:NAME` and `system:NAME`.
    pub stacks: Vec<String>,
    /// The snapshot file.
    pub snapshot: Option<PathBuf>,
    /// What counts as a run.
    pub unit: Option<UnitOfRun>,
    /// How the recordings are read.
    pub reading: ReadingSection,
    /// What is tolerated.
    pub appetite: AppetiteSettings,
    /// Gates.
    gates: Vec<Spanned<String>>,
    /// Gates that fail nothing yet: a check says of each whether it would fail, or holds and may be one of `gates`.
    advise: Vec<Spanned<String>>,
    /// Minimum share of the runs on which a gate's number must be known.
    min_known: Option<Spanned<f64>>,
    /// Reports to write, by format.
    pub reports: BTreeMap<String, PathBuf>,
    /// Folder for tables and figures.
    pub page: Option<PathBuf>,
}

named! {
    /// What is replayed as one run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum UnitOfRun {
        /// The whole recording.
        #[default]
        Run = "run" => "runs",
        /// A prompt and everything it led to.
        Round = "round" => "rounds",
    }

    /// The plural noun.
    pub fn noun() -> &'static str;
}

/// How recordings are read, as the arguments of the same names say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadingSection {
    /// The format to read every file as.
    #[serde(rename = "as")]
    pub as_format: Option<String>,
    /// CSV files of outcomes.
    pub labels: Vec<PathBuf>,
    /// The score from which a run is a success.
    pub success_at: Option<f64>,
    /// The field that holds the outcome.
    pub outcome: Option<String>,
    /// A file of prices.
    pub price: Option<PathBuf>,
    /// Models that are free.
    pub free_models: Vec<String>,
    /// Where the task is found.
    #[serde(deserialize_with = "task_place")]
    pub task: Option<NamedBy>,
    /// Where the model is found.
    #[serde(deserialize_with = "place")]
    pub model: Option<NamedBy>,
    /// Where the run's id is found.
    #[serde(deserialize_with = "place")]
    pub run: Option<NamedBy>,
    /// Which field of a log is which.
    #[serde(deserialize_with = "map")]
    pub map: Option<FieldMap>,
    /// Which column of the labels is which.
    #[serde(deserialize_with = "label_columns")]
    pub label_columns: Option<LabelColumns>,
}

fn place<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NamedBy>, D::Error> {
    NamedBy::parse(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn map<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FieldMap>, D::Error> {
    FieldMap::parse(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn label_columns<'de, D: Deserializer<'de>>(from: D) -> Result<Option<LabelColumns>, D::Error> {
    LabelColumns::parse(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

fn task_place<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NamedBy>, D::Error> {
    NamedBy::parse_task(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

/// What is tolerated.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AppetiteSettings {
    /// The share of successes a stack may kill.
    pub max_killed: Option<f64>,
    /// What a lost success costs, in dollars.
    pub lost_success_costs: Option<f64>,
}

impl ProjectSettings {
    /// Parses the text of the file at `path`; other paths in it are relative to its folder.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Diagnostic> {
        let name = path.display().to_string();
        let mut project: Self = toml::from_str(text).map_err(|error| wrong(&name, text, &error))?;
        if let Some(share) = &project.min_known
            && !(0.0..=1.0).contains(share.get_ref())
        {
            let what = format!("`min_known` is {}, and a share is from 0 to 1", share.get_ref());
            return Err(Diagnostic::in_text(&name, text, share.span(), what, "write `min_known = 0.95` for 95 %"));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let lists = project.recordings.iter_mut().chain(&mut project.reading.labels);
        let single = project.snapshot.iter_mut().chain(&mut project.reading.price).chain(&mut project.page);
        for named in lists.chain(single).chain(project.reports.values_mut()) {
            *named = folder.join(&*named);
        }
        for stack in &mut project.stacks {
            if !stack.starts_with("preset:") && !stack.starts_with("system:") {
                *stack = folder.join(&*stack).display().to_string();
            }
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned(), ..project })
    }

    /// The gates, each with its location in the file.
    pub fn gates(&self) -> Vec<(String, Location)> {
        self.located(&self.gates)
    }

    /// The gates that only advise, each with its location in the file.
    pub fn advise(&self) -> Vec<(String, Location)> {
        self.located(&self.advise)
    }

    fn located(&self, gates: &[Spanned<String>]) -> Vec<(String, Location)> {
        let name = self.path.display().to_string();
        let at = |gate: &Spanned<String>| Location::in_text(&name, &self.text, gate.span().start);
        gates.iter().map(|gate| (gate.get_ref().clone(), at(gate))).collect()
    }

    /// Minimum share of the runs on which a gate's number must be known.
    pub fn min_known(&self) -> Option<f64> {
        self.min_known.as_ref().map(|share| *share.get_ref())
    }
}

/// The parser's error with its location, and a suggestion for a misspelled key.
fn wrong(name: &str, text: &str, error: &toml::de::Error) -> Diagnostic {
    let message = error.message().lines().next().unwrap_or_default();
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let (what, near) = match unknown {
        Some((key, expected)) => {
            // Those that this table has, each between backticks.
            let known = expected.split('`').skip(1).step_by(2);
            (format!("a project file has no key `{key}` here"), nearest(key, known))
        }
        None => (message.to_owned(), None),
    };
    let help = did_you_mean(near, "`whenstop ci init` writes a project file with every key explained");
    match error.span() {
        Some(span) => Diagnostic::in_text(name, text, span, what, help),
        None => Diagnostic::new(Location::file(name), what, help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_and_gates_know_their_line() {
        let text = "recordings = [\"runs\"]\nstacks = [\"s.toml\", \"preset:openhands\"]\nsnapshot = \"s.snap\"\n\
            gates = [\n  \"stops>1\",\n]\n[reading]\nlabels = [\"l.csv\"]\n";
        let project = ProjectSettings::parse(Path::new("a/b/whenstop.toml"), text).unwrap();
        assert_eq!(project.recordings, [Path::new("a/b/runs")]);
        assert_eq!(project.stacks, ["a/b/s.toml", "preset:openhands"]);
        assert_eq!(project.reading.labels, [Path::new("a/b/l.csv")]);
        let gates = project.gates();
        assert_eq!((&*gates[0].0, gates[0].1.line), ("stops>1", 5));
    }

    #[test]
    fn a_wrong_key_or_value_is_told_with_its_place() {
        for (text, line, said) in [
            ("recordngs = []\n", 1, "did you mean `recordings`?"),
            ("\n[reading]\nlabel = \"x\"\n", 3, "did you mean `labels`?"),
            ("labels = \"x\"\n", 1, "every key explained"),
            ("[appetite]\nmax_kill = 0.1\n", 2, "did you mean `max_killed`?"),
            ("min_known = 95\n", 1, ""),
            ("min_known = 95.0\n", 1, "0.95"),
            ("recordings = \"runs\"\n", 1, ""),
            ("recordings = [\n", 1, ""),
        ] {
            let error = ProjectSettings::parse(Path::new("whenstop.toml"), text).unwrap_err();
            assert_eq!(error.at.line, line, "{text}: {error:?}");
            assert!(error.help.contains(said), "{text}: {error:?}");
        }
    }
}
