"""Rows of answers: every case of every dialect, prose, and calls that are cut off."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

CASES = Path(__file__).resolve().parents[2] / "crates/del-dialects/dialects"


def texts() -> list[str]:
    cases = [tomllib.loads(path.read_text())["text"] for path in sorted(CASES.glob("*/cases/*.toml"))]
    prose = [f"Case {number} of the day needs no tool: it is {number * 7} degrees outside, and dry." for number in range(500)]
    broken = [text[: len(text) * 2 // 3] for text in cases]
    return [*cases, *prose, *broken]


def behind_prose(text: str, row: int) -> str:
    """An answer of one to four kilobytes, as models write them, no two the same: some paragraphs before what it does."""
    sentences = [f"Line {row + number} of the log says {row * number % 9973} of {number}." for number in range(26 + row % 76)]
    return " ".join([*sentences, "\n\n", text])


def numbered(text: str, row: int) -> str:
    """The same with a line before it, so that no two are the same."""
    return f"Row {row}.\n{text}"


def write(folder: Path, rows: int, files: int, each: Callable[[str, int], str] = lambda text, row: text) -> None:
    """Files with rows of id and text, which is what `each` makes of one of the texts; the same ones each time."""
    folder.mkdir(parents=True)
    all_texts = texts()
    share = -(-rows // files)
    for number in range(files):
        ids = range(number * share, min((number + 1) * share, rows))
        # A prime step, so that each file has some of all.
        chosen = [all_texts[row * 7919 % len(all_texts)] for row in ids]
        chosen = [each(text, row) for text, row in zip(chosen, ids, strict=True)]
        table = pa.table({"id": pa.array(ids, pa.int64()), "text": chosen})
        pq.write_table(table, folder / f"part-{number:03}.parquet", row_group_size=max(share // 2, 1))
