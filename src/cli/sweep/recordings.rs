//! What a grid is swept over: the recordings as its rules read them, from the files or from the cache.

use super::cache::{Cache, NotKept};
use super::{Args, Failure, Output, SplitPart};
use crate::diagnostic::{Diagnostic, Location};
use crate::sweep::Split;
use crate::sweep::engine::{Extract, Plan};

/// The recordings: those searched, and those reported if different.
pub(super) struct Recordings {
    pub(super) searched: Vec<Extract>,
    pub(super) reported: Option<Vec<Extract>>,
}

impl Recordings {
    pub(super) fn reported(&self) -> &[Extract] {
        self.reported.as_deref().unwrap_or(&self.searched)
    }
}

/// Reads the recordings, or takes the readings from the cache, and splits them.
pub(super) fn read(args: &Args, plan: &Plan, output: &Output) -> Result<Recordings, Failure> {
    let extracts = extracts(args, plan, output)?;
    let split = Split { salt: args.split.split_salt.clone(), dev_share: args.split.dev_share };
    let recordings = match args.split.split {
        SplitPart::None => Recordings { searched: extracts, reported: None },
        SplitPart::Dev => Recordings { searched: split.extracts(extracts).0, reported: None },
        SplitPart::Test => {
            let (dev, test) = split.extracts(extracts);
            Recordings { searched: dev, reported: Some(test) }
        }
    };
    if recordings.searched.is_empty() || recordings.reported().is_empty() {
        let help = "give more recordings, another `--dev-share`, or no `--split`";
        return Err(Failure::nothing("a part of the split has no task", help));
    }
    Ok(recordings)
}

/// Everything the plan reads of every run: from the cache if it is complete.
fn extracts(args: &Args, plan: &Plan, output: &Output) -> Result<Vec<Extract>, Failure> {
    let assumptions = args.assumptions.assumptions();
    if let Some(root) = args.wide.cache.as_deref().filter(|root| Cache::is_among(root, &args.corpus)) {
        let what = "the cache lies among the recordings";
        let at = Location::file(root.display().to_string());
        return Err(Failure::usage(Diagnostic::new(at, what, "name a folder outside of them")));
    }
    let cache = args.wide.cache.as_deref().and_then(|root| Cache::of(root, &args.corpus, assumptions));
    if let (Some(cached), Some(root)) = (cache.as_ref().and_then(|cache| cache.read(plan)), &args.wide.cache) {
        output.note(&format!(
            "{} {} from {}: no recording was read; what is odd about them was said when they were",
            cached.len(),
            args.corpus.unit.noun(),
            root.display()
        ));
        return Ok(cached);
    }
    let mut extracts: Vec<Extract> = Vec::new();
    let report =
        args.corpus.process(output, |run| Extract::of(&run, plan, assumptions), |extract| extracts.push(extract))?;
    match cache.map(|cache| cache.write(plan, &extracts, &report)) {
        None | Some(Ok(())) => {}
        Some(Err(NotKept::Because(why))) => output.note(&format!("nothing is kept in the cache: {why}")),
        Some(Err(NotKept::Failed(diagnostic))) => return Err(Failure::input(*diagnostic)),
    }
    Ok(extracts)
}
