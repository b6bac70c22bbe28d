"""Tool definitions as JSON text, from what Python programs have them as."""

import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
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
    listed = [_definition(tool) for tool in tools] if isinstance(tools, (list, tuple)) else _definition(tools)
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
    schema = model.model_json_schema()
    description = schema.pop("description", "")
    return {"name": model.__name__, "description": description, "parameters": schema}


def _of_function(function: Callable[..., Any]) -> dict[str, Any]:
    named: Any = function
    while isinstance(named, functools.partial):
        named = named.func
    name = getattr(named, "__name__", type(named).__name__)
    # An object that can be called has its annotations in its class.
    written = named if hasattr(named, "__name__") else type(named).__call__
    try:
        hints = typing.get_type_hints(written, include_extras=True)
    except NameError as error:
        raise ToolsError(f"{name}: expected annotations that are defined, got one that is not: {error}") from error
    properties, required = {}, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        properties[parameter.name] = _schema(hints.get(parameter.name, parameter.empty), f"{name}.{parameter.name}")
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": inspect.getdoc(named) or "", "parameters": parameters}


def _schema(kind: Any, place: str) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _NAMES:
        return dict(_NAMES[kind])
    if hasattr(kind, "model_json_schema"):
        return dict(kind.model_json_schema())
    if origin is typing.Annotated:
        described = next((text for text in arguments[1:] if isinstance(text, str)), None)
        return _schema(arguments[0], place) | ({"description": described} if described else {})
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(argument, place) for argument in arguments]}
    if origin in (list, tuple):
        items = [argument for argument in arguments if argument is not ...]
        return {"type": "array"} | ({"items": _schema(items[0], place)} if len(set(items)) == 1 else {})
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], place)}
    raise ToolsError(f"{place}: expected a type that JSON has, got {kind!r}; use a model of pydantic")
