//! `--by`: what divides runs into classes.

use crate::class::By;
use crate::reader::NamedBy;

/// What divides runs into classes, as given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum ByArg {
    Suite,
    Model,
    /// Where the recordings say it.
    Found(NamedBy),
}

impl ByArg {
    /// Parses an argument.
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "suite" => Ok(Self::Suite),
            "model" => Ok(Self::Model),
            _ => NamedBy::parse(text).map(Self::Found),
        }
    }

    /// What it reads of a run.
    pub(in crate::cli) fn by(by: Option<&Self>) -> By {
        match by {
            None => By::Nothing,
            Some(Self::Suite) => By::Suite,
            Some(Self::Model) => By::Model,
            Some(Self::Found(_)) => By::Field,
        }
    }

    /// What it is called.
    pub(in crate::cli) fn noun(&self) -> String {
        match self {
            Self::Suite => "suite".to_owned(),
            Self::Model => "model".to_owned(),
            Self::Found(place) => place.to_string(),
        }
    }

    /// The place that readers have to look at.
    pub(in crate::cli) fn place(by: Option<&Self>) -> Option<NamedBy> {
        match by {
            Some(Self::Found(place)) => Some(place.clone()),
            _ => None,
        }
    }
}
