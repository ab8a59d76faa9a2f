#!/usr/bin/env python3
"""Ask the frameworks new questions: runs made from a seed, answered by the framework's own code, as golden tables.

    python3 tests/originals/fresh.py --seed 41 --cases 200 --out OUT haystack langchain
    cargo run -p whenstop-dev -- conformance OUT

The same seed makes the same questions. A run has one to three prompts, replies with up to three calls, failed and unknown
tools, repeated calls, inner rounds that end with results, and blank replies; the settings are drawn from those below. What a
driver cannot answer is left out and counted.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tomllib

import coding_agents
import fresh_sources
import makers
import run
import sessions

UNUSUAL = ["", "ok", "Grüße, 世界 🙂", "line one\nline two", "TERMINATE", "x" * 300]


class Story:
    """Makes the events of one run."""

    def __init__(self, random, tools=("A", "B"), prompts=3, fails=0.2, unknown=0.1, parallel=3, ends_open=0.3, blank=0.1, **more):
        self.random, self.tools, self.events, self.ids = random, tools, [], 0
        self.fails, self.unknown, self.parallel, self.ends_open, self.blank = fails, unknown, parallel, ends_open, blank
        self.more, self.clock = more, 0
        for _ in range(random.choice([1, 1, 2, prompts]) if prompts > 1 else 1):
            self.round()

    def say(self, role, content, **fields):
        event = {"type": "message", "role": role, "content": content, **fields}
        if self.more.get("timed"):
            self.clock += self.random.choice([0, 0.25, 1, 2])
            event["ts"] = f"2026-01-05T10:{int(self.clock // 60):02}:{self.clock % 60:06.3f}Z"
        self.events.append(event)

    def reply(self, content, calls=()):
        fields = {"tool_calls": list(calls)} if calls else {}
        if self.random.random() >= self.more.get("unmeasured", 0):
            fields["usage"] = {"input": self.random.randint(1, 30), "output": self.random.randint(1, 10)}
            if self.more.get("priced"):
                fields["cost_usd"] = self.random.choice([0.01, 0.1, 0.25])
        self.say("assistant", content, **fields)

    def round(self):
        self.say("user", self.random.choice(["task", "more", "go on"]))
        streak, steps = self.random.random() < 0.4, self.random.randint(0, self.more.get("steps", 5))
        for _ in range(steps):
            calls = []
            for _ in range(self.random.choice([1, 1, 1, self.parallel])):
                self.ids += 1
                missing = self.random.random() < self.unknown
                name = "gone" if missing else self.random.choice(self.tools[:1] if streak else self.tools)
                given = 0 if streak else self.random.randint(0, 2)
                calls.append({"id": f"c{self.ids}", "name": name, "arguments": {"answer": "ok"} if name == "final_answer" else {"x": given}})
            self.reply(self.random.choice(["", "", "hm"]), calls)
            for call in calls:
                fields = {"tool_call_id": call["id"], "name": call["name"]}
                if call["name"] == "gone":
                    self.say("tool", "there is no such tool", invalid_call=True, is_error=True, **fields)
                elif self.random.random() < self.fails:
                    self.say("tool", "boom", is_error=True, **fields)
                else:
                    said = "ok" if call["name"] == "final_answer" else self.random.choice(["ok", "ok", "other"])
                    self.say("tool", said, **fields)
            if self.random.random() < self.blank:
                self.reply("")
        # Two prompts in a row are one here and two runs for some originals.
        if steps == 0 or self.random.random() >= self.ends_open:
            self.reply(self.random.choice(UNUSUAL[1:]))


SMALL = [1, 2, 3, 4]


def middleware(random):
    kinds = random.sample(["ModelCallLimitMiddleware", "ToolCallLimitMiddleware"], random.choice([1, 2]))
    made = []
    for kind in kinds:
        # Where every call of a reply is refused and the run goes on, the driver cannot date what follows.
        ends = ["continue", "end", "error"] if kinds == ["ToolCallLimitMiddleware"] else ["end", "error"]
        limits = random.choice([{"run_limit": random.choice([0, *SMALL])}, {"thread_limit": random.choice(SMALL)}, {"run_limit": 2, "thread_limit": 4}])
        made.append({"type": kind, **limits, "exit_behavior": random.choice(ends)})
    return made


def haystack(random):
    return "fresh", Story(random, blank=0.1), makers.chosen(random, max_agent_steps=[0, True, 2.5, *SMALL], exit_conditions=[["text"], ["text", "A"], ["B"]], raise_on_tool_invocation_failure=[True])


def langchain(random):
    return "fresh", Story(random, unknown=0, fails=0.1, blank=0), {"middleware": middleware(random)}


def langchain_executor(random):
    return "agent_executor", Story(random, unknown=0, fails=0, parallel=1, blank=0), {"max_iterations": random.choice([0, *SMALL, None])}


def openhands(random):
    drawn = {"max_iteration_per_run": SMALL, "max_budget_per_run": [0.1, 0.5], "stuck_detection": [False]}
    return "loop", Story(random, unknown=0, parallel=2, blank=0, priced=True, steps=7), makers.chosen(random, **drawn)


def smolagents(random):
    drawn = {"max_steps": [0, 2.5, *SMALL], "run_max_steps": [1, 2], "final_answer_checks": ["never_accept"], "reset": [False]}
    return "max_steps", Story(random, tools=("A", "B", "final_answer"), fails=0, unknown=0, blank=0), makers.chosen(random, **drawn)


def strands_agents(random):
    limits = makers.chosen(random, turns=SMALL, total_tokens=[20, 50], output_tokens=[5, 12])
    return "limits", Story(random, unknown=0, blank=0), {"limits": limits} if limits else {}


def semantic_kernel(random):
    return "auto_invoke", Story(random, tools=("A",), fails=0, unknown=0, blank=0), makers.chosen(random, maximum_auto_invoke_attempts=[0, *SMALL])


def agent_framework(random):
    drawn = {
        "max_iterations": SMALL, "max_function_calls": SMALL, "max_consecutive_errors_per_request": [0, 1, 2], "max_duration_seconds": [1, 3],
        "terminate_on_unknown_calls": [True], "approval_tools": [["B"]], "declaration_only": [["B"]], "terminate_after": [["A"]],
        "set_later": [{"max_iterations": 0}, {"max_function_calls": 0}, {"max_duration_seconds": 0}],
    }
    few = {key: drawn[key] for key in random.sample(sorted(drawn), 3)}
    # The driver moves the clock where a tool runs, which an unknown one does not.
    timed = "max_duration_seconds" in few
    return "fresh", Story(random, blank=0, timed=timed, unknown=0 if timed else 0.1), makers.chosen(random, **few)


def camel_ai(random):
    words = [[{"words": {"ok": 1}}], [{"words": {"hm": 2}}]]
    return "fresh", Story(random, unknown=0, fails=0, blank=0), makers.chosen(random, max_iteration=[True, *SMALL], response_terminators=words)


def pydantic_ai(random):
    drawn = {"request_limit": [0, *SMALL], "tool_calls_limit": [0, *SMALL], "input_tokens_limit": [20, 60], "output_tokens_limit": [8, 20], "total_tokens_limit": [40], "cost_limit": [0.2]}
    limits = makers.chosen(random, **{key: drawn[key] for key in random.sample(sorted(drawn), 2)})
    story = Story(random, unknown=0.05, fails=0.1, blank=0, unmeasured=random.choice([0, 0.3]), priced=random.random() < 0.5)
    return "fresh", story, {**({"usage_limits": limits} if limits else {}), **makers.chosen(random, share_usage=[True])}


def ag2(random):
    agent = {"max_consecutive_auto_reply": [0, *SMALL], "is_termination_msg": [{"contains": "ok"}, {"contains": "task"}, {"never": True}]}
    config = {"assistant": makers.chosen(random, **agent), "proxy": makers.chosen(random, **agent), **makers.chosen(random, max_turns=SMALL)}
    events, asks = [{"type": "message", "role": "user", "content": "task"}], 0
    for _ in range(random.randint(1, 5)):
        if random.random() < 0.5:
            events.append({"type": "message", "role": "assistant", "content": random.choice(["hm", "ok", "TERMINATE"])})
            events.append({"type": "message", "role": "user", "content": ""})
        else:
            asks += 1
            events.append({"type": "message", "role": "assistant", "content": "", "tool_calls": [{"id": f"c{asks}", "name": "A", "arguments": {"x": asks}}]})
            events.append({"type": "message", "role": "tool", "content": "ok", "tool_call_id": f"c{asks}", "name": "A"})
    return "fresh", events, config


def qwen_code(random):
    story = Story(random, tools=("run_shell_command",), prompts=1, fails=0, unknown=0, parallel=2, ends_open=0, blank=0)
    for event in story.events:
        for call in event.get("tool_calls") or []:
            call["arguments"] = {"command": f"echo {call['arguments']['x']}", "is_background": False}
        event.pop("usage", None)
    drawn = {"maxToolCalls": [-2, -1, 0, *SMALL, "2", "1.5"], "maxSessionTurns": [-2, 0, *SMALL], "maxToolCallsPerTurn": SMALL, "skipLoopDetection": [False]}
    return "headless", story, makers.chosen(random, **drawn), {"drive": "headless"}


def crewai(random):
    config = {"path": random.choice(["native", "react"]), **makers.chosen(random, max_iter=[0, *SMALL], max_usage_count=[{"A": 2}, {"A": 1, "B": 3}])}
    single = config["path"] == "react"
    events = Story(random, unknown=0, fails=0, blank=0, parallel=1 if single else 2, steps=7).events
    if not single and random.random() < 0.4:
        asks = lambda task: {"task": task, "context": "", "coworker": "helper"}  # noqa: E731
        events = makers.with_sub_agents(random, events, "delegate_work_to_coworker", asks)
    return "fresh", makers.in_blocks(random, events, random.choice([0, 0.4])), config


def hermes_agent(random):
    events = Story(random, tools=("read_file",), fails=0, unknown=0, blank=0, parallel=1).events
    if random.random() < 0.3:
        events = makers.with_sub_agents(random, events, "delegate_task", lambda task: {"goal": task}, "read_file")
    return "iteration_budget", makers.in_blocks(random, events, random.choice([0, 0.4])), {"max_iterations": random.choice([-1, 0, *SMALL])}


def gemini_cli(random):
    drawn = {"maxSessionTurns": [-1, 0, *SMALL, 6, 12], "disableLoopDetection": [True], "turns": [1, 2, 50]}
    story = Story(random, tools=("A",) if random.random() < 0.5 else ("A", "B"), unknown=0, fails=0.1, blank=0, steps=random.choice([9, 14, 24]))
    return random.choice(["turn_limits", "tool_call_loop"]), story, makers.chosen(random, **drawn)


def goose_run(random):
    story = Story(random, unknown=0.1, fails=0.2, blank=random.choice([0, 0.2, 0.6]), steps=6)
    return "max_turns", story, makers.chosen(random, max_turns=[0, *SMALL, *SMALL, 5, -1, 2.5, 2**32 - 1, 2**32], max_repetitions=[0, 1, 2])


# The settings of each framework, by its name in frameworks.toml or the name before the dot: one framework may have two loops.
MAKERS = {
    "adaptive": [fresh_sources.adaptive], "goose": [fresh_sources.goose], "goose-run": [goose_run],
    "ag2": [ag2], "agent-framework": [agent_framework], "camel-ai": [camel_ai], "crewai": [crewai], "gemini-cli": [gemini_cli, coding_agents.gemini_cli], "haystack": [haystack],
    "hermes-agent": [hermes_agent], "langchain": [langchain, langchain_executor], "openhands": [openhands], "pydantic-ai": [pydantic_ai],
    "qwen-code": [qwen_code, coding_agents.qwen_code], "semantic-kernel": [semantic_kernel], "smolagents": [smolagents], "strands-agents": [strands_agents],
    "tau2-bench": [makers.tau2_bench], "letta": [makers.letta], "browser-use": [makers.browser_use],
    "mira-0.3.2": [lambda random: sessions.mira(random, "published-0.3.2")], "mira-0.5.0": [lambda random: sessions.mira(random, "published-0.5.0")],
    "agentica-1.4.6": [lambda random: sessions.agentica(random, "published-1.4")], "agentica-1.5.0": [lambda random: sessions.agentica(random, "published-1.5")],
    "agentao": [sessions.agentao], "awaken": [sessions.awaken],
    "cline": [coding_agents.cline], "kilo-code": [coding_agents.kilo_code], "opencode": [coding_agents.opencode],
}


# What of the original is driven, where the older tables drive less of it.
DRIVES = {"letta": "step", "openhands": "run"}


def questions(name, seed, cases):
    for nth in range(cases):
        dice = random.Random(f"{seed} {name} {nth}")
        makers = MAKERS[name]
        table, story, config, *more = makers[nth % len(makers)](dice)
        events = getattr(story, "events", story)
        # Without events a maker gives the whole input.
        given = {"config": config, "events": events, **(more[0] if more else {})} if events is not None else config
        if name in DRIVES:
            given["drive"] = DRIVES[name]
        yield {"id": f"s{seed}-{name}-{nth:04}", "table": f"fresh/{name}/{table}", "key": f"s{seed}-{name}-{nth:04}", "input": given}


def held(golden, table):
    """What the golden cases have in all answers, those of that table if there are any; a driver may report more."""
    if table == "session":
        return {"halted_at", "code"}
    same = [case for case in golden if case["table"].endswith("/" + table)]
    return set.intersection(*(set(case["expected"]) for case in same or golden))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *MAKERS], help="all where none is named")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=100, help="of each framework")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--latest", action="store_true")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache" / "whenstop-originals")
    parser.add_argument("--mirror", type=pathlib.Path, help="as for run.py")
    parser.add_argument("--minutes", type=float, default=20)
    options = parser.parse_args()
    entries = {entry["name"]: run.mirrored(entry, options.mirror) for entry in tomllib.loads((run.HERE / "frameworks.toml").read_text())["framework"]}
    worst = 0
    for name in options.names or MAKERS:
        entry = entries[name]
        try:
            command, version, _ = run.INSTALL[entry["language"]](entry, options.latest, options.cache)
        except (RuntimeError, OSError) as error:
            print(f"{name}: {error}", flush=True)
            worst = 2
            continue
        asked = list(questions(name, options.seed, options.cases))
        golden = list(run.cases_of(entry["tables"]))
        answers, said = run.play(command, asked, {**os.environ, **entry.get("environment", {})}, options.minutes)
        tables, failed = {}, []
        for case in asked:
            answer = answers.get(case["key"], {})
            if "expected" not in answer:
                failed.append(answer.get("failed", "no answer"))
                continue
            line = {"id": case["id"], "framework": name, "version": f"{entry['package']} {version}", "input": case["input"]}
            tables.setdefault(case["table"].split("/")[2], []).append({**line, "expected": answer["expected"], "source": "ran original"})
        for table, lines in tables.items():
            kept = held(golden, table)
            for line in lines:
                line["expected"] = {key: value for key, value in line["expected"].items() if key in kept}
            # The folder is the preset's, of which a framework may have two drivers.
            file = options.out / entry["tables"][0].split("/")[1] / f"{table}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        why = f", {len(failed)} not answered ({max(set(failed), key=failed.count)})" if failed else ""
        print(f"{name} {version}: {len(asked) - len(failed)} answers{why}{'' if answers else ': ' + said.strip()[-200:]}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
