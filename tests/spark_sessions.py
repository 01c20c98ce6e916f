"""One Spark session for all tests of a process: two cores, a small heap, a task tried four times."""

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory):
    """The session, in a zone whose offset is no whole hour."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java; .ci/run installs one")
    from dpress.data.sources.spark_session import SETTINGS

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about pandas
        from pyspark.sql import SparkSession

        builder, folder = SparkSession.builder.master("local[2,4]"), tmp_path_factory.mktemp("spark")
        own = {
            "spark.driver.memory": "1g",
            "spark.local.dir": str(folder),
            "spark.sql.session.timeZone": "Asia/Kathmandu",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        for name, value in (SETTINGS | own).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
