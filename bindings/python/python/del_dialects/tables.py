"""Columns of answers, in whatever hands over tables or batches of pyarrow: Ray Data, Spark, Hugging Face datasets, DuckDB.

>>> import pyarrow as pa
>>> table = pa.table({"id": [1, 2], "text": ['<tool_call>{"name": "list_dir", "arguments": {},}</tool_call>', "Hello."]})
>>> read = ParseColumn("text")(table)
>>> read["answer"][0]["calls"].as_py()
[{'id': None, 'name': 'list_dir', 'arguments': '{}'}]
>>> read["answer"][1]["content"].as_py()
'Hello.'
>>> findings(read, keep=["id"]).to_pylist()
[{'id': 1, 'what': 'fault', 'kind': 'repaired', 'changes_arguments': False, 'message': None}]
>>> ConvertColumn("text", to="mistral-json")(table)["converted"][0]["text"].as_py()
'[TOOL_CALLS] [{"name": "list_dir", "arguments": {}}]'
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from ._lib import Answers, Dialect, Tools, __version__, convert_batch, parse_batch
from ._types import AnyTools


class Column:
    """Work on a column of a table: `into` is added to it. There are as many workers as cores, so each is one thread."""

    #: The column that is added, in the words of Spark.
    spark_type: str

    def __init__(
        self, column: str, into: str, dialect: str | Dialect, tools: AnyTools | None, threads: int | None
    ) -> None:
        self.column, self.into = column, into
        self.dialect, self.tools, self.threads = dialect, Tools(tools), threads

    def __call__(self, table: Any) -> Any:
        """The table, or batch, with the column that is added."""
        import pyarrow as pa

        made = self.made(table[self.column])
        column = pa.array(made) if isinstance(table, pa.RecordBatch) else pa.chunked_array(made)
        return table.append_column(self.into, column)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same for each batch of an iterator, which is what `mapInArrow` of Spark wants."""
        import pyarrow as pa

        for batch in batches:
            column = pa.array(self.made(batch[self.column]))
            yield batch.append_column(self.into, column.cast(_small(column.type)))

    def made(self, column: Any) -> Answers:
        raise NotImplementedError

    @property
    def settings(self) -> str:
        """All that the added column depends on beside the texts."""
        settings = {name: value for name, value in vars(self).items() if name not in ("threads", "dialect", "to", "tools")}
        tools = self.tools.__reduce__()[1]
        dialects = [_described(dialect) for dialect in (self.dialect, getattr(self, "to", "auto"))]
        return json.dumps([__version__, type(self).__name__, settings, tools, dialects])


class ParseColumn(Column):
    """Reads the texts in `column`, and adds what it finds as `into`."""

    spark_type = (
        "struct<dialect: string, content: string, reasoning: string, "
        "calls: array<struct<id: string, name: string, arguments: string>>, "
        "faults: array<struct<kind: string, changes_arguments: boolean>>>"
    )

    def __init__(
        self,
        column: str,
        into: str = "answer",
        *,
        dialect: str | Dialect = "auto",
        tools: AnyTools | None = None,
        starts_in: Literal["text", "reasoning", "unknown"] = "unknown",
        threads: int | None = 1,
    ) -> None:
        super().__init__(column, into, dialect, tools, threads)
        self.starts_in = starts_in

    def made(self, column: Any) -> Answers:
        return parse_batch(column, self.dialect, self.tools, starts_in=self.starts_in, threads=self.threads)


class ConvertColumn(Column):
    """Rewrites the answers in `column`, or with `messages` the transcripts, in the dialect `to`, and adds them as `into`."""

    spark_type = (
        "struct<text: string, calls: bigint, "
        "faults: array<struct<kind: string, changes_arguments: boolean>>, error: string>"
    )

    def __init__(
        self,
        column: str,
        into: str = "converted",
        *,
        to: str | Dialect,
        dialect: str | Dialect = "auto",
        tools: AnyTools | None = None,
        messages: bool = False,
        drop_thinking: bool = False,
        keep_guesses: bool = False,
        threads: int | None = 1,
    ) -> None:
        super().__init__(column, into, dialect, tools, threads)
        self.to, self.messages = to, messages
        self.drop_thinking, self.keep_guesses = drop_thinking, keep_guesses

    def made(self, column: Any) -> Answers:
        return convert_batch(
            column,
            self.to,
            self.dialect,
            self.tools,
            messages=self.messages,
            drop_thinking=self.drop_thinking,
            keep_guesses=self.keep_guesses,
            threads=self.threads,
        )


def findings(table: Any, into: str = "answer", keep: Sequence[str] = ()) -> Any:
    """What was wrong in the rows of a table to which `ParseColumn` or `ConvertColumn` has added `into`: a row for each fault,
    and for each row that could not be rewritten. `keep` are the columns that say which row it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    made = table[into].combine_chunks() if isinstance(table, pa.Table) else table[into]
    faults = pc.struct_field(made, "faults")
    kinds = pc.list_flatten(faults)
    found = table.select(list(keep)).take(pc.list_parent_indices(faults))
    parts = [_found(found, "fault", pc.struct_field(kinds, "kind"), pc.struct_field(kinds, "changes_arguments"), None)]
    if made.type.get_field_index("error") >= 0:
        errors = pc.struct_field(made, "error")
        rows = pc.indices_nonzero(pc.is_valid(errors))
        code_and_message = pc.split_pattern(errors.take(rows), ": ", max_splits=1)
        code, message = (pc.list_element(code_and_message, place) for place in range(2))
        parts.append(_found(table.select(list(keep)).take(rows), "reject", code, None, message))
    return pa.concat_tables(parts)


def _found(rows: Any, what: str, kind: Any, changes: Any, message: Any) -> Any:
    import pyarrow as pa

    count = len(kind)
    found = {name: rows[name] for name in rows.schema.names}
    found["what"] = pa.array([what] * count, pa.string())
    found["kind"] = kind.cast(pa.string())
    found["changes_arguments"] = pa.nulls(count, pa.bool_()) if changes is None else changes
    found["message"] = pa.nulls(count, pa.string()) if message is None else message.cast(pa.string())
    return pa.table(found)


def _small(kind: Any) -> Any:
    """The type with offsets of 32 bits: Spark knows no others."""
    import pyarrow as pa

    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(kind.value_field.with_type(_small(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_small(field.type)) for field in kind])
    return pa.int64() if kind == pa.uint32() else kind


def _described(dialect: str | Dialect) -> str:
    return f"{dialect.name} {dialect.toml}" if isinstance(dialect, Dialect) else dialect
