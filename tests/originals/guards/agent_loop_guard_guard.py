"""agent-loop-guard 0.1.1 (PyPI, MIT): four detectors over the last ten calls; warns first, and stops after four hits in a row."""

from loop_guard import Action, LoopGuard
from steps import Guard, serve

ANSWERS = {Action.STOP: "stop", Action.ESCALATE: "stop", Action.WARN: "warn"}

class AgentLoopGuard(Guard):
    hello = {"version": "agent-loop-guard 0.1.1", "answers": ["stop", "warn"], "rules": ["loop"]}

    def __init__(self, run):
        self.guard = LoopGuard()

    def call(self, name, arguments, output, is_error):
        decision = self.guard.check(tool=name, args=arguments, output=output)
        if decision.action in ANSWERS:
            return {"answer": ANSWERS[decision.action], "reading": decision.confidence, "message": decision.reason}

serve(AgentLoopGuard)
