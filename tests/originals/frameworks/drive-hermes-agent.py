"""Hermes: `AIAgent.run_conversation` against a scripted model on loopback, with its own iteration budget.

Where the recording has a sub-agent's messages, Hermes' own tool starts it, in the foreground as an orchestrating sub-agent does.
"""

import http.server
import json
import logging
import os
import tempfile
import threading

os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp())
logging.disable(logging.CRITICAL)

import run_agent
import tools.delegate_tool
from scripted import Script, TapeEnd, ToolFailed, of_sub_agent, serve, text_of

SUMMARY = "maximum number of tool-calling iterations"


delegate = tools.delegate_tool.delegate_task
tools.delegate_tool.delegate_task = lambda *given, **more: delegate(*given, **{**more, "background": False})


class Model(http.server.BaseHTTPRequestHandler):
    driven = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "m", "object": "model", "context_length": 200000}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" not in asked:
            return self.answer({})
        message, stop = Model.driven.reply(asked["messages"])
        if message is None:
            self.send_response(400)
            self.end_headers()
            return None
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        base = {"id": "r", "created": 1, "model": "m"}
        if not asked.get("stream"):
            return self.answer({**base, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage})
        delta = {**message, "tool_calls": [{"index": nth, **call} for nth, call in enumerate(message.get("tool_calls") or [])] or None}
        pieces = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(f"data: {json.dumps({**base, 'object': 'chat.completion.chunk', **piece})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        return None

    def answer(self, body):
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()


def spoken(event):
    calls = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in event.get("tool_calls") or []]
    return {"role": "assistant", "content": text_of(event["content"]), **({"tool_calls": calls} if calls else {})}, "tool_calls" if calls else "stop"


class Drive:
    def __init__(self, given):
        self.config, self.script, self.actions, self.summaries = given["config"], Script(given["events"]), [], 0
        self.said = {}

    def place(self):
        return self.script.end_of_round() if len(self.script.handed) > self.script.first else self.user

    def of_sub_agent(self, messages):
        """The next reply of the sub-agent that asks: its lane is `side:` and its goal."""
        prompt = next(str(message["content"]) for message in messages if message["role"] == "user")
        lanes = [event["lane"] for event in self.script.events if of_sub_agent(event)]
        lane = next((lane for lane in lanes if lane.removeprefix("side:") in prompt), None)
        self.said[lane] = self.said.get(lane, 0) + 1
        replies = [event for event in self.script.events if event.get("lane") == lane and event["role"] == "assistant"]
        return lane and replies[self.said[lane] - 1]

    def reply(self, messages):
        of_sub_agent = self.of_sub_agent(messages)
        if of_sub_agent:
            return spoken(of_sub_agent)
        if SUMMARY in str(messages[-1].get("content")):
            self.summaries += 1
            self.actions.append({"at": self.place(), "kind": "force_final", "code": "max_iterations_reached", "before_request": True})
            return {"role": "assistant", "content": "the summary"}, "stop"
        try:
            event = self.script.reply()
        except TapeEnd:
            return None, None
        return spoken(event)

    def result(self, name, arguments, *_, **__):
        try:
            return text_of(self.script.result(name, arguments))
        except ToolFailed as error:
            return json.dumps({"error": text_of(error.args[0])})
        except LookupError:
            return "ok"

    def run(self):
        Model.driven, script, history = self, self.script, []
        run_agent.handle_function_call = self.result
        agent = run_agent.AIAgent(
            base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="x", model="m", provider="custom", tool_delay=0, quiet_mode=True,
            skip_context_files=True, skip_memory=True, enabled_toolsets=["terminal", "file", "delegation"], **self.config,
        )
        for turn in range(len(script.users)):
            self.user, before = script.start(turn), self.summaries
            done = agent.run_conversation(text_of(script.events[self.user]["content"]), conversation_history=list(history))
            history = done.get("messages") or history
            # The table ends a session with its first summary.
            if self.summaries > before:
                break


def drive(given):
    driven = Drive(given)
    driven.run()
    return {**driven.script.answer(driven.actions), "summary_calls": driven.summaries}


if __name__ == "__main__":
    serve(drive, seconds=60)
