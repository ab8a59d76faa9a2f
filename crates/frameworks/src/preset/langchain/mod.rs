//! LangChain and LangGraph: supersteps, call-limit middleware, and the older agent executor.

mod executor;
mod graph;
mod middleware;

use super::frame::{Recipe, Settings, SettingsError};
use crate::decision::Need;
use crate::framework::params;

const RECURSION: &str = "recursion_limit";
const REMAINING: &str = "remaining_steps";
const MODEL_CALLS: &str = "ModelCallLimitMiddleware";
const TOOL_CALLS: &str = "ToolCallLimitMiddleware";
const EXECUTOR: &str = "AgentExecutor";

params! {
    RECURSION_LIMIT: "recursion_limit" = 9999, in "create_react_agent" = 10007,
        "supersteps of one invoke; below 1 is refused";
    MIDDLEWARE: "middleware" = [], off [],
        "tables with `type` (ModelCallLimitMiddleware, ToolCallLimitMiddleware), run_limit, thread_limit, \
         exit_behavior and tool_name; at least one limit each";
    MAX_ITERATIONS: "max_iterations" = 15, off null, "AgentExecutor: replies with calls of one run",
        trap |n| if n <= 0.0 => "`max_iterations` of 0 or less is not off: the run stops before its first model call";
    MAX_EXECUTION_TIME: "max_execution_time" = null, off null, "AgentExecutor: seconds of one run",
        trap |n| if n >= crate::framework::LONG_SECONDS => "`max_execution_time` is more than a day: it counts seconds, not milliseconds";
    EARLY_STOPPING_METHOD: "early_stopping_method" = "force",
        "AgentExecutor: force (a fixed sentence) or generate (one more model call; legacy agents only)";
    HANDLE_PARSING_ERRORS: "handle_parsing_errors" = false,
        "AgentExecutor: an unparsable reply is an iteration rather than an error";
    AGENT: "agent" = "tool-calling", "AgentExecutor: tool-calling (runnable) or ZeroShotAgent (legacy, text)";
}

pub(super) fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
    if settings.is_profile(EXECUTOR) {
        let executor = executor::Executor::new(settings)?;
        let timed = executor.is_timed();
        let recipe = Recipe::new(executor, &[EXECUTOR]).resumes_at_user().requests_before_prompts();
        return Ok(if timed { recipe.needs(EXECUTOR, Need::Times) } else { recipe });
    }
    let react = settings.is_profile("create_react_agent");
    let limit = settings.int_or_default(&param::RECURSION_LIMIT)?;
    let hooks = middleware::list(settings.get(param::MIDDLEWARE.name))?;
    let mut rules = vec![RECURSION];
    if react {
        rules.push(REMAINING);
    }
    for rule in hooks.iter().map(middleware::Middleware::rule) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let recipe = Recipe::new(graph::Graph::new(limit, react, hooks), &rules).reads_calls(&[TOOL_CALLS]).blind(&rules);
    Ok(recipe.resumes_at_user().requests_before_prompts())
}
