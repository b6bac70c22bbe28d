"""The detector of thinking."""

from typing import Any

from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector, StreamingParseResult

from .. import _engine as engine


class DelReasoningDetector(BaseReasoningFormatDetector):  # type: ignore[misc]
    """Takes thinking out of an answer, wherever it stands, and leaves all else as it came for what reads the calls."""

    dialect = engine.AUTO

    def __init__(self, tokenizer: Any = None, **options: Any) -> None:
        begin, end = engine.thinking_marks(engine.written(self.dialect, tokenizer))
        # Nobody but the template says that an answer begins inside the thinking.
        options.setdefault("reasoning_default", None)
        super().__init__(begin.strip(), end.strip(), **options)
        self._starts_in: engine.StartsIn = "reasoning" if self._in_reasoning else "text"
        self._splitter: engine.Splitter | None = None
        self._kept = ""

    def detect_and_parse(self, text: str) -> Any:
        delta = engine.split(self.dialect, engine.read_tools(None), self._starts_in, text)
        result = StreamingParseResult(normal_text=delta.content, reasoning_text=delta.reasoning)
        return self._maybe_apply_force_nonempty_content(result)

    def parse_streaming_increment(self, new_text: str) -> Any:
        return self._result(self._stream().push(new_text), over=False)

    def finish(self) -> Any:
        splitter, self._splitter = self._stream(), None
        return self._result(splitter.finish(), over=True)

    def _stream(self) -> engine.Splitter:
        if self._splitter is None:
            self._splitter = engine.Splitter(self.dialect, engine.read_tools(None), self._starts_in)
        return self._splitter

    def _result(self, delta: engine.Delta, *, over: bool) -> Any:
        reasoning = delta.reasoning
        if not self.stream_reasoning:  # it is handed on whole, when the answer begins
            self._kept += reasoning
            reasoning = ""
            if delta.content or over:
                reasoning, self._kept = self._kept, ""
        return StreamingParseResult(normal_text=delta.content, reasoning_text=reasoning)
