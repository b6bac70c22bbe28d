"""Files of Parquet, one at a time, for whatever hands out files to workers.

An output is written under a hidden name and renamed when it is whole, and says in its footer what made it: a file that is
there already, by the same settings and from the same source, is not made again, and one that is cut off is.
"""

import glob
import json
import os
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from .tables import Column, findings

_KEY = b"del_dialects"


class FileReport(TypedDict):
    """What was found in a file. `faults` and `rejects` are JSON: how many of each kind."""

    file: str
    rows: int
    calls: int
    faults: str
    rejects: str
    finished_before: bool


def pairs(sources: str | Path | Sequence[str | Path], out: str | Path) -> list[tuple[str, str]]:
    """Each file of Parquet that `sources` mean, and the output of the same name below the directory `out`. Of a directory, what
    begins with a dot or an underscore is left out, and what is in `out`.
    """
    found: dict[str, str] = {}
    targets = set()
    within = Path(out).resolve()
    for source in [sources] if isinstance(sources, (str, Path)) else sources:
        path = Path(source).resolve()
        for file in _below(path, within) if path.is_dir() else [path]:
            name = file.relative_to(path) if path.is_dir() else Path(file.name)
            target = str(within / name)
            if target == str(file):
                raise ValueError(f"{file} would be written over; name another directory")
            if target in targets:
                raise ValueError(f"expected files of different names, got {name} twice")
            targets.add(target)
            found[str(file)] = target
    return list(found.items())


def _below(folder: Path, out: Path) -> list[Path]:
    """The files of Parquet in a folder, however deep, but for those of an `out` in it."""

    def meant(file: Path) -> bool:
        hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        made = out != folder and folder in out.parents and out in file.parents
        return not (hidden or made or file.is_dir())

    return sorted(filter(meant, folder.rglob("*.parquet")))


def work_file(source: str, target: str, column: Column) -> FileReport:
    """Adds a column to a file of Parquet, row group by row group, unless that is done."""
    import pyarrow.parquet as pq

    about = os.stat(source)
    job = json.dumps([column.settings, source, about.st_size, about.st_mtime_ns])
    done = _finished(target, job)
    if done is not None:
        return {**done, "finished_before": True}
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # Another worker may be at the same file, when Ray thinks that one is lost which is not: what each writes is its own, and
    # who comes later takes away what is there.
    folder, name = os.path.split(target)
    for left in Path(folder).glob(f".{glob.escape(name)}.*.part"):
        left.unlink(missing_ok=True)
    part = os.path.join(folder, f".{name}.{uuid.uuid4().hex}.part")
    with pq.ParquetFile(source) as given:
        schema = column(given.schema_arrow.empty_table()).schema
        # What these say of columns, they say of those that were there before.
        words = {key: value for key, value in (schema.metadata or {}).items() if key not in (b"huggingface", b"pandas")}
        groups = given.metadata.num_row_groups
        codec = given.metadata.row_group(0).column(0).compression.lower() if groups else "snappy"
        found = _Found(source)
        with pq.ParquetWriter(part, schema.with_metadata(words), compression="none" if codec == "uncompressed" else codec) as out:
            for group in range(groups):
                made = column(given.read_row_group(group, use_threads=False))
                found.add(made, column.into)
                out.write_table(made.replace_schema_metadata(words), row_group_size=max(made.num_rows, 1))
            out.add_key_value_metadata({_KEY.decode(): json.dumps([job, found.report])})
    with open(part, "rb") as written:
        os.fsync(written.fileno())
    os.replace(part, target)
    return found.report


def _finished(target: str, job: str) -> FileReport | None:
    """What the output says of itself, if it is whole and of this job."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        words = pq.read_metadata(target).metadata or {}
    except (FileNotFoundError, pa.ArrowInvalid):
        return None
    if _KEY not in words:
        raise ValueError(f"{target} is there already, and was not made here; remove it, or name another directory")
    of, report = json.loads(words[_KEY])
    return report if of == job else None


class _Found:
    """Counts what was found in a file."""

    def __init__(self, source: str) -> None:
        self.source, self.rows, self.calls = source, 0, 0
        self.kinds: dict[str, Counter[str]] = {"fault": Counter(), "reject": Counter()}

    def add(self, table: Any, into: str) -> None:
        import pyarrow.compute as pc

        self.rows += table.num_rows
        calls = pc.struct_field(table[into].combine_chunks(), "calls")
        counts = calls if calls.type == "uint32" else pc.list_value_length(calls)
        self.calls += pc.sum(counts).as_py() or 0
        found = findings(table, into)
        for row in found.group_by(["what", "kind"]).aggregate([([], "count_all")]).to_pylist():
            self.kinds[row["what"]][row["kind"]] += row["count_all"]

    @property
    def report(self) -> FileReport:
        faults, rejects = (json.dumps(dict(sorted(self.kinds[what].items()))) for what in ("fault", "reject"))
        return {
            "file": self.source,
            "rows": self.rows,
            "calls": self.calls,
            "faults": faults,
            "rejects": rejects,
            "finished_before": False,
        }
