//! Words in the files that describe frameworks: a wrong one is refused with the nearest right one.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::diagnostic::nearest;
use crate::transcript::NamedEnum;

/// Reads a variant by its name; the error names the nearest one.
pub(crate) fn word<'de, W: NamedEnum, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    let asked = String::deserialize(deserializer)?;
    asked.parse().map_err(|()| {
        let near = match nearest(&asked, W::NAMES.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? "),
            None => String::new(),
        };
        D::Error::custom(format!("unknown word `{asked}`; {near}known: {}", W::NAMES.join(", ")))
    })
}
