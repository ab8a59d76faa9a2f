"""Puts the runs of a trace file into Parquet: `table.py RUNS.jsonl OUT.parquet [COPIES]`; copies get names and tasks of their own."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema([("run_id", pa.string()), ("task_id", pa.string()), ("trace", pa.string())])


def runs(path):
    lines = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"type":"run"') and lines:
                yield lines
                lines = []
            lines.append(line)
    if lines:
        yield lines


def main(source, target, copies=1):
    with pq.ParquetWriter(target, SCHEMA, compression="zstd") as out:
        for copy in range(copies):
            batch = []
            for lines in runs(source):
                head = json.loads(lines[0])
                if copy:
                    head["run_id"] += f"-{copy}"
                    head["task_id"] += f"-{copy}"
                batch.append({"run_id": head["run_id"], "task_id": head["task_id"],
                              "trace": json.dumps(head, separators=(",", ":")) + "\n" + "".join(lines[1:]).rstrip("\n")})
                if len(batch) == 1000:
                    out.write_table(pa.Table.from_pylist(batch, SCHEMA))
                    batch = []
            if batch:
                out.write_table(pa.Table.from_pylist(batch, SCHEMA))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
