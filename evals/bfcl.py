"""The questions and the judge of the Berkeley Function Calling Leaderboard, as its package `bfcl-eval` has them.

The package is installed without its dependencies: modules that only other parts of it need stand in as empty ones. BFCL's
names of functions may hold dots, which the API does not take; they become `_`, as in BFCL's own runs.
"""

import functools
import importlib
import importlib.util
import json
import pathlib
import sys
import types

#: Categories in which no tool fits: right is who calls nothing.
IRRELEVANT = frozenset({"irrelevance", "live_irrelevance"})
#: What can be asked. Java and JavaScript are left out: their judge needs a parser for these languages.
CATEGORIES = (
    "simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance",
)  # fmt: skip


class Bfcl:
    """The installed package."""

    def __init__(self):
        _stand_ins()
        package = importlib.util.find_spec("bfcl_eval")
        self._data = pathlib.Path(package.submodule_search_locations[0]) / "data"
        self._check = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker
        self._python = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON

    def questions(self, category, count=None, offset=0):
        """`count` questions spread evenly over a category, from `offset` on: the same arguments give the same ones."""
        rows = self._rows(f"BFCL_v4_{category}.json")
        step = max(1, len(rows) // count) if count else 1
        return [self._question(category, row) for row in rows[offset::step][:count]]

    def named(self, ids):
        """The questions with these ids, in their order."""
        by_id = {}
        for category in {identity.rsplit("_", 1)[0] for identity in ids}:
            by_id |= {row["id"]: (category, row) for row in self._rows(f"BFCL_v4_{category}.json")}
        return [self._question(*by_id[identity]) for identity in ids if identity in by_id]

    def format_sensitivity(self):
        """The ids of the questions that BFCL asks in every format, by category."""
        return json.loads((self._data / "BFCL_v4_format_sensitivity.json").read_text(encoding="utf-8"))

    def judge(self, question, calls):
        """`None` for right calls (`[{name: arguments}]`), else what is wrong, in a word or two."""
        if question["category"] in IRRELEVANT:
            return "called" if calls else None
        if not calls:
            return "no call"
        expected = question["expected"]
        try:
            verdict = self._check(question["functions"], calls, expected, self._python, question["category"], "any")
        except Exception as error:  # it trips over some calls that are wrong
            return f"judge: {error!r}"[:100]
        return None if verdict["valid"] else verdict["error_type"]

    @functools.lru_cache
    def _rows(self, name):
        return [json.loads(line) for line in (self._data / name).read_text(encoding="utf-8").splitlines()]

    def _question(self, category, row):
        expected = None
        if category not in IRRELEVANT:
            answers = self._rows(f"possible_answer/BFCL_v4_{category}.json")
            expected = next(answer["ground_truth"] for answer in answers if answer["id"] == row["id"])
        return {
            "id": row["id"],
            "category": category,
            "messages": row["question"][0],
            "functions": row["function"],
            "tools": [_tool(function) for function in row["function"]],
            "expected": expected,
        }


def _tool(function):
    """A function of BFCL's as a tool of the API."""
    name = function["name"].replace(".", "_")
    parameters = _json_schema(function["parameters"])
    return {"type": "function", "function": {"name": name, "description": function["description"], "parameters": parameters}}


def _json_schema(schema):
    """BFCL's types are Python's."""
    if isinstance(schema, list):
        return [_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: _json_schema(value) for key, value in schema.items()}
    words = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
    if isinstance(schema.get("type"), str):
        schema["type"] = words.get(schema["type"], schema["type"])
    return schema


def _stand_ins():
    """Empty modules for what is not installed, and for a table of models that would import every model's client."""
    for name in (
        "filelock", "tenacity",
        "bfcl_eval.model_handler.parser.java_parser", "bfcl_eval.model_handler.parser.js_parser",
        "bfcl_eval.eval_checker.ast_eval.type_convertor.java_type_converter",
        "bfcl_eval.eval_checker.ast_eval.type_convertor.js_type_converter",
    ):  # fmt: skip
        sys.modules.setdefault(name, _Empty(name))
    models = types.ModuleType("bfcl_eval.constants.model_config")
    row = types.SimpleNamespace(underscore_to_dot=True)  # "dots were replaced": all that the judge asks of a model
    models.MODEL_CONFIG_MAPPING = type("Every", (dict,), {"__missing__": lambda _self, _key: row})()
    sys.modules[models.__name__] = models


class _Empty(types.ModuleType):
    """Has whatever is asked for; nothing of it is ever used."""

    __all__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_arguments, **_options: lambda function: function
