//! Models whose name says nothing, such as `local`: in different folders they may be different models.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Location};
use crate::find::file_name::FileName;
use crate::transcript::Run;

/// Names that any model may have.
const PLAIN: &[&str] =
    &["local", "local-model", "default", "model", "llm", "custom", "test", "main", "unknown", "none"];
/// Folders kept of each name.
const KEPT: usize = 20;

/// The folders in which each such name stands.
#[derive(Debug, Default)]
pub(crate) struct UnnamedModels(BTreeMap<String, (u64, Vec<Vec<String>>)>);

impl UnnamedModels {
    /// Adds a run.
    pub(crate) fn add(&mut self, run: &Run, file: &FileName) {
        let Some(model) = run.header.model.as_ref().filter(|model| is_plain(model)) else { return };
        let (runs, folders) = self.0.entry(model.clone()).or_default();
        *runs += 1;
        if folders.len() < KEPT {
            let parts: Vec<String> = file.path.rsplit(['/', '\\', '!']).skip(1).map(str::to_owned).collect();
            if !folders.contains(&parts) {
                folders.push(parts);
            }
        }
    }

    /// That runs of several folders are taken for those of one model, and how their paths tell them apart.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Diagnostic> {
        self.0.iter().filter_map(|(model, (runs, folders))| {
            // The part of the path, counted from the file, that differs.
            let longest = folders.iter().map(Vec::len).max()?;
            let differs = |at: &usize| {
                let mut parts = folders.iter().filter_map(|folder| folder.get(*at));
                let first = parts.next();
                parts.any(|part| Some(part) != first)
            };
            let at = (0..longest).find(differs)?;
            let more = if folders.len() == KEPT { " or more" } else { "" };
            let what = format!(
                "{runs} runs in {}{more} folders name their model `{model}`: they are taken for one model",
                folders.len()
            );
            let help = format!("if the folders tell the models apart: `--model path:{}`", at + 1);
            Some(Diagnostic::new(Location::default(), what, help))
        })
    }
}

fn is_plain(model: &str) -> bool {
    PLAIN.contains(&model.rsplit('/').next().unwrap_or(model).to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Draft, Header};

    #[test]
    fn models_of_a_plain_name_in_several_folders_are_said_to_be_one() {
        let mut models = UnnamedModels::default();
        let mut add = |model: &str, path: &str| {
            let header = Header { model: Some(model.to_owned()), ..Header::named("r") };
            let file = FileName { path: path.to_owned(), ..FileName::default() };
            models.add(&Run::new(Draft { header, ..Draft::default() }), &file);
        };
        for (model, path) in [
            ("local", "runs/llama/a/x.json"),
            ("local", "runs/qwen/a/x.json"),
            ("gpt-5", "runs/gpt/a/x.json"),
            ("default", "one/a.json"),
            ("default", "one/b.json"),
        ] {
            add(model, path);
        }
        let told: Vec<_> = models.notices().map(|notice| (notice.what, notice.help)).collect();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, "2 runs in 2 folders name their model `local`: they are taken for one model");
        assert!(told[0].1.ends_with("`--model path:2`"), "{}", told[0].1);
    }
}
