"""What the modules for frameworks share: which dialect a model is told of, and the calls of its answer."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ._engine import StartsIn, mint
from ._lib import Args, CallEnd, CallStart, Dialect, Fault, Parser, Reasoning, Text, Tools, restore_json
from ._types import Event


def chosen(dialect: str | Dialect | None, model: str | None) -> Dialect:
    """The dialect in which tools are told: left out, it is that of the model by its id, or `hermes`."""
    if dialect is None:
        return (model and Dialect.for_model(model)) or Dialect.get("hermes")
    return Dialect.get(dialect) if isinstance(dialect, str) else dialect


@dataclass(slots=True)
class ReadCall:
    """A complete call. Where there are `guesses`, its arguments may be others than the model meant, and it must not run."""

    id: str
    name: str
    arguments: str = ""
    guesses: list[str] = field(default_factory=list)

    @property
    def refusal(self) -> str:
        """What the model is told of a call that does not run."""
        return f"{self.name} was not run: its arguments are not certain ({', '.join(self.guesses)}). Write the call again."


@dataclass(slots=True)
class Piece:
    """What a piece of an answer has settled, or all of it."""

    content: str = ""
    reasoning: str = ""
    calls: list[ReadCall] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def refusals(self) -> list[str]:
        """What the model is told of calls that do not run, or that cannot be read."""
        lost = [fault.message for fault in self.faults if fault.ends_call]
        return [call.refusal for call in self.calls if call.guesses] + lost

    def __add__(self, other: "Piece") -> "Piece":
        return Piece(
            self.content + other.content,
            self.reasoning + other.reasoning,
            self.calls + other.calls,
            self.faults + other.faults,
        )


def readable(dialect: str | Dialect | None) -> str | Dialect:
    """What an answer is read as: all dialects at once, of which a description of one's own is none."""
    return dialect if isinstance(dialect, Dialect) else "auto"


class AnswerReader:
    """Reads an answer in pieces. Calls come with its end: what stands behind a call may make it doubtful. Ids are the model's
    own, unless they are `taken` by earlier calls.
    """

    def __init__(
        self, dialect: str | Dialect, tools: Tools | None, starts_in: StartsIn = "text", taken: Iterable[str] = ()
    ) -> None:
        self._parser = Parser(dialect, tools, starts_in=starts_in)
        self._taken = set(taken)
        self._calls: dict[int, ReadCall] = {}
        self._whole: list[ReadCall] = []

    def push(self, text: str) -> Piece:
        try:
            return self._told(self._parser.push(text))
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can carry
            return self._told(self._parser.push(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    def finish(self, *, cut: bool = False) -> Piece:
        return self._told(self._parser.finish(cut=cut)) + Piece(calls=self._whole)

    def _told(self, events: list[Event]) -> Piece:
        piece = Piece()
        for event in events:
            match event:
                case Text(text):
                    piece.content += text
                case Reasoning(text):
                    piece.reasoning += text
                case CallStart(number, name, id):
                    self._calls[number] = ReadCall(self._id(id), name)
                case Args(number, json):
                    self._calls[number].arguments += json
                case CallEnd(number):
                    call = self._calls[number]
                    call.arguments = restore_json(call.arguments)
                    self._whole.append(call)
                case Fault():
                    piece.faults.append(event)
                    if event.changes_arguments and event.call in self._calls:
                        self._calls[event.call].guesses.append(event.kind)
        return piece

    def _id(self, own: str | None) -> str:
        given = own if own and own not in self._taken else mint()
        self._taken.add(given)
        return given


def read(text: str, dialect: str | Dialect, tools: Tools | None, taken: Iterable[str] = (), *, cut: bool = False) -> Piece:
    """A whole answer. Where it starts, in the thinking or behind it, its marks tell."""
    reader = AnswerReader(dialect, tools, "unknown", taken)
    return reader.push(text) + reader.finish(cut=cut)
