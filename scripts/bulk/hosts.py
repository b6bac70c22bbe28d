"""The same column in every host: Ray Data, Hugging Face datasets, and Spark where it is installed."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from del_dialects.tables import ConvertColumn, ParseColumn, findings


def compare(source: Path, home: Path) -> None:
    table = pq.read_table(source)
    expected = ParseColumn("text")(table).to_pylist()
    rejects = findings(ConvertColumn("text", to="qwen3-coder")(table), "converted", ["id"]).to_pylist()
    in_ray(table, expected, rejects)
    in_datasets(table, expected, home)
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        in_spark(source, expected)
    else:
        print("Spark: not run, for pyspark or Java is not installed")


def in_ray(table: pa.Table, expected: list[dict], rejects: list[dict]) -> None:
    import ray
    from del_dialects.ray import convert, parse, report

    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=256 << 20, log_to_driver=False, logging_level="error")
    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.from_arrow(table).repartition(8)
    same("Ray Data, parse", sorted(parse(dataset, "text").take_all(), key=by_id), expected)
    converted = convert(dataset, "text", to="qwen3-coder").materialize()
    found = report(converted, "converted", keep=["id"]).take_all()
    same("Ray Data, report of faults and rejects", sorted(map(comparable, found)), sorted(map(comparable, rejects)))
    ray.shutdown()


def in_datasets(table: pa.Table, expected: list[dict], home: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    dataset = datasets.Dataset(table).with_format("arrow")
    made = dataset.map(ParseColumn("text"), batched=True, cache_file_name=str(home.with_suffix(".arrow")))
    same("Hugging Face datasets, map", made.with_format(None).to_list(), expected)


def in_spark(source: Path, expected: list[dict]) -> None:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
    frame = spark.read.parquet(str(source)).repartition(4)
    column = ParseColumn("text")
    made = frame.mapInArrow(column.batches, f"id bigint, text string, {column.into} {column.spark_type}")
    same("Spark, mapInArrow", [row.asDict(recursive=True) for row in made.orderBy("id").collect()], expected)
    spark.stop()


def by_id(row: dict) -> int:
    return row["id"]


def comparable(row: dict) -> tuple[str, ...]:
    return tuple(str(value) for value in row.values())


def same(host: str, got: list[dict], expected: list[dict]) -> None:
    if got != expected:
        place = next((n for n, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]), min(len(got), len(expected)))
        raise SystemExit(f"{host}: expected {expected[place : place + 1]}, got {got[place : place + 1]}")
    print(f"{host}: {len(got)} rows as expected")
