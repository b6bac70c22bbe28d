"""Names for what functions take and give."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from ._lib import Args, CallEnd, CallStart, Fault, Reasoning, Text, Tools

# How much a model is told of its tools.
Detail: TypeAlias = Literal["full", "types", "compact"]
Event: TypeAlias = Text | Reasoning | CallStart | Args | CallEnd | Fault


class Model(Protocol):
    """A model of pydantic: the parameters of a tool as a class, or an API's own type of tools."""

    def model_dump(self) -> dict[str, Any]: ...


# What a dict is, a function or a model is as well; text is JSON.
Definition: TypeAlias = Mapping[str, Any] | Callable[..., Any] | type[Model] | Model
AnyTools: TypeAlias = Tools | str | bytes | Definition | Sequence[Definition]


class _Array(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


# A column of strings of any library that speaks the Arrow PyCapsule interface.
Column: TypeAlias = _Array | _Stream


class _Result(TypedDict):
    name: str
    text: str


class CallResult(_Result, total=False):
    """What running a call gave. `ok` is false when the tool failed."""

    id: str | None
    ok: bool


class Thinking(TypedDict):
    """The marks of thinking, and whether the prompt ends inside it."""

    begin: str
    end: str
    prefilled: bool
