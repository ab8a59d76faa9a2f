//! Parsers and formatters for values that several commands share.

use std::borrow::Cow;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Parses one of `all` by its name; the help says what each is about, unless that is empty.
pub(super) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    words: fn(T) -> (&'static str, &'static str),
) -> impl TypedValueParser<Value = T> {
    let values = all.map(words).map(|(name, about)| match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    });
    PossibleValuesParser::new(values)
        .try_map(move |name| all.into_iter().find(|one| words(*one).0 == name).ok_or("not a possible value"))
}

/// Parses a number from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("not from 0 to 1".to_owned()) }
}

/// Parses a number between 0 and 1, ends excluded.
pub(super) fn share_inside(text: &str) -> Result<f64, String> {
    let share = share(text)?;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err("not between 0 and 1".to_owned()) }
}

/// A word as a shell reads it, for commands that are printed to be pasted.
pub(super) fn shell_word(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// A path as a shell reads it.
pub(super) fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string()).into_owned()
}
