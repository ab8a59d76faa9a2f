//! What is asked of stacks on recordings, and what comes of it, whoever asks.

use std::collections::BTreeSet;

use crate::aggregate::{Label, RowView, Rows};
use crate::answers::{FollowedReport, RunEvidence, ToldRuns, Tolerances};
use crate::catalog::Strategies;
use crate::cli::configurations::{configurations, n_hosts};
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{LoadedStacks, RecordedRuns, SplitArgs, SplitPart, divided, tell_troubles};
use crate::cli::output::Output;
use crate::compare::{Evaluation, EvaluationOptions, Evaluator, Keeps};
use crate::diagnostic::{did_you_mean, nearest};
use crate::explain::Texts;
use crate::reader::CorpusReport;
use crate::report::{Manifest, Provenance, Publication, ReadingFindings};
use crate::stats::labels::ErrorRates;
use crate::transcript::{Instant, Run};
use crate::verdict::Assumptions;

/// What the recordings hold under some stacks.
pub(in crate::cli) struct GatheredRuns {
    pub(in crate::cli) evidence: RunEvidence,
    /// The stacks, reported in the usual way unless the caller says otherwise.
    pub(in crate::cli) manifest: Manifest,
    /// Findings from reading the recordings, one line each.
    pub(in crate::cli) found: Vec<String>,
    /// How many runs tell their agents of a limit, if that was looked for.
    pub(in crate::cli) told: Option<ToldRuns>,
    /// One sentence per tuned stack whose certificate does not hold on these recordings, with the reason.
    pub(in crate::cli) void: Vec<String>,
    /// The full report of the reading.
    pub(in crate::cli) report: CorpusReport,
    /// The agents of the runs, as far as they are recorded.
    pub(in crate::cli) agents: BTreeSet<String>,
    /// When each run started, in the order of the rows.
    pub(in crate::cli) started: Vec<Option<Instant>>,
}

/// Replays the recordings under the stacks. `options` are those that no stack file decides.
pub(in crate::cli) fn gather(
    runs: &RecordedRuns<'_>,
    stacks: &LoadedStacks,
    options: &EvaluationOptions<'_>,
    output: &Output,
) -> Result<GatheredRuns, CommandFailure> {
    let hides_texts = options.stories == Some(Texts::None);
    let grounds = stacks.grounds();
    let options = EvaluationOptions { effects: stacks.effects(), grounds: &grounds, ..options.clone() };
    let evaluator = Evaluator::new(&stacks.strategies, options);
    let mut gathered = evaluator.gather();
    let (mut agents, mut started) = (BTreeSet::new(), Vec::new());
    let evaluate = |run: Run| (evaluator.evaluate(&run), run.started_at(), run.header.agent);
    let report = runs.each(output, evaluate, |(run, start, agent)| {
        gathered.take(run);
        started.push(start);
        agents.extend(agent);
    })?;
    tell_troubles(&stacks.strategies, runs.is_strict(), output)?;
    let Evaluation { rows, firings, followed, stacks, stories, void } = gathered.finish();
    let followed = Some(FollowedReport::new(followed, runs.noun()));
    let found = ReadingFindings::from_report(&report);
    let told = found.told_of_limits();
    let found = if hides_texts { found.without_values().lines() } else { found.lines() };
    let (evidence, manifest) = (RunEvidence { rows, firings, followed, stories }, Manifest::new(stacks));
    Ok(GatheredRuns { evidence, manifest, found, told, void, report, agents, started })
}

/// What runs today and what is proposed, compared on the recordings: a block for a pull request.
pub(in crate::cli) fn pull_request(
    runs: &RecordedRuns<'_>,
    strategies: Strategies,
    today: Option<&str>,
    proposed: &str,
    output: &Output,
) -> Result<String, CommandFailure> {
    let stacks = LoadedStacks::without_files(strategies);
    let GatheredRuns { evidence, manifest, .. } = gather(runs, &stacks, &EvaluationOptions::default(), output)?;
    let publication = Publication::new(evidence, manifest);
    publication.pull_request(today, Some(proposed)).map_err(CommandFailure::usage)
}

/// What is asked about stacks on recordings, whoever asks.
pub(in crate::cli) struct CompareQuestion<'a> {
    pub(in crate::cli) appetite: Tolerances,
    pub(in crate::cli) failure_rate: Option<f64>,
    /// The stack that the others are compared with; by default the first.
    pub(in crate::cli) baseline: Option<&'a str>,
    pub(in crate::cli) keeps: Keeps,
    pub(in crate::cli) assumptions: Assumptions,
    pub(in crate::cli) split: &'a SplitArgs,
    /// How labels err.
    pub(in crate::cli) errors: Option<ErrorRates>,
    /// Marks of the recordings that stand for grades.
    pub(in crate::cli) proxies: Option<String>,
    /// The texts of the recordings that a page contains; `None` if there is no page.
    pub(in crate::cli) texts: Option<Texts>,
    /// The command and the files it reads, if the result goes to a folder.
    pub(in crate::cli) made: Option<Provenance>,
}

/// The result of a comparison.
pub(in crate::cli) struct Published {
    pub(in crate::cli) publication: Publication,
    /// The report of the reading.
    pub(in crate::cli) report: CorpusReport,
    /// The agents of the runs, as far as they are recorded.
    pub(in crate::cli) agents: BTreeSet<String>,
    /// When each run started, in the order of the rows; of the runs of a part, if the tasks were split, nothing.
    pub(in crate::cli) started: Vec<Option<Instant>>,
}

/// Runs the comparison; the result is ready to be shown and written.
pub(in crate::cli) fn published(
    question: &CompareQuestion<'_>,
    runs: &RecordedRuns<'_>,
    stacks: &LoadedStacks,
    output: &Output,
) -> Result<Published, CommandFailure> {
    let gathered = gather(runs, stacks, &question.options(), output)?;
    question.refuse_unknown_baseline(stacks)?;
    let GatheredRuns { mut evidence, manifest, found, told, void, report, agents, started } = gathered;
    let mut manifest = Manifest { found, told, remarks: void, ..manifest };
    question.describe(&mut manifest, stacks);
    if question.split.split == SplitPart::None {
        return Ok(Published { publication: Publication::new(evidence, manifest), report, agents, started });
    }
    let (reported, dev) = divided(evidence.rows, question.split, |all, split| split.rows(&all), Rows::is_empty)?;
    let runs: BTreeSet<&Label> = reported.iter().map(RowView::run_id).collect();
    evidence.firings = evidence.firings.filtered(|firing| runs.contains(&firing.run_id));
    evidence = RunEvidence { rows: reported, followed: None, ..evidence };
    let choice = question.split.choice(question.appetite.max_killed);
    let publication = Publication::new(evidence, manifest).with_choice(choice, dev.as_ref());
    Ok(Published { publication, report, agents, started: Vec::new() })
}

impl CompareQuestion<'_> {
    /// How runs are evaluated, as far as no stack file decides it.
    pub(super) fn options(&self) -> EvaluationOptions<'static> {
        EvaluationOptions {
            assumptions: self.assumptions,
            keeps: self.keeps,
            stories: self.texts,
            ..EvaluationOptions::default()
        }
    }

    /// How the comparison of the stacks is reported, as far as the question says.
    pub(super) fn describe(&self, manifest: &mut Manifest, stacks: &LoadedStacks) {
        if let Some(today) = self.baseline {
            manifest.baseline = Label::from(today);
        }
        manifest.made.clone_from(&self.made);
        manifest.assumptions = self.assumptions.names().into_iter().map(str::to_owned).collect();
        manifest.appetite = self.appetite;
        manifest.failure_rate = self.failure_rate;
        manifest.proxies.clone_from(&self.proxies);
        manifest.set_label_errors(self.errors);
        manifest.set_places(&stacks.places());
        for stack in &mut manifest.stacks {
            stack.hosts = n_hosts(stacks, &stack.name);
            stack.untold_limit = stacks.untold_limit(&stack.name);
        }
        // Only a folder has a page to copy them from.
        if self.texts.is_some() {
            manifest.configurations = configurations(stacks);
        }
    }

    /// An error if no stack has the name of the one that the others are compared with.
    pub(super) fn refuse_unknown_baseline(&self, stacks: &LoadedStacks) -> Result<(), CommandFailure> {
        let Some(name) = self.baseline else { return Ok(()) };
        let known: Vec<&str> = stacks.strategies.iter().map(|strategy| strategy.name()).collect();
        if known.contains(&name) {
            return Ok(());
        }
        let help = did_you_mean(nearest(name, known), "name one of the stacks compared");
        Err(CommandFailure::arguments(format!("no stack `{name}`"), help))
    }
}
