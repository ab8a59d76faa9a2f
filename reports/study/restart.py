#!/usr/bin/env python3
"""H7: what would one fresh try after a stop give? Writes tables/h7.csv from `whenstop bench --restart`.

    python3 restart.py --data DATA --whenstop PROGRAM

Only collections with several trials of the same model at the same task; `bench` refuses trials that are not alike, and a
refusal is a line of the table.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

from analysis import GUARDS, RULES, own_name
from bounds import holm

HERE = pathlib.Path(__file__).resolve().parent
# SWE-agent's recordings do not name their one model.
SOURCES = {"general-agentbench": [], "mlgym": [], "sweagent-lite-x3": ["--model", "path:2"]}
COLUMNS = ["half", "source", "strategy", "groups", "trials", "stopped", "success_untouched", "success_stop", "success_restart", "steps_a_success_untouched",
           "steps_a_success_stop", "steps_a_success_restart", "gain", "low", "high", "p", "adjusted", "verdict"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--whenstop", default="whenstop")
    args = parser.parse_args()
    rows = []
    for half in ("open", "held"):
        for source, options in SOURCES.items():
            command = [args.whenstop, "bench", args.data / half / source, "--stacks", "preset:all", "--stacks", HERE / "stacks.toml", "--restart", "--by", "suite",
                       "--threads", "2", "--format", "json", *options]
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(done.stderr)
            restart = json.loads(done.stdout)["restart"]
            if not restart or not restart.get("stacks"):
                rows.append({"half": half, "source": source, "verdict": "refused: " + " ".join(str((restart or {}).get("refused", done.stderr)).split())})
                continue
            for line in restart["stacks"]:
                name = own_name(line["stack"])
                # A stack that stops nothing, or that cannot be read on these recordings, has no line.
                if name not in [*GUARDS, *RULES] or not line["stopped"]:
                    continue
                row = {"half": half, "source": source, "strategy": name, **{key: line[key] for key in ("groups", "trials", "stopped")}}
                for key in ("untouched", "stop", "restart"):
                    row[f"success_{key}"], row[f"steps_a_success_{key}"] = line[key]["success"], line[key]["per_success"]
                rows.append(row | {key: line["gain"][key] for key in ("low", "high", "p")} | {"gain": line["gain"]["value"]})
        tested = [row for row in rows if row["half"] == half and row.get("p") is not None]
        for row, value in zip(tested, holm([row["p"] for row in tested])):
            row["adjusted"] = value
            row["verdict"] = "unresolved" if value > 0.05 else "more successes" if row["gain"] > 0 else "fewer successes"
    with (HERE / "tables/h7.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows([f"{value:.6g}" if isinstance(value, float) else "" if value is None else value for value in (row.get(column) for column in COLUMNS)] for row in rows)
    print(f"tables/h7.csv: {len(rows)} lines")


if __name__ == "__main__":
    main()
