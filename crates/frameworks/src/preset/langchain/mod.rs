//! LangChain and LangGraph: supersteps, call-limit middleware, and the older agent executor.

mod executor;
mod graph;
mod middleware;

use super::frame::{Recipe, Settings, SettingsError};
use crate::decision::Need;
use crate::framework::{Build, Framework, Profile, params};
use crate::host::{FROM_ZERO, Host, OUT_OF_REACH, Place, Slot, Syntax};
use crate::transcript::Moment;

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

const PROFILES: &[Profile] = &[
    Profile::new("create_agent", "langchain's agent with middleware"),
    Profile::new("create_react_agent", "langgraph's prebuilt agent; apologises when the steps run out"),
    Profile::new("AgentExecutor", "the older loop of langchain-classic"),
];

const MANUAL: &str = "\
## Rules
- `recursion_limit`: an error once that many supersteps are over. A model call is one, a tool round (all parallel \
calls) one, each before-model and after-model hook of a middleware one more.
- `remaining_steps` (create_react_agent): with a reply in superstep k, limit - k < 2 and calls pending, or limit - k < 1, \
the reply is replaced by an apology and the run ends. The error may follow all the same.
- `ModelCallLimitMiddleware`, before the model: ends the run, or raises.
- `ToolCallLimitMiddleware`, after the reply, call by call: refuses the call (default), ends the run with nothing of \
the reply run, or raises.
- `AgentExecutor`: max_iterations (15), max_execution_time (none), looked at before each reply.
## Comparator
`>=` for supersteps, model calls, iterations and seconds; count + 1 `>` limit for tool calls.
## Counter
Supersteps are counted when they are over, *before* looking whether work is left: **n supersteps need a limit of \
n + 1**, and the error comes even when the answer is there. Tool calls: the run count includes refused calls, the \
thread count only allowed ones; failed calls count. Parallel calls, failed tools and unparsable replies are one \
iteration each. Seconds are read at the end of an iteration.
## Reset
Each user message is one invoke; thread limits count over all of them.
## Off value
A middleware limit of null is off (not all of one middleware). 0 and negatives: no model call, or no tool call at all. \
`max_iterations` null is off, 0 and negatives make no model call; `max_execution_time` 0 stops at once.
## Traps
- With an odd limit create_react_agent apologises *and* raises.
- run_limit above thread_limit is refused by ToolCallLimit and accepted by ModelCallLimit.
- `generate` raises with a runnable agent, and only once the limit is reached.
- recursion_limit was 25 in older releases.
- Two user messages in a row are two runs there and one prompt here, which shows with a limit of 0 or less only.
";

const HOST: Host = Host::new(
    "where the agent is made",
    Syntax::Python,
    r#"from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware

agent = create_agent(
    model,
    tools=tools,
    middleware=[<<*middleware*, >>],
)
# agent.invoke(input, {"recursion_limit": <<recursion_limit>>})
"#,
    &[
        Slot::new(
            "steps",
            Moment::BeforeRequest,
            Place::Item(
                "middleware",
                r#"{"type": "ModelCallLimitMiddleware", "thread_limit": $, "exit_behavior": "end"}"#,
                r#"ModelCallLimitMiddleware(thread_limit=$, exit_behavior="end")"#,
            ),
        )
        .session()
        .range(FROM_ZERO),
        Slot::new(
            "steps",
            Moment::BeforeRequest,
            Place::Item(
                "middleware",
                r#"{"type": "ModelCallLimitMiddleware", "run_limit": $, "exit_behavior": "end"}"#,
                r#"ModelCallLimitMiddleware(run_limit=$, exit_behavior="end")"#,
            ),
        )
        .range(FROM_ZERO),
        Slot::new(
            "tool_calls",
            Moment::AfterResponse,
            Place::Item(
                "middleware",
                r#"{"type": "ToolCallLimitMiddleware", "thread_limit": $, "exit_behavior": "end"}"#,
                r#"ToolCallLimitMiddleware(thread_limit=$, exit_behavior="end")"#,
            ),
        )
        .session()
        .more_than()
        .range(FROM_ZERO),
        Slot::new(
            "tool_calls",
            Moment::AfterResponse,
            Place::Item(
                "middleware",
                r#"{"type": "ToolCallLimitMiddleware", "run_limit": $, "exit_behavior": "end"}"#,
                r#"ToolCallLimitMiddleware(run_limit=$, exit_behavior="end")"#,
            ),
        )
        .more_than()
        .range(FROM_ZERO),
    ],
)
.quiet(&[("recursion_limit", OUT_OF_REACH)])
.cannot(&[
    ("tokens.", "no middleware of its stops on tokens"),
    ("cost", "no middleware of its stops on money"),
    ("", "its middleware counts model calls and tool calls, nothing else"),
])
.profile("create_agent")
.note("a thread_limit counts over the thread: give the agent a checkpointer");

pub(super) fn framework() -> Framework {
    Framework {
        id: "langchain",
        version: "langgraph 1.2.22, langchain 1.5.0, langchain-classic 1.0.8, langgraph-prebuilt 1.1.2",
        source: "langgraph pregel loop, langchain/agents/middleware, langchain_classic/agents/agent.py",
        summary: "9999 supersteps (n need n + 1), optional call limits; older executor: 15 iterations",
        manual: MANUAL,
        parameters: param::ALL,
        profiles: PROFILES,
        rules: &[RECURSION, REMAINING, MODEL_CALLS, TOOL_CALLS, "together", EXECUTOR],
        host: HOST,
        build: Build::Machine(build),
        ..Framework::PRESET
    }
}

fn build(settings: &Settings) -> Result<Recipe, SettingsError> {
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
    rules.extend(react.then_some(REMAINING));
    for rule in hooks.iter().map(middleware::Middleware::rule) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let recipe = Recipe::new(graph::Graph::new(limit, react, hooks), &rules).reads_calls(&[TOOL_CALLS]).blind(&rules);
    Ok(recipe.resumes_at_user().requests_before_prompts())
}
