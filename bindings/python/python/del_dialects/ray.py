"""Columns of answers in Ray Data.

`parse` and `convert` add a column to a dataset of Ray, and `report` makes a second dataset of what was wrong.
`files` takes files of Parquet through the cluster, one worker a file, and goes on where a run was killed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .files import pairs, work_file
from .tables import Column, ConvertColumn, ParseColumn, findings

__all__ = ["ConvertColumn", "ParseColumn", "convert", "files", "parse", "report"]


def parse(dataset: Any, column: str, into: str = "answer", **options: Any) -> Any:
    """A dataset with the column `into` beside the others; options are those of `ParseColumn`."""
    return dataset.map_batches(ParseColumn(column, into, **options), batch_format="pyarrow", zero_copy_batch=True)


def convert(dataset: Any, column: str, into: str = "converted", **options: Any) -> Any:
    """A dataset with the column `into` beside the others; options are those of `ConvertColumn`."""
    return dataset.map_batches(ConvertColumn(column, into, **options), batch_format="pyarrow", zero_copy_batch=True)


def report(dataset: Any, into: str = "answer", keep: Sequence[str] = ()) -> Any:
    """A dataset of what was wrong in one that `parse` or `convert` has made: a row for each fault, and for each row that could
    not be rewritten. Ray works out a dataset anew for each use: `materialize()` the one that it is made of."""
    return dataset.map_batches(
        findings, batch_format="pyarrow", zero_copy_batch=True, fn_kwargs={"into": into, "keep": list(keep)}
    )


def files(sources: str | Path | list[str] | list[Path], out: str | Path, column: Column) -> Any:
    """A dataset of reports, one for each file of Parquet that `sources` mean. When it is worked out, each file gets the column
    of `ParseColumn` or `ConvertColumn`, and goes to the same name below `out`, which all workers have to see. What an
    earlier run has finished is not done again."""
    import ray

    items = [{"source": source, "target": target} for source, target in pairs(sources, out)]
    dataset = ray.data.from_items(items, override_num_blocks=max(len(items), 1))
    return dataset.map(lambda item: work_file(item["source"], item["target"], column))
