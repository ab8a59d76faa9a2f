"""Adaptive iterations: DeepModeling's scientific workflow with a scripted model, sandbox and reviewer.

`ORIGINAL` is a folder with files of its repository: the workflow as published, its prompts, its handling of output, and the
reviewer's verdict; a reviewer's reply is read as the model service reads it. `loop_trace` is the same workflow with the two
checks that the design document in the same repository prints and no published workflow has: its listings are put where the
document's line numbers are, and there is no reviewer. `PAGE` names another copy of the document.
"""

import asyncio
import inspect
import json
import logging
import os
import pathlib
import re
import sys
import textwrap
import types

from scripted import serve

ORIGINAL = pathlib.Path(os.environ["ORIGINAL"])
PAGE = pathlib.Path(os.environ.get("PAGE") or ORIGINAL / "docs" / "ADAPTIVE_ITERATIONS_IMPLEMENTATION.md")


def package(name):
    """A package without what its `__init__` imports."""
    made = types.ModuleType(name)
    made.__path__ = [str(ORIGINAL.joinpath(*name.split(".")))]
    sys.modules[name] = made


def stub(name, **names):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(names)


for name in ["modeling", "modeling.workflows", "modeling.workflows.search", "modeling.prompts", "modeling.utils", "modeling.models"]:
    package(name)
stub("modeling.services.llm", LLMService=object)
stub("modeling.benchmark.benchmark", BaseBenchmark=object)

from modeling.models.formats import ReviewResult
from modeling.prompts.scientific_prompt import extract_tag_content
from modeling.utils.context import summarize_repetitive_logs, truncate_output
from modeling.workflows.search import scientific_workflow


def listings():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8").replace("\r", ""), re.DOTALL)


def listing(phrase):
    return next(code for code in listings() if phrase in code)


def after(source, line, code):
    """`code` behind the last place of a line, as deep as that line."""
    at = source.rindex(line)
    depth = at - source.rindex("\n", 0, at) - 1
    at += len(line)
    return source[:at] + "\n" + textwrap.indent(code, " " * depth) + source[at:]


def documented():
    """The workflow with the document's checks."""
    source = inspect.getsource(scientific_workflow)
    source = after(source, "response = await self.llm_service.call(prompt=continue_prompt)", listing("# Strategy 1:"))
    source = after(source, "observation = truncate_output(observation)", listing("# Strategy 3:"))
    source = source.replace("    async def solve(", textwrap.indent(listing("def _is_task_completed"), "    ") + "\n    async def solve(")
    module = types.ModuleType("documented")
    exec(compile(source, "documented", "exec"), vars(module))
    return module


# What is logged besides a decision.
OTHER = ("---", "ScientificWorkflow starting", "Review result", "Review scores", "Review improvement notes", "Review evaluation failed")
ENDS = {
    "Early completion detected": "conclusion_tag", "Task completion detected": "task_completed",
    "No experiment in iteration": "no_experiment", "No <Experiment> tag": "no_experiment",
}


class Drive(logging.Handler):
    def __init__(self, given, module):
        super().__init__()
        self.given, self.kinds, self.said, self.ran, self.reviewed = given, [], [], 0, 0
        reviews = given.get("reviews")
        operators = {"execute": self.execute, **({"review": self.review} if reviews is not None else {})}
        limit = given.get("max_iterations")
        config = {} if limit is None else {"search": {"max_iterations": limit}}
        self.workflow = module.ScientificWorkflow(operators, {"llm": types.SimpleNamespace(call=self.call), "sandbox": None}, config)
        module.logger.handlers, module.logger.propagate = [self], False
        module.logger.setLevel(logging.INFO)

    def emit(self, record):
        self.said.append(record.getMessage())

    async def call(self, prompt):
        first, last = prompt.startswith("You are a scientist"), prompt.startswith("Conclude the")
        self.kinds.append("initial" if first else "final" if last else "continue")
        return self.given["responses"][len(self.kinds) - 1]

    async def execute(self, code, mode):
        self.ran += 1
        return types.SimpleNamespace(**{"stdout": "", "stderr": "", **self.given["executions"][self.ran - 1]})

    async def review(self, prompt_context):
        self.reviewed += 1
        return verdict(self.given["reviews"][self.reviewed - 1])

    def answer(self):
        asyncio.run(self.workflow.solve("task", "files", pathlib.Path(), pathlib.Path()))
        talk, answers = self.workflow.conversation, [said["content"] for said in self.workflow.conversation if said["role"] == "assistant"]
        log = [line for line in self.said if not line.startswith(OTHER)]
        begun = [line.split()[2].split("/")[0].rstrip(":") for line in self.said if line.startswith("--- Iteration")]
        return {
            "llm_calls": len(self.kinds), "call_kinds": self.kinds, "experiments_run": self.ran, "reviews_run": self.reviewed,
            "last_iteration": max(int(nth) for nth in begun), "conversation_recorded": len(talk) > 1,
            "has_conclusion": any("<Conclusion>" in text for text in answers),
            "observations_in_conversation": sum(text.count("<Observation>") for text in answers), "log": log,
        }


def verdict(review):
    """A reviewer's verdict, of the text of its reply."""
    if review == "raise":
        raise RuntimeError("the reviewer failed")
    return ReviewResult.model_validate_json(json.dumps(review))


def prepared(raw):
    return truncate_output(summarize_repetitive_logs(raw))


class Words:
    """The document's keyword test."""

    def __init__(self):
        names = {}
        exec(compile(listing("def _is_task_completed"), "listing", "exec"), names)
        self.test = names["_is_task_completed"]

    def __call__(self, observation):
        return self.test(None, observation)


def drive(given, table):
    match table.rsplit("/")[-1]:
        case "is_task_completed":
            return {"task_completed": Words()(given["observation"])}
        case "observation_prep":
            text = prepared(given["raw"])
            return {"observation": text, "chars": len(text), "task_completed": Words()(text)}
        case "experiment_tag":
            code = extract_tag_content(given["response"], "Experiment")
            return {"code": code, "runs": bool(code), "conclusion_tag_seen": "<Conclusion>" in given["response"]}
        case "review_gate":
            reply = "<Experiment>x</Experiment>"
            made = Drive({"max_iterations": 1, "responses": [reply, ""], "executions": [{"success": True, "stdout": "ok"}], "reviews": [given["review"]]}, scientific_workflow)
            done = made.answer()
            return {"finalize": done["llm_calls"] > 1, "log": done["log"][:-1]}
        case "published_loop_trace":
            return Drive(given, scientific_workflow).answer()
        case "loop_trace":
            done = Drive({**given, "reviews": None}, documented()).answer()
            stops = [end for line in done["log"] for words, end in ENDS.items() if line.startswith(words)]
            return {**done, "stopped_by": stops[0] if stops else "max_iterations"}
    raise LookupError(table)


if __name__ == "__main__":
    serve(drive)
