"""A scripted model on loopback, for `.ci/hosts`: it answers every request of an agent with the next line of a script.

It speaks Anthropic Messages, OpenAI chat completions and Responses, and Gemini's generateContent, streamed or not, as the
agent asks. The line of the script is the number of replies with calls since the last prompt, counted in the request itself,
so a request that is sent twice is answered alike. Every request is a line of the log: its number, the kind of reply, the
tokens. A request that offers no tools (a title, a summary) is answered with one word and logged as `side`.

Usage: hosts_model.py SCRIPT LOG PORT_FILE. SCRIPT is a JSON list of replies: a text, or a list of calls, each a list of
alternatives `[tool name, arguments]`; the first alternative whose tool the agent offers is asked for. It may be such lists
by name: `main` and `main, later` for the first prompt and those after it, and the same for `sub`, a sub-agent whose first
message holds SUBAGENT-TASK.
"""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPT, LOG, PORT_FILE = sys.argv[1:4]
LOCK = threading.Lock()
COUNT = {"requests": 0}


def script():
    with open(SCRIPT) as file:
        return json.load(file)


def note(line):
    with LOCK:
        COUNT["requests"] += 1
        line["n"] = COUNT["requests"]
        line["time"] = time.time()
        with open(LOG, "a") as file:
            file.write(json.dumps(line) + "\n")


def tokens(step):
    """The tokens of a reply: 1,000 at first, of which 600 are cached, then 50 more each step; 20 of output."""
    return {"input": 1000 + 50 * step, "cached": 600, "output": 20}


def pick(line, offered):
    """The reply of a line of the script: `(text, calls)`."""
    if isinstance(line, str):
        return line, []
    calls = []
    for alternatives in line:
        known = [one for one in alternatives if one[0] in offered]
        calls.append((known or alternatives)[0])
    return "", calls


def step_of(messages, is_prompt, n_replies):
    """How many replies with calls there are since the last prompt, and which prompt it is (from 0)."""
    step, prompt = 0, -1
    for message in messages:
        if is_prompt(message):
            # Several texts in a row (the agent's context, then the prompt) are one prompt.
            if step or prompt < 0:
                prompt += 1
            step = 0
        else:
            step += n_replies(message)
    return step, max(prompt, 0)


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        """Server-sent events; an event is `(name or None, value)`."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, value in events:
            text = f"event: {name}\n" if name else ""
            data = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(f"{text}data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.endswith("/models"):
            return self.send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})
        note({"kind": "other", "path": self.path})
        self.send(404, {"error": {"message": "not found", "type": "not_found_error"}})

    def do_POST(self):
        size = self.headers.get("Content-Length")
        raw = self.rfile.read(int(size)) if size else b"{}"
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            return self.send(200, {"input_tokens": 1000, "totalTokens": 1000})
        if path.endswith("/messages"):
            return self.answer_anthropic(body)
        if path.endswith("/chat/completions"):
            return self.answer_chat(body)
        if path.endswith("/responses"):
            return self.answer_responses(body)
        if path.endswith("enerateContent"):
            return self.answer_gemini(body, "stream" in path)
        note({"kind": "other", "path": self.path})
        self.send(404, {"error": {"message": "not found", "type": "not_found_error"}})

    def reply(self, offered, step, prompt, request):
        """The scripted reply, logged: `(text, calls, tokens, id)`."""
        if not offered:
            text, calls, kind, spent = "scripted", [], "side", {"input": 10, "cached": 0, "output": 1}
        else:
            lines = script()
            agent = request.get("agent", "main")
            if isinstance(lines, dict):
                lines = lines[agent if prompt == 0 else f"{agent}, later"]
            line = lines[step] if step < len(lines) else "Done"
            text, calls = pick(line, offered)
            kind, spent = agent, tokens(step)
        line = {"kind": kind, "prompt": prompt, "step": step, "calls": [name for name, _ in calls], **spent}
        if "--tools" in sys.argv:
            line["offered"] = sorted(offered)
            line["request"] = request.get("body")
        note(line)
        return text, calls, spent, f"r{COUNT['requests']}"

    def answer_anthropic(self, body):
        offered = {tool.get("name") for tool in body.get("tools") or []}

        def blocks(message):
            content = message.get("content")
            return [{"type": "text", "text": content}] if isinstance(content, str) else content or []

        def is_prompt(message):
            kinds = [block.get("type") for block in blocks(message)]
            return message.get("role") == "user" and "tool_result" not in kinds

        def n_replies(message):
            return int(any(block.get("type") == "tool_use" for block in blocks(message)))

        step, prompt = step_of(body.get("messages") or [], is_prompt, n_replies)
        system = json.dumps(body.get("system") or "")
        first = json.dumps((body.get("messages") or [{}])[0])
        agent = "sub" if "SUBAGENT-TASK" in first and "START-PARENT" not in first else "main"
        text, calls, spent, id_ = self.reply(offered, step, prompt, {"agent": agent, "body": {"system": system[:300], "last": (body.get("messages") or [None])[-1]}})
        content = [{"type": "text", "text": text}] if text else []
        for nth, (name, arguments) in enumerate(calls):
            content.append({"type": "tool_use", "id": f"toolu_{id_}_{nth}", "name": name, "input": arguments})
        usage = {
            "input_tokens": spent["input"] - spent["cached"],
            "cache_read_input_tokens": spent["cached"],
            "cache_creation_input_tokens": 0,
            "output_tokens": spent["output"],
        }
        reason = "tool_use" if calls else "end_turn"
        message = {
            "id": f"msg_{id_}", "type": "message", "role": "assistant", "model": body.get("model", "scripted"),
            "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage,
        }
        if not body.get("stream"):
            return self.send(200, message)
        start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        events = [("message_start", {"type": "message_start", "message": start})]
        for at, block in enumerate(content):
            if block["type"] == "text":
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append(("content_block_start", {"type": "content_block_start", "index": at, "content_block": empty}))
            events.append(("content_block_delta", {"type": "content_block_delta", "index": at, "delta": delta}))
            events.append(("content_block_stop", {"type": "content_block_stop", "index": at}))
        end = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        self.stream(events + [("message_delta", end), ("message_stop", {"type": "message_stop"})])

    def answer_chat(self, body):
        offered = {(tool.get("function") or {}).get("name") for tool in body.get("tools") or []}
        step, prompt = step_of(
            body.get("messages") or [],
            lambda message: message.get("role") == "user",
            lambda message: int(bool(message.get("tool_calls"))),
        )
        text, calls, spent, id_ = self.reply(offered, step, prompt, {"body": (body.get("messages") or [None])[-1]})
        asked = [
            {"index": nth, "id": f"call_{id_}_{nth}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for nth, (name, arguments) in enumerate(calls)
        ]
        usage = {
            "prompt_tokens": spent["input"], "completion_tokens": spent["output"],
            "total_tokens": spent["input"] + spent["output"],
            "prompt_tokens_details": {"cached_tokens": spent["cached"]},
        }
        reason = "tool_calls" if calls else "stop"
        base = {"id": f"chatcmpl-{id_}", "created": int(time.time()), "model": body.get("model", "scripted")}
        message = {"role": "assistant", "content": text or None}
        if asked:
            message["tool_calls"] = asked
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.send(200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        base["object"] = "chat.completion.chunk"
        self.stream([
            (None, {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
            (None, {**base, "choices": [], "usage": usage}),
            (None, "[DONE]"),
        ])

    def answer_responses(self, body):
        offered = {tool.get("name") or tool.get("type") for tool in body.get("tools") or []}
        items = body.get("input") or []
        called = ("function_call", "custom_tool_call", "local_shell_call")
        step, prompt = step_of(
            items if isinstance(items, list) else [],
            lambda item: item.get("role") == "user",
            # Each call of a reply is an item; the first of them has this ending.
            lambda item: int(item.get("type") in called and item.get("call_id", "").endswith("_0")),
        )
        text, calls, spent, id_ = self.reply(offered, step, prompt, {"body": items[-1:] if isinstance(items, list) else items})
        output = []
        for nth, (name, arguments) in enumerate(calls):
            item = {"id": f"fc_{id_}_{nth}", "call_id": f"call_{id_}_{nth}", "name": name, "status": "completed"}
            if isinstance(arguments, str):
                output.append({"type": "custom_tool_call", **item, "input": arguments})
            else:
                output.append({"type": "function_call", **item, "arguments": json.dumps(arguments)})
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            output.append({"type": "message", "id": f"msg_{id_}", "role": "assistant", "status": "completed", "content": [part]})
        response = {
            "id": f"resp_{id_}", "object": "response", "created_at": int(time.time()), "status": "completed",
            "model": body.get("model", "scripted"), "output": output,
            "usage": {
                "input_tokens": spent["input"], "input_tokens_details": {"cached_tokens": spent["cached"]},
                "output_tokens": spent["output"], "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": spent["input"] + spent["output"],
            },
        }
        if not body.get("stream"):
            return self.send(200, response)
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        events = [("response.created", {"type": "response.created", "sequence_number": 0, "response": begun})]
        for at, item in enumerate(output):
            for name in ("response.output_item.added", "response.output_item.done"):
                events.append((name, {"type": name, "sequence_number": len(events), "output_index": at, "item": item}))
        done = {"type": "response.completed", "sequence_number": len(events), "response": response}
        self.stream(events + [("response.completed", done)])

    def answer_gemini(self, body, streamed):
        offered = {
            declared.get("name")
            for tool in body.get("tools") or []
            for declared in tool.get("functionDeclarations") or []
        }

        def has(content, key):
            return any(key in part for part in content.get("parts") or [])

        step, prompt = step_of(
            body.get("contents") or [],
            lambda content: content.get("role") == "user" and not has(content, "functionResponse"),
            lambda content: int(content.get("role") == "model" and has(content, "functionCall")),
        )
        text, calls, spent, id_ = self.reply(offered, step, prompt, {"body": (body.get("contents") or [None])[-1]})
        wants_json = (body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
        if not calls and not offered and wants_json:
            text = json.dumps({"model_choice": "pro", "complexity_score": 50, "complexity_reasoning": "", "reasoning": ""})
        parts = [{"text": text}] if text else []
        for nth, (name, arguments) in enumerate(calls):
            parts.append({"functionCall": {"id": f"call_{id_}_{nth}", "name": name, "args": arguments}})
        answer = {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": spent["input"], "cachedContentTokenCount": spent["cached"],
                "candidatesTokenCount": spent["output"], "totalTokenCount": spent["input"] + spent["output"],
            },
            "modelVersion": "scripted", "responseId": id_,
        }
        if streamed:
            return self.stream([(None, answer)])
        self.send(200, answer)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    with open(PORT_FILE + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    import os

    os.replace(PORT_FILE + ".new", PORT_FILE)
    server.serve_forever()
