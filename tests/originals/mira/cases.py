#!/usr/bin/env python3
"""Cases for a released `mira-engine` wheel, answered by `../frameworks/drive-mira.py`.

Usage: <interpreter with the wheel> cases.py SEED CASES OUT_FOLDER

One table a decision is written to OUT_FOLDER. Inputs depend on SEED alone, so two releases can be compared line by line.
"""
import importlib
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "frameworks"))
asked = importlib.import_module("drive-mira")

SEED, CASES, OUT = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
IS_02 = asked.IS_02

R = random.Random(SEED)

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


# ---------------------------------------------------------------------------------------- tables
def tables():
    for index in range(CASES):
        said = text()
        yield "user_input_request", index, {"text": said}
        yield "failure_response", index, {"text": said}
        if hasattr(asked.Loop, "_looks_like_provider_error"):
            yield "provider_error", index, {"text": said}
        raw, made, tokens = policy(), plan(), R.choice([0, 1, 99, 100, 1000, 10**6])
        yield "parse_policy", index, {"policy": raw}
        loaded = made if isinstance(made, dict) and "raw_text" not in made else None
        yield "goal_evaluation", index, {"policy": raw, "plan": loaded, "tokens_used": tokens}
        yield "stop_policy_unparsed", index, {"policy_unparsed": raw, "plan": loaded, "tokens_used": tokens}
        if not IS_02:
            yield "replan", index, {"policy": raw, "plan": loaded, "tokens_used": tokens}
        given = {"run_mode": R.choice(["auto"] * 9 + ["manual"]), "final_content": said if R.random() < 0.5 else "ok", "auto_round": R.choice([0, 1, 5, 19, 20, 21, 99, 100]), "policy": raw,
                 "tokens_used": tokens, "plan": made, "project_meta": project_meta(), "agent_profile": R.choice(["", "", "default", "research", "engineer", "team", "boss"]),
                 "has_project_dir": R.random() < 0.95, "files": files()}
        yield "continuation_decision", index, given
        yield "round_decision", index, given
        before, after = (item if isinstance(item, dict) and "raw_text" not in item else None for item in (plan(), made))
        if R.random() < 0.5 and before and after:
            after["experiments"] = [*before["experiments"][:1], *after["experiments"]]
        yield "checkpoint", index, {"before": before, "after": after}
        if index % 3 == 0:
            yield "message_trace", index, scripted()


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
    for name, index, given in tables():
        try:
            expected = asked.drive(given, f"/{name}")
        except LookupError:
            continue
        if "run_kinds" in expected:
            # The runs that took place, and one more that nobody wanted.
            given = {**given, "rounds": given["rounds"][: expected["agent_runs"] + 1]}
        row = {"id": f"{name}-{SEED}-{index}", "input": given, "expected": expected, "source": "ran original", "original_version": f"mira-engine {asked.VERSION}"}
        rows.setdefault(name, []).append(json.dumps(row, ensure_ascii=False))
    for name, lines in rows.items():
        (OUT / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
