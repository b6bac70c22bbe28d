"""The tool parser."""

import json
from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaMessage,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from .. import _engine as engine
from .reasoning import DelReasoningParser


class DelToolParser(ToolParser):  # type: ignore[misc]
    """Reads calls, and of an answer whose reasoning parser is Del's as well, all the rest."""

    dialect = engine.AUTO
    # The end of a stream is told, and what is held then is not lost.
    engine_based_streaming = True
    # Calls that are required are read as the model writes them.
    supports_required_and_named = False
    # vLLM sets it where no reasoning parser is asked for: thinking is content then, marks included.
    skip_reasoning_parsing = False

    def __init__(self, tokenizer: Any, tools: list[Any] | None = None) -> None:
        super().__init__(tokenizer, tools)
        self._tools = engine.read_tools(tools)
        self._written = engine.written(self.dialect, tokenizer)
        self._reasoning = DelReasoningParser.claim(self)
        self._reader: engine.Reader | None = None

    def adjust_request(self, request: Any) -> Any:
        request = super().adjust_request(request)
        if not request.tools or request.tool_choice == "none":
            return request
        request.skip_special_tokens = False  # marks are special tokens more often than not
        choice = _forced(request.tool_choice)
        given = getattr(request, "structured_outputs", None)
        if choice is None or (given is not None and given.structural_tag is not None):
            return request
        tag = engine.structural_tag(
            self._written,
            engine.read_tools(request.tools),
            choice,
            parallel=request.parallel_tool_calls is not False,
            # With a reasoning parser, vLLM holds the model to nothing before the thinking is over.
            thinking=self._reasoning is None,
        )
        if tag is not None:
            request.structured_outputs = StructuredOutputsParams(structural_tag=json.dumps(tag))
            setattr(request, "response_format" if hasattr(request, "response_format") else "text", None)
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        message = engine.read(self.dialect, self._tools, self._starts_in(), model_output)
        calls = [
            ToolCall(id=call.id or engine.mint(), function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in message.calls
        ]
        content = engine.content(message, self._marks())
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=content or None)

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        return _message(self._stream().push(delta_text))

    def finish_streaming(self) -> Any:
        """What was held: vLLM calls it once, when the stream is over."""
        reader, self._reader = self._stream(), None
        return _message(reader.finish())

    def _stream(self) -> engine.Reader:
        if self._reader is None:
            starts_in = engine.streamed(self._starts_in())
            self._reader = engine.Reader(self.dialect, self._tools, starts_in, self._marks())
        return self._reader

    def _starts_in(self) -> engine.StartsIn:
        return self._reasoning.starts_in if self._reasoning else "unknown"

    def _marks(self) -> tuple[str, str] | None:
        return engine.thinking_marks(self._written) if self.skip_reasoning_parsing else None


def _forced(choice: Any) -> str | None:
    """`required`, or the name of the tool that has to be called."""
    if choice is None or choice in ("auto", "none", "required"):
        return choice if choice == "required" else None
    named = getattr(choice, "function", choice)
    return getattr(named, "name", None)


def _message(delta: engine.Delta) -> Any:
    """What a piece has settled, as vLLM hands it on; nothing where nothing is."""
    if not delta:
        return None
    # What is not given is not sent, as with vLLM's own parsers. Objects are checked in one go, which takes less than
    # making each by itself.
    calls = [_call(call) for call in delta.calls]
    if not delta.content and not delta.reasoning:
        return DeltaMessage(tool_calls=calls)
    told = {"content": delta.content, "reasoning": delta.reasoning, "tool_calls": calls}
    return DeltaMessage(**{field: value for field, value in told.items() if value})


def _call(call: engine.CallDelta) -> dict[str, Any]:
    if call.name is None:
        return {"index": call.index, "function": {"arguments": call.arguments}}
    return {
        "index": call.index,
        "id": call.id or engine.mint(),
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
