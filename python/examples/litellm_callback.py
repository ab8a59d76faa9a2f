"""Refuses the next model call of a session that a stack has stopped (litellm 1.x, `acompletion`; also in its proxy).

    litellm.callbacks = [Whenstop("stacks.toml")]
    await litellm.acompletion(model=..., messages=messages, metadata={"session_id": "one"})
"""

from litellm.integrations.custom_logger import CustomLogger

import whenstop


class Stopped(Exception):
    """A rule ended the session; the call was not made."""

    def __init__(self, decision):
        super().__init__(f"stopped by {decision}")
        self.decision = decision


def event(message):
    """A message in OpenAI's form as an event."""
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for call in message.get("tool_calls") or []
    ]
    known = {"role": message["role"], "content": message.get("content"), "tool_calls": calls or None}
    known["tool_call_id"] = message.get("tool_call_id")
    return {key: value for key, value in known.items() if value is not None}


class Whenstop(CustomLogger):
    """For all sessions: each has its own rules, by the `session_id` of its metadata."""

    def __init__(self, stacks, stack=None):
        super().__init__()
        self.stacks, self.stack, self.sessions = stacks, stack, {}

    def session(self, kwargs):
        name = (kwargs.get("metadata") or {}).get("session_id")
        return self.sessions.setdefault(name, [whenstop.Live(self.stacks, self.stack), 0]) if name else None

    async def async_pre_call_deployment_hook(self, kwargs, call_type):
        if not (session := self.session(kwargs)):
            return None
        live, seen = session
        for message in kwargs["messages"][seen:]:
            live.push(event(message))
        session[1] = len(kwargs["messages"])
        for decision in live.request():
            if decision.ends:
                raise Stopped(decision)
        if live.stopped_by:
            raise Stopped(live.stopped_by)
        return None

    async def async_post_call_success_deployment_hook(self, request_data, response, call_type):
        if session := self.session(request_data):
            message = response.choices[0].message.model_dump()
            usage = {"input": response.usage.prompt_tokens, "output": response.usage.completion_tokens}
            session[0].push({**event(message), "usage": usage})
            session[1] += 1
