"""Makes a trace file with long tool results out of one with short ones, for the speed report.

    python3 benches/peer/longer_lines.py IN OUT MEGABYTES [COPIES]

Adds 250 to 700 random words to every tool result until OUT has MEGABYTES, then repeats all of it under other run and
task ids.
"""

import json
import random
import sys


def longer(path, limit, rnd):
    """The lines of `path` with longer results, whole runs up to `limit` bytes."""
    words = ["".join(rnd.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rnd.randint(2, 10))) for _ in range(4000)]
    size = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if size > limit and line.startswith('{"type":"run"'):
                return
            message = json.loads(line)
            if message.get("role") == "tool" and message.get("content") is not None:
                chosen = [rnd.choice(words) for _ in range(rnd.randint(250, 700))]
                rows = (" ".join(chosen[at : at + 11]) for at in range(0, len(chosen), 11))
                message["content"] += "\n" + "\n".join(rows)
                line = json.dumps(message, separators=(",", ":"), ensure_ascii=False) + "\n"
            size += len(line.encode())
            yield line


def main(path, out, megabytes, copies=1):
    """Writes the file."""
    lines = list(longer(path, int(megabytes) * 1_000_000, random.Random(5)))
    with open(out, "w", encoding="utf-8") as file:
        for copy in range(int(copies)):
            for line in lines:
                if line.startswith('{"type":"run"'):
                    for key in ("run_id", "task_id"):
                        line = line.replace(f'"{key}":"', f'"{key}":"{copy}-', 1)
                file.write(line)


main(*sys.argv[1:])
