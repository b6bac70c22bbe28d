"""What tools may be given as, and what is no tool."""

import dataclasses
import datetime
import enum
import functools
import json
import operator
import typing
from collections import UserList
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from typing_extensions import NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field, create_model

import del_dialects as dd
from del_dialects._tools import to_json

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Get the weather", "parameters": PARAMETERS}
# In this dialect arguments are typed by the schema.
TEXT = "<tool_call>\n<function=get_weather>\n<parameter=city>\n7\n</parameter>\n</function>\n</tool_call>"


class GetWeather(BaseModel):
    """Get the weather"""

    city: str = Field(description="The city")
    days: int = 1


def get_weather(city: Annotated[str, "The city"], unit: Literal["C", "F"] = "C", days: int | None = None) -> str:
    """Get the weather"""
    return city


class Node(BaseModel):
    next: "Node | None" = None


class Model(BaseModel):
    """One that JSON Schema cannot say."""

    work: Callable[[], int]


class Wrapped(BaseModel):
    type: str = "function"
    function: dict[str, Any] = FUNCTION


@pytest.mark.parametrize(
    "tools",
    [
        FUNCTION,
        [FUNCTION],
        {"type": "function", "function": FUNCTION},
        {"tools": [FUNCTION]},
        [{"name": "get_weather", "description": "", "input_schema": PARAMETERS}],
        '[{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}]',
        b'{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}',
        [get_weather],
        (get_weather,),
        UserList([get_weather]),
        Wrapped(),
    ],
    ids=str,
)
def test_all_spellings_type_the_arguments(tools: Any) -> None:
    read = dd.Tools(tools)
    assert read.names == ["get_weather"]
    for given in (tools, read):
        assert dd.parse(TEXT, "qwen3-coder", given).calls[0].loads() == {"city": "7"}
    assert dd.parse(TEXT, "qwen3-coder").calls[0].loads() == {"city": 7}


def test_a_model_of_pydantic_is_a_tool() -> None:
    shown = dd.render_definitions([GetWeather], "hermes")
    assert '"name": "GetWeather"' in shown and "Get the weather" in shown and "The city" in shown


def test_a_function_is_a_tool() -> None:
    shown = dd.render_definitions(get_weather, "hermes")
    assert '"enum": ["C", "F"]' in shown and '"required": ["city"]' in shown and "The city" in shown


class Finder:
    """Finds things"""

    def __call__(self, what: str, most: int = 3) -> list[str]: ...


def test_what_can_be_called_is_a_tool() -> None:
    found = dd.Tools([Finder(), functools.partial(get_weather, unit="C")])
    assert found.names == ["Finder", "get_weather"]
    shown = dd.render_definitions(found, "hermes")
    assert '"what": {"type": "string"}' in shown and '"most": {"type": "integer"}' in shown and "Finds things" in shown


def annotated(kind: Any) -> Any:
    def f(x: Any) -> "Nowhere": ...  # type: ignore[name-defined] # noqa: F821

    f.__annotations__["x"] = kind
    return f


@pytest.mark.parametrize("kind", ["Nowhere", "typing.Nope", "1+", "1/0", [], ([],), set[complex], Annotated[complex, []], bytes, Model], ids=str)
def test_an_annotation_that_cannot_be_read(kind: Any) -> None:
    with pytest.raises(dd.ToolsError, match=r"^f\.x: expected "):
        dd.Tools(annotated(kind))


class Unit(enum.Enum):
    C = "C"
    F = "F"


@dataclasses.dataclass
class Point:
    x: float
    y: Annotated[float, "Up"] = 0.0
    seen: list[str] = dataclasses.field(default_factory=list)
    norm: float = dataclasses.field(init=False)


class Place(TypedDict):
    at: "Point"
    note: NotRequired[str]


@dataclasses.dataclass
class Tree:
    name: str
    parts: "list[Tree]"


POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "number"},
        "y": {"type": "number", "description": "Up"},
        "seen": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["x"],
}
PLACE = {"type": "object", "properties": {"at": POINT, "note": {"type": "string"}}, "required": ["at"]}


def schema(tool: Any) -> Any:
    return json.loads(to_json(tool))["parameters"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (typing.Dict, {"type": "object"}),  # noqa: UP006
        (typing.List, {"type": "array"}),  # noqa: UP006
        ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple, {"type": "array"}),
        (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (typing.Iterable[int], {"type": "array", "items": {"type": "integer"}}),  # noqa: UP006
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (frozenset, {"type": "array", "uniqueItems": True}),
        (Mapping[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (typing.NewType("City", str), {"type": "string"}),
        (Unit, {"enum": ["C", "F"]}),
        (Literal[Unit.C], {"enum": ["C"]}),
        (Point, POINT),
        (list[Place], {"type": "array", "items": PLACE}),
        (Annotated[int, []], {"type": "integer"}),
        (Literal[[1]], {"enum": [[1]]}),  # type: ignore[valid-type]
        (None, {"type": "null"}),
    ],
    ids=str,
)
def test_annotations(kind: Any, expected: Any) -> None:
    assert schema(annotated(kind))["properties"] == {"x": expected}


def test_a_class_that_holds_itself_is_at_the_root() -> None:
    def f(tree: Tree, trees: list[Tree], *more: str, **others: str) -> None: ...

    found, tree = schema(f), {"$ref": "#/$defs/Tree"}
    assert found["properties"] == {"tree": tree, "trees": {"type": "array", "items": tree}}
    parts = {"type": "array", "items": tree}
    assert found["$defs"] == {
        "Tree": {"type": "object", "properties": {"name": {"type": "string"}, "parts": parts}, "required": ["name", "parts"]}
    }
    text = '<tool_call>\n<function=f>\n<parameter=tree>\n{"name": 1, "parts": []}\n</parameter>\n</function>\n</tool_call>'
    assert "tree" in dd.parse(text, "qwen3-coder", f).calls[0].loads()


@pytest.mark.parametrize("tool", [max, operator.itemgetter(1)], ids=str)
def test_a_function_whose_parameters_nobody_sees(tool: Any) -> None:
    with pytest.raises(dd.ToolsError, match="expected a function whose parameters can be seen"):
        dd.Tools(tool)


def outer(kind: Any) -> Any:
    """A model around another; these have the same names, whatever they hold."""
    inner = create_model("Inner", value=(kind, ...))
    return create_model("Outer", inner=(inner, ...), more=(list[inner], []))


def test_what_models_refer_to_is_at_the_root() -> None:
    texts, numbers = outer(str), outer(int)

    def f(a: texts, b: numbers, c: list[numbers], d: Node | None = None) -> None: ...  # type: ignore[valid-type]

    found = schema(f)
    values = {name: shape["properties"].get("value") for name, shape in found["$defs"].items()}
    assert {name: value and value["type"] for name, value in values.items()} == {"Inner": "string", "Inner_2": "integer", "Node": None}
    properties = found["properties"]
    for written, name in (
        (properties["a"]["properties"]["inner"], "Inner"),
        (properties["b"]["properties"]["inner"], "Inner_2"),
        (properties["c"]["items"]["properties"]["more"]["items"], "Inner_2"),
        (properties["d"]["anyOf"][0], "Node"),
        (found["$defs"]["Node"]["properties"]["next"]["anyOf"][0], "Node"),
    ):
        assert written == {"$ref": f"#/$defs/{name}"}
    text = '<tool_call>\n<function=f>\n<parameter=d>\n{"next": null}\n</parameter>\n</function>\n</tool_call>'
    assert dd.parse(text, "qwen3-coder", f).calls[0].loads() == {"d": {"next": None}}


class Hostile(dict):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def keys(self) -> Any:
        raise RuntimeError("no")


def endless() -> Any:
    tool: dict[str, Any] = dict(FUNCTION)
    tool["parameters"] = tool
    return tool


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (7, "got 7 of type int"),
        ([7], "got 7 of type int"),
        ([{"name": 7}], "name"),
        ([FUNCTION, FUNCTION], "twice"),
        ("[", "expected JSON"),
        ("{}", "name"),
        ([{"name": "f", "parameters": {1, 2}}], "what JSON can say"),
        (endless(), "what JSON can say"),
        ([lambda x: object()], None),
        ([object()], "expected a dict"),
    ],
    ids=str,
)
def test_what_is_no_tool_is_an_error(tools: Any, message: str | None) -> None:
    if message is None:  # a function without annotations is one
        assert dd.Tools(tools).names == ["<lambda>"]
        return
    with pytest.raises(dd.ToolsError, match=message):
        dd.Tools(tools)


def test_an_error_of_a_hostile_object_is_its_own() -> None:
    with pytest.raises(RuntimeError, match="no"):
        dd.Tools(Hostile(name="f"))
    with pytest.raises(UnicodeEncodeError):
        dd.Tools('{"name": "\ud800"}')


def test_a_parameter_that_json_cannot_say() -> None:
    def strange(x: complex) -> None: ...

    with pytest.raises(dd.ToolsError, match="strange.x: expected a type that JSON has"):
        dd.Tools(strange)
