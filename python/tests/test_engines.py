"""The same rows from every way there is: threads, shards, the wheel, Ray and Spark, with a worker killed once in each engine.

The real engines are started. Run by `.ci/engines`, which installs them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import whenstop
from whenstop import parts

REPOSITORY = Path(__file__).resolve().parents[2]
STACKS = str(REPOSITORY / "fixtures/stacks/example.toml")
SHARDS = 6


def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("whenstop")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def done(*arguments: object) -> None:
    ended = cli(*arguments)
    assert ended.returncode == 0, ended.stderr


def digest(folder: Path) -> dict[str, str]:
    """A hash of each file; of the manifest without the command that made it, which only a command line has."""
    found = {}
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        if path.name == "manifest.json":
            manifest = json.loads(content)
            manifest.pop("made", None)
            content = json.dumps(manifest).encode()
        found[path.name] = hashlib.sha256(content).hexdigest()
    return found


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "runs"
    done("convert", REPOSITORY / "traces", "--to", "parquet", "--shards", SHARDS, "--out", folder)
    assert len(list(folder.glob("*.parquet"))) == SHARDS
    return folder


@pytest.fixture(scope="session")
def whole(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole") / "out"
    done("compare", runs, "--stacks", STACKS, "--out", folder, "--threads", 2)
    found = digest(folder)
    print("rows.csv", found["rows.csv"])
    return found


class Kill:
    """Makes parts, but kills the worker at one of them: the first time, or every time."""

    def __init__(self, number: int, flag: Path | None) -> None:
        self.number, self.flag = number, flag

    def __call__(self, task: parts.Task) -> int:
        if task.number == self.number and not (self.flag and self.flag.exists()):
            if self.flag:
                self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return parts.make(task)


def by_value() -> None:
    """Workers do not have this file: what is of it travels with the task."""
    import cloudpickle
    from pyspark import cloudpickle as of_spark
    from ray import cloudpickle as of_ray

    for pickler in (cloudpickle, of_spark, of_ray):
        pickler.register_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(runs: Path, whole: dict[str, str], tmp_path: Path, threads: int) -> None:
    done("compare", runs, "--stacks", STACKS, "--out", tmp_path / "out", "--threads", threads)
    assert digest(tmp_path / "out") == whole


@pytest.mark.parametrize("of", [1, 2, 7])
def test_shards(runs: Path, whole: dict[str, str], tmp_path: Path, of: int) -> None:
    for number in range(1, of + 1):
        done("compare", runs, "--stacks", STACKS, "--shard", f"{number}/{of}", "--out", tmp_path / f"parts/{number}")
    done("report", tmp_path / "parts", "--out", tmp_path / "out")
    assert digest(tmp_path / "out") == whole


def test_wheel(runs: Path, whole: dict[str, str], tmp_path: Path) -> None:
    result = whenstop.compare(runs, STACKS, out=tmp_path / "out")
    assert digest(tmp_path / "out") == whole
    assert result.rows.num_rows == 8 * 513 and "of these 8" in result.verdict
    tasks = parts.tasks(runs, STACKS, str(tmp_path / "parts"), target_mb=0.001)
    assert [task.of for task in tasks] == [SHARDS] * SHARDS
    for task in reversed(tasks):
        parts.make(task)
    parts.merge(tasks, tmp_path / "merged")
    assert digest(tmp_path / "merged") == whole


def test_a_missing_a_doubled_and_a_torn_part_are_named(runs: Path, tmp_path: Path) -> None:
    def refused(what: str, help: str) -> None:
        with pytest.raises(whenstop.Error) as error:
            whenstop.merge(tmp_path / "parts", tmp_path / "out")
        assert what in error.value.what and help in error.value.help
        ended = cli("report", tmp_path / "parts", "--out", tmp_path / "out")
        assert ended.returncode == 3 and what in ended.stderr, ended.stderr
        assert not (tmp_path / "out").exists()

    tasks = parts.tasks(runs, STACKS, str(tmp_path / "parts"), target_mb=0.001)
    for task in tasks[1:]:
        parts.make(task)
    refused(f"1 of {SHARDS} parts missing: 1/{SHARDS}", "make them again")
    parts.make(tasks[0])
    (tmp_path / "parts/part-1").rename(tmp_path / "parts/x")
    parts.make(tasks[0])
    refused(f"part 1/{SHARDS} is doubled", "remove one")
    rows = tmp_path / "parts/x/rows.parquet"
    rows.write_bytes(rows.read_bytes()[:-9])
    refused("`rows.parquet` has", "make this part again")


@pytest.fixture(scope="session")
def ray_cluster():
    import ray

    by_value()
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    yield
    ray.shutdown()


def test_ray(ray_cluster: None, runs: Path, whole: dict[str, str], tmp_path: Path) -> None:
    import whenstop.ray

    whenstop.ray.compare(runs, STACKS, tmp_path / "out", target_mb=0.001)
    assert digest(tmp_path / "out") == whole


def test_ray_worker_killed_once(ray_cluster: None, runs: Path, whole: dict[str, str], tmp_path: Path) -> None:
    import whenstop.ray

    flag = tmp_path / "killed"
    whenstop.ray.compare(runs, STACKS, tmp_path / "out", target_mb=0.001, make=Kill(5, flag))
    assert flag.exists() and digest(tmp_path / "out") == whole


def test_ray_part_that_kills_every_worker(ray_cluster: None, runs: Path, tmp_path: Path) -> None:
    import whenstop.ray

    with pytest.raises(whenstop.Error, match=f"part 5 of {SHARDS}.*died 2 times.*runs-00005") as error:
        whenstop.ray.compare(runs, STACKS, tmp_path / "out", target_mb=0.001, max_retries=1, make=Kill(5, None))
    assert "the other 5 parts are complete" in error.value.help
    assert len(list((tmp_path / "out-parts").iterdir())) == SHARDS - 1 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"max_killed": 0.3, "today": "preset:openhands"}, {"certificate.json", "tune.csv"}),
        ({"max_killed": 0.9, "signal": "steps", "limits": "5..60"}, {"tuned.toml", "summary.csv", "detector.svg"}),
    ],
)
def test_ray_search_with_a_worker_killed_once(
    ray_cluster: None, runs: Path, tmp_path: Path, asked: dict[str, object], expected: set[str]
) -> None:
    import whenstop.ray

    whole = whenstop.tune(runs, out=tmp_path / "whole", **asked)
    flag = tmp_path / "killed"
    answer = whenstop.ray.tune(runs, tmp_path / "out", target_mb=0.001, make=Kill(5, flag), **asked)
    assert flag.exists() and (answer.verdict, answer.table, answer.certificate) == (whole.verdict, whole.table, whole.certificate)
    written = sorted(path.name for path in (tmp_path / "out").glob("[!.]*"))
    assert expected <= set(written)
    for name in written:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    by_value()
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_spark(spark, runs: Path, whole: dict[str, str], tmp_path: Path) -> None:
    import whenstop.spark

    whenstop.spark.compare(spark, runs, STACKS, tmp_path / "out", target_mb=0.001)
    assert digest(tmp_path / "out") == whole


def test_spark_worker_killed_once(spark, runs: Path, whole: dict[str, str], tmp_path: Path) -> None:
    import whenstop.spark

    flag = tmp_path / "killed"
    whenstop.spark.compare(spark, runs, STACKS, tmp_path / "out", target_mb=0.001, make=Kill(5, flag))
    assert flag.exists() and digest(tmp_path / "out") == whole


def test_spark_part_that_kills_every_worker(spark, runs: Path, tmp_path: Path) -> None:
    import whenstop.spark

    with pytest.raises(whenstop.Error, match=f"part 5 of {SHARDS}.*runs-00005") as error:
        whenstop.spark.compare(spark, runs, STACKS, tmp_path / "out", target_mb=0.001, make=Kill(5, None))
    assert "the other 5 parts are complete" in error.value.help


def test_object_store(runs: Path, whole: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        query = f"?endpoint_override={host}:{port}&scheme=http&region=us-east-1&allow_bucket_creation=true"
        from pyarrow import fs

        store, _ = fs.FileSystem.from_uri(f"s3://bucket/{query}")
        store.create_dir("bucket")
        fs.copy_files(str(runs), "bucket/runs", source_filesystem=fs.LocalFileSystem(), destination_filesystem=store)
        tasks = parts.tasks(f"s3://bucket/runs{query}", STACKS, str(tmp_path / "parts"), target_mb=0.001)
        assert len(tasks) == SHARDS
        for task in tasks:
            parts.make(task)
        parts.merge(tasks, tmp_path / "out")
        assert digest(tmp_path / "out") == whole
    finally:
        server.stop()
