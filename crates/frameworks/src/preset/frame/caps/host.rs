//! What a framework with a caps file can hold of a stack, as data.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;

use crate::host::{Does, FROM_ZERO, Host, Place, Slot, Syntax};
use crate::transcript::Moment;

/// `[host]` of a caps file; the fields are those of [`Host`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostEntry {
    #[serde(default)]
    file: String,
    #[serde(default)]
    syntax: SyntaxName,
    #[serde(default)]
    template: String,
    #[serde(default)]
    quiet: BTreeMap<String, String>,
    #[serde(default)]
    cannot: BTreeMap<String, String>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    slot: Vec<SlotEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SyntaxName {
    #[default]
    Python,
    Yaml,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the file, off where it is not there")]
struct SlotEntry {
    signal: String,
    at: String,
    parameter: String,
    /// The item to put into the parameter's list: as JSON, and as written in the snippet.
    item: Option<[String; 2]>,
    #[serde(default)]
    session: bool,
    #[serde(default)]
    more_than: bool,
    #[serde(default)]
    named: bool,
    /// Whether the limit need not be whole.
    #[serde(default)]
    amount: bool,
    #[serde(default)]
    from_zero: bool,
    fails: Option<String>,
    differs: Option<String>,
}

impl HostEntry {
    /// The host. Its strings are leaked, because the embedded file is needed for the life of the program.
    pub(super) fn host(&'static self) -> Host {
        let pairs = |table: &'static BTreeMap<String, String>| -> &'static [(&'static str, &'static str)] {
            table.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>().leak()
        };
        let slots: Vec<Slot> = self.slot.iter().map(SlotEntry::slot).collect();
        let syntax = match self.syntax {
            SyntaxName::Python => Syntax::Python,
            SyntaxName::Yaml => Syntax::Yaml,
        };
        Host::new(&self.file, syntax, &self.template, slots.leak())
            .quiet(pairs(&self.quiet))
            .cannot(pairs(&self.cannot))
            .note(&self.note)
    }
}

impl SlotEntry {
    fn slot(&'static self) -> Slot {
        let place = match &self.item {
            Some([json, written]) => Place::Item(&self.parameter, json, written),
            None => Place::Is(&self.parameter),
        };
        // A test reads all embedded files, so every moment in them is known to be valid.
        let moment = Moment::from_str(&self.at).unwrap_or(Moment::BeforeRequest);
        let mut slot = Slot::new(&self.signal, moment, place);
        if self.session {
            slot = slot.session();
        }
        if self.more_than {
            slot = slot.more_than();
        }
        if self.named {
            slot = slot.named();
        }
        if self.amount {
            slot = slot.amount();
        }
        if self.from_zero {
            slot = slot.range(FROM_ZERO);
        }
        if let Some(error) = &self.fails {
            slot = slot.does(Does::Fail(error));
        }
        if let Some(differs) = &self.differs {
            slot = slot.differs(differs);
        }
        slot
    }
}
