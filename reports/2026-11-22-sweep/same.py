"""Says in which columns that both tables have the stacks of a sweep differ from what `compare` makes of their stack file.

    python3 same.py SWEEP/sweep.csv COMPARED/summary.csv
"""

import csv
import sys

swept, compared = ({row["stack"]: row for row in csv.DictReader(open(path))} for path in sys.argv[1:3])
assert swept.keys() == compared.keys(), "not the same stacks"
columns = [name for name in next(iter(swept.values())) if name in next(iter(compared.values()))]
differ = [(stack, name) for stack in swept for name in columns if swept[stack][name] != compared[stack][name]]
print(f"{len(swept)} stacks, {len(columns)} columns in both tables: {len(differ)} differences {differ[:3]}")
sys.exit(1 if differ else 0)
