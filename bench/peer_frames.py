"""Three GROUP BYs of a file by the libraries of distributed frames that are installed: python peer_frames.py FILE.

Prints a JSON object: of each library the median seconds of three runs after one that warms up, or what it lacks.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

PATH = sys.argv[1]


def with_daft() -> None:
    """Count with Daft."""
    import daft

    frame = daft.read_parquet(PATH).with_column("bin", (daft.col("income") / 2000).floor())
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        frame.groupby(*columns).agg(daft.col("age").count().alias("n")).to_pydict()


def with_dask() -> None:
    """Count with Dask."""
    import dask.dataframe as dd

    frame = dd.read_parquet(PATH).assign(bin=lambda own: own["income"] // 2000)
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        frame.groupby(columns).size().compute()


def with_ray() -> None:
    """Count with Ray."""
    import ray

    ray.init(ignore_reinit_error=True, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    for columns in (["age"], ["sex", "job"]):  # no bins: each needs a pass over batches
        ray.data.read_parquet(PATH).groupby(columns).count().take_all()


def timed(run: Callable[[], None]) -> dict[str, object]:
    """Return the median seconds, or why there are none."""
    seconds = []
    try:
        for _ in range(4):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001  # a peer may lack anything
        return {"left out": type(error).__name__}
    return {"seconds": statistics.median(seconds[1:])}


if __name__ == "__main__":
    print(json.dumps({run.__name__.removeprefix("with_"): timed(run) for run in (with_daft, with_dask, with_ray)}))
