//! What is swept: the recordings as the stacks read them, from the files or from the cache.

use super::cache::{Cache, NotKept};
use super::{Args, CommandFailure, Output};
use crate::cli::inputs::divided;
use crate::sweep::engine::{Extract, Plan};
use crate::verdict::Assumptions;

/// The recordings: those reported, and those that are searched and chosen on, if they are others.
pub(super) struct GridRecordings {
    pub(super) reported: Vec<Extract>,
    pub(super) chosen_on: Option<Vec<Extract>>,
}

impl GridRecordings {
    /// Those searched.
    pub(super) fn searched(&self) -> &[Extract] {
        self.chosen_on.as_deref().unwrap_or(&self.reported)
    }
}

/// Reads the recordings, or takes the readings from the cache, and splits them.
pub(super) fn read(args: &Args, plan: &Plan, output: &Output) -> Result<GridRecordings, CommandFailure> {
    let extracts = extracts(args, plan, output)?;
    let (reported, chosen_on) = divided(extracts, &args.own.split, |all, split| split.extracts(all), Vec::is_empty)?;
    Ok(GridRecordings { reported, chosen_on })
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
