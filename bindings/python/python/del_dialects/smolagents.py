"""Del in smolagents: models whose calls are read by Del.

    from smolagents import OpenAIModel, ToolCallingAgent
    from del_dialects.smolagents import TextCalls

    class Model(TextCalls, OpenAIModel):
        pass

    agent = ToolCallingAgent(tools, Model("qwen3-8b", api_base="http://127.0.0.1:8080/v1", api_key="none"))

It is tested with smolagents 1.26.
"""

from collections.abc import Generator
from typing import Any

from smolagents import ChatMessage, Tool
from smolagents.models import (
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    get_tool_json_schema,
)

from ._frameworks import AnswerReader, Piece, ReadCall, read
from ._lib import Dialect, Tools


class TextCalls:
    """A mixin, written in front of a class of models. Calls that the model writes as text become calls, all of them, in
    answers and in streams; its thinking is left out. Calls of the API stay what they are.

    A call that is broken, or has uncertain arguments, does not run; the text says so, which the model reads in the next
    step.
    """

    dialect: str | Dialect = "auto"

    def generate(
        self,
        messages: list[Any],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        message = super().generate(  # type: ignore[misc]
            messages, stop_sequences, response_format, tools_to_call_from, **kwargs
        )
        if tools_to_call_from and not message.tool_calls and isinstance(message.content, str):
            _take(message, read(message.content, self.dialect, _tools(tools_to_call_from)))
        return message

    def generate_stream(
        self,
        messages: list[Any],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **kwargs: Any,
    ) -> Generator[ChatMessageStreamDelta]:
        deltas = super().generate_stream(  # type: ignore[misc]
            messages, stop_sequences, response_format, tools_to_call_from, **kwargs
        )
        if not tools_to_call_from:
            yield from deltas
            return
        reader, count = AnswerReader(self.dialect, _tools(tools_to_call_from)), 0
        for delta in deltas:
            if delta.content:
                piece = reader.push(delta.content)
                delta.content = _said(piece)
                yield delta
                yield from _deltas(piece, count)
                count += len(piece.calls)
            else:
                yield delta
        piece = reader.finish()
        yield ChatMessageStreamDelta(content=_said(piece))
        yield from _deltas(piece, count)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        if not message.tool_calls and isinstance(message.content, str):
            _take(message, read(message.content, self.dialect, None))
            if not message.tool_calls:
                raise ValueError(f"expected a call of a tool, got {message.content!r}")
        return super().parse_tool_calls(message)  # type: ignore[misc]


def _tools(tools: list[Tool]) -> Tools:
    return Tools([get_tool_json_schema(tool) for tool in tools])


def _take(message: ChatMessage, piece: Piece) -> None:
    message.content = _said(piece)
    message.tool_calls = [
        ChatMessageToolCall(id=call.id, type="function", function=_function(call)) for call in _certain(piece)
    ] or None


def _said(piece: Piece) -> str:
    """The text, and what is said of calls that do not run: the model reads it in the next step."""
    return "\n".join([piece.content, *piece.refusals])


def _certain(piece: Piece) -> list[ReadCall]:
    return [call for call in piece.calls if not call.guesses]


def _deltas(piece: Piece, count: int) -> Generator[ChatMessageStreamDelta]:
    for index, call in enumerate(_certain(piece), count):
        delta = ChatMessageToolCallStreamDelta(index=index, id=call.id, type="function", function=_function(call))
        yield ChatMessageStreamDelta(tool_calls=[delta])


def _function(call: ReadCall) -> ChatMessageToolCallFunction:
    return ChatMessageToolCallFunction(name=call.name, arguments=call.arguments)
