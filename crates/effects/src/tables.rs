//! The built-in tables of `tables.toml`: what programs, sub-commands, tools and verbs do, and how code looks that writes.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use foldhash::{HashMap, HashMapExt, HashSet};
use regex::Regex;
use serde::Deserialize;

use crate::Effect;
use crate::words::{CommandWord, after_options, has, operands};

static TABLES: LazyLock<BuiltInTables> = LazyLock::new(|| {
    BuiltInTables::parse(include_str!("tables.toml")).expect("the built-in tables are valid, tested below")
});

/// The built-in tables.
pub(crate) fn tables() -> &'static BuiltInTables {
    &TABLES
}

/// All tables. `tables.toml` describes each.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuiltInTables {
    pub(crate) tools: EffectsByName,
    pub(crate) tool_kinds: ToolKinds,
    pub(crate) verbs: EffectsByName,
    pub(crate) targets: Targets,
    pub(crate) scripts: EffectsByName,
    pub(crate) commands: EffectsByName,
    pub(crate) wrappers: Wrappers,
    pub(crate) options: Section,
    pub(crate) formatters: Section,
    pub(crate) git: Section,
    pub(crate) hosting: Section,
    pub(crate) managers: Section<ByManager>,
    pub(crate) django: Section,
    pub(crate) containers: Section,
    pub(crate) remote: Section,
    pub(crate) clusters: Section,
    pub(crate) builders: Section,
    pub(crate) hosts: Section,
    pub(crate) host_words: EffectsByName,
    pub(crate) clouds: Section,
    pub(crate) key_stores: EffectsByName,
    pub(crate) powershell: PowerShell,
    pub(crate) languages: BTreeMap<CodeLanguage, LanguageSigns>,
    pub(crate) sql: EffectsByName,
    pub(crate) python_modules: EffectsByName,
    pub(crate) editor_commands: EffectsByName,
}

impl BuiltInTables {
    /// Reads the tables, and checks that none names a thing twice.
    fn parse(text: &str) -> Result<Self, String> {
        // By way of a JSON value, because TOML's own deserializer compiles three copies of each type.
        let tables: serde_json::Value = toml::from_str(text).map_err(|error| error.to_string())?;
        let tables: Self = serde_json::from_value(tables).map_err(|error| error.to_string())?;
        tables.managers.check("managers")?;
        let sections = [
            ("options", &tables.options),
            ("formatters", &tables.formatters),
            ("git", &tables.git),
            ("hosting", &tables.hosting),
            ("django", &tables.django),
            ("containers", &tables.containers),
            ("remote", &tables.remote),
            ("clusters", &tables.clusters),
            ("builders", &tables.builders),
            ("hosts", &tables.hosts),
            ("clouds", &tables.clouds),
        ];
        for (name, section) in sections {
            section.check(name)?;
        }
        Ok(tables)
    }
}

/// Words. One that ends in `*` stands for all that begin so.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct WordPatterns {
    /// In the order of the file.
    all: Vec<String>,
    /// Those without `*`, to find them.
    words: HashSet<String>,
    /// Those with `*`, without it.
    beginnings: Vec<String>,
}

impl WordPatterns {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.words.contains(name) || self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }
}

impl TryFrom<String> for WordPatterns {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut patterns = Self::default();
        for name in text.split_ascii_whitespace() {
            let is_new = match name.strip_suffix('*') {
                Some(beginning) if patterns.beginnings.iter().any(|other| other == beginning) => false,
                Some(beginning) => {
                    patterns.beginnings.push(beginning.to_owned());
                    true
                }
                None => patterns.words.insert(name.to_owned()),
            };
            if !is_new {
                return Err(format!("`{name}` is there twice"));
            }
            patterns.all.push(name.to_owned());
        }
        Ok(patterns)
    }
}

/// Names, each with its effect.
#[derive(Debug, Deserialize)]
#[serde(try_from = "BTreeMap<Effect, WordPatterns>")]
pub(crate) struct EffectsByName {
    names: BTreeMap<Effect, WordPatterns>,
    effects: HashMap<String, Effect>,
}

impl EffectsByName {
    /// The effect of a name; `None` if it is not in the table.
    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.effects.get(name).copied()
    }

    /// The names of each effect, in the order of [`Effect`].
    pub(crate) fn by_effect(&self) -> &BTreeMap<Effect, WordPatterns> {
        &self.names
    }
}

impl TryFrom<BTreeMap<Effect, WordPatterns>> for EffectsByName {
    type Error = String;

    fn try_from(names: BTreeMap<Effect, WordPatterns>) -> Result<Self, String> {
        let mut effects = HashMap::new();
        for (effect, names) in &names {
            for name in names.all() {
                if let Some(other) = effects.insert(name.clone(), *effect) {
                    return Err(format!("`{name}` stands under `{other}` and under `{effect}`"));
                }
            }
        }
        Ok(Self { names, effects })
    }
}

/// Tools whose effect depends on their arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolKinds {
    pub(crate) shells: WordPatterns,
    pub(crate) batches: WordPatterns,
    pub(crate) editors: WordPatterns,
    pub(crate) file_writers: WordPatterns,
    pub(crate) patches: WordPatterns,
    pub(crate) mcp_clients: WordPatterns,
    pub(crate) terminals: WordPatterns,
    pub(crate) interpreters: WordPatterns,
    pub(crate) databases: WordPatterns,
    pub(crate) browsers: WordPatterns,
    pub(crate) looking_browser_actions: WordPatterns,
    pub(crate) shell_words: WordPatterns,
    pub(crate) plan_folders: WordPatterns,
}

/// Words in the names of targets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Targets {
    pub(crate) handover: WordPatterns,
    pub(crate) edit: WordPatterns,
    pub(crate) dry: WordPatterns,
    pub(crate) read: WordPatterns,
}

/// What PowerShell has beside other programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PowerShell {
    pub(crate) looking_verbs: WordPatterns,
    pub(crate) looking_cmdlets: WordPatterns,
    pub(crate) keywords: WordPatterns,
    pub(crate) writing_methods: WordPatterns,
    pub(crate) aliases: EffectsByName,
}

/// A language, as far as its ways of writing files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CodeLanguage {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    Shell,
    Other,
}

/// How code in a language is known, and what in it shows what it does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageSigns {
    #[serde(default)]
    pub(crate) programs: WordPatterns,
    pub(crate) endings: WordPatterns,
    pub(crate) first_line: Option<String>,
    pub(crate) writes: Option<CodePattern>,
    pub(crate) starts: Option<CodePattern>,
}

/// A regular expression, compiled when it is first searched for.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct CodePattern {
    pattern: String,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

impl CodePattern {
    /// The first text in `code` that fits.
    pub(crate) fn first_in<'c>(&self, code: &'c str) -> Option<&'c str> {
        let compile = || Regex::new(&self.pattern).expect("the patterns of the tables are valid, tested below");
        Some(self.compiled.get_or_init(compile).find(code)?.as_str())
    }
}

/// Programs that run the command after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wrappers {
    rules: Vec<Wrapper>,
}

impl Wrappers {
    /// The command that `program` runs, in the words after it; `None` if it runs none.
    pub(crate) fn command<'w>(&self, program: &str, rest: &'w [CommandWord]) -> Option<&'w [CommandWord]> {
        let wrapper = self.rules.iter().find(|wrapper| wrapper.fits(program, rest))?;
        wrapper.command(rest).filter(|inner| !inner.is_empty())
    }
}

/// A kind of such programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapper {
    program: WordPatterns,
    first: Option<WordPatterns>,
    second: Option<WordPatterns>,
    #[serde(default)]
    values: WordPatterns,
    #[serde(default)]
    skips: usize,
    after: Option<WordPatterns>,
    #[serde(default)]
    dashes: bool,
}

impl Wrapper {
    /// True if it describes `program`, followed by `rest`.
    fn fits(&self, program: &str, rest: &[CommandWord]) -> bool {
        let first = rest.first().map(|word| word.text.as_str());
        self.program.has(program) && allows(self.first.as_ref(), first)
    }

    /// The command in the words after the program; `None` if there is none.
    fn command<'w>(&self, rest: &'w [CommandWord]) -> Option<&'w [CommandWord]> {
        if let Some(after) = &self.after {
            let at = rest.iter().position(|word| after.has(&word.text))?;
            return rest.get(at + 1..);
        }
        let rest = if self.first.is_some() { rest.get(1..)? } else { rest };
        let mut inner = after_options(rest, self.values.all());
        if let Some(second) = &self.second {
            if !second.has(&inner.first()?.text) {
                return None;
            }
            inner = &inner[1..];
        }
        if self.dashes
            && let Some(at) = inner.iter().position(|word| word.text == "--")
        {
            return inner.get(at + 1..);
        }
        inner.get(self.skips..)
    }
}

/// The options of a program that have a value of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueOptions {
    program: Option<WordPatterns>,
    options: WordPatterns,
}

/// The rules of some programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Section<O = Effect> {
    #[serde(default)]
    pub(crate) programs: WordPatterns,
    #[serde(default = "Vec::new")]
    values: Vec<ValueOptions>,
    /// Programs whose sub-command is an option.
    #[serde(default)]
    pub(crate) options_first: WordPatterns,
    /// Words that stand before a sub-command.
    #[serde(default)]
    pub(crate) groups: WordPatterns,
    rules: Vec<SectionRule<O>>,
}

/// A rule of a section. A condition that is `None` always holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionRule<O> {
    program: Option<WordPatterns>,
    first: Option<WordPatterns>,
    second: Option<WordPatterns>,
    any: Option<WordPatterns>,
    flags: Option<WordPatterns>,
    fewer_than: Option<usize>,
    pub(crate) effect: O,
    /// True if the words after `--` are the files that the command changes.
    #[serde(default)]
    pub(crate) names_files: bool,
}

impl<O: Copy> Section<O> {
    /// The first rule that fits `program`, its sub-command and what follows it (`names`), and its `words`.
    pub(crate) fn rule(&self, program: &str, names: &[&str], words: &[CommandWord]) -> Option<&SectionRule<O>> {
        self.rules.iter().find(|rule| rule.fits(program, names, words))
    }

    /// What that rule gives.
    pub(crate) fn effect(&self, program: &str, names: &[&str], words: &[CommandWord]) -> Option<O> {
        self.rule(program, names, words).map(|rule| rule.effect)
    }

    /// The options of `program` that have a value of their own.
    pub(crate) fn options_with_value(&self, program: &str) -> &[String] {
        for values in &self.values {
            if allows(values.program.as_ref(), Some(program)) {
                return values.options.all();
            }
        }
        &[]
    }

    /// Refuses rules for programs that the section does not name, and rules that no command can reach.
    fn check(&self, section: &str) -> Result<(), String> {
        for (nth, rule) in self.rules.iter().enumerate() {
            for program in rule.program.iter().flat_map(WordPatterns::all) {
                if !self.programs.all().is_empty() && !self.programs.has(program) {
                    return Err(format!("{section}: a rule names `{program}`, which `programs` does not"));
                }
            }
            if self.rules[..nth].iter().any(|earlier| earlier.has_conditions_of(rule)) {
                return Err(format!("{section}: rule {} has the conditions of an earlier one", nth + 1));
            }
        }
        Ok(())
    }
}

impl<O> SectionRule<O> {
    fn fits(&self, program: &str, names: &[&str], words: &[CommandWord]) -> bool {
        // What rules most out comes first.
        if !allows(self.program.as_ref(), Some(program))
            || !allows(self.first.as_ref(), names.first().copied())
            || !allows(self.second.as_ref(), names.get(1).copied())
        {
            return false;
        }
        if let Some(any) = &self.any
            && !names.iter().any(|name| any.has(name))
        {
            return false;
        }
        if let Some(flags) = &self.flags
            && !has(words, flags.all())
        {
            return false;
        }
        self.fewer_than.is_none_or(|most| operands(words).count() < most)
    }

    fn has_conditions_of(&self, other: &Self) -> bool {
        self.program == other.program
            && self.first == other.first
            && self.second == other.second
            && self.any == other.any
            && self.flags == other.flags
            && self.fewer_than == other.fewer_than
    }
}

/// True if there is no condition, or if the word fulfils it.
fn allows(names: Option<&WordPatterns>, word: Option<&str>) -> bool {
    match names {
        Some(names) => names.has(word.filter(|word| !word.is_empty()).unwrap_or("(none)")),
        None => true,
    }
}

/// What decides the effect of a package manager or build tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByManager {
    Effect(Effect),
    WordsAfterDashes,
    ScriptName,
    Pip,
    Django,
    ValueOfTarget,
    TargetNames,
    VerbsElse(Effect),
}

impl<'de> Deserialize<'de> for ByManager {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(match text.as_str() {
            "by the words after `--`" => Self::WordsAfterDashes,
            "by the script's name" => Self::ScriptName,
            "as pip" => Self::Pip,
            "as django" => Self::Django,
            "by the value of `--target`" => Self::ValueOfTarget,
            "by the targets' names" => Self::TargetNames,
            "by the verbs, else check" => Self::VerbsElse(Effect::Check),
            "by the verbs, else unknown" => Self::VerbsElse(Effect::Unknown),
            name => match name.parse() {
                Ok(effect) => Self::Effect(effect),
                Err(()) => return Err(serde::de::Error::custom(format!("no effect is called `{name}`"))),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BuiltInTables, tables};

    /// The built-in tables after a change of their text, which must be refused.
    fn refused(from: &str, to: &str) -> String {
        let text = include_str!("tables.toml");
        assert!(text.contains(from), "{from}");
        BuiltInTables::parse(&text.replacen(from, to, 1)).expect_err(to)
    }

    #[test]
    fn the_built_in_tables_are_valid() {
        assert!(tables().commands.effect("ls").is_some());
        for pattern in tables().languages.values().flat_map(|signs| signs.writes.iter().chain(&signs.starts)) {
            assert_eq!(pattern.first_in(""), None);
        }
    }

    #[test]
    fn a_mistake_in_the_tables_is_refused_and_named() {
        let cases = [
            // An unknown key, and a section without a meaning.
            ("[hosting]\n", "[hosting]\nprogram = \"gh\"\n", "unknown field `program`"),
            ("second = \"foreach\", effect", "secund = \"foreach\", effect", "unknown field `secund`"),
            ("[key_stores]\n", "[more]\n[key_stores]\n", "unknown field `more`"),
            // An unknown effect, in a rule, for a manager and as a key.
            ("second = \"foreach\", effect = \"unknown\"", "effect = \"looks\"", "unknown variant `looks`"),
            ("effect = \"as pip\"", "effect = \"as pup\"", "no effect is called `as pup`"),
            ("[host_words]\nhandover", "[host_words]\nhands_over", "unknown variant `hands_over`"),
            // A duplicate: in a list, in two lists of a table, and a rule that an earlier one hides.
            ("programs = \"gh glab hub\"", "programs = \"gh glab gh\"", "`gh` is there twice"),
            ("read = \"get keys info", "read = \"del get keys info", "`del` stands under `read` and under `edit`"),
            ("first = \"remote\", second = \"update\", effect", "first = \"remote\", effect", "git: rule"),
            ("program = \"k9s\"", "program = \"k8s\"", "clusters: a rule names `k8s`, which `programs` does not"),
        ];
        for (from, to, expected) in cases {
            let error = refused(from, to);
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}
