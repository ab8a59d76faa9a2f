//! On how many runs a number is known, in words.

use crate::answers::known::{Lack, MissingRecord};

/// What is missing on how many runs; empty if nothing is.
pub fn missing(all: &[MissingRecord]) -> String {
    let mut parts = Vec::new();
    for MissingRecord { lack, lacking, runs } in all {
        let words = match lack {
            Lack::Reading => "lack what a rule reads",
            Lack::Sequel => "were warned, asked or refused a call, and what follows is not recorded",
            Lack::Outcome => "have no outcome (`--labels`)",
            Lack::Tokens => "record no tokens",
            Lack::Cost => "record no cost (`--price`)",
        };
        parts.push(format!("{lacking} of {runs} runs {words}"));
    }
    parts.join("; ")
}

/// Formats `known on 76 % of the runs, 95 % are needed (`--min-known`)`.
pub fn known_on(known: f64, needed: f64) -> String {
    let percent = |share: f64| (share * 1000.0).floor() / 10.0;
    format!("known on {} % of the runs, {} % are needed (`--min-known`)", percent(known), percent(needed))
}
