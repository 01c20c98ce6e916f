"""Which rows count for a period, from sources that give them in another order whenever they are read."""

import datetime as dt
import itertools
import os

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.periods.months import MONTHS, ROWS, VISITED, WARD, spec

from dpress.core.basics.rng import seeded
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.sources.stream_rows import StreamRows
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.person_periods import person_periods
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series

PERSONS = 300
BOTH = pa.table(  # everybody has a row in January and another one in February
    {
        "uid": [row % PERSONS for row in range(2 * PERSONS)],
        "visited": [dt.date(2024, 1 + row // PERSONS, 15) for row in range(2 * PERSONS)],
        "ward": ["eyes"] * (2 * PERSONS),
    }
)


class Shuffled(StreamRows):
    """A stream in a new order at every reading."""


class StableInName(Shuffled):
    """A planted fault: it is not."""

    stable = True


def shuffled(table, kind=Shuffled):
    readings = itertools.count()

    def stream(columns):
        order = np.argsort(seeded(next(readings)).words(table.num_rows))
        return iter(table.select(columns).take(pa.array(order)).to_batches(max_chunksize=100))

    return Rows(kind(name="it", present=tuple(table.column_names), stream=stream, once=False))


def counted(source, period):
    """Return the persons whose rows of a period count, of whom each should in one period."""
    own = Calendar(spec(privacy={"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1}, per_unit=1))
    rows = person_periods(source, own, period, earlier=period > 0)
    parts = rows.source.parts(("uid", "visited"))
    days = pa.Table.from_batches([batch for part in parts for batch in part.batches()]).to_pylist()
    return {one["uid"] for one in days if one["visited"].month == period + 1}


def test_a_plan_says_what_rests_on_rows_that_are_never_purged():
    person = {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1}
    assert any("purge no earlier rows" in line for line in Calendar(spec(privacy=person, per_unit=2)).text)
    assert not any("purge" in line for line in Calendar(spec()).text)


def test_persons_count_in_the_first_period_whatever_the_order_of_each_reading():
    source = shuffled(BOTH)
    assert counted(source, 0) == set(range(PERSONS))
    assert counted(source, 1) == set()


def test_rows_that_are_called_stable_and_are_not_would_be_found():
    source = shuffled(BOTH, StableInName)
    assert len(counted(source, 0) & counted(source, 1)) > PERSONS // 10


@pytest.mark.parametrize("rows", ["shuffled", "view", "grouped", "reader"])
def test_periods_of_persons_are_published_from_rows_without_an_order(tmp_path, rows):
    own = spec(privacy={"epsilon": 50.0, "unit": "uid", "rows_per_unit": 1}, per_unit=1, attributes=(VISITED, WARD))
    with duckdb.connect(tmp_path / "x.duckdb") as engine:
        engine.register("given", BOTH)
        engine.execute("CREATE TABLE v AS FROM given")
        engine.execute("CREATE VIEW w AS SELECT uid, visited, ward FROM v GROUP BY ALL")
    data = {
        "shuffled": lambda: shuffled(BOTH),
        "view": lambda: f"{tmp_path / 'x.duckdb'}#w",
        "grouped": lambda: duckdb.from_arrow(BOTH).aggregate("uid, visited, ward"),
        "reader": BOTH.to_reader,  # gives its rows once
    }[rows]
    for month in MONTHS[:2]:
        publish_period(own, month, data(), out=tmp_path / "out", rng=seeded(1))
    found = load_series(tmp_path / "out")
    assert [found.query(f"visited = {month}").value for month in MONTHS[:2]] == [PERSONS, 0]  # noise is 0


def test_rows_that_change_their_order_before_they_are_counted_are_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path)
    own = Calendar(spec(privacy={"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1}, per_unit=1))
    rows = person_periods(open_source(path), own, 1, earlier=True)
    rows.source.stamp()
    pq.write_table(ROWS.take(pa.array(range(ROWS.num_rows)[::-1])), path)
    os.utime(path, ns=(1, 1))
    with pytest.raises(OSError, match="changed while it was read; nothing was released"):
        rows.source.stamp()
