"""agent-watchdog 0.1.5 (PyPI, MIT): the same call three times in a row, or a pattern over eight calls. Its clock is off."""

from agent_watchdog import AgentWatchdog, WatchdogHalt
from steps import Guard, serve

class Watchdog(Guard):
    hello = {"version": "agent-watchdog 0.1.5", "rules": ["loop"]}

    def __init__(self, run):
        self.dog = AgentWatchdog(timeout_seconds=None)
        self.watch = self.dog.watch(run["run_id"])
        self.watch.__enter__()

    def call(self, name, arguments, output, is_error):
        try:
            self.dog.record_tool_call(name, args=arguments, output=output)
        except WatchdogHalt as halt:
            return {"answer": "stop", "reading": len(halt.report.tool_calls), "message": halt.report.message}

serve(Watchdog)
