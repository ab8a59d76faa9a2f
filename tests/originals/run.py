#!/usr/bin/env python3
"""Ask the frameworks themselves again, and hold their answers against the golden tables.

    python3 tests/originals/run.py                   # every framework that has a driver, at its pinned version
    python3 tests/originals/run.py haystack ag2      # these only
    python3 tests/originals/run.py --latest          # the newest releases: what they answer differently is drift
    python3 tests/originals/run.py --list            # what has a driver, and what stands as of its version only

Each release is installed into an environment of its own under --cache (default: ~/.cache/whenstop-originals). A driver
(`frameworks/drive-<name>.py` or `.mjs`) reads cases, one JSON object a line, and prints `{"id": …, "expected": …}` for each.
Needs Python 3.11, and Node 22 for drivers in JavaScript. No network is used but for the installation.

Exit code: 0 all answers came out again, 1 some did not, 2 something could not be installed or run.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "fixtures" / "golden"


def cases_of(folders):
    for folder in folders:
        for path in sorted((GOLDEN / folder).glob("*.jsonl.gz")):
            for line in gzip.open(path, "rt"):
                case = json.loads(line)
                case["table"] = f"{folder}/{path.name.removesuffix('.jsonl.gz')}"
                yield case


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def python_of(entry, latest, cache):
    """An interpreter with the release; the version that is installed."""
    wanted = entry["package"] if latest else f"{entry['package']}=={entry['version']}"
    home = cache / ("latest" if latest else "pinned") / entry["name"]
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    marker = home / "installed"
    if latest or not marker.exists() or marker.read_text() != wanted:
        extra = ["--upgrade"] if latest else []
        done = run([str(python), "-m", "pip", "install", "-q", *extra, wanted, *entry.get("beside", [])])
        if done.returncode != 0:
            raise RuntimeError(f"pip install {wanted}: {done.stderr.strip().splitlines()[-1]}")
        marker.write_text(wanted)
    code = f"import importlib.metadata as m; print(m.version({entry['package']!r}))"
    return [str(python)], run([str(python), "-c", code]).stdout.strip()


def node_of(entry, latest, cache):
    wanted = f"{entry['package']}@{'latest' if latest else entry['version']}"
    home = cache / ("latest" if latest else "pinned") / entry["name"]
    home.mkdir(parents=True, exist_ok=True)
    marker = home / "installed"
    if latest or not marker.exists() or marker.read_text() != wanted:
        (home / "package.json").write_text('{"private": true, "type": "module"}')
        done = run(["npm", "install", "--silent", "--no-audit", "--no-fund", wanted, *entry.get("beside", [])], cwd=home)
        if done.returncode != 0:
            raise RuntimeError(f"npm install {wanted}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        marker.write_text(wanted)
    manifest = json.loads((home / "node_modules" / entry["package"] / "package.json").read_text())
    # Packages are looked up from the driver's place.
    driver = home / f"drive-{entry['name']}.mjs"
    driver.write_text((HERE / "frameworks" / driver.name).read_text())
    return ["node", str(driver)], manifest["version"]


def difference(wanted, got, place="expected"):
    """The first place where the answer differs; fields that the table does not mention do not count."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key, value in wanted.items():
            if value is None and key not in got:
                continue
            found = difference(value, got.get(key), f"{place}.{key}")
            if found:
                return found
        return None
    if isinstance(wanted, list) and isinstance(got, list):
        for nth, (left, right) in enumerate(zip(wanted, got)):
            found = difference(left, right, f"{place}[{nth}]")
            if found:
                return found
        return None if len(wanted) == len(got) else (f"{place}.length", len(wanted), len(got))
    same = wanted == got and isinstance(wanted, bool) == isinstance(got, bool)
    return None if same else (place, wanted, got)


def ask(entry, latest, cache):
    install = node_of if entry["language"] == "node" else python_of
    command, version = install(entry, latest, cache)
    if entry["language"] != "node":
        command.append(str(HERE / "frameworks" / f"drive-{entry['name']}.py"))
    cases = list(cases_of(entry["tables"]))
    lines = "".join(json.dumps({"id": case["id"], "input": case["input"]}) + "\n" for case in cases)
    done = run(command, input=lines, env={**os.environ, **entry.get("environment", {})}, timeout=1800)
    answers = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
            answers[answer["id"]] = answer
    if not answers:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no answer"])[-1])
    same, other, failed = 0, [], []
    for case in cases:
        answer = answers.get(case["id"])
        if answer is None or "expected" not in answer:
            failed.append((case, (answer or {}).get("failed", "no answer")))
            continue
        found = difference(case["expected"], answer["expected"])
        if found:
            other.append((case, *found))
        else:
            same += 1
    return {"version": version, "cases": len(cases), "same": same, "other": other, "failed": failed}


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else text[:87] + "..."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--latest", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, help="write the table as Markdown here")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache" / "whenstop-originals")
    options = parser.parse_args()
    file = tomllib.loads((HERE / "frameworks.toml").read_text())
    if options.list:
        for entry in file["framework"]:
            print(f"{entry['name']}: {entry['package']} {entry['version']} ({entry['language']})")
        for entry in file["as_of"]:
            print(f"{entry['name']}: as of {entry['version']}: {entry['why']}")
        return 0
    chosen = [entry for entry in file["framework"] if not options.names or entry["name"] in options.names]
    unknown = set(options.names) - {entry["name"] for entry in chosen}
    if unknown:
        parser.error(f"no driver for {', '.join(sorted(unknown))}; --list says what there is")
    code, rows, notes = 0, [], []
    for entry in chosen:
        try:
            result = ask(entry, options.latest, options.cache)
        except (RuntimeError, subprocess.SubprocessError, OSError) as error:
            print(f"{entry['name']}: {error}", flush=True)
            rows.append((entry["name"], entry["version"], "", "", "", str(error)))
            code = 2
            continue
        other, failed = result["other"], result["failed"]
        print(f"{entry['name']} {result['version']}: {result['same']} of {result['cases']} come out again", flush=True)
        for case, place, wanted, got in other:
            line = f"{case['id']}: {place}: pinned {short(wanted)}, now {short(got)}"
            print("  " + line)
            notes.append((entry["name"], line))
        for case, why in failed:
            print(f"  {case['id']}: {short(why)}")
            notes.append((entry["name"], f"{case['id']}: {short(why)}"))
        rows.append((entry["name"], entry["version"], result["version"], result["cases"], result["same"], ""))
        code = max(code, 1 if other or failed else 0)
    if options.out:
        text = ["| framework | pinned | asked | cases | the same | remark |", "| --- | --- | --- | ---: | ---: | --- |"]
        text += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
        for name in dict.fromkeys(name for name, _ in notes):
            lines = [f"- `{line}`" for owner, line in notes if owner == name]
            text += ["", f"**{name}**", "", *lines[:20]]
            if len(lines) > 20:
                text.append(f"- and {len(lines) - 20} more")
        options.out.write_text("\n".join(text) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
