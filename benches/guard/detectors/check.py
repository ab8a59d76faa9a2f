"""Whether a stack that reads a detector's score stops where the detector itself does.

    pip install loopbrake==0.6.0 agent-vitals==1.19.0 faultgate==0.4.1 snagtrace==0.1.0
    python3 benches/guard/detectors/check.py WHENSTOP FOLDER RECORDINGS...

Reads the recordings, files and folders of whenstop's own format, without whenstop. Calls each package as its own
documentation does, one step of the agent after the other, and asks it after each step whether the run is to be
stopped. `whenstop compare` asks the guards beside this file, each under its package's own limit. Both must stop the
same runs after the same steps. A decision after the last step stops nothing, so it counts for neither. A run that lacks
what a guard reads is not compared. FOLDER is for what is written on the way.
"""

import csv
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import agent_vitals
import faultgate.checks
import faultgate.runner
import faultgate.trace
import loopbrake
import snagtrace

GUARDS = Path(__file__).parent
ALPHAS = [0.05, 0.2]  # LoopBrake's own is the first.
REPEATS = [3, 2, 4, 5, 6]  # So is snagtrace's.


@dataclass
class Call:
    name: str
    arguments: object
    result: str
    failed: bool | None


@dataclass
class Step:
    """One reply of the agent, and its calls in the order in which their results came."""

    words: str | None
    asked: list
    tokens: int
    calls: list = field(default_factory=list)


@dataclass
class Run:
    id: str
    task: str
    success: bool | None = None
    steps: list = field(default_factory=list)


def read(path):
    """The runs of a file or folder; what happens in other conversations than the agent's is left out."""
    runs, open_calls = [], {}
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    for event in (json.loads(line) for file in files for line in file.open(encoding="utf-8")):
        if event["type"] == "run":
            runs.append(Run(event["run_id"], str(event.get("task_id") or event["run_id"])))
            open_calls = {}
        elif event["type"] == "outcome":
            runs[-1].success = event.get("success")
        elif event["type"] == "message" and event.get("lane", "main") == "main":
            if event["role"] == "assistant":
                asked, usage = event.get("tool_calls") or [], event.get("usage") or {}
                tokens = (usage.get("input") or 0) + (usage.get("output") or 0)
                runs[-1].steps.append(Step(event.get("content"), asked, tokens))
                open_calls.update({call["id"]: call for call in asked})
            elif event["role"] == "tool":
                call = open_calls[event["tool_call_id"]]
                done = Call(call["name"], call["arguments"], event["content"], event.get("is_error"))
                runs[-1].steps[-1].calls.append(done)
    return runs


class LoopBrake:
    """`loopbrake.calibrate` on the successful runs, then a brake for each run."""

    def __init__(self, runs, folder, alpha):
        self.home, self.project = folder / "loopbrake", f"alpha-{alpha}"
        recorded = folder / "loopbrake-runs.jsonl"
        with recorded.open("w", encoding="utf-8") as file:
            for run in runs:
                steps = [self.action(call) | {"tokens": 0} for step in run.steps for call in step.calls]
                names = {"group": "check", "dataset": "check", "task": run.task, "run": run.id}
                rest = {"success": run.success is True, "exit": None, "tokens_measured": False, "steps": steps}
                file.write(json.dumps(names | rest) + "\n")
        self.line = loopbrake.calibrate(recorded, project=self.project, alpha=alpha, home=self.home)["stop_line"]

    @staticmethod
    def action(call):
        return {"action": f"{call.name} {call.arguments}", "observation": call.result, "error": call.failed}

    def stops_at(self, run):
        with loopbrake.start(project=self.project, home=self.home) as brake:
            for nth, step in enumerate(run.steps):
                for call in step.calls:
                    if brake.step(f"{call.name} {call.arguments}", call.result, error=call.failed).stop:
                        return nth
        return None


def agent_vitals_stops_at(run):
    monitor = agent_vitals.AgentVitals(mission_id=run.id, workflow_type="build")
    calls, tokens = [], 0
    for nth, step in enumerate(run.steps):
        calls += step.calls
        tokens += step.tokens
        snapshot = monitor.step(
            findings_count=len({call.result for call in calls}),
            coverage_score=0.0,
            total_tokens=tokens,
            error_count=sum(call.failed is True for call in calls),
            output_text=f"{step.words} {[(call['name'], call['arguments']) for call in step.asked]}",
        )
        if snapshot.any_failure:
            return nth
    return None


def otlp_span(trace_id, nth, name, parent, status, **attributes):
    of_key = {key.replace("__", "."): {"stringValue": value} for key, value in attributes.items()}
    of_key["gen_ai.operation.name"] = {"stringValue": name}
    return {
        "traceId": trace_id,
        "spanId": f"{trace_id}-{nth}",
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(nth),
        "status": {"code": status},
        "attributes": [{"key": key, "value": value} for key, value in of_key.items()],
    }


def faultgate_stops_at(run, folder):
    """An export with one trace for each step, of what had happened by then, as `faultgate check` reads it."""
    spans = []
    for nth in range(len(run.steps)):
        trace_id = f"step-{nth}"
        spans.append(otlp_span(trace_id, 0, "invoke_agent", None, 0, gen_ai__agent__name="agent"))
        for of_trace, call in enumerate((call for step in run.steps[: nth + 1] for call in step.calls), 1):
            text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            asked = {"gen_ai__tool__name": call.name, "gen_ai__tool__call__arguments": text}
            status = 2 if call.failed else 0
            result = {"gen_ai__tool__call__result": call.result}
            spans.append(otlp_span(trace_id, of_trace, "execute_tool", f"{trace_id}-0", status, **asked, **result))
    export = folder / "export.json"
    export.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), encoding="utf-8")
    traces = faultgate.trace.load_otlp(export)
    report = faultgate.runner.run(traces, faultgate.checks.select(None))
    return min((int(trace_id.removeprefix("step-")) for trace_id in report.failed_traces), default=None)


def snagtrace_stops_at(run, repeats):
    detectors = [snagtrace.LoopDetector(window=6, min_repeats=repeats), snagtrace.ArgSchemaDetector()]
    doctor = snagtrace.Doctor(detectors=detectors)
    for nth, step in enumerate(run.steps):
        for call in step.calls:
            arguments = call.arguments if isinstance(call.arguments, dict) else {"input": call.arguments}
            status, error = ("error", call.result) if call.failed else ("ok", None)
            doctor.feed(
                snagtrace.Span(len(doctor.spans) + 1, tool=call.name, args=arguments, status=status, error=error)
            )
        if not doctor.diagnose(strict=True).is_healthy:
            return nth
    return None


def by_hand(runs, folder):
    """For each package and setting: its name, the rule that stands for it, and where it stops each run."""
    for alpha in ALPHAS:
        brake = LoopBrake(runs, folder, alpha)
        if brake.line is None:
            print(f"loopbrake, alpha {alpha}: too few successes for a line")
        else:
            yield f"loopbrake, alpha {alpha}", "loopbrake", f"more_than = {brake.line}", brake.stops_at
    yield "agent_vitals", "agent_vitals", "more_than = 0", agent_vitals_stops_at
    yield "faultgate", "faultgate", "at_least = 1", partial(faultgate_stops_at, folder=folder)
    for repeats in REPEATS:
        stops_at = partial(snagtrace_stops_at, repeats=repeats)
        yield f"snagtrace, min_repeats {repeats}", "snagtrace", f"at_least = {repeats}", stops_at


def by_whenstop(whenstop, path, detectors, folder):
    """For each stack and run: the step after which it stops, if any, or why the recording does not tell."""
    stacks, out = folder / "stacks.toml", folder / "compared"
    stacks.write_text(
        "".join(
            f'[[stack]]\nname = "{name}"\nany = [{{ signal = "guard:{guard}.score", {limit} }}]\n'
            for name, guard, limit, _ in detectors
        )
    )
    command = [whenstop, "compare", str(path), "--stacks", str(stacks), "--out", str(out), "--quiet"]
    for guard in sorted({guard for _, guard, _, _ in detectors}):
        command += ["--guard", f"{guard}={shlex.join([sys.executable, str(GUARDS / f'{guard}_score.py')])}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = {}
    with (out / "rows.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            step = row["stop_point"].removesuffix(":after_tools")
            found[row["stack"], row["run_id"]] = (int(step) if step else None, row["not_evaluable"])
    return found


def main():
    whenstop, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["LOOPBRAKE_HOME"] = str(folder / "loopbrake")
    n_differing = 0
    heads = "runs", "unread", "by hand", "whenstop", "differ"
    print(f"{'recordings':20} {'detector':26} {'limit':>14}", *(f"{head:>8}" for head in heads))
    for path in map(Path, sys.argv[3:]):
        runs = read(path)
        detectors = list(by_hand(runs, folder))
        found = by_whenstop(whenstop, path, detectors, folder)
        for name, _, limit, stops_at in detectors:
            pairs = []
            for run in runs:
                replayed, not_evaluable = found[name, run.id]
                if not not_evaluable:
                    stop = stops_at(run)
                    pairs.append((run.id, None if stop == len(run.steps) - 1 else stop, replayed))
            differing = [pair for pair in pairs if pair[1] != pair[2]]
            n_hand, n_replayed = (sum(pair[side] is not None for pair in pairs) for side in (1, 2))
            counts = len(pairs), len(runs) - len(pairs), n_hand, n_replayed, len(differing)
            print(f"{path.stem:20} {name:26} {limit:>14}", *(f"{count:8}" for count in counts), flush=True)
            for run_id, stop, replayed in differing[:3]:
                print(f"    {run_id}: by hand after {stop}, by whenstop after {replayed}")
            n_differing += len(differing)
    sys.exit(n_differing > 0)


if __name__ == "__main__":
    main()
