"""Stops an agent of the OpenAI Agents SDK where a stack would have stopped it (openai-agents 0.x).

    try:
        result = await Runner.run(agent, "fix the test", hooks=Whenstop("stacks.toml"))
    except Stopped as stopped:
        print(stopped.decision)
"""

from agents import AgentsException, RunHooks

import whenstop


class Stopped(AgentsException):
    """A rule ended the run; no further model call was made."""

    def __init__(self, decision):
        super().__init__(f"stopped by {decision}")
        self.decision = decision


class Whenstop(RunHooks):
    """One for each run."""

    def __init__(self, stacks, stack=None):
        self.live, self.has_begun = whenstop.Live(stacks, stack), False

    async def on_llm_start(self, context, agent, system_prompt, input_items):
        if not self.has_begun:
            self.has_begun = True
            for item in input_items:
                self.live.push({"role": "user", "content": str(item.get("content", ""))})
        for decision in self.live.request():
            if decision.ends:
                raise Stopped(decision)

    async def on_llm_end(self, context, agent, response):
        calls = [item for item in response.output if item.type == "function_call"]
        texts = [part.text for item in response.output if item.type == "message" for part in item.content]
        self.live.push({
            "role": "assistant",
            "content": "".join(texts),
            "tool_calls": [{"id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls],
            "usage": {"input": response.usage.input_tokens, "output": response.usage.output_tokens},
        })

    async def on_tool_end(self, context, agent, tool, result):
        self.live.push({"role": "tool", "content": str(result), "tool_call_id": context.tool_call_id})
