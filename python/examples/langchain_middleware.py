"""Stops a LangChain agent where a stack would have stopped it (langchain 1.x).

    agent = create_agent(model, tools, middleware=[Whenstop("stacks.toml")])
"""

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, ToolMessage

import whenstop


def event(message):
    """A message of LangChain's as an event."""
    if isinstance(message, AIMessage):
        usage = message.usage_metadata
        calls = [{"id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
        counts = usage and {"input": usage["input_tokens"], "output": usage["output_tokens"]}
        return {"role": "assistant", "content": message.text, "tool_calls": calls, **({"usage": counts} if counts else {})}
    if isinstance(message, ToolMessage):
        failed = message.status == "error"
        return {"role": "tool", "content": message.text, "tool_call_id": message.tool_call_id, "is_error": failed}
    return {"role": "system" if message.type == "system" else "user", "content": message.text}


class Whenstop(AgentMiddleware):
    """One for each agent that runs at a time: it watches one run after another."""

    def __init__(self, stacks, stack=None):
        super().__init__()
        self.stacks, self.stack = stacks, stack

    def before_agent(self, state, runtime):
        self.live, self.seen = whenstop.Live(self.stacks, self.stack), 0

    @hook_config(can_jump_to=["end"])
    def before_model(self, state, runtime):
        for message in state["messages"][self.seen :]:
            self.live.push(event(message))
        self.seen = len(state["messages"])
        for decision in self.live.request():
            if decision.ends:
                return {"jump_to": "end", "messages": [AIMessage(f"Stopped by {decision}")]}
        return None
