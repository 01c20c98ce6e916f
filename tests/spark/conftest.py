"""Made-up rows in memory, in Parquet files, and the session that counts them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="session")
def spark(spark_session):
    """The session of this process."""
    return spark_session


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
