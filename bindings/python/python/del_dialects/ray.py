"""Columns of answers in Ray Data, and in whatever hands over tables of pyarrow.

>>> import pyarrow as pa
>>> table = pa.table({"text": ['<tool_call>{"name": "list_dir", "arguments": {}}</tool_call>', "Hello."]})
>>> read = ParseColumn("text")(table)
>>> read["answer"][0]["calls"].as_py()
[{'id': None, 'name': 'list_dir', 'arguments': '{}'}]
>>> read["answer"][1]["content"].as_py()
'Hello.'
"""

from typing import Any, Literal

from ._lib import Dialect, Tools, parse_batch
from ._types import AnyTools


class ParseColumn:
    """Reads the column `column` of a table, and adds what it finds as the column `into`. For `map_batches` of Ray Data
    and `map` of Hugging Face datasets; there are as many workers as cores, so each is one thread."""

    def __init__(
        self,
        column: str,
        into: str = "answer",
        *,
        dialect: str | Dialect = "auto",
        tools: AnyTools | None = None,
        starts_in: Literal["text", "reasoning", "unknown"] = "text",
        threads: int | None = 1,
    ) -> None:
        self.column, self.into = column, into
        self.dialect, self.tools = dialect, Tools(tools)
        self.starts_in, self.threads = starts_in, threads

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        answers = parse_batch(
            table[self.column], self.dialect, self.tools, starts_in=self.starts_in, threads=self.threads
        )
        return table.append_column(self.into, pa.chunked_array(answers))


def parse(dataset: Any, column: str, into: str = "answer", **options: Any) -> Any:
    """A dataset of Ray with the column `into` beside the others; options are those of `ParseColumn`."""
    return dataset.map_batches(ParseColumn(column, into, **options), batch_format="pyarrow", zero_copy_batch=True)
