"""The parameters of a function as JSON Schema, from the types in its annotations."""

import collections
import dataclasses
import datetime
import decimal
import enum
import inspect
import types
import typing
import uuid
from collections import abc
from typing import Any

from ._lib import ToolsError

# How values of these types are called in JSON Schema.
_NAMES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    decimal.Decimal: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
}
_SETS: tuple[Any, ...] = (set, frozenset, abc.Set, abc.MutableSet)
_LISTS: tuple[Any, ...] = (list, collections.deque, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable, *_SETS)
_MAPS: tuple[Any, ...] = (dict, collections.OrderedDict, collections.defaultdict, abc.Mapping, abc.MutableMapping)
# What stands around the type of a member of a TypedDict.
_MARKS = {"Required", "NotRequired", "ReadOnly"}


def model_schema(model: Any, place: str, **options: Any) -> dict[str, Any]:
    try:
        return dict(model.model_json_schema(**options))
    except Exception as error:  # whatever pydantic says of a model that has no schema
        raise ToolsError(f"{place}: expected a model that JSON Schema can say, got {model!r}: {error}") from error


class Parameters:
    """The schema of a function's parameters. What the models among them refer to stands at its root, where references lead."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._definitions: dict[str, Any] = {}
        # Classes that are being described, and how they are referred to where they hold themselves.
        self._open: dict[Any, str | None] = {}
        self._known: dict[Any, str] = {}

    def add(self, parameter: inspect.Parameter, place: str) -> None:
        self._properties[parameter.name] = self._schema(self._kind(parameter.annotation, place), place)
        if parameter.default is parameter.empty:
            self._required.append(parameter.name)

    def schema(self) -> dict[str, Any]:
        schema = _object(self._properties, self._required)
        return schema | ({"$defs": self._definitions} if self._definitions else {})

    def _kind(self, annotation: Any, place: str) -> Any:
        """What is meant by an annotation, which may be written in quotes."""
        return self._hints(types.SimpleNamespace(__annotations__={"kind": annotation}), place, annotation)["kind"]

    def _hints(self, annotated: Any, place: str, got: Any) -> dict[str, Any]:
        try:
            if isinstance(annotated, type):
                return typing.get_type_hints(annotated, None, self._names, include_extras=True)
            return typing.get_type_hints(annotated, self._names, include_extras=True)
        except Exception as error:  # it is code
            raise ToolsError(f"{place}: expected an annotation that can be read, got {got!r}: {error}") from error

    def _schema(self, kind: Any, place: str) -> dict[str, Any]:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            described = next((text for text in arguments[1:] if isinstance(text, str)), None)
            return self._schema(arguments[0], place) | ({"description": described} if described else {})
        if origin is typing.Literal:
            return {"enum": [value.value if isinstance(value, enum.Enum) else value for value in arguments]}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self._schema(argument, place) for argument in arguments]}
        if getattr(origin, "_name", None) in _MARKS:
            return self._schema(arguments[0], place)
        for named in ("__supertype__", "__value__"):  # of a NewType, and of a name that `type` gives
            if hasattr(kind, named) and not isinstance(kind, type):
                return self._schema(getattr(kind, named), place)
        return self._class(kind if origin is None else origin, arguments, place)

    def _class(self, kind: Any, arguments: tuple[Any, ...], place: str) -> dict[str, Any]:
        if kind is tuple:
            return self._tuple(arguments, place)
        if _is_one(kind, _LISTS):
            items = {"items": self._schema(arguments[0], place)} if arguments else {}
            return {"type": "array"} | items | ({"uniqueItems": True} if _is_one(kind, _SETS) else {})
        if _is_one(kind, _MAPS):
            return {"type": "object"} | ({"additionalProperties": self._schema(arguments[1], place)} if arguments else {})
        if hasattr(kind, "model_json_schema"):
            return self._model(kind, place)
        if isinstance(kind, type):
            if issubclass(kind, enum.Enum):
                return {"enum": [member.value for member in kind]}
            if dataclasses.is_dataclass(kind) or hasattr(kind, "__required_keys__"):
                return self._record(kind, place)
        for known, shape in _NAMES.items():
            if kind is known:  # what has no hash is none of them
                return dict(shape)
        raise ToolsError(f"{place}: expected a type that JSON has, got {kind!r}; use a model of pydantic")

    def _tuple(self, arguments: tuple[Any, ...], place: str) -> dict[str, Any]:
        if not arguments:
            return {"type": "array"}
        if arguments[-1] is ...:
            return {"type": "array", "items": self._schema(arguments[0], place)}
        count, items = len(arguments), [self._schema(argument, place) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}

    def _record(self, kind: Any, place: str) -> dict[str, Any]:
        """A class with members. Where it holds itself, it stands at the root under its name."""
        if kind in self._open and self._open[kind] is None:
            self._open[kind] = self._free(kind.__name__)
        name = self._known.get(kind) or self._open.get(kind)
        if name is None:
            self._open[kind] = None
            shape = self._members(kind, place)
            name = self._open.pop(kind)
            if name is None:
                return shape
            self._known[kind], self._definitions[name] = name, shape
        return {"$ref": f"#/$defs/{name}"}

    def _members(self, kind: Any, place: str) -> dict[str, Any]:
        hints = self._hints(kind, place, kind)
        if hasattr(kind, "__required_keys__"):  # a TypedDict, also that of typing_extensions
            names, required = list(hints), [name for name in hints if name in kind.__required_keys__]
        else:
            fields = [field for field in dataclasses.fields(kind) if field.init]
            missing = dataclasses.MISSING
            names = [field.name for field in fields]
            required = [field.name for field in fields if field.default is missing and field.default_factory is missing]
        return _object({name: self._schema(hints[name], f"{place}.{name}") for name in names}, required)

    def _free(self, name: str) -> str:
        taken = {*self._definitions, *self._open.values()}
        numbered = (name if number == 1 else f"{name}_{number}" for number in range(1, len(taken) + 2))
        return next(free for free in numbered if free not in taken)

    def _model(self, model: Any, place: str) -> dict[str, Any]:
        schema = model_schema(model, place)
        found = schema.pop("$defs", {})
        number = 1
        # Another model's may have the same names, and mean something else.
        while any(self._definitions.get(name, shape) != shape for name, shape in found.items()):
            number += 1
            schema = model_schema(model, place, ref_template=f"#/$defs/{{model}}_{number}")
            found = {f"{name}_{number}": shape for name, shape in schema.pop("$defs", {}).items()}
        self._definitions |= found
        return schema


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _is_one(kind: Any, kinds: tuple[Any, ...]) -> bool:
    return any(kind is known for known in kinds)
