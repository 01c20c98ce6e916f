"""The values of `nasty_values.py` are for several files of tests, and so are the engines of `sql_engines.py`."""

import sys
import warnings
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sql_engines import DuckDB, Postgres, Spark  # noqa: E402  # found by the line above


@pytest.fixture(scope="module")
def duck():
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        yield DuckDB(connection)


@pytest.fixture(scope="module")
def postgres(new_database):
    import psycopg

    with psycopg.connect(new_database(), autocommit=True) as connection:
        connection.execute("SET TimeZone = 'America/St_Johns'")
        connection.execute("SET standard_conforming_strings = off; SET escape_string_warning = off")
        connection.execute("SET extra_float_digits = 0; SET DateStyle = 'SQL, DMY'")
        yield Postgres(connection)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One session of a test process, in a zone whose offset is no whole hour."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        for key, value in (
            ("driver.host", "127.0.0.1"),
            ("driver.bindAddress", "127.0.0.1"),
            ("sql.warehouse.dir", tmp_path_factory.mktemp("warehouse")),
            ("sql.shuffle.partitions", 1),
            ("sql.session.timeZone", "Asia/Kathmandu"),
        ):
            builder = builder.config(f"spark.{key}", str(value))
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield Spark(session)
        session.stop()
