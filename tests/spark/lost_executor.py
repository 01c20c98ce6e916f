"""Count a folder on two executors of a small cluster, one of which is killed: python lost_executor.py FOLDER WAY...

Ways: "map" kills an executor among the rows, "reduce" once rows are added up, "cached" one that holds cached rows;
"accumulator" adds up in an accumulator, and loses the same executor as "reduce". One way after the other, each with a
loss of its own. Prints the sums of every way.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import ROW
from dpress.data.fold import count, fold
from dpress.data.sources.open_source import open_source
from dpress.data.sources.spark_session import SETTINGS, quiet
from dpress.data.spark import spark_fold
from dpress.data.spark.partial_sums import COLUMNS, merged
from dpress.data.spark.partial_sums import SCHEMA as SCHEMA_OF_SUMS
from dpress.data.table import Table

SCHEMA = Schema((Integer(name="age", bounds=(17, 90)),))
SETTINGS_HERE = {
    "spark.driver.memory": "600m",
    "spark.executor.memory": "600m",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.multiplier": "1.0",
}


def first(mark):
    """Return whether nobody was here before; a file remembers it."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def executor_here():
    """Return the process of the executor that this Python worker belongs to."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1])


def kill_executor():
    """Kill the executor that this Python worker belongs to, and with it all that it holds."""
    os.kill(executor_here(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def await_other_executor(folder):
    """Go on once both executors have come here, so that either holds sums when one of them is killed."""
    own, until = Path(folder, f"executor-{executor_here()}"), time.monotonic() + 60
    own.touch()
    while len(list(own.parent.glob("executor-*"))) < 2:
        if time.monotonic() > until:
            raise TimeoutError("the other executor did not come in 60 s")
        time.sleep(0.05)


def session(folder):
    """Return a session on two executors, from the package that pip installed."""
    os.environ.update(SPARK_HOME=str(Path(pyspark.__file__).parent), PYSPARK_PYTHON=sys.executable)
    with quiet():
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local-cluster[2,1,700]").config("spark.local.dir", folder)
        for name, value in (SETTINGS | SETTINGS_HERE).items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def kernel_that(way, folder):
    """Return a kernel that counts ages; the first to see rows kills its executor, where that is the way."""
    counted = count(SCHEMA.shape, [(0,)])

    def kernel(codes):
        if codes.shape[1] and way == "reduce":
            await_other_executor(folder)
        if codes.shape[1] and way in ("map", "cached") and first(f"{folder}/killed"):
            kill_executor()
        return counted(codes)

    return kernel


def killing(batches, folder):
    """Yield what `merged` does; the first to get anything kills its executor."""
    for batch in batches:
        if first(f"{folder}/killed"):
            kill_executor()
        yield from merged([batch])


def accumulated(spark, rows, folder):
    """Return the ages counted in accumulators: the fault that sums instead of accumulators avoid."""
    own = [spark.sparkContext.accumulator(0) for _ in range(SCHEMA.shape[0])]

    def added(batches):
        for batch in batches:
            await_other_executor(folder)
            found = np.bincount(batch.column(0).to_numpy() - 17, minlength=len(own))
            for accumulator, value in zip(own, found.tolist(), strict=True):
                accumulator.add(value)
            yield pa.RecordBatch.from_pylist([{"slice": batch.num_rows}], schema=SCHEMA_OF_SUMS)

    def again(batches):
        for batch in batches:
            if first(f"{folder}/killed"):
                kill_executor()
            yield batch

    rows.select("age").mapInArrow(added, COLUMNS).repartition("slice").mapInArrow(again, COLUMNS).toArrow()
    return [accumulator.value for accumulator in own]


def main():
    """Count, and print."""
    data, *ways = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        spark, found = session(folder), {}
        for way in ways:
            own = tempfile.mkdtemp(dir=folder)
            found[way] = {"sums": sums(spark, data, way, own), "killed": Path(own, "killed").exists()}
        sys.stdout.write(json.dumps(found))
        spark.stop()


def sums(spark, data, way, folder):
    """Return the counts of one way."""
    spark_fold.merged = (lambda batches: killing(batches, folder)) if way == "reduce" else merged  # looked up there
    with quiet():
        rows = spark.read.parquet(data).repartition(6)
        if way == "accumulator":
            return accumulated(spark, rows, folder)
        source = rows.persist() if way == "cached" else open_source(data, engine="spark")
        if way == "cached":
            rows.count()
        return fold(Table(source, SCHEMA.names, ROW), SCHEMA, kernel_that(way, folder)).tolist()


if __name__ == "__main__":
    main()
