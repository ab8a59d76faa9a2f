"""LiteLLM: the proxy's session hooks, its budget checks, the SDK's own limit, and the code execution loop."""

import asyncio
import datetime
import json
import logging
import os
import types

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
from litellm.caching import in_memory_cache
from litellm.caching.caching import DualCache
from litellm.litellm_core_utils.get_litellm_params import get_litellm_params
from litellm.llms.litellm_proxy.skills import code_execution, sandbox_executor
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.agent_endpoints.agent_registry import global_agent_registry
from litellm.proxy.auth import auth_checks
from litellm.proxy.hooks.max_budget_per_session_limiter import (
    _PROXY_MaxBudgetPerSessionHandler,
)
from litellm.proxy.hooks.max_iterations_limiter import _PROXY_MaxIterationsHandler
from litellm.proxy.utils import InternalUsageCache, ProxyLogging
from litellm.types.agents import AgentResponse
from scripted import Script, TapeEnd, serve

logging.disable(logging.CRITICAL)
HOOKS = {"max_iterations": _PROXY_MaxIterationsHandler, "max_budget_per_session": _PROXY_MaxBudgetPerSessionHandler}
OWN = {"trace_name": "own"}


def refused(at, error, code):
    detail = getattr(error, "detail", None) or getattr(error, "message", None) or str(error)
    return {"at": at, "before_request": True, "kind": "error", "code": code, "detail": detail}


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


async def proxy(given):
    """Every assistant message is one request: the hooks in their order, then what the proxy logs of a success."""
    config, events = given["config"], given["events"]
    now = [moment("2026-01-01T00:00:00Z")]
    in_memory_cache.time = types.SimpleNamespace(time=lambda: now[0])
    for variable, key in (("LITELLM_MAX_ITERATIONS_TTL", "iterations_ttl"), ("LITELLM_MAX_BUDGET_PER_SESSION_TTL", "budget_ttl")):
        os.environ.pop(variable, None)
        if key in config:
            os.environ[variable] = str(config[key])
    global_agent_registry.agent_list = [
        AgentResponse(agent_id=name, agent_name=name, agent_card_params={"name": name}, litellm_params=params) for name, params in config.get("agents", {}).items()
    ]
    cache = InternalUsageCache(dual_cache=DualCache(default_in_memory_ttl=1))
    hooks = [HOOKS[name](cache) for name in HOOKS if name in config.get("hooks", HOOKS)]
    actions = []
    for at, event in enumerate(events):
        if event.get("ts"):
            now[0] = moment(event["ts"])
        if event["role"] != "assistant":
            continue
        own = event.get("native") or {}
        agent = own.get("agent", config.get("agent"))
        session = own.get("session_id", config.get("session_id", "s1"))
        where = own.get("where", config.get("where", "metadata"))
        known = {} if session is None else {"session_id": session}
        # The proxy writes who calls into the same field as the session.
        data = {"model": "m", "litellm_metadata" if where in ("both", "litellm_metadata") else "metadata": {**known, "agent_id": agent}}
        if where == "both":
            data["metadata"] = dict(OWN)
        key = UserAPIKeyAuth(agent_id=agent, metadata=config.get("key_metadata") or {})
        try:
            for hook in hooks:
                await hook.async_pre_call_hook(key, cache.dual_cache, data, "completion")
        except Exception as error:
            kind = getattr(error, "rate_limit_type", None)
            code = type(error).__name__ + (f":{getattr(kind, 'value', kind)}" if kind else "")
            actions.append(refused(at - 1, error, code))
            if not given.get("continue_after_halt"):
                break
            continue
        if own.get("failed"):
            continue
        logged = get_litellm_params(metadata=data.get("metadata"), litellm_metadata=data.get("litellm_metadata"))
        for hook in hooks:
            await hook.async_log_success_event({"litellm_params": logged, "response_cost": event.get("cost_usd")}, None, None, None)
    return actions


async def auth(given):
    """The checks of a key's budget and of the proxy's, before each request."""
    config, spend, actions = given["config"], given["config"].get("spend") or 0.0, []
    logging_object = ProxyLogging(user_api_key_cache=DualCache())
    for at, event in enumerate(given["events"]):
        if event["role"] != "assistant":
            continue
        try:
            if "global_max_budget" in config:
                litellm.max_budget = config["global_max_budget"]
                auth_checks._global_proxy_budget_check(spend, False, config.get("route", "/chat/completions"))
            if "max_budget" in config:
                key = UserAPIKeyAuth(token=None, key_alias="k", spend=spend, max_budget=config["max_budget"])
                await auth_checks.virtual_key_max_budget_check(key, logging_object)
        except litellm.BudgetExceededError as error:
            actions.append(refused(at - 1, error, type(error).__name__))
            break
        spend += event.get("cost_usd") or 0.0
    litellm.max_budget = 0.0
    return actions


async def sdk(given):
    config, events, actions = given["config"], given["events"], []
    litellm.max_budget, litellm._current_cost = config["max_budget"], config.get("current_cost", 0.0)
    try:
        for at, event in enumerate(events):
            if event["role"] != "assistant":
                continue
            asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}], "mock_response": event["content"]}
            try:
                if config.get("call") == "acompletion":
                    await litellm.acompletion(**asked)
                elif config.get("call") == "stream":
                    for _ in litellm.completion(**asked, stream=True):
                        pass
                else:
                    litellm.completion(**asked)
            except litellm.BudgetExceededError as error:
                actions.append(refused(at - 1, error, type(error).__name__))
                break
    finally:
        litellm.max_budget, litellm._current_cost = 0.0, 0.0
    return actions


async def code(given):
    config, script = given["config"], Script(given["events"])
    script.start(0)

    async def replayed(**asked):
        event = script.reply()
        calls = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in event.get("tool_calls") or []
        ]
        message = {"role": "assistant", "content": event["content"], "tool_calls": calls or None}
        finish = event.get("finish_reason") or ("tool_calls" if calls else "stop")
        return litellm.ModelResponse(choices=[{"index": 0, "finish_reason": finish, "message": message}])

    class Sandbox:
        def __init__(self, **more):
            pass

        def execute(self, **more):
            return {"success": True, "output": "ok", "error": "", "files": []}

    real, executor = litellm.acompletion, sandbox_executor.SkillsSandboxExecutor
    litellm.acompletion, sandbox_executor.SkillsSandboxExecutor = replayed, Sandbox
    try:
        handler = code_execution.CodeExecutionHandler(max_iterations=config.get("max_iterations"))
        outcome = await handler.execute_with_code_execution(model="m", messages=[{"role": "user", "content": "x"}], tools=[], skill_files={})
    except TapeEnd:
        return []
    finally:
        litellm.acompletion, sandbox_executor.SkillsSandboxExecutor = real, executor
    if not outcome.get("max_iterations_reached"):
        return []
    action = {"at": script.end_of_round() if script.handed else 0, "kind": "halt", "code": "max_iterations_reached"}
    return [{**action, **({} if script.handed else {"before_request": True})}]


HOW = {"proxy": proxy, "auth": auth, "sdk": sdk, "code": code}


def drive(given):
    actions = asyncio.run(HOW[given["drive"]](given))
    return {"actions": actions, "halted_at": actions[0]["at"] if actions else None}


if __name__ == "__main__":
    serve(drive)
