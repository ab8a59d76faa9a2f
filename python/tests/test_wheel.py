"""What a Python user does with the wheel."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whenstop

REPOSITORY = Path(__file__).resolve().parents[2]
STACK = '[[stack]]\nname = "three"\nany = [{ signal = "steps", at_least = 2 }]\n'


def test_the_example_of_the_readme() -> None:
    result = whenstop.compare(REPOSITORY / "traces", stacks=REPOSITORY / "fixtures/stacks/example.toml")
    assert result.verdict.startswith("Ship `mixed`")
    assert result.rows.num_rows == 8 * 513
    assert pa.types.is_signed_integer(result.rows.schema.field("steps_recorded").type)
    page = result._repr_html_()
    assert "<table>" in page and "mixed" in page


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


def test_errors_say_what_where_and_how() -> None:
    with pytest.raises(whenstop.Error) as error:
        whenstop.replay(REPOSITORY / "traces", '[[stack]]\nname = "x"\nany = [{ signal = "stepz", at_least = 2 }]\n')
    assert "stepz" in error.value.what and error.value.where and "steps" in error.value.help
    with pytest.raises(whenstop.Error) as error:
        whenstop.corpus("/no/such/folder")
    assert "/no/such/folder" in error.value.what and error.value.help
    with pytest.raises(whenstop.Error) as error:
        whenstop.replay(pa.table({"a": [1]}), STACK)
    assert "no recorded run" in error.value.what


def test_a_corpus_is_described() -> None:
    told = whenstop.corpus(REPOSITORY / "fixtures/readers/parquet/good-list.parquet")
    assert [run["outcome"] for run in told["runs"]] == ["success", "failure", "unknown", "unknown"]
    assert json.dumps(told)
