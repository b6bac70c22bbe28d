"""Columns of tables, and files of them."""

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, TOOLS

import del_dialects as dd
from del_dialects.files import pairs, work_file
from del_dialects.tables import ConvertColumn, ParseColumn, findings

CALL = '<tool_call>{"name": "list_dir", "arguments": {},}</tool_call>'


def write(path: Path, rows: int, **options: Any) -> None:
    texts = [case.text for case in CASES]
    table = pa.table({"id": range(rows), "text": [texts[row % len(texts)] for row in range(rows)], "more": [[row] for row in range(rows)]})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=400, **options)


def test_a_worker_gets_the_same_tools_and_dialect() -> None:
    own = dd.Dialect.from_toml(dd.Dialect.get("hermes").toml.replace("tool_call>", "call>"), "own")
    read = pickle.loads(pickle.dumps(ParseColumn("text", dialect=own, tools=TOOLS)))
    assert read.tools.names == dd.Tools(TOOLS).names and read.dialect == own
    table = read(pa.table({"n": [1], "text": ['<call>{"name": "list_dir", "arguments": {}}</call>']}))
    assert table.column_names == ["n", "text", "answer"]
    assert table["answer"][0]["calls"][0]["name"].as_py() == "list_dir"


@pytest.mark.parametrize("column", [ParseColumn("text", tools=TOOLS), ConvertColumn("text", to="glm45", tools=TOOLS)], ids=str)
def test_batches_one_after_another_give_what_the_table_gives(column: Any) -> None:
    table = pa.table({"text": [case.text for case in CASES[:2000]] + [None]})
    batches = list(column.batches(iter(table.to_batches(max_chunksize=300))))
    assert pa.Table.from_batches(batches)[column.into].to_pylist() == column(table)[column.into].to_pylist()
    # These Spark knows, and no larger ones.
    assert "large" not in str(batches[0].schema.field(column.into).type)


def test_findings_are_the_faults_and_the_rejects() -> None:
    table = pa.table({"id": [1, 2, 3, 4], "text": ["Hello", CALL, CALL[:40], None]})
    read = ParseColumn("text")(table)
    kinds = [(row["id"], row["what"], row["kind"]) for row in findings(read, keep=["id"]).to_pylist()]
    assert kinds == [(2, "fault", "repaired"), (3, "fault", "unclosed_call")]
    converted = ConvertColumn("text", to="qwen3-coder")(table)
    found = findings(converted, "converted", ["id"]).to_pylist()
    assert [(row["id"], row["what"], row["kind"]) for row in found] == [(2, "fault", "repaired"), (3, "reject", "broken_call")]
    assert "expected calls that are whole" in found[1]["message"]
    texts = converted["converted"].to_pylist()
    assert [row and row["text"] is not None for row in texts] == [True, True, False, None]


def test_a_guess_is_a_reject_unless_it_is_kept() -> None:
    guessed = '<tool_call>{"name": "list_dir", "arguments": {"path": "." "deep": 1}}</tool_call>'
    table = pa.table({"text": [guessed]})
    (reject,) = findings(ConvertColumn("text", to="qwen3-coder")(table), "converted").to_pylist()
    assert (reject["what"], reject["kind"]) == ("reject", "guessed_call")
    kept = ConvertColumn("text", to="qwen3-coder", keep_guesses=True)(table)
    assert "<parameter=deep>\n1\n" in kept["converted"][0]["text"].as_py()
    (fault,) = findings(kept, "converted").to_pylist()
    assert (fault["what"], fault["kind"], fault["changes_arguments"]) == ("fault", "guessed_border", True)


def test_transcripts_are_rewritten_and_ids_do_not_depend_on_the_rows_around() -> None:
    messages = json.dumps([{"role": "user", "content": "?"}, {"role": "assistant", "content": CALL}])
    column = ConvertColumn("messages", to="openai-native", messages=True)
    one = column(pa.table({"messages": [messages]}))["converted"][0]["text"].as_py()
    many = column(pa.table({"messages": ["[]", messages]}))["converted"][1]["text"].as_py()
    assert one == many and json.loads(one)[1]["tool_calls"][0]["function"]["name"] == "list_dir"


def test_a_file_is_made_once_and_again_when_it_is_cut_off(tmp_path: Path) -> None:
    for name, rows in [("a.parquet", 1000), ("deep/b.parquet", 3), ("none.parquet", 0)]:
        write(tmp_path / "in" / name, rows, compression="zstd")
    todo = pairs(tmp_path / "in", tmp_path / "out")
    assert [Path(target).relative_to(tmp_path / "out").as_posix() for _, target in todo] == ["a.parquet", "deep/b.parquet", "none.parquet"]
    column = ParseColumn("text", tools=TOOLS)
    reports = [work_file(source, target, column) for source, target in todo]
    assert [(report["rows"], report["finished_before"]) for report in reports] == [(1000, False), (3, False), (0, False)]
    source, target = todo[0]
    made = pq.read_table(target)
    assert made.drop_columns("answer").equals(pq.read_table(source)) and pq.ParquetFile(target).num_row_groups == 3
    assert made["answer"].to_pylist() == column(pq.read_table(source))["answer"].to_pylist()
    assert reports[0]["calls"] == sum(len(row["calls"]) for row in made["answer"].to_pylist())
    faults = sum(len(row["faults"]) for row in made["answer"].to_pylist())
    assert sum(json.loads(reports[0]["faults"]).values()) == faults > 0

    whole = Path(target).read_bytes()
    assert work_file(source, target, column) == {**reports[0], "finished_before": True}
    Path(target).write_bytes(whole[: len(whole) // 2])
    Path(target).with_name(".a.parquet.0f.part").write_bytes(b"left by a worker that was killed")
    assert work_file(source, target, column) == reports[0]
    assert Path(target).read_bytes() == whole
    assert work_file(source, target, ParseColumn("text"))["finished_before"] is False
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == ["a.parquet", "b.parquet", "none.parquet"]


def test_of_a_directory_neither_outputs_nor_hidden_files_are_meant(tmp_path: Path) -> None:
    for name in ["a.parquet", "_b.parquet", ".c.parquet", "_d/e.parquet", "read/a.parquet", "f.parquet/g.parquet"]:
        write(tmp_path / name, 1)
    out = tmp_path / "read"
    sources = [Path(source).relative_to(tmp_path).as_posix() for source, _ in pairs(tmp_path, out)]
    assert sources == ["a.parquet", "f.parquet/g.parquet"]
    assert pairs(out, tmp_path / "_d") == [(str(out / "a.parquet"), str(tmp_path / "_d/a.parquet"))]
    # One that is named is meant.
    named = [tmp_path / "_b.parquet", tmp_path / ".c.parquet"]
    assert [source for source, _ in pairs(named, out)] == list(map(str, named))


def test_nothing_of_others_is_written_over(tmp_path: Path) -> None:
    write(tmp_path / "in/a.parquet", 3)
    with pytest.raises(ValueError, match="would be written over"):
        pairs(tmp_path / "in", tmp_path / "in")
    write(tmp_path / "out/a.parquet", 1)
    (pair,) = pairs(tmp_path / "in", tmp_path / "out")
    with pytest.raises(ValueError, match="was not made here"):
        work_file(*pair, ParseColumn("text"))
