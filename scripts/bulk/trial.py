"""The trial of `scripts/bulk.sh`. It fails at the first thing that is not as it should be."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import processes
import pyarrow.compute as pc
import pyarrow.parquet as pq
import rows

HERE = Path(__file__).parent
# Its traffic stays on this machine.
QUIET = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
MOST_DEL, MOST_WORKER = 400 << 20, 900 << 20


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--del", dest="program", required=True)
    options.add_argument("--scratch", type=Path, required=True)
    options.add_argument("--rows", type=int, default=200_000)
    options.add_argument("--files", type=int, default=40)
    options.add_argument("--only", choices=["del", "ray", "hosts"])
    args = options.parse_args()
    home = args.scratch / "trial"
    shutil.rmtree(home, ignore_errors=True)
    source = home / "in"
    rows.write(source, args.rows, args.files)
    size = sum(path.stat().st_size for path in source.iterdir())
    print(f"{args.rows} rows in {args.files} files, {size / 1e6:.1f} MB")
    if args.only in (None, "del"):
        for command in (["parse"], ["convert", "--to", "hermes"]):
            single_machine([args.program, *command], source, home / command[0], args.rows)
        rates(args.program, source, home / "rates")
        rows.write(home / "numbered", args.rows, args.files, rows.numbered)
        rates(args.program, home / "numbered", home / "rates")
        rows.write(home / "long", args.rows // 10, max(args.files // 10, 1), rows.behind_prose)
        rates(args.program, home / "long", home / "rates")
    if args.only in (None, "ray"):
        cluster(source, home / "ray", args.rows, args.files)
    if args.only in (None, "hosts"):
        import hosts

        hosts.compare(source / "part-000.parquet", home / "hosts")
    shutil.rmtree(home)
    print("everything as it should be")


def single_machine(command: list[str], source: Path, home: Path, count: int) -> None:
    def run(out: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, "--out", str(out), "--json", str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(process: subprocess.Popen[bytes]) -> tuple[dict, int]:
        most = 0
        while process.poll() is None:
            most = max(most, processes.peak(process.pid))
            time.sleep(0.02)
        out, err = process.communicate()
        # 42: some rows have an error.
        check(process.returncode in (0, 42), err.decode())
        return json.loads(out), most

    name = " ".join(["del", *command[1:]])
    expected, most = finish(run(home / "undisturbed"))
    print(f"{name}: undisturbed, {expected['rows']} rows, {expected['calls']} calls, {sum(expected['faults'].values())} faults, "
          f"{sum(expected['rejects'].values())} rejects, at most {most >> 20} MiB")
    check(expected["rows"] == count, f"{count} rows in the report")
    out = home / "disturbed"
    process = run(out)
    done = wait_for_a_third(out, source, lambda: process.poll() is None)
    processes.kill(process.pid)
    process.communicate()
    cut = cut_one(out)
    report, again = finish(run(out))
    print(f"{name}: kill -9 behind {done} files, {cut} cut off, run again: {report['finished_before']} files were finished before, "
          f"at most {again >> 20} MiB")
    check(report["finished_before"] > 0, "nothing was done twice")
    check({**report, "finished_before": 0} == expected, "the report is that of an undisturbed run")
    check(max(most, again) < MOST_DEL, f"less than {MOST_DEL >> 20} MiB")
    compare(home / "undisturbed", out, count)


def cluster(source: Path, home: Path, count: int, files: int) -> None:
    def run(out: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(HERE / "ray_job.py"), str(source), str(out)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=QUIET)

    def finish(process: subprocess.Popen[bytes]) -> tuple[dict, int]:
        most = 0
        while process.poll() is None:
            workers = [pid for pid, name in processes.below(process.pid).items() if name.startswith("ray::")]
            most = max([most, *map(processes.peak, workers)])
            time.sleep(0.2)
        out, err = process.communicate()
        check(process.returncode == 0, err.decode()[-2000:])
        return json.loads(out.splitlines()[-1]), most

    expected, most = finish(run(home / "undisturbed"))
    print(f"Ray: undisturbed, {expected}, at most {most >> 20} MiB in a worker")
    check((expected["rows"], expected["files"]) == (count, files), "all rows in the report")
    out = home / "disturbed"
    process = run(out)
    done = wait_for_a_third(out, source, lambda: process.poll() is None)
    processes.kill(worker_at_work(process))
    report, disturbed = finish(process)
    print(f"Ray: a worker killed behind {done} files; the job goes on: {report}, at most {disturbed >> 20} MiB in a worker")
    cut = cut_one(out)
    report, _ = finish(run(out))
    print(f"Ray: {cut} cut off, run again: {report}")
    check(report["finished_before"] == files - 1, "one file was made again, and no other")
    for name in ("rows", "calls", "files"):
        check(report[name] == expected[name], f"{name} are those of an undisturbed run")
    check(max(most, disturbed) < MOST_WORKER, f"less than {MOST_WORKER >> 20} MiB in a worker")
    # And a job whose whole cluster is gone.
    out = home / "killed"
    process = run(out)
    done = wait_for_a_third(out, source, lambda: process.poll() is None)
    for pid in [process.pid, *processes.below(process.pid)]:
        processes.kill(pid)
    process.communicate()
    report, _ = finish(run(out))
    print(f"Ray: everything killed behind {done} files, run again: {report}")
    check(report["finished_before"] >= done - 1, "nothing was done twice")
    for other in ("disturbed", "killed"):
        compare(home / "undisturbed", home / other, count)


def worker_at_work(process: subprocess.Popen[bytes]) -> int:
    """One that has a task just now: between two it bears another name."""
    while process.poll() is None:
        for pid, name in processes.below(process.pid).items():
            if name.startswith("ray::") and "Map" in name:
                return pid
    raise SystemExit("expected: a worker is at work")


def rates(program: str, source: Path, home: Path) -> None:
    """Rows a second, with every core and by processor time: reading and writing the same columns with pyarrow, and the same
    with work in between."""

    def pyarrow() -> None:
        (home / "pyarrow").mkdir(parents=True, exist_ok=True)
        for path in sorted(source.iterdir()):
            with pq.ParquetFile(path) as given, pq.ParquetWriter(home / "pyarrow" / path.name, given.schema_arrow) as out:
                for group in range(given.metadata.num_row_groups):
                    out.write_table(given.read_row_group(group))

    def run(*command: str) -> Callable[[], None]:
        def work() -> None:
            out = home / command[0]
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run([program, *command, "--out", str(out), str(source)], capture_output=True)

        return work

    def package() -> None:
        from del_dialects.tables import ParseColumn

        (home / "package").mkdir(parents=True, exist_ok=True)
        column = ParseColumn("text")
        for path in sorted(source.iterdir()):
            made = column(pq.read_table(path))
            pq.write_table(made, home / "package" / path.name)

    columns = [pq.read_table(path, columns=["text"])["text"] for path in source.iterdir()]
    count = sum(map(len, columns))
    size = sum(pc.sum(pc.binary_length(column)).as_py() for column in columns) / count
    different = len(set().union(*(column.unique().to_pylist() for column in columns)))
    print(f"rate: {count:,} rows of {size:,.0f} bytes, {different:,} different ones")
    work = {
        "pyarrow alone": pyarrow,
        "del parse": run("parse"),
        "del parse --dialect hermes": run("parse", "--dialect", "hermes"),
        "del convert": run("convert", "--to", "hermes"),
        "ParseColumn": package,
    }
    least = {name: cost(one) for name, one in work.items()}
    wall, processor = least["pyarrow alone"]
    for name, (seconds, spent) in least.items():
        print(
            f"rate: {name}: {count / seconds:,.0f} rows/s, {wall / seconds:.2f} of pyarrow alone; "
            f"{count / spent:,.0f} a second of one core, {processor / spent:.2f}"
        )


def cost(work: Callable[[], None]) -> tuple[float, float]:
    """The least seconds of five runs by the clock, and the least of processor time, that of children among it."""
    clock, processor = [], []
    for _ in range(5):
        before, since = os.times(), time.perf_counter()
        work()
        clock.append(time.perf_counter() - since)
        after = os.times()
        processor.append(max(sum(after[:4]) - sum(before[:4]), 0.01))  # the step of these clocks
    return min(clock), min(processor)


def wait_for_a_third(out: Path, source: Path, alive: Callable[[], bool]) -> int:
    third = len(list(source.iterdir())) // 3
    while alive():
        done = len(list(outputs(out)))
        if done >= third:
            return done
        time.sleep(0.005)
    raise SystemExit("the run has ended before a third was done")


def outputs(out: Path) -> Iterator[Path]:
    """What is finished. Hidden folders come and go while a run is at work."""
    for folder, folders, files in os.walk(out):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder) / name for name in files if not name.startswith("."))


def cut_one(out: Path) -> str:
    path = sorted(outputs(out))[:4][-1]
    os.truncate(path, path.stat().st_size // 2)
    return path.name


def compare(expected: Path, got: Path, count: int) -> None:
    def digests(folder: Path) -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in outputs(folder)}

    check(digests(expected) == digests(got), "the outputs are those of an undisturbed run, byte for byte")
    ids = sorted(number for path in outputs(got) for number in pq.read_table(path, columns=["id"])["id"].to_pylist())
    check(ids == list(range(count)), "every id is there once")
    left = [path for path in got.rglob("*") if path.is_file() and not path.name.endswith((".parquet", ".json", "lock"))]
    left += [path for path in got.rglob("*") if path.name.endswith((".parts", ".part"))]
    check(not left, f"no temporary files, got {left[:3]}")
    print(f"    {len(digests(got))} outputs equal byte for byte, {len(ids)} ids once each, no temporary files")


def check(holds: bool, what: str) -> None:
    if not holds:
        raise SystemExit(f"expected: {what}")


if __name__ == "__main__":
    main()
