"""Del in LiteLLM: a provider that gives tools to models of another one.

    import litellm
    from del_dialects.litellm import register

    register()
    litellm.completion("del/openai/qwen3-8b", messages, tools=tools, api_base="http://127.0.0.1:8080/v1", api_key="none")

It is tested with LiteLLM 1.106.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import litellm
from litellm import CustomLLM
from litellm.types.utils import ChatCompletionMessageToolCall, Delta, ModelResponse, ModelResponseStream, StreamingChoices
from litellm.utils import custom_llm_setup

from ._frameworks import AnswerReader, Piece, ReadCall, chosen, read, readable
from ._lib import Dialect, Tools, render_messages
from ._types import Detail

# What is said in the prompt instead, or is of the reading.
_TOLD = ("tools", "tool_choice", "parallel_tool_calls", "stream")


class TextTools(CustomLLM):  # type: ignore[misc]
    """Hands a request on to the provider that the rest of the model's name says. Tools are told in the prompt, calls and
    results of the conversation are text there, and calls in the model's text become `tool_calls`, streamed as well: text
    as it comes, and calls with the end. With `tell=False` the provider is given the tools, and only its text is read.

    `dialect` is the one that the model is told of; left out, it is that of the model by its name, or `hermes`. All
    dialects are read. `detail="compact"` and `remind` are for very small models: fewer words, and the question again behind
    results. `provider_specific_fields` of an answer's message, and of the chunk that has a call, say what had to be
    guessed in its arguments: such a call should not run.
    """

    def __init__(
        self, dialect: str | Dialect | None = None, *, tell: bool = True, detail: Detail = "full", remind: bool = False
    ) -> None:
        super().__init__()
        self.dialect, self.tell, self.detail, self.remind = dialect, tell, detail, remind

    def completion(self, *_: Any, **asked: Any) -> Any:
        return self._read(asked, litellm.completion(**self._told(asked)))

    async def acompletion(self, *_: Any, **asked: Any) -> Any:
        return self._read(asked, await litellm.acompletion(**self._told(asked)))

    def streaming(self, *_: Any, **asked: Any) -> Iterator[Any]:
        reader = self._reader(asked)
        for chunk in litellm.completion(**self._told(asked), stream=True):
            yield from reader.chunks(chunk)

    async def astreaming(self, *_: Any, **asked: Any) -> AsyncIterator[Any]:
        reader = self._reader(asked)
        async for chunk in await litellm.acompletion(**self._told(asked), stream=True):
            for told in reader.chunks(chunk):
                yield told

    def _told(self, asked: dict[str, Any]) -> dict[str, Any]:
        options, messages = dict(asked["optional_params"]), asked["messages"]
        tools, parallel = options.get("tools"), options.get("parallel_tool_calls") is not False
        if self.tell:
            dialect = chosen(self.dialect, asked["model"].rpartition("/")[2])
            choice = _choice(options.get("tool_choice"))
            shape: dict[str, Any] = {"detail": self.detail, "parallel": parallel, "remind": self.remind}
            messages = render_messages(_plain(messages), dialect, tools, choice, **shape)
        given = {key: value for key, value in options.items() if not (self.tell and key in _TOLD)}
        given.pop("stream", None)
        return given | {
            "model": asked["model"],
            "messages": messages,
            "api_base": asked["api_base"],
            "api_key": asked["api_key"],
            "extra_headers": asked["headers"],
            "timeout": asked["timeout"],
        }

    def _reader(self, asked: dict[str, Any]) -> "_Stream":
        options = asked["optional_params"]
        reads = options.get("tools") and _choice(options.get("tool_choice")) != "none"
        if not reads:
            return _Stream(None)
        return _Stream(AnswerReader(readable(self.dialect), Tools(options["tools"]), taken=_ids(asked)))

    def _read(self, asked: dict[str, Any], response: ModelResponse) -> ModelResponse:
        options = asked["optional_params"]
        if not options.get("tools") or _choice(options.get("tool_choice")) == "none":
            return response
        dialect, tools = readable(self.dialect), Tools(options["tools"])
        for choice in response.choices:
            message = choice.message
            if message.tool_calls or not isinstance(message.content, str):
                continue
            piece = read(message.content, dialect, tools, _ids(asked), cut=choice.finish_reason == "length")
            message.content = piece.content or None
            if piece.reasoning and not getattr(message, "reasoning_content", None):
                message.reasoning_content = piece.reasoning
            if piece.calls:
                message.tool_calls = [ChatCompletionMessageToolCall(**_call(call)) for call in piece.calls]
                message.provider_specific_fields = (message.provider_specific_fields or {}) | _guesses(piece)
                choice.finish_reason = "tool_calls"
        return response


class _Stream:
    """Reads the chunks of one answer."""

    def __init__(self, reader: AnswerReader | None) -> None:
        self._reader, self._count = reader, 0

    def chunks(self, chunk: ModelResponseStream) -> Iterator[ModelResponseStream]:
        choice = chunk.choices[0] if chunk.choices else None
        if self._reader is None or choice is None:
            yield chunk
            return
        if choice.delta.tool_calls:  # the provider reads calls itself
            self._count += 1
        piece = self._reader.push(choice.delta.content or "")
        if choice.finish_reason:
            piece += self._reader.finish(cut=choice.finish_reason == "length")
            self._reader = None
        if piece.content or piece.reasoning or piece.calls:
            yield self._told(chunk, piece)
        choice.delta.content = None
        if choice.finish_reason and self._count:
            choice.finish_reason = "tool_calls"
        yield chunk

    def _told(self, chunk: ModelResponseStream, piece: Piece) -> ModelResponseStream:
        calls = [_call(call) | {"index": index} for index, call in enumerate(piece.calls, self._count)]
        delta = Delta(content=piece.content or None, role="assistant", tool_calls=calls or None)
        if piece.reasoning:
            delta.reasoning_content = piece.reasoning
        delta.provider_specific_fields = _guesses(piece) or None
        self._count += len(piece.calls)
        return chunk.model_copy(update={"choices": [StreamingChoices(index=0, delta=delta)], "usage": None})


def register(name: str = "del", handler: TextTools | None = None) -> None:
    """Makes the models of other providers known below `name`: `del/PROVIDER/MODEL`."""
    others = [item for item in litellm.custom_provider_map if item["provider"] != name]
    litellm.custom_provider_map = [*others, {"provider": name, "custom_handler": handler or TextTools()}]
    custom_llm_setup()


def _choice(choice: Any) -> str:
    return str(choice["function"]["name"]) if isinstance(choice, dict) else choice or "auto"


def _plain(messages: list[Any]) -> list[dict[str, Any]]:
    """Messages that an earlier answer gave are objects."""
    return [message if isinstance(message, dict) else message.model_dump(exclude_none=True) for message in messages]


def _ids(asked: dict[str, Any]) -> set[str]:
    return {call["id"] for said in _plain(asked["messages"]) for call in said.get("tool_calls") or ()}


def _call(call: ReadCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _guesses(piece: Piece) -> dict[str, Any]:
    guesses = {call.id: call.guesses for call in piece.calls if call.guesses}
    return {"guesses": guesses} if guesses else {}
