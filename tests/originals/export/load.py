"""Runs a snippet of `whenstop export` inside the framework it is for, and prints what the framework took.

    python load.py HOST < SNIPPET

What a user has around the snippet (a model, a prompt, an agent) is a stand-in; the framework's classes are its own.
"""

import ast
import asyncio
import inspect
import json
import os
import sys
import tempfile
import types

os.environ.setdefault("OPENAI_API_KEY", "none")


def execute(snippet, **names):
    """Runs the snippet, which may await, among these names."""
    names["__name__"] = "snippet"
    code = compile(snippet, "snippet", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, names)
    if inspect.iscoroutine(made):
        asyncio.run(made)
    return names


class Called:
    """Stands in for an object with one method of the framework, whose own signature must take the call."""

    def __init__(self, name, method, result=None):
        self.arguments = None

        def call(*args, **kwargs):
            bound = inspect.signature(method).bind(self, *args, **kwargs)
            bound.apply_defaults()
            self.arguments = bound.arguments
            return result

        setattr(self, name, call)


async def nothing():
    return None


def openhands(snippet):
    from openhands.sdk import Agent, LLM
    from pydantic import SecretStr

    agent = Agent(llm=LLM(model="openai/stub", api_key=SecretStr("x"), usage_id="stub"), tools=[])
    made = execute(snippet, agent=agent, workspace=tempfile.mkdtemp())["conversation"]
    return {
        "max_iteration_per_run": made.max_iteration_per_run,
        "stuck_detection": made.stuck_detector is not None,
        # `Conversation(...)` takes no budget, and LocalConversation swallows names it does not know.
        "max_budget_per_run": made.max_budget_per_run,
    }


def langchain(snippet):
    import langchain.agents as agents
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

    seen, create = {}, agents.create_agent

    def recording(model, *args, **kwargs):
        for one in kwargs["middleware"]:
            seen[type(one).__name__] = [one.thread_limit, one.run_limit, one.exit_behavior]
        return create(model, *args, **kwargs)

    agents.create_agent = recording
    execute(snippet, model=GenericFakeChatModel(messages=iter([])), tools=[])
    return seen


def pydantic_ai(snippet):
    limits = execute(snippet)["usage_limits"]
    return {
        "request_limit": limits.request_limit,
        "total_tokens_limit": limits.total_tokens_limit,
        "cost_limit": str(limits.cost_limit),
    }


def smolagents(snippet):
    from smolagents import ToolCallingAgent
    from smolagents.models import Model

    agent = execute(snippet, ToolCallingAgent=ToolCallingAgent, tools=[], model=Model())["agent"]
    return {"max_steps": agent.max_steps}


def crewai(snippet):
    from crewai import Agent

    return {"max_iter": execute(snippet, Agent=Agent, role="r", goal="g", backstory="b")["agent"].max_iter}


def agentica(snippet):
    try:
        import agentica.agent.goals as goals
    except ImportError:
        import agentica.goals as goals
    from agentica.memory.session_log import SessionLog

    manager = goals.GoalManager(SessionLog("s", base_dir=tempfile.mkdtemp()))
    made = execute(snippet, manager=manager, objective="the task")["goal"]
    return {"turn_budget": made.turn_budget}


def agentao(snippet):
    from agentao import Agentao

    agent = Called("chat", Agentao.chat)
    execute(snippet, agent=agent, message="go")
    return {"max_iterations": agent.arguments["max_iterations"]}


def haystack(snippet):
    from haystack.components.agents import Agent

    class Generator:
        def run(self, messages, tools=None, **_):
            return {"replies": []}

        def to_dict(self):
            return {}

    agent = execute(snippet, Agent=Agent, chat_generator=Generator(), tools=[])["agent"]
    return {"max_agent_steps": agent.max_agent_steps}


def openai_agents(snippet):
    from agents import Runner as Original

    runner = Called("run", lambda cls, *a, **k: inspect.signature(Original.run), nothing())
    taken = {}

    def call(*args, **kwargs):
        bound = inspect.signature(Original.run).bind(*args, **kwargs)
        taken.update(bound.arguments)
        return nothing()

    runner.run = call
    execute(snippet, Runner=runner, agent=None, input="go")
    return {"max_turns": taken["max_turns"]}


def google_adk(snippet):
    return {"max_llm_calls": execute(snippet)["run_config"].max_llm_calls}


def strands_agents(snippet):
    from strands import Agent
    from strands.models.model import Model

    limits = execute(snippet)["limits"]

    class Stub(Model):
        def update_config(self, **_):
            pass

        def get_config(self):
            return {}

        async def structured_output(self, *_, **__):
            yield {}

        async def stream(self, *_, **__):
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    # Unknown names and wrong values raise a TypeError here.
    Agent(model=Stub(), callback_handler=None)("go", limits=limits)
    return limits


def ag2(snippet):
    # The two agents of the snippet, without a model.
    made = execute(snippet)
    return {"assistant": made["assistant"].max_consecutive_auto_reply()}


def autogen(snippet):
    made = execute(snippet)
    condition = made.get("termination_condition")
    taken = {"max_turns": made.get("max_turns")}
    if condition is not None:
        taken["max_total_token"] = condition.dump_component().config["max_total_token"]
    return taken


def camel_ai(snippet):
    from camel.agents import ChatAgent
    from camel.models import StubModel
    from camel.types import ModelType

    def agent(*args, **kwargs):
        return ChatAgent(*args, model=StubModel(ModelType.STUB), **kwargs)

    return {"max_iteration": execute(snippet, ChatAgent=agent, system_message="go")["agent"].max_iteration}


def llama_index(snippet):
    from llama_index.core.agent.workflow import FunctionAgent

    # `run` takes any name and hands it to the loop in its start event, which asks it for this one.
    from llama_index.core.agent.workflow.workflow_events import AgentWorkflowStartEvent

    agent = Called("run", FunctionAgent.run, nothing())
    execute(snippet, agent=agent, user_msg="go")
    event = AgentWorkflowStartEvent(**agent.arguments["kwargs"])
    return {"max_iterations": event.get("max_iterations")}


def agent_framework(snippet):
    import agent_framework
    from agent_framework import BaseChatClient

    bases = [getattr(agent_framework, name) for name in ("FunctionInvocationLayer",) if hasattr(agent_framework, name)]

    class Client(*bases, BaseChatClient):
        def _inner_get_response(self, **_):
            raise NotImplementedError

    client = Client()
    execute(snippet, client=client)
    normal = getattr(agent_framework._tools, "normalize_function_invocation_configuration", dict)
    return {"max_iterations": normal(client.function_invocation_configuration)["max_iterations"]}


def semantic_kernel(snippet):
    settings = types.SimpleNamespace()
    execute(snippet, settings=settings)
    return {"maximum_auto_invoke_attempts": settings.function_choice_behavior.maximum_auto_invoke_attempts}


def inspect_ai(snippet):
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.solver import generate

    dataset = MemoryDataset([Sample(input="go")])
    return {"turn_limit": execute(snippet, Task=Task, dataset=dataset, solver=generate())["task"].turn_limit}


def mini_swe_agent(snippet):
    import yaml
    from minisweagent.agents.default import AgentConfig

    taken = yaml.safe_load(snippet)["agent"]
    config = AgentConfig(system_template="", instance_template="", **taken)
    return {"step_limit": config.step_limit, "cost_limit": config.cost_limit}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1].replace("-", "_")](sys.stdin.read())))
