"""The values of `nasty_values.py` are for several files of tests, and so are the engines of `sql_engines.py`."""

import sys
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sql_engines import DuckDB, Postgres, Spark  # found by the line above


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
def spark(spark_session):
    """The session, in a zone whose offset is no whole hour."""
    return Spark(spark_session)
