#!/usr/bin/env python3
"""Ask the frameworks themselves again, and hold their answers against the golden tables.

    python3 tests/originals/run.py                   # every framework that has a driver, at its pinned version
    python3 tests/originals/run.py haystack ag2      # these only
    python3 tests/originals/run.py --latest          # releases newer than those: what they answer differently is drift;
                                                     # what has no driver is looked up, by release, commit or day
    python3 tests/originals/run.py --list            # what has a driver, and what stands as of its version only

Each release is installed into an environment of its own under --cache (default: ~/.cache/whenstop-originals); what has
no release is cloned there at the pinned commit, with --mirror from local git directories, FOLDER/owner+name/repo (or a
folder there with the files themselves). A driver (`frameworks/drive-<name>.py` or `.mjs`, or a crate) reads cases `{"id": …, "table": …, "input": …}`, one a line, and prints
`{"id": …, "expected": …}` for each. What it has not answered when its time is up (--minutes) counts as no answer.
Needs Python 3.11, and Node 22 for drivers in JavaScript (fetched from npm where the machine's own is older); Cargo for goose and awaken.
No network is used but for the installation.

Exit code: 0 all answers came out again, 1 some did not, 2 something could not be installed, run or looked up.
"""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "fixtures" / "golden"


def cases_of(tables):
    """The cases of the tables, `folder/name` or all of a folder; ids are unique within a table only."""
    for pattern in tables:
        paths = sorted(path for path in GOLDEN.glob(f"{pattern}*.jsonl.gz")) if "*" in pattern else []
        whole = GOLDEN / pattern
        paths = paths or (sorted(whole.glob("*.jsonl.gz")) if whole.is_dir() else [GOLDEN / f"{pattern}.jsonl.gz"])
        for path in paths:
            table = str(path.relative_to(GOLDEN)).removesuffix(".jsonl.gz")
            for line in gzip.open(path, "rt"):
                case = json.loads(line)
                yield {**case, "table": table, "key": f"{table}#{case['id']}"}


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def failure(what, done):
    lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
    return RuntimeError(f"{what}: {lines[-1]}")


def install(home, wanted, latest, command, **more):
    """Run `command` unless `home` has what is wanted; the newest releases are looked up each time."""
    marker, text = home / "installed", " ".join(wanted)
    if latest or not marker.exists() or marker.read_text() != text:
        done = run([*command, *wanted], **more)
        if done.returncode != 0:
            raise failure(f"{' '.join(command[:1])} install {text}", done)
        marker.write_text(text)


def packages_of(entry, versions, mark):
    """The package, those whose release is pinned with it (`also`), and those it needs beside it; a version of None is
    left to the installer."""
    names = {name: f"{name}{entry.get('extras', '') if name == entry['package'] else ''}" for name in versions}
    wanted = [f"{names[name]}{mark}{version}" if version else names[name] for name, version in versions.items()]
    return wanted + entry.get("beside", [])


def install_newest(home, entry, mark, command, **more):
    """Install the newest releases; if something they need cannot be had, the newest that can, and why it is not they."""
    wanted = newest(entry)
    try:
        install(home, packages_of(entry, wanted, mark), True, command, **more)
    except RuntimeError as error:
        older = dict.fromkeys(wanted, "latest" if mark == "@" else None)
        install(home, packages_of(entry, older, mark), True, command, **more)
        return f"{versions_text(wanted)} cannot be installed: {error}"
    return ""


def versions_text(versions):
    return ", ".join(f"{name} {version or '(unknown)'}" for name, version in versions.items())


def checkout(entry, latest, cache):
    """The repository `git` at the pinned commit, or at its newest, and that commit; only the `files` of it, if any are named."""
    commit = newest_release("git", entry["git"]) if latest else entry["version"]
    folder = cache / "sources" / f"{entry['name']}-{commit}"
    plain = pathlib.Path(entry["git"])
    if plain.is_dir() and not (plain / "HEAD").exists() and not (plain / ".git").exists():
        return plain, commit
    if not folder.exists():
        begun = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(begun, ignore_errors=True)
        # `COMMIT:path` is a file as it was at another commit.
        files = [(at or commit, path) for at, _, path in (file.rpartition(":") for file in entry.get("files", []))]
        steps = [["clone", "--quiet", "--no-checkout", *(["--filter=blob:none"] if files else []), entry["git"], str(begun)]]
        steps += [["-C", str(begun), "checkout", "--quiet", str(at), "--", path] for at, path in files] or [["-C", str(begun), "checkout", "--quiet", str(commit)]]
        for step in steps:
            done = run(["git", *step])
            if done.returncode != 0:
                raise failure(f"git {step[0]} {entry['git']}", done)
        begun.rename(folder)
    return folder, commit


def mirrored(entry, mirror):
    """The entry, with its repository taken from a local mirror that has it."""
    local = mirror and "git" in entry and mirror / "+".join(entry["git"].split("/")[-2:]) / "repo"
    return {**entry, "git": str(local)} if local and local.is_dir() else entry


def python_of(entry, latest, cache):
    """An interpreter with the release; the version that is installed, and why it is not the newest."""
    home = cache / ("latest" if latest else "pinned") / entry["name"]
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([interpreter_for(entry), "-m", "venv", str(home)], check=True)
    pip = [str(python), "-m", "pip", "install", "-q"]
    driver = HERE / "frameworks" / f"drive-{entry.get('driver', entry['name'])}.py"
    if "files" in entry:
        # No package: the driver is told where they are.
        folder, commit = checkout(entry, latest, cache)
        install(home, entry.get("beside", []), False, pip)
        return ["env", f"ORIGINAL={folder}", str(python), str(driver)], commit, ""
    if "git" in entry:
        folder, commit = checkout(entry, latest, cache)
        kept = install(home, [str(folder), *entry.get("beside", [])], False, pip)
    elif latest:
        kept = install_newest(home, entry, "==", [*pip, "--upgrade"])
    else:
        kept = install(home, packages_of(entry, pinned(entry), "=="), False, pip)
    code = f"import importlib.metadata as m; print(m.version({entry['package']!r}))"
    version = run([str(python), "-c", code]).stdout.strip()
    return [str(python), str(driver)], f"{version} at {commit}" if "git" in entry else version, kept or ""


def interpreter_for(entry):
    """This Python, or a newer one where the release wants it."""
    wanted = entry.get("python", "3.11")
    if sys.version_info >= tuple(int(part) for part in wanted.split(".")):
        return sys.executable
    for folder in os.get_exec_path():
        found = shutil.which(f"python{wanted}", path=folder)
        # A version manager may have a name on the path that starts nothing.
        if found and run([found, "--version"]).returncode == 0:
            return found
    raise RuntimeError(f"{entry['name']} wants Python {wanted}; none is on the path")


def node_of(entry, latest, cache):
    home = cache / ("latest" if latest else "pinned") / entry["name"]
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "package.json").exists():
        (home / "package.json").write_text('{"private": true, "type": "module"}')
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", *entry.get("flags", [])]
    if latest:
        kept = install_newest(home, entry, "@", npm, cwd=home)
    else:
        kept = install(home, packages_of(entry, pinned(entry), "@"), False, npm, cwd=home)
    manifest = json.loads((home / "node_modules" / entry["package"] / "package.json").read_text())
    # Packages are looked up from the driver's place.
    for script in (HERE / "frameworks").glob("*.mjs"):
        (home / script.name).write_text(script.read_text())
    script = home / f"drive-{entry.get('driver', entry['name'])}.mjs"
    return [node_for(entry, cache), str(script)], manifest["version"], kept or ""


def node_for(entry, cache):
    """The machine's own Node if it is new enough, else one from npm."""
    major = entry.get("node", 22)
    own = run(["node", "--version"]).stdout.strip()
    if own and int(own.lstrip("v").split(".")[0]) >= major:
        return "node"
    home = cache / f"node-{major}"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "package.json").exists():
        (home / "package.json").write_text('{"private": true}')
    install(home, [f"node@{major}"], False, ["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=home)
    return str(home / "node_modules" / "node" / "bin" / "node")


def cargo_of(entry, latest, cache):
    """A crate of its own that uses the released ones, or files of a repository; --latest takes the newest of them."""
    home = cache / ("latest" if latest else "pinned") / entry["name"]
    shutil.copytree(HERE / entry["name"], home, dirs_exist_ok=True)
    manifest = home / "Cargo.toml"
    if "files" in entry:
        folder, commit = checkout(entry, latest, cache)
        done = run(["cargo", "build", "--quiet"], cwd=home, env={**os.environ, "ORIGINAL": str(folder)})
        if done.returncode != 0:
            raise failure("cargo build", done)
        return [str(home / "target" / "debug" / program(manifest))], commit, ""
    if latest:
        manifest.write_text(manifest.read_text().replace(f"={entry['version']}", "*"))
        run(["cargo", "update", "--quiet"], cwd=home)
    done = run(["cargo", "build", "--quiet"], cwd=home)
    if done.returncode != 0:
        raise failure("cargo build", done)
    tree = run(["cargo", "tree", "--depth", "1", "--prefix", "none"], cwd=home).stdout
    version = next(line.split()[1] for line in tree.splitlines() if line.startswith(entry["package"] + " "))
    return [str(home / "target" / "debug" / program(manifest))], version.lstrip("v"), ""


def program(manifest):
    return tomllib.loads(manifest.read_text())["package"]["name"]


def play(command, cases, environment, minutes):
    """What the driver prints within its time, by case; the rest of it is put away with all it has started."""
    lines = "".join(json.dumps({"id": case["key"], "table": case["table"], "input": case["input"]}) + "\n" for case in cases)
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as told, tempfile.TemporaryFile("w+") as said:
        given.write(lines)
        given.seek(0)
        driver = subprocess.Popen(command, stdin=given, stdout=told, stderr=said, env=environment, start_new_session=True)
        try:
            driver.wait(timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            print(f"  stopped after {minutes} minutes", flush=True)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
        told.seek(0)
        said.seek(0)
        answers = {}
        for line in told:
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                answers[answer["id"]] = answer
        return answers, said.read()


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


def pinned(entry):
    return {entry["package"]: entry["version"], **entry.get("also", {})}


def newest_release(registry, package, python=sys.executable):
    """What a registry offers as the newest; None where it does not say."""
    if registry == "pypi":
        words = run([python, "-m", "pip", "index", "versions", package]).stdout.split()
        return words[1].strip("()") if len(words) > 1 else None
    if registry == "npm":
        return run(["npm", "view", package, "version"]).stdout.strip() or None
    if registry == "crates":
        lines = run(["cargo", "info", "--quiet", package]).stdout.splitlines()
        return next((line.split()[1] for line in lines if line.startswith("version:")), None)
    # A repository: its newest commit, as long as those in the list are written.
    words = run(["git", "ls-remote", package, "HEAD"], env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}).stdout.split()
    return words[0][:7] if words else None


def newest(entry):
    """The newest releases of the package and of those pinned with it."""
    if "git" in entry:
        return {entry["package"]: newest_release("git", entry["git"])}
    registry = {"python": "pypi", "node": "npm"}.get(entry["language"])
    if registry is None:
        return {}
    python = interpreter_for(entry) if registry == "pypi" else None
    return {package: newest_release(registry, package, python) for package in pinned(entry)}


def unchanged(entry):
    return newest(entry) == pinned(entry)


def looked_up(entry):
    """The newest release or commit of what has no driver, and what that says of the version that was asked."""
    if "at" not in entry:
        return "", entry["why"]
    registry, _, place = entry["at"].partition(":")
    found = newest_release(registry, place)
    if found is None:
        return "", f"{place} could not be looked up"
    if found in entry["version"].replace(",", " ").split():
        return found, "the newest is the one that was asked"
    return found, f"has moved; {entry['why']}"


INSTALL = {"python": python_of, "node": node_of, "rust": cargo_of}


def ask(entry, latest, cache, minutes):
    command, version, kept = INSTALL[entry["language"]](entry, latest, cache)
    cases = list(cases_of(entry["tables"]))
    answers, said = play(command, cases, {**os.environ, **entry.get("environment", {})}, minutes)
    if not answers:
        raise RuntimeError((said.strip().splitlines() or ["no answer"])[-1])
    same, other, failed = 0, [], []
    for case in cases:
        answer = answers.get(case["key"])
        if answer is None or "expected" not in answer:
            failed.append((case, (answer or {}).get("failed", "no answer")))
            continue
        found = difference(case["expected"], answer["expected"])
        if found:
            other.append((case, *found))
        else:
            same += 1
    return {"version": version, "kept": kept, "cases": len(cases), "same": same, "other": other, "failed": failed}


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
    parser.add_argument("--mirror", type=pathlib.Path, help="local git directories, asked before the network")
    parser.add_argument("--minutes", type=float, default=20, help="time a driver has for all its cases")
    options = parser.parse_args()
    file = tomllib.loads((HERE / "frameworks.toml").read_text())
    file["framework"] = [mirrored(entry, options.mirror) for entry in file["framework"]]
    if options.list:
        for entry in file["framework"]:
            print(f"{entry['name']}: {entry['package']} {entry['version']} ({entry['language']})")
        for entry in file["as_of"]:
            print(f"{entry['name']}: as of {entry['version']}: {entry['why']}")
        return 0
    chosen = [entry for entry in file["framework"] if not options.names or entry["name"] in options.names]
    known = chosen + (file["as_of"] if options.latest else [])
    unknown = set(options.names) - {entry["name"] for entry in known}
    if unknown:
        parser.error(f"no driver for {', '.join(sorted(unknown))}; --list says what there is")
    code, rows, notes = 0, [], []
    for entry in chosen:
        if options.latest and entry.get("variant_of"):
            rows.append((entry["name"], entry["version"], "", "", "", f"an older release; the newest is asked as {entry['variant_of']}"))
            continue
        if options.latest and unchanged(entry):
            print(f"{entry['name']}: the newest release is the pinned one, {entry['version']}", flush=True)
            rows.append((entry["name"], entry["version"], entry["version"], "", "", "the newest is the pinned one"))
            continue
        try:
            result = ask(entry, options.latest, options.cache, options.minutes)
        except (RuntimeError, subprocess.SubprocessError, OSError) as error:
            print(f"{entry['name']}: {error}", flush=True)
            rows.append((entry["name"], entry["version"], "", "", "", str(error)))
            code = 2
            continue
        other, failed, kept = result["other"], result["failed"], result["kept"]
        if kept:
            print(f"{entry['name']}: {kept}; {result['version']} is asked instead", flush=True)
            code = 2
        print(f"{entry['name']} {result['version']}: {result['same']} of {result['cases']} come out again", flush=True)
        for case, place, wanted, got in other:
            line = f"{case['key']}: {place}: pinned {short(wanted)}, now {short(got)}"
            print("  " + line)
            notes.append((entry["name"], line))
        for case, why in failed:
            print(f"  {case['key']}: {short(why)}")
            notes.append((entry["name"], f"{case['key']}: {short(why)}"))
        rows.append((entry["name"], entry["version"], result["version"], result["cases"], result["same"], kept))
        code = max(code, 1 if other or failed else 0)
    if options.latest:
        for entry in file["as_of"]:
            if not options.names or entry["name"] in options.names:
                found, remark = looked_up(entry)
                print(f"{entry['name']}: as of {entry['version']}{f', newest {found}' if found else ''}: {remark}", flush=True)
                rows.append((entry["name"], entry["version"], found, "", "", remark))
                code = max(code, 2 if "at" in entry and not found else 0)
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
