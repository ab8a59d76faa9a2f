//! The sentences of the answer.

use super::{ScoresAnswer, StackBenchmarks};
use crate::bench::{Benchmark, ModelScore};
use crate::cli::failure::CommandFailure;
use crate::cli::output::{Output, TableFormat};
use crate::diagnostic::count;
use crate::snapshot::known_or;
use crate::words::{chosen as percent, digits as points, known_percent};

/// What a line says of all its benchmarks together.
pub(super) struct ScoreTotals {
    pub(super) saved: Option<f64>,
    pub(super) mean_change: f64,
    pub(super) largest_change: f64,
    /// The most that is taken from any score of a model with [`ENOUGH`] tasks; of any model if none has.
    pub(super) at_most: f64,
    /// Models with fewer tasks, beside others with enough.
    pub(super) small: usize,
    /// Whether anything was stopped, or may have been.
    pub(super) acted: bool,
    pub(super) pairs: usize,
    pub(super) tied: usize,
    pub(super) flipped: usize,
    pub(super) beyond: usize,
    pub(super) certified: usize,
    /// The lowest of any benchmark.
    pub(super) tau: Option<f64>,
    pub(super) audited: Option<Audited>,
}

/// The limit of a model with fewer tasks says how few they are, and nothing of the stack.
const ENOUGH: usize = 20;

/// What an audit adds, on average over the models.
pub(super) struct Audited {
    pub(super) saved: Option<f64>,
    pub(super) added_error: f64,
    pub(super) sampling_error: Option<f64>,
}

impl StackBenchmarks {
    pub(super) fn models(&self) -> impl Iterator<Item = (&Benchmark, &ModelScore)> + Clone {
        self.benchmarks.iter().flat_map(|of| of.models.iter().map(move |model| (of, model)))
    }

    pub(super) fn totals(&self, unit: usize) -> ScoreTotals {
        let models = || self.models().map(|(_, model)| model);
        let n = models().count() as f64;
        let mean = |values: Vec<f64>| match values.len() {
            0 => None,
            n => Some(values.iter().sum::<f64>() / n as f64),
        };
        let sum = |of: fn(&Benchmark) -> usize| self.benchmarks.iter().map(of).sum();
        let large = models().filter(|model| model.n_tasks() >= ENOUGH).count();
        let counts = |model: &&ModelScore| large == 0 || model.n_tasks() >= ENOUGH;
        let audits = || models().filter_map(|model| model.audit.as_ref());
        ScoreTotals {
            saved: mean(models().filter_map(|model| model.saved[unit]).collect()),
            mean_change: models().map(ModelScore::change).sum::<f64>() / n,
            largest_change: models().map(ModelScore::change).fold(0.0, f64::min),
            at_most: models().filter(counts).map(|model| model.at_most).fold(0.0, f64::max),
            small: models().filter(|model| !counts(model)).count(),
            acted: models().any(|model| model.stopped > 0 || model.doubtful > 0),
            pairs: sum(|of| of.pairs.pairs.len()),
            tied: sum(|of| of.pairs.tied),
            flipped: sum(|of| of.pairs.flipped()),
            beyond: sum(|of| of.pairs.beyond()),
            certified: sum(|of| of.pairs.certified()),
            tau: self.benchmarks.iter().filter_map(|of| of.pairs.tau).reduce(f64::min),
            audited: audits().next().map(|_| Audited {
                saved: mean(audits().filter_map(|audit| audit.saved[unit]).collect()),
                added_error: audits().map(|audit| audit.added_error).sum::<f64>() / n,
                sampling_error: mean(models().filter_map(|model| model.sampling_error).collect()),
            }),
        }
    }
}

impl ScoresAnswer<'_> {
    /// The place of the unit among those of [`ModelScore::saved`].
    pub(super) fn unit_place(&self) -> usize {
        crate::aggregate::Unit::ALL.iter().position(|unit| *unit == self.unit).unwrap_or(0)
    }

    pub(super) fn verdict(&self) -> String {
        let line = &self.lines[0];
        let totals = line.totals(self.unit_place());
        let saved = known_percent(totals.saved);
        let how = match &line.stack {
            Some(stack) => format!("Stopping by `{stack}`"),
            None => "Stopping by the stack that is best on the other models".to_owned(),
        };
        if !totals.acted {
            return format!("{how} takes 0 points from any score and saves nothing: it never acted on these runs.");
        }
        let small = match totals.small {
            0 => String::new(),
            n => format!(" with {ENOUGH} tasks or more ({n} of the models have fewer)"),
        };
        let confidence = percent(self.args.appetite.confidence);
        let certain = if totals.pairs == 0 {
            String::new()
        } else {
            format!(
                " {} of {} change places; {} stay in order for certain.",
                totals.flipped,
                count(totals.pairs as u64, "pair"),
                totals.certified
            )
        };
        format!(
            "{how} saves {saved} of the {}, on average over the models, and lowers their scores by {} points, at most {}.{certain} \
             On tasks like these it takes at most {} points from any score{small}, so models further apart cannot change places \
             through it ({confidence} %, all models together): that is {} of them.",
            self.unit.noun(),
            points(-totals.mean_change),
            points(-totals.largest_change),
            points(totals.at_most),
            if totals.beyond == totals.pairs && totals.pairs > 0 {
                "all".to_owned()
            } else {
                totals.beyond.to_string()
            },
        )
    }

    /// What the audit costs and gives.
    fn audited(&self) -> Option<String> {
        let share = self.args.scores.audit?;
        let audited = self.lines[0].totals(self.unit_place()).audited?;
        let saved = known_percent(audited.saved);
        let sampling = known_or("an unknown", audited.sampling_error.map(points));
        Some(format!(
            "If {} % of the stopped runs go on, {saved} is saved, and the full scores are estimated without bias, whatever the \
             stack: with a standard error of {} points from the audit, beside {sampling} from the choice of tasks.",
            percent(share),
            points(audited.added_error),
        ))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let no_model = self.trials.iter().filter(|trial| trial.model.is_empty()).count();
        let no_class = self.trials.iter().filter(|trial| trial.class.is_none()).count();
        let line = &self.lines[0];
        let ungraded: u64 = line.models().map(|(_, model)| model.ungraded).sum();
        let doubtful: u64 = line.models().map(|(_, model)| model.doubtful).sum();
        let apart: usize = line.benchmarks.iter().map(|of| of.pairs.apart).sum();
        let mut note = |n: u64, words: &str| {
            if n > 0 {
                notes.push(format!("{} {words}", count(n, "run")));
            }
        };
        note(no_model as u64, "without a model: left out");
        note(no_class as u64, "without what `--by` asks for: left out");
        note(ungraded, "without a grade: in what is saved, not in the scores");
        note(
            doubtful,
            "of which it is not known whether a stop ends or kills them: they count as killed if they succeeded",
        );
        if !self.not_judged.is_empty() {
            let names = super::named(&self.not_judged);
            notes.push(format!("not judged, in how many runs a rule could not be read: {names}"));
        }
        if apart > 0 {
            notes.push(format!("{} without a common task: not compared", count(apart as u64, "pair")));
        }
        if line.models().count() < 2 {
            notes.push("only one model: nothing is ranked".to_owned());
        }
        if line.stack.is_none() {
            notes.push(format!(
                "each model's stack is the one that saves most on the other models among those that kill at most {} % of their \
                 successes (`--max-killed`); the limits hold for all {} stacks together",
                percent(self.args.appetite.max_killed),
                self.stacks.len()
            ));
        }
        notes.push(
            "scores are means over tasks; a stopped run counts as failed. at most: an upper limit on what stopping takes from the \
             score on tasks like these. beyond: pairs whose scores differ by more. certain: pairs in which the model above, with \
             stops, is ahead of the other without, the choice of tasks counted"
                .to_owned(),
        );
        notes
    }

    /// Prints the answer for a terminal.
    pub(super) fn show(&self, output: &Output) -> Result<(), CommandFailure> {
        output.paragraph(&self.verdict());
        if let Some(audited) = self.audited() {
            output.paragraph(&audited);
        }
        output.data("\n");
        if self.lines.len() > 1 {
            output.table(&self.stack_table(), TableFormat::Table)?;
            output.data("\n");
        }
        output.table(&self.models(), TableFormat::Table)?;
        output.data("\n");
        self.notes().iter().for_each(|note| output.paragraph(note));
        Ok(())
    }
}
