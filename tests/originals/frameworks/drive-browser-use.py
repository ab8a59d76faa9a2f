"""browser-use: `Agent.run` with a scripted model, a browser that shows the recorded pages, and actions with the recorded results.

What it says to the model besides is read where its message manager is told. A request that may only say done is answered with done,
or fails if the recording shows it failing (`forced_step_fails`).
"""

import asyncio
import logging
import os
import re
import tempfile

os.environ.update(
    ANONYMIZED_TELEMETRY="false", BROWSER_USE_CLOUD_SYNC="false", BROWSER_USE_LOGGING_LEVEL="result", SKIP_LLM_API_KEY_VERIFICATION="true",
    BROWSER_USE_CONFIG_DIR=tempfile.mkdtemp(), TIMEOUT_AgentEventBusStop="0.01",
)

from browser_use import Agent, BrowserProfile
from browser_use.agent.views import ActionResult
from browser_use.browser.views import BrowserStateSummary
from browser_use.dom.views import SerializedDOMState
from browser_use.llm.views import ChatInvokeCompletion
from scripted import Script, TapeEnd, serve, text_of

logging.disable(logging.CRITICAL)

NOTES = {
    "BUDGET WARNING": ("budget_warning", r"You have used (\d+)/"), "REPLAN SUGGESTED": ("replan_suggested", r"failed (\d+) consecutive"),
    "PLANNING NUDGE": ("planning_nudge", r"taken (\d+) steps"),
}
FORCED = {"You reached max_steps": "last_step_done_only", "You failed": "max_failures_done_only"}


class Page(SerializedDOMState):
    def __init__(self, page):
        super().__init__(_root=None, selector_map=dict.fromkeys(range(-page["elements"], 0)))
        self.text = page["text"]

    def llm_representation(self, include_attributes=None):
        return self.text


class Session:
    """The browser: nothing of it but the page."""

    id, cdp_url, agent_focus_target_id, llm_screenshot_size = "0000", None, "t", None
    is_reconnecting, is_cdp_connected, downloaded_files, _cached_browser_state_summary = False, True, [], None

    def __init__(self, drive):
        self.drive, self.fresh = drive, 0
        self.browser_profile = BrowserProfile(headless=True, wait_between_actions=0, keep_alive=True)

    async def get_browser_state_summary(self, **_):
        page = self.drive.script.events[self.drive.place()].get("page")
        if page is None:
            self.fresh += 1
            page = {"url": f"http://fresh/{self.fresh}", "elements": 0, "text": f"fresh {self.fresh}"}
        return BrowserStateSummary(dom_state=Page(page), url=page["url"], title="", tabs=[])

    async def get_current_page_url(self):
        return "http://x"

    async def start(self):
        pass

    wait_if_captcha_solving = kill = stop = start


class Model:
    model = model_name = name = "scripted"
    provider, _verified_api_keys = "scripted", True

    def __init__(self, drive):
        self.drive = drive

    async def ainvoke(self, messages, output_format=None, **_):
        return ChatInvokeCompletion(completion=self.drive.reply(output_format), usage=None)


class Drive:
    def __init__(self, given):
        self.config = dict(given["config"])
        self.fails = self.config.pop("forced_step_fails", False)
        self.max_steps = {"max_steps": self.config.pop("max_steps")} if "max_steps" in self.config else {}
        self.script, self.actions, self.forced, self.why = Script(given["events"]), [], False, None

    def place(self):
        return self.script.end_of_round() if self.script.handed else self.script.users[0]

    def note(self, text):
        told = {"at": self.place(), "before_request": True}
        for start, (code, number) in NOTES.items():
            if text.startswith(start):
                self.actions.append({**told, "kind": "warn", "code": code, "count": int(re.search(number, text)[1])})
        repeated = re.search(r"repeated a similar action (\d+) times in the last (\d+) actions", text)
        if repeated:
            level = next(level for level, words in ((12, "a different approach might get"), (8, "still making progress"), (5, "If this is intentional")) if words in text)
            self.actions.append({**told, "kind": "warn", "code": f"repetition_{level}", "count": int(repeated[1]), "window": int(repeated[2])})
        stagnant = re.search(r"not changed across (\d+) consecutive", text)
        if stagnant:
            self.actions.append({**told, "kind": "warn", "code": "page_stagnation", "count": int(stagnant[1])})
        for start, code in FORCED.items():
            if text.startswith(start):
                self.actions.append({**told, "kind": "force_final", "code": code})
                self.forced = True

    def reply(self, kind):
        if self.forced:
            self.forced = False
            if not self.fails:
                self.ended = True
                return kind(action=[{"done": {"text": "forced", "success": True}}])
        event = self.script.reply()
        self.calls = list(event.get("tool_calls") or [])
        if not self.calls:
            raise ValueError("Could not parse response.")
        plan = {"plan_update": event["plan_update"]} if event.get("plan_update") is not None else {}
        return kind(action=[{call["name"]: call["arguments"]} for call in self.calls], **plan)

    async def act(self, **_):
        if self.ended:
            return ActionResult(is_done=True, success=True)
        call = self.calls.pop(0)
        _, result = self.script.results[call["id"]]
        if result.get("is_error"):
            return ActionResult(error=text_of(result["content"]))
        return ActionResult(extracted_content=text_of(result["content"]), **({"is_done": True, "success": True} if call["name"] == "done" else {}))

    async def run(self):
        self.ended, task = False, text_of(self.script.events[self.script.users[0]]["content"])
        agent = Agent(task, llm=Model(self), browser_session=Session(self), use_vision=False, use_judge=False, enable_signal_handler=False, **self.config)
        agent.tools.act = self.act
        add = agent._message_manager._add_context_message
        agent._message_manager._add_context_message = lambda message: (self.note(message.content), add(message))[1]
        agent._log_agent_event = lambda max_steps, agent_run_error=None: setattr(self, "why", agent_run_error)
        try:
            await agent.run(**self.max_steps)
        except TapeEnd:
            pass
        else:
            if self.why:
                self.actions.append({"at": self.place(), "kind": "halt", "code": self.why, "before_request": True})
        return agent.state.consecutive_failures


def drive(given):
    driven = Drive(given)
    failures = asyncio.run(driven.run())
    answer = driven.script.answer(driven.actions, consecutive_failures=failures)
    # A forced last word ends the run unless the recording shows it failing.
    ends = [action["at"] for action in driven.actions if action["kind"] == ("force_final" if driven.ended else "halt")]
    answer["halted_at"] = ends[0] if ends else None
    return answer


if __name__ == "__main__":
    serve(drive)
