//! Replays the adaptive iterations on recorded runs. One step is an iteration: the reply is the cycle's text, its tools
//! are the experiment, and their results the observation.

use std::sync::Arc;

use super::config;
use super::iterations::{AdaptiveProfile, Iterations, IterationsEnd, NextAction, Strategies};
use super::param;
use super::review::ReviewerVerdict;
use crate::decision::{Action, Decision, Evidence, Need, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::framework::{Settings, SettingsError};
use crate::judge::Judge;
use crate::system::{RoundClock, RoundUnit, judge_of, profile_of};
use crate::text::conclusion_tag::has_conclusion;
use crate::text::experiment_tag::experiment_code;
use crate::text::observation::observation;
use crate::transcript::{Event, Header, JudgeReply, Message, Moment, PointView, Role, Truth};

const CONCLUSION: RuleName = RuleName::fixed("adaptive.conclusion_tag");
const COMPLETED: RuleName = RuleName::fixed("adaptive.task_completed");
const STATUS: RuleName = RuleName::fixed("adaptive.task_status");
const SUCCESSES: RuleName = RuleName::fixed("adaptive.consecutive_successes");
const REVIEW: RuleName = RuleName::fixed("adaptive.review");
const NO_EXPERIMENT: RuleName = RuleName::fixed("adaptive.no_experiment");
const MAX: RuleName = RuleName::fixed("adaptive.max_iterations");

/// The workflow, configured.
struct Adaptive {
    name: String,
    profile: AdaptiveProfile,
    max: i64,
    round: RoundUnit,
    reviewer: Judge,
    strategies: Strategies,
}

/// Builds the strategy from a `config.yaml` (or JSON or TOML).
pub(super) fn build(settings: &Settings) -> Result<Arc<dyn Strategy>, SettingsError> {
    let profile = profile_of(settings, AdaptiveProfile::Documented);
    let round = RoundUnit::from_settings(settings, &param::ROUND)?;
    let reviewer = judge_of(settings, &param::JUDGE)?;
    let max = config::max_iterations(settings)?;
    let strategies = config::strategies(settings)?;
    if profile == AdaptiveProfile::Published && strategies != config::strategies(&Settings::default())? {
        let help = "the released workflow has none of them; take the profile `documented`";
        let set =
            if settings.gives(&[&param::STRATEGIES]) { &param::STRATEGIES } else { &param::CONSECUTIVE_SUCCESSES };
        return Err(SettingsError::value(set, &settings.value(set), help));
    }
    Ok(Arc::new(Adaptive { name: settings.name.clone(), profile, max, round, reviewer, strategies }))
}

impl Strategy for Adaptive {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.profile.name()
    }

    fn rules(&self) -> Vec<RuleName> {
        match self.profile {
            AdaptiveProfile::Documented => {
                let Strategies { conclusion_tag, task_status, completion_words, successes } = self.strategies;
                let rules = [
                    (conclusion_tag, CONCLUSION),
                    (task_status, STATUS),
                    (true, NO_EXPERIMENT),
                    (completion_words, COMPLETED),
                    (successes.is_some(), SUCCESSES),
                    (true, MAX),
                ];
                rules.into_iter().filter(|(is_on, _)| *is_on).map(|(_, rule)| rule).collect()
            }
            AdaptiveProfile::Published if self.reviewer == Judge::Absent => vec![NO_EXPERIMENT, MAX],
            AdaptiveProfile::Published => vec![NO_EXPERIMENT, REVIEW, MAX],
        }
    }

    fn requirements(&self) -> Vec<Requirement> {
        let need = match (self.profile, self.reviewer) {
            (AdaptiveProfile::Published, Judge::Recorded) => Some(Need::Judge),
            (AdaptiveProfile::Published, Judge::Simulated(_)) => Some(Need::Outcome),
            (AdaptiveProfile::Published, Judge::Absent) | (AdaptiveProfile::Documented, _) => None,
        };
        let review = need.map(|need| Requirement { rule: REVIEW, need });
        let streak = self.strategies.successes.map(|_| Requirement { rule: SUCCESSES, need: Need::ErrorFlags });
        // The course of every iteration depends on tags and words in the replies and observations.
        review
            .into_iter()
            .chain(streak)
            .chain([Requirement { rule: NO_EXPERIMENT, need: Need::ExperimentTags }])
            .chain(self.rules().into_iter().map(|rule| Requirement { rule, need: Need::Texts }))
            .collect()
    }

    fn start(self: Arc<Self>, _: &Header) -> Box<dyn Watch> {
        Box::new(AdaptiveWatch {
            clock: RoundClock::new(self.round),
            iterations: Iterations::new(self.profile, self.max, self.strategies),
            adaptive: self,
            cycle: Cycle::default(),
            final_call: None,
            logged: 0,
            reviews: 0,
            truth: Truth::UNKNOWN,
        })
    }
}

/// One recorded iteration.
#[derive(Default)]
struct Cycle {
    has_experiment: bool,
    results: Vec<String>,
    /// Whether any result failed; `None` if a result does not say or there is none.
    failed: Option<bool>,
    review: Option<JudgeReply>,
}

/// The workflow running on one recording.
struct AdaptiveWatch {
    adaptive: Arc<Adaptive>,
    clock: RoundClock,
    iterations: Iterations,
    cycle: Cycle,
    /// The rule that made the next call the last one.
    final_call: Option<RuleName>,
    /// The length of the workflow's log before the last point shown.
    logged: usize,
    /// How many questions a simulated reviewer has been asked.
    reviews: u64,
    /// The truth that a simulated reviewer errs around.
    truth: Truth,
}

impl Watch for AdaptiveWatch {
    fn seat_judge(&mut self, truth: Truth) {
        self.truth = truth;
    }

    fn readings(&self) -> Vec<RuleReading> {
        let (current, max) = (self.iterations.current as f64, self.adaptive.max as f64);
        let iterations = RuleReading::new(MAX, "iterations", Some(current)).against(max, current >= max);
        let said = self.iterations.log.get(self.logged..).unwrap_or_default().iter();
        let said = said.map(|words| RuleReading::new(MAX, "log", None).saying(words));
        std::iter::once(iterations).chain(said).collect()
    }

    fn extra_calls(&self) -> u64 {
        self.reviews
    }

    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.logged = self.iterations.log.len();
        self.take_in(view);
        let ends = self.clock.ends(view);
        let by_step = self.adaptive.round == RoundUnit::Step;
        if view.moment() == Moment::BeforeRequest {
            trail.extend(self.force_final(view));
        }
        let is_reply = if by_step { view.moment() == Moment::AfterResponse } else { ends };
        if is_reply {
            let text = view.reply().map(Message::text).unwrap_or_default();
            let has_experiment =
                self.cycle.has_experiment || experiment_code(&text).is_some_and(|code| !code.is_empty());
            match self.iterations.reply(&text, has_experiment) {
                NextAction::Stop(end) => {
                    trail.push(self.stop(view, end));
                    return;
                }
                // The reply's own experiment would not be run, so what the recording says of it does not count.
                NextAction::FinalCall(end) => self.final_call = Some(rule(end)),
                NextAction::Experiment | NextAction::Call => {}
            }
        }
        if ends {
            let cycle = std::mem::take(&mut self.cycle);
            if self.final_call.is_none() {
                self.observe(view, &cycle, trail);
            }
        }
    }
}

impl AdaptiveWatch {
    fn take_in(&mut self, view: &PointView<'_>) {
        for event in view.news() {
            match event {
                Event::Message(message) if message.is_step() => {
                    self.cycle.has_experiment |= !message.tool_calls.is_empty();
                }
                Event::Message(message) if message.is_result() => {
                    let first = self.cycle.results.is_empty();
                    let before = if first { Some(false) } else { self.cycle.failed };
                    self.cycle.failed = before.zip(message.is_error).map(|(before, now)| before || now);
                    self.cycle.results.push(message.text().into_owned());
                }
                Event::Judge(review) => self.cycle.review = Some(review.clone()),
                _ => {}
            }
        }
    }

    /// The next call is asked for a conclusion instead of another cycle. `None` if the recording already has that
    /// prompt, because it was made by the workflow itself.
    fn force_final(&mut self, view: &PointView<'_>) -> Option<Decision> {
        let rule = self.final_call.take()?;
        let prompt = view.messages().rev().find(|message| message.role == Role::User);
        let is_asked = matches!(prompt, Some(prompt) if has_conclusion(&prompt.text()));
        if is_asked { None } else { Some(Decision::at(view, Action::ForceFinal, rule, self.progress())) }
    }

    fn observe(&mut self, view: &PointView<'_>, cycle: &Cycle, trail: &mut Vec<Decision>) {
        let seen = observation(&cycle.results.join("\n"));
        self.iterations.ran(cycle.failed);
        let review = match self.review(view, cycle.review.as_ref()) {
            Ok(review) => review,
            Err(why) => {
                if self.adaptive.profile == AdaptiveProfile::Published && !seen.is_empty() {
                    let missing = Decision::at(view, Action::Observe, REVIEW, Evidence::NONE);
                    trail.push(missing.code("no_verdict").detail(why));
                }
                None
            }
        };
        match self.iterations.observe(&seen, review.as_ref()) {
            NextAction::Stop(end) => trail.push(self.stop(view, end)),
            NextAction::FinalCall(end) => self.final_call = Some(rule(end)),
            NextAction::Call | NextAction::Experiment => {}
        }
    }

    /// The reviewer's verdict; `Ok(None)` if there is no reviewer, an error if a verdict is missing.
    fn review(
        &mut self,
        view: &PointView<'_>,
        recorded: Option<&JudgeReply>,
    ) -> Result<Option<ReviewerVerdict>, &'static str> {
        match (self.adaptive.reviewer, recorded) {
            (Judge::Absent, _) => Ok(None),
            (Judge::Simulated(judge), _) => {
                self.reviews += 1;
                match judge.says_done(view, self.truth) {
                    Some(done) => Ok(Some(ReviewerVerdict::simulated(done))),
                    None => Err("the outcome is unknown, so no verdict can be simulated"),
                }
            }
            (Judge::Recorded, None) => Err("no reviewer's verdict is recorded here"),
            (Judge::Recorded, Some(JudgeReply { reply: None, .. })) => {
                Err("the reviewer failed here; the workflow goes on")
            }
            (Judge::Recorded, Some(JudgeReply { reply: Some(reply), .. })) => {
                ReviewerVerdict::read_reply(&reply.as_str())
                    .map(Some)
                    .ok_or("the reviewer's verdict is not readable; the workflow goes on")
            }
        }
    }

    /// The iterations so far and the cap.
    fn progress(&self) -> Evidence {
        Evidence::new(self.iterations.current as f64, self.adaptive.max as f64)
    }

    fn stop(&self, view: &PointView<'_>, end: IterationsEnd) -> Decision {
        let evidence = match end {
            IterationsEnd::Successes(n) => Evidence::new(f64::from(n), f64::from(n)),
            IterationsEnd::MaxIterations => self.progress(),
            _ => Evidence::NONE,
        };
        let log = self.iterations.log.iter().rev().find(|line| !line.ends_with("workflow completed"));
        let decision = Decision::at(view, Action::Stop, rule(end), evidence);
        match (end, log) {
            (IterationsEnd::TaskCompleted(word), _) => {
                decision.detail(format!("observation has `{word}` and no error word"))
            }
            (_, Some(log)) => decision.detail(log.clone()),
            (_, None) => decision,
        }
    }
}

/// The rule that ends the iterations so, or asks for the last call.
fn rule(end: IterationsEnd) -> RuleName {
    match end {
        IterationsEnd::ConclusionTag => CONCLUSION,
        IterationsEnd::TaskCompleted(_) => COMPLETED,
        IterationsEnd::TaskStatus => STATUS,
        IterationsEnd::Successes(_) => SUCCESSES,
        IterationsEnd::Reviewed => REVIEW,
        IterationsEnd::NoExperiment => NO_EXPERIMENT,
        IterationsEnd::MaxIterations => MAX,
    }
}
