"""Rules beside a running agent: by themselves, and in the examples with the released packages and a scripted model.

Where a package is not installed its test is skipped: `.ci/live` installs all three.
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest

import whenstop

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

STACKS = """
[[stack]]
name = "fuse"
any = [{ signal = "call_result.streak", at_least = 3 }, { signal = "tokens.total", at_least = 1000000 }]
"""


@pytest.fixture
def stacks(tmp_path):
    (tmp_path / "stacks.toml").write_text(STACKS)
    return tmp_path / "stacks.toml"


def reply(n, tokens=10):
    call = {"id": f"c{n}", "name": "look", "arguments": {"path": "a"}}
    return {"role": "assistant", "content": None, "tool_calls": [call], "usage": {"input": tokens, "output": 1}}


def result(n, text="nothing"):
    return {"role": "tool", "content": text, "tool_call_id": f"c{n}", "is_error": False}


def test_it_stops_where_a_replay_of_the_same_events_does(stacks, tmp_path):
    live = whenstop.Live(stacks)
    events, made = [{"role": "user", "content": "find it"}], 0
    live.push(events[0])
    for n in range(9):
        if any(decision.ends for decision in live.request()):
            break
        made += 1
        for event in (reply(n), result(n, "other" if n == 1 else "nothing")):
            events.append(event)
            live.push(event)
    stop = live.stopped_by
    assert (stop.rule, stop.step, stop.at, stop.reading, stop.limit) == ("call_result.streak >= 3", 4, "after_tools", 3.0, 3.0)
    assert made == 5 and str(stop) == "call_result.streak >= 3: 3" and live.unread() == []
    lines = [{"type": "run", "run_id": "a"}, *({"type": "message", **event} for event in [*events, *[reply(9), result(9)]])]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    [row] = whenstop.compare(tmp_path / "run.jsonl", stacks=stacks).rows.to_pylist()
    assert row["stop_point"] == "4:after_tools"


def test_what_it_cannot_read_is_said(stacks, tmp_path):
    live = whenstop.Live(stacks)
    live.push({"role": "assistant", "content": "hm"})
    live.end()
    assert any("usage" in rule for rule in live.unread()), live.unread()
    with pytest.raises(whenstop.Error, match="cannot be read"):
        live.push({"role": "nobody", "content": 3})
    with pytest.raises(whenstop.Error, match="no stack is called `other`"):
        whenstop.Live(stacks, "other")
    (tmp_path / "two.toml").write_text(STACKS + STACKS.replace('"fuse"', '"second"'))
    with pytest.raises(whenstop.Error, match="which stack"):
        whenstop.Live(tmp_path / "two.toml")
    assert whenstop.Live(tmp_path / "two.toml", "second").stopped_by is None


def test_langchain_middleware(stacks):
    pytest.importorskip("langchain.agents.middleware")
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_middleware import Whenstop

    asked = []

    class Scripted(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            asked.append(len(messages))
            call = {"name": "look", "args": {"path": "a"}, "id": f"c{len(asked)}"}
            usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
            message = AIMessage("", tool_calls=[call], usage_metadata=usage)
            return ChatResult(generations=[ChatGeneration(message=message)])

    def look(path: str) -> str:
        """Looks at a path."""
        return "nothing"

    agent = create_agent(Scripted(), [look], middleware=[Whenstop(stacks)])
    for _ in range(2):
        asked.clear()
        ended = agent.invoke({"messages": [{"role": "user", "content": "find it"}]})
        assert len(asked) == 3, "the fourth call is not made, in the second run as in the first"
        assert ended["messages"][-1].text == "Stopped by call_result.streak >= 3: 3"


def test_openai_agents_hooks(stacks):
    agents = pytest.importorskip("agents")
    from openai.types.responses import ResponseFunctionToolCall
    from openai_agents_hooks import Stopped, Whenstop

    asked = []

    class Scripted(agents.Model):
        async def get_response(self, *args, **kwargs):
            asked.append(1)
            call = ResponseFunctionToolCall(
                arguments='{"path": "a"}', call_id=f"c{len(asked)}", name="look", type="function_call"
            )
            usage = agents.Usage(requests=1, input_tokens=10, output_tokens=1, total_tokens=11)
            return agents.ModelResponse(output=[call], usage=usage, response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    @agents.function_tool
    def look(path: str) -> str:
        """Looks at a path."""
        return "nothing"

    agents.set_tracing_disabled(True)
    agent = agents.Agent(name="one", model=Scripted(), tools=[look])
    hooks = Whenstop(stacks)
    with pytest.raises(Stopped, match="call_result.streak >= 3: 3"):
        asyncio.run(agents.Runner.run(agent, "find it", hooks=hooks))
    assert len(asked) == 3 and hooks.live.stopped_by.step == 2


def test_litellm_callback(stacks, monkeypatch):
    litellm = pytest.importorskip("litellm")
    from litellm_callback import Stopped, Whenstop

    callback = Whenstop(stacks)
    monkeypatch.setattr(litellm, "callbacks", [callback])

    async def session(name):
        """How many calls are made before one is refused."""
        messages, made = [{"role": "user", "content": "find it"}], 0
        while made < 9:
            call = {"id": f"c{made}", "type": "function", "function": {"name": "look", "arguments": '{"path": "a"}'}}
            try:
                answer = await litellm.acompletion(
                    model="gpt-4o", messages=messages, metadata={"session_id": name}, mock_tool_calls=[call],
                    mock_response="looking",
                )
            except Stopped:
                return made
            made += 1
            messages.append({"role": "assistant", "content": answer.choices[0].message.content, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "nothing"})
        return made

    async def both():
        return await asyncio.gather(session("one"), session("two"))

    assert asyncio.run(both()) == [3, 3]
    stop = callback.sessions["one"][0].stopped_by
    assert (stop.rule, stop.reading) == ("call_result.streak >= 3", 3.0)
    assert callback.sessions["one"][0].unread() == [], "the tokens came"
