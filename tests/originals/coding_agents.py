"""Makers of fresh cases for coding agents: equal calls that are written differently, contents in blocks, sub-agents in lanes."""

UNKNOWN = ("gone", "lost")
TEXTS = ["", "hm", "Grüße, 世界 🙂", "line one\nline two", "x" * 300]


def chosen(random, share=0.6, **settings):
    """A setting each, or none."""
    return {name: random.choice(values) for name, values in settings.items() if random.random() < share}


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

