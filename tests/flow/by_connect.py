"""Every kind by Spark Connect, with a server on this machine: its folder as the argument; prints JSON.

A process of its own: pyspark holds a session of one sort in a process.
"""

import json
import os
import sys
import warnings
from pathlib import Path

from tests.flow.every_kind import COLLECTED, CURATED, estimated, published, reported
from tests.flow.same_rows import parquet

from dpress.data.spark.spark_run import on_spark
from dpress.inference.records import latent_classes

SETTINGS = {  # a few rows: planning them well takes longer than they do
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def main() -> None:
    """Publish, collect, and print."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    latent_classes.affordable = lambda _: (1, 2)  # as the tests of other engines
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for name, value in (SETTINGS | {"spark.sql.warehouse.dir": str(folder / "warehouse")}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = session.read.parquet(str(parquet(folder)))
    made = {kind: published(kind, frame, None) for kind in CURATED}
    for kind in COLLECTED:
        (place := folder / "first" / kind).mkdir(parents=True)
        made[kind] = estimated(kind, reported(kind, place), on_spark)
    sys.stdout.write(json.dumps(made) + "\n")
    session.stop()


if __name__ == "__main__":
    main()
