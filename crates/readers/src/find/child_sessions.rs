//! Sessions that another session's agent started and that are kept in files of their own: which file holds whose.

use std::collections::HashMap;

use crate::find::session_heads::{Heads, SessionHead};
use crate::find::source::InputFile;

/// Most generations of sub-agents.
const GENERATIONS: usize = 16;

/// The sessions of a corpus, and who started them.
#[derive(Debug, Default)]
pub(crate) struct SessionFamilies<'s> {
    /// The file of the session at the root, by the path of a sub-agent's file.
    roots: HashMap<&'s str, &'s InputFile>,
    /// The files of the sub-agents, in path order, by the path of the file whose session is at their root.
    below: HashMap<&'s str, Vec<&'s InputFile>>,
}

impl<'s> SessionFamilies<'s> {
    /// The family of the sessions in these files.
    pub(crate) fn from_heads(heads: &Heads<'s>) -> Self {
        let mut holders: HashMap<&str, Vec<(&SessionHead, &'s InputFile)>> = HashMap::new();
        for (head, file) in heads.values() {
            holders.entry(&head.id).or_default().push((head, file));
        }
        let mut family = Self::default();
        for (path, (head, file)) in heads {
            let mut above = (head, *file);
            for _ in 0..GENERATIONS {
                let Some(next) = parent(above.0, above.1, &holders) else { break };
                above = next;
            }
            if above.1.name.path != file.name.path {
                family.roots.insert(path, above.1);
                family.below.entry(&above.1.name.path).or_default().push(file);
            }
        }
        family
    }

    /// The file of the session at the root of this file's session, if another file of the corpus holds it.
    pub(crate) fn root_of(&self, file: &InputFile) -> Option<&'s InputFile> {
        self.roots.get(file.name.path.as_str()).copied()
    }

    /// The files of the sessions that this file's session started, and that those started, in path order.
    pub(crate) fn below(&self, file: &InputFile) -> &[&'s InputFile] {
        self.below.get(file.name.path.as_str()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The session that started this one. Of several files that hold it, the nearest: folders are copied whole.
fn parent<'h, 's>(
    head: &SessionHead,
    file: &InputFile,
    holders: &HashMap<&str, Vec<(&'h SessionHead, &'s InputFile)>>,
) -> Option<(&'h SessionHead, &'s InputFile)> {
    let mut nearest: Option<(usize, &'h SessionHead, &'s InputFile)> = None;
    for (above, holder) in holders.get(head.parent.as_deref()?)? {
        let shared = shared_folders(file, holder);
        let is_nearer = match nearest {
            Some((most, ..)) => shared > most,
            None => true,
        };
        if above.shape == head.shape && is_nearer {
            nearest = Some((shared, *above, *holder));
        }
    }
    nearest.map(|(_, above, holder)| (above, holder))
}

/// How many folders from the root on two files have in common.
fn shared_folders(one: &InputFile, other: &InputFile) -> usize {
    let pairs = one.name.folder.components().zip(other.name.folder.components());
    pairs.take_while(|(one, other)| one == other).count()
}
