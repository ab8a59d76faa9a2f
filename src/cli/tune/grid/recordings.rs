//! What is swept: the recordings as the stacks read them, from the files or from the cache.

use super::cache::{Cache, NotKept};
use super::{Args, CommandFailure, Output};
use crate::cli::inputs::divided;
use crate::sweep::engine::{Extract, Plan};
use crate::verdict::Assumptions;

/// The recordings: those searched, and those reported if different.
pub(super) struct GridRecordings {
    pub(super) searched: Vec<Extract>,
    pub(super) reported: Option<Vec<Extract>>,
}

impl GridRecordings {
    /// Those reported.
    pub(super) fn reported(&self) -> &[Extract] {
        self.reported.as_deref().unwrap_or(&self.searched)
    }

    /// Those the choice is made on, if they are others.
    pub(super) fn chosen_on(&self) -> Option<&[Extract]> {
        if self.reported.is_some() { Some(&self.searched[..]) } else { None }
    }
}

/// Reads the recordings, or takes the readings from the cache, and splits them.
pub(super) fn read(args: &Args, plan: &Plan, output: &Output) -> Result<GridRecordings, CommandFailure> {
    let extracts = extracts(args, plan, output)?;
    let (reported, searched) = divided(extracts, &args.own.split, |all, split| split.extracts(all), Vec::is_empty)?;
    Ok(match searched {
        Some(searched) => GridRecordings { searched, reported: Some(reported) },
        None => GridRecordings { searched: reported, reported: None },
    })
}

/// Everything the plan reads of every run: from the cache if it is complete.
fn extracts(args: &Args, plan: &Plan, output: &Output) -> Result<Vec<Extract>, CommandFailure> {
    let (corpus, root) = (&args.corpus, args.grid.cache.as_deref());
    if let Some(root) = root.filter(|root| Cache::is_among(root, corpus)) {
        let what = "the cache lies among the recordings";
        return Err(CommandFailure::file(root, what, "name a folder outside of them"));
    }
    let cache = root.and_then(|root| Cache::from_root(root, corpus));
    if let (Some(cache), Some(root)) = (&cache, root)
        && let Some(cached) = cache.read(plan)
    {
        output.note(&format!(
            "{} {} from {}: no recording was read; what is odd about them was said when they were",
            cached.len(),
            corpus.unit.noun(),
            root.display()
        ));
        return Ok(cached);
    }
    let mut extracts: Vec<Extract> = Vec::new();
    let report = corpus.process(
        output,
        |run| Extract::from_run(&run, plan, Assumptions::default()),
        |extract| extracts.push(extract),
    )?;
    match cache.map(|cache| cache.write(plan, &extracts, &report)) {
        None | Some(Ok(())) => {}
        Some(Err(NotKept::Because(why))) => output.note(&format!("nothing is kept in the cache: {why}")),
        Some(Err(NotKept::Failed(diagnostic))) => return Err(CommandFailure::input(*diagnostic)),
    }
    Ok(extracts)
}
