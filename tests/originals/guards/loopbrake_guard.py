"""loopbrake 0.6.0 (PyPI, MIT): stops past a step limit set from one's own good runs; here a stop line of 12 actions, or the first argument."""

import sys
from pathlib import Path

from loopbrake.brake import Brake
from steps import Guard, serve

STOP_LINE = int(sys.argv[1]) if len(sys.argv) > 1 else 12


class LoopBrake(Guard):
    hello = {"version": "loopbrake 0.6.0", "rules": ["stop line"]}

    def __init__(self, run):
        self.brake = Brake("guard", "guard", run["run_id"], Path(), {"stop_line": STOP_LINE}, record=False)

    def call(self, name, arguments, output, is_error):
        decision = self.brake.step(f"{name} {arguments}", output or "", tool=name)
        return {"answer": "stop", "reading": decision.step, "limit": STOP_LINE, "message": decision.reason} if decision.stop else None

serve(LoopBrake)
