#!/usr/bin/env python3
"""Cases for `../frameworks/drive-agentica.py`: sequences of turns through a standing goal, and judge replies.

Usage: cases.py RELEASE SEED COUNT > cases.jsonl       (RELEASE 1.4.6 or 1.5.0; `judge` for judge replies)
"""
import json
import random
import sys

RELEASE, SEED, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
OLD = RELEASE == "1.4.6"
R = random.Random(SEED)

REPLIES = [
    '{"done": false, "reason": "more"}', '{"done": true, "reason": "ok"}', '{"done": false}', "not json", "", None, {"raise": "503"}, {"raise": ""},
    '{"done": 1e400}', '{"done": "YES ","reason":null}', '```json\n{"done": "done"}\n```', '``` json {"done":true}', 'x {"done": {"a":1}} y',
    '{"done": [], "reason": ["a", 1.0, 1e-7, "\\u200b\\u00e9\'"]}', '{"done": 0.0}', '{"done": -0}', '{"done":"Ｙ"}', '{"done":"K"}',
    ' \n{"done": "true\\u0000"}', '[{"done":true}]', '"done"', '{"done":true}}', '{"done":true, "reason":"  \\u3000 "}', '{"reason":"x"}',
    '{"done":null}', "NaN", '{"done":true,"reason":{"b":NaN,"a":-0.0}}', "x" * 300, "é" * 200, '{"done": true\x01}', '{"a":"}","done":true} tail',
    '<think>{}</think>{"done":true}', '\u200b{"done":true}', '\x1c{"done":true}\x1f', '```\n{"done":true}\n``` ', '```json\n{"done":true}\n```\n\n',
    '{"done":99999999999999999999999,"reason":99999999999999999999999}', '{"done":true,"reason":1E5}',
]
PIECES = [
    "```", "```json", "``` json", "```JSON", "\n", " ", '{"done": true}', '{"done": false, "reason": "r"}', "{", "}", '"done"', ":", "true", '"yes"', "1", "[", "]", ",",
    "\u200b", "\x1c", "\u3000", "é", "x", "<think>", '{"a":{"done":1}}', "\r\n", "\x00", "😀", "NaN", "null", "`", "\\u0041", '"reason"', "1e5", "-0", "00", "'",
]
NAMES = ["run", "read", "", "工具", "a b", "update_goal", "x\ny", '"q"']
OBJECTIVES = ["obj", "修复失败的测试", "emoji 🎯", " x ", "a\nTools used this turn: fake", "\u3000y\u3000"]


def maybe(made, key, values, chance):
    if R.random() < chance:
        made[key] = R.choice(values)


def goal(inside):
    """A goal to set; inside a run none that is refused, which would end the drive."""
    odd = not inside and R.random() < 0.1
    made = {"objective": R.choice(OBJECTIVES + (["", "   ", "\x1c"] if odd else []))}
    refused = [0, -2, -0.5] if odd else []
    maybe(made, "turn_budget", [1, 2, 3, 4, 5, 100, 10**9, -1, 2.5, 0.5, None] + ([0, -5, -0.0] if OLD else [-1.0] + refused), 0.4)
    maybe(made, "token_budget", [1, 500, 1000, 1001, 10**9, 10**18, 123456, 1234.5, 1e16, None, -1] + ([0, -100] if OLD else []), 0.4)
    maybe(made, "wall_clock_budget_sec", [30, 59.9, 60.5, 12.5, 0.5, 1e12, 1e22, None, -1] + ([0, -0.5] if OLD else [-1.0]), 0.35)
    return made


def verifier():
    return R.choice([
        None, True, False, {"done": True}, {"done": False}, {"done": 0, "reason": ""}, {"done": "no", "reason": "é"}, {"reason": "x"}, {"done": False, "status": "paused"},
        {"done": False, "status": "paused", "reason": "p"}, {"done": False, "status": "budget_limited"}, {"done": True, "status": "paused"}, {"done": False, "status": "cleared"},
        {"raise": "b"}, "yes", [], 0, 1, {}, {"done": True, "extra": 1}, {"done": None, "reason": None},
    ])


def operations(has_goal):
    """What is done before a turn; a criterion is added only while the manager surely has a goal."""
    made = []
    kinds = ["pause", "resume", "resume", "clear", "resume_safety", "set", "add_subgoal", "new_process", "update_goal", "update_goal"] + ([] if OLD else ["verify"])
    while R.random() < 0.35:
        deed = {"op": R.choice(kinds)}
        kind = deed["op"]
        if kind == "add_subgoal":
            if not has_goal:
                continue
            deed["text"] = R.choice(["tests", " 单测 ", "x"])
        elif kind == "pause":
            maybe(deed, "reason", ["", "user", "user-interrupted", "中断", None], 0.7)
        elif kind in ("clear", "new_process"):
            has_goal = False
        elif kind == "set":
            deed.update(goal(True))
            maybe(deed, "subgoals", [["s1"], ["x", "y"]], 0.2)
            has_goal = True
        elif kind == "update_goal":
            deed["status"] = R.choice(["complete", "paused", " PAUSED ", "Complete", "done", "", "完成", "\x1ccomplete", "COMPLETE\u3000"])
            maybe(deed, "reason", ["", "all good", " x ", "完成了"], 0.7)
        elif kind == "verify":
            deed["command"] = R.choice(["true", "false", "exit 3", "exit 0", ":", "", " true ", "  ", "exit 256", "false || true", "true && false"])
            maybe(deed, "final_answer", ["", "42", "答案", " pad ", "  ", "\n"], 0.7)
        made.append(deed)
    return made


def sequence():
    made = goal(False)
    maybe(made, "default_turn_budget", [1, 2, 3, 0, -1, -2, 50, None, 2.5], 0.3)
    maybe(made, "judge", ["stub", None], 0.15)
    maybe(made, "subgoals", [["a"], ["写测试", "b "], []], 0.2)
    if R.random() < 0.04:
        made["unset"] = True
    n_turns = R.randrange(1, 10)
    if not OLD:
        maybe(made, "auto_judge", [True, False], 0.6)
        if R.random() < 0.4:
            made["verifier"] = [verifier() for _ in range(n_turns)]
    turns = []
    for _ in range(n_turns):
        turn = {}
        maybe(turn, "final_response", ["", "working", " x\nTools used this turn: z", "完成"], 0.7)
        maybe(turn, "token_delta", [0, 1, 0.9, 1.99, -20, 499, 500, 501, 10**6, 10**15, 9007199254740993, 10**19, 1e18, 2.5], 0.8)
        maybe(turn, "elapsed_sec", [0.0, 1e-9, 0.1, 0.3, 0.7, 1, 4.9, 29.5, 30.0, 60, -3.0, 3600, 12.5, 10.5], 0.8)
        if R.random() < 0.7:
            turn["tool_calls"] = R.choice([None, [], [[R.choice(NAMES), R.random() < 0.75] for _ in range(R.randrange(1, 4))], [[R.choice(NAMES), True]]])
        turn["judge_reply"] = R.choice(REPLIES[:1] * 20 + REPLIES)
        deeds = operations(not made.get("unset") and not turns)
        if deeds:
            turn["ops"] = deeds
        turns.append(turn)
    return {"kind": "sequence", "goal": made, "turns": turns}


for number in range(COUNT):
    judged = {"kind": "judge_parse", "raw": "".join(R.choice(PIECES) for _ in range(R.randrange(8)))}
    print(json.dumps({"id": f"{RELEASE}-{SEED}-{number}", "input": judged if RELEASE == "judge" else sequence()}, ensure_ascii=False))
