"""agent-loop-breaker-py 0.1.0 (PyPI, MIT): a window of four tool names seen three times."""

from agent_loop_breaker import detect_loop
from steps import Guard, serve

class LoopBreaker(Guard):
    hello = {"version": "agent-loop-breaker-py 0.1.0", "reads": [], "rules": ["window"]}

    def __init__(self, run):
        self.names = []

    def step(self, reply, calls):
        self.names += [{"tool": name} for name, *_ in calls]
        found = detect_loop(self.names)
        return {"answer": "stop", "reading": found.count, "limit": 3, "message": found.pattern} if found.looping else None

serve(LoopBreaker)
