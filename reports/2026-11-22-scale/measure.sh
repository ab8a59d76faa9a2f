#!/usr/bin/env bash
# `measure.sh WHENSTOP PYTHON FOLDER`: 100,000 generated runs in Parquet under 60 strategies, twice as many, and the same table read with pandas
# and with polars. Prints wall and CPU seconds and peak memory. PYTHON needs pyarrow, pandas and polars.
set -euo pipefail
whenstop=$1 python=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
[ -f "$folder/runs.jsonl" ] || "$whenstop" synth --runs 100000 --seed 18 --out "$folder/runs.jsonl"
[ -f "$folder/once.parquet" ] || "$python" "$here/table.py" "$folder/runs.jsonl" "$folder/once.parquet" 1
[ -f "$folder/twice.parquet" ] || "$python" "$here/table.py" "$folder/runs.jsonl" "$folder/twice.parquet" 2
# 60 strategies: one rule at 60 limits and of several kinds.
"$python" - > "$folder/stacks.toml" <<'STACKS'
kinds = ["steps", "call.streak", "call_result.streak", "errors.streak", "tokens.total", "elapsed"]
limits = {"tokens.total": [2000 * n for n in range(1, 11)], "elapsed": [30 * n for n in range(1, 11)]}
for kind in kinds:
    for limit in limits.get(kind, range(2, 12)):
        print(f'[[stack]]\nname = "{kind}-{limit}"\nany = [{{ signal = "{kind}", at_least = {limit} }}]')
STACKS
run() {
    "$python" - "$@" <<'RUN'
import resource, subprocess, sys, time
begun = time.monotonic()
name, command = sys.argv[1], sys.argv[2:]
ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{name:34} exit {ended.returncode}  wall {time.monotonic() - begun:7.1f} s  CPU {use.ru_utime + use.ru_stime:7.1f} s  peak {use.ru_maxrss // 1024:6d} MB",
      flush=True)
if ended.returncode:
    print(ended.stderr[-2000:])
RUN
}
run "read, 100,000 runs" "$whenstop" corpus "$folder/once.parquet" --quiet
run "60 strategies, 100,000 runs" "$whenstop" compare "$folder/once.parquet" --stacks "$folder/stacks.toml" --quiet
run "the same, to a part" "$whenstop" compare "$folder/once.parquet" --stacks "$folder/stacks.toml" --quiet --shard 1/1 --out "$folder/part"
run "the same, rows as Parquet" "$whenstop" compare "$folder/once.parquet" --stacks "$folder/stacks.toml" --quiet --rows parquet --out "$folder/out"
run "60 strategies, 200,000 runs" "$whenstop" compare "$folder/twice.parquet" --stacks "$folder/stacks.toml" --quiet
"$python" "$here/baselines.py" polars "$folder/once.parquet"
"$python" "$here/baselines.py" pandas "$folder/once.parquet"
