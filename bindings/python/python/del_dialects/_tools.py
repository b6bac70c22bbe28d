"""Tool definitions as JSON text, from what Python programs have them as."""

import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._lib import ToolsError

# How values of these types are called in JSON Schema.
_NAMES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    type(None): {"type": "null"},
    Any: {},
    inspect.Parameter.empty: {},
}


def to_json(tools: Any) -> str:
    """What `Tools` takes, as the JSON text that Del reads. Text is handed on as it is."""
    if isinstance(tools, str):
        return tools
    if isinstance(tools, (bytes, bytearray)):
        return tools.decode()
    listed = [_definition(tool) for tool in tools] if isinstance(tools, Sequence) else _definition(tools)
    try:
        return json.dumps(listed, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolsError(f"tools: expected what JSON can say: {error}") from error


def _definition(tool: Any) -> Any:
    if isinstance(tool, Mapping):
        return dict(tool)
    if isinstance(tool, type):
        if hasattr(tool, "model_json_schema"):
            return _of_model(tool)
    elif hasattr(tool, "model_dump"):  # an instance of a model: an API's own type of tools
        return tool.model_dump(mode="json", exclude_none=True)
    elif callable(tool):
        return _of_function(tool)
    raise ToolsError(
        "tools: expected a dict, a function, a model of pydantic or JSON text, "
        f"got {tool!r:.80} of type {type(tool).__name__}"
    )


def _of_model(model: Any) -> dict[str, Any]:
    schema = _model_schema(model, model.__name__)
    description = schema.pop("description", "")
    return {"name": model.__name__, "description": description, "parameters": schema}


def _model_schema(model: Any, place: str, **options: Any) -> dict[str, Any]:
    try:
        return dict(model.model_json_schema(**options))
    except Exception as error:  # whatever pydantic says of a model that has no schema
        raise ToolsError(f"{place}: expected a model that JSON Schema can say, got {model!r}: {error}") from error


def _of_function(function: Callable[..., Any]) -> dict[str, Any]:
    named: Any = function
    while isinstance(named, functools.partial):
        named = named.func
    name = getattr(named, "__name__", type(named).__name__)
    # An object that can be called has its annotations in its class.
    written = inspect.unwrap(named if hasattr(named, "__name__") else type(named).__call__)
    try:
        signature = inspect.signature(function)
    except Exception as error:  # there is none, or its annotations, which are code, have failed
        raise ToolsError(f"{name}: expected a function whose parameters can be seen, got {function!r}: {error}") from error
    parameters = _Parameters(getattr(written, "__globals__", {}))
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            parameters.add(parameter, f"{name}.{parameter.name}")
    return {"name": name, "description": inspect.getdoc(named) or "", "parameters": parameters.schema()}


class _Parameters:
    """The schema of a function's parameters. What the models among them refer to stands at its root, where references lead."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._definitions: dict[str, Any] = {}

    def add(self, parameter: inspect.Parameter, place: str) -> None:
        self._properties[parameter.name] = self._schema(self._kind(parameter.annotation, place), place)
        if parameter.default is parameter.empty:
            self._required.append(parameter.name)

    def schema(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": self._properties, "required": self._required}
        return schema | ({"$defs": self._definitions} if self._definitions else {})

    def _kind(self, annotation: Any, place: str) -> Any:
        """What is meant by an annotation, which may be written in quotes."""
        alone = types.SimpleNamespace(__annotations__={"kind": annotation})
        try:
            return typing.get_type_hints(alone, self._names, include_extras=True)["kind"]
        except Exception as error:  # it is code
            raise ToolsError(f"{place}: expected an annotation that can be read, got {annotation!r}: {error}") from error

    def _schema(self, kind: Any, place: str) -> dict[str, Any]:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            described = next((text for text in arguments[1:] if isinstance(text, str)), None)
            return self._schema(arguments[0], place) | ({"description": described} if described else {})
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self._schema(argument, place) for argument in arguments]}
        if origin in (list, tuple):
            items = [self._schema(argument, place) for argument in arguments if argument is not ...]
            return {"type": "array"} | ({"items": items[0]} if items and all(item == items[0] for item in items) else {})
        if origin is dict:
            return {"type": "object"} | ({"additionalProperties": self._schema(arguments[1], place)} if arguments else {})
        if hasattr(kind, "model_json_schema"):
            return self._model(kind, place)
        for known, shape in _NAMES.items():
            if kind is known:  # what has no hash is none of them
                return dict(shape)
        raise ToolsError(f"{place}: expected a type that JSON has, got {kind!r}; use a model of pydantic")

    def _model(self, model: Any, place: str) -> dict[str, Any]:
        schema = _model_schema(model, place)
        found = schema.pop("$defs", {})
        number = 1
        # Another model's may have the same names, and mean something else.
        while any(self._definitions.get(name, shape) != shape for name, shape in found.items()):
            number += 1
            schema = _model_schema(model, place, ref_template=f"#/$defs/{{model}}_{number}")
            found = {f"{name}_{number}": shape for name, shape in schema.pop("$defs", {}).items()}
        self._definitions |= found
        return schema
