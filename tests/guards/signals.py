"""Every signal rule of fixtures/stacks/example.toml, written again from its description, as a guard.

    whenstop compare RUNS --stacks fixtures/stacks/example.toml --guard again='python3 tests/guards/signals.py mixed'

A test holds the stops, rules and readings of both equal.
"""

import json
import sys


def refuse(constant):
    raise ValueError(constant)


def canonical(call):
    """Name and arguments; as JSON if they are JSON, else as they were written."""
    arguments = call["arguments"]
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, parse_constant=refuse)
        except ValueError:
            return call["name"], arguments
    return call["name"], json.dumps(arguments, sort_keys=True)


class Run:
    """What has happened so far, as far as the rules need it."""

    def __init__(self):
        self.steps = 0
        self.tokens = self.cost = None
        self.reply, self.results = None, []
        self.signals = {}

    def event(self, event):
        if event["type"] != "message":
            return
        lane = event.get("lane", "main")
        if event["role"] == "assistant" and (lane == "main" or lane.startswith("side:")):
            usage = event.get("usage") or {}
            if usage.get("input") is not None:
                self.tokens = (self.tokens or 0) + usage["input"] + (usage.get("output") or 0)
            if event.get("cost_usd") is not None:
                self.cost = (self.cost or 0.0) + event["cost_usd"]
        if event["role"] == "assistant" and lane == "main":
            self.reply, self.results = event, []
        elif event["role"] == "tool" and lane == "main":
            self.results.append(event)

    def calls(self, exempt):
        """The calls of the step that count; None if there are only others."""
        calls = self.reply.get("tool_calls") or []
        counted = [canonical(call) for call in calls if call["name"] not in exempt]
        return None if calls and not counted else counted


class Streak:
    def __init__(self):
        self.last, self.length = None, 0

    def take(self, item):
        self.length = self.length + 1 if self.length and item == self.last else 1
        self.last = item

    def reset(self):
        self.last, self.length = None, 0


class CallStreak(Streak):
    reads = ("calls",)

    def __init__(self, exempt=()):
        super().__init__()
        self.exempt = exempt

    def read(self, run):
        calls = run.calls(self.exempt)
        if calls == []:
            self.reset()
        elif calls is not None:
            self.take(calls)
        return self.length


class CallResultStreak(Streak):
    reads = ("calls", "results")

    def read(self, run):
        calls = run.calls(())
        if not calls:
            self.reset()
            return self.length
        if not run.results:
            self.reset()
            return None
        self.take((calls, [result.get("content") or "" for result in run.results]))
        return self.length


class CallCycle:
    reads = ("calls",)

    def __init__(self, exempt, window=5):
        self.exempt, self.history, self.matched = exempt, [], [0] * window

    def read(self, run):
        calls = run.calls(self.exempt)
        if calls == []:
            self.history, self.matched = [], [0] * len(self.matched)
        elif calls is not None:
            for length in range(1, len(self.matched) + 1):
                same = len(self.history) >= length and self.history[-length] == calls
                self.matched[length - 1] = self.matched[length - 1] + 1 if same else 0
            self.history.append(calls)
        if not self.history:
            return 0
        return max(matched // length + 1 for length, matched in enumerate(self.matched, 1))


class ErrorsStreak:
    reads = ("calls", "errors")

    def __init__(self):
        self.streak, self.flagged = 0, False

    def read(self, run):
        flags = [result["is_error"] for result in run.results if result.get("is_error") is not None]
        if flags:
            self.flagged = True
            self.streak = self.streak + 1 if all(flags) else 0
        return self.streak if self.flagged else None


class ReplyStreak(Streak):
    def read(self, run):
        text = run.reply.get("content") or ""
        if text.strip():
            self.take(text)
        return self.length


class Steps:
    def read(self, run):
        return run.steps


class Tokens:
    reads = ("tokens",)

    def read(self, run):
        return run.tokens


class Cost:
    reads = ("cost",)

    def read(self, run):
        return run.cost


WAITS = ("job_status", "ci_status")

#: For each stack its rules: the name, and the signals with their limits, all of which must be reached.
STACKS = {
    "tight-budget": [("tokens.total >= 100000", [(Tokens, 100_000)]), ("steps >= 16", [(Steps, 16)])],
    "loose-budget": [
        ("tokens.total >= 300000", [(Tokens, 300_000)]),
        ("steps >= 28", [(Steps, 28)]),
        ("cost >= 5", [(Cost, 5.0)]),
    ],
    "same-call": [("call.streak >= 3", [(CallStreak, 3)])],
    "same-call-and-result": [("call_result.streak >= 3", [(CallResultStreak, 3)])],
    "errors": [("errors.streak >= 3", [(ErrorsStreak, 3)])],
    "mixed": [
        ("call.streak[exempt job_status ci_status] >= 4", [(lambda: CallStreak(WAITS), 4)]),
        ("call.cycle[exempt job_status ci_status run_tests] >= 3", [(lambda: CallCycle((*WAITS, "run_tests")), 3)]),
        ("errors.streak >= 6", [(ErrorsStreak, 6)]),
        ("all(reply.streak >= 5, steps >= 6)", [(ReplyStreak, 5), (Steps, 6)]),
    ],
}
#: The cap of a stack, before each request.
CAPS = {"mixed": ("cap 28 steps", 28)}


def answer(rules, cap, run, event):
    if event["at"] == "before_request":
        if cap and event["step"] >= cap[1]:
            return {"answer": "stop", "rule": cap[0], "reading": event["step"], "limit": cap[1]}
        return {"answer": "continue"}
    run.steps += 1
    # Every signal sees every step, whether or not an earlier rule has stopped the run.
    readings = [(name, [(signal.read(run), limit) for signal, limit in parts]) for name, parts in rules]
    for name, parts in readings:
        if all(reading is not None and reading >= limit for reading, limit in parts):
            return {"answer": "stop", "rule": name, "reading": parts[0][0], "limit": parts[0][1]}
    return {"answer": "continue"}


def main():
    stack, cap = STACKS[sys.argv[1]], CAPS.get(sys.argv[1])
    of_parts = lambda parts: sorted({read for signal, _ in parts for read in getattr(signal(), "reads", ())})
    names = [{"name": name, "reads": of_parts(parts)} for name, parts in stack]
    hello = {
        "protocol": 1,
        "points": ["before_request", "after_tools"] if cap else ["after_tools"],
        "answers": ["stop"],
        "rules": names + ([{"name": cap[0]}] if cap else []),
    }
    run, rules = None, []
    for line in sys.stdin:
        event = json.loads(line)
        if event["type"] == "run":
            run = Run()
            rules = [(name, [(signal(), limit) for signal, limit in parts]) for name, parts in stack]
        elif "id" not in event:
            run.event(event)
        else:
            said = hello if event["type"] == "hello" else {"answer": "continue"}
            if event["type"] == "point":
                said = answer(rules, cap, run, event)
            print(json.dumps({"id": event["id"], **said}), flush=True)


main()
