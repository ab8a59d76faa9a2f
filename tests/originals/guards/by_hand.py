"""Calls the five packages by hand on recorded runs and compares with what their guards decided.

    whenstop convert RUNS --out runs.jsonl
    whenstop explain runs.jsonl --trail --format csv --guard loopbrake='python loopbrake_guard.py' … > trail.csv
    python by_hand.py runs.jsonl trail.csv 50

The calls here know neither the protocol nor `steps.py`: they read the trace.
"""

import contextlib
import csv
import io
import itertools
import json
import sys
from pathlib import Path

csv.field_size_limit(1 << 30)


def runs(path, most):
    """For each run its id and its steps: for each the calls as (name, arguments, output, is_error)."""
    lines = (json.loads(line) for line in open(path, encoding="utf-8"))
    whole = []
    for line in lines:
        if line["type"] == "run":
            if len(whole) == most:
                break
            whole.append((line["run_id"], []))
        elif line["type"] == "message" and "lane" not in line:
            if line["role"] == "assistant":
                whole[-1][1].append((line.get("tool_calls", []), []))
            elif line["role"] == "tool" and whole[-1][1]:
                whole[-1][1][-1][1].append(line)
    return [(run, [calls(*step) for step in steps]) for run, steps in whole]


def calls(asked, got):
    paired = []
    for nth, call in enumerate(asked):
        found = [one for one in got if one.get("tool_call_id") == call.get("id") is not None]
        result = (found or got[nth : nth + 1] or [{}])[0]
        paired.append((call["name"], call["arguments"], result.get("content"), result.get("is_error")))
    return paired


def loopbrake():
    from loopbrake.brake import Brake

    brake = Brake("hand", "hand", "hand", Path(), {"stop_line": 12}, record=False)
    while True:
        step, act = (yield), None
        for name, arguments, output, _ in step:
            said = brake.step(f"{name} {arguments}", output or "", tool=name)
            act = act or (("stop", said.step) if said.stop else None)
        yield act


def agentguard_predict():
    from agentguard import Guard

    with Guard(predictors=["loop", "tool_cascade"]).watch() as watcher:
        while True:
            step, act = (yield), None
            for name, arguments, output, failed in step:
                watcher.record({"kind": "tool_call", "name": name, "content": arguments})
                watcher.record({"kind": "tool_result", "name": name, "content": output or "", "error": bool(failed)})
                act = act or (("stop", watcher.risk) if watcher.risk > 0.8 else None)
            yield act


def agent_loop_guard():
    from loop_guard import LoopGuard

    guard = LoopGuard()
    while True:
        step, act = (yield), None
        for name, arguments, output, _ in step:
            said = guard.check(tool=name, args=arguments, output=output)
            if not act and said.action.name != "CONTINUE":
                act = ("warn" if said.should_warn else "stop", said.confidence)
        yield act


def agent_watchdog():
    from agent_watchdog import AgentWatchdog, WatchdogHalt

    dog = AgentWatchdog(timeout_seconds=None)
    with contextlib.suppress(WatchdogHalt), dog.watch():
        while True:
            step, act = (yield), None
            for name, arguments, output, _ in step:
                try:
                    dog.record_tool_call(name, args=arguments, output=output)
                except WatchdogHalt as halt:
                    act = act or ("stop", len(halt.report.tool_calls))
            yield act


def agent_loop_breaker():
    from agent_loop_breaker import detect_loop

    names = []
    while True:
        step = yield
        names += [name for name, *_ in step]
        found = detect_loop([{"tool": name} for name in names])
        yield ("stop", found.count) if found.looping else None


def by_hand(package, steps):
    """The decisions of a package on a run, up to its stop: step, action, reading."""
    watching, decisions = package(), []
    for nth, step in enumerate(steps):
        next(watching)
        with contextlib.redirect_stdout(io.StringIO()):
            act = watching.send(step)
        if act:
            decisions.append((nth, act[0], round(float(act[1]), 6)))
            if act[0] == "stop":
                break
    return decisions


def main():
    path, trail, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
    told = {}
    for row in csv.DictReader(open(trail, encoding="utf-8", newline="")):
        decision = (int(row["point"].split(":")[0]), row["action"], round(float(row["observed"]), 6))
        told.setdefault((row["stack"], row["run_id"]), []).append(decision)
    packages = [loopbrake, agentguard_predict, agent_loop_guard, agent_watchdog, agent_loop_breaker]
    differences = 0
    whole = runs(path, most)
    for package in packages:
        n = stops = 0
        for run, steps in whole:
            here, there = by_hand(package, steps), told.get((package.__name__, run), [])
            n += len(here)
            stops += any(action == "stop" for _, action, _ in here)
            if here != there:
                differences += 1
                print(f"{package.__name__} on {run}: by hand {here[:3]}, as a guard {there[:3]}")
        print(f"{package.__name__}: {len(whole)} runs, {n} decisions, {stops} stops")
    print(f"{differences} differences")
    sys.exit(differences > 0)


main()
