"""Makers of fresh cases whose runs are not those of `fresh.Story`."""

WORDS = ["", " \n", "ok", "ok", "sure", "Grüße, 世界 🙂", "line one\nline two", "\n\nafter", "x" * 300]
STOPS = ["###STOP###", "so ###STOP### then", "###TRANSFER###", "###OUT-OF-SCOPE###", "### STOP ###", "###stop###", "###\nSTOP###"]


def written(random, text, blocks=0.25):
    """A text as it may stand in a recording: plain, or as a list of blocks, one a line."""
    if random.random() >= blocks:
        return text
    parts = text.split("\n") if text else random.choice([[], [""]])
    return [{"type": "text", "text": part} for part in parts]


def chosen(random, share=0.6, **settings):
    """A setting each, or none."""
    return {name: random.choice(values) for name, values in settings.items() if random.random() < share}


def message(role, content, **fields):
    return {"type": "message", "role": role, "content": content, **fields}


def in_blocks(random, events, blocks=0.4):
    """The events, with texts of some as blocks."""
    for event in events:
        if isinstance(event["content"], str) and event["role"] != "system":
            event["content"] = written(random, event["content"], blocks)
    return events


def with_sub_agents(random, events, tool, arguments, inner_tool="A"):
    """The events, with a call of the tool before some replies, and the messages of the sub-agent that it starts."""
    made, nth = [], 0
    for event in events:
        if event["role"] == "assistant" and random.random() < 0.3:
            nth += 1
            lane, call = {"lane": f"side:look {nth}."}, {"id": f"d{nth}", "name": tool, "arguments": arguments(f"look {nth}.")}
            made += [message("assistant", "", tool_calls=[call]), message("user", f"look {nth}.", **lane)]
            for step in range(random.randint(0, 3)):
                inner = {"id": f"d{nth}_{step}", "name": inner_tool, "arguments": {"x": step}}
                made.append(message("assistant", "", tool_calls=[inner], **lane))
                made.append(message("tool", "ok", tool_call_id=inner["id"], name=inner_tool, **lane))
            made += [message("assistant", f"seen {nth}", **lane), message("tool", f"seen {nth}", tool_call_id=f"d{nth}", name=tool)]
        made.append(event)
    return made


class Calls:
    """Calls and their results, with identifiers that go on."""

    def __init__(self, random, tools, fails=0.25, unknown=0.05, blocks=0.25):
        self.random, self.tools, self.fails, self.unknown, self.blocks, self.ids = random, tools, fails, unknown, blocks, 0

    def calls(self, most=3, arguments=lambda random: {"x": random.randint(0, 2)}):
        made = []
        for _ in range(self.random.choice([1, 1, 1, most])):
            self.ids += 1
            name = "gone" if self.random.random() < self.unknown else self.random.choice(self.tools)
            made.append({"id": f"c{self.ids}", "name": name, "arguments": arguments(self.random)})
        return made

    def results(self, calls):
        for call in calls:
            fields = {"tool_call_id": call["id"], "name": call["name"]}
            if call["name"] == "gone":
                fields |= {"is_error": True, "invalid_call": True}
            elif self.random.random() < self.fails:
                fields["is_error"] = True
            text = "boom" if fields.get("is_error") else self.random.choice(["ok", "ok", "other", "", "zwei\nZeilen"])
            yield message("tool", written(self.random, text, self.blocks), **fields)


def tau2_bench(random):
    """Agent and user speak in turn; who calls tools speaks again after the results."""
    greeting = random.choice(["Hi! How can I help you today?"] * 8 + [None, None, *WORDS[2:], *STOPS[:2]])
    events = [] if greeting is None else [message("assistant", written(random, greeting))]
    tools, speaker, odd = Calls(random, ["get", "set"]), "user", random.choice([0, 0.1, 0.3])
    for _ in range(random.randint(0, 16)):
        text = random.choice(STOPS) if random.random() < odd / 2 else random.choice(WORDS if random.random() < odd else WORDS[2:])
        if random.random() < 0.4:
            calls = tools.calls()
            text = text if random.random() < odd else random.choice(["", None])
            events.append(message(speaker, text and written(random, text), tool_calls=calls))
            events.extend(tools.results(calls))
        else:
            events.append(message(speaker, written(random, text)))
            speaker = "assistant" if speaker == "user" else "user"
    limits = {"max_steps": [-1, 0, 1, 2, 3, 5, 8, 13, 2.5, 10**9], "max_errors": [-1, 0, 1, 2, 3, 1.5, 10**9]}
    return "combined", events, chosen(random, 0.5, **limits, validate_communication=[True, True, False], orchestrator_defaults=[True])


def rule(random, tools):
    kind = random.choice(["terminal", "required_before_exit", "max_count_per_step", "init", "child", "parent", "continue"])
    more = {"max_count_per_step": {"max_count_limit": random.choice([0, 1, 2, 3])}}
    children = {"children": random.sample(tools, random.choice([1, 2]))}
    return {"type": kind, "tool_name": random.choice(tools), **(children if kind in ("child", "parent") else more.get(kind, {}))}


def letta(random):
    """With tool rules one call a reply, as its agents make them; replies that are blank or cut off by the provider."""
    names, events = ["read", "save", "send", "test"], []
    rules = [rule(random, names) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    config = {**chosen(random, 0.7, max_steps=[-1, 0, 1, 2, 3, 4, 6, 10**9]), **({"tool_rules": rules} if rules else {})}
    # Without a step, two prompts in a row are two runs there and one here.
    fewest, most = int(config.get("max_steps", 1) <= 0), 1 if rules else 3
    tools, odd = Calls(random, names[: random.choice([2, 4])], unknown=random.choice([0, 0, 0.1])), random.random() < 0.3
    for _ in range(random.choice([1, 1, 2, 3])):
        events.append(message("user", written(random, random.choice(["task", "more", "Grüße, 世界 🙂", "one\ntwo"]))))
        for _ in range(random.randint(fewest, 6)):
            if random.random() < 0.85:
                calls = tools.calls(most=most)
                events.append(message("assistant", written(random, random.choice(["", "hm"])), tool_calls=calls))
                events.extend(tools.results(calls))
            else:
                cut = {"finish_reason": random.choice(["stop", "length", "length"])} if random.random() < 0.5 else {}
                events.append(message("assistant", written(random, random.choice(WORDS if odd else WORDS[2:])), **cut))
    return "combined", events, config


TEXTS = ["abc", " ABC ", "Straße", "STRASSE", "İ", "i̇", "a\u00a0b"]
QUERIES = ["red shoes", "Shoes, red!", "shoes red red", "blue_shoes", "世界 shoes", "schön", "SCHÖN"]
PAGES = [{"url": f"http://x/{nth}", "elements": nth, "text": f"text {nth}"} for nth in range(3)]
ACTIONS = [
    lambda random: ("click", {"index": random.randint(1, 3)}),
    lambda random: ("input", {"index": random.randint(1, 2), "text": random.choice(TEXTS), **chosen(random, 0.3, clear=[True, False])}),
    lambda random: ("navigate", {"url": random.choice(["http://x/a", "http://x/a/", "http://x/A"]), **chosen(random, 0.3, new_tab=[True, False])}),
    lambda random: ("search", {"query": random.choice(QUERIES), **chosen(random, 0.3, engine=["google", "bing", "duckduckgo"])}),
    lambda random: ("scroll", chosen(random, 0.5, down=[True, False], pages=[1.0, 0.5], index=[1, 2])),
    lambda random: (random.choice(["wait", "go_back"]), {}),
    lambda random: ("send_keys", {"keys": random.choice(["Enter", "Escape"])}),
    lambda random: ("find_text", {"text": random.choice(["a", "A"])}),
    lambda random: ("extract", {"query": random.choice(["price", "Price"]), **chosen(random, 0.3, extract_links=[True, False])}),
]


def browser_use(random):
    """Steps of one to three actions on pages that stay or change; replies without an action; plans; a last word that fails."""
    few, stays, fails = random.sample(ACTIONS, random.choice([1, 1, 2, 4])), random.random(), random.choice([0, 0.1, 0.5, 0.9])
    most, mute, plans = random.choice([1, 1, 2, 3, 7]), random.choice([0, 0, 0.1, 0.4]), random.choice([0, 0, 0.15])
    # A last word that fails is one in which everything fails.
    device = {"forced_step_fails": True} if random.random() < 0.2 else {}
    most, fails = (1, 1) if device else (most, fails)
    page, ids = PAGES[0], 0
    events = [message("user", written(random, "do the task"), page=page)]
    for _ in range(random.randint(1, 18)):
        page = page if random.random() < stays else random.choice([*PAGES, None])
        shown = {} if page is None else {"page": page}
        if random.random() < mute:
            events.append(message("assistant", written(random, "not json"), **shown))
            continue
        plan = {"plan_update": ["one", "two"]} if random.random() < plans else {}
        acts = [random.choice(few)(random) for _ in range(random.randint(1, most))]
        calls = [{"id": f"c{ids + nth}", "name": name, "arguments": arguments} for nth, (name, arguments) in enumerate(acts)]
        ids += len(calls)
        events.append(message("assistant", written(random, "", 0.1), tool_calls=calls, **plan))
        for nth, call in enumerate(calls):
            error = random.random() < fails
            result = {"tool_call_id": call["id"], "name": call["name"], **({"is_error": True} if error else {})}
            last = error or nth + 1 == len(calls)
            events.append(message("tool", written(random, "Error: x" if error else "ok"), **result, **(shown if last else {})))
            # The rest of the step is skipped.
            if error:
                break
    if not device and random.random() < 0.4:
        done = {"id": f"c{ids}", "name": "done", "arguments": {"text": "fin", "success": True}}
        events.append(message("assistant", "", tool_calls=[done]))
        events.append(message("tool", "done", tool_call_id=done["id"], name="done"))
    drawn = {
        "max_steps": [-1, 0, 1, 2, 4, 7, 12, 500, 10**9], "max_failures": [-1, 0, 1, 2, 3, 5], "final_response_after_failure": [True, False],
        "loop_detection_enabled": [False], "loop_detection_window": [3, 5, 8, 20], "enable_planning": [True, False],
        "max_actions_per_step": [1, 2, 5], "planning_exploration_limit": [0, 1, 3, 5], "planning_replan_on_stall": [0, 1, 2, 3],
    }
    return "combined", events, {**chosen(random, 0.35, **drawn), **device}
