"""Makers of fresh cases for coding agents: equal calls that are written differently, contents in blocks, sub-agents in lanes."""

from makers import chosen

UNKNOWN = ("gone", "lost")
TEXTS = ["", "hm", "Grüße, 世界 🙂", "line one\nline two", "x" * 300]


class Recording:
    """Makes the events of a run. `tools` has the arguments that each tool is called with; a call that `fails` says so."""

    def __init__(self, random, tools, fails, prompts=3, steps=8, parallel=4, blocks=0.2, spawn=None, open=0.3, usage=None, moods=0.3):
        self.random, self.tools, self.fails, self.blocks, self.spawn, self.open, self.usage = random, tools, fails, blocks, spawn, open, usage
        self.events, self.ids, self.parallel, self.moods = [], 0, parallel, moods
        for nth in range(random.choice([1, 1, 2, prompts]) if prompts > 1 else 1):
            self.say("user", f"{random.choice(['task', 'Aufgabe 世界', 'go on'])} {nth}")
            self.work(random.randint(0, steps))

    def say(self, role, text, **fields):
        self.events.append({"type": "message", "role": role, "content": self.written(text), **fields})

    def written(self, text):
        """A text, or the same in blocks."""
        if self.random.random() >= self.blocks:
            return text
        if not text:
            return self.random.choice([[], [{"type": "text", "text": ""}]])
        cut = self.random.randint(0, len(text))
        return [{"type": "text", "text": part} for part in ([text] if cut in (0, len(text)) else [text[:cut], text[cut:]])]

    def reply(self, text, calls=(), **fields):
        spent = {"usage": self.usage()} if self.usage and not fields else {}
        self.say("assistant", text, **({"tool_calls": list(calls)} if calls else {}), **spent, **fields)

    def work(self, steps, **lane):
        random, habit = self.random, None
        for nth in range(steps):
            # A streak goes on over some replies, and its calls may be written differently.
            if nth == 0 or random.random() < self.moods:
                habit = random.choice(list(self.tools)) if random.random() < 0.8 else None
            calls = [self.call(habit, lane) for _ in range(random.choice([1, 1, 1, 2, self.parallel]))]
            self.reply(random.choice(TEXTS), calls, **lane)
            for call in calls:
                if self.spawn and call["name"] == self.spawn[0]:
                    side = f"side:{call['id']}"
                    self.events.append({"type": "message", "role": "user", "content": call["arguments"][self.spawn[1]], "lane": side})
                    self.work(random.randint(1, 5), lane=side)
                failed = self.fails(random, call)
                flags = {"is_error": failed, **({"invalid_call": True} if call["name"] in UNKNOWN else {})}
                self.say("tool", "boom" if failed else random.choice(["ok", "ok", "größer\n2"]), tool_call_id=call["id"], name=call["name"], **flags, **lane)
        if lane or steps == 0 or random.random() >= self.open:
            self.reply(random.choice(TEXTS[1:]), **lane)

    def call(self, habit, lane):
        self.ids += 1
        made = {"id": f"c{self.ids}"}
        if self.spawn and not lane and self.random.random() < 0.08:
            return {**made, "name": self.spawn[0], "arguments": {**self.spawn[2], self.spawn[1]: f"Look around for c{self.ids}."}}
        name = habit if habit and self.random.random() < 0.85 else self.random.choice(list(self.tools))
        given = self.tools[name]
        return {**made, "name": name, "arguments": self.random.choice(given[:2] if name == habit else given)}


ODD = [None, -1, 0, 0.5, 1, 2, 2.5, 3, 4, 5, 10**9]


def cline(random):
    same = [{"path": "a", "deep": {"x": 1, "y": [1, 2]}}, {"deep": {"y": [1, 2.0], "x": 1.0}, "path": "a"}]
    other = [{}, {"path": "ä 🙂"}, {"path": "a", "deep": {"y": [2, 1], "x": 1}}, {"2": "a", "10": "b"}, {"10": "b", "2": "a"}, {"n": 1e21}, {"n": -0.0}, {"n": 0}]
    tools = {"read_files": [*same, *other], "run_commands": [{"commands": ["ls"]}, {"commands": ["ls"]}, {"commands": ["pwd"]}], "gone": [{"i": 1}, {"i": 1}]}
    often = random.choice([0, 0.2, 0.5, 0.9])
    thresholds = chosen(random, softThreshold=ODD, hardThreshold=ODD)
    execution = chosen(random, 0.8, loopDetection=[False, True, None, {}, thresholds, thresholds, thresholds], maxConsecutiveMistakes=ODD)
    host = chosen(random, onConsecutiveMistakeLimitReached=["continue", "continue", "continue_with_guidance", "stop", "throws"])
    spawn = ("spawn_agent", "task", {"systemPrompt": "You help."})
    story = Recording(random, tools, lambda random, call: call["name"] in UNKNOWN or call["name"] != "spawn_agent" and random.random() < often, spawn=spawn)
    return "fresh", story, {**({"execution": execution} if execution else {}), **host}


READS = [{"filePath": "a.txt", "limit": 1}, {"filePath": "a.txt", "limit": 1.0}, {"limit": 1, "filePath": "a.txt"}, {"filePath": "none.txt"}, {"filePath": "b.txt"}]
SHELL = [{"command": "echo ä", "description": "say"}, {"command": "echo ä", "description": "say"}, {"description": "say", "command": "echo ä"}, {"command": "true", "description": "TODO"}]
TASK = ("task", "prompt", {"description": "look", "subagent_type": "general"})


def opencode(random):
    tools = {"read": READS, "bash": SHELL, "gone": [{"i": 1}, {"i": 1}], "lost": [{"i": 1}, {"i": 1}], "todowrite": [{"todos": []}, {"todos": []}]}
    fails = lambda _, call: call["name"] in UNKNOWN or call["arguments"].get("filePath") == "none.txt"
    config = chosen(random, permission=[{"doom_loop": word} for word in ("ask", "ask", "allow", "deny")], steps=[None, 1, 2, 3, 4, 10**6])
    if random.random() < 0.05:
        config["steps"] = random.choice([0, -1])
    if config.get("permission", {}).get("doom_loop", "ask") == "ask":
        config |= chosen(random, reply=["once", "once", "always", "reject"])
    return "fresh", Recording(random, tools, fails, parallel=random.choice([3, 4, 6]), steps=4, spawn=TASK, open=0.2), config


def kilo_code(random):
    if random.random() < 0.25:
        return kilo_cost(random)
    tools = {"read": [*READS, {}, {"path": "x"}], "bash": [*SHELL, {"command": "ls"}], "glob": [{"pattern": "*.txt"}, {"pattern": "*.txt"}, {}], "gone": [{"i": 1}, {"i": 1}]}
    required = {"read": ("filePath",), "bash": ("command", "description"), "glob": ("pattern",)}
    malformed = lambda call: any(key not in call["arguments"] for key in required.get(call["name"], ()))
    fails = lambda _, call: call["name"] in UNKNOWN or malformed(call) or call["arguments"].get("filePath") == "none.txt"
    words = [{"doom_loop": "ask"}, {"doom_loop": "allow"}, {"doom_loop": "deny"}, {"*": "allow"}, {"doom_loop": "ask", "*": "allow"}, {"*": "allow", "doom_loop": "ask"}]
    config = chosen(random, 0.5, permission=words, steps=[None, 0, -1, 1.5, 1, 2, 3, 4, 10**6], reply=["once", "always", "reject"])
    if "steps" in config:
        config |= chosen(random, 0.2, steps_key=["maxSteps"])
    usage = None
    if random.random() < 0.2:
        config["context_limit"] = random.choice([50000, 100000])
        usage = lambda: {"input": random.choice([100, 100, 42000, 92000, 99000]), "output": random.choice([5, 9000])}
    return "fresh", Recording(random, tools, fails, parallel=random.choice([3, 4, 6]), steps=4, spawn=None if usage else TASK, open=0, usage=usage), config, {"drive": "serve"}


def kilo_cost(random):
    story = Recording(random, {"read": [{"filePath": "f"}, {"filePath": "g"}]}, lambda *_: False, steps=9, parallel=1, open=0)
    for event in story.events:
        if event["role"] == "assistant":
            event["cost_usd"] = random.choice([0, 0.1, 0.25, 0.5, 1.005, 3])
            if random.random() < 0.1:
                event["native"] = {"cost_alert": random.choice([None, 0, 1, 2, 2.5])}
    config = chosen(random, 0.9, cost_alert=[None, -1, 0, 0.01, 0.5, 1, 1.5, 2, 5, 10**9], replies=[["stop"], ["continue"], ["dismiss", "continue", "stop"], ["dismiss"] * 3])
    return "fresh", story, config, {"drive": "tui_class"}


def gemini_cli(random):
    tools = {"A": [{"x": 0}, {"x": 0.0}, {"x": 0, "y": "ä"}, {"y": "ä", "x": 0}], "B": [{"x": 0}, {"x": 0}, {}], "gone": [{"i": 1}, {"i": 1}]}
    config = chosen(random, maxSessionTurns=[-1, 0, 1, 2, 3, 5, 12, 10**9], disableLoopDetection=[False, False, True], turns=[0, 1, 2, 50, 1000])
    fails = lambda random, call: call["name"] in UNKNOWN or random.random() < 0.2
    return "fresh", Recording(random, tools, fails, steps=random.choice([5, 14, 24]), parallel=random.choice([1, 3, 6]), blocks=0.3, spawn=("delegate", "task", {}), moods=0.07), config


def qwen_code(random):
    shell = [{"command": "echo 0", "is_background": False}, {"is_background": False, "command": "echo 0"}, {"command": "echo 世界", "is_background": False}, {"command": "false", "is_background": False}]
    tools = {"run_shell_command": shell, "gone": [{"i": 1}, {"i": 1}]}
    limits = [-2, -1, 0, 1, 2, 3, 4, 10**6]
    config = chosen(random, maxToolCalls=[*limits, "2", "1.5"], maxSessionTurns=limits, maxToolCallsPerTurn=[0, 1, 2, 3, 4, 2.5], skipLoopDetection=[False, True])
    spawn = ("agent", "prompt", {"description": "look", "subagent_type": "general-purpose"})
    story = Recording(random, tools, lambda _, call: call["name"] in UNKNOWN, prompts=1, steps=5, parallel=2, blocks=0.3, spawn=spawn, open=0)
    return "headless", story, config, {"drive": "headless"}
