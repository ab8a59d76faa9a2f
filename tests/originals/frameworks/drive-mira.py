"""Auto mode of a released `mira-engine` wheel: its own decision functions, projects on disk, and the whole loop with scripted runs."""

import asyncio
import importlib.metadata
import json
import logging
import math
import os
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

logging.disable(logging.CRITICAL)
os.environ.setdefault("OPENAI_API_KEY", "x")
from loguru import logger

logger.remove()

VERSION = importlib.metadata.version("mira-engine")
IS_02 = VERSION.startswith("0.2")
if IS_02:
    from mira_engine.agent.loop import AgentLoop as Loop
else:
    from mira_engine.agent.research_loop import ResearchAgentLoop as Loop
from mira_engine.bus.events import InboundMessage
from mira_engine.bus.queue import MessageBus

CHANNEL = "web" if IS_02 else "ui"


def loop(workspace):
    provider = MagicMock()
    provider.get_default_model.return_value = "stub"
    return Loop(bus=MessageBus(), provider=provider, workspace=Path(workspace), model="stub")


class Project:
    """A scratch project folder."""

    def __init__(self, meta, extra):
        self.scratch = tempfile.TemporaryDirectory()
        self.path = Path(self.scratch.name) / "project"
        self.path.mkdir()
        if meta is not None:
            (self.path / ".mira").mkdir(exist_ok=True)
            (self.path / ".mira" / "project.json").write_text(json.dumps(meta), encoding="utf-8")
        for name, content in extra.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")

    def write(self, made):
        target = self.path / "task_plan.json"
        if made is None:
            target.unlink(missing_ok=True)
        elif isinstance(made, dict) and "raw_text" in made:
            target.write_text(made["raw_text"], encoding="utf-8")
        else:
            target.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")


def reduced(made):
    if made is None:
        return None
    listed = made.get("experiments")
    kept = [{key: item[key] for key in ("id", "status", "conclusion") if key in item} for item in listed if isinstance(item, dict)] if isinstance(listed, list) else None
    return {"status": made.get("status"), "current_experiment": made.get("current_experiment"), "experiments": kept}


def issues_of(asked):
    cut = "failed to parse task_plan.json"
    return [cut if issue.startswith(cut) else issue for issue in getattr(asked, "_last_task_plan_guard_issues", [])]


def finite(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


def continuation(asked, given, project):
    common = {"run_mode": given["run_mode"], "project_dir": str(project.path) if given["has_project_dir"] else None, "final_content": given["final_content"],
              "auto_round": given["auto_round"], "agent_profile": given["agent_profile"] or None}
    parsed = Loop._parse_automation_policy(given["policy"])
    if IS_02:
        return asked._should_continue_auto_web(channel="web", **common), None
    return asked._evaluate_continuation(**common, automation_policy=parsed, tokens_used=given["tokens_used"])


def decide(given):
    project = Project(given["project_meta"], given["files"])
    project.write(given["plan"])
    asked = loop(project.scratch.name)
    goes_on, reason = continuation(asked, given, project)
    return {"continue": goes_on, "stop_reason": reason, "guard_issues": issues_of(asked), "plan_after": reduced(Loop._load_task_plan(str(project.path)))}


def round_of(given):
    project = Project(given["project_meta"], given["files"])
    project.write(given["plan"])
    asked = loop(project.scratch.name)
    where = str(project.path) if given["has_project_dir"] else None
    if given["run_mode"] == "auto":
        parsed = Loop._parse_automation_policy(given["policy"])
        reason = Loop._evaluate_automation_stop_policy(parsed, plan=Loop._load_task_plan(where), tokens_used=given["tokens_used"])
        if reason:
            return {"continue": False, "stop_reason": reason, "prefix": "auto-run stop condition: "}
    goes_on, reason = continuation(asked, given, project)
    return {"continue": goes_on, "stop_reason": reason, "prefix": "auto-run stop reason: " if reason else None}


KINDS = [("auto-run round", "continue"), ("auto-run checkpoint repair", "checkpoint_repair"), ("auto-run guardrail repair", "guardrail_repair"), ("auto-run strict contract", "strict_contract_repair")]


class OutOfScript(Exception):
    pass


async def message(given):
    project = Project(given["project_meta"], given["files"])
    project.write(given["plan_before"])
    asked = loop(project.scratch.name)
    progress, runs = [], []

    async def on_progress(content, **_):
        if content.startswith("auto-run"):
            progress.append(content)

    async def run_agent(messages, **_):
        if len(runs) >= len(given["rounds"]):
            raise OutOfScript
        turn = given["rounds"][len(runs)]
        runs.append(turn)
        if turn["plan_after"] is not None:
            project.write(turn["plan_after"])
        if turn["switch_mode_to"] is not None:
            for key in list(asked._session_run_modes):
                asked._session_run_modes[key] = Loop._normalize_run_mode(turn["switch_mode_to"])
        asked._last_loop_tokens_used = turn["tokens"]
        return turn["final_content"], [], list(messages) + [{"role": "assistant", "content": turn["final_content"]}]

    asked._run_agent_loop = run_agent
    meta = dict(given["metadata"] or {})
    meta.update({"project_dir": str(project.path), "run_mode": given["run_mode"], "automation_policy": given["policy"]})
    if given["agent_profile"]:
        meta["agent_profile"] = given["agent_profile"]
    channel = CHANNEL if given["channel"] in ("ui", "web") else given["channel"]
    inbound = InboundMessage(channel=channel, sender_id="u", chat_id="c", content=given["user_message"], metadata=meta)
    over = False
    try:
        await asked._process_message(inbound, on_progress=on_progress)
    except OutOfScript:
        over = True
    kinds = ["initial"] + [kind for line in progress for start, kind in KINDS if line.startswith(start)]
    return {"agent_runs": len(kinds), "run_kinds": kinds, "auto_round_at_stop": len(kinds) - 1, "tokens_this_message": sum(turn["tokens"] for turn in runs),
            "progress": progress, "plan_at_end": reduced(Loop._load_task_plan(str(project.path)))}, over


def answered(function, *given):
    try:
        return finite(function(*given))
    except (OverflowError, TypeError, AttributeError, NotImplementedError) as raised:
        return {"raises": type(raised).__name__}


# ---------------------------------------------------------------------------------------- tables
def closing(given):
    """What the closing window of a text is: releases before 0.3 have none."""
    return {} if IS_02 else {"tail_len": len(Loop._heuristic_tail(given["text"])) if given["text"] else None}


def goal_evaluation(given):
    plan = given["plan"]
    parsed = Loop._parse_automation_policy(given["policy"])
    reason = Loop._evaluate_automation_stop_policy(parsed, plan=plan, tokens_used=given["tokens_used"])
    return {"stop_reason": reason, "metrics_seen": Loop._collect_latest_plan_metrics(plan), "completed_count": Loop._count_completed_experiments(plan)}


def replan(given):
    parsed = Loop._parse_automation_policy(given["policy"])
    again = Loop._should_replan_exhausted_queue(parsed, plan=given["plan"], tokens_used=given["tokens_used"])
    return {"has_pending_work": Loop._plan_has_pending_work(given["plan"]), "replan": again}


def checkpoint(given):
    before, after = given["before"], given["after"]
    return {"checkpoint_ok": Loop._has_experiment_checkpoint_update(before, after), "crossed": Loop._experiments_crossed_boundary(before, after)}


def message_trace(given):
    answer, over = asyncio.run(message(given))
    if over:
        raise LookupError("the loop wants more runs than the script has")
    return answer


POLICY_KEYS = ["logic", "goals", "maxExperiments", "maxTokens", "strictHeuristics"]
SAID = ["auto-run stop condition: ", "auto-run stop reason: "]


def inbound_messages(events, restarts):
    """The messages of a session, each with its policy, if one came with it, and its recorded runs."""
    messages, policy = [], None
    for nth, event in enumerate(events):
        if event["type"] == "note":
            policy = event["body"]
        elif event["type"] == "metrics":
            messages[-1]["runs"][-1]["plan"] = event["plan"]
        elif event["role"] == "user":
            is_new = event["content"].strip().lower() == "/new"
            if restarts or is_new or not messages or messages[-1]["is_new"]:
                messages.append({"content": event["content"], "policy": policy, "is_new": is_new, "runs": []})
                policy = None
            messages[-1]["runs"].append({"tokens": 0, "plan": None})
        elif event["role"] == "assistant":
            run, used = messages[-1]["runs"][-1], event.get("usage", {})
            run["tokens"] += used.get("input", 0) + used.get("output", 0)
            run["content"], run["at"] = event["content"], nth
    return messages


async def whole_session(given):
    """Where a session of several messages is first ended: the event, and the reason that is printed."""
    settings, project = given["set"], Project({}, {})
    own = {key: settings[key] for key in POLICY_KEYS if key in settings}
    asked = loop(project.scratch.name)
    recorded = settings.get("policy") == "recorded"
    for nth, inbound in enumerate(inbound_messages(given["events"], settings["prompts"] == "message")):
        progress, runs = [], []

        async def on_progress(content, **_):
            progress.extend(content[len(start):] for start in SAID if content.startswith(start))

        async def run_agent(messages, **_):
            if len(runs) >= len(inbound["runs"]):
                raise OutOfScript
            turn = inbound["runs"][len(runs)]
            runs.append(turn)
            project.write(turn["plan"])
            asked._last_loop_tokens_used = turn["tokens"]
            return turn["content"], [], list(messages) + [{"role": "assistant", "content": turn["content"]}]

        asked._run_agent_loop = run_agent
        # The configured policy is what came with the first message, or comes with each.
        policy = inbound["policy"] if inbound["policy"] is not None else (None if recorded and nth > 0 else own)
        meta = {"project_dir": str(project.path), "run_mode": "auto", "automation_policy": policy}
        try:
            await asked._process_message(InboundMessage(channel="cli", sender_id="u", chat_id="c", content=inbound["content"], metadata=meta), on_progress=on_progress)
        except OutOfScript:
            continue
        if runs:
            # What is printed of a provider's error ends with the error.
            return {"halted_at": runs[-1]["at"], "code": progress[-1].split(" \u2014 ")[0] if progress else None}
    return {"halted_at": None, "code": None}


DECISIONS = {
    "session": lambda given: asyncio.run(whole_session(given)),
    "user_input_request": lambda given: {"match": Loop._looks_like_user_input_request(given["text"]), **closing(given)},
    "failure_response": lambda given: {"match": Loop._looks_like_failure_response(given["text"]), **closing(given)},
    "provider_error": lambda given: {"match": Loop._looks_like_provider_error(given["text"])},
    "parse_policy": lambda given: {"policy": Loop._parse_automation_policy(given["policy"])},
    "goal_evaluation": goal_evaluation,
    "stop_policy_unparsed": lambda given: {
        "stop_reason": Loop._evaluate_automation_stop_policy(given["policy_unparsed"], plan=given["plan"], tokens_used=given["tokens_used"])
    },
    "replan": replan,
    "continuation_decision": decide,
    "round_decision": round_of,
    "checkpoint": checkpoint,
    "message_trace": message_trace,
}


def drive(given, table):
    return answered(DECISIONS[table.rsplit("/", 1)[1]], given)


if __name__ == "__main__":
    from scripted import serve

    serve(drive)
