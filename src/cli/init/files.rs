//! The files that `init` writes.

use std::fmt::Write as _;
use std::path::{Component, PathBuf};

use super::Args;
use crate::aggregate::Summary;
use crate::diagnostic::one_line;
use crate::reader::NamedBy;

/// The file they are written to.
pub(super) const STACKS: &str = "stacks.toml";

/// The file name of the snapshot.
pub(super) const SNAPSHOT: &str = "whenstop.snap";

/// A GitHub workflow: with plain steps, or with whenstop's own action.
pub(super) fn github(install: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => include_str!("github-action.yml").replace("{action}", action),
        None => include_str!("github.yml").replace("{install}", install),
    }
}

/// A GitLab job.
pub(super) fn gitlab(install: &str) -> String {
    include_str!("gitlab.yml").replace("{install}", install)
}

/// What was found in the recordings, and what was requested.
pub(super) struct InitInputs<'a> {
    pub(super) args: &'a Args,
    pub(super) headline: String,
    pub(super) stacks: &'a [String],
    pub(super) is_starter: bool,
    pub(super) summaries: &'a [Summary],
    pub(super) ungraded: bool,
}

impl InitInputs<'_> {
    /// Paths outside this folder.
    pub(super) fn outside(&self) -> impl Iterator<Item = String> {
        let is_outside =
            |path: &&PathBuf| path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
        self.args.paths.iter().filter(is_outside).map(|path| path.display().to_string())
    }

    /// `whenstop.toml`, with every key explained.
    pub(super) fn project_file(&self) -> String {
        let mut text = String::new();
        let paths = self.args.paths.iter().map(|path| path.display().to_string());
        let _ = write!(
            text,
            "# Written by `whenstop ci init`: {headline}.\n\
             # `whenstop ci check` does what stands here; paths are relative to this file, and an argument that is given wins.\n\n\
             # Files and folders of recordings, in whatever format they have. `whenstop corpus PATH` says what is in them.\n\
             recordings = [{paths}]\n\n\
             # Stack files, or `preset:NAME` and `system:NAME` for the rules that a framework ships (`whenstop rules list`).\n\
             {starter}stacks = [{stacks}]\n\n\
             # Where each stack stopped each run when somebody last looked. `whenstop ci accept` writes it; review and commit it.\n\
             snapshot = {snapshot}\n\n",
            headline = one_line(&self.headline),
            paths = listed(paths),
            starter = if self.is_starter { "# These four are to begin with: edit them.\n" } else { "" },
            stacks = listed(self.stacks.iter().cloned()),
            snapshot = quoted(SNAPSHOT),
        );
        self.put_gates(&mut text);
        self.put_reading(&mut text);
        let _ = write!(
            text,
            "# What is tolerated: the share of successes a stack may kill, by the upper end of its interval. The page's first\n\
             # sentence goes by it. `lost_success_costs = 2.50` (dollars) decides by money instead.\n\
             [appetite]\nmax_killed = {}\n\n\
             # Reports to be written by every check: junit, github, gitlab, md, json, sarif.\n\
             [reports]\n# junit = \"whenstop-report/junit.xml\"\n",
            self.args.max_killed
        );
        text
    }

    /// Writes a gate for each stack: among those that fail a check if it passes today, else among those that advise.
    fn put_gates(&self, text: &mut String) {
        let limit = self.args.max_killed;
        *text += "# A check fails where one of these holds, or is not known. `killed_at_most` is the 95 % bound on the\n\
                  # share of a task's successes killed, as `compare` prints it: the gate passes only what is shown to be safe.\n\
                  # `whenstop schema estimates` lists the others.\n";
        let (mut gates, mut advice) = (String::new(), String::new());
        for summary in self.summaries {
            let gate = format!("{}:killed_at_most>{limit}", summary.stack);
            let known = summary.unknown_share();
            let _ = match summary.killed_at_most {
                None if self.ungraded => writeln!(gates, "  # {}, # would fail: no run has an outcome", quoted(&gate)),
                None => writeln!(gates, "  # {}, # would fail: no task has a success", quoted(&gate)),
                Some(high) if high > limit => writeln!(advice, "  {}, # {:.1} % today", quoted(&gate), high * 100.0),
                Some(_) if known > 1.0 - crate::snapshot::MIN_KNOWN => {
                    writeln!(advice, "  {}, # not known on {:.1} % of the runs", quoted(&gate), known * 100.0)
                }
                Some(_) => writeln!(gates, "  {},", quoted(&gate)),
            };
        }
        let _ = writeln!(text, "gates = [\n{gates}]\n");
        if !advice.is_empty() {
            *text += "# The same, not shown to be safe yet: these fail nothing. A check says which of them hold and may block.\n";
            let _ = writeln!(text, "advise = [\n{advice}]\n");
        }
        *text += "# A gate fails on a number that is known on fewer than this share of the runs.\nmin_known = 0.95\n\n";
    }

    fn put_reading(&self, text: &mut String) {
        let reading = &self.args.reading;
        let list =
            |texts: Vec<String>| if texts.is_empty() { None } else { Some(format!("[{}]", listed(texts.into_iter()))) };
        let path = |path: &PathBuf| path.display().to_string();
        let place = |place: Option<&NamedBy>| place.map(|place| quoted(&place.to_string()));
        let keys = [
            ("labels", list(reading.labels.iter().map(path).collect()), "[\"labels.csv\"]"),
            ("outcome", reading.outcome.as_deref().map(quoted), "\"reward\""),
            ("success_at", reading.success_at.map(|score| format!("{score:?}")), "1.0"),
            ("price", reading.price.as_ref().map(path).as_deref().map(quoted), "\"prices.toml\""),
            ("free_models", list(reading.free_model.clone()), "[\"local-model\"]"),
            ("task", place(reading.task.as_ref()), "\"first-message\""),
            ("model", place(reading.model.as_ref()), "\"path:1\""),
            ("run", place(reading.run_id.as_ref()), "\"runs/{}/*\""),
            (
                "map",
                reading.map.as_ref().map(|map| quoted(&map.to_string())),
                "\"run=session,messages=turns,role=speaker,text=said,calls=invocations\"",
            ),
            (
                "label_columns",
                reading.label_columns.as_ref().map(|columns| quoted(&columns.to_string())),
                "\"run_id=session,success=resolved\"",
            ),
            ("as", reading.as_format.as_deref().map(quoted), "\"trace\""),
        ];
        *text += "# How the recordings are read, as the arguments of the same names say.\n";
        if self.ungraded {
            *text += "# No run has an outcome: `whenstop labels PATH --template labels.csv` lists the runs to grade, those that decide\n\
                      # most first; then take the mark off the next but one line.\n";
        }
        *text += "[reading]\n";
        for (key, value, example) in keys {
            let _ = match value {
                Some(value) => writeln!(text, "{key} = {value}"),
                None => writeln!(text, "# {key} = {example}"),
            };
        }
        text.push('\n');
    }
}

fn listed(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| quoted(&text)).collect::<Vec<_>>().join(", ")
}

/// Formats any text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
