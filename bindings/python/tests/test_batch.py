"""Columns of answers."""

from typing import Any

import pyarrow as pa
import pytest
from cases import CASES, TOOLS

import del_dialects as dd
from del_dialects.tables import ParseColumn

TEXTS = [case.text for case in CASES]


def expected(text: str, dialect: str = "auto", tools: Any = None) -> dict[str, Any]:
    message = dd.parse(text, dialect, tools)
    return {
        "dialect": message.dialect,
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls],
        "faults": [{"kind": fault.kind, "changes_arguments": fault.changes_arguments} for fault in message.faults],
    }


def test_an_answer_may_begin_in_the_thinking() -> None:
    column = pa.array(["hm</think>Hi"])
    assert pa.array(dd.parse_batch(column)).to_pylist()[0]["reasoning"] == "hm"
    assert ParseColumn("text")(pa.table({"text": column}))["answer"][0]["reasoning"].as_py() == "hm"
    assert pa.array(dd.parse_batch(column, starts_in="text")).to_pylist()[0]["reasoning"] != "hm"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_each_row_is_read_as_by_itself(kind: pa.DataType, threads: int) -> None:
    tools = dd.Tools(TOOLS)
    read = dd.parse_batch(pa.array(TEXTS, kind), tools=tools, threads=threads)
    assert len(read) == len(TEXTS)
    rows = [expected(text, tools=tools) for text in TEXTS]
    assert pa.array(read).to_pylist() == pa.chunked_array(read).to_pylist() == rows
    assert pa.array(read).validate(full=True) is None


def test_what_is_missing_stays_missing() -> None:
    column = pa.chunked_array([["Hi", None], [], [None, "Ho"]], pa.string())
    read = pa.chunked_array(dd.parse_batch(column)).to_pylist()
    assert [row and row["content"] for row in read] == ["Hi", None, None, "Ho"]
    assert pa.array(dd.parse_batch(pa.array([], pa.string()))).to_pylist() == []
    # Where no row has a text, the column has no type.
    assert pa.array(dd.parse_batch(pa.array([None, None]))).to_pylist() == [None, None]


def test_a_part_of_an_array_is_read() -> None:
    column = pa.array(["a", "b", "c", None, "d"]).slice(1, 3)
    assert [row and row["content"] for row in pa.array(dd.parse_batch(column)).to_pylist()] == ["b", "c", None]


def test_what_is_no_column_of_strings_is_an_error() -> None:
    with pytest.raises(TypeError, match="^column: expected strings, got Int64"):
        dd.parse_batch(pa.array([1]))
    for column in (["a"], "a", None):
        with pytest.raises(TypeError, match="column: expected a column of Arrow.*, got " + type(column).__name__):
            dd.parse_batch(column)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads"):
        dd.parse_batch(pa.array(["a"]), threads=0)
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    with pytest.raises((TypeError, ValueError), match="(?i)utf-?8"):
        dd.parse_batch(broken)


class Handed:
    """A column that is handed over as it is, to whoever asks."""

    def __init__(self, way: str, column: Any) -> None:
        capsule = getattr(column, way)()
        setattr(type(self), way, lambda self, requested_schema=None: capsule)


@pytest.mark.parametrize("way", ["__arrow_c_array__", "__arrow_c_stream__"])
def test_what_was_taken_already_is_an_error(way: str) -> None:
    texts = pa.array(["a"]) if way == "__arrow_c_array__" else pa.chunked_array([["a"]])
    handed = type("Handed", (Handed,), {})(way, texts)
    assert len(dd.parse_batch(handed)) == 1
    with pytest.raises(ValueError, match="taken already|already released"):
        dd.parse_batch(handed)


class Untyped:
    """A column without a text, of which nothing but the length can be read, as Polars hands it over."""

    def __len__(self) -> int:
        return 2

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.chunked_array([], pa.null()).__arrow_c_stream__()


def test_a_column_without_a_type_has_nothing_but_a_length() -> None:
    assert pa.array(dd.parse_batch(Untyped())).to_pylist() == [None, None]
    assert pa.array(dd.convert_batch(Untyped(), "hermes")).to_pylist() == [None, None]


def test_each_row_is_rewritten_as_by_itself() -> None:
    """`del convert` has the same code, and its own tests; here it is what comes of it as columns."""
    tools = dd.Tools(TOOLS)
    rows = pa.array(dd.convert_batch(pa.array([*TEXTS, None]), "glm45", tools=tools, threads=3)).to_pylist()
    assert len(rows) == len(TEXTS) + 1 and rows[-1] is None
    whole = [(text, row) for text, row in zip(TEXTS, rows) if row["error"] is None]
    assert len(whole) > len(TEXTS) / 2
    for text, row in whole:
        again = dd.parse(row["text"], "glm45", tools)
        assert len(again.calls) == row["calls"], text
    for row in rows[:-1]:
        assert (row["text"] is None) == (row["error"] is not None)
    with pytest.raises(dd.UnknownDialectError):
        dd.convert_batch(pa.array(["a"]), "none")
