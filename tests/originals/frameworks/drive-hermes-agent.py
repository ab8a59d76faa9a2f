"""Hermes: `AIAgent.run_conversation` against a scripted model on loopback, with its own iteration budget."""

import http.server
import json
import logging
import os
import tempfile
import threading

os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp())
logging.disable(logging.CRITICAL)

import run_agent
from scripted import Script, TapeEnd, ToolFailed, serve

SUMMARY = "maximum number of tool-calling iterations"


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


class Drive:
    def __init__(self, given):
        self.config, self.script, self.actions, self.summaries = given["config"], Script(given["events"]), [], 0

    def place(self):
        return self.script.end_of_round() if len(self.script.handed) > self.script.first else self.user

    def reply(self, messages):
        if SUMMARY in str(messages[-1].get("content")):
            self.summaries += 1
            self.actions.append({"at": self.place(), "kind": "force_final", "code": "max_iterations_reached", "before_request": True})
            return {"role": "assistant", "content": "the summary"}, "stop"
        try:
            event = self.script.reply()
        except TapeEnd:
            return None, None
        calls = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in event.get("tool_calls") or []]
        return {"role": "assistant", "content": event["content"], **({"tool_calls": calls} if calls else {})}, "tool_calls" if calls else "stop"

    def result(self, name, arguments, *_, **__):
        try:
            return self.script.result(name, arguments)
        except ToolFailed as error:
            return json.dumps({"error": str(error)})
        except LookupError:
            return "ok"

    def run(self):
        Model.driven, script, history = self, self.script, []
        run_agent.handle_function_call = self.result
        agent = run_agent.AIAgent(
            base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="x", model="m", provider="custom", tool_delay=0, quiet_mode=True,
            skip_context_files=True, skip_memory=True, enabled_toolsets=["terminal", "file"], **self.config,
        )
        for turn in range(len(script.users)):
            self.user, before = script.start(turn), self.summaries
            done = agent.run_conversation(script.events[self.user]["content"], conversation_history=list(history))
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
