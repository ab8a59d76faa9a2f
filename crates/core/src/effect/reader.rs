//! The effects of the calls of one run, in order: what a script does was told when the run wrote it.

use std::collections::BTreeMap;

use super::code::{self, Language};
use super::parts::Told;
use super::table::EffectTable;
use super::{Effect, arguments, path, shell, tools};
use crate::transcript::ToolCall;

/// Longer scripts than this are not searched.
const LONGEST_SCRIPT: usize = 1 << 20;

/// Scripts that the run has written so far, by file name.
#[derive(Debug, Default)]
pub(super) struct Scripts(BTreeMap<String, Told>);

impl Scripts {
    /// `text` was written into `file`.
    pub(super) fn wrote(&mut self, file: &str, text: &str, table: &EffectTable) {
        let shebang = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
        let language = Language::of_file(file).or_else(|| {
            let languages = [
                ("python", Language::Python),
                ("node", Language::JavaScript),
                ("ruby", Language::Ruby),
                ("perl", Language::Perl),
                ("sh", Language::Shell),
            ];
            languages.into_iter().find(|(name, _)| shebang.contains(name)).map(|(_, language)| language)
        });
        let Some(language) = language.filter(|_| text.len() <= LONGEST_SCRIPT) else { return };
        let told = match language {
            Language::Shell => shell::effect(text, table, &mut Self::default()),
            language => code::effect(text, language),
        };
        let told = if told.effect < Effect::Check { Told::new(Effect::Check, told.why) } else { told };
        self.0.insert(path::file_name(file).to_owned(), told);
    }

    /// What running `file` does, where the run wrote it.
    pub(super) fn what_runs(&self, file: &str) -> Option<&Told> {
        self.0.get(path::file_name(file))
    }
}

/// Tells the effects of one run's calls, one after the other.
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

    /// What `call` does, after the calls before it.
    pub fn tell(&mut self, call: &ToolCall) -> Told {
        let text = call.arguments.as_str();
        if let Some(effect) = self.table.tool(&call.name) {
            return Told::new(effect, format!("`{}`, by the stack file", code::shortened(&call.name)));
        }
        let arguments = arguments::Arguments::read(&text);
        tools::tell(&call.name, &arguments, self.table, &mut self.scripts)
    }
}
