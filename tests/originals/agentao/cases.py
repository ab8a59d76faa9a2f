#!/usr/bin/env python3
"""Cases for `../frameworks/drive-agentao.py`: chats with a scripted model and a scripted cap handler.

Usage: cases.py SEED COUNT [wild] > cases.jsonl        (wild: names and arguments that have to be repaired)
"""
import json
import random
import sys

R = random.Random(int(sys.argv[1]))
COUNT, WILD = int(sys.argv[2]), "wild" in sys.argv[3:]

ARGUMENTS = [
    "{}", '{"n": 1}', '{"n":1}', '{"n": 2}', '{"q": "x"}', "", "null", "None", "{", "not json", "[1]", '{"n": 1,}', "{'n': 1}", "```json\n{}\n```", '"{}"', "7", '{"n": NaN}',
    '{"q": "a\nb"}', '{"a": {"b": [1,],},}', "True", "  {} ", '{"n": "x"}', '{"n":1}}', '{"n":1', "ｘ", "{'a': None, 'b': True}", "{'a': \"it's\"}", '{"zzz": 1}', "()", "{'a'}",
    "{1: 2}", "{'a': 1e5, 'b': (1,2)}", "\ufeff{}", '{"n": 1} trailing', '"text"', '{"a":"x,}"}',
]
NAMES = ["alpha", "beta", "broken", "nosuch", "", " ", "Alpha", "alpha ", "ALPHA", "alpha_tool", "alph", "functions.alpha", "工具", "beta-", "be ta"]
TEXTS = ["", "0", " ", "\n", "let me check", "中文", "final answer", "\u200b", "\x1c"]
HANDLERS = [
    None, "stop", ["continue"], True, 0, "", {}, {"action": None}, {"action": 1}, {"action": "stop"}, {"action": "STOP"}, {"action": "continue"}, {"action": "continue", "message": "x"},
    {"action": "new_instruction"}, {"action": "new_instruction", "message": "请"}, {"action": "new_instruction", "message": ""}, {"action": "new_instruction", "message": 0},
    {"action": "new_instruction", "message": 7}, {"action": "new_instruction", "message": True}, {"action": "new_instruction", "message": ["a"]},
    {"action": "new_instruction", "message": {}}, {"action": "new_instruction", "message": " "}, {"action": ["continue"]}, {"message": "x"},
]
FINISH = ["length", "stop", "tool_calls", "LENGTH", " length", "max_tokens", "model_length", "content_filter", ""]


def some(known, n_plain):
    return R.choice(known if WILD and R.random() < 0.5 else known[:n_plain])


def reply(is_last):
    made = {}
    if R.random() < 0.9:
        made["text"] = R.choice(TEXTS)
    ends = is_last or R.random() < 0.12
    made["tools"] = [] if ends else [[some(NAMES, 4), some(ARGUMENTS, 5)] for _ in range(R.choice([1, 1, 1, 2, 3]))]
    if R.random() < 0.2:
        made["finish"] = R.choice(FINISH)
    return made


for number in range(COUNT):
    model = [reply(False) for _ in range(R.randrange(1, 7))] + ([reply(True)] if R.random() < 0.5 else [])
    case = {"max_iterations": R.choice([1, 1, 2, 3, 4, 6, 0, -1, 12]), "model": model, "call_limit": R.choice([5, 12, 20])}
    case["handler"] = [R.choice(HANDLERS) for _ in range(R.randrange(1, 4))] if R.random() < 0.85 else None
    if R.random() < (0.7 if WILD else 0.4):
        case["unique_args"] = False
    print(json.dumps({"id": f"{'wild' if WILD else 'chat'}-{sys.argv[1]}-{number}", "input": case}, ensure_ascii=False))
