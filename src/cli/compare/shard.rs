//! `whenstop compare --shard`: one part of a comparison.

use std::path::Path;

use super::{Args, Exit, quality, refuse_unknown_baseline};
use crate::aggregate::{Firings, FollowedRows, Rows};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::compare::{Comparison, Pass};
use crate::diagnostic::count;
use crate::report::{About, Division, FollowedReport, Input, Shard, write_part};
use crate::transcript::Run;

/// One part of a comparison, written run after run.
pub(super) fn run_shard(args: &Args, shard: Shard, out: &Path, output: &Output) -> Result<Exit, Failure> {
    let strategies = args.stacks.load()?;
    if strategies.is_empty() {
        return Err(Failure::nothing("no stack to compare", "name one with `--stacks`"));
    }
    let comparison = Comparison::new(&strategies, args.assumptions.assumptions());
    refuse_unknown_baseline(args, comparison.infos())?;
    let texts = Some(args.embed_text.texts());
    let pass = Pass::new(comparison, args.stacks.effects()?).keeping(args.keeps.keeps()).telling(texts);
    let corpus = args.corpus.open()?;
    let inputs = corpus.files().map(|(path, bytes)| Input { path: path.to_owned(), bytes }).collect();
    let mut failure = None;
    let mut runs = 0_u64;
    let written = write_part(out, |part| {
        let mut state = Ok(());
        let work = |run: Run| {
            let cluster = (
                run.header.suite.as_deref().unwrap_or_default(),
                run.header.task_id.as_deref().unwrap_or(&run.header.run_id),
            );
            shard.holds(cluster).then(|| pass.of(&run))
        };
        let report = args.corpus.process_open(&corpus, output, work, |run| {
            if state.is_ok() {
                match run {
                    None => part.pass(),
                    Some(mut run) => {
                        runs += 1;
                        pass.tell(&mut run);
                        state = part.run(&run);
                    }
                }
            }
        });
        state?;
        let report = report.map_err(|error| {
            let first = error.diagnostics.first().clone();
            failure = Some(error);
            first
        })?;
        let stacks = pass.comparison().infos().to_vec();
        let publication = args
            .publication(Rows::default(), Firings::default(), stacks, &args.assumptions.assumptions().names())
            .map_err(|failure| failure.diagnostics.first().clone())?
            .with_stories(Vec::new(), quality(&report))
            .with_followed(FollowedReport::new(FollowedRows::default(), args.corpus.unit.noun()));
        let comparison = publication.manifest().clone();
        let (division, unreadable, told) = (Division::Tasks, report.unreadable, pass.into_shelf());
        Ok(About { shard, division, inputs, unreadable, comparison, told })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written.map_err(Failure::input)?;
    output.note(&format!(
        "part {shard}: {} written to {}; put the parts together with `whenstop merge`",
        count(runs, "run"),
        out.display()
    ));
    Ok(Exit::Done)
}
