"""Fresh questions for what is built from a repository: goose's inspector and DeepModeling's adaptive iterations."""

# ---------------------------------------------------------------------------------------- goose
# Arguments that are close to each other: equal ones in another order, and such as differ in little.
ARGUMENTS = [
    {}, None, {"x": 1}, {"x": 1.0}, {"x": "1"}, {"x": True}, {"x": None}, {"x": -0.0}, {"x": 0.0}, {"x": 0}, {"x": 1e300},
    {"x": 2**64 - 1}, {"x": 2**64}, {"x": float(2**64)}, {"x": 2**53 + 1}, {"x": float(2**53)}, {"x": -(2**63)}, {"x": -(2**63) - 1},
    {"a": 1, "b": {"c": [1, 2], "d": 2}}, {"b": {"d": 2, "c": [1, 2]}, "a": 1}, {"b": {"d": 2, "c": [2, 1]}, "a": 1},
    {"x": "é"}, {"x": "e\u0301"}, {"x": " 1"}, {"x": ""}, {"x": [1]}, {"x": [[1]]}, {"X": 1}, {"x": "🙂" * 50},
]
ERRORS = ["boom", "Boom", "", "x" * 100, "x" * 101, "x" * 100 + "y", "x" * 99 + "y", "🙂" * 100 + "1", "🙂" * 100 + "2", "e\u0301" * 60, "line\nline"]


def goose(dice):
    rule = dice.choice(["repetition_check", "repetition_check", "repetition_inspector", "repeated_error", "repeated_error"])
    few = [dice.choice(ARGUMENTS) for _ in range(dice.choice([1, 1, 2, 3]))]
    tools = ["developer__shell", "Developer__shell", "搜索", "gone"][: dice.choice([1, 1, 2, 4])]
    said = [dice.choice(ERRORS) for _ in range(dice.choice([1, 1, 2]))]
    failing, parallel, events, ids = dice.choice([0, 0.5, 0.9, 1]), dice.choice([1, 1, 2, 4]), [], 0

    def say(role, content, **fields):
        blocks = content and dice.random() < 0.1
        events.append({"type": "message", "role": role, "content": [{"type": "text", "text": content}] if blocks else content, **fields})

    say("user", "task")
    for _ in range(dice.choice([3, 6, 12, 12, 40])):
        calls = []
        for _ in range(dice.randint(1, parallel)):
            ids += 1
            call = {"id": f"c{ids}", "name": dice.choice(tools), "arguments": dice.choice(few)}
            calls.append({key: value for key, value in call.items() if value is not None})
        say("assistant", dice.choice(["", "", "hm"]), tool_calls=calls)
        for call in calls:
            gone = call["name"] == "gone"
            fails = gone or dice.random() < failing
            more = {"invalid_call": True} if gone else {}
            say("tool", dice.choice(said) if fails else "ok", tool_call_id=call["id"], name=call["name"], is_error=fails, **more)
        # A sub-agent has an inspector of its own.
        if dice.random() < 0.1:
            ids += 1
            side = {"lane": "side:1"}
            say("assistant", "", tool_calls=[{"id": f"c{ids}", "name": tools[0], "arguments": few[0] or {}}], **side)
            say("tool", said[0], tool_call_id=f"c{ids}", name=tools[0], is_error=True, **side)
        if dice.random() < 0.15:
            say("assistant", dice.choice(["done", ""]))
        if dice.random() < 0.15:
            say("user", "go on")
    limits = [None, 0, 1, 1, 2, 3, 5, 2**32 - 1]
    return rule, events, {"max_repetitions": dice.choice(limits)}


# ---------------------------------------------------------------------------------------- adaptive
WORDS = [
    "successfully", "complete", "COMPLETE", "incomplete", "saved", "Unsaved", "submission", "sample_submission.csv", "test passed", "5 tests passed", "test  passed",
    "all tests pass", "finished", "done", "abandoned", "DONE", "d\u1d0fne", "done\u200b", "ﬁnished", "finiſhed", "submıssion", "submİssion", "任务完成", "error", "0 errors", "terror",
    "Error", "failed", "failure", "exception", "exceptional", "traceback", "assertion", "All assertions hold", "asserted", "erro\nr", "acc 0.7", "epoch 1/50", "\x1b[32msaved\x1b[0m",
    "K\u212a", "ſaved", "SAVED", "ΣΑΣ", "\x1c", "\u00a0", "\u3000", "\u200b", "", " ", "\t", "\r", "\x85", "x" * 40,
]
FENCES = ["```python\nx\n```", "```py\nx```", "```\nx\n```", "``` \n```", "```python3\nx\n```", "```pythonprint(1)```", "x\n```python\ny\n```\nz", "print('```')", "", "  ", "\n", "\u3000x\u3000",
          "x\n```\n```", "```\n\n```py\nx", "\x1cx", "<Experiment>x", "a</experiment>b", "~~~\nx\n~~~", "x\r\n```\r\n", "```python\r\nx\r\n```"]
TAGS = ["<Conclusion>", "<conclusion>", "</Conclusion>", "< Conclusion>", "<Conclusion", "&lt;Conclusion&gt;", "<Conclusion>c</Conclusion>", "<Conclusion >"]
OPEN = ["<Experiment>{}</Experiment>"] * 6 + ["<experiment>{}</experiment>", "<Experiment >{}</Experiment>", "<Experiment>{}", "{}</Experiment>", "<Experiment>{}</Experiment><Experiment>second</Experiment>"]


def text(dice, longest=8):
    lines = [" ".join(dice.choice(WORDS) for _ in range(dice.randint(0, 3))) for _ in range(dice.randint(0, longest))]
    return dice.choice(["\n", "\n", "\r\n"]).join(line for line in lines for _ in range(dice.choice([1, 1, 2, 3, 4])))


def reply(dice, tagged=0.15):
    parts = [dice.choice(OPEN).format(dice.choice(FENCES) if dice.random() < 0.4 else "print(1)")] if dice.random() < 0.92 else []
    parts += [dice.choice(TAGS)] if dice.random() < tagged else []
    dice.shuffle(parts)
    return dice.choice(["", "<Hypothesis>h</Hypothesis>", "<Inference>推断</Inference>"]) + "".join(parts)


def raw(dice):
    if dice.random() < 0.3:
        piece = dice.choice(["头", "🙂", "ab", "line\n", "error ", "saved "])
        return text(dice) + (piece * (16_100 // len(piece)))[: 15_990 + dice.randint(-20, 60)] + text(dice)
    return text(dice, 12)


# What a reviewer's reply may hold where a number, a truth value or a text is wanted.
SCORES = [0.7, 0.6999999999, 0.7000000001, 0.6, 0.5999999, 0, 1, 1.0, 0.8, 0.8]
ODD = ["0.8", "80%", 1.5, -0.1, None, True, [], "", " 1 ", "1e0", 8]
TRUTHS = [False, False, False, True]
ODD_TRUTHS = ["false", "no", "off", "F", "0", 0, 0.0, 1, 2, None, "maybe", "True ", [], ""]
STATES = ["complete", "complete", "excellent", "partial", "partial", "in_progress", "blocked", "unknown"]


def review(dice):
    if dice.random() < 0.05:
        return dice.choice(["raise", None, [], "text", 3, {}])
    made = {
        "is_buggy": dice.choice([False, False, False, False, True]), "summary": "s", "metric_value": dice.choice([None, 0.5]), "completion_state": dice.choice(STATES),
        "quality_score": dice.choice(SCORES), "thoroughness_score": dice.choice(SCORES), "should_continue": dice.choice(TRUTHS), "improvement_notes": dice.choice([None, None, "", "more"]),
    }
    if dice.random() < 0.4:
        odd = {"is_buggy": ODD_TRUTHS, "should_continue": ODD_TRUTHS, "quality_score": ODD, "thoroughness_score": ODD, "metric_value": [*ODD, float(10**300)], "summary": [None, 3, "", ["s"]],
               "completion_state": ["Complete", "done", None, 1, "complete "], "improvement_notes": [3, ["n"], {}, True], "lower_is_better": ODD_TRUTHS}
        key = dice.choice(sorted(odd))
        made[key] = dice.choice(odd[key])
    for key in list(made):
        if dice.random() < 0.06:
            del made[key]
    return made


def adaptive(dice):
    table = dice.choice(["is_task_completed", "observation_prep", "experiment_tag", "review_gate", "loop_trace", "loop_trace", "published_loop_trace", "published_loop_trace"])
    if table == "is_task_completed":
        return table, None, {"observation": dice.choice([None, text(dice, 3), text(dice, 3), text(dice)])}
    if table == "observation_prep":
        return table, None, {"raw": raw(dice)}
    if table == "experiment_tag":
        return table, None, {"response": reply(dice, 0.4)}
    if table == "review_gate":
        return table, None, {"review": review(dice)}
    limit = dice.choice([None, -1, 0, 1, 2, 3, 4, 5, 8, 20])
    rounds = max(limit or 5, 1) + 3
    shown = lambda: {"success": dice.random() < 0.8, "stdout": text(dice, 3), "stderr": text(dice, 2)}
    given = {"max_iterations": limit, "responses": [reply(dice, 0.1) for _ in range(rounds)], "executions": [shown() for _ in range(rounds)]}
    # The first reply has an experiment, or most runs end there.
    given["responses"][0] = "<Experiment>print(1)</Experiment>" if dice.random() < 0.9 else given["responses"][0]
    if table == "published_loop_trace":
        given["reviews"] = dice.choice([None, *[[review(dice) for _ in range(rounds)]] * 5])
    return table, None, given
