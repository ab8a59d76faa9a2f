//! Positions in a stack file, for error messages of later stages.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Location};

/// A text and the path it was read from.
#[derive(Debug)]
pub(super) struct SourceText {
    pub(super) path: String,
    pub(super) text: String,
}

/// The positions within one stack. Empty for a stack not read from a file.
#[derive(Clone, Debug, Default)]
pub struct Places {
    source: Option<Arc<SourceText>>,
    /// Byte ranges of names by dotted path: `use`, `set.max_rounds`, `any.0` for the first clause.
    names: BTreeMap<String, Range<usize>>,
    /// Byte ranges of values by the same paths: `set.max_rounds`, `any.0.1` for the limit of the clause's second rule.
    values: BTreeMap<String, Range<usize>>,
}

impl Places {
    /// Those of a stack that no file holds.
    pub(super) const NOWHERE: Self = Self { source: None, names: BTreeMap::new(), values: BTreeMap::new() };

    pub(super) fn new(source: Arc<SourceText>) -> Self {
        Self { source: Some(source), ..Self::default() }
    }

    pub(super) fn put(&mut self, path: impl Into<String>, name: Option<Range<usize>>, value: Option<Range<usize>>) {
        let path = path.into();
        if let Some(name) = name {
            self.names.insert(path.clone(), name);
        }
        if let Some(value) = value {
            self.values.insert(path, value);
        }
    }

    /// A message about the name at `path`, or the nearest parent that has a position. Without a file, the message has
    /// no position.
    pub fn at_name(&self, path: &str, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.message(Self::from_places(&self.names, path), what, help)
    }

    /// A message about the value at `path`, its name, or the nearest parent that has a position.
    pub fn at_value(&self, path: &str, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let span = self.values.get(path).or_else(|| Self::from_places(&self.names, path));
        self.message(span, what, help)
    }

    fn message(&self, span: Option<&Range<usize>>, what: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        match (&self.source, span) {
            (Some(source), Some(span)) => Diagnostic::in_text(&source.path, &source.text, span.clone(), what, help),
            (Some(source), None) => Diagnostic::new(Location::file(&source.path), what, help),
            (None, _) => Diagnostic::new(Location::default(), what, help),
        }
    }

    /// The position of `path`, of its nearest parent, or of the stack.
    fn from_places<'p>(places: &'p BTreeMap<String, Range<usize>>, path: &str) -> Option<&'p Range<usize>> {
        let above = path.match_indices('.').rev().map(|(dot, _)| &path[..dot]);
        std::iter::once(path).chain(above).chain(["use", ""]).find_map(|path| places.get(path))
    }
}
