"""The peer of the reading bench: the same signals over the same trace file, with orjson.

    pip install orjson
    python3 benches/peer/orjson_signals.py FILE

For every run: steps, tokens.total, errors.streak, call.streak and call_result.count after each step, and the first step
at which each of five limits is met. Prints the number of runs, steps and limits met, which `cargo bench --bench reading -- FILE`
must print as well.
"""

import hashlib
import sys

import orjson

LIMITS = {"steps": 20, "tokens.total": 200_000, "errors.streak": 3, "call.streak": 3, "call_result.count": 3}


class Run:
    """The signals of one run, fed message by message."""

    def __init__(self):
        self.steps = self.tokens = self.errors = self.streak = 0
        self.last, self.counts, self.stops = None, {}, {}
        self.calls, self.results = None, []

    def close_step(self):
        """Reads every signal after the tools of the step that just ended."""
        if self.calls is None:
            return
        self.steps += 1
        flags = [flag for _, flag in self.results if flag is not None]
        if False in flags:
            self.errors = 0
        elif flags:
            self.errors += 1
        count = 0
        if self.calls:
            self.streak = self.streak + 1 if self.calls == self.last else 1
            self.last = self.calls
            key = hashlib.blake2b(self.calls + b"\0".join(text for text, _ in self.results), digest_size=8).digest()
            count = self.counts[key] = self.counts.get(key, 0) + 1
        else:
            self.streak, self.last = 0, None
        readings = (self.steps, self.tokens, self.errors, self.streak, count)
        for (name, limit), reading in zip(LIMITS.items(), readings):
            if reading >= limit and name not in self.stops:
                self.stops[name] = self.steps
        self.calls, self.results = None, []

    def take(self, line):
        """Takes one message in."""
        role = line.get("role")
        if line.get("lane", "main") not in ("main",):
            return
        if role == "assistant":
            self.close_step()
            usage = line.get("usage") or {}
            self.tokens += (usage.get("input") or 0) + (usage.get("output") or 0)
            self.calls = b"".join(
                call["name"].encode() + orjson.dumps(call.get("arguments"), option=orjson.OPT_SORT_KEYS)
                for call in line.get("tool_calls") or ()
            )
        elif role == "tool":
            self.results.append(((line.get("content") or "").encode(), line.get("is_error")))


def main(path):
    """Reads the file and prints the totals."""
    runs = steps = stops = 0
    run = None
    with open(path, "rb") as file:
        for text in file:
            line = orjson.loads(text)
            kind = line.get("type")
            if kind == "run":
                if run is not None:
                    run.close_step()
                    runs, steps, stops = runs + 1, steps + run.steps, stops + len(run.stops)
                run = Run()
            elif kind == "message" and run is not None:
                run.take(line)
    if run is not None:
        run.close_step()
        runs, steps, stops = runs + 1, steps + run.steps, stops + len(run.stops)
    print(runs, steps, stops)


main(sys.argv[1])
