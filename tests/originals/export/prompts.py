#!/usr/bin/env python3
"""Runs of several prompts: where a host's own loop stops under an exported limit, and where the stack stops in the replay.

    python3 tests/originals/export/prompts.py --seed 41 --cases 100 [HOST…]

Each host is given the limit that `whenstop export` writes for a stack that counts by round, and plays runs made from a seed; the
same runs are replayed under the stack. A stop at the end of a run is no early stop and counts as none. Exit code: 0 all stops are
the same, 1 some are not, 2 a host could not be asked.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import fresh
import run

STOPS = 'scope = "round"\n[[stack]]\nname = "limit"\ncap = { steps = %d }\n'
LAST_ANSWER = 'scope = "round"\n[[stack]]\nname = "limit"\nany = [{ signal = "steps", at_least = %d, at = "before_request", then = "force_final" }]\n'

# The stack, where its limit is in the snippet, the same setting for the driver, and the table that the driver takes it for.
HOSTS = {
    "haystack": (STOPS, r"max_agent_steps=(\d+)", lambda limit: {"max_agent_steps": limit}, "fresh"),
    "strands-agents": (STOPS, r'"turns": (\d+)', lambda limit: {"limits": {"turns": limit}}, "limits"),
    "langchain": (STOPS, r"run_limit=(\d+)", lambda limit: {"middleware": [{"type": "ModelCallLimitMiddleware", "run_limit": limit, "exit_behavior": "end"}]}, "fresh"),
    "pydantic-ai": (STOPS, r"request_limit=(\d+)", lambda limit: {"usage_limits": {"request_limit": limit}}, "fresh"),
    "openhands": (STOPS, r"max_iteration_per_run=(\d+)", lambda limit: {"max_iteration_per_run": limit, "stuck_detection": False}, "loop"),
    "camel-ai": (STOPS, r"max_iteration=(\d+)", lambda limit: {"max_iteration": limit}, "fresh"),
    "semantic-kernel": (LAST_ANSWER, r"maximum_auto_invoke_attempts = (\d+)", lambda limit: {"maximum_auto_invoke_attempts": limit}, "auto_invoke"),
    "agent-framework": (LAST_ANSWER, r'\["max_iterations"\] = (\d+)', lambda limit: {"max_iterations": limit}, "fresh"),
}


def runs(host, seed, cases):
    for nth in range(cases):
        dice = random.Random(f"{seed} {host} {nth}")
        story = fresh.Story(dice, tools=("A",), fails=0, unknown=0, blank=0, parallel=2, prompts=4)
        yield f"r{nth:04}", dice.choice([1, 2, 3, 4]), story.events


def replayed(whenstop, stack, files, folder):
    """Replies before the stop, by run: what the rows of a comparison say."""
    (folder / "stack.toml").write_text(stack)
    out = folder / "out"
    done = run.run([whenstop, "--quiet", "compare", str(files), "--stacks", str(folder / "stack.toml"), "--out", str(out)])
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    rows = csv.DictReader((out / "rows.csv").read_text().splitlines())
    return {row["run_id"]: int(row["stop_point"].split(":")[0]) for row in rows if row["stop_point"]}


def in_host(answer, events):
    """Replies before the host's first stop; None where it had no reply left to save."""
    ends = [action for action in answer["actions"] if action["kind"] in ("halt", "error", "force_final")]
    if not ends:
        return None
    replies = sum(event["role"] == "assistant" for event in events[: ends[0]["at"] + 1])
    return replies if replies < sum(event["role"] == "assistant" for event in events) else None


def check(host, entry, options):
    stack, pattern, setting, table = HOSTS[host]
    command, version, _ = run.INSTALL[entry["language"]](entry, False, options.cache)
    made, limits = list(runs(host, options.seed, options.cases)), {}
    wrong = stops = asked = 0
    with tempfile.TemporaryDirectory() as place:
        folder, expected = pathlib.Path(place), {}
        for limit in sorted({limit for _, limit, _ in made}):
            part = folder / str(limit)
            part.mkdir()
            lines = []
            for name, of, events in made:
                if of == limit:
                    lines += [{"type": "run", "run_id": name, "task_id": name}, *events]
            (part / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            expected |= replayed(options.whenstop, stack % limit, part / "runs.jsonl", part)
            printed = run.run([options.whenstop, "--quiet", "export", str(part / "stack.toml"), "--to", host, "--nearest"])
            found = re.search(pattern, printed.stdout)
            if not found:
                raise RuntimeError(f"no limit in the snippet: {(printed.stderr or printed.stdout).strip()[:200]}")
            limits[limit] = setting(int(found[1]))
        more = {"drive": "run"} if host == "openhands" else {}
        cases = [{"key": name, "id": name, "table": f"fresh/{host}/{table}", "input": {"config": limits[limit], "events": events, **more}} for name, limit, events in made]
        answers, said = run.play(command, cases, {**os.environ, **entry.get("environment", {})}, options.minutes)
    for name, limit, events in made:
        if "expected" not in answers.get(name, {}):
            continue
        asked += 1
        got, wanted = in_host(answers[name]["expected"], events), expected.get(name)
        stops += wanted is not None
        if got != wanted:
            wrong += 1
            print(f"  {host} {name}, limit {limit}: the host stops after {got} replies, the replay after {wanted}")
    prompts = sum(sum(event["role"] == "user" for event in events) > 1 for _, _, events in made)
    print(f"{host} {version}: {asked} runs ({prompts} of several prompts), {stops} early stops, {wrong} differ", flush=True)
    if not asked:
        raise RuntimeError((said.strip().splitlines() or ["no answer"])[-1])
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hosts", nargs="*")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--whenstop", default=str(HERE.parents[2] / "target" / "debug" / "whenstop"))
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache" / "whenstop-originals")
    parser.add_argument("--minutes", type=float, default=20)
    options = parser.parse_args()
    entries = {entry["name"]: entry for entry in tomllib.loads((run.HERE / "frameworks.toml").read_text())["framework"]}
    worst = 0
    for host in options.hosts or HOSTS:
        try:
            worst = max(worst, 1 if check(host, entries[host], options) else 0)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"{host}: {error}", flush=True)
            worst = 2
    return worst


if __name__ == "__main__":
    sys.exit(main())
