"""What Del alone makes of a case, and what an engine is compared with."""

from dataclasses import dataclass, field
from typing import Any

from cases import CASES, Case

import del_dialects as dd

__all__ = ["CASES", "Answer", "Case", "Tokenizer", "alone", "answered", "streamed"]


@dataclass
class Answer:
    """Content, thinking, and calls by name and arguments."""

    content: str = ""
    reasoning: str = ""
    calls: list[list[str]] = field(default_factory=list)

    def add(self, content: str | None, reasoning: str | None, calls: list[tuple[int, str | None, str | None]]) -> None:
        self.content += content or ""
        self.reasoning += reasoning or ""
        for index, name, arguments in calls:
            if name:
                assert index == len(self.calls)
                self.calls.append([name, ""])
            self.calls[index][1] += arguments or ""


def answered(message: dd.Message) -> Answer:
    return Answer(message.content, message.reasoning, [[call.name, call.arguments] for call in message.calls])


def starts_in(case: Case) -> Any:
    # Engines know the prompt: an answer begins inside the thinking, or it does not.
    return "reasoning" if case.starts_in == "reasoning" else "text"


def alone(case: Case, dialect: str | None = None, prompt: bool = True) -> Answer:
    """What a whole answer is, where the prompt is known, or not."""
    starts = starts_in(case) if prompt else "unknown"
    return answered(dd.parse(case.text, dialect or case.dialect, case.tools, starts_in=starts))


def streamed(case: Case, dialect: str | None = None) -> Answer:
    """The same of a stream, in which calls have been told of that do not count in the end."""
    parser = dd.Parser(dialect or case.dialect, case.tools, starts_in=starts_in(case))
    answer = Answer()
    for event in parser.push(case.text) + parser.finish():
        match event:
            case dd.Text(text):
                answer.add(text, None, [])
            case dd.Reasoning(text):
                answer.add(None, text, [])
            case dd.CallStart(call, name):
                answer.add(None, None, [(call, name, None)])
            case dd.Args(call, json):
                answer.add(None, None, [(call, None, json)])
    return answer


class Tokenizer:
    """Stands in for the model's own: whatever text it is given is a token."""

    all_special_tokens: tuple[str, ...] = ()
    all_special_ids: tuple[int, ...] = ()

    def __init__(self, chat_template: str | None = None) -> None:
        self.tokens: list[str] = []
        self.chat_template = chat_template

    def get_vocab(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.tokens)}

    def encode(self, text: str, **_: Any) -> list[int]:
        self.tokens.append(text)
        return [len(self.tokens) - 1]

    def decode(self, ids: Any, **_: Any) -> str:
        return "".join(self.tokens[number] for number in ids)
