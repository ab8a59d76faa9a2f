//! The effects of one run's calls, in order. A script's effect is known if the run wrote the script.

use std::collections::BTreeMap;

use super::EffectTable;
use super::code::{self, Language};
use super::parts::CallEffect;
use super::{Effect, arguments, path, shell, tools};
use crate::transcript::ToolCall;

/// Scripts longer than this, in bytes, are not searched.
const LONGEST_SCRIPT: usize = 1 << 20;

/// The effects of scripts the run has written so far, by file name.
#[derive(Debug, Default)]
pub(super) struct Scripts(BTreeMap<String, CallEffect>);

impl Scripts {
    /// Records that `text` was written to each of `files`, and searches it once for each language.
    pub(super) fn wrote<'f>(&mut self, files: impl IntoIterator<Item = &'f str>, text: &str, table: &EffectTable) {
        if text.len() > LONGEST_SCRIPT {
            return;
        }
        let by_first_line = language_of_script(text);
        let mut known: Vec<(Language, CallEffect)> = Vec::new();
        for file in files {
            let Some(language) = Language::of_file(file).or(by_first_line) else { continue };
            let told = if let Some((_, told)) = known.iter().find(|(other, _)| *other == language) {
                told.clone()
            } else {
                let told = of_script(text, language, table);
                known.push((language, told.clone()));
                told
            };
            self.0.insert(path::file_name(file).to_owned(), told);
        }
    }

    /// The effect of running `file`; `None` if the run did not write it.
    pub(super) fn what_runs(&self, file: &str) -> Option<&CallEffect> {
        self.0.get(path::file_name(file))
    }
}

/// The language of a script, by its first line.
fn language_of_script(text: &str) -> Option<Language> {
    let interpreters = [
        ("python", Language::Python),
        ("node", Language::JavaScript),
        ("ruby", Language::Ruby),
        ("perl", Language::Perl),
        ("sh", Language::Shell),
    ];
    let shebang = text.lines().next().filter(|line| line.starts_with("#!"))?;
    interpreters.into_iter().find(|(name, _)| shebang.contains(name)).map(|(_, language)| language)
}

/// What running a script does: at least a check.
fn of_script(text: &str, language: Language, table: &EffectTable) -> CallEffect {
    let told = match language {
        Language::Shell => shell::effect(text, table, &mut Scripts::default()),
        language => code::effect(text, language),
    };
    if told.effect < Effect::Check { CallEffect::new(Effect::Check, told.why) } else { told }
}

/// Determines the effects of one run's calls, one after another.
#[derive(Debug)]
pub struct EffectReader<'t> {
    table: &'t EffectTable,
    scripts: Scripts,
}

impl<'t> EffectReader<'t> {
    /// A reader for one run.
    pub fn new(table: &'t EffectTable) -> Self {
        Self { table, scripts: Scripts::default() }
    }

    /// The effect of `call`; calls must be passed in the order of the run.
    pub fn tell(&mut self, call: &ToolCall) -> CallEffect {
        let text = call.arguments.as_str();
        if let Some(effect) = self.table.tool(&call.name) {
            return CallEffect::new(effect, format!("`{}`, by the stack file", code::shortened(&call.name)));
        }
        let arguments = arguments::Arguments::read(call, &text);
        tools::tell(&call.name, &arguments, self.table, &mut self.scripts)
    }
}
