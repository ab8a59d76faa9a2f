#!/usr/bin/env python3
"""Paste exported snippets into the frameworks themselves, and see whether they take them, and what they took.

    python3 tests/originals/export/run.py                       # every framework below
    python3 tests/originals/export/run.py openhands langchain   # these only
    python3 tests/originals/export/run.py --whenstop target/release/whenstop
    python3 tests/originals/export/run.py --tuned tuned/tuned.toml     # the stack `whenstop tune` wrote, to all that can hold it

Each release is installed into an environment of its own under --cache (default: ~/.cache/whenstop-originals/export).
`load.py` (or `load.mjs`) runs the snippet that `whenstop export` printed, between stand-ins for what a user has around it
(a model, a prompt), and prints what the framework's own objects then hold: it must be the values of the stack. With
`--tuned` a framework that cannot hold the stack is named, and is no failure. No network is used but for the installation.

Run it with the newest Python that all of them take (3.12): openhands-sdk wants 3.12 or later.

Exit code: 0 all snippets were taken, with the values of the stack; 1 some were not; 2 something could not be installed.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# host, stack of stacks.toml, package and version, beside it, what the framework must say it took; more export arguments.
FRAMEWORKS = [
    ("openhands", "money", "openhands-sdk==1.58.0", [],
     {"max_iteration_per_run": 12, "stuck_detection": False, "max_budget_per_run": 2.5}, []),
    ("langchain", "calls", "langchain==1.4.7", [],
     {"ModelCallLimitMiddleware": [12, None, "end"], "ToolCallLimitMiddleware": [29, None, "end"]}, []),
    ("pydantic-ai", "budgets", "pydantic-ai-slim==2.68.0", [],
     {"request_limit": 12, "total_tokens_limit": 199999, "cost_limit": "2.5"}, []),
    ("smolagents", "last-answer", "smolagents==1.26.0", [], {"max_steps": 12}, []),
    ("crewai", "last-answer", "crewai==1.15.30", [], {"max_iter": 12}, []),
    ("agentica", "turns", "agentica==1.5.0", [], {"turn_budget": 12}, ["--nearest"]),
    ("agentao", "capped", "agentao==0.5.17", [], {"max_iterations": 12}, []),
    ("haystack", "capped", "haystack-ai==3.4.0", [], {"max_agent_steps": 12}, []),
    ("openai-agents", "capped", "openai-agents==0.24.0", [], {"max_turns": 12}, []),
    ("google-adk", "capped", "google-adk==2.13.0", [], {"max_llm_calls": 12}, []),
    ("strands-agents", "tokens", "strands-agents==1.62.0", [], {"turns": 12, "total_tokens": 200000}, []),
    ("ag2", "capped", "ag2==0.14.0", [], {"assistant": 12}, []),
    ("autogen", "tokens", "autogen-agentchat==0.7.5", [], {"max_turns": 12, "max_total_token": 200000}, []),
    ("camel-ai", "capped", "camel-ai==0.2.90", ["mcp<2"], {"max_iteration": 12}, []),
    ("llama-index", "capped", "llama-index-core==0.14.25", [], {"max_iterations": 12}, ["--nearest"]),
    ("agent-framework", "last-answer", "agent-framework-core==1.23.0", [], {"max_iterations": 12}, []),
    ("semantic-kernel", "last-answer", "semantic-kernel==1.45.0", [], {"maximum_auto_invoke_attempts": 12}, []),
    ("inspect-ai", "capped", "inspect-ai==0.3.285", [], {"turn_limit": 11}, ["--nearest"]),
    ("mini-swe-agent", "money", "mini-swe-agent==2.4.6", [], {"step_limit": 12, "cost_limit": 2.5}, []),
    ("vercel-ai", "capped", "npm:ai@7.0.173", [], {"steps": 12}, []),
    ("mastra", "tokens", "npm:@mastra/core@1.71.0", ["zod"], {"maxSteps": 12, "stopped": 2}, []),
]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def last(done):
    return ((done.stderr or done.stdout).strip().splitlines() or ["no output"])[-1]


def installed(host, package, beside, cache):
    home = cache / host
    marker = home / "installed"
    wanted = " ".join([package, *beside])
    home.mkdir(parents=True, exist_ok=True)
    if package.startswith("npm:"):
        if not marker.exists() or marker.read_text() != wanted:
            (home / "package.json").write_text('{"private": true, "type": "module"}')
            done = run(["npm", "install", "--silent", "--no-audit", "--no-fund", package[4:], *beside], cwd=home)
            if done.returncode != 0:
                raise RuntimeError(f"npm install {package[4:]}: {last(done)}")
            marker.write_text(wanted)
        loader = home / "load.mjs"
        loader.write_text((HERE / "load.mjs").read_text())
        return ["node", str(loader)]
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    if not marker.exists() or marker.read_text() != wanted:
        # uv does the same in a fraction of the time, where it is there.
        uv = shutil.which("uv")
        pip = [uv, "pip", "install", "-q", "--python", str(python)] if uv else [str(python), "-m", "pip", "install", "-q"]
        done = run([*pip, package, *beside])
        if done.returncode != 0:
            raise RuntimeError(f"pip install {package}: {last(done)}")
        marker.write_text(wanted)
    return [str(python), str(HERE / "load.py")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*")
    parser.add_argument("--whenstop", default=str(HERE.parents[2] / "target" / "debug" / "whenstop"))
    parser.add_argument("--tuned", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache/whenstop-originals/export")
    args = parser.parse_args()
    worst = 0
    for host, stack, package, beside, wanted, more in FRAMEWORKS:
        if args.hosts and host not in args.hosts:
            continue
        if args.tuned:
            what = [str(args.tuned), "--nearest"]
        else:
            what = [str(HERE / "stacks.toml"), "--stack", stack, *more]
        printed = run([args.whenstop, "--quiet", "export", *what, "--to", host])
        if args.tuned and printed.returncode == 4:
            print(f"{host:16} cannot hold it")
            continue
        if printed.returncode != 0:
            print(f"{host:16} FAIL  no export: {last(printed)}")
            worst = max(worst, 1)
            continue
        try:
            command = installed(host, package, beside, args.cache)
        except RuntimeError as error:
            print(f"{host:16} -     {error}")
            worst = 2
            continue
        # Nothing of it shall call home: where there is no network, that can take for ever.
        quiet = {"OTEL_SDK_DISABLED": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "CREWAI_DISABLE_TELEMETRY": "true",
                 "HAYSTACK_TELEMETRY_ENABLED": "False", "DO_NOT_TRACK": "1"}
        try:
            done = run([*command, host], input=printed.stdout, env={**os.environ, **quiet}, timeout=300)
        except subprocess.TimeoutExpired:
            print(f"{host:16} FAIL  no answer within 300 s  ({package})")
            worst = max(worst, 1)
            continue
        told = [line for line in done.stdout.splitlines() if line.startswith("{")]
        got = json.loads(told[-1]) if told else None
        if args.tuned:
            # The limits as they are written in the snippet, without its comments; 0 and 1000000 switch other rules off.
            written = re.sub(r"^\s*(#|//).*$", "", printed.stdout, flags=re.MULTILINE)
            limits = set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", written)) - {"0", "1000000"}
            wanted = sorted(limits)
            taken = got is not None and limits <= set(re.findall(r"\d+(?:\.\d+)?", json.dumps(got)))
        else:
            taken = got == wanted
        if taken:
            print(f"{host:16} taken {json.dumps(got)}  ({package})")
        else:
            print(f"{host:16} FAIL  wanted {json.dumps(wanted)}, got {json.dumps(got) if got else last(done)}  ({package})")
            worst = max(worst, 1)
        sys.stdout.flush()
    return worst


if __name__ == "__main__":
    sys.exit(main())
