"""The parser of answers, and the names by which it is asked for."""

from typing import Any

from lmdeploy.serve.openai.protocol import DeltaMessage, DeltaToolCall, FunctionCall, ToolCall
from lmdeploy.serve.parsers.reasoning_parser import ReasoningParser
from lmdeploy.serve.parsers.response_parser import BaseResponseParser
from lmdeploy.serve.parsers.tool_parser.tool_parser import ToolParser

from .. import _engine as engine


class DelToolParser(ToolParser):  # type: ignore[misc]
    """What a request asks of the model. Calls are read by `DelResponseParser`, which sees the whole answer."""

    dialect = engine.AUTO

    def adjust_request(self, request: Any) -> Any:
        request = super().adjust_request(request)
        if not request.tools or request.tool_choice == "none":
            return request
        # Marks are special tokens more often than not.
        return request.model_copy(update={"skip_special_tokens": False})

    @classmethod
    def build_required_response_format(cls, tools: list[Any], *, reasoning: bool) -> dict[str, Any]:
        written = engine.written(cls.dialect, DelResponseParser.tokenizer)
        tag = engine.structural_tag(
            written, engine.read_tools(tools), "required", parallel=True, thinking=reasoning
        )
        if tag is None:
            raise ValueError(f"the dialect {written.name} has no grammar for these tools")
        return tag

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_call>"  # LMDeploy wants to see one

    @classmethod
    def get_tool_close_tag(cls) -> None:
        return None


class DelReasoningParser(ReasoningParser):  # type: ignore[misc]
    """Thinking gets a place of its own, whichever marks it has. Its marks tell where it begins."""

    @classmethod
    def validate_tokenizer(cls, tokenizer: Any) -> None:
        pass

    def starts_in_reasoning_mode(self) -> bool:
        return False


class DelResponseParser(BaseResponseParser):  # type: ignore[misc]
    """LMDeploy's own, but for answers whose calls Del is asked to read: these it reads alone. Where no reasoning parser is
    asked for, thinking stays in the content, between its marks. Calls of tools that were not declared are dropped, as
    LMDeploy's parsers do."""

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self._tools = engine.read_tools(request.tools)
        self._reads = isinstance(self.tool_parser, DelToolParser)
        self._dialect = getattr(self.tool_parser, "dialect", engine.AUTO)
        self._starts_in: engine.StartsIn = "reasoning" if self.reasoning_enabled else "unknown"
        self._marks = None
        if self._reads and (self.reasoning_parser is None or self.enable_thinking is False):
            self._marks = engine.thinking_marks(engine.written(self._dialect, type(self).tokenizer))
        self._reader: engine.Reader | None = None
        self._dropped: set[int] = set()

    def stream_chunk(self, delta_text: str, delta_token_ids: list[int], **kwargs: Any) -> list[tuple[Any, bool]]:
        if not self._reads:
            return list(super().stream_chunk(delta_text, delta_token_ids, **kwargs))
        self._update_reasoning_tokens(delta_token_ids)
        if self._reader is None:
            if not delta_text and not delta_token_ids:  # the beginning of an answer
                return [(DeltaMessage(role="assistant", content=""), False)]
            starts_in = engine.streamed(self._starts_in)
            self._reader = engine.Reader(self._dialect, self._tools, starts_in, self._marks)
        told = self._told(self._reader.push(delta_text))
        if kwargs.get("final"):
            told += self._told(self._reader.finish())
        return told

    def parse_complete(
        self, text: str, token_ids: list[int] | None = None, **kwargs: Any
    ) -> tuple[str | None, list[Any] | None, str | None]:
        if not self._reads:
            content, calls, reasoning = super().parse_complete(text, token_ids, **kwargs)
            return content, calls, reasoning
        self._update_reasoning_tokens(token_ids or [])
        message = engine.read(self._dialect, self._tools, self._starts_in, text)
        calls = [
            ToolCall(id=call.id or engine.mint(), function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in message.calls
            if self._declared(call.name)
        ]
        reasoning = message.reasoning if self._marks is None else None
        return engine.content(message, self._marks) or None, calls or None, reasoning or None

    def _told(self, delta: engine.Delta) -> list[tuple[Any, bool]]:
        told = []
        if delta.reasoning:
            told.append((DeltaMessage(role="assistant", reasoning_content=delta.reasoning), False))
        if delta.content:
            told.append((DeltaMessage(role="assistant", content=delta.content), False))
        calls = [self._call(call) for call in delta.calls if self._kept(call)]
        if calls:
            told.append((DeltaMessage(role="assistant", tool_calls=calls), True))
        return told

    def _kept(self, call: engine.CallDelta) -> bool:
        if call.name is not None and not self._declared(call.name):
            self._dropped.add(call.index)
        return call.index not in self._dropped

    def _call(self, call: engine.CallDelta) -> Any:
        index = call.index - sum(dropped < call.index for dropped in self._dropped)
        function = {"name": call.name, "arguments": call.arguments}
        if call.name is None:
            return DeltaToolCall(id=None, index=index, type=None, function=function)
        return DeltaToolCall(id=call.id or engine.mint(), index=index, type="function", function=function)

    def _declared(self, name: str) -> bool:
        return name in self._tools.names

    def _initialize_reasoning_token_counter(self) -> None:
        tokenizer = type(self).tokenizer
        vocabulary = tokenizer.get_vocab() if tokenizer else {}
        marks = {self._reasoning_open_tag, self._reasoning_close_tag}
        if self.reasoning_parser is not None and not marks <= vocabulary.keys():
            # Thinking whose marks are no tokens is not counted.
            self.reasoning_tokens, self._counting_reasoning_tokens = None, False
            return
        super()._initialize_reasoning_token_counter()
