import itertools
import subprocess
import sys

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data import fold as fold_module
from dpress.data.example_people import people, pickups
from dpress.data.fold import count, fold
from dpress.data.sources import memory_rows
from dpress.data.table import Table

SCHEMA = Schema(
    tuple(
        msgspec.convert(plain, Attribute)
        for plain in (
            {"name": "a", "kind": "integer", "bounds": [0, 4]},
            {"name": "b", "kind": "categorical", "values": ["x", "y"]},
            {"name": "c", "kind": "integer", "bounds": [0, 2]},
        )
    )
)


def rows(size):
    i = np.arange(size)
    return pa.table({"a": i % 5, "b": pa.array(["x", "y"]).take(pa.array(i // 3 % 2)), "c": i % 3})


def test_tables_are_counted_like_a_loop_over_the_rows():
    data = rows(1000)
    tables = [(0,), (2, 0), (1,), (), (0, 1, 2)]
    expected = []
    for axes in tables:
        cells = itertools.product(*(range(SCHEMA.shape[axis]) for axis in axes))
        own = dict.fromkeys(cells, 0)
        for row in zip(
            data["a"].to_pylist(), ["xy".index(b) for b in data["b"].to_pylist()], data["c"].to_pylist(), strict=True
        ):
            own[tuple(row[axis] for axis in axes)] += 1
        expected += list(own.values())
    assert fold(Table(data, SCHEMA.names, ROW), SCHEMA, count(SCHEMA.shape, tables)).tolist() == expected


def test_the_sum_does_not_depend_on_the_batches(monkeypatch):
    kernel = count(SCHEMA.shape, [(0, 1)])
    whole = fold(Table(rows(5000), SCHEMA.names, ROW), SCHEMA, kernel)
    monkeypatch.setattr(memory_rows, "BATCH_ROWS", 64)
    seen = []
    parts = fold(Table(rows(5000), SCHEMA.names, ROW), SCHEMA, kernel, progress=seen.append)
    assert np.array_equal(whole, parts)
    assert len(seen) > 1
    assert seen[-1] == 5000


def test_long_tables_are_added_up_from_their_few_entries(monkeypatch):
    tables = [(0,), (2, 0), (), (0, 1, 2)]
    dense = fold(Table(rows(500), SCHEMA.names, ROW), SCHEMA, count(SCHEMA.shape, tables))
    monkeypatch.setattr(fold_module, "LARGEST_DENSE", 0)
    monkeypatch.setattr(memory_rows, "BATCH_ROWS", 64)
    kernel = count(SCHEMA.shape, tables)
    part = kernel(np.array([[4, 4], [1, 1], [0, 2]], dtype=np.int32))
    assert part.size == dense.size
    assert part.values.sum() == 2 * len(tables)
    assert len(set(part.places.tolist())) == part.places.size
    sparse = fold(Table(rows(500), SCHEMA.names, ROW), SCHEMA, kernel)
    assert sparse.dtype == dense.dtype == np.int64
    assert sparse.tolist() == dense.tolist()


def test_one_row_adds_one_to_one_cell_of_each_table():
    kernel = count(SCHEMA.shape, [(0,), (1, 2)])
    more = fold(Table(rows(101), SCHEMA.names, ROW), SCHEMA, kernel)
    less = fold(Table(rows(100), SCHEMA.names, ROW), SCHEMA, kernel)
    assert sorted((more - less).tolist()) == [0] * (more.size - 2) + [1, 1]


def test_a_fault_in_a_batch_stops_the_fold():
    bad = pa.table({"a": [1], "b": ["z"], "c": [1]})
    with pytest.raises(SchemaMismatch, match="attribute b"):
        fold(Table(bad, SCHEMA.names, ROW), SCHEMA, count(SCHEMA.shape, [(0,)]))


def test_made_up_people_are_the_same_every_time():
    assert people(1000).equals(people(1000))
    assert people(5000)["age"].to_numpy().max() <= 84
    assert pickups(1000).equals(pickups(1000))
    lon, lat = (pickups(5000)[name].to_numpy() for name in ("lon", "lat"))
    inside = (lon > -74.03) & (lon < -73.75) & (lat > 40.58) & (lat < 40.90)
    assert 0.99 < inside.mean() < 1


@pytest.mark.slow
def test_ten_million_rows_are_counted_in_under_one_gibibyte(tmp_path):
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, rows(1).schema) as writer:
        for _ in range(10):
            writer.write_table(rows(1_000_000))
    script = (
        "import sys, msgspec\n"
        "from dpress.core.basics.claim import ROW\n"
        "from dpress.attributes.domain import Schema\n"
        "from dpress.data.fold import count, fold\n"
        "from dpress.data.table import Table\n"
        "schema = msgspec.json.decode(sys.argv[2], type=Schema)\n"
        "total = fold(Table(sys.argv[1], schema.names, ROW), schema, count(schema.shape, [(0, 1, 2)]))\n"
        'peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))\n'
        "print(total.sum(), peak.split()[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), msgspec.json.encode(SCHEMA).decode()],
        capture_output=True,
        text=True,
        check=True,
    )
    counted, kibibytes = map(int, done.stdout.split())
    assert counted == 10_000_000
    assert kibibytes < 2**20
