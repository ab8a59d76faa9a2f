//! Decides whether code passed to an interpreter writes anything. Searches for calls that write or that start programs;
//! code that only reads or prints is a check.

use crate::Effect;
use crate::parts::CallEffect;
use crate::path;
use crate::tables::{CodeLanguage, LanguageSigns, tables};
use crate::words::shortened;

impl CodeLanguage {
    /// The first language whose signs fit.
    pub(crate) fn find(fits: impl Fn(&LanguageSigns) -> bool) -> Option<Self> {
        let (language, _) = tables().languages.iter().find(|(_, signs)| fits(signs))?;
        Some(*language)
    }

    /// The language of a file, by its extension.
    pub(crate) fn from_file_name(file: &str) -> Option<Self> {
        let (_, ending) = path::file_name(file).rsplit_once('.')?;
        let ending = ending.to_ascii_lowercase();
        Self::find(|signs| signs.endings.has(&ending))
    }

    /// The language of a script, by its first line.
    pub(crate) fn from_first_line(text: &str) -> Option<Self> {
        let first = text.lines().next().filter(|line| line.starts_with("#!"))?;
        Self::find(|signs| signs.first_line.as_ref().is_some_and(|interpreter| first.contains(interpreter)))
    }
}

/// The effect of running `code`, which must not be shell code.
pub(crate) fn effect(code: &str, language: CodeLanguage) -> CallEffect {
    let signs = &tables().languages[&language];
    if let Some(sign) = signs.writes.as_ref().and_then(|writes| writes.first_in(code)) {
        return CallEffect::new(Effect::Edit, format!("code that writes: `{}`", shortened(sign)));
    }
    if let Some(sign) = signs.starts.as_ref().and_then(|starts| starts.first_in(code)) {
        return CallEffect::new(Effect::Unknown, format!("code that starts a program: `{}`", shortened(sign)));
    }
    CallEffect::new(Effect::Check, "code is run")
}
