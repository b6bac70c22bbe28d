"""Tool definitions as JSON text, from what Python programs have them as."""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._lib import ToolsError
from ._parameters import Parameters, model_schema


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
    schema = model_schema(model, model.__name__)
    description = schema.pop("description", "")
    return {"name": model.__name__, "description": description, "parameters": schema}


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
    parameters = Parameters(getattr(written, "__globals__", {}))
    for parameter in signature.parameters.values():
        # What has no name cannot be given by one.
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            parameters.add(parameter, f"{name}.{parameter.name}")
    return {"name": name, "description": inspect.getdoc(named) or "", "parameters": parameters.schema()}
