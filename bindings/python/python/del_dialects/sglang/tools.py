"""The detector of calls."""

from typing import Any

from sglang.srt.environ import envs
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem

from .. import _engine as engine


class DelDetector(BaseFormatDetector):  # type: ignore[misc]
    """Reads calls. Thinking that reaches it stays in the text, between its marks: `--reasoning-parser del` takes it out
    before."""

    dialect = engine.AUTO

    def __init__(self, tokenizer: Any = None) -> None:
        super().__init__()
        self._written = engine.written(self.dialect, tokenizer)
        self._marks = engine.thinking_marks(self._written)
        self._reader: engine.Reader | None = None
        self._dropped: set[int] = set()

    def has_tool_call(self, text: str) -> bool:
        """SGLang asks before it has a whole answer read, and does not say which tools there are. A call without marks can
        only be told by them, so this is for the reading to find out."""
        return True

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        message = engine.read(self.dialect, engine.read_tools(tools), "text", text)
        places = self._get_tool_indices(tools)
        calls = [
            ToolCallItem(tool_index=places.get(call.name, -1), name=call.name, parameters=call.arguments)
            for call in message.calls
            if self._forwarded(call.name, places)
        ]
        return StreamingParseResult(normal_text=engine.content(message, self._marks), calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        return self._result(self._stream(tools).push(new_text), tools)

    def finish(self, tools: list[Any]) -> Any:
        """What was held: SGLang calls it once, when the stream is over."""
        reader, self._reader = self._stream(tools), None
        return self._result(reader.finish(), tools)

    def supports_structural_tag(self) -> bool:
        return True

    def structure_info(self) -> Any:
        raise NotImplementedError("the whole answer is one structural tag: get_structural_tag")

    def get_structural_tag(
        self,
        tools: list[Any] | None = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        from xgrammar import StructuralTag

        choice = tool_choice if isinstance(tool_choice, str) else tool_choice.function.name
        tag = engine.structural_tag(
            self._written,
            engine.read_tools(tools),
            choice,
            parallel=parallel_tool_calls,
            thinking=thinking_mode,
        )
        return None if tag is None else StructuralTag.model_validate(tag)

    def _stream(self, tools: list[Any]) -> engine.Reader:
        if self._reader is None:
            self._reader = engine.Reader(self.dialect, engine.read_tools(tools), "text", self._marks)
        return self._reader

    def _forwarded(self, name: str, places: dict[str, int]) -> bool:
        """Calls of tools that nobody declared are dropped unless the operator of the server wants them."""
        return name in places or bool(envs.SGLANG_FORWARD_UNKNOWN_TOOLS.get())

    def _result(self, delta: engine.Delta, tools: list[Any]) -> Any:
        calls = []
        for call in delta.calls:
            if call.name is not None and not self._forwarded(call.name, self._get_tool_indices(tools)):
                self._dropped.add(call.index)
            if call.index not in self._dropped:
                calls.append({"tool_index": self._place(call.index), "name": call.name, "parameters": call.arguments})
        return StreamingParseResult(normal_text=delta.content, calls=calls)

    def _place(self, index: int) -> int:
        """Which of the calls it is that are handed on."""
        return index - sum(dropped < index for dropped in self._dropped) if self._dropped else index
