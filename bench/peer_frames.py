"""Three GROUP BYs of a file by the libraries that are installed: python peer_frames.py FILE [LIBRARY ...].

Pandas, Polars, Daft, Dask and Ray count; OpenDP, diffprivlib and Tumult publish with epsilon 1 in all, PipelineDP the
same of as many rows as fit into its lists in Python.

Prints a JSON object: of each library the median seconds of three runs after one that warms up, or what it lacks.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable

PATH = sys.argv[1]
AGES, SEXES, JOBS = range(17, 97), ("Female", "Male"), tuple(f"job number {number}" for number in range(12))
MOST_IN_LISTS = 100_000
LONG = 60.0  # seconds of a first run that is not repeated


def with_pandas() -> None:
    """Count with pandas."""
    import pandas as pd

    frame = pd.read_parquet(PATH).assign(bin=lambda own: own["income"] // 2000)
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        frame.groupby(columns).size()


def with_polars() -> None:
    """Count with Polars."""
    import polars as pl

    frame = pl.scan_parquet(PATH).with_columns(bin=pl.col("income") // 2000)
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        frame.group_by(columns).len().collect()


def with_opendp() -> None:
    """Publish with OpenDP's context of Polars, keys public."""
    import itertools

    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    bins = pl.col("income").cut([2000.0 * edge for edge in range(1, 50)], labels=[str(place) for place in range(50)])
    context = dp.Context.compositor(
        data=pl.scan_parquet(PATH),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=3,
        margins=[dp.polars.Margin(max_length=100_000_000)],
    )
    keys = {"age": [*AGES], "sex": [*SEXES], "job": [*JOBS], "bin": [str(place) for place in range(50)]}
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        lists = itertools.product(*(keys[name] for name in columns))
        public = pl.DataFrame(list(lists), schema=columns, orient="row")
        public = public.with_columns(pl.col("age").cast(pl.Int32)) if "age" in columns else public
        query = context.query().with_columns(bin=bins.cast(pl.String)) if "bin" in columns else context.query()
        query.group_by(*columns).agg(dp.len()).with_keys(public).release().collect()


def with_diffprivlib() -> None:
    """Publish with diffprivlib's histograms."""
    import numpy as np
    import pandas as pd
    from diffprivlib.tools import histogram, histogram2d

    frame = pd.read_parquet(PATH)
    sex, job = (pd.Categorical(frame[name], own).codes for name, own in (("sex", SEXES), ("job", JOBS)))
    histogram(frame["age"].to_numpy(), epsilon=1 / 3, bins=80, range=(17, 97))
    histogram2d(sex, job, epsilon=1 / 3, bins=[2, 12], range=[(0, 2), (0, 12)])
    histogram2d(job, np.asarray(frame["income"]), epsilon=1 / 3, bins=[12, 50], range=[(0, 12), (0, 100_000)])


def with_pipelinedp() -> None:
    """Publish with PipelineDP's local backend, which holds rows as objects of Python."""
    import itertools

    import pipeline_dp as dp
    import pyarrow.parquet as pq

    if pq.read_metadata(PATH).num_rows > MOST_IN_LISTS:
        raise MemoryError
    rows = list(enumerate(pq.read_table(PATH).to_pylist()))
    account = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    once = dp.AggregateParams([dp.Metrics.COUNT], max_partitions_contributed=1, max_contributions_per_partition=1)
    keys = (
        ([*AGES], lambda row: row[1]["age"]),
        ([*itertools.product(SEXES, JOBS)], lambda row: (row[1]["sex"], row[1]["job"])),
        ([*itertools.product(JOBS, range(50))], lambda row: (row[1]["job"], min(int(row[1]["income"] // 2000), 49))),
    )
    counts = []
    for public, key in keys:
        own = dp.DataExtractors(lambda row: row[0], key, lambda _: 0)
        counts.append(dp.DPEngine(account, dp.LocalBackend()).aggregate(rows, once, own, public_partitions=public))
    account.compute_budgets()
    for count in counts:
        dict(count)


def with_tumult() -> None:
    """Publish with Tumult Analytics, on Spark, keys public."""
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    frame = SparkSession.builder.getOrCreate().read.parquet(PATH)
    binned = frame.selectExpr("age", "sex", "job", "least(floor(income / 2000), 49) AS bin")
    session = Session.from_dataframe(PureDPBudget(1), "people", binned, protected_change=AddOneRow())
    keys = {"age": [*AGES], "sex": [*SEXES], "job": [*JOBS], "bin": [*range(50)]}
    for columns in (["age"], ["sex", "job"], ["job", "bin"]):
        public = KeySet.from_dict({name: keys[name] for name in columns})
        session.evaluate(QueryBuilder("people").groupby(public).count(), PureDPBudget(1 / 3)).toPandas()


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
    """Return the median seconds, those of the first run where it is long, or why there are none."""
    seconds: list[float] = []
    try:
        while len(seconds) < 4 and not (seconds and seconds[0] > LONG):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001  # a peer may lack anything
        return {"left out": type(error).__name__}
    return {"seconds": statistics.median(seconds[1:] or seconds)}


if __name__ == "__main__":
    ALL = {name.removeprefix("with_"): run for name, run in globals().items() if name.startswith("with_")}
    print(json.dumps({name: timed(ALL[name]) for name in sys.argv[2:] or ALL}))
