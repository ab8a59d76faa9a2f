//! What is swept: the recordings as the stacks read them, from the files or from the cache.

use std::path::Path;

use super::cache::{Cache, NotKept};
use super::{Failure, Output, SplitArgs, divided};
use crate::cli::inputs::CorpusArgs;
use crate::diagnostic::{Diagnostic, Location};
use crate::reader::LabelDraw;
use crate::sweep::engine::{Extract, Plan};
use crate::verdict::Assumptions;

/// How recordings are read.
pub(in crate::cli) struct Reading<'a> {
    /// Which recordings.
    pub(in crate::cli) corpus: &'a CorpusArgs,
    /// How their tasks are split.
    pub(in crate::cli) split: &'a SplitArgs,
    /// What is assumed about them.
    pub(in crate::cli) assumptions: Assumptions,
    /// Where readings are kept.
    pub(in crate::cli) cache: Option<&'a Path>,
}

/// The recordings: those searched, and those reported if different.
pub(in crate::cli) struct Recordings {
    pub(in crate::cli) searched: Vec<Extract>,
    pub(in crate::cli) reported: Option<Vec<Extract>>,
    /// Which of those graded by labels were drawn at random; not known if the readings are from the cache.
    pub(in crate::cli) labels: LabelDraw,
}

impl Recordings {
    /// Those reported.
    pub(in crate::cli) fn reported(&self) -> &[Extract] {
        self.reported.as_deref().unwrap_or(&self.searched)
    }

    /// Those the choice is made on, if they are others.
    pub(in crate::cli) fn chosen_on(&self) -> Option<&[Extract]> {
        self.reported.is_some().then_some(&self.searched[..])
    }
}

impl Reading<'_> {
    /// Reads the recordings, or takes the readings from the cache, and splits them.
    pub(in crate::cli) fn read(&self, plan: &Plan, output: &Output) -> Result<Recordings, Failure> {
        let (extracts, labels) = self.extracts(plan, output)?;
        let (reported, searched) = divided(extracts, self.split, |all, split| split.extracts(all), Vec::is_empty)?;
        Ok(match searched {
            Some(searched) => Recordings { searched, reported: Some(reported), labels },
            None => Recordings { searched: reported, reported: None, labels },
        })
    }

    /// Everything the plan reads of every run: from the cache if it is complete.
    fn extracts(&self, plan: &Plan, output: &Output) -> Result<(Vec<Extract>, LabelDraw), Failure> {
        let Self { corpus, assumptions, cache: root, .. } = *self;
        if let Some(root) = root.filter(|root| Cache::is_among(root, corpus)) {
            let what = "the cache lies among the recordings";
            let at = Location::file(root.display().to_string());
            return Err(Failure::usage(Diagnostic::new(at, what, "name a folder outside of them")));
        }
        if root.is_some() && !plan.replayed().is_empty() {
            output.note("nothing is kept in the cache: a stack that does more than stop is replayed on every run");
        }
        let root = root.filter(|_| plan.replayed().is_empty());
        let cache = root.and_then(|root| Cache::of(root, corpus, assumptions));
        if let (Some(cached), Some(root)) = (cache.as_ref().and_then(|cache| cache.read(plan)), root) {
            output.note(&format!(
                "{} {} from {}: no recording was read; what is odd about them was said when they were",
                cached.len(),
                corpus.unit.noun(),
                root.display()
            ));
            return Ok((cached, LabelDraw::default()));
        }
        let mut extracts: Vec<Extract> = Vec::new();
        let report =
            corpus.process(output, |run| Extract::of(&run, plan, assumptions), |extract| extracts.push(extract))?;
        match cache.map(|cache| cache.write(plan, &extracts, &report)) {
            None | Some(Ok(())) => {}
            Some(Err(NotKept::Because(why))) => output.note(&format!("nothing is kept in the cache: {why}")),
            Some(Err(NotKept::Failed(diagnostic))) => return Err(Failure::input(*diagnostic)),
        }
        Ok((extracts, report.label_draw))
    }
}
