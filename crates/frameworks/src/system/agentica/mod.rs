//! agentica: a standing goal that is evaluated at the end of every turn.

mod config;
mod evaluate;
mod goal;
mod limit;
mod reply;
mod round;
mod ruling;
mod traps;

use std::sync::Arc;

pub use config::GoalConfig;
pub use evaluate::{Referee, TurnUsage, Verified};
pub use goal::{AgenticaGoal, BadBudget, Budgets, GoalStatus, Manager};
pub use limit::Limit;
pub use reply::{JudgeAnswer, read as read_judge_reply};
pub use ruling::{Cause, GoalEvent, PromptKind, Ruling};

use self::round::{GoalRow, RoundEvents, RoundJudge, UserDeed};
use super::{RoundClock, RoundUnit, judge_of, profile_of};
use crate::decision::{Action, Decision, Evidence, Need, Requirement, RuleName, RuleReading, Strategy, Watch};
use crate::framework::{Build, FrameworkCode, Settings, SettingsError, params};
use crate::judge::Judge;
use crate::transcript::{Event, Header, Instant, PointView, Truth, named};

params! {
    ROUND: "round" = "prompt", "what a turn is on recordings that hold only one: prompt, step, or a number of steps";
    JUDGE: "judge" = "recorded", off "none",
        "recorded, none, or simulated: { sensitivity = 0.9, specificity = 0.95, seed = 1 }";
    RUN_GOAL_TOKENS: "run_goal_tokens" = false, off false,
        "1.4's undercount: `run_goal` charges only what a turn took more than the one before";
    PROMPTS: "prompts" = "goal",
        "what a prompt is that the loop did not write: goal (it goes on with the goal) or queue (typed during a turn, as on the \
         command line, which then does not count that turn)";
}

/// What of the system is code.
pub(super) const CODE: FrameworkCode = FrameworkCode {
    parameters: param::ALL,
    traps: traps::traps,
    build: Build::Strategy(|settings| Ok(Arc::new(AgenticaStrategy::build(settings)?))),
};

/// How the loop's own prompts begin: another turn, and the last one when a budget is used up.
const OWN_PROMPTS: [&str; 2] = ["[Continuing toward your standing goal]", "[Standing goal budget reached]"];

/// The default turn limit of a goal before 1.5.
pub const DEFAULT_TURNS: i128 = 100;

named! {
    /// Which source this profile follows: the documentation or a released version.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Version {
        /// The documentation page on the goal loop: all three budgets first, then the tool, then the judge.
        Documented = "documented",
        /// 1.4.6: as documented, except that the turn budget comes last.
        V14 = "published-1.4",
        /// 1.5.0: no turn cap and no judge by default, one wrap-up turn, a verifier.
        V15 = "published-1.5",
    }
}

/// The settings that the order of checks depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoalRules {
    /// The version followed.
    pub version: Version,
    /// Whether the judge is asked on every turn.
    pub auto_judge: bool,
    /// Whether there is a judge at all.
    pub has_judge: bool,
}

/// agentica's goal loop as a strategy over recorded runs.
#[derive(Debug)]
pub struct AgenticaStrategy {
    name: String,
    goal: GoalConfig,
    judge: Judge,
    round: RoundUnit,
    /// Whether only the tokens by which a turn exceeds the previous one are charged, as 1.4's `run_goal` does.
    undercounts: bool,
    /// Whether a prompt that the loop did not write undoes the turn before it.
    prompts_preempt: bool,
}

impl AgenticaStrategy {
    /// Builds the strategy from settings.
    pub fn build(settings: &Settings) -> Result<Self, SettingsError> {
        let version = profile_of(settings, Version::V14);
        let judge = judge_of(settings, &param::JUDGE)?;
        let undercounts = settings.flag(&param::RUN_GOAL_TOKENS)?;
        Ok(Self {
            name: settings.name.clone(),
            goal: GoalConfig::read(version, judge, settings)?,
            judge,
            round: RoundUnit::from_settings(settings, &param::ROUND)?,
            undercounts,
            prompts_preempt: settings.word(&param::PROMPTS, &["goal", "queue"])? == "queue",
        })
    }

    /// The rules in the order they are checked.
    fn causes(&self) -> Vec<Cause> {
        let GoalRules { version, auto_judge, has_judge } = self.goal.rules;
        let mut causes = vec![Cause::Tokens, Cause::Seconds];
        if version == Version::Documented {
            causes.push(Cause::Turns);
        }
        causes.extend([Cause::User, Cause::Tool, Cause::ToolStuck]);
        if version == Version::V15 {
            causes.push(Cause::Verifier);
        }
        if auto_judge {
            causes.push(Cause::JudgeBroken);
            if has_judge {
                causes.push(Cause::Judge);
            }
        }
        if version != Version::Documented {
            causes.push(Cause::Turns);
        }
        causes.retain(|cause| self.applies(*cause));
        causes
    }

    fn applies(&self, cause: Cause) -> bool {
        let budgets = self.goal.budgets;
        match cause {
            Cause::Tokens => budgets.tokens.is_some(),
            Cause::Seconds => budgets.seconds.is_some(),
            Cause::Turns => budgets.turns.is_some(),
            Cause::Tool => self.goal.has_goal_tool,
            _ => true,
        }
    }

    fn rule(&self, cause: Cause) -> RuleName {
        let budgets = self.goal.budgets;
        let limit = |name: &str, limit: Option<String>| match limit {
            Some(limit) => RuleName::new(format!("{name} >= {limit}")),
            None => RuleName::new(name),
        };
        match cause {
            Cause::Tokens => limit("token_budget", budgets.tokens.map(|tokens| tokens.to_string())),
            Cause::Seconds => limit("wall_clock_budget_sec", budgets.seconds.map(|seconds| seconds.to_string())),
            Cause::Turns => limit("turn_budget", budgets.turns.map(|turns| turns.to_string())),
            Cause::Tool => RuleName::fixed("update_goal"),
            Cause::User => RuleName::fixed("goal pause"),
            Cause::ToolStuck => RuleName::fixed("tool-stuck x3"),
            Cause::Verifier => RuleName::fixed("verifier"),
            Cause::JudgeBroken => RuleName::fixed("judge-broken x3"),
            Cause::Judge | Cause::Unknown => RuleName::fixed("judge"),
            Cause::NoGoal => RuleName::fixed("no active goal"),
        }
    }

    fn need(&self, cause: Cause) -> Option<Need> {
        match cause {
            Cause::Tokens => Some(Need::Usage),
            Cause::Seconds => Some(Need::Times),
            Cause::Tool => Some(Need::GoalRows),
            Cause::ToolStuck => Some(Need::ErrorFlags),
            Cause::Judge | Cause::JudgeBroken | Cause::Unknown => match self.judge {
                Judge::Recorded => Some(Need::Judge),
                Judge::Simulated(_) => Some(Need::Outcome),
                Judge::Absent => None,
            },
            // A verifier is the user's own code, so none is assumed. What a user does is in agentica's own log, or did
            // not happen.
            Cause::Turns | Cause::NoGoal | Cause::Verifier | Cause::User => None,
        }
    }

    fn evidence(&self, cause: Cause, goal: &AgenticaGoal) -> Evidence {
        let budgets = self.goal.budgets;
        let held = |observed: f64, limit: Option<f64>| Evidence { observed: Some(observed), limit };
        match cause {
            Cause::Tokens => held(goal.tokens_used as f64, budgets.tokens.map(Limit::value)),
            Cause::Seconds => held(goal.seconds_used, budgets.seconds),
            Cause::Turns => held(goal.turns_used as f64, budgets.turns.map(Limit::value)),
            Cause::ToolStuck => held(f64::from(goal.tool_failures), Some(3.0)),
            Cause::JudgeBroken => held(f64::from(goal.parse_failures), Some(3.0)),
            _ => Evidence::NONE,
        }
    }
}

impl Strategy for AgenticaStrategy {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> &'static str {
        self.goal.rules.version.name()
    }

    fn rules(&self) -> Vec<RuleName> {
        self.causes().into_iter().map(|cause| self.rule(cause)).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        let mut requirements = vec![Requirement { rule: self.rule(Cause::ToolStuck), need: Need::Calls }];
        for cause in self.causes() {
            if let Some(need) = self.need(cause) {
                requirements.push(Requirement { rule: self.rule(cause), need });
            }
        }
        requirements
    }

    fn start(self: Arc<Self>, _header: &Header) -> Box<dyn Watch> {
        let mut manager = Manager::default();
        manager.set(AgenticaGoal::new(self.goal.budgets));
        Box::new(AgenticaWatch {
            clock: RoundClock::new(self.round),
            system: self,
            state: TurnState { manager, row: None, tokens_before: 0, verdict_was_missing: false },
            before_turn: None,
            from_event: 0,
            ended_at: None,
            announced: None,
            judge_calls: 0,
            truth: Truth::UNKNOWN,
        })
    }
}

struct AgenticaWatch {
    system: Arc<AgenticaStrategy>,
    clock: RoundClock,
    state: TurnState,
    /// The state before the last turn was counted, if a prompt can undo that.
    before_turn: Option<Box<TurnState>>,
    /// The first event of this round.
    from_event: usize,
    /// When the previous round ended.
    ended_at: Option<Instant>,
    /// The announcement made at the last point shown, and the rule that caused it.
    announced: Option<(Cause, GoalEvent)>,
    /// How many questions a simulated judge has been asked.
    judge_calls: u64,
    /// The truth that a simulated judge errs around.
    truth: Truth,
}

/// What counting a turn changes.
#[derive(Clone)]
struct TurnState {
    manager: Manager,
    /// The goal row that closed the previous round.
    row: Option<GoalRow>,
    /// Tokens of the previous round.
    tokens_before: i128,
    verdict_was_missing: bool,
}

impl Watch for AgenticaWatch {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        self.announced = None;
        self.undo_preempted(view);
        if !self.clock.ends(view) {
            return;
        }
        let events = view.events().get(self.from_event..).unwrap_or_default();
        let round = RoundEvents { view, events };
        self.before_turn = if self.system.prompts_preempt { Some(Box::new(self.state.clone())) } else { None };
        let ruling = self.evaluate(round);
        let row = self.state.row.take();
        self.state.row = round.goal_row(row.as_ref()).or(row);
        self.from_event = view.events().len();
        self.ended_at = view.now().or(self.ended_at);
        self.announced = ruling.event.clone().map(|event| (ruling.cause, event));
        trail.extend(self.decide(view, ruling));
    }

    fn readings(&self) -> Vec<RuleReading> {
        let Some(goal) = self.state.manager.goal() else { return Vec::new() };
        let reading = |cause: Cause| {
            let Evidence { observed, limit } = self.system.evidence(cause, goal);
            let reading = RuleReading::new(self.system.rule(cause), cause.counts()?, observed);
            Some(match (observed, limit) {
                (Some(observed), Some(limit)) => reading.against(limit, observed >= limit),
                _ => reading,
            })
        };
        let event = self
            .announced
            .iter()
            .map(|(cause, event)| RuleReading::new(self.system.rule(*cause), "event", None).saying(event.to_string()));
        self.system.causes().into_iter().filter_map(reading).chain(event).collect()
    }

    fn seat_judge(&mut self, truth: Truth) {
        self.truth = truth;
    }

    fn extra_calls(&self) -> u64 {
        self.judge_calls
    }
}

impl AgenticaWatch {
    /// Undoes the last turn if a prompt has come that the loop did not write: it was typed while that turn ran, and the
    /// command line went on with it without counting or judging the turn.
    fn undo_preempted(&mut self, view: &PointView<'_>) {
        let is_typed = |event: &Event| event.is_prompt() && !OWN_PROMPTS.iter().any(|own| says(event, own));
        if !view.news().iter().any(is_typed) {
            return;
        }
        if let Some(before) = self.before_turn.take() {
            self.state = *before;
        }
    }

    fn evaluate(&mut self, round: RoundEvents<'_, '_>) -> Ruling {
        let TurnState { manager, row, tokens_before, .. } = &mut self.state;
        let goal = &self.system.goal;
        for deed in round.user_deeds(row.as_ref()) {
            match deed {
                UserDeed::Pause(reason) => _ = manager.pause(reason.as_deref()),
                UserDeed::Resume => manager.resume(),
                UserDeed::Clear => manager.clear(),
                UserDeed::Set => {
                    *row = None;
                    *tokens_before = 0;
                    manager.set(AgenticaGoal::new(goal.budgets));
                }
            }
        }
        let before = row.as_ref();
        if goal.has_goal_tool {
            for word in round.tool_words(before) {
                manager.update_from_tool(&word.status, &word.reason, word.final_answer.as_deref());
            }
        }
        let mut turn = round.turn(before, self.ended_at);
        if self.system.undercounts {
            let total = turn.tokens;
            turn.tokens = (total - *tokens_before).max(0);
            *tokens_before = total;
        }
        let mut judge = RoundJudge { round, before, judge: self.system.judge, truth: self.truth, asked: 0 };
        let ruling = manager.evaluate(goal.rules, &turn, &mut judge);
        self.judge_calls += judge.asked;
        ruling
    }

    fn decide(&mut self, view: &PointView<'_>, ruling: Ruling) -> Option<Decision> {
        let goal = self.state.manager.goal()?;
        let action = match (ruling.should_continue, ruling.prompt, ruling.cause) {
            (false, ..) => Action::Stop,
            // It is unknown whether the loop continues: from here on, the recording is only one of the ways it may have
            // gone. Reported once per run.
            (true, _, Cause::Unknown) if std::mem::replace(&mut self.state.verdict_was_missing, true) => return None,
            (true, _, Cause::Unknown) => Action::Ask,
            (true, Some(PromptKind::BudgetWrapup), _) => Action::Inject,
            (true, ..) => Action::Extend,
        };
        let code = match (ruling.cause, action) {
            (Cause::Unknown, _) => "judge_missing".to_owned(),
            (_, Action::Inject) => "budget_wrapup".to_owned(),
            (_, Action::Stop) => match goal.paused_reason.as_deref() {
                Some(why) => format!("{}:{why}", ruling.status.name()),
                None => ruling.status.name().to_owned(),
            },
            _ => "continuing".to_owned(),
        };
        let evidence = self.system.evidence(ruling.cause, goal);
        let decision = Decision::at(view, action, self.system.rule(ruling.cause), evidence);
        Some(decision.code(code).detail(ruling.reason))
    }
}

/// Whether the text of an event begins so.
fn says(event: &Event, beginning: &str) -> bool {
    event.message().is_some_and(|message| message.text().starts_with(beginning))
}

#[cfg(test)]
mod tests;
