"""A job of Ray: files of Parquet in, the same with what was read in them out. Two workers."""

import json
import sys
import time

import ray

from del_dialects.ray import ParseColumn, files


def main(source: str, out: str) -> None:
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=256 << 20, log_to_driver=False, logging_level="error")
    ray.data.DataContext.get_current().enable_progress_bars = False
    begin = time.monotonic()
    reports = files(source, out, ParseColumn("text")).take_all()
    print(
        json.dumps(
            {
                "files": len(reports),
                "rows": sum(report["rows"] for report in reports),
                "calls": sum(report["calls"] for report in reports),
                "finished_before": sum(report["finished_before"] for report in reports),
                "seconds": round(time.monotonic() - begin, 1),
            }
        )
    )


main(*sys.argv[1:])
