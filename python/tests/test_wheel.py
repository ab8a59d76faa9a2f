"""What a Python user does with the wheel, and that it does what the command line does, to the byte."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whenstop
from whenstop import parts

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = REPOSITORY / "fixtures/stacks/example.toml"
STACK = '[[stack]]\nname = "three"\nany = [{ signal = "steps", at_least = 2 }]\n'


def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("whenstop")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(content(path)).hexdigest() for path in sorted(folder.iterdir())}


def content(path: Path) -> bytes:
    """The bytes of a file; of the manifest without the command line, which Python has none of."""
    if path.name != "manifest.json":
        return path.read_bytes()
    manifest = json.loads(path.read_text(encoding="utf-8"))
    made = manifest.pop("made", None)
    assert made is None or made["command"][0] == "compare"
    return json.dumps(manifest).encode()


def test_the_example_of_the_readme() -> None:
    result = whenstop.compare(REPOSITORY / "traces", stacks=EXAMPLE, max_killed=0.1)
    assert result.verdict.startswith("Ship `mixed`")
    assert result.rows.num_rows == 8 * 513
    assert pa.types.is_signed_integer(result.rows.schema.field("steps_recorded").type)
    page = result._repr_html_()
    assert "<table>" in page and "mixed" in page
    with pytest.raises(whenstop.Error, match="no page"):
        result.page()


#: Recordings, stacks, and the same options for both ways.
SAME: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("traces", "fixtures/stacks/example.toml", {}, []),
    (
        "traces/verdicts",
        "fixtures/stacks/throughput.toml",
        {"keeps": "unknown", "max_killed": 0.3, "assume": ["m1", "m2"], "embed_text": "none", "rows": "parquet"},
        ["--keeps", "unknown", "--max-killed", "0.3", "--assume", "m1", "--assume", "m2", "--embed-text", "none", "--rows", "parquet"],
    ),
    # Sessions that nobody graded, some lines of them damaged.
    ("fixtures/readers/codex", "fixtures/stacks/throughput.toml", {"unit": "round"}, ["--unit", "round"]),
    (
        "fixtures/readers/claude-code",
        "fixtures/stacks/throughput.toml",
        {"unit": "round", "outcome_from": "interrupted=failure,handover=success", "allow_unmatched_labels": True},
        ["--unit", "round", "--outcome-from", "interrupted=failure,handover=success", "--allow-unmatched-labels"],
    ),
]


@pytest.mark.parametrize(("runs", "stacks", "options", "arguments"), SAME, ids=[f"{case[0]}-{len(case[3])}" for case in SAME])
def test_the_files_are_those_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: str, stacks: str, options: dict[str, Any], arguments: list[str]
) -> None:
    # A file that is no recording is passed over in a folder, and told of where it is named, as the files of a part are.
    shutil.copytree(REPOSITORY / runs, tmp_path / "runs", ignore=shutil.ignore_patterns("*.snap", "*.md", "trial"))
    monkeypatch.chdir(tmp_path)
    runs_given, runs, stacks = runs, "runs", str(REPOSITORY / stacks)
    ended = cli("compare", runs, "--stacks", stacks, *arguments, "--out", tmp_path / "cli", "--notes")
    assert ended.returncode == 0, ended.stderr
    expected = digest(tmp_path / "cli")
    assert len(expected) > 15 and "followed.csv" in expected and "stories.jsonl" in expected
    result = whenstop.compare(runs, stacks, out=tmp_path / "wheel", **options)
    assert digest(tmp_path / "wheel") == expected
    # What is printed is what is said, words apart from where lines break.
    said = " ".join(ended.stdout.split())
    assert " ".join(result.verdict.split()) in said and " ".join(result.headline.split()) in said
    assert all(" ".join(note.split()) in said for note in result.notes)
    assert "<iframe sandbox" in result.page()._repr_html_()
    # In parts by file, made in any order: what was found in each part is in the whole.
    rows = options.pop("rows", "csv")
    tasks = parts.tasks(runs, stacks, str(tmp_path / "parts"), target_mb=0, **options)
    assert len(tasks) > 1
    for task in reversed(tasks):
        parts.make(task)
    if runs_given.startswith("fixtures/readers/"):
        # Some of these files have no call: rules on calls cannot be judged there without the others.
        with pytest.raises(whenstop.Error, match="records a call"):
            parts.merge(tasks, tmp_path / "merged", rows=rows)
        tasks = parts.tasks(runs, stacks, str(tmp_path / "part"), **options)
        parts.make(tasks[0])
    parts.merge(tasks, tmp_path / "merged", rows=rows)
    assert digest(tmp_path / "merged") == expected


def test_labels_are_taken(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    runs = REPOSITORY / "fixtures/readers/parquet/good-list.parquet"
    graded = [run["run_id"] for run in whenstop.corpus(runs)["runs"]]
    labels.write_text("run_id,success\n" + "".join(f"{run},true\n" for run in graded))
    rows = whenstop.replay(runs, STACK, labels=labels).to_pydict()
    assert rows["outcome"] == ["success"] * len(graded)
    assert [run["outcome"] for run in whenstop.corpus(runs, labels=labels)["runs"]] == ["success"] * len(graded)


def test_tuning_gives_the_stack_and_the_files_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    tuned = whenstop.tune("traces", max_killed=0.1, presets=False, out=tmp_path / "wheel")
    ended = cli("tune", "traces", "--max-killed", "0.1", "--no-presets", "--out", tmp_path / "cli")
    assert ended.returncode == 0, ended.stderr
    assert digest(tmp_path / "wheel") == digest(tmp_path / "cli")
    assert tuned.stack == (tmp_path / "wheel/tuned.toml").read_text()
    assert tuned.certificate == json.loads((tmp_path / "wheel/certificate.json").read_text())
    assert " ".join(tuned.verdict.split()) in " ".join(ended.stdout.split()) and tuned.verdict.startswith("Ship it: ")
    assert "<table>" in tuned._repr_html_() and "report.html" in str(tuned.page().path)
    # The stack is a stack like any other, and says so where its certificate does not hold.
    assert tuned.stack is not None
    others = tmp_path / "others"
    others.mkdir()
    for path in Path("traces/verdicts").glob("*.jsonl"):
        head, rest = path.read_text().split("\n", 1)
        run = {**json.loads(head), "model": "another"}
        (others / path.name).write_text(json.dumps(run) + "\n" + rest)
    elsewhere = whenstop.compare(others, tuned.stack, out=tmp_path / "elsewhere")
    assert any("does not hold for these recordings" in note and "another" in note for note in elsewhere.notes)
    tasks = parts.tasks(others, tuned.stack, str(tmp_path / "parts"), target_mb=0)
    for task in tasks:
        parts.make(task)
    parts.merge(tasks, tmp_path / "merged")
    assert digest(tmp_path / "merged") == digest(tmp_path / "elsewhere")


def test_that_nothing_can_be_recommended_is_an_answer(tmp_path: Path) -> None:
    tuned = whenstop.tune(REPOSITORY / "traces/verdicts", presets=False, out=tmp_path / "out")
    assert tuned.stack is None and tuned.verdict.startswith("Nothing can be recommended")
    assert tuned.out == tmp_path / "out" and not (tmp_path / "out/tuned.toml").exists()
    assert "<iframe sandbox" in tuned.page()._repr_html_()


def test_tables_of_runs_are_taken_as_they_are() -> None:
    path = REPOSITORY / "fixtures/readers/parquet/good-json.parquet"
    table = pq.read_table(path)
    expected = whenstop.replay(path, STACK).to_pydict()
    assert len(expected["run_id"]) == 3
    assert whenstop.replay(table, STACK).to_pydict() == expected
    assert whenstop.replay(table.combine_chunks().to_batches()[0], STACK).to_pydict() == expected
    assert whenstop.replay(table.to_pandas(), STACK).to_pydict() == expected
    renamed = table.rename_columns(["key", "why", "chat", "won"])
    rows = whenstop.replay(renamed, STACK, columns="id=key,messages=chat,outcome=won").to_pydict()
    assert rows["outcome"] == expected["outcome"] == ["success", "failure", "unknown"]
    assert len(whenstop.corpus(table)["runs"]) == 3


def test_errors_say_what_where_and_how() -> None:
    with pytest.raises(whenstop.Error) as error:
        whenstop.replay(REPOSITORY / "traces", '[[stack]]\nname = "x"\nany = [{ signal = "stepz", at_least = 2 }]\n')
    assert "stepz" in error.value.what and error.value.where == "stacks:3:19" and "steps" in error.value.help
    with pytest.raises(whenstop.Error) as error:
        whenstop.corpus("/no/such/folder")
    assert "/no/such/folder" in error.value.what and error.value.help
    with pytest.raises(whenstop.Error) as error:
        whenstop.replay(pa.table({"a": [1]}), STACK)
    assert "no recorded run" in error.value.what
    with pytest.raises(whenstop.Error) as error:
        whenstop.replay(REPOSITORY / "traces", STACK, unit="turn")  # type: ignore[arg-type]
    assert "turn" in error.value.what and "round" in error.value.help and "Usage" not in error.value.help
    with pytest.raises(whenstop.Error) as error:
        whenstop.compare(REPOSITORY / "traces", STACK, today="thre")
    assert "did you mean `three`?" in error.value.help
    with pytest.raises(TypeError, match="'units'"):
        whenstop.replay(REPOSITORY / "traces", STACK, units="round")  # type: ignore[call-arg]


def test_a_corpus_is_described() -> None:
    told = whenstop.corpus(REPOSITORY / "fixtures/readers/parquet/good-list.parquet")
    assert [run["outcome"] for run in told["runs"]] == ["success", "failure", "unknown"]
    assert json.dumps(told)


class SameCall:
    """Three steps in a row that asked for the same calls."""

    answers = ["stop"]
    rules = ["same call"]

    def __init__(self) -> None:
        self.last: list[Any] = []
        self.streak = 0

    def at(self, point: dict[str, Any], news: list[dict[str, Any]]) -> Any:
        for event in news:
            if event["type"] == "message" and event["role"] == "assistant" and "lane" not in event:
                calls = [(call["name"], json.dumps(call["arguments"], sort_keys=True)) for call in event.get("tool_calls", [])]
                self.streak = self.streak + 1 if calls and calls == self.last else min(len(calls), 1)
                self.last = calls
        return {"answer": "stop" if self.streak >= 3 else "continue", "reading": self.streak, "limit": 3}


class ShareAsked:
    """The share of the last ten calls that had been asked for before, as in the example of ``rules new --number``."""

    points = ["after_tools"]
    answers = ["reading"]
    rules = ["score"]

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    def at(self, point: dict[str, Any], news: list[dict[str, Any]]) -> Any:
        for event in news:
            if event["type"] == "message" and event["role"] == "assistant" and "lane" not in event:
                for call in event.get("tool_calls", []):
                    same = json.dumps([call["name"], call["arguments"]], sort_keys=True)
                    self.asked.append((same, any(same == before for before, _ in self.asked)))
        return {"answer": "reading", "reading": sum(is_known for _, is_known in self.asked[-10:]) / 10}


def fifth_step(events: list[dict[str, Any]], point: dict[str, Any]) -> str | None:
    replies = [event for event in events if event["type"] == "message" and event["role"] == "assistant"]
    return "stop" if len(replies) >= 5 else None


def test_a_guard_in_the_process_has_the_rows_of_the_command() -> None:
    example = subprocess.run([str(Path(sys.executable).with_name("whenstop")), "rules", "new", "--language", "python"], capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "guard.py"
        script.write_bytes(example.stdout)
        stack = f'[[stack]]\nname = "mine"\ncommand = ["{sys.executable}", "{script}"]\n'
        command = whenstop.replay(REPOSITORY / "traces", stack)
    inside = whenstop.replay(REPOSITORY / "traces", guards={"mine": SameCall})
    assert inside.num_rows == 513 and inside.equals(command)
    assert sum(point is not None for point in inside.column("stop_point").to_pylist()) > 50


def test_limits_of_a_guard_in_the_process_are_tuned_as_those_of_the_command(tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("whenstop"))
    example = subprocess.run([program, "rules", "new", "--language", "python", "--number"], capture_output=True)
    script = tmp_path / "score.py"
    script.write_bytes(example.stdout)
    asked = ["--signal", "guard:mine.score", "--limits", "0.3..0.9", "--max-killed", "0.2"]
    command = [program, "tune", REPOSITORY / "traces", "--guard", f"mine={sys.executable} {script}", *asked, "--format", "json"]
    told = json.loads(subprocess.run(command, capture_output=True).stdout)
    answer = whenstop.tune(
        REPOSITORY / "traces", guards={"mine": ShareAsked}, signal="guard:mine.score", limits="0.3..0.9", max_killed=0.2, out=tmp_path / "out"
    )
    assert answer.certificate == told and answer.verdict == told["verdict"]
    assert answer.stack is not None and "guard:mine.score" in answer.stack
    assert answer.detectors is not None and "guard:mine.score" in answer.detectors
    assert (tmp_path / "out/tuned.toml").read_text() == answer.stack
    with pytest.raises(whenstop.Error, match="has no `--limits`"):
        whenstop.tune(REPOSITORY / "traces", guards={"mine": ShareAsked}, signal="guard:mine.score")


def test_a_function_a_mistake_and_an_error() -> None:
    rows = whenstop.replay(REPOSITORY / "traces/verdicts", STACK.replace("at_least = 2", "at_least = 5"), guards={"fifth": fifth_step})
    stops = {}
    for row in rows.to_pylist():
        stops.setdefault(row["stack"], []).append(row["stop_point"])
    assert stops["three"] == stops["fifth"]

    def broken(events: list[dict[str, Any]], point: dict[str, Any]) -> None:
        raise ValueError("no such tool")

    result = whenstop.compare(REPOSITORY / "traces/verdicts", STACK, guards={"broken": broken})
    assert any("guard `broken` raised `ValueError: no such tool`; unknown on 9 runs" in message for message in result.messages)
    with pytest.raises(TypeError, match="method `at"):
        whenstop.compare(REPOSITORY / "traces/verdicts", guards={"no": int})
    with pytest.raises(whenstop.Error, match="no stack is named"):
        whenstop.compare(REPOSITORY / "traces/verdicts")
