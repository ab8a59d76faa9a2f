#!/usr/bin/env python3
"""Ask a released `mira-engine` wheel for its auto-mode decisions.

Usage:  PYTHONPATH=<unpacked wheel> python drive.py VERSION SEED CASES OUT_FOLDER

The interpreter needs the wheel's dependencies (`pip install mira-engine==0.5.0` brings those of all
releases). VERSION is the wheel's own: 0.2.0, 0.3.0 ... 0.5.0. One table a decision is written to
OUT_FOLDER, in the shapes of the tables beside it. Inputs depend on SEED alone, so two releases can be
compared line by line.
"""
import asyncio
import json
import logging
import math
import os
import random
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

logging.disable(logging.CRITICAL)
from loguru import logger

logger.remove()

VERSION, SEED, CASES, OUT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
IS_02 = VERSION.startswith("0.2")
if IS_02:
    from mira_engine.agent.loop import AgentLoop as Loop
else:
    from mira_engine.agent.research_loop import ResearchAgentLoop as Loop
from mira_engine.bus.events import InboundMessage
from mira_engine.bus.queue import MessageBus

R = random.Random(SEED)
CHANNEL = "web" if IS_02 else "ui"

# ---------------------------------------------------------------------------------------- inputs
PHRASES = [
    "please confirm", "Please CHOOSE", "please provide", "could you provide", "could you", "can you provide", "clarify", "which option",
    "need your input", "awaiting your input", "awaiting your confirmation", "what would you like to do next", "shall i proceed",
    "should I proceed", "do you want me to", "请提供", "请确认", "请选择", "是否继续", "是否开始", "是否要我", "等待你的确认", "等待用户",
    "需要你", "要我现在", "Traceback (most recent call last):", "sorry, I encountered an error", "Error calling LLM: 429",
    "memory archival failed", "tool call failed", "unrecoverable error", "unrecoverable", "无法继续", "i'm unable to proceed",
    "I’m unable to proceed", "I am unable to proceed", "cannot proceed because", "cannot continue because", "I cannot continue",
    "blocked by the proxy", "blocked by", "command timed out", "exit code: 1", "permission denied", "No such file or directory",
    "module not found", "failed to connect", "出现错误", "运行时错误", "error: bad", "All candidate models failed for this turn",
    "litellm.BadRequestError", "Error calling codex", "İ", "Kelvin \u212a", "would you like me to continue?",
]
PLAIN = ["Exp001 done, R=0.91.", "Next: tune lr.", "ok", "实验完成，下一步调参。", "x" * 650, "Thanks.", "- item\n- item", "\u3000", "metrics improved"]
JOINTS = [" ", "\n", "\n\n", "\n\n\n", "\r\n\r\n", "\n \n", ". "]


def text():
    if R.random() < 0.05:
        return R.choice([None, "", "   ", "\n\n"])
    parts = [R.choice(PHRASES if R.random() < 0.35 else PLAIN) for _ in range(R.randrange(1, 5))]
    return "".join(part + R.choice(JOINTS) for part in parts).strip() if R.random() < 0.8 else R.choice(PLAIN).join(parts)


NAMES = ["Mean R", "Val ACC", "loss", " Mean R ", "准确率", "", "AUC"]
NUMBERS = [0, 1, 0.9, 0.95, -1, "0.9", " 1 ", "nan", "inf", "95%", True, False, None, [1], "1_000", "１", "\x1c2", 1e-10, 10**400, "0x1", "1e400"]


def goal():
    return R.choice([
        {"metric": R.choice(NAMES), "operator": R.choice([">", ">=", "<", "<=", "==", " > ", "=", None]), "value": R.choice(NUMBERS[:19] if R.random() < 0.97 else NUMBERS)},
        {"metric": R.choice(NAMES[:3]), "operator": R.choice([">", ">=", "<", "<=", "=="]), "value": R.choice([0.9, 0.5, 1])},
        R.choice([None, 3, "goal", [], {}, {"metric": 3, "operator": ">", "value": 1}]),
    ])


def policy():
    if R.random() < 0.25:
        return R.choice([None, None, {}, [], "auto", 3, True])
    made = {}
    if R.random() < 0.5:
        made["logic"] = R.choice(["AND", "OR", "or", " And ", "XOR", None, 1])
    if R.random() < 0.6:
        made["goals"] = [goal() for _ in range(R.randrange(4))] if R.random() < 0.9 else R.choice([None, {}, "x"])
    if R.random() < 0.4:
        made["maxExperiments"] = R.choice([1, 2, 3, 0, -1, True, 2.0, "2", None, 10**20])
    if R.random() < 0.4:
        made["maxTokens"] = R.choice([1, 100, 1000, 0, -5, True, 1e3, "9", None, 10**25])
    if R.random() < 0.5:
        made["strictHeuristics"] = R.choice([True, False, False, 0, "false", None])
    return made


STATUS = ["pending", "running", "completed", "failed", "skipped", "finished", "done", "Completed", "queued", "", None, 3]
CONCLUSIONS = ["supported", "", "hypothesis rejected", "no failure modes", "不支持假设", None, "fails", 5]


def experiment(number):
    if R.random() < 0.04:
        return R.choice([None, 5, "Exp", []])
    made = {"id": R.choice([f"Exp{number:03}"] * 8 + [f"exp-{number}", "Exp001", "", 7, "run A", " Exp9 ", f"EXP {number}"])}
    made["status"] = R.choice(STATUS[:5] if R.random() < 0.8 else STATUS)
    if R.random() < 0.5:
        made["title"] = R.choice(["t", "", None])
    if R.random() < 0.6:
        made["conclusion"] = R.choice(CONCLUSIONS)
    if R.random() < 0.6:
        results = {}
        if R.random() < 0.8:
            results["metrics"] = {R.choice(NAMES): R.choice(NUMBERS[:19]) for _ in range(R.randrange(3))} if R.random() < 0.9 else R.choice([None, [1], "x"])
        if R.random() < 0.3:
            results["artifacts"] = [R.choice(["outputs/a.txt", "nowhere.csv", "/etc/passwd", "../up", "a/../b", 5, "outputs/*.txt", "outputs/?.txt", "outputs/[ab].txt", "none/*.csv", "**/a.txt"]) for _ in range(R.randrange(3))]
        if R.random() < 0.2:
            results["findings"] = R.choice(["found", "  ", 3])
        made["results"] = results if R.random() < 0.95 else R.choice([None, [], "r"])
    if R.random() < 0.2:
        made["evidence_refs"] = R.choice([[], [{"metric_key": "loss"}], [{"artifact": "outputs/a.txt"}], [{"artifact": "gone"}], "x", [5], [{"metric_key": 3}], [{"artifact": "outputs/*.txt"}]])
    if R.random() < 0.15:
        made.update({"theoretical_proof": R.choice(["p", "Guardrail auto-fill: x"]), "isolation_test": {"control": "c", "treatment": "t", "isolated_variable": "v"},
                     "post_mortem": {"residual_analysis": "r", "implementation_fidelity": 1, "five_whys": ["w"]}})
    if R.random() < 0.1:
        made.update({"commit": "abc", "repro": {"script_path": "s", "seed": 0, "env": "e"}, "tests": {"summary": "ok"}})
    if R.random() < 0.1:
        made.update({"question": "q", "hypothesis": "h", "method": "m"})
    return made


def plan():
    chance = R.random()
    if chance < 0.08:
        return None
    if chance < 0.14:
        return {"raw_text": R.choice(["", "{", "[]", "null", '{"experiments": NaN}', '{"experiments": {"a": 1}}', "{}", '"x"', '{"experiments": "x", "status": "done"}'])}
    made = {"experiments": [experiment(n + 1) for n in range(R.randrange(4))]}
    if R.random() < 0.3:
        made["schema_version"] = R.choice([1, "1", True, None])
    if R.random() < 0.6:
        made["status"] = R.choice(["in_progress", "completed", "failed", "done", None])
    if R.random() < 0.4:
        made["current_experiment"] = R.choice(["Exp001", "Exp009", "", None, 5])
    if R.random() < 0.3:
        made["result"] = R.choice([None, {}, {"summary": "s"}, {"output_path": " "}, {"sections": [{"title": "t"}]}, {"sections": [{}]}, "r"])
    if R.random() < 0.6:
        made["plan"] = R.choice([
            {"phase": "approved"}, {"phase": "approved"}, {"phase": "approved"}, {"phase": " approved "}, {"phase": "draft"}, {"phase": "Approved"}, {"phase": 3},
            {"phase": "approved", "questions": [{"id": "q", "prompt": "p", "kind": "single"}]}, {"phase": "approved", "questions": [{"id": "q", "prompt": " ", "kind": "text"}, {"id": "q", "prompt": "p", "kind": "many"}]},
            {"phase": "approved", "questions": "x", "draft": []}, {"phase": "approved", "questions": [5, {"prompt": "p", "kind": None}]}, [], "approved", None])
    return made


def project_meta():
    if R.random() < 0.4:
        return None
    return R.choice([{}, {"contract_version": 2}, {"contract_version": 2, "agent_profile": "research"}, {"agent_profile": "engineer"}, {"contract_version": 2, "agent_profile": "team"},
                     {"agent_profile": " Research "}, {"contract_version": "2"}, {"contract_version": 3}, {"contract_version": True}, [], 5])


def files():
    made = {}
    if R.random() < 0.25:
        made["outputs/a.txt"] = "a"
    if R.random() < 0.15:
        made[R.choice(["outputs/exp001/results.json", "experiments/exp001/metrics.json", "logs/exp002.json"])] = R.choice(['{"metrics": {"loss": 0.1}, "findings": "f"}', '{"a": 1, "b": 2, "c": 3}', '{"note": "x"}', "{"])
    if R.random() < 0.05:
        made["experiments/exp001/notes.md"] = "# Notes\nall fine"
    return made


# --------------------------------------------------------------------------------------- driving
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
def tables():
    for index in range(CASES):
        said = text()
        answer = {"match": Loop._looks_like_user_input_request(said)}
        failed = {"match": Loop._looks_like_failure_response(said)}
        if not IS_02:
            tail = len(Loop._heuristic_tail(said)) if said else None
            answer["tail_len"] = failed["tail_len"] = tail
        yield "user_input_request", index, {"text": said}, answer
        yield "failure_response", index, {"text": said}, failed
        if hasattr(Loop, "_looks_like_provider_error"):
            yield "provider_error", index, {"text": said}, {"match": Loop._looks_like_provider_error(said)}
        raw, made, tokens = policy(), plan(), R.choice([0, 1, 99, 100, 1000, 10**6])
        yield "parse_policy", index, {"policy": raw}, answered(lambda: {"policy": Loop._parse_automation_policy(raw)})
        loaded = made if isinstance(made, dict) and "raw_text" not in made else None

        def evaluated():
            parsed = Loop._parse_automation_policy(raw)
            reason = Loop._evaluate_automation_stop_policy(parsed, plan=loaded, tokens_used=tokens)
            return {"stop_reason": reason, "metrics_seen": Loop._collect_latest_plan_metrics(loaded), "completed_count": Loop._count_completed_experiments(loaded)}

        yield "goal_evaluation", index, {"policy": raw, "plan": loaded, "tokens_used": tokens}, answered(evaluated)
        yield "stop_policy_unparsed", index, {"policy_unparsed": raw, "plan": loaded, "tokens_used": tokens}, answered(
            lambda: {"stop_reason": Loop._evaluate_automation_stop_policy(raw, plan=loaded, tokens_used=tokens)})
        if not IS_02:
            yield "replan", index, {"policy": raw, "plan": loaded, "tokens_used": tokens}, answered(lambda: {
                "has_pending_work": Loop._plan_has_pending_work(loaded),
                "replan": Loop._should_replan_exhausted_queue(Loop._parse_automation_policy(raw), plan=loaded, tokens_used=tokens)})
        given = {"run_mode": R.choice(["auto"] * 9 + ["manual"]), "final_content": said if R.random() < 0.5 else "ok", "auto_round": R.choice([0, 1, 5, 19, 20, 21, 99, 100]), "policy": raw,
                 "tokens_used": tokens, "plan": made, "project_meta": project_meta(), "agent_profile": R.choice(["", "", "default", "research", "engineer", "team", "boss"]),
                 "has_project_dir": R.random() < 0.95, "files": files()}
        yield "continuation_decision", index, given, answered(decide, given)
        yield "round_decision", index, given, answered(round_of, given)
        before, after = (item if isinstance(item, dict) and "raw_text" not in item else None for item in (plan(), made))
        if R.random() < 0.5 and before and after:
            after["experiments"] = [*before["experiments"][:1], *after["experiments"]]
        yield "checkpoint", index, {"before": before, "after": after}, answered(lambda: {
            "checkpoint_ok": Loop._has_experiment_checkpoint_update(before, after), "crossed": Loop._experiments_crossed_boundary(before, after)})
        if index % 3 == 0:
            trace = scripted()
            try:
                answer, over = asyncio.run(message(trace))
                if over:
                    continue
            except (OverflowError, TypeError, AttributeError, NotImplementedError) as raised:
                answer = {"raises": type(raised).__name__}
            yield "message_trace", index, trace, finite(answer)


def scripted():
    """One inbound message with more agent runs on offer than the loop can want."""
    strict = R.random() < 0.3
    start = plan()
    kinds = []
    if R.random() < 0.4:
        pending = {"experiments": [{"id": f"Exp{n:03}", "status": "pending", "title": "t"} for n in range(1, R.randrange(2, 5))], "plan": {"phase": "approved"}, "status": "in_progress"}
        start = pending
        states = [json.loads(json.dumps(pending))]
        for step in range(len(pending["experiments"])):
            for status in ("running", "completed"):
                later = json.loads(json.dumps(states[-1]))
                later["experiments"][step]["status"] = status
                if status == "completed":
                    later["experiments"][step].update(R.choice([{"conclusion": "supported"}, {"results": {"metrics": {"Mean R": step / 2}}}, {}, {"conclusion": "rejected"}]))
                states.append(later)
        kinds = states[1:]
    rounds = []
    for number in range(110):
        after = kinds[number] if number < len(kinds) else (plan() if R.random() < (0.3 if number < 12 else 0.02) else None)
        said = text() if R.random() < 0.12 else R.choice(["ok", "next", "实验继续"])
        rounds.append({"final_content": said, "tokens": R.choice([0, 10, 100]), "plan_after": after, "switch_mode_to": "manual" if R.random() < 0.01 else None})
    return {"channel": R.choice(["ui", "ui", "cli"]) if not IS_02 else R.choice(["web", "web", "cli"]), "user_message": R.choice(["go on", "请导出报告", "manual export request for x"]),
            "metadata": R.choice([None, {}, {"_allow_result_write": True}]), "run_mode": R.choice(["auto"] * 9 + ["manual"]), "policy": policy() if R.random() < 0.7 else {"strictHeuristics": False},
            "agent_profile": R.choice(["default", "research", "engineer"]), "project_meta": {"contract_version": 2} if strict else project_meta(), "session_tokens_before": 0,
            "files": files(), "plan_before": start, "rounds": rounds}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rows = {}
    for name, index, given, expected in tables():
        if name == "message_trace" and "run_kinds" in expected:
            # The runs that took place, and one more that nobody wanted.
            given = {**given, "rounds": given["rounds"][: expected["agent_runs"] + 1]}
        row = {"id": f"{name}-{SEED}-{index}", "input": given, "expected": expected, "source": "ran original", "original_version": f"mira-engine {VERSION}"}
        rows.setdefault(name, []).append(json.dumps(row, ensure_ascii=False))
    for name, lines in rows.items():
        (OUT / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


os.environ.setdefault("OPENAI_API_KEY", "x")
main()
