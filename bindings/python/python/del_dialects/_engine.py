"""What the plugins of the engines share: names, tools, and answers in the pieces that engines hand on."""

import functools
import logging
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ._lib import (
    Args,
    CallStart,
    Dialect,
    Fault,
    Message,
    Parser,
    Reasoning,
    Text,
    Tools,
    ToolsError,
    detect,
    dialects,
    grammar,
    parse,
)
from ._types import Event

logger = logging.getLogger("del_dialects")

StartsIn = Literal["text", "reasoning", "unknown"]
AUTO = "auto"


@functools.cache
def names() -> dict[str, str]:
    """The names of parsers: `del` reads all dialects at once, `del-NAME` one."""
    return {"del": AUTO} | {f"del-{dialect.name}": dialect.name for dialect in dialects()}


def streamed(starts_in: StartsIn) -> StartsIn:
    """Where a stream starts: while nobody says, nothing could be handed on, so then it is text."""
    return "text" if starts_in == "unknown" else starts_in


def read_tools(tools: Iterable[Any] | None) -> Tools:
    """A request's tools. Those that are none leave an answer to be read without."""
    try:
        return Tools(list(tools or ()))
    except ToolsError as error:
        logger.warning("calls are read without the tools of the request: %s", error)
        return Tools()


def written(dialect: str, tokenizer: Any) -> Dialect:
    """The dialect that the model is held to: of all dialects, that of its chat template."""
    if dialect != AUTO:
        return Dialect.get(dialect)
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get("tool_use") or template.get("default")
    found = _detected(template) if isinstance(template, str) else None
    # Whatever it is, it is read: the parser reads all.
    return found or dialects()[0]


@functools.lru_cache(maxsize=16)
def _detected(template: str) -> Dialect | None:
    try:
        found = detect(template)
    except ValueError as error:
        logger.warning("the dialect of the chat template was not found out: %s", error)
        return None
    return Dialect.get(found.dialect) if found.dialect else None


def structural_tag(
    dialect: Dialect, tools: Tools, choice: str, *, parallel: bool, thinking: bool
) -> dict[str, Any] | None:
    """What a model that has to call may write."""
    try:
        return grammar(dialect, tools, choice, parallel=parallel, thinking=thinking).to_structural_tag()
    except ValueError as error:
        logger.warning("the model is not held to calls: %s", error)
        return None


def thinking_marks(dialect: Dialect) -> tuple[str, str]:
    """What opens and closes thinking; where a dialect has other means, what most models write."""
    begin, end = dialect.reasoning_begin, dialect.reasoning_end
    return (begin[0], end[0]) if begin and end else ("<think>\n", "\n</think>\n\n")


def mint() -> str:
    """An id for a call that the model gave none."""
    return f"call_{uuid.uuid4().hex}"


@dataclass(slots=True)
class CallDelta:
    """More of a call; `name` and `id` come first, and once."""

    index: int
    name: str | None
    id: str | None
    arguments: str


@dataclass(slots=True)
class Delta:
    """What a piece of an answer has settled."""

    content: str = ""
    reasoning: str = ""
    calls: list[CallDelta] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.calls or self.content or self.reasoning)


class Reader:
    """Reads an answer in pieces. `apart` says whether thinking has a place of its own; where it has none, it stays in the
    content, between its marks."""

    def __init__(self, dialect: str, tools: Tools, starts_in: StartsIn, marks: tuple[str, str] | None) -> None:
        self._parser = Parser(dialect, tools, starts_in=starts_in)
        self._marks = marks
        self._open = False

    def push(self, text: str) -> Delta:
        return self._told(self._parser.push(text))

    def finish(self) -> Delta:
        delta = self._told(self._parser.finish())
        self._close(delta)
        return delta

    def _told(self, events: list[Event]) -> Delta:
        delta = Delta()
        calls = delta.calls
        for event in events:
            if isinstance(event, Args):
                if calls and calls[-1].index == event.call:
                    calls[-1].arguments += event.json
                else:
                    calls.append(CallDelta(event.call, None, None, event.json))
            elif isinstance(event, Text):
                self._close(delta)
                delta.content += event.text
            elif isinstance(event, Reasoning):
                self._think(event.text, delta)
            elif isinstance(event, CallStart):
                self._close(delta)
                calls.append(CallDelta(event.call, event.name, event.id, ""))
        return delta

    def _think(self, text: str, delta: Delta) -> None:
        if self._marks is None:
            delta.reasoning += text
            return
        if not self._open:
            delta.content += self._marks[0]
            self._open = True
        delta.content += text

    def _close(self, delta: Delta) -> None:
        if self._open and self._marks is not None:
            delta.content += self._marks[1]
            self._open = False


def content(message: Message, marks: tuple[str, str] | None) -> str:
    """The text of a whole answer; with marks, the thinking stays in it, between them."""
    if marks is None or not message.reasoning:
        return message.content
    shown = []
    for kind, part in message.parts:
        if kind == "reasoning":
            shown.append(f"{marks[0]}{part}{marks[1]}")
        elif kind == "text":
            shown.append(f"{part}")
    return "".join(shown)


class Splitter:
    """Takes the thinking out of an answer, and leaves all else as it came, for whatever reads calls."""

    def __init__(self, dialect: str, tools: Tools, starts_in: StartsIn) -> None:
        self._parser = Parser(dialect, tools, starts_in=starts_in)
        self._openers, self._closers = _marks(dialect)
        self._raw = bytearray()
        self._base = 0  # where the raw text begins in the answer
        self._thought = False  # the last that was settled is thinking

    def push(self, text: str) -> Delta:
        self._raw += text.encode()
        return self._told(self._parser.push(text))

    def finish(self) -> Delta:
        delta = self._told(self._parser.finish())
        delta.content += self._between(self._base + len(self._raw))
        return delta

    def _told(self, events: Sequence[Event]) -> Delta:
        delta = Delta()
        for event in events:
            if isinstance(event, Reasoning):
                self._take(event.end)  # with the marks before it
                delta.reasoning += event.text
                self._thought = True
            elif event.end > self._base:
                if isinstance(event, Text) and event.start == event.end:
                    self._thought = False  # an answer in the form of a call: it stands before where it is told
                between, taken = self._between(event.start), self._take(event.end)
                orphan = isinstance(event, Fault) and event.kind == "orphan_mark"
                # One that opens thinking, in the middle of it or a second time, goes with the thinking.
                if not (orphan and any(taken.strip() in opener for opener in self._openers)):
                    delta.content += between + taken
        return delta

    def _between(self, end: int) -> str:
        """What no event stands for: behind thinking, its closing mark."""
        text, thought, self._thought = self._take(end), self._thought, False
        if not thought or not self._closers:
            return text
        behind = (text.partition(closer)[2] for closer in self._closers if closer in text)
        return next(behind, "").lstrip()

    def _take(self, end: int) -> str:
        count = max(end - self._base, 0)
        taken = bytes(self._raw[:count])
        del self._raw[:count]
        self._base += len(taken)
        return taken.decode()


@functools.cache
def _marks(dialect: str) -> tuple[set[str], set[str]]:
    """What opens and closes thinking, in all spellings, without white space around."""
    known = dialects() if dialect == AUTO else [Dialect.get(dialect)]
    openers = {mark.strip() for each in known for mark in each.reasoning_begin}
    return openers, {mark.strip() for each in known for mark in each.reasoning_end}


def split(dialect: str, tools: Tools, starts_in: StartsIn, text: str) -> Delta:
    """The same of a whole answer."""
    splitter = Splitter(dialect, tools, starts_in)
    delta, end = splitter.push(text), splitter.finish()
    return Delta(delta.content + end.content, delta.reasoning + end.reasoning)


def read(dialect: str, tools: Tools, starts_in: StartsIn, text: str) -> Message:
    """A whole answer."""
    return parse(text, dialect, tools, starts_in=starts_in)
