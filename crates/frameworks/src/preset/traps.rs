//! Traps in a preset's settings that show before any run is seen: an off-value that means "at once", a
//! window shorter than its threshold, a cap that can be jumped over, a guard that cannot fire.

use super::{Preset, Settings};

/// One trap of one preset.
#[derive(Clone, Copy)]
pub struct Trap {
    preset: &'static str,
    /// The parameter it is about, by its full name.
    pub parameter: &'static str,
    /// Do these settings step into it?
    holds: fn(&Settings) -> bool,
    /// What is wrong with it.
    pub words: &'static str,
}

/// From this many seconds on, milliseconds are suspected: more than a day.
const LONG_SECONDS: f64 = 100_000.0;

const TRAPS: &[Trap] = &[
    Trap {
        preset: "ag2",
        parameter: "max_turns",
        holds: |s| set(s, "max_turns").is_some_and(|turns| turns <= 0.0),
        words: "`max_turns` of 0 or less is not off: not even the task is sent",
    },
    Trap {
        preset: "ag2",
        parameter: "proxy.max_consecutive_auto_reply",
        holds: |s| or(s, "proxy.max_consecutive_auto_reply", 100.0) <= 0.0,
        words: "0 or less is not off: the first reply is not answered, its tools do not run",
    },
    Trap {
        preset: "agno",
        parameter: "tool_call_limit",
        holds: |s| set(s, "tool_call_limit").is_some_and(|limit| limit <= 0.0),
        words: "`tool_call_limit` of 0 or less is not off: every call is refused, and the run goes on",
    },
    Trap {
        preset: "browser-use",
        parameter: "loop_detection_window",
        holds: |s| or(s, "loop_detection_window", 20.0) < 5.0,
        words: "`loop_detection_window` is shorter than the lowest level, 5: no repetition is ever found",
    },
    Trap {
        preset: "browser-use",
        parameter: "max_failures",
        holds: |s| or(s, "max_failures", 5.0) <= 0.0,
        words: "`max_failures` of 0 or less is not off: the first request may only say done, or is not made",
    },
    Trap {
        preset: "browser-use",
        parameter: "max_steps",
        holds: |s| or(s, "max_steps", 500.0) <= 0.0,
        words: "`max_steps` of 0 or less is not off: no step is made",
    },
    Trap {
        preset: "camel-ai",
        parameter: "token_limit",
        holds: |s| set(s, "token_limit").is_some(),
        words: "no `ChatAgent` ever asks a `TokenLimitTerminator`",
    },
    Trap {
        preset: "camel-ai",
        parameter: "max_iteration",
        holds: |s| set(s, "max_iteration").is_some_and(|max| max <= 0.0),
        words: "`max_iteration` of 0 or less is not off: it acts like 1",
    },
    Trap {
        preset: "cline",
        parameter: "execution.loopDetection.hardThreshold",
        holds: |s| set(s, "execution.loopDetection.hardThreshold").is_some_and(|hard| hard <= 0.0),
        words: "`hardThreshold` of 0 is not off: it acts on every call",
    },
    Trap {
        preset: "cline",
        parameter: "execution.loopDetection.softThreshold",
        holds: |s| {
            let hard = or(s, "execution.loopDetection.hardThreshold", 5.0);
            or(s, "execution.loopDetection.softThreshold", 3.0) >= hard
        },
        words: "`softThreshold` is not below `hardThreshold`, which is tested first: it never warns",
    },
    Trap {
        preset: "cline",
        parameter: "execution.maxConsecutiveMistakes",
        holds: |s| set(s, "execution.maxConsecutiveMistakes").is_some_and(|max| max <= 0.0),
        words: "`maxConsecutiveMistakes` of 0 switches loop detection off with it: a hard hit has no effect",
    },
    Trap {
        preset: "crewai",
        parameter: "max_iter",
        holds: |s| or(s, "max_iter", 25.0) <= 0.0,
        words: "`max_iter` of 0 or less is not off: the run fails at once",
    },
    Trap {
        preset: "deerflow",
        parameter: "window_size",
        holds: |s| or(s, "window_size", 20.0) < or(s, "hard_limit", 5.0),
        words: "`window_size` is shorter than `hard_limit`, which is never reached",
    },
    Trap {
        preset: "deerflow",
        parameter: "window_size",
        holds: |s| or(s, "window_size", 20.0) < or(s, "warn_threshold", 3.0),
        words: "`window_size` is shorter than `warn_threshold`, which is never reached",
    },
    Trap {
        preset: "gemini-cli",
        parameter: "turns",
        holds: |s| !s.is_variant("documented") && set(s, "turns").is_some(),
        words: "`turns` bounds nested requests only, not tool steps; use `maxSessionTurns`",
    },
    Trap {
        preset: "google-adk",
        parameter: "max_iterations",
        holds: |s| set(s, "max_iterations").is_some_and(|max| max <= 0.0),
        words: "`max_iterations` of 0 or less is not off, unlike `max_llm_calls`: nothing runs",
    },
    Trap {
        preset: "goose",
        parameter: "max_repetitions",
        holds: |s| s.variant.as_deref().unwrap_or("shipped") == "shipped" && set(s, "max_repetitions").is_some(),
        words: "as shipped, `max_repetitions` never fires, whatever the limit; profile `documented` does",
    },
    Trap {
        preset: "goose",
        parameter: "max_repetitions",
        holds: |s| s.is_variant("documented") && set(s, "max_repetitions").is_some_and(|max| max <= 0.0),
        words: "`max_repetitions` of 0 is not off and behaves as 1",
    },
    Trap {
        preset: "haystack",
        parameter: "max_agent_steps",
        holds: |s| or(s, "max_agent_steps", 100.0) <= 0.0,
        words: "`max_agent_steps` of 0 or less is not off: no request is made",
    },
    Trap {
        preset: "inspect-ai",
        parameter: "turn_limit",
        holds: |s| set(s, "turn_limit").is_some(),
        words: "`turn_limit` pays for one reply more than the limit and throws it away",
    },
    Trap {
        preset: "inspect-ai",
        parameter: "agent_limits.working",
        holds: |s| set(s, "agent_limits.working").is_some(),
        words: "a working limit of the agent is watched by nobody",
    },
    Trap {
        preset: "kilo-code",
        parameter: "steps",
        holds: |s| set(s, "steps").is_some_and(|steps| steps < 1.0 || steps.fract() != 0.0),
        words: "`steps` of 0, below 0 or with a fraction: the whole configuration file is skipped, its permissions too",
    },
    Trap {
        preset: "kilo-code",
        parameter: "steps",
        holds: |s| set(s, "steps").is_some_and(|steps| steps >= 1.0),
        words: "`steps` only adds a reminder: nothing enforces it",
    },
    Trap {
        preset: "langchain",
        parameter: "max_iterations",
        holds: |s| set(s, "max_iterations").is_some_and(|max| max <= 0.0),
        words: "`max_iterations` of 0 or less is not off: the run stops before its first model call",
    },
    Trap {
        preset: "langchain",
        parameter: "max_execution_time",
        holds: |s| set(s, "max_execution_time").is_some_and(|seconds| seconds >= LONG_SECONDS),
        words: "`max_execution_time` is more than a day: it counts seconds, not milliseconds",
    },
    Trap {
        preset: "litellm",
        parameter: "litellm.max_budget",
        holds: |s| set(s, "litellm.max_budget").is_some_and(|limit| limit > 0.0),
        words: "the SDK's `max_budget` never acts: the running cost never grows",
    },
    Trap {
        preset: "litellm",
        parameter: "litellm_params.max_iterations",
        holds: |s| set(s, "litellm_params.max_iterations").is_some_and(|max| max <= 0.0),
        words: "`max_iterations` of 0 or less is not off: the first request is refused",
    },
    Trap {
        preset: "llama-index",
        parameter: "max_iterations",
        holds: |s| set(s, "max_iterations").is_some_and(|max| max == 0.0),
        words: "`max_iterations` of 0 is not off: it means 20",
    },
    Trap {
        preset: "llama-index",
        parameter: "max_iterations",
        holds: |s| set(s, "max_iterations").is_some_and(|max| (1.0..=1.0).contains(&max)),
        words: "`max_iterations` of 1 never returns an answer: the last reply is always lost",
    },
    Trap {
        preset: "mastra",
        parameter: "maxSteps",
        holds: |s| set(s, "maxSteps").is_some_and(|max| max < 0.0 || max.fract() != 0.0),
        words: "`maxSteps` is an equality: negatives and fractions never match, so there is no cap",
    },
    Trap {
        preset: "mastra",
        parameter: "maxSteps",
        holds: |s| set(s, "maxSteps").is_some_and(|max| max == 0.0),
        words: "`maxSteps` of 0 means 5, and no cap at all beside `stopWhen`",
    },
    Trap {
        preset: "openai-agents",
        parameter: "max_turns",
        holds: |s| set(s, "max_turns").is_some_and(|max| max <= 0.0),
        words: "`max_turns` of 0 or less is not off: the first request is refused",
    },
    Trap {
        preset: "openclaw",
        parameter: "tools.loopDetection.warningThreshold",
        holds: |s| set(s, "tools.loopDetection.warningThreshold").is_some_and(|n| n < 10.0),
        words: "`warningThreshold` below 10 says nothing before 10: warnings are said once per ten",
    },
    Trap {
        preset: "openclaw",
        parameter: "tools.loopDetection.historySize",
        holds: |s| {
            let size = or(s, "tools.loopDetection.historySize", 30.0);
            size < or(s, "tools.loopDetection.criticalThreshold", 20.0)
        },
        words: "`historySize` is shorter than `criticalThreshold`, which is then out of reach",
    },
    Trap {
        preset: "opencode",
        parameter: "permission.doom_loop",
        holds: |s| !s.is_variant("documented"),
        words: "as shipped, `doom_loop` looks at one message only: one call per message never fires",
    },
    Trap {
        preset: "opencode",
        parameter: "steps",
        holds: |s| !s.is_variant("documented") && set(s, "steps").is_some(),
        words: "as shipped, `steps` adds a text and enforces nothing",
    },
    Trap {
        preset: "openhands",
        parameter: "thresholds.action_error",
        holds: |s| or(s, "thresholds.action_error", 3.0) >= 9.0,
        words: "`action_error` of 9 or more never gets stuck: nudges take places in the window of 20 events",
    },
    Trap {
        preset: "openhands",
        parameter: "thresholds.action_observation",
        holds: |s| {
            let pairs = [("thresholds.action_observation", 4.0), ("thresholds.alternating_pattern", 6.0)];
            pairs.iter().any(|(name, default)| or(s, name, *default) > 10.0)
        },
        words: "a threshold above 10 pairs does not fit into the window of 20 events and never fires",
    },
    Trap {
        preset: "pydantic-ai",
        parameter: "usage_limits.request_limit",
        holds: |s| set(s, "usage_limits.request_limit").is_some_and(|limit| limit <= 0.0),
        words: "`request_limit` of 0 is not off: the first request is refused",
    },
    Trap {
        preset: "qwen-code",
        parameter: "model.maxSessionTurns",
        holds: |s| set(s, "model.maxSessionTurns").is_some_and(|max| max == 0.0),
        words: "`maxSessionTurns` of 0 is off in the client, but lets no request through with `-p`",
    },
    Trap {
        preset: "roo-code",
        parameter: "allowedMaxRequests",
        holds: |s| set(s, "allowedMaxRequests").is_some_and(|max| max > 0.0),
        words: "the present request is counted twice: limit n asks before request n, not after it",
    },
    Trap {
        preset: "smolagents",
        parameter: "max_steps",
        holds: |s| or(s, "max_steps", 20.0) <= 0.0,
        words: "`max_steps` of 0 or less is not off: the run fails",
    },
    Trap {
        preset: "strands-agents",
        parameter: "max_handoffs",
        holds: |s| or(s, "max_handoffs", 20.0) <= 0.0 || or(s, "max_iterations", 20.0) <= 0.0,
        words: "0 is not off: the swarm stops before its first agent",
    },
    Trap {
        preset: "strands-agents",
        parameter: "execution_timeout",
        holds: |s| set(s, "execution_timeout").is_some_and(|seconds| seconds >= LONG_SECONDS),
        words: "`execution_timeout` is more than a day: it counts seconds, not milliseconds",
    },
    Trap {
        preset: "tau2-bench",
        parameter: "max_steps",
        holds: |s| or(s, "max_steps", 200.0) <= 0.0,
        words: "`max_steps` of 0 is not off: one step is made",
    },
    Trap {
        preset: "vercel-ai",
        parameter: "stopWhen.isStepCount",
        holds: |s| set(s, "stopWhen.isStepCount").is_some_and(|n| n < 1.0 || n.fract() != 0.0),
        words: "`isStepCount` of 0, below 0 or with a fraction equals no step count and never fires",
    },
    Trap {
        preset: "vercel-ai",
        parameter: "stopWhen.isStepCount",
        holds: |s| set(s, "stopWhen.isStepCount").is_some_and(|n| n >= 1.0),
        words: "`isStepCount` stops at equality only: a count that jumps over it goes on for ever",
    },
];

/// The traps that these settings of a preset step into, in the order of the list.
pub fn traps(preset: &Preset, settings: &Settings) -> Vec<Trap> {
    let of_it = TRAPS.iter().filter(|trap| trap.preset == preset.id);
    of_it.filter(|trap| (trap.holds)(settings)).copied().collect()
}

/// A number, when it is set.
fn set(settings: &Settings, name: &str) -> Option<f64> {
    settings.get(name).and_then(serde_json::Value::as_f64)
}

/// A number, or its default.
fn or(settings: &Settings, name: &str, default: f64) -> f64 {
    set(settings, name).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, find};
    use super::*;

    fn check(id: &str, variant: Option<&str>, json: &str, n_traps: usize) {
        let set = serde_json::from_str(json).unwrap();
        let settings = Settings { variant: variant.map(str::to_owned), set, ..Settings::default() };
        let preset = find(id).unwrap();
        settings.check_names(preset.parameters).unwrap();
        let words: Vec<&str> = traps(preset, &settings).iter().map(|trap| trap.words).collect();
        assert_eq!(words.len(), n_traps, "{id} {json}: {words:?}");
    }

    #[test]
    fn every_trap_names_a_preset_and_defaults_are_free_of_them_but_for_dead_guards() {
        for trap in TRAPS {
            let preset = find(trap.preset).unwrap();
            let is_it = |name: &str| name == trap.parameter || trap.parameter.starts_with(&format!("{name}."));
            assert!(preset.parameters.iter().any(|known| is_it(known.name)), "{} {}", trap.preset, trap.parameter);
        }
        let trapped: Vec<&str> =
            ALL.iter().filter(|preset| !traps(preset, &Settings::default()).is_empty()).map(|p| p.id).collect();
        assert_eq!(trapped, ["opencode"]);
    }

    #[test]
    fn off_values_short_windows_and_dead_guards_are_named() {
        check("deerflow", None, r#"{"window_size": 4}"#, 1);
        check("deerflow", None, r#"{"window_size": 2}"#, 2);
        check("deerflow", None, r#"{"window_size": 5}"#, 0);
        check("cline", None, r#"{"execution": {"loopDetection": {"hardThreshold": 0}}}"#, 2);
        check("goose", None, r#"{"max_repetitions": 3}"#, 1);
        check("goose", Some("documented"), r#"{"max_repetitions": 3}"#, 0);
        check("openai-agents", None, r#"{"max_turns": 0}"#, 1);
        check("vercel-ai", None, r#"{"stopWhen": {"isStepCount": 20}}"#, 1);
        check("kilo-code", None, r#"{"steps": 5}"#, 1);
        check("kilo-code", None, r#"{"steps": 0}"#, 1);
        check("llama-index", None, r#"{"max_iterations": 2}"#, 0);
        check("mastra", None, r#"{"maxSteps": 2.5}"#, 1);
        check("openclaw", Some("2026.7"), r#"{"tools": {"loopDetection": {"historySize": 19}}}"#, 1);
    }
}
