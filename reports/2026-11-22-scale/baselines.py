"""What reading the same table costs with pandas and a Python fold, and with polars: `baselines.py pandas|polars FILE`.

Both count, for each run, the steps and the longest streak of the same call, which is one rule of the 60. Prints wall seconds, CPU seconds and
peak memory.
"""

import json
import resource
import sys
import time


def fold(trace):
    steps = streak = longest = 0
    last = None
    for line in trace.split("\n"):
        event = json.loads(line)
        if event.get("role") != "assistant":
            continue
        steps += 1
        for call in event.get("tool_calls") or ():
            key = (call["name"], json.dumps(call["arguments"], sort_keys=True))
            streak = streak + 1 if key == last else 1
            last, longest = key, max(longest, streak)
    return steps, longest


def main(how, path):
    begun = time.monotonic()
    if how == "pandas":
        import pandas as pd

        frame = pd.read_parquet(path)
        found = [fold(trace) for trace in frame["trace"]]
    else:
        import polars as pl

        frame = pl.scan_parquet(path).select(pl.col("trace").map_elements(lambda t: list(fold(t)), return_dtype=pl.List(pl.Int64)))
        found = [tuple(pair) for pair in frame.collect(engine="streaming")["trace"]]
    use = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"how": how, "runs": len(found), "steps": sum(steps for steps, _ in found),
                      "longest": max(longest for _, longest in found), "wall_s": round(time.monotonic() - begun, 1),
                      "cpu_s": round(use.ru_utime + use.ru_stime, 1), "peak_mb": use.ru_maxrss // 1024}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
