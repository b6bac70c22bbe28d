"""The reasoning parser."""

import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.reasoning.abs_reasoning_parsers import ReasoningParser

from .. import _engine as engine

# Tokens of a prompt's end that are looked at: the mark that opens thinking, and white space.
_TAIL = 32

_newest = threading.local()


class DelReasoningParser(ReasoningParser):  # type: ignore[misc]
    """Tells thinking from the rest. Beside Del's tool parser it hands on everything as it is: where calls stand in the
    thinking, or thinking between calls, only one reader of the whole gets it right."""

    dialect = engine.AUTO
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        # Whole answers are handed over without the prompt by vLLM before 0.33.
        self.starts_in: engine.StartsIn = "unknown"
        self._begin, self._end = engine.thinking_marks(engine.written(self.dialect, tokenizer))
        self._beside = False  # Del's tool parser reads the answer
        self._splitter: engine.Splitter | None = None
        self._over = False
        _newest.parser = weakref.ref(self)

    @classmethod
    def claim(cls, tool_parser: Any) -> "DelReasoningParser | None":
        """The parser that was made for the same answer as this tool parser: vLLM makes both in one step, this one first."""
        newest = getattr(_newest, "parser", lambda: None)()
        _newest.parser = lambda: None
        if newest is None or newest.model_tokenizer is not tool_parser.model_tokenizer:
            return None
        newest._beside = True
        return newest  # type: ignore[no-any-return]

    @property
    def reasoning_start_str(self) -> str:
        return self._begin.strip()

    @property
    def reasoning_end_str(self) -> str:
        return self._end.strip()

    def adjust_request(self, request: Any) -> Any:
        request.skip_special_tokens = False  # marks are special tokens more often than not
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        opened = self._text(prompt_token_ids[-_TAIL:]).rstrip().endswith(self.reasoning_start_str)
        self.starts_in = "reasoning" if opened else "text"

    adjust_initial_state_from_prompt = set_prompt_token_ids  # what vLLM before 0.33 calls, of streams alone

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether the prompt closes the thinking, as templates do that are told not to think."""
        return self._text(input_ids[-_TAIL:]).rstrip().endswith(self.reasoning_end_str)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        fresh = len(list(delta_ids))
        seen = input_ids[-(_TAIL + fresh) :]
        before = self._text(seen[: len(seen) - fresh])
        return self._text(seen).count(self.reasoning_end_str) > before.count(self.reasoning_end_str)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._beside or self._over

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        return input_ids

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        tools = engine.read_tools(request.tools)
        if self._beside:
            message = engine.read(self.dialect, tools, self.starts_in, model_output)
            return message.reasoning or None, model_output
        delta = engine.split(self.dialect, tools, self.starts_in, model_output)
        return delta.reasoning or None, delta.content or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        if self._beside:
            return DeltaMessage(content=delta_text)
        if self._splitter is None:
            starts_in = engine.streamed(self.starts_in)
            self._splitter = engine.Splitter(self.dialect, engine.read_tools(None), starts_in)
        return self._told(self._splitter.push(delta_text))

    def finish_streaming(self) -> Any:
        """What was held, when the thinking or the stream is over."""
        if self._splitter is None:
            return None
        splitter, self._splitter = self._splitter, None
        return self._told(splitter.finish())

    def _told(self, delta: engine.Delta) -> Any:
        self._over = self._over or bool(delta.content)
        if not delta:
            return None
        told = {"content": delta.content, "reasoning": delta.reasoning}
        return DeltaMessage(**{field: text for field, text in told.items() if text})

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.model_tokenizer.decode(list(ids)))
