//! What is asked of stacks on recordings, and what comes of it, whoever asks.

use std::collections::BTreeSet;

use crate::aggregate::{Label, RowView, Rows, by_stack};
use crate::answers::{Appetite, FollowedReport, RunEvidence};
use crate::cli::export::{configurations, hosts_by_stack};
use crate::cli::failure::Failure;
use crate::cli::inputs::{LoadedStacks, RecordedRuns, SplitArgs, SplitPart, divided, tell_troubles};
use crate::cli::output::Output;
use crate::compare::{Evaluation, Evaluator, Keeps, Options, StackInfo};
use crate::diagnostic::{Diagnostic, Location, count, nearest};
use crate::explain::Texts;
use crate::reader::CorpusReport;
use crate::report::{Found, Made, Manifest, Publication};
use crate::stack::Stack;
use crate::stats::labels::ErrorRates;
use crate::transcript::{Outcome, Run};
use crate::verdict::Assumptions;
use crate::words::{digits, some_of};

/// What the recordings hold under some stacks.
pub(in crate::cli) struct GatheredRuns {
    pub(in crate::cli) evidence: RunEvidence,
    pub(in crate::cli) stacks: Vec<StackInfo>,
    /// Findings from reading the recordings, one line each.
    pub(in crate::cli) found: Vec<String>,
    /// The full report of the reading.
    pub(in crate::cli) report: CorpusReport,
    /// One sentence per tuned stack whose certificate does not hold on these recordings, with the reason.
    pub(in crate::cli) void: Vec<String>,
    /// The agents of the runs, as far as they are recorded.
    pub(in crate::cli) agents: BTreeSet<String>,
}

impl GatheredRuns {
    /// Everything that was gathered, reported in the usual way.
    pub(in crate::cli) fn publication(self) -> Publication {
        Publication::new(self.evidence, Manifest::new(self.stacks))
    }
}

/// Replays the recordings under the stacks. `options` are those that no stack file decides.
pub(in crate::cli) fn gather(
    runs: &RecordedRuns<'_>,
    stacks: &LoadedStacks,
    options: &Options<'_>,
    output: &Output,
) -> Result<GatheredRuns, Failure> {
    let hides_texts = options.stories == Some(Texts::None);
    let grounds = stacks.grounds();
    let Options { assumptions, keeps, stories, .. } = *options;
    let options = Options { assumptions, effects: stacks.effects(), keeps, stories, grounds: &grounds };
    let evaluator = Evaluator::new(&stacks.strategies, options);
    let mut gathered = evaluator.gather();
    let mut agents = BTreeSet::new();
    let evaluate = |run: Run| (evaluator.evaluate(&run), run.header.agent);
    let report = runs.each(output, evaluate, |(run, agent)| {
        gathered.take(run);
        agents.extend(agent);
    })?;
    tell_troubles(&stacks.strategies, output)?;
    let Evaluation { rows, firings, followed, stacks, stories, void } = gathered.finish();
    let followed = Some(FollowedReport::new(followed, runs.noun()));
    let found = Found::from_report(&report);
    let found = if hides_texts { found.without_values().lines() } else { found.lines() };
    Ok(GatheredRuns { evidence: RunEvidence { rows, firings, followed, stories }, stacks, found, report, void, agents })
}

/// What is asked about stacks on recordings, whoever asks.
pub(in crate::cli) struct CompareQuestion<'a> {
    pub(in crate::cli) appetite: Appetite,
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
    pub(in crate::cli) made: Option<Made>,
}

/// The result of a comparison.
pub(in crate::cli) struct Published {
    pub(in crate::cli) publication: Publication,
    /// The report of the reading.
    pub(in crate::cli) report: CorpusReport,
    /// The agents of the runs, as far as they are recorded.
    pub(in crate::cli) agents: BTreeSet<String>,
}

/// Runs the comparison; the result is ready to be shown and written.
pub(in crate::cli) fn published(
    question: &CompareQuestion<'_>,
    runs: &RecordedRuns<'_>,
    stacks: &LoadedStacks,
    output: &Output,
) -> Result<Published, Failure> {
    let options = Options {
        assumptions: question.assumptions,
        keeps: question.keeps,
        stories: question.texts,
        ..Options::default()
    };
    let gathered = gather(runs, stacks, &options, output)?;
    if let Some(name) = question.baseline {
        refuse_unknown_baseline(name, &gathered.stacks)?;
    }
    let GatheredRuns { mut evidence, stacks: replayed, found, report, void, agents } = gathered;
    let manifest = question.manifest(replayed, stacks);
    let remarks = void.into_iter().chain(under_told_limits(stacks, &evidence.rows, &report)).collect();
    let manifest = Manifest { found, remarks, ..manifest };
    if question.split.split == SplitPart::None {
        return Ok(Published { publication: Publication::new(evidence, manifest), report, agents });
    }
    let (reported, dev) = divided(evidence.rows, question.split, |all, split| split.rows(&all), Rows::is_empty)?;
    let runs: BTreeSet<&Label> = reported.iter().map(RowView::run_id).collect();
    evidence.firings = evidence.firings.filtered(|firing| runs.contains(&firing.run_id));
    evidence = RunEvidence { rows: reported, followed: None, ..evidence };
    let choice = question.split.choice(question.appetite.max_killed);
    let publication = Publication::new(evidence, manifest).with_choice(choice, dev.as_ref());
    Ok(Published { publication, report, agents })
}

/// The most stacks of which it is said what they would kill if the agent were told.
const LIMITS_NAMED: usize = 3;

/// What plain limits on steps would kill if the agent were told of them, where it was told of a limit in the recordings:
/// nobody knows what it would have done under a lower one.
fn under_told_limits(stacks: &LoadedStacks, rows: &Rows, report: &CorpusReport) -> Option<String> {
    if report.told.told == 0 {
        return None;
    }
    let lengths = success_lengths(rows);
    let mut ranges = Vec::new();
    for strategy in &stacks.strategies {
        let name = strategy.name();
        let Some(limit) = stacks.own_stack(name).and_then(Stack::step_limit) else { continue };
        let running = lengths.iter().filter(|steps| **steps >= u64::from(limit)).count();
        if running > 0 && stacks.told_limit(name).is_none() {
            let at_risk = digits(running as f64 / lengths.len() as f64);
            ranges.push(format!("0 to {at_risk} % under a told `{name}`"));
        }
    }
    let (told, runs) = (report.told.told, report.runs());
    (!ranges.is_empty()).then(|| {
        let named = some_of(&ranges, LIMITS_NAMED);
        format!(
            "the agent was told its limit in {told} of {}. Under a lower told one it may hurry or give up, and the \
             killed share of the successes is only known to be {named}; `told = true` in the stack says so",
            count(runs, "run"),
        )
    })
}

/// The recorded steps of each success: the same under every stack, so those of the first are looked at.
fn success_lengths(rows: &Rows) -> Vec<u64> {
    let Some(group) = by_stack(rows).into_iter().next() else { return Vec::new() };
    group.rows().filter(|row| row.outcome() == Outcome::Success).map(RowView::steps_recorded).collect()
}

impl CompareQuestion<'_> {
    /// How the comparison is reported, as far as the question says.
    pub(super) fn manifest(&self, replayed: Vec<StackInfo>, stacks: &LoadedStacks) -> Manifest {
        let mut manifest = Manifest::new(replayed);
        if let Some(today) = self.baseline {
            manifest.baseline = Label::from(today);
        }
        manifest.made.clone_from(&self.made);
        manifest.assumptions = self.assumptions.names().into_iter().map(str::to_owned).collect();
        manifest.appetite = self.appetite;
        manifest.failure_rate = self.failure_rate;
        manifest.proxies.clone_from(&self.proxies);
        manifest.set_label_errors(self.errors);
        manifest.set_hosts(&hosts_by_stack(stacks));
        manifest.set_places(&stacks.places());
        // Only a folder has a page to copy them from.
        if self.texts.is_some() {
            manifest.configurations = configurations(stacks);
        }
        manifest
    }
}

/// An error if no stack has this name.
pub(super) fn refuse_unknown_baseline(name: &str, stacks: &[StackInfo]) -> Result<(), Failure> {
    if stacks.iter().any(|stack| &*stack.name == name) {
        return Ok(());
    }
    let help = match nearest(name, stacks.iter().map(|stack| &*stack.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "name one of the stacks compared".to_owned(),
    };
    Err(Failure::usage(Diagnostic::new(Location::default(), format!("no stack `{name}`"), help)))
}
