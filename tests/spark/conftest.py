"""One Spark session for all tests of a process, on two cores; a task is tried four times."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.data.spark.spark_session import SETTINGS, quiet

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java; .ci/run installs one")


def started(master, folder, **settings):
    """Return a session of small heaps whose files lie in a folder of the test."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with quiet():
        from pyspark.sql import SparkSession

        builder, small = SparkSession.builder.master(master), {"spark.driver.memory": "1g"}
        for name, value in (SETTINGS | small | {"spark.local.dir": str(folder)} | settings).items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session on two cores."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java; .ci/run installs one")
    session = started("local[2,4]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def made_rows(size, seed=0):
    """Return made-up rows of several types."""
    i = np.arange(seed, seed + size)
    place = (i * 2654435761) % 4294967296
    return pa.table(
        {
            "age": pa.array(17 + place % 74),
            "income": pa.array((place % 2000001) / 10, mask=place % 97 == 0),
            "sex": pa.array(["Female", "Male"]).take(pa.array(place // 7 % 2)),
            "work": pa.array(["Private", "State-gov", "Self-emp-inc", None, "x"]).take(pa.array(place // 14 % 5)),
            "lon": pa.array(-74.02 + place % 1009 / 4000),
            "lat": pa.array(40.6 + place % 2003 / 8000),
            "uid": pa.array(place % 5003),
        }
    )


@pytest.fixture(scope="session")
def rows():
    """Thirty thousand made-up rows."""
    return made_rows(30_000)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, rows) -> Path:
    """A folder of three Parquet files with these rows, in two row groups each."""
    place = tmp_path_factory.mktemp("rows") / "rows"
    place.mkdir()
    for number in range(3):
        pq.write_table(rows.slice(number * 10_000, 10_000), place / f"{number}.parquet", row_group_size=5_000)
    return place
