"""Makers of sessions of several messages, for the systems that are asked by `fresh.py`.

input: {"profile", "set", "config", "events"}; expected: {"halted_at": the event at which the system first ends, "code"}.
"""

from makers import chosen, message

SMALL = [1, 2, 3, 4]
CONTINUING = "[Continuing toward your standing goal]\nGoal: obj"
WRAPPING_UP = "[Standing goal budget reached]\nGoal: obj"


def usage(random):
    return {"usage": {"input": random.choice([0, 5, 20, 60]), "output": random.randint(0, 30)}}


class Steps:
    """Replies with calls and their results, as the scripted tools of these systems give them; identifiers go on."""

    def __init__(self, random, names):
        self.random, self.names, self.n = random, names, 0

    def step(self, n, arguments=lambda random: {"n": random.randint(0, 2)}, fails=0.3, text="", **more):
        """A reply with calls, and their results."""
        calls = []
        for _ in range(n):
            self.n += 1
            calls.append({"id": f"c{self.n}", "name": self.random.choice(self.names), "arguments": arguments(self.random)})
        reply = message("assistant", text, tool_calls=calls, **more)
        results = []
        for call in calls:
            failed = call["name"] == "broken" or self.random.random() < fails
            results.append(message("tool", "Error: no" if failed else "ok", tool_call_id=call["id"], name=call["name"], is_error=failed))
        return [reply, *results]


# ------------------------------------------------------------------------------------------- mira
POLICIES = [
    {}, {"maxTokens": 100}, {"maxTokens": 250}, {"maxTokens": 8.0}, {"maxExperiments": 2}, {"strictHeuristics": False}, {"strictHeuristics": True},
    {"goals": [{"metric": "acc", "operator": ">=", "value": 0.8}]}, {"goals": [{"metric": "acc", "operator": " >= ", "value": 0.8}]},
    {"logic": "or", "goals": [{"metric": "acc", "operator": ">", "value": 0.9}, {"metric": "loss", "operator": "<=", "value": "0.1"}]},
    {"logic": "AND", "goals": [{"metric": "acc", "operator": ">", "value": 0.4}, {"metric": "loss", "operator": "<", "value": 0.5}], "maxTokens": 400},
    [], "none", None, None,
]
REPLIES = ["ok", "next", "go on", "the experiment goes on", "done", "Please confirm the plan.", "blocked by the cluster", "shall I proceed?", "Error calling LLM: x", "the tool call failed", "before\n\nafter"]


def plan(random, n_done):
    """A task plan of five experiments, of which some are done."""
    experiments = []
    for nth in range(5):
        made = {"id": f"Exp{nth + 1:03}", "status": "completed" if nth < n_done else "pending", "title": "t"}
        if nth < n_done:
            made["results"] = {"metrics": {"acc": random.choice([0.3, 0.7, 0.85, 0.95]), "loss": random.choice([0.05, 0.3, 0.7])}}
            made["conclusion"] = "supported"
        experiments.append(made)
    return {"type": "metrics", "plan": {"schema_version": "1", "experiments": experiments, "plan": {"phase": "approved"}, "status": "in_progress"}}


def mira(random, profile):
    recorded, restarts = random.random() < 0.7, random.random() < 0.5
    own = random.choice([policy for policy in POLICIES if isinstance(policy, dict)])
    settings = {"prompts": "message" if restarts else "follow_up", "policy": "recorded" if recorded else "sent", **own}
    events, n_done, steps = [], 0, Steps(random, ["run", "read"])
    for _ in range(random.randint(3, 12)):
        if random.random() < 0.15:
            events += [message("user", random.choice(["/new", " /NEW\n"])), message("assistant", "New session started.")]
            opens = True
        else:
            opens = restarts or not events or events[-1].get("content") == "New session started."
        if recorded and opens and random.random() < 0.6:
            events.append({"type": "note", "kind": "mira.policy", "body": random.choice(POLICIES)})
        events.append(message("user", random.choice(["go", "go on", "again"])))
        if random.random() < 0.3:
            events += steps.step(1, **usage(random))
        n_done = min(4, n_done + random.choice([0, 0, 1]))
        events += [plan(random, n_done), message("assistant", random.choices(REPLIES, [9, 9, 9, 9, 9] + [1] * 6)[0], **usage(random))]
    return "session", None, {"profile": profile, "set": settings, "events": events}


# --------------------------------------------------------------------------------------- agentica
def agentica(random, profile):
    """Turns of a standing goal on the command line; a prompt that the loop did not write was typed while a turn ran."""
    goal = chosen(random, turn_budget=SMALL, token_budget=[50, 120], default_turn_budget=SMALL)
    settings = {"prompts": "queue", "run_goal_tokens": profile == "published-1.4"}
    if profile == "published-1.5":
        goal = {**goal, **chosen(random, auto_judge=[True, True, False])}
    events, steps = [], Steps(random, ["A", "B"])
    failing = random.random() < 0.4
    typed, n_turns = True, random.randint(2, 8)
    for nth in range(n_turns):
        prompts = [CONTINUING] * 4 + ([WRAPPING_UP] if profile == "published-1.5" else [])
        events.append(message("user", random.choice(["obj", "also fix the docs", "and the tests"]) if typed else random.choice(prompts)))
        for _ in range(random.choice([0, 1, 2])):
            events += steps.step(random.choice([1, 2]), fails=0.9 if failing else 0.3, **usage(random))
        events.append(message("assistant", random.choice(["w", "still at it"]), **usage(random)))
        done = [{"done": False, "reason": "more"}] * 6 + [{"done": True, "reason": "it is"}]
        reply = random.choice(["no json"] * (3 if failing else 1) + [dumped(reply) for reply in done])
        typed = random.random() < 0.25 and nth + 1 < n_turns
        # The judge is not asked about a turn during which something was typed.
        if not typed:
            events.append({"type": "judge", "reply": reply})
    return "session", None, {"profile": profile, "set": settings, "config": goal, "events": events}


def dumped(reply):
    return '{"done": %s, "reason": "%s"}' % (str(reply["done"]).lower(), reply["reason"])


# ---------------------------------------------------------------------------------------- agentao
def agentao(random):
    settings = {"max_iterations": random.choice([1, 2, 3, 4, 6]), "strategy": random.choice(["stop", "stop", "conditional_continue"])}
    settings["read_only"] = random.choice([[], ["alpha"], ["alpha", "beta", "broken"]])
    steps, events = Steps(random, random.choice([["alpha"], ["alpha", "beta"], ["alpha", "beta", "broken"]])), []
    few = random.random() < 0.5
    for _ in range(random.randint(2, 5)):
        events.append(message("user", random.choice(["go", "and then", "more"])))
        for _ in range(random.randint(0, 6)):
            # Results are those of the scripted tools.
            arguments = (lambda random: {"n": random.randint(0, 1)}) if few else (lambda random: {"n": random.randint(0, 99)})
            finish = "length" if random.random() < 0.08 else "tool_calls"
            events += steps.step(random.choice([1, 1, 2]), arguments, fails=0, finish_reason=finish)
        events.append(message("assistant", random.choice(["done", "here it is"]), finish_reason="stop"))
    return "session", None, {"profile": "published-0.5", "set": settings, "events": events}


# ----------------------------------------------------------------------------------------- awaken
def awaken(random):
    """Each message is an agent run."""
    drawn = [
        {"type": "max_rounds", "rounds": random.choice([0, 2, 3, 5])}, {"type": "token_budget", "max_total": random.choice([0, 60, 150])},
        {"type": "consecutive_errors", "max": random.choice([0, 1, 2])}, {"type": "stop_on_tool", "tool_name": random.choice(["finish", "", "A"])},
        {"type": "content_match", "pattern": random.choice([r"\bDONE\b", "^ok$", "(?=x)"])}, {"type": "loop_detection", "window": random.choice([1, 2, 3])},
    ]
    conditions = random.sample(drawn, random.choice([0, 1, 1, 2, 3]))
    events, steps = [], Steps(random, ["A", "B", "B", "B"] + (["finish"] if random.random() < 0.3 else []))
    for _ in range(random.randint(2, 5)):
        events.append(message("user", random.choice(["go", "more"])))
        for _ in range(random.randint(0, 4)):
            finish = {"finish_reason": "error"} if random.random() < 0.1 else {}
            if finish:
                events.append(message("assistant", "", tool_calls=[{"id": f"e{len(events)}", "name": "B", "arguments": {}}], **finish))
                events.append(message("tool", "ok", tool_call_id=f"e{len(events) - 1}", name="B"))
            else:
                events += steps.step(random.choice([1, 2]), text=random.choice(["", "", "looking", "Continuing."]), **usage(random))
        events.append(message("assistant", random.choice(["ok", "done", "all DONE", "Continuing."]), **usage(random)))
    return "session", None, {"profile": "published-0.6", "set": chosen(random, 0.5, max_rounds=[0, 3, 6, 16]), "config": conditions, "events": events}
