//! Sessions that another session's agent started and that are kept in files of their own: which file holds whose.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;

use crate::find::source::Source;

/// Bytes read of a file to find whose session it is.
const HEAD: u64 = 64 << 10;
/// Most generations of sub-agents.
const GENERATIONS: usize = 16;

/// The sessions of a corpus, and who started them.
#[derive(Debug, Default)]
pub(crate) struct Family<'s> {
    /// The id of the session in each file.
    ids: BTreeMap<&'s str, String>,
    /// For each session: the session that started it, and the first file that holds it.
    sessions: BTreeMap<String, (Option<String>, &'s Source)>,
    /// The files of the sub-agents, in path order, by the path of the file whose session is at their root.
    below: BTreeMap<&'s str, Vec<&'s Source>>,
}

impl<'s> Family<'s> {
    /// Examines the beginning of every file of a corpus.
    pub(crate) fn of(files: &'s [Source]) -> Self {
        let mut family = Self::default();
        for file in files {
            if let Some((id, parent)) = head(file) {
                family.ids.insert(&file.name.path, id.clone());
                family.sessions.entry(id).or_insert((parent, file));
            }
        }
        let held: Vec<&'s Source> = family.sessions.values().map(|(_, source)| *source).collect();
        for source in held {
            if let Some(root) = family.root_of(source) {
                family.below.entry(&root.name.path).or_default().push(source);
            }
        }
        for below in family.below.values_mut() {
            below.sort_by(|a, b| a.name.path.cmp(&b.name.path));
        }
        family
    }

    /// The file of the session at the root of this file's session, if another file of the corpus holds it.
    pub(crate) fn root_of(&self, file: &Source) -> Option<&'s Source> {
        let mut id = self.ids.get(file.name.path.as_str())?;
        let mut root = None;
        for _ in 0..GENERATIONS {
            let Some(parent) = self.sessions.get(id).and_then(|(parent, _)| parent.as_ref()) else { break };
            let Some((_, above)) = self.sessions.get(parent) else { break };
            (id, root) = (parent, Some(*above));
        }
        root.filter(|root| root.name.path != file.name.path)
    }

    /// The files of the sessions that this file's session started, and that those started, in path order.
    pub(crate) fn below(&self, file: &Source) -> &[&'s Source] {
        self.below.get(file.name.path.as_str()).map_or(&[], Vec::as_slice)
    }
}

/// The id of the session in a file, and of the session that started it.
fn head(file: &Source) -> Option<(String, Option<String>)> {
    if !file.file_name().contains(".json") {
        return None;
    }
    let mut head = Vec::new();
    file.open().ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once("\"info\"")?;
    let rest = rest.trim_start().strip_prefix(':')?;
    let info = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
    let word = |name: &str| info.get(name).and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    Some((word("id")?, word("parentID")))
}
