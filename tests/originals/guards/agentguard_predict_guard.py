"""agentguard-predict 0.4.1 (PyPI, MIT): a risk from 0 to 1 after each recorded step; stops above 0.8, as its README does."""

from agentguard import Guard as AgentGuard
from steps import Guard, serve

class Predict(Guard):
    hello = {"version": "agentguard-predict 0.4.1", "reads": ["texts", "errors"], "rules": ["risk"]}

    def __init__(self, run):
        self.watcher = AgentGuard(predictors=["loop", "tool_cascade"]).watch(run_id=run["run_id"])

    def call(self, name, arguments, output, is_error):
        self.watcher.record({"kind": "tool_call", "name": name, "content": arguments})
        risk = self.watcher.record({"kind": "tool_result", "name": name, "content": output or "", "error": bool(is_error)})
        return {"answer": "stop", "reading": risk, "limit": 0.8} if risk > 0.8 else None

serve(Predict)
