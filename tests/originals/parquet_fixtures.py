"""Writes the small Parquet files in fixtures/readers/parquet and fixtures/parquet, with invented runs.

    pip install pyarrow==26.*
    python tests/originals/parquet_fixtures.py
"""

import json
import pathlib
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
CALL = pa.struct([("id", pa.string()), ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())]))])
MESSAGE = pa.struct([
    ("role", pa.string()), ("content", pa.string()), ("tool_calls", pa.list_(CALL)),
    ("tool_call_id", pa.string()), ("name", pa.string()),
])


def say(role, content, **more):
    return {"role": role, "content": content, "tool_calls": None, "tool_call_id": None, "name": None, **more}


def run(n, command="ls"):
    call = {"id": f"c{n}", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
    return [
        say("system", "You may use bash."),
        say("user", f"Task {n}: \"quoted\", naïve, 你好"),
        say("assistant", None, tool_calls=[call]),
        say("tool", "a.txt", tool_call_id=f"c{n}", name="bash"),
        say("assistant", "Done.", tool_calls=[]),
    ]


def write(path, columns, types, **options):
    table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    pq.write_table(table, HERE / path, **options)


def main():
    text = pa.string()
    write("readers/parquet/good-list.parquet", {
        "trajectory_id": ["a", "b", "c", "d"], "instance_id": ["t1", "t1", "t2", "t3"], "repo": ["r"] * 4,
        "trajectory": [run(1), run(2, "cat a.txt"), None, []], "exit_status": ["submitted", "exit_cost", None, ""],
        "resolved": [1, 0, None, -1],
    }, {"trajectory_id": text, "instance_id": text, "repo": text, "trajectory": pa.list_(MESSAGE),
        "exit_status": text, "resolved": pa.int64()}, row_group_size=3, compression="zstd", data_page_version="2.0")
    write("readers/parquet/good-json.parquet", {
        "trajectory_id": ["t1_run1", "t1_run2", "t2_run1"], "finish_reason": ["stop", "length", None],
        "messages": [json.dumps(run(1)), json.dumps(run(2)), json.dumps(run(3))], "reward": [1.0, 0.5, -1.0],
    }, {"trajectory_id": text, "finish_reason": text, "messages": pa.large_string(), "reward": pa.float64()},
        compression="snappy")
    steps = [
        {"src": "user", "msg": "List the files.", "tools": None, "obs": None},
        {"src": "agent", "msg": "", "tools": [{"fn": "bash", "cmd": "ls"}, {"fn": "bash", "cmd": "pwd"}], "obs": "a.txt"},
        {"src": "agent", "msg": "More.", "tools": [{"fn": "bash", "cmd": "cat a.txt"}], "obs": "$1f"},
        {"src": "agent", "msg": "Done.", "tools": None, "obs": None},
    ]
    write("readers/parquet/good-steps.parquet", {
        "task_name": ["t1", "t2", "t3"], "trial_id": ["x", "y", "z"], "model": ["m", "m", "n"], "reward": [1, 0, None],
        "input_tokens": [1000.0, None, None], "output_tokens": [50.0, None, None], "cost_cents": [1.25, None, None],
        "started_at": ["2025-11-18T23:58:57+00:00", "", None], "steps": [json.dumps(steps), "null", ""],
    }, {"task_name": text, "trial_id": text, "model": pa.dictionary(pa.int32(), text), "reward": pa.int64(),
        "input_tokens": pa.float64(), "output_tokens": pa.float64(), "cost_cents": pa.float64(), "started_at": text,
        "steps": text}, compression="gzip", use_dictionary=["model"])
    write("readers/parquet/bad-json.parquet", {
        "traj_id": ["a", "b", "c"], "instance_id": ["t1", "t2", "t3"], "resolved": [True, False, None],
        "messages": [json.dumps(run(1)), json.dumps(run(2))[:-40], '[{"role": "nobody", "content": "?"}]'],
    }, {"traj_id": text, "instance_id": text, "resolved": pa.bool_(), "messages": text}, compression="none")
    write("readers/parquet/bad-page.parquet", {
        "instance_id": ["t1", "t2", "t3", "t4"], "model_name": ["m"] * 4, "target": [True, False, None, True],
        "trajectory": [[{"role": "system", "system_prompt": "Be brief.", "text": None},
                        {"role": "user", "system_prompt": None, "text": f"Go {n}."},
                        {"role": "ai", "system_prompt": None, "text": "```\nls\n```"}] for n in range(4)],
    }, {"instance_id": text, "model_name": text, "target": pa.bool_(),
        "trajectory": pa.list_(pa.struct([("role", text), ("system_prompt", text), ("text", text)]))},
        row_group_size=2, compression="zstd")
    damaged = HERE / "readers/parquet/bad-page.parquet"
    data = bytearray(damaged.read_bytes())
    group = pq.ParquetFile(damaged).metadata.row_group(0)
    text_column = next(group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema.endswith("text"))
    at = text_column.data_page_offset + 40
    data[at:at + 8] = b"\xff" * 8
    damaged.write_bytes(bytes(data))
    langfuse()


def langfuse():
    at = lambda second: datetime(2026, 1, 1, 0, 0, second, tzinfo=timezone.utc)
    stamp, text = pa.timestamp("us", tz="UTC"), pa.string()
    pairs = pa.map_(text, text)
    types = {"id": text, "trace_id": text, "type": text, "parent_observation_id": text, "start_time": stamp,
             "end_time": stamp, "name": text, "metadata": pairs, "level": text, "status_message": text, "input": text,
             "output": text, "provided_model_name": text, "usage_details": pa.map_(text, pa.uint64()),
             "total_cost": pa.decimal128(38, 12), "trace_name": text}

    def row(id, trace, kind, second, **more):
        return {"id": id, "trace_id": trace, "type": kind, "parent_observation_id": "", "start_time": at(second),
                "end_time": at(second + 1), "name": "x", "metadata": [], "level": "DEFAULT", "status_message": "",
                "input": "", "output": "", "provided_model_name": "m", "usage_details": [], "total_cost": None,
                "trace_name": "n", **more}

    def call(id, trace, second, said):
        return row(id, trace, "GENERATION", second, input='[{"role": "user", "content": "Go."}]', total_cost=1,
                   output=json.dumps(say("assistant", said)), usage_details=[("input", 10), ("output", 2), ("total", 12)])

    windows = [
        [row("A", "A", "AGENT", 0, metadata=[("task_id", "t1")]), call("A1", "A", 1, "One."), call("B1", "B", 2, "Hello.")],
        [call("A2", "A", 5, "Two."), call("A1", "A", 1, "One, corrected."), call("C1", "C", 6, "Alone.")],
    ]
    for n, rows in enumerate(windows):
        write(f"parquet/langfuse/observations_v2/2026-01-0{n + 1}.parquet",
              {name: [one[name] for one in rows] for name in types}, types, compression="zstd")
    scores = {"id": ["1", "2", "3"], "trace_id": ["A", "B", "A"], "name": ["success", "success", "politeness"],
              "value": [1.0, 0.0, 0.3], "data_type": ["BOOLEAN"] * 2 + ["NUMERIC"], "string_value": ["True", "False", None]}
    write("parquet/langfuse/scores/2026-01-02.parquet", scores,
          {name: pa.float64() if name == "value" else text for name in scores})


if __name__ == "__main__":
    main()
