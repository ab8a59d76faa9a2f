"""Runs the steps of .github/workflows/whenstop.yml in a folder, as a runner would; steps that use somebody's action, and
those for pull requests alone, are named and left out."""

import os
import pathlib
import subprocess
import sys

import yaml

folder = pathlib.Path(sys.argv[1])
workflow = yaml.safe_load((folder / ".github/workflows/whenstop.yml").read_text())
summary = folder / "step-summary.md"
environment = os.environ | {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
for job in workflow["jobs"].values():
    for step in job["steps"]:
        name = step.get("name") or step["uses"]
        if "run" not in step or "pull_request" in step.get("if", ""):
            print(f"left out: {name}")
            continue
        ended = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=folder, env=environment)
        print(f"exit {ended.returncode}: {name}")
        if ended.returncode:
            sys.exit(ended.returncode)
assert summary.stat().st_size > 0, "the job has no summary"
